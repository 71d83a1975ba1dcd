"""Pairwise human preferences (Acute-eval): which of two systems' conversations is better by a criterion."""

from __future__ import annotations

import os
from dataclasses import dataclass

from robustcs.inputs.records import RowProblems, json_lines, shape_of, table_rows

#: Value of ``winner`` if the annotator saw no difference.
TIE = "tie"
_COLUMNS = ("criterion", "first", "second", "winner")


@dataclass(frozen=True)
class Preference:
    """One judgment. ``winner`` is ``first``, ``second`` or :data:`TIE`; ``pair`` is the pair of conversations, or empty."""

    criterion: str
    first: str
    second: str
    winner: str
    pair: str


def read_preferences(path: str | os.PathLike[str]) -> tuple[Preference, ...]:
    """Read TSV with the columns ``criterion first second winner`` or JSONL with these fields; ``pair`` is optional.

    Raises :class:`InputError` with every bad judgment (bounded): an empty field, a system compared with itself, a winner other
    than the two systems and ``tie``.
    """
    problems = RowProblems(path, "preferences")
    found: list[Preference] = []
    table = shape_of(path) == "table"
    for line, row in table_rows(path, _COLUMNS, problems) if table else json_lines(path, problems):
        criterion, first, second, winner, pair = cells = [str(row.get(name) or "").strip() for name in (*_COLUMNS, "pair")]
        lacking = [name for name, cell in zip(_COLUMNS, cells, strict=False) if not cell]
        if lacking:
            problems.skip(line, f"no {lacking[0]}", "complete the row or delete it", "empty-field")
        elif first == second:
            problems.add(line, f"{first} is compared with itself", "name two different systems", "same-system")
        elif winner not in (first, second, TIE):
            problems.add(line, f"unknown winner {winner!r}", f"write {first}, {second} or {TIE}", "unknown-winner")
        else:
            found.append(Preference(criterion, first, second, winner, pair))
    problems.finish(found, "preferences")
    return tuple(found)
