"""Recognize TREC lines by their cells: runs, qrels, and two kinds that look the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

from robustcs.inputs.text import number_of

Rows = Sequence[Sequence[str]]
#: The columns of runs and qrels, as messages name them.
RUN_COLUMNS = ("turn", "Q0", "document", "rank", "score", "tag")
QRELS_COLUMNS = ("turn", "iteration", "document", "grade")
#: Kind → name of three-column files without a header.
MS_MARCO = {"run": "an MS MARCO run", "qrels": "MS MARCO qrels"}
#: Name of qrels that have the question's text in one of their columns.
WITH_QUERIES = "TREC qrels with a column of question texts"
#: Number of lines to examine.
LINES = 50
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+")
#: Turn ids of iKAT: ``9-1_3``, ``0_2``.
_IKAT_TURN = re.compile(r"[0-9]+(-[0-9]+)?_[0-9]+")
#: Largest number of statements of an iKAT persona.
_MOST_STATEMENTS = 60
#: Names of measures of trec_eval and ir_measures.
_MEASURE = re.compile(
    r"(gm_)?(map|ndcg|p|recall|r|success|recip_rank|r?rr|mrr|bpref|rprec|rbp|err|judged|f1|em|ap|iprec|set|num|infap|11pt|relstring"
    r"|runid|utility|bing|g|compat|numret|numq|overlap|rouge\w*|bleu)([_@(.].*|[0-9]*)",
    re.IGNORECASE,
)
#: What trec_eval prints in addition to measures: texts.
TEXTS = ("runid", "relstring")
#: Largest grade.
_MOST_GRADE = 4


def are_run(rows: Rows) -> bool:
    """Return whether rows are ``turn Q0 document rank score tag``; the tag may be several words."""
    return bool(rows) and all(
        len(row) >= 6 and _NUMBER.fullmatch(row[4]) and _WHOLE.fullmatch(row[3]) for row in rows
    )


def are_qrels(rows: Rows) -> bool:
    """Return whether rows are ``turn iteration document grade``."""
    return bool(rows) and all(len(row) == 4 and _WHOLE.fullmatch(row[3]) for row in rows)


def are_ptkb(rows: Iterable[Sequence[str]]) -> bool:
    """Return whether rows judge the statements of an iKAT persona: small numbers, relevant or not."""
    turns: dict[str, set[str]] = {}
    for row in rows:
        if (
            len(row) != 4
            or not _IKAT_TURN.fullmatch(row[0])
            or not row[2].isdecimal()
            or row[3] not in ("0", "1")
        ):
            return False
        turns.setdefault(row[0], set()).add(row[2])
    judged = {int(statement) for statements in turns.values() for statement in statements}
    return max(map(len, turns.values())) >= 5 and max(judged) <= _MOST_STATEMENTS


def without_query(lines: Sequence[str]) -> int | None:
    """Return the place of the column of question texts in qrels whose columns are separated by tabs; None for other lines.

    It is the only column with spaces, and the others are those of qrels, with or without the iteration.
    """
    rows = [line.rstrip("\r\n").split("\t") for line in lines]
    width = len(rows[0]) if rows else 0
    if width not in (4, 5) or any(len(row) != width for row in rows):
        return None
    spaced = {place for row in rows for place, cell in enumerate(row) if " " in cell.strip()}
    if len(spaced) != 1 or 0 in spaced:
        return None
    place = spaced.pop()
    others = [row[:place] + row[place + 1 :] for row in rows]
    judged = all(
        all(row) and _WHOLE.fullmatch(row[-1]) and abs(int(row[-1])) <= _MOST_GRADE
        for row in others
    )
    return place if judged and not all(_NUMBER.fullmatch(row[-2]) for row in others) else None


def measure_columns(names: Sequence[str]) -> list[str]:
    """Return the column names that are measures."""
    return [name for name in names if _MEASURE.fullmatch(name)]


def kind_of_rows(rows: Sequence[Sequence[str]]) -> Literal["scores", "qrels", "run"] | None:
    """Return the kind of rows with three cells; None for other rows and for undecidable ones."""
    rows = [row for row in rows if row[0] not in TEXTS]
    if not rows or any(len(row) != 3 or number_of(row[2]) is None for row in rows):
        return None
    if any(row[1] == "all" for row in rows) or all(_MEASURE.fullmatch(row[0]) for row in rows):
        return "scores"
    whole = all(_WHOLE.fullmatch(row[2]) for row in rows)
    if whole and are_ranks([row[0] for row in rows], [int(row[2]) for row in rows]):
        return "run"
    if _are_scores(rows):
        return "scores"
    return "qrels" if whole and grades([int(row[2]) for row in rows]) else None


def grades(values: Sequence[float | None]) -> bool:
    """Return whether all values are small whole numbers, as grades are."""
    return all(
        value is not None and value == int(value) and -2 <= value <= _MOST_GRADE for value in values
    )


def _are_scores(rows: Sequence[Sequence[str]]) -> bool:
    turns: dict[str, set[str]] = {}
    for measure, turn, _ in rows:
        turns.setdefault(measure, set()).add(turn)
    if any(measure[0].isdigit() for measure in turns):
        return False
    # every measure has the same turns; different turns rarely share passages
    first, *others = turns.values()
    return (len(first) > 1 or bool(others)) and all(
        len(first & other) * 2 > len(other) for other in others
    )


def are_ranks(turns: Sequence[str], numbers: Sequence[int]) -> bool:
    """Return whether the numbers count the rows of every turn from 0 or 1, and some turn has several rows."""
    pairs = groupby(zip(turns, numbers, strict=True), key=lambda pair: pair[0])
    ranked = [[number for _, number in rows] for _, rows in pairs]
    counted = all(
        ranks[0] in (0, 1) and ranks == list(range(ranks[0], ranks[0] + len(ranks)))
        for ranks in ranked
    )
    return counted and any(len(ranks) > 1 for ranks in ranked)
