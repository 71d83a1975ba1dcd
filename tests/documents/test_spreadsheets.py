"""CSV that a spreadsheet opens without running anything, and from which every text can be had back."""

from __future__ import annotations

import csv
import io
import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from robustcs.documents.data import to_csv
from tests.tables import table_of

#: Text → the same in a cell.
CELLS = {
    "=1+1": "'=1+1", "+cmd": "'+cmd", "-x": "'-x", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "'=1": "''=1",
    "''-a": "'''-a", "-": "'-", "-3": "-3", "+1e-5": "+1e-5", "=1": "=1", "-.5": "-.5", "a=b": "a=b", "'tis": "'tis",
    "–3": "–3",
    "=1+1,\"x\"": "'=1+1,\"x\"",
}  # fmt: skip


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def unguarded(cell: str) -> str:
    return cell[1:] if re.match("'+[=+\\-@\t\r]", cell) else cell


def test_a_formula_gets_an_apostrophe_and_a_number_none() -> None:
    frame = pd.DataFrame({"=HYPERLINK(1)": list(CELLS), "number": -0.5})
    head, *rows = cells(to_csv(table_of(frame)))
    assert head == ["'=HYPERLINK(1)", "number"]
    assert rows == [[cell, "-0.5"] for cell in CELLS.values()]
    assert cells(to_csv(table_of(frame), raw=True)) == [
        ["=HYPERLINK(1)", "number"],
        *([text, "-0.5"] for text in CELLS),
    ]


@given(st.lists(st.text("='+-@\t\r1a.") | st.text(), min_size=1))
def test_every_text_comes_back(texts: list[str]) -> None:
    rows = cells(to_csv(table_of(pd.DataFrame({"text": texts, "n": 1}))))[1:]
    assert [unguarded(cell) for cell, _ in rows] == texts
    for cell, _ in rows:
        assert not re.match("[=+\\-@\t\r]", cell) or float(cell.removeprefix("=")) is not None
