"""Reasons of the gate in lines: one for each kind, with the systems and measures that share it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from robustcs.studies.compare.fit import (
    DOUBTFUL,
    LOST,
    change_line,
    lost_line,
    new_line,
    split_note,
)
from robustcs.studies.compare.gate import measure_label, subject
from robustcs.wording import and_more, system_name

#: Names in a line; the rest is counted.
NAMES = 5


@dataclass(frozen=True)
class Line:
    """A reason and the rows of the gate that share it.

    conditions
        Their conditions, as written.
    rows
        Rows of the table ``gate``.
    """

    outcome: str
    conditions: tuple[str, ...]
    reason: str
    rows: tuple[Any, ...]

    @property
    def condition(self) -> str:
        """The conditions, separated by commas."""
        return named(self.conditions)

    def who(self, display: bool = False) -> str:
        """Return systems and measures: ``qr, NDCG@3`` or ``original, qr, human (NDCG@3)``; ``display``: names for people."""
        return subjects(self.rows, display)


def subjects(rows: Sequence[Any], display: bool = False) -> str:
    """Return the systems and measures of rows with ``system`` and ``metric``; at most :data:`NAMES` systems are named."""
    rows = [row._replace(system=system_name(row.system)) for row in rows] if display else list(rows)
    if len({(row.system, row.metric) for row in rows}) == 1:
        return subject(rows[0])
    systems = named(list(dict.fromkeys(row.system or "all runs" for row in rows)))
    measures = named(list(dict.fromkeys(measure_label(row.metric) for row in rows if row.metric)))
    return f"{systems} ({measures})" if measures else systems


def named(names: Sequence[str]) -> str:
    """Return at most :data:`NAMES` names, and the number of further names: ``a, b, c, d, e and 7 more``."""
    return ", ".join(names[:NAMES]) + and_more(len(names), NAMES)


def lines_of(rows: Iterable[Any]) -> list[Line]:
    """Return the reasons of rows of the table ``gate``, each kind once, in the order of the rows.

    Reasons of one rule on judgments that differ only in their numbers are one line with the range of each number.
    """
    found: dict[tuple[str, ...], list[Any]] = {}
    for row in rows:
        found.setdefault((row.outcome, *_kind(row)), []).append(row)
    lines = []
    for (outcome, *_), own in found.items():
        reasons = {row.reason for row in own}
        reason = _merged(own) if len(reasons) > 1 else own[0].reason
        lines.append(
            Line(outcome, tuple(dict.fromkeys(row.condition for row in own)), reason, tuple(own))
        )
    return lines


def _kind(row: Any) -> tuple[str, ...]:
    """Return what rows of one line have in common: the reason, or the rule, its subject and all that the reason adds to it."""
    own = _merged([row]) if row.rule in ("no fit", "new passages") else ""
    if not own or not row.reason.startswith(own):
        return ("", row.reason)
    return (
        row.rule,
        row.reason.partition(" by ")[0] if row.rule == "new passages" else "",
        row.reason.removeprefix(own),
    )


def _merged(rows: Sequence[Any]) -> str:
    """Return the reason of rows decided by one rule on judgments, with what the first adds to it."""
    first = rows[0].reason

    def line(some: Sequence[Any]) -> str:
        if some[0].rule == "no fit":
            return lost_line(some, int(some[0].to_judge))
        moved, _, rest = first.partition(" by ")
        return new_line(some, moved, "percentage points" in rest)

    return line(rows) + (first.removeprefix(line(rows[:1])) if len(rows) > 1 else "")


def doubts(rows: Iterable[Any]) -> list[Line]:
    """Return a line for each kind of doubt about rows of the table ``measures``; its outcome and conditions are empty."""
    found: dict[str, list[Any]] = {LOST: [], DOUBTFUL: []}
    for row in rows:
        found.get(split_note(row.note)[0], []).append(row)
    lost, doubtful = found.values()
    lines = [Line("", (), lost_line(lost, int(lost[0].to_judge)), tuple(lost))] if lost else []
    return [*lines, *([Line("", (), change_line(doubtful), tuple(doubtful))] if doubtful else [])]
