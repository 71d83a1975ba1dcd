"""From what a user asks to split turns by to the table of slices: the one place that reads it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from robustcs.errors import UsageError
from robustcs.inputs.objects import is_records
from robustcs.project.overrides import file_of
from robustcs.project.sources import several
from robustcs.project.workspace import Workspace
from robustcs.result import Basis
from robustcs.slicing import BY_TEXTS, TEXTS, WORDS
from robustcs.slicing.table import Slicing, turn_slicings
from robustcs.wording import some_of

#: What slices are looked for in where nothing is asked for.
SEARCHED = ("depth", TEXTS)


def slicings(
    workspace: Workspace,
    turns: Sequence[str],
    asked: Any,
    basis: Basis = "runs",
    offered: Sequence[str] = (),
    always: Sequence[str] = (),
) -> tuple[tuple[Slicing, ...], tuple[str, ...]]:
    """The slicings of ``turns``, and what a reader should know of them.

    asked
        One or several: words of :data:`~robustcs.slicing.words.WORDS`, or TSV files of a user (or what Python has in their
        place). None is nothing.
    offered
        Words that are taken where ids and texts tell them.
    always
        Words of :data:`~robustcs.slicing.words.BY_IDS` that are asked for in any case.

    Raises :class:`UsageError` for a word that is neither one of these nor a file, for texts that are not given, and for files
    that say the same column of the same turn; :class:`InputError` for a wrong file.
    """
    words = list(always)
    columns: dict[str, dict[str, str]] = {}
    for one in () if asked is None else (asked,) if is_records(asked, False) else several(asked):
        if isinstance(one, str) and one in WORDS:
            words.append(one)
            continue
        file = file_of("slices", "slices", one)
        if isinstance(one, str) and os.sep not in one and not file.suffix and not file.exists():
            raise UsageError("no-such-slicing", f"--slices {one}", f"write a file, or one of {', '.join(WORDS)}")
        for column, values in workspace.slices(file).items():
            known = columns.setdefault(column, {})
            if twice := [turn for turn in values if turn in known]:
                found = f"--slices {file}: another file has column {column} of {some_of(twice)} as well"
                raise UsageError("repeated-slices", found, "name each turn in one of them, or rename the column")
            known |= values
    of_texts = any(word in (*BY_TEXTS, TEXTS) for word in (*words, *offered))
    texts = workspace.texts_of(turns, basis) if of_texts else {}
    return turn_slicings(words, turns, texts, columns, offered)


def searched(workspace: Workspace, turns: Sequence[str], cut: Sequence[Slicing], basis: Basis = "runs") -> tuple[Slicing, ...]:
    """What slices are looked for in: what was asked for, else :data:`SEARCHED`. Raises :class:`UsageError` for nothing."""
    found = tuple(cut) or slicings(workspace, turns, None, basis, SEARCHED)[0]
    if not any(one.slices for one in found):
        why = "--find-slices has nothing to search: neither turn ids nor texts split these turns"
        raise UsageError(
            "no-slices", why, "name a file of properties with --slices FILE, or texts with --rewrites original=FILE"
        )
    return found
