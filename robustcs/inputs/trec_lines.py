"""Lines of TREC, told by what stands in them: runs, qrels, and two kinds that look the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

Rows = Sequence[Sequence[str]]

#: The columns of runs and of qrels, as a user knows them.
RUN_COLUMNS = ("turn", "Q0", "document", "rank", "score", "tag")
QRELS_COLUMNS = ("turn", "iteration", "document", "grade")
#: What three columns without a line of names are called.
MS_MARCO = MS_MARCO_RUN, MS_MARCO_QRELS = "an MS MARCO run", "MS MARCO qrels"
#: Lines that are looked at.
LINES = 50
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
#: Turn ids of iKAT: ``9-1_3``, ``0_2``.
_IKAT_TURN = re.compile(r"[0-9]+(-[0-9]+)?_[0-9]+")
#: No persona of iKAT has more statements.
_MOST_STATEMENTS = 60


def are_run(rows: Rows) -> bool:
    """``turn Q0 document rank score tag``, where the tag may be several words."""
    return bool(rows) and all(len(row) >= 6 and _NUMBER.fullmatch(row[4]) and _WHOLE.fullmatch(row[3]) for row in rows)


def are_qrels(rows: Rows) -> bool:
    """``turn iteration document grade``."""
    return bool(rows) and all(len(row) == 4 and _WHOLE.fullmatch(row[3]) for row in rows)


def are_ptkb(rows: Iterable[Sequence[str]]) -> bool:
    """Judged are small numbers for turns of iKAT, relevant or not: the statements of a persona."""
    turns: dict[str, set[str]] = {}
    for row in rows:
        if len(row) != 4 or not _IKAT_TURN.fullmatch(row[0]) or not row[2].isdecimal() or row[3] not in ("0", "1"):
            return False
        turns.setdefault(row[0], set()).add(row[2])
    judged = {int(statement) for statements in turns.values() for statement in statements}
    return max(map(len, turns.values())) >= 5 and max(judged) <= _MOST_STATEMENTS
