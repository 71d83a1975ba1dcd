"""Per-turn scores as ``trec_eval -q`` prints them: ``measure turn value``, one score a line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from robustcs.errors import ProblemList, at_line, input_error
from robustcs.inputs.files import text_lines
from robustcs.inputs.records import decimal_number
from robustcs.inputs.turns import turn_sort_key

if TYPE_CHECKING:
    import pandas as pd

#: The row that averages over turns; it is not a turn.
ALL = "all"


def read_scores(path: str | os.PathLike[str]) -> pd.DataFrame:
    """The scores of one run: a float frame indexed by turn (natural order), one column per measure as the file names it.

    Rows of the turn ``all`` are averages and left out. A measure that a turn lacks is NaN.

    Raises :class:`InputError` for malformed lines, a turn scored twice by one measure, and a file with averages only.
    """
    import pandas as pd

    values: dict[str, dict[str, float]] = {}
    lines: dict[tuple[str, str], int] = {}
    problems = ProblemList(path)
    averages = False
    for number, line in text_lines(path):
        cells = line.split()
        if not cells or line.startswith("#"):
            continue
        if len(cells) >= 3 and cells[1] == ALL:
            averages = True
            continue
        if len(cells) != 3:
            hint = {4: "it looks like qrels, which --qrels takes", 6: "it looks like a run, which --run takes"}
            problems.add(
                number,
                f"{len(cells)} column{'s' * (len(cells) != 1)} where per-turn scores have 3 (measure turn value)",
                hint.get(len(cells), "write the output of trec_eval -q"),
                "wrong-columns",
            )
            continue
        measure, turn, cell = cells
        value = decimal_number(cell)
        if value is None:
            problems.add(number, f"value {cell!r} is not a number", "write a decimal number", "not-a-number")
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
