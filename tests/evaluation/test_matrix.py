"""The grade matrix, against a plain join of run and judgments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix, grade_matrix
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy

turns_ = st.sampled_from(["2_1", "1_1", "1_2", "1_10", "9"])
documents_ = st.integers(0, 12).map(lambda number: f"d{number}")
runs_ = st.dictionaries(turns_, st.lists(documents_, min_size=1, max_size=10, unique=True), min_size=1)
qrels_ = st.dictionaries(turns_, st.dictionaries(documents_, st.integers(-2, 4), min_size=1), min_size=1)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matrix")


def matrix_of(folder: Path, run: dict[str, list[str]], qrels: dict[str, dict[str, int]]) -> GradeMatrix:
    lines = [f"{turn} Q0 {document} {i} {-i} t\n" for turn, found in run.items() for i, document in enumerate(found)]
    (folder / "run").write_text("".join(lines))
    judged = [f"{turn} 0 {document} {grade}\n" for turn, row in qrels.items() for document, grade in row.items()]
    (folder / "qrels").write_text("".join(judged))
    return grade_matrix(rank_run(read_run(folder / "run"), EvaluationPolicy()), read_qrels(folder / "qrels"))


@settings(deadline=None)
@given(run=runs_, qrels=qrels_)
def test_equals_a_plain_join(scratch: Path, run: dict[str, list[str]], qrels: dict[str, dict[str, int]]) -> None:
    matrix = matrix_of(scratch, run, qrels)
    turns = [turn for turn in ("1_1", "1_2", "1_10", "2_1", "9") if turn in qrels]
    assert list(matrix.turns) == turns
    depth = max((len(run[turn]) for turn in turns if turn in run), default=0)
    assert matrix.grades.shape == (len(turns), depth)
    for row, turn in enumerate(turns):
        found = [qrels[turn].get(document, UNJUDGED) for document in run.get(turn, [])]
        assert matrix.grades[row].tolist() == found + [ABSENT] * (depth - len(found))
        ideal = sorted(qrels[turn].values(), reverse=True)
        assert matrix.judged[row].tolist() == ideal + [ABSENT] * (matrix.judged.shape[1] - len(ideal))
        assert matrix.retrieved[row] == len(run.get(turn, []))
        assert matrix.missing[row] == (turn not in run)
    assert matrix.extra_turns == len(set(run) - set(qrels))
    assert matrix.grades.dtype == matrix.judged.dtype == np.int16


@settings(deadline=None)
@given(run=runs_, qrels=qrels_, size=st.integers(1, 7))
def test_blocks_add_up_to_the_matrix(
    scratch: Path, run: dict[str, list[str]], qrels: dict[str, dict[str, int]], size: int
) -> None:
    matrix = matrix_of(scratch, run, qrels)
    blocks = list(matrix.blocks(size))
    assert [len(block.turns) for block in blocks[:-1]] == [size] * (len(blocks) - 1)
    assert 0 < len(blocks[-1].turns) <= size
    assert tuple(turn for block in blocks for turn in block.turns) == matrix.turns
    for part in ("grades", "judged", "retrieved", "missing"):
        assert np.array_equal(np.concatenate([getattr(block, part) for block in blocks]), getattr(matrix, part))


def test_a_passage_judged_for_another_turn_is_unjudged_here(scratch: Path) -> None:
    matrix = matrix_of(scratch, {"1": ["a", "b"], "2": ["a"]}, {"1": {"b": 1}, "2": {"a": 2}})
    assert matrix.grades.tolist() == [[UNJUDGED, 1], [2, ABSENT]]


def test_a_run_without_any_judged_turn(scratch: Path) -> None:
    matrix = matrix_of(scratch, {"7": ["a"], "8": ["a"]}, {"1": {"b": 1, "c": -1}})
    assert matrix.grades.shape == (1, 0)
    assert matrix.judged.tolist() == [[1, -1]]
    assert (matrix.missing.tolist(), matrix.extra_turns) == ([True], 2)


def test_a_real_run(shared_data: Path) -> None:
    run = read_run(shared_data / "cast2019" / "runs" / "bert_base_raw.trec.gz")
    matrix = grade_matrix(rank_run(run, EvaluationPolicy()), read_qrels(shared_data / "cast2019" / "qrels.txt.gz"))
    assert matrix.grades.shape == (173, 100)
    assert matrix.extra_turns == 306, "479 turns, 173 of them judged"
    assert int((matrix.grades[:, :3] == UNJUDGED).sum()) == 132, "of 519, recomputed outside this project"
