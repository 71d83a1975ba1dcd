"""The grade matrix, against a plain join of run and judgments."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Literal
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation.matrix import (
    ABSENT,
    UNJUDGED,
    GradeMatrix,
    grade_matrix,
    graded_run,
    no_judged_passage,
)
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs import columns
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.text import line_chunks
from robustcs.policy import EvaluationPolicy
from tests.evaluation.test_augmentation import as_qrels
from tests.evaluation.test_run_pool import as_ranking

turns_ = st.sampled_from(["2_1", "1_1", "1_2", "1_10", "9"])
documents_ = st.integers(0, 12).map(lambda number: f"d{number}" + "-long" * (number % 4))
runs_ = st.dictionaries(
    turns_, st.lists(documents_, min_size=1, max_size=10, unique=True), min_size=1
)
qrels_ = st.dictionaries(
    turns_, st.dictionaries(documents_, st.integers(-2, 4), min_size=1), min_size=1
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matrix")


def matrix_of(
    folder: Path, run: dict[str, list[str]], qrels: dict[str, dict[str, int]]
) -> GradeMatrix:
    lines = [
        f"{turn} Q0 {document} {i} {-i} t\n"
        for turn, found in run.items()
        for i, document in enumerate(found)
    ]
    (folder / "run").write_text("".join(lines))
    judged = [
        f"{turn} 0 {document} {grade}\n"
        for turn, row in qrels.items()
        for document, grade in row.items()
    ]
    (folder / "qrels").write_text("".join(judged))
    return grade_matrix(
        rank_run(read_run(folder / "run"), EvaluationPolicy()), read_qrels(folder / "qrels")
    )


@settings(deadline=None, max_examples=30)
@given(run=runs_, qrels=qrels_)
def test_equals_a_plain_join(
    scratch: Path, run: dict[str, list[str]], qrels: dict[str, dict[str, int]]
) -> None:
    matrix = matrix_of(scratch, run, qrels)
    turns = [turn for turn in ("1_1", "1_2", "1_10", "2_1", "9") if turn in qrels]
    assert list(matrix.turns) == turns
    depth = max((len(run[turn]) for turn in turns if turn in run), default=0)
    assert matrix.grades.shape == (len(turns), depth)
    for row, turn in enumerate(turns):
        found = [qrels[turn].get(document, UNJUDGED) for document in run.get(turn, [])]
        assert matrix.grades[row].tolist() == found + [ABSENT] * (depth - len(found))
        ideal = sorted(qrels[turn].values(), reverse=True)
        assert matrix.judged[row].tolist() == ideal + [ABSENT] * (
            matrix.judged.shape[1] - len(ideal)
        )
        assert matrix.retrieved[row] == len(run.get(turn, []))
        assert matrix.missing[row] == (turn not in run)
    assert matrix.extra_turns == len(set(run) - set(qrels))
    assert matrix.grades.dtype == matrix.judged.dtype == np.int16


@settings(deadline=None, max_examples=30)
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
        assert np.array_equal(
            np.concatenate([getattr(block, part) for block in blocks]), getattr(matrix, part)
        )


rows_ = st.lists(
    st.tuples(turns_, documents_, st.sampled_from(["1", "2", "2.5", "1e1", "-3"])),
    min_size=1,
    max_size=30,
)


@settings(deadline=None, max_examples=30)
@given(rows=rows_, qrels=qrels_, size=st.integers(1, 300), order=st.sampled_from(["score", "rank"]), grouped=st.booleans(),
       head=st.sampled_from(["", "# made\n", "query_id Q0 document rank score tag\n"]), alike=st.booleans())  # fmt: skip
def test_turn_by_turn_is_the_same_as_whole(
    scratch: Path, rows: list[tuple[str, str, str]], qrels: dict[str, dict[str, int]], size: int,
    order: Literal["score", "rank"], grouped: bool, head: str, alike: bool,
) -> None:  # fmt: skip
    """Ties, repeated documents, turns in one place or several, pieces of any size; also where all keys are equal by chance."""
    matrix_of(scratch, {"9": ["d0"]}, qrels)
    if grouped:
        rows = sorted(rows, key=lambda row: row[0])
    lines = [
        f"{turn} Q0 {document} {place % 3} {score} t\n"
        for place, (turn, document, score) in enumerate(rows)
    ]
    (scratch / "run").write_text(head + "".join(lines))
    judged, policy = read_qrels(scratch / "qrels"), EvaluationPolicy(order=order)
    run = read_run(scratch / "run", ranks=order == "rank")
    whole = grade_matrix(rank_run(run, policy), judged)
    hashes = (
        mock.patch.object(Ids, "hashes", lambda self: np.zeros(len(self), np.uint64))
        if alike
        else nullcontext()
    )
    pieces = mock.patch.object(
        columns, "line_chunks", lambda path, _, longest: line_chunks(path, size, longest)
    )
    with pieces, hashes:
        found, count = graded_run(scratch / "run", "run", policy, read_qrels(scratch / "qrels"))
    assert count == len(rows)
    for field in fields(GradeMatrix):
        np.testing.assert_equal(getattr(found, field.name), getattr(whole, field.name))


def test_memory_is_that_of_a_few_turns(tmp_path: Path) -> None:
    """Counted allocations: ten times the turns may not take ten times the memory beside the matrix."""
    (tmp_path / "qrels").write_text("".join(f"t{turn} 0 d1 1\n" for turn in range(400)))
    qrels = read_qrels(tmp_path / "qrels")
    most = []
    for turns in (40, 400):
        lines = (
            f"t{turn} Q0 passage-{rank:0100} {rank} {1000 - rank} tag\n"
            for turn in range(turns)
            for rank in range(100)
        )
        (tmp_path / "run").write_text("".join(lines))
        with mock.patch.object(columns, "_PIECE", 1 << 17):
            tracemalloc.start()
            graded_run(tmp_path / "run", "run", EvaluationPolicy(), qrels)
            most.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert most[1] < 1.5 * most[0]


def test_a_run_is_evaluated_with_few_imports(tmp_path: Path) -> None:
    """Counted: half of what a single turn takes would be those of frames and Arrow, and a third those of other formats."""
    (tmp_path / "qrels").write_text("1_1 0 a 1\n")
    (tmp_path / "run").write_text("1_1 Q0 b 1 9.5 t\n1_1 Q0 a 2 9.5 t\n")
    program = """if True:
        import sys
        from robustcs.evaluation.matrix import graded_run
        from robustcs.evaluation.measure import parse_measure
        from robustcs.evaluation.measures import score_columns
        from robustcs.inputs.qrels import read_qrels
        from robustcs.policy import EvaluationPolicy
        matrix, _ = graded_run("run", "run", EvaluationPolicy(), read_qrels("qrels"))
        print(score_columns(matrix, [parse_measure("map")], EvaluationPolicy())["map"])
        print({"pyarrow", "pandas", "scipy", "pytrec_eval", "numpy.ma", "numpy.typing", "json", "tempfile"} & set(sys.modules))
    """
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[0.5]\nset()\n"


def test_a_passage_judged_for_another_turn_is_unjudged_here(scratch: Path) -> None:
    matrix = matrix_of(scratch, {"1": ["a", "b"], "2": ["a"]}, {"1": {"b": 1}, "2": {"a": 2}})
    assert matrix.grades.tolist() == [[UNJUDGED, 1], [2, ABSENT]]


def test_none_of_many_judged_passages_is_missed(scratch: Path) -> None:
    """Among 2,000 passages, some have keys that begin alike."""
    grades = {f"d{number}": number % 5 for number in range(2000)}
    matrix = matrix_of(scratch, {"1_1": list(grades)}, {"1_1": grades})
    assert matrix.grades[0].tolist() == list(grades.values())


def test_a_grade_below_0_is_a_judgment_too(scratch: Path) -> None:
    for grade in (-2, 0, 3):
        qrels = {"1_1": {"a": grade}, "1_2": {"b": 1}}
        assert not no_judged_passage(matrix_of(scratch, {"1_1": ["c", "a"]}, qrels))
        assert no_judged_passage(
            matrix_of(scratch, {"1_1": ["c", "b"], "1_2": ["a"], "9_9": ["a"]}, qrels)
        )


def test_a_run_without_any_judged_turn(scratch: Path) -> None:
    matrix = matrix_of(scratch, {"7": ["a"], "8": ["a"]}, {"1": {"b": 1, "c": -1}})
    assert matrix.grades.shape == (1, 0)
    assert matrix.judged.tolist() == [[1, -1]]
    assert (matrix.missing.tolist(), matrix.extra_turns) == ([True], 2)


def test_a_run_without_any_turn() -> None:
    """As from a state that keeps no passage of a run."""
    matrix = grade_matrix(as_ranking("r", {}), as_qrels({("1_1", "a"): 1, ("1_2", "a"): 0}))
    assert matrix.grades.shape == (2, 0) and matrix.judged.tolist() == [[1], [0]]
    assert matrix.missing.all() and not matrix.retrieved.any() and matrix.extra_turns == 0


def test_a_real_run(shared_data: Path) -> None:
    run = read_run(shared_data / "cast2019" / "runs" / "bert_base_raw.trec.gz")
    matrix = grade_matrix(
        rank_run(run, EvaluationPolicy()), read_qrels(shared_data / "cast2019" / "qrels.txt.gz")
    )
    assert matrix.grades.shape == (173, 100)
    assert matrix.extra_turns == 306, "479 turns, 173 of them judged"
    assert int((matrix.grades[:, :3] == UNJUDGED).sum()) == 132, (
        "of 519, recomputed outside this project"
    )
