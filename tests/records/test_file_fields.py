"""The turns of a file are those of the project that wrote it: the same records, filters and orders."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import UsageError
from robustcs.project.reading import read_project
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.records.reading import read_turns
from robustcs.records.record import TurnRecords
from robustcs.studies.fields import turns_of, turns_of_file

FILTERS = [
    "cause:rewriter",
    "cause@qr:rewriter type:*",
    "loss>0.2",
    "unjudged@human>0",
    "judged>=10",
    "correct@qr:no",
    "first@human>2",
    "place:10",
    "outcome:correct",
    "kind:*",
    "lost:*",
    "depth>3",
    "conversation:2",
    "turn:1_5",
    "pronoun:yes",
    '"name in rewrite":*',
    "tag:*",
    "-coder:*",
    '"NDCG@3"@qr<0.2',
    "f1>0.5",
    "sourdough",
    "at:ndcg_cut_3=1 cause:rewriter",
    'at:"P@1"=1 correct@qr:yes',
    "dropped:bread",
]


@pytest.fixture(scope="module")
def both(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TurnRecords, TurnRecords]:
    turns = turns_of(TurnInputs(Workspace(read_project(demo / "robustcs.toml"))))
    path = tmp_path_factory.mktemp("turns") / "turns.jsonl"
    turns.write(path)
    return turns, turns_of_file(read_turns(path))


def test_records(both: tuple[TurnRecords, TurnRecords]) -> None:
    turns, again = both
    for turn in turns.table.ids:
        assert again.record(turn, None) == turns.record(turn, None)
    numbers = {"depth": turns.details.longest, "turns": len(turns.table.ids)}
    assert again.head() == {**turns.head(), **numbers}
    assert again.details.formulations == turns.details.formulations
    assert list(again.details.systems) == list(turns.details.systems)
    assert again.details.cutoff == turns.details.cutoff


@pytest.mark.parametrize("where", FILTERS)
def test_filters(both: tuple[TurnRecords, TurnRecords], where: str) -> None:
    turns, again = both
    selected = turns.table.where(where)
    assert again.table.where(where) == selected
    assert selected


@pytest.mark.parametrize("order", ["loss@qr", "first", "disagreement", "ndcg_cut_3", "random"])
def test_orders(both: tuple[TurnRecords, TurnRecords], order: str) -> None:
    turns, again = both
    ids = turns.table.ids
    assert again.table.ordered(ids, order) == turns.table.ordered(ids, order)


def test_fields(both: tuple[TurnRecords, TurnRecords]) -> None:
    assert set(both[0].table.columns) == set(both[1].table.columns)
    assert set(both[0].cuts) == set(both[1].cuts) and both[0].cuts[0] == both[1].cuts[0]


def test_a_threshold_that_the_file_does_not_have(both: tuple[TurnRecords, TurnRecords]) -> None:
    with pytest.raises(
        UsageError, match="no results at ndcg_cut_3>=0.2; choose from ndcg_cut_3>=0.5"
    ):
        both[1].table.where("at:ndcg_cut_3>=0.2 cause:*")
