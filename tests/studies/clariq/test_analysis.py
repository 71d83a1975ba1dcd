"""The tasks of ClariQ together: topics that lack something, several systems, intervals over topics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robustcs.errors import UsageError
from robustcs.evaluation.clarification import Asked
from robustcs.inputs.clariq import Topics
from robustcs.inputs.clariq_tables import Conversation
from robustcs.policy import EvaluationPolicy
from robustcs.statistics.intervals import bootstrap_mean
from robustcs.statistics.mean_difference import randomisation_test
from robustcs.studies.clariq.analysis import Clariq, clariq
from robustcs.studies.clariq.tasks import System
from robustcs.studies.clariq.topic_means import TopicMeans, common_units

TOPICS = Topics(
    requests={"1": "one", "2": "two", "3": "three"}, needs={"1": 1, "2": 4, "3": 2},
    questions={"1": frozenset({"a", "b"}), "2": frozenset({"c"}), "3": frozenset({"d"})},
    facets={"F1": "1", "F2": "1", "F3": "2"}, facet_texts={}, question_texts={}, rows=5,
)  # fmt: skip
FIRST = System(
    "first", questions={"1": ["a"], "2": ["c"]},
    documents=Asked({"P1": {"F1": 1.0, "F2": 0.0, "F3": 0.5}}, {"F1": "a"}, {"F1": "asked", "F3": "no output"}),
    needs={"1": 1, "2": 2},
)  # fmt: skip
SECOND = System("second", questions={"1": ["a", "b"], "2": ["x"], "3": ["d"]}, needs={"1": 2, "2": 4, "3": 2})
BEST = System("best", documents=Asked({"P1": {"F1": 1.0, "F2": 1.0, "F3": 1.0}, "NDCG3": {"F1": 1.0}}))


def evaluate(*systems: System, missing: str = "zero", **more: object) -> Clariq:
    policy = EvaluationPolicy(missing=missing)  # type: ignore[arg-type]
    return clariq(systems, TOPICS, {}, (), policy, 0, **more)  # type: ignore[arg-type]


def value(result: Clariq, table: str, row: str, **where: object) -> float:
    frame = getattr(result, table)
    for name, wanted in where.items():
        frame = frame[frame[name] == wanted]
    assert len(frame) == 1
    return frame.iloc[0][row]


def test_a_topic_without_output_scores_zero_or_is_dropped_from_all() -> None:
    first = replace(FIRST, documents=None)
    result = evaluate(first, SECOND)
    assert value(result, "question_relevance", "recall", run="first", k=5) == pytest.approx(0.5)
    assert value(result, "question_relevance", "recall", run="second", k=5) == pytest.approx(2 / 3)
    assert value(result, "question_relevance", "missing", run="first", k=5) == 1
    assert result.evaluated.policy_line.startswith("3 topics · missing topics score 0 (1) · ties by id descending")
    assert "relevant" not in result.evaluated.policy_line
    dropped = evaluate(first, SECOND, missing="drop", rankings=True)
    assert value(dropped, "question_relevance", "recall", run="second", k=5) == pytest.approx(0.5)
    assert dropped.evaluated.policy_line.startswith("2 topics · missing topics dropped (1)")
    assert dropped.evaluated.policy_line.endswith("relevant ≥ 1 (binary measures)")


def test_document_relevance_is_a_mean_over_facets_with_baselines_first() -> None:
    result = evaluate(FIRST, BEST)
    table = result.document_relevance
    assert table[["run", "metric", "value", "baseline", "units", "topics", "missing"]].to_numpy().tolist() == [
        ["best", "P1", 1.0, True, 3, 2, 0], ["first", "P1", 0.5, False, 3, 2, 1],
    ]  # fmt: skip
    row = result.comparisons[result.comparisons["task"] == "document_relevance"].iloc[0]
    assert (row["first"], row["second"], row["difference"]) == ("first", "best", -0.5)
    # two topics: the signs of two sums
    assert row["p"] == randomisation_test([-1.0, -0.5], 0) == 0.5
    assert result.facets["outcome"].fillna("").tolist() == ["", "", "", "asked", "", "no output"]


def test_a_missing_prediction_is_wrong_and_never_guessed() -> None:
    result = evaluate(FIRST, SECOND)
    measures = {name: value(result, "clarification_need", "value", run="first", measure=name) for name in ("recall", "mse")}
    assert measures == {"recall": pytest.approx(1 / 3), "mse": 2.0}
    assert value(result, "clarification_need", "topics", run="first", measure="mse") == 2
    assert result.needs[result.needs["run"] == "first"]["predicted"].tolist()[:2] == [1, 2]
    assert result.needs["predicted"].isna().sum() == 1
    assert value(result, "need_confusion", "topics", run="first", label=2, predicted=0) == 1
    assert value(evaluate(FIRST, missing="drop"), "clarification_need", "value", run="first", measure="recall") == 0.5


def test_contexts_of_conversations_belong_to_topics() -> None:
    system = System("s", documents=Asked({"P1": {"7": 1.0, "8": 0.0, "9": 0.5}}))
    contexts = {"7": Conversation("1", "F1", 0), "8": Conversation("1", "F1", 1), "9": Conversation("2", "F3", 1)}
    result = clariq([system], None, contexts, (), EvaluationPolicy(), 0)
    assert result.by_turn[["asked", "units", "value"]].to_numpy().tolist() == [[0, 1, 1.0], [1, 2, 0.25]]
    assert value(result, "document_relevance", "topics", run="s") == 2
    assert next(iter(result.tables)) == "document_relevance"


def test_nothing_in_common() -> None:
    other = System("other", documents=Asked({"P5": {"F1": 1.0}}))
    with pytest.raises(UsageError, match="best, other have no measure in common"):
        evaluate(BEST, other)
    with pytest.raises(UsageError, match="no topic is answered by all systems"):
        evaluate(System("a", questions={"1": ["a"]}), System("b", questions={"2": ["c"]}), missing="drop")


def test_topic_means_of_single_units_are_plain() -> None:
    values = np.random.default_rng(0).random((2, 30))
    block = TopicMeans("t", "m", ("a", "b"), values, np.arange(30))
    assert block.means(1)[0][1:] == pytest.approx((values[0].mean(), *bootstrap_mean(values[0], 1)))
    row = block.compare([(0, 1)], 1)[0]
    assert row[7] == row[8] == randomisation_test(values[0] - values[1], 1)
    assert row[4:7] == pytest.approx(((values[0] - values[1]).mean(), *bootstrap_mean(values[0] - values[1], 1)))


def test_common_units() -> None:
    have = {"a": {"1"}, "b": {"1", "2"}}
    assert common_units(["1", "2", "3"], have, False) == (["1", "2", "3"], {"a": ["2", "3"], "b": ["3"]})
    assert common_units(["1", "2", "3"], have, True)[0] == ["1"]


def test_tables_have_the_columns_that_they_declare() -> None:
    result = evaluate(FIRST, SECOND, BEST)
    assert list(result.tables) == [
        "question_relevance", "document_relevance", "clarification_need", "comparisons", "need_labels", "need_confusion",
        "topics", "facets", "needs", "preference", "by_turn",
    ]  # fmt: skip
    for name, frame in result.tables.items():
        with pytest.raises(TypeError, match=f"table {name} has columns"):
            replace(result, **{name: frame.assign(more=1)})
    with pytest.raises(TypeError, match="column baseline is"):
        replace(result, document_relevance=result.document_relevance.assign(baseline=1))
