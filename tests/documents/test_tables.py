"""Declared columns as people read them: estimates with their intervals in one cell."""

from __future__ import annotations

import io
import math
from types import SimpleNamespace

import pytest
from rich.console import Console

from robustcs.documents.document import Column, TableBlock
from robustcs.documents.tables import cell
from robustcs.documents.terminal import render_terminal
from robustcs.result import Field, difference, number, p_value, points, score, share, table, text
from robustcs.statistics.estimate import Estimate

SPEC = table(
    "rates",
    "One row.",
    text("run"),
    *share("share").between(),
    *number("kappa").between("k_low", "k_high"),
)
WIDE, NARROW = Estimate(0.5, 0.25, 0.75, 20, ""), Estimate(0.25, 0.125, 0.5, 20, "")


@pytest.mark.parametrize("row", [("a", WIDE, NARROW), {"run": "a", "share": WIDE, "kappa": NARROW}])
def test_an_estimate_stands_for_its_column_and_those_of_its_limits(row: object) -> None:
    frame = SPEC.frame([row])
    SPEC.check(SPEC.of([row]))
    assert frame.iloc[0].tolist() == ["a", 0.5, 0.25, 0.75, 0.25, 0.125, 0.5]
    line = next(frame.itertuples(index=False))
    assert cell(SPEC.field("share"), line) == "50% (25–75%)"
    assert cell(SPEC.field("kappa"), line) == "0.250 (0.125 to 0.500)"


@pytest.mark.parametrize(
    ("field", "limits", "shown"),
    [
        (score("value"), (0.2, 0.3), "0.2500 (0.200 to 0.300)"),
        (difference("value"), (-0.2, 0.3), "+0.2500 (−0.200 to +0.300)"),
        (number("value").rounded(2), (0.2, 0.3), "0.25 (0.20 to 0.30)"),
        (share("value"), (math.nan, math.nan), "25%"),
        (points("value"), (-0.2, 0.3), "+25.0 (−20 to +30)"),
    ],
)
def test_the_form_follows_the_unit(field: Field, limits: tuple[float, float], shown: str) -> None:
    estimate, *_ = field.between()
    assert cell(estimate, SimpleNamespace(value=0.25, ci_low=limits[0], ci_high=limits[1])) == shown
    assert cell(estimate, SimpleNamespace(value=math.nan, ci_low=math.nan, ci_high=math.nan)) == "–"


def test_a_p_that_few_units_limit_is_a_value_and_not_a_bound() -> None:
    """Two of 20 conversations differ: the note beside it says that p cannot be below 0.5."""
    lines = [SimpleNamespace(p=p, p_floor=p, exact=False) for p in (0.5, 0.00002)]
    assert [cell(p_value(), line) for line in lines] == ["0.500", "< 0.0001"]


def test_an_interval_moves_below_its_number_before_a_table_is_split() -> None:
    cells = ("a name", *["0.512 (0.430 to 0.600)"] * 4)
    wide = TableBlock("t", "Scores", (Column("system", "left"), *map(Column, "abcd")), (cells,))
    text = io.StringIO()
    render_terminal([wide], "policy", (), Console(file=text, width=80))
    lines = text.getvalue().splitlines()
    assert sum("a name" in line for line in lines) == 1
    assert any(line.count("(0.430 to 0.600)") == 4 for line in lines)
