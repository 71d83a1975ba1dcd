"""Read the ``--slices`` of a user and split turns by them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from robustcs.errors import UsageError
from robustcs.inputs.objects import is_records
from robustcs.messages import Message, OptionName
from robustcs.project.overrides import file_of
from robustcs.project.sources import several
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.slicing import BY_TEXTS, TEXTS, WORDS
from robustcs.slicing.table import Slicing, turn_slicings
from robustcs.wording import some_of

#: Properties in which slices are searched by default.
SEARCHED = ("depth", TEXTS)


def slicings(
    workspace: Workspace,
    turns: Sequence[str],
    requested: Any,
    evaluated: Evaluated,
    offered: Sequence[str] = (),
    always: Sequence[str] = (),
) -> tuple[tuple[Slicing, ...], tuple[str, ...]]:
    """Return the slicings of ``turns``, and notes on them.

    evaluated
        The basis of the scores, and the conversations.
    requested
        One or several words of :data:`~robustcs.slicing.words.WORDS` or TSV files (or Python objects in their place), or None.
    offered
        Words to use if ids and texts allow them.
    always
        Words of :data:`~robustcs.slicing.words.BY_IDS` to use in any case.

    Raises :class:`UsageError` for a word that is neither one of these nor a file, for missing texts, and for files with the
    same column for the same turn; :class:`InputError` for an invalid file, and for one that has none of ``turns``.
    """
    words = list(always)
    columns: dict[str, dict[str, str]] = {}
    for one in (
        ()
        if requested is None
        else (requested,)
        if is_records(requested, False)
        else several(requested)
    ):
        if isinstance(one, str) and one in WORDS:
            words.append(one)
            continue
        file = file_of("slices", "slices", one)
        if isinstance(one, str) and os.sep not in one and not file.suffix and not file.exists():
            found = Message(OptionName("slices"), f" {one}: neither a file nor a known property")
            raise UsageError(
                "no-such-slicing", found, f"name a file, or choose from {', '.join(WORDS)}"
            )
        read = workspace.slices(file)
        if own := dict.fromkeys(set().union(*read.values()), ""):
            workspace.refuse_strangers([(file, own)], turns, evaluated.basis)
        for column, values in read.items():
            known = columns.setdefault(column, {})
            if twice := [turn for turn in values if turn in known]:
                found = Message(
                    OptionName("slices"),
                    f" {file}: another file also has column {column} for {some_of(twice)}",
                )
                raise UsageError(
                    "repeated-slices",
                    found,
                    "keep each turn in one file only, or rename the column",
                )
            known |= values
    of_texts = any(word in (*BY_TEXTS, TEXTS) for word in (*words, *offered))
    texts = workspace.texts_of(turns, evaluated.basis) if of_texts else {}
    return turn_slicings(words, turns, texts, columns, offered, evaluated.conversations)


def searched(
    workspace: Workspace, turns: Sequence[str], cut: Sequence[Slicing], evaluated: Evaluated
) -> tuple[Slicing, ...]:
    """Return the slicings to search: ``cut``, else :data:`SEARCHED`. Raises :class:`UsageError` if there is none."""
    found = tuple(cut) or slicings(workspace, turns, None, evaluated, SEARCHED)[0]
    if not any(one.slices for one in found):
        why = Message(
            OptionName("find-slices"),
            " has nothing to search: neither turn ids nor texts split these turns",
        )
        raise UsageError(
            "no-slices",
            why,
            Message(
                "add properties with ",
                OptionName("slices", "FILE"),
                ", or texts with ",
                OptionName("rewrites", "original=FILE"),
            ),
        )
    return found
