"""Judgments in tables that name their columns, row by row: every row is checked, and what is wrong is told with its line."""

from __future__ import annotations

import os

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.numbers import finite_number, whole_number
from robustcs.inputs.records import is_turn_id
from robustcs.inputs.tables import GRADE_NAMES, SCORE_NAMES, Table, read_table
from robustcs.inputs.trec_lines import QRELS_COLUMNS


def checked_rows(path: str | os.PathLike[str]) -> tuple[list[tuple[str, str, int]], list[int]]:
    """(turn, document, grade) of every row, and its line.

    Raises :class:`InputError` with every malformed row (bounded), or when there is none.
    """
    table = read_table(path)
    assert isinstance(table, Table)
    turn, document, grade = table.turn, table.document, table.find(GRADE_NAMES)
    if grade is None:
        grade = table.find(SCORE_NAMES)
    assert turn is not None and document is not None and grade is not None
    problems = ProblemList(path)
    rows: list[tuple[str, str, int]] = []
    lines = []
    for line, cells in table.cells(problems):
        ids = cells[turn], cells[document]
        if not all(map(is_turn_id, ids)):
            problems.add(line, "no turn id or no passage id", "complete the row or leave it out", "no-turn-id")
            continue
        value = _whole(cells[grade])
        if value is None:
            found = f"{table.columns[grade]} {str(cells[grade])[:40]!r} is not a whole number"
            problems.add(line, found, "write a whole number", "not-an-integer")
            continue
        rows.append((str(ids[0]).strip(), str(ids[1]).strip(), value))
        lines.append(line)
    problems.raise_if_any()
    if not rows:
        advice = f"a qrels file has lines of: {' '.join(QRELS_COLUMNS)}"
        raise input_error(path, None, "the file has no rows", advice, "empty")
    return rows, lines


def _whole(cell: object) -> int | None:
    """A whole number, also where it is written ``1.0``."""
    if isinstance(cell, str):
        text = cell.strip()
        whole, _, rest = text.partition(".")
        return whole_number(whole if rest.strip("0") == "" else text, 10**9)
    number = finite_number(cell)
    return int(number) if number is not None and number == int(number) else None
