"""ClariQ's evaluation against independent implementations and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import UsageError
from robustcs.evaluation.clarification import (
    DOCUMENT_MEASURES,
    after_questions,
    baselines,
    confusion,
    document_measure,
    label_scores,
    performance_of,
    question_lists,
    recalls,
    weighted_scores,
)
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import Run, read_run
from robustcs.policy import EvaluationPolicy


def run_of(rows: list[tuple[str, str, float]]) -> Run:
    turns, codes = Ids.of(row[0] for row in rows).encoded()
    return Run(
        "r", tuple(turns.texts()), codes.astype(np.int32), Ids.of(row[1] for row in rows),
        np.array([row[2] for row in rows], dtype=np.float32), np.arange(len(rows)),
    )  # fmt: skip


def test_ties_drop_no_question() -> None:
    lists = question_lists(
        run_of([("1", "Qa", 1), ("1", "Qc", 1), ("1", "Qb", 2), ("2", "Qa", 0)]), EvaluationPolicy()
    )
    assert lists.by_topic == {"1": ["Qb", "Qc", "Qa"], "2": ["Qa"]}
    assert lists.tied == 0
    assert question_lists(run_of([("1", "Qa", 1), ("1", "Qb", 1)]), EvaluationPolicy()).tied == 1


def test_order_by_rank_depth_and_repeated_questions() -> None:
    rows = [("1", "Qa", 1.0), ("1", "Qb", 2.0), ("1", "Qa", 0.5)]
    lists = question_lists(run_of(rows), EvaluationPolicy(order="rank"))
    assert lists.by_topic == {"1": ["Qa", "Qb", "Qa"]}
    assert question_lists(run_of(rows), EvaluationPolicy(depth=1)).by_topic == {"1": ["Qb"]}


def test_recall_counts_the_empty_question_and_silent_topics() -> None:
    relevant = {"1": frozenset({"Q00001", "Qa"}), "2": frozenset({"Qb"}), "3": frozenset({"Qc"})}
    lists = {"1": ["Qx", "Q00001"], "2": ["Qx"] * 5 + ["Qb"]}
    assert recalls(lists, relevant).tolist() == [[0.5] * 4, [0, 1, 1, 1], [0] * 4]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), min_size=1, max_size=30))
def test_weighted_scores_equal_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    true, predicted = map(np.array, zip(*pairs, strict=True))
    table = confusion(true, predicted)
    expected = sklearn.precision_recall_fscore_support(
        true, predicted, average="weighted", zero_division=0
    )[:3]
    assert np.allclose(weighted_scores(table), expected, atol=1e-12)
    by_label = sklearn.precision_recall_fscore_support(
        true, predicted, labels=[1, 2, 3, 4], zero_division=0
    )[:3]
    assert np.allclose(label_scores(table), by_label, atol=1e-12)


PERFORMANCE = {
    "P1": {
        "F1": {"Q00001": 0.3, "Qa": 0.9, "MIN": 0.1, "MAX": 1.0},
        "F2": {"Q00001": 0.4, "Qb": 0.2},
    }
}


def test_what_asking_brings() -> None:
    def value(question: str) -> tuple[float, str]:
        asked = after_questions(PERFORMANCE, {"F1": question})
        assert asked.scores["P1"]["F2"] == 0 and asked.outcomes["F2"] == "no output"
        return asked.scores["P1"]["F1"], asked.outcomes["F1"]

    assert value("Qa") == (0.9, "asked")
    assert value("Qb") == (0.1, "no candidate")
    assert value("MAX") == (0.1, "no candidate")  # nobody can ask the best question by that name
    assert after_questions(PERFORMANCE, {"F2": "Qa"}).scores["P1"]["F2"] == 0.2


def test_baselines() -> None:
    assert baselines(PERFORMANCE) == {
        "no": {"P1": {"F1": 0.3, "F2": 0.4}}, "worst": {"P1": {"F1": 0.1, "F2": 0.2}},
        "best": {"P1": {"F1": 1.0, "F2": 0.4}},
    }  # fmt: skip
    assert "no" not in baselines({"P1": {"F1": {"Qa": 1.0}}})
    assert "no" not in baselines({"P1": {"F1": {"Qa": 1.0, "Q00001": 0.5}, "F2": {"Qa": 1.0}}})


def test_performance_of_rankings_equals_trec_eval(tmp_path) -> None:
    import pytrec_eval

    rng = np.random.default_rng(5)
    qrels = {f"F{i}": {f"d{d}": int(rng.integers(0, 3)) for d in range(12)} for i in range(3)}
    turns = [f"F{i}_Q{q}" for i in range(3) for q in range(4)]
    run = {
        turn: {f"d{d}": float(rng.integers(0, 9)) for d in rng.permutation(20)[:15]}
        for turn in turns
    }
    (tmp_path / "qrels").write_text(
        "".join(f"{f} 0 {d} {g}\n" for f, own in qrels.items() for d, g in own.items())
    )
    (tmp_path / "run").write_text(
        "".join(f"{t} Q0 {d} 1 {s} x\n" for t, own in run.items() for d, s in own.items())
    )
    policy = EvaluationPolicy()
    judged = read_qrels(tmp_path / "qrels")
    found = performance_of(rank_run(read_run(tmp_path / "run"), policy), judged, policy)
    assert tuple(found) == DOCUMENT_MEASURES
    expanded = {turn: qrels[turn.split("_")[0]] for turn in run}
    names = {"ndcg_cut.1,3,5,10,20", "P.1,3,5,10,20", "recip_rank"}
    expected = pytrec_eval.RelevanceEvaluator(expanded, names).evaluate(run)
    theirs = {
        name: name.replace("NDCG", "ndcg_cut_").replace("P", "P_")
        for name in DOCUMENT_MEASURES[:10]
    }
    theirs["MRR100"] = "recip_rank"
    for name in DOCUMENT_MEASURES:
        for turn, scores in expected.items():
            facet, question = turn.split("_")
            assert found[name][facet][question] == pytest.approx(scores[theirs[name]], abs=1e-9)


def test_ids_of_rankings_must_name_facets(tmp_path) -> None:
    (tmp_path / "qrels").write_text("F1 0 d 1\n")
    (tmp_path / "run").write_text("F2_Q1 Q0 d 1 1 x\n")
    policy = EvaluationPolicy()
    with pytest.raises(
        UsageError, match="no id of performance consists of a judged facet and a question, such as"
    ):
        performance_of(
            rank_run(read_run(tmp_path / "run", "performance"), policy),
            read_qrels(tmp_path / "qrels"),
            policy,
        )


def test_topics_by_true_and_predicted_label() -> None:
    """Rows are true labels; the first column is for topics without a prediction."""
    expected = [[0, 2, 0, 0, 1], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1, 0]]
    assert confusion([1, 1, 1, 2, 4], [1, 1, 4, 0, 3]).tolist() == expected


def test_names_of_measures() -> None:
    assert [document_measure(name).family for name in ("NDCG3", "P1", "MRR100")] == [
        "ndcg",
        "P",
        "recip_rank",
    ]
