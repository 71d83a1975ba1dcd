"""Passages that nobody judged, numbered over several runs."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.evaluation import holes
from robustcs.evaluation.holes import only_relevant
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import Run
from robustcs.policy import EvaluationPolicy

IDS = ["a", "b", "ab", "MARCO_1234567", "MARCO_1234568", "MARCO_12345678901234567890", "judged"]
#: Of every run, the passages of three turns.
RUNS = st.lists(
    st.lists(st.sets(st.sampled_from(IDS)), min_size=3, max_size=3).filter(any),
    min_size=1,
    max_size=3,
)


@pytest.fixture(scope="module")
def qrels(tmp_path_factory: pytest.TempPathFactory) -> Qrels:
    path = tmp_path_factory.mktemp("qrels") / "qrels"
    path.write_text("1_1 0 judged 1\n1_2 0 judged 1\n1_3 0 judged 1\n")
    return read_qrels(path)


def judged(passages: list[set[str]], qrels: Qrels) -> holes.JudgedRun:
    rows = [(turn, passage) for turn, some in enumerate(passages) for passage in sorted(some)]
    turns = np.array([turn for turn, _ in rows], np.int32)
    ids = Ids.of([passage for _, passage in rows])
    run = Run("run", qrels.turns, turns, ids, np.arange(len(rows), 0, -1).astype(np.float32))
    return holes.judged_run(rank_run(run, EvaluationPolicy()), qrels, 10)


@pytest.mark.parametrize("chance", [False, True], ids=["", "all ids have one hash"])
@given(given=RUNS)
def test_a_passage_of_a_turn_has_one_number(
    qrels: Qrels, given: list[list[set[str]]], chance: bool
) -> None:
    runs = [judged(passages, qrels) for passages in given]
    alike = (
        mock.patch.object(Ids, "hashes", lambda ids: np.zeros(len(ids), np.uint64))
        if chance
        else nullcontext()
    )
    with alike:
        numbers = holes.passage_numbers(runs)
    number_of: dict[tuple[int, str], int] = {}
    for run, found in zip(runs, numbers, strict=True):
        rows = np.nonzero(run.top.grades == UNJUDGED)[0]
        for row, passage, number in zip(
            rows.tolist(), run.unjudged.texts(), found.tolist(), strict=True
        ):
            assert number_of.setdefault((row, passage), number) == number
    assert sorted(number_of.values()) == list(range(len(number_of)))
    by_turn = np.bincount(np.array([row for row, _ in number_of], dtype=np.int64), minlength=3)
    assert holes.pool_holes(runs, numbers).tolist() == by_turn.tolist()
    assert [row for row, _ in sorted(number_of, key=number_of.__getitem__)] == sorted(
        row for row, _ in number_of
    )


def test_runs_are_taken_apart_by_turns(qrels: Qrels, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine unjudged passages in three turns, of which three or six may be held at a time."""
    runs = [
        judged([{"a", "b"}, {"a", "judged"}, set()], qrels),
        judged([{"b"}, {"a", "b"}, {"a", "b", "ab"}], qrels),
    ]
    for at_once, turns in ((3, [1, 1, 1]), (6, [2, 1]), (9, [3]), (1, [1, 1, 1])):
        monkeypatch.setattr(holes, "_AT_ONCE", at_once)
        parts = list(holes.stretches(runs))
        assert [len(part[0].matrix.turns) for part in parts] == turns
        for number, run in enumerate(runs):
            assert [
                text for part in parts for text in part[number].unjudged.texts()
            ] == run.unjudged.texts()
            assert [turn for part in parts for turn in part[number].matrix.turns] == list(
                run.matrix.turns
            )


def test_without_unjudged_passages_all_turns_are_taken_together(qrels: Qrels) -> None:
    [[part]] = holes.stretches([judged([{"judged"}, set(), set()], qrels)])
    assert len(part.matrix.turns) == 3


@pytest.mark.parametrize(
    ("grades", "level", "only"),
    [
        ("111", 1, True),
        ("333", 1, True),
        ("123", 1, True),
        ("012", 1, False),
        ("122", 2, False),
        ("23", 2, True),
        ("111", 2, True),
    ],
)
def test_only_relevant(tmp_path: Path, grades: str, level: int, only: bool) -> None:
    """No judged passage below the relevance level, or a single grade."""
    (tmp_path / "qrels").write_text(
        "".join(f"1_1 0 d{number} {grade}\n" for number, grade in enumerate(grades))
    )
    assert only_relevant(read_qrels(tmp_path / "qrels"), level) is only
