"""Per-turn scores as ``trec_eval -q`` prints them: ``measure turn value``, one score a line.

Read as well are tables by their column names: a measure, a turn and a value in every row, or a column for every measure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from robustcs.errors import ProblemList, at_line, input_error
from robustcs.inputs.files import text_lines
from robustcs.inputs.kinds import first_cells, refuse_other_kinds
from robustcs.inputs.numbers import finite_number
from robustcs.inputs.records import decimal_number, is_turn_id
from robustcs.inputs.tables import MEASURE_NAMES, VALUE_NAMES, Table, read_table
from robustcs.inputs.three_columns import measure_columns
from robustcs.inputs.trec_lines import MS_MARCO
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd

#: The row that averages over turns; it is not a turn.
ALL = "all"
#: trec_eval prints about a hundred.
_MOST_MEASURES = 200


def read_scores(path: str | os.PathLike[str]) -> pd.DataFrame:
    """The scores of one run: a float frame indexed by turn (natural order), one column per measure as the file names it.

    Rows of the turn ``all`` are averages and left out. A measure that a turn lacks is NaN.

    Raises :class:`InputError` for malformed lines, a turn scored twice by one measure, and a file with averages only.
    """
    kind = refuse_other_kinds(path, "scores")
    table = kind is not None and "scores" in kind.kinds and kind.shape == "table"
    if kind is not None and kind.family in MS_MARCO and _turns_come_first(path):
        raise input_error(path, None, kind.says, kind.advice, "other-kind")
    values: dict[str, dict[str, float]] = {}
    lines: dict[tuple[str, str], int] = {}
    problems = ProblemList(path)
    averages = False
    for number, measure, turn, cell in _of_table(path, problems) if table else _of_lines(path, problems):
        if turn == ALL:
            averages = True
            continue
        value = decimal_number(cell) if isinstance(cell, str) else finite_number(cell)
        if value is None:
            problems.add(number, f"value {str(cell)[:40]!r} is not a number", "write a decimal number", "not-a-number")
            continue
        earlier = lines.setdefault((measure, turn), number)
        if earlier != number:
            problems.add(
                number, f"{measure} of turn {turn} stands in {at_line(path, earlier)} already",
                "keep one of the two lines", "repeated-score",
            )  # fmt: skip
            continue
        values.setdefault(measure, {})[turn] = value
    problems.raise_if_any()
    if not values:
        found = "only averages (turn 'all')" if averages else "the file is empty"
        raise input_error(path, None, found, "write per-turn scores with trec_eval -q", "no-turns")
    frame = pd.DataFrame(values)
    frame = frame.loc[sorted(frame.index, key=turn_sort_key)]
    frame.index.name = "turn"
    return frame


def _turns_come_first(path: str | os.PathLike[str]) -> bool:
    """Are the first cells numbers, or so many that they are no measures?"""
    first = first_cells(path)
    return len(first) > _MOST_MEASURES or all(cell[0].isdigit() for cell in first)


#: Line, measure, turn, value as it stands there.
_Score = tuple[int, str, str, object]


def _of_lines(path: str | os.PathLike[str], problems: ProblemList) -> Iterator[_Score]:
    for number, line in text_lines(path):
        cells = line.split()
        if not cells or line.startswith("#"):
            continue
        if len(cells) == 3 or (len(cells) > 3 and cells[1] == ALL):
            yield number, cells[0], cells[1], cells[2]
            continue
        hint = {4: "it looks like qrels, which --qrels takes", 6: "it looks like a run, which --run takes"}
        problems.add(
            number,
            f"{len(cells)} column{'s' * (len(cells) != 1)} where per-turn scores have 3 (measure turn value)",
            hint.get(len(cells), "write the output of trec_eval -q"),
            "wrong-columns",
        )


def _of_table(path: str | os.PathLike[str], problems: ProblemList) -> Iterator[_Score]:
    table = read_table(path)
    assert isinstance(table, Table)
    turn, measure, value = table.turn, table.find(MEASURE_NAMES), table.find(VALUE_NAMES)
    assert turn is not None
    wide = [table.columns.index(name) for name in measure_columns(table.columns)]
    for line, cells in table.cells(problems):
        if not is_turn_id(cells[turn]):
            problems.add(line, "no turn id", "complete the row or leave it out", "no-turn-id")
            continue
        name = str(cells[turn]).strip()
        if table.is_scores and measure is not None and value is not None:
            yield line, str(cells[measure]).strip(), name, cells[value]
            continue
        for position in wide:
            yield line, table.columns[position], name, cells[position]
