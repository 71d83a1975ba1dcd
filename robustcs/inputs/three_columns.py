"""Three columns without a line of names: per-turn scores, or the qrels and runs of MS MARCO.

``measure turn value`` is what trec_eval writes, ``turn document grade`` are judgments, ``turn document rank`` is a run. What
stands in the columns tells which.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from robustcs.inputs.records import decimal_number

_WHOLE = re.compile(r"[+-]?[0-9]+")
#: How the measures of trec_eval and ir_measures begin.
_MEASURE = re.compile(
    r"(gm_)?(map|ndcg|p|recall|r|success|recip_rank|r?rr|mrr|bpref|rprec|rbp|err|judged|f1|em|ap|iprec|set|num|infap|11pt|relstring"
    r"|runid|utility|bing|g|compat|numret|numq|overlap|rouge\w*|bleu)([_@(.].*|[0-9]*)",
    re.IGNORECASE,
)
#: No scale has a grade above it.
_MOST_GRADE = 4


def measure_columns(names: Sequence[str]) -> list[str]:
    """Those of the names of columns that are measures."""
    return [name for name in names if _MEASURE.fullmatch(name)]


def kind_of_rows(rows: Sequence[Sequence[str]]) -> Literal["scores", "qrels", "run"] | None:
    """What rows of three cells are; None for other rows and where nothing tells."""
    if not rows or any(len(row) != 3 or decimal_number(row[2]) is None for row in rows):
        return None
    if any(row[1] == "all" for row in rows) or all(_MEASURE.fullmatch(row[0]) for row in rows):
        return "scores"
    whole = all(_WHOLE.fullmatch(row[2]) for row in rows)
    if whole and are_ranks([row[0] for row in rows], [int(row[2]) for row in rows]):
        return "run"
    if _are_scores(rows):
        return "scores"
    if not whole:
        return "run"
    return "qrels" if grades([int(row[2]) for row in rows]) else None


def grades(values: Sequence[float | None]) -> bool:
    """Whether all values are small whole numbers, as grades are."""
    return all(value is not None and value == int(value) and -2 <= value <= _MOST_GRADE for value in values)


def _are_scores(rows: Sequence[Sequence[str]]) -> bool:
    turns: dict[str, set[str]] = {}
    for measure, turn, _ in rows:
        turns.setdefault(measure, set()).add(turn)
    if any(measure[0].isdigit() for measure in turns):
        return False
    # every measure has the same turns; passages are seldom those of another turn
    first, *others = turns.values()
    return (len(first) > 1 or bool(others)) and all(len(first & other) * 2 > len(other) for other in others)


def are_ranks(turns: Sequence[str], numbers: Sequence[int]) -> bool:
    """Whether the numbers count the rows of every turn from 0 or 1 on, and some turn has several."""
    several = False
    previous = None
    for (turn, number), (following, successor) in pairwise([*zip(turns, numbers, strict=True), ("", 0)]):
        if turn != previous and number not in (0, 1):
            return False
        previous = turn
        if following == turn and successor != number + 1:
            return False
        several = several or (following == turn)
    return several
