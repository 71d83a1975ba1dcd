"""Properties of turns by which a user slices results: TSV with a header line, a column of turn ids and any others.

Tasks of MTRAG are read as well: their labels, such as ``answerability``.
"""

from __future__ import annotations

import os

from robustcs.errors import ProblemList, at_line, input_error
from robustcs.inputs import mtrag
from robustcs.inputs.heads import first_record
from robustcs.inputs.json_records import json_records
from robustcs.inputs.records import ID_NAMES, filled_lines
from robustcs.inputs.skipped import RowProblems


def read_slices(path: str | os.PathLike[str]) -> dict[str, dict[str, str]]:
    """Column → turn → value, without surrounding white space; a turn with an empty value is absent from that column.

    TSV has no quoting. Raises :class:`InputError` with every bad row (bounded): a wrong number of columns, a turn twice; or
    without a column of turn ids (:data:`~robustcs.inputs.records.ID_NAMES`), other columns or rows.
    """
    if mtrag.has_tasks(first_record(path) or {}):
        broken = ProblemList(path)
        labels = mtrag.labels(list(json_records(path, broken)))
        broken.raise_if_any()
        if not labels:
            raise input_error(path, None, "tasks without labels", "name a file with answerability", "no-such-column")
        return labels
    rows = filled_lines(path)
    number, first = next(rows, (1, ""))
    header = [cell.strip() for cell in first.split("\t")]
    names = [cell.lower() for cell in header]
    position = next((names.index(name) for name in ID_NAMES if name in names), None)
    if position is None:
        found = f"no column of turn ids; the columns are: {', '.join(header)}"
        raise input_error(path, number, found, f"name one of them {', '.join(ID_NAMES)}", "no-such-column")
    if len(header) < 2 or len(set(header)) < len(header):
        found = "no column beside the turn ids" if len(header) < 2 else "two columns of the same name"
        raise input_error(path, number, found, "name every column in the first line, with tabs between", "wrong-columns")
    columns: dict[str, dict[str, str]] = {name: {} for i, name in enumerate(header) if i != position}
    problems = RowProblems(path)
    seen: dict[str, int] = {}
    for number, line in rows:
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != len(header):
            problems.skip(
                number, f"{len(cells)} column{'s' * (len(cells) != 1)} where the header has {len(header)}",
                "complete the line or leave it out", "wrong-columns",
            )  # fmt: skip
            continue
        turn = cells[position]
        if not turn:
            problems.skip(number, "no turn id", "give every turn one line", "no-turn-id")
            continue
        if turn in seen:
            found = f"turn {turn} stands in {at_line(path, seen[turn])} already"
            problems.add(number, found, "give every turn one line", "repeated-turn")
            continue
        seen[turn] = number
        for name, cell in zip(header, cells, strict=True):
            if name in columns and cell:
                columns[name][turn] = cell
    problems.raise_if_any(len(seen))
    if not seen:
        raise input_error(path, None, "the file has no rows", "check the path", "empty")
    return columns
