"""From what a user asks to split turns by to the table of slices: the one place that reads it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from robustcs.errors import UsageError
from robustcs.inputs.objects import is_records
from robustcs.project import readers
from robustcs.project.given import file_of, several
from robustcs.project.workspace import Workspace
from robustcs.result import Basis
from robustcs.slicing.table import Slicing, turn_slicings
from robustcs.slicing.words import BY_TEXTS, TEXTS, WORDS

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
        One or several: words of :data:`~robustcs.slicing.table.WORDS`, or TSV files of a user (or what Python has in their
        place). None is nothing.
    offered
        Words that are taken where ids and texts tell them.
    always
        Words of :data:`~robustcs.slicing.words.BY_IDS` that are asked for in any case.

    Raises :class:`UsageError` for a word that is neither one of these nor a file, and for texts that are not given;
    :class:`InputError` for a wrong file.
    """
    words = list(always)
    columns: dict[str, dict[str, str]] = {}
    for one in () if asked is None else (asked,) if is_records(asked, False) else several(asked):
        if isinstance(one, str) and one in WORDS:
            words.append(one)
            continue
        file = file_of(readers.slices, "slices", one)
        if isinstance(one, str) and os.sep not in one and not file.suffix and not file.exists():
            raise UsageError("no-such-slicing", f"--slices {one}", f"write a file, or one of {', '.join(WORDS)}")
        columns |= workspace.slices(file)
    of_texts = any(word in (*BY_TEXTS, TEXTS) for word in (*words, *offered))
    texts = workspace.texts_of(turns, basis) if of_texts else {}
    return turn_slicings(words, turns, texts, columns, offered)
