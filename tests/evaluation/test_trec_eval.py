"""Measures that trec_eval computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import grade_notes, parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from tests.formulations import score_frame

POLICY = EvaluationPolicy()


@pytest.mark.parametrize(("grade", "equal"), [(0, True), (-1, False)])
def test_infap_is_map_unless_passages_were_sampled(tmp_path: Path, grade: int, equal: bool) -> None:
    (tmp_path / "qrels").write_text(f"1_1 0 a 1\n1_1 0 b {grade}\n1_1 0 c 1\n1_1 0 d 0\n")
    (tmp_path / "run").write_text(
        "".join(f"1_1 Q0 {doc} 1 {-place} x\n" for place, doc in enumerate("abcde"))
    )
    qrels, measures = (
        read_qrels(tmp_path / "qrels"),
        [parse_measure(name) for name in ("infAP", "map")],
    )
    ranking = rank_run(read_run(tmp_path / "run", "r"), POLICY)
    [scores] = score_frame(grade_matrix(ranking, qrels), measures, POLICY).to_numpy()
    assert (abs(scores[0] - scores[1]) < 1e-4) == equal
    note = "infAP equals MAP here, because the qrels have no passages with grade -1 (sampled but unjudged)"
    assert grade_notes(measures, qrels.grades, 1) == ([note] if equal else [])
    assert grade_notes(measures[1:], np.array([0, 1]), 1) == []


def test_relevant_passages_of_a_missing_turn_count(tmp_path: Path) -> None:
    """As with ``trec_eval -c``; nothing of the missing turn was retrieved."""
    (tmp_path / "qrels").write_text("1_1 0 a 1\n1_1 0 b 0\n1_2 0 a 1\n1_2 0 b 2\n1_2 0 c 0\n")
    (tmp_path / "run").write_text("1_1 Q0 a 1 1 x\n")
    measures = [parse_measure(name) for name in ("num_rel", "num_rel_ret")]
    matrix = grade_matrix(
        rank_run(read_run(tmp_path / "run", "r"), POLICY), read_qrels(tmp_path / "qrels")
    )
    scores = score_frame(matrix, measures, POLICY)
    assert scores["num_rel"].tolist() == [1, 2] and scores["num_rel_ret"].tolist() == [1, 0]
    assert score_frame(matrix, measures[:1], EvaluationPolicy(relevance_level=2))[
        "num_rel"
    ].tolist() == [0, 1]
