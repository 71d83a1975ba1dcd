"""Recognize plain TREC runs and qrels, as most are, without importing :mod:`robustcs.inputs.kinds` and its other formats."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from robustcs.inputs.heads import first_lines
from robustcs.inputs.trec_lines import LINES, are_ptkb, are_qrels, are_run

if TYPE_CHECKING:
    from robustcs.inputs.kinds import Identified

#: Bytes in which enough lines of a run stand; fewer lines do as well.
_HEAD = 1 << 13


def kind_unless_plain(path: str | os.PathLike[str], wanted: Literal["run", "qrels"]) -> Identified | None:
    """What a file is whose first lines are not all those of TREC; of a file of such lines None, since it is nothing else.

    Raises :class:`InputError` for a file of another kind than ``wanted``.
    """
    if _is_plain(path, wanted):
        return None
    from robustcs.inputs.kinds import refuse_other_kinds

    return refuse_other_kinds(path, wanted)


def _is_plain(path: str | os.PathLike[str], wanted: Literal["run", "qrels"]) -> bool:
    if wanted == "run":
        return are_run([line.split() for line in first_lines(path, _HEAD)[:LINES]])
    lines = first_lines(path)
    return are_qrels([line.split() for line in lines[:LINES]]) and not are_ptkb(map(str.split, lines))
