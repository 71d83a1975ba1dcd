"""The one kind of computed table: what goes in comes out, and nobody can change it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.statistics.estimate import Estimate
from robustcs.table import Table, count, flag, number, score, stacked, table, text

SPEC = table("t", "Any values.", text("name"), count("turns"), score("value"), flag("good"))
MISSING = (None, float("nan"), pd.NA)
Row = tuple[str | None, int | None, float, bool | None]

texts = st.none() | st.text(st.characters(codec="utf-8"))
integers = st.none() | st.integers(-(2**53), 2**53)
numbers = st.floats(width=64)
booleans = st.none() | st.booleans()
rows_of_any = st.lists(st.tuples(texts, integers, numbers, booleans))


def same(first: Any, second: Any) -> bool:
    """Whether two cells are equal, and of one type; nan equals nan."""
    both_missing = first != first and second != second
    return type(first) is type(second) and (both_missing or first == second)


def assert_same(made: Table, rows: list[Row]) -> None:
    """The table has these rows, with values of these types."""
    assert len(made) == len(rows)
    for found, row in zip(made, rows, strict=True):
        assert all(map(same, found, row)), (found, row)


@given(rows_of_any)
def test_rows_come_back(rows: list[Row]) -> None:
    assert_same(SPEC.of(rows), rows)
    names = [field.name for field in SPEC.fields]
    assert_same(SPEC.of([dict(zip(names, row, strict=True)) for row in rows]), rows)
    assert_same(SPEC.of(list(SPEC.of(rows))), rows)


@given(rows_of_any)
def test_columns_and_frames_come_back(rows: list[Row]) -> None:
    made = SPEC.of(rows)
    assert_same(SPEC.of({name: made.values(name) for name in made.names}), rows)
    assert_same(SPEC.of({name: made[name] for name in made.names}), rows)
    frame = made.frame()
    assert list(frame) == list(made.names)
    assert_same(SPEC.of(frame), rows)
    assert_same(SPEC.of([frame, frame]), [*rows, *rows])
    assert_same(SPEC.of(frame[frame.columns[::-1]]), rows)
    assert_same(pickle.loads(pickle.dumps(made)), rows)


@given(rows_of_any, st.sampled_from(MISSING))
def test_there_is_one_way_to_be_missing(rows: list[Row], gap: Any) -> None:
    """A gap in a row may be None, nan or NA; a table and its frame show each in the way of its column."""
    made = SPEC.of([*rows, (gap, gap, gap, gap)])
    last = list(made)[-1]
    assert last[0] is None and last[1] is None and np.isnan(last[2]) and last[3] is None
    frame = made.frame()
    assert frame.iloc[-1].isna().all()
    assert (str(frame["turns"].dtype), frame["value"].dtype) == ("Int64", np.float64)
    assert str(frame["good"].dtype) == "boolean"


def test_types_of_whole_columns() -> None:
    made = SPEC.of([("a", 1, 0.5, True), ("b", 2, 1, False)])
    assert [made[name].dtype.kind for name in made.names] == ["O", "i", "f", "b"]
    frame = made.frame()
    assert [str(kind) for kind in frame.dtypes] == ["str", "int64", "float64", "bool"]
    assert SPEC.of([("a", 1, 2, True)])["value"].dtype.kind == "i"
    empty = SPEC.of([])
    assert [empty[name].dtype.kind for name in empty.names] == ["O", "i", "f", "b"]
    assert list(empty) == [] and empty.frame().empty


@given(rows_of_any, st.data())
def test_rows_are_chosen_by_values_and_by_places(rows: list[Row], data: st.DataObject) -> None:
    made = SPEC.of(rows)
    names = {row[0] for row in rows} - {None}
    name = data.draw(st.sampled_from(sorted(names)) if names else st.just("a"))
    good = data.draw(st.booleans())
    expected = [row for row in rows if row[0] == name and row[3] is good]
    assert_same(made.where(name=name, good=good), expected)
    assert len(made.where(name=3)) == len(made.where(turns="x")) == 0
    places = data.draw(st.lists(st.integers(0, len(rows) - 1)) if rows else st.just([]))
    assert_same(made.take(np.array(places, dtype=int)), [rows[place] for place in places])


def test_a_table_cannot_be_changed() -> None:
    given_ = {
        "name": ["a"],
        "turns": np.array([1]),
        "value": np.array([0.5]),
        "good": np.array([True]),
    }
    made = SPEC.of(given_)
    for made_ in (made, pickle.loads(pickle.dumps(made)), made.where(name="a")):
        for name in made_.names:
            column = made_[name]
            with pytest.raises(ValueError, match="read-only"):
                column[0] = column[0]
            with pytest.raises(ValueError, match="WRITEABLE"):
                column.flags.writeable = True
    given_["value"][0] = 9
    frame = made.frame()
    frame.loc[0, "turns"] = 7
    frame["value"].array[0] = 9
    assert list(made) == [("a", 1, 0.5, True)]


def test_an_estimate_fills_its_interval() -> None:
    spec = table("t", "", text("name"), *score("value").between(), count("units"))
    one = Estimate(0.5, 0.25, 0.75, 20, "")
    for row in (("a", one, 20), {"name": "a", "value": one, "units": 20}):
        assert list(spec.of([row])) == [("a", 0.5, 0.25, 0.75, 20)]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("name", np.array([1])),
        ("turns", [0.5]),
        ("turns", ["1"]),
        ("value", ["0.5"]),
        ("value", [True]),
        ("good", [1]),
        ("good", ["yes"]),
    ],
)
def test_values_of_another_kind_are_refused(column: str, values: Any) -> None:
    columns = {"name": ["a"], "turns": [1], "value": [0.5], "good": [True]}
    with pytest.raises(TypeError, match=f"table t: column {column} is .*, declared is"):
        SPEC.of({**columns, column: values})


def test_other_columns_and_lengths_are_refused() -> None:
    columns: dict[str, Any] = {"name": ["a"], "turns": [1], "value": [0.5], "good": [True]}
    assert SPEC.of({**columns, "odd": [1]}).names == SPEC.of(columns).names
    for refused in (
        lambda: SPEC.of({**columns, "odd": [1]}, exact=True),
        lambda: SPEC.of({"name": []}),
    ):
        with pytest.raises(TypeError, match="table t has columns"):
            refused()
    with pytest.raises(ValueError, match="lengths"):
        SPEC.of({**columns, "turns": [1, 2]})
    with pytest.raises(ValueError, match="argument"):
        SPEC.of([("a", 1)])
    with pytest.raises(KeyError):
        SPEC.of(columns)["odd"]


def test_further_columns_have_the_kind_of_their_declaration() -> None:
    spec = table("t", "", text("name"), more="number")
    made = spec.of({"name": ["a"], "ndcg_cut_3>=0.5": [1.5]})
    assert made.names == ("name", "ndcg_cut_3>=0.5") and made.values("ndcg_cut_3>=0.5") == [1.5]
    assert made.fields[1] == number("ndcg_cut_3>=0.5")


@given(rows_of_any, rows_of_any)
def test_parts_are_stacked(first: list[Row], second: list[Row]) -> None:
    made = stacked("part", {"one": SPEC.of(first), "two": SPEC.of(second)})
    assert made.names == ("part", *SPEC.of([]).names)
    assert_same(
        made,
        [("one", *row) for row in first] + [("two", *row) for row in second],  # type: ignore[list-item]
    )


@pytest.mark.parametrize(
    "use",
    ["len(made)", "list(made)", "made['turns']", "made.where(name='a')", "made.values('value')"],
)
def test_only_a_frame_imports_pandas(use: str) -> None:
    code = (
        "import sys; from robustcs.table import *; from robustcs.table import table, text, count, score;"
        "made = table('t', '', text('name'), count('turns'), score('value')).of([('a', None, 0.5)]);"
        f"{use}; assert 'pandas' not in sys.modules; made.frame(); assert 'pandas' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
