"""A result does not change: what leaves it is a copy, and so is what it takes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustcs
from robustcs.result import Result, Table
from tests.project.test_collections import domain

STUDIES = ("evaluate", "breakdown", "unjudged", "correlate", "answers")


@pytest.fixture(scope="module")
def config(demo: Path) -> Path:
    return demo / "robustcs.toml"


def written(result: Result) -> list[str | None]:
    """All tables of a result in every format."""
    tables = list(result.tables)
    texts = [result.to_csv(table=name) for name in tables]
    return [
        *texts,
        result.to_json(),
        result.to_markdown(),
        result.to_latex(),
        result.to_html(),
        repr(result),
    ]  # type: ignore[attr-defined]


def frames(result: Result) -> Iterator[pd.DataFrame]:
    """Every way to get a frame or a table of a result."""
    for name in result.tables:
        yield result.tables[name]
        yield result.tables.get(name)  # type: ignore[misc]
        yield result.frame(name) if name not in result.by_collection else result.by_collection[name]
        yield result.table(name)  # type: ignore[misc]
        if name not in result.by_collection:
            yield getattr(result, name)
            yield {**result.content}.get(name)  # type: ignore[misc]
    yield from result.tables.values()
    yield from dict(result.tables).values()
    for _, frame in result.tables.items():
        yield frame
    for _, frame in result.by_collection.items():
        yield frame


def spoil(frame: Any) -> None:
    """Change the cells, the columns and the rows of a frame in place; try to change a table."""
    if isinstance(frame, Table):
        for name in frame.names:
            with pytest.raises(ValueError, match="read-only|writeable|writable"):
                frame[name][:] = frame[name]
            with pytest.raises(ValueError, match="WRITEABLE"):
                frame[name].flags.writeable = True
        return
    if frame is None:  # a slow table that is not computed
        return
    for name in frame.columns if len(frame) else ():
        texts, flags = (frame[name].dtype.kind in kinds for kinds in ("OTU", "b"))
        value = "spoiled" if texts else True if flags else 7
        frame[name].array[0] = value  # the array itself, which a lazy copy shares
        frame.loc[frame.index[0], name] = value
    frame["further"] = 0
    frame.columns = [f"{name}_" for name in frame]
    frame.index.name = "other"
    del frame[frame.columns[0]]


@pytest.mark.parametrize("name", STUDIES)
def test_a_reader_cannot_change_a_result(name: str, config: Path) -> None:
    def ask() -> Result:
        result: Result = getattr(robustcs, name)(config)
        return result

    fresh = ask()
    for frame in frames(fresh):  # nothing is computed yet, and later everything is
        spoil(frame)
    result = ask()
    before = written(result)
    assert len(before[0] or "") > 50
    for frame in frames(result):
        spoil(frame)
    assert written(result) == written(fresh) == before
    assert written(pickle.loads(pickle.dumps(result))) == before if name == "evaluate" else True


def test_figures_show_the_result_and_not_its_changed_tables(config: Path) -> None:
    result = robustcs.sweep(config)
    figure = next(iter(result.figures()))
    drawn = [
        list(map(tuple, np.asarray(line.get_xydata())))
        for line in result.plot(figure).axes[0].lines
    ]
    for frame in frames(result):
        spoil(frame)
    assert [
        list(map(tuple, np.asarray(line.get_xydata())))
        for line in result.plot(figure).axes[0].lines
    ] == drawn


def test_tables_of_collections_are_copies(tmp_path: Path) -> None:
    names = ("bank", "law")
    for seed, name in enumerate(names):
        domain(tmp_path, name, seed)
    runs = {"a": [tmp_path / f"bm25_manual_{name}.trec" for name in names]}
    qrels = [tmp_path / f"qrels_{name}.txt" for name in names]
    result = robustcs.evaluate(qrels=qrels, runs=runs, by="collection", metrics=["map"])
    assert "measures_by_collection" in result.tables
    before = written(result)
    for frame in frames(result):
        spoil(frame)
    assert written(result) == before


@pytest.mark.filterwarnings("ignore::pandas.errors.ChainedAssignmentError")
def test_the_cell_of_the_first_report(config: Path) -> None:
    result = robustcs.evaluate(config)
    value = result.measures.loc[0, "value"]
    result.tables["measures"].loc[0, "value"] = 0.999
    result.measures.loc[0, "value"] = 0.999
    assert result.measures.loc[0, "value"] == value
    texts = [text for text in written(result) if text]
    assert texts
    assert not any("0.999" in text for text in texts)


def test_another_table_is_copied_when_it_is_given(config: Path) -> None:
    result = robustcs.evaluate(config)
    frame = result.measures
    other = result.changed(measures=frame)
    frame.loc[0, "value"] = 0.999
    assert other.to_csv() == result.to_csv()
    assert other.measures.loc[0, "value"] != 0.999


QRELS = pd.DataFrame(
    {"query_id": ["1_1", "1_1", "1_2"], "doc_id": ["a", "b", "a"], "relevance": [1, 0, 2]}
)
RUN = pd.DataFrame(
    {"query_id": ["1_1", "1_1", "1_2"], "doc_id": ["a", "b", "b"], "score": [2.0, 1.0, 3.0]}
)


def nested(frame: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """{turn: {passage: value}}."""
    turn, passage, value = frame.columns
    return {
        one: dict(zip(part[passage], part[value], strict=True)) for one, part in frame.groupby(turn)
    }


@pytest.mark.parametrize(
    "given",
    [pd.DataFrame.copy, lambda frame: frame.to_dict("records"), nested],
    ids=["frame", "records", "nested"],
)
def test_inputs_are_neither_changed_nor_kept(given: Callable[[pd.DataFrame], Any]) -> None:
    qrels, run = (given(one) for one in (QRELS, RUN))
    opened = robustcs.open_project(qrels=qrels, runs={"a": run})
    result = robustcs.evaluate(qrels=qrels, runs={"a": run}, metrics=["recip_rank"])
    for one, first in ((qrels, QRELS), (run, RUN)):
        if isinstance(one, pd.DataFrame):
            pd.testing.assert_frame_equal(one, first)
        else:
            assert one == given(first)
    before = written(result)
    for one in (qrels, run):
        if isinstance(one, pd.DataFrame):
            one.iloc[:, 2] = 0
            del one["query_id"]
        else:
            one.clear()
    assert written(result) == before
    assert written(robustcs.evaluate(opened, metrics=["recip_rank"])) == before
