"""The tasks of ClariQ together: topics that lack something, several systems, intervals over topics."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy
from statsmodels.api import OLS

from robustcs.errors import UsageError
from robustcs.evaluation.clarification import DocumentRelevance
from robustcs.inputs.clariq import Topics
from robustcs.policy import EvaluationPolicy
from robustcs.studies.clariq.analysis import Clariq, clariq
from robustcs.studies.clariq.tasks import COMPARISONS, Outputs, TaskResults, common_units


class System(NamedTuple):
    """The output of one system; None for tasks in which it is not evaluated."""

    name: str
    questions: dict[str, list[str]] | None = None
    documents: DocumentRelevance | None = None
    needs: dict[str, int] | None = None


def outputs(*systems: System) -> Outputs:
    """The outputs of systems by task."""
    tasks = ("questions", "documents", "needs")
    return Outputs(
        *(
            {one.name: own for one in systems if (own := getattr(one, of)) is not None}
            for of in tasks
        )
    )


TOPICS = Topics(
    requests={"1": "one", "2": "two", "3": "three"}, needs={"1": 1, "2": 4, "3": 2},
    questions={"1": frozenset({"a", "b"}), "2": frozenset({"c"}), "3": frozenset({"d"})},
    facets={"F1": "1", "F2": "1", "F3": "2"}, facet_texts={}, question_texts={}, rows=5,
)  # fmt: skip
FIRST = System(
    "first", questions={"1": ["a"], "2": ["c"]},
    documents=DocumentRelevance({"P1": {"F1": 1.0, "F2": 0.0, "F3": 0.5}}, {"F1": "a"}, {"F1": "asked", "F3": "no output"}),
    needs={"1": 1, "2": 2},
)  # fmt: skip
SECOND = System(
    "second", questions={"1": ["a", "b"], "2": ["x"], "3": ["d"]}, needs={"1": 2, "2": 4, "3": 2}
)
BEST = System(
    "best",
    documents=DocumentRelevance({"P1": {"F1": 1.0, "F2": 1.0, "F3": 1.0}, "NDCG3": {"F1": 1.0}}),
)


def evaluate(*systems: System, missing: str = "zero", **more: object) -> Clariq:
    policy = EvaluationPolicy(missing=missing)  # type: ignore[arg-type]
    return clariq(outputs(*systems), TOPICS, {}, (), policy, 0, **more)  # type: ignore[arg-type]


def value(result: Clariq, table: str, row: str, **where: object) -> float:
    frame = getattr(result, table)
    for name, wanted in where.items():
        frame = frame[frame[name] == wanted]
    assert len(frame) == 1
    return frame.iloc[0][row]


def test_a_topic_without_output_scores_zero_or_is_dropped_from_all() -> None:
    first = FIRST._replace(documents=None)
    result = evaluate(first, SECOND)
    assert value(result, "question_relevance", "recall", system="first", k=5) == pytest.approx(0.5)
    assert value(result, "question_relevance", "recall", system="second", k=5) == pytest.approx(
        2 / 3
    )
    assert value(result, "question_relevance", "missing", system="first", k=5) == 1
    assert result.evaluated.policy_line.startswith(
        "3 topics · missing topics score 0 (1) · ties by id descending"
    )
    assert "relevant" not in result.evaluated.policy_line
    dropped = evaluate(first, SECOND, missing="drop", rankings=True)
    assert value(dropped, "question_relevance", "recall", system="second", k=5) == pytest.approx(
        0.5
    )
    assert dropped.evaluated.policy_line.startswith("2 topics · missing topics dropped (1)")
    assert dropped.evaluated.policy_line.endswith("relevant ≥ 1 (binary measures)")


def test_document_relevance_is_a_mean_over_facets_with_baselines_first() -> None:
    result = evaluate(FIRST, BEST)
    table = result.document_relevance
    assert table[["system", "metric", "value", "units", "topics", "missing"]].to_numpy().tolist() == [
        ["best", "P1", 1.0, 3, 2, 0], ["first", "P1", 0.5, 3, 2, 1],
    ]  # fmt: skip
    row = result.comparisons[result.comparisons["task"] == "document_relevance"].iloc[0]
    assert (row["first"], row["second"], row["difference"]) == ("first", "best", -0.5)
    # two topics: two of the four sign patterns of −1 and −0.5 are as far from 0
    assert (
        row["p"] == 0.5
        and row["topics"] == 2
        and math.isnan(row["ci_low"])
        and "no interval: only 2 topics" in row["note"]
    )
    assert result.facets["outcome"].fillna("").tolist() == ["", "", "", "asked", "", "no output"]


def test_a_missing_prediction_is_wrong_and_never_guessed() -> None:
    result = evaluate(FIRST, SECOND)
    measures = {
        name: value(result, "clarification_need", "value", system="first", measure=name)
        for name in ("recall", "mse")
    }
    assert measures == {"recall": pytest.approx(1 / 3), "mse": 2.0}
    assert value(result, "clarification_need", "topics", system="first", measure="mse") == 2
    assert value(result, "need_confusion", "topics", system="first", label=2, predicted=0) == 1
    assert (
        value(
            evaluate(FIRST, missing="drop"),
            "clarification_need",
            "value",
            system="first",
            measure="recall",
        )
        == 0.5
    )


def test_contexts_of_conversations_belong_to_topics() -> None:
    system = System("s", documents=DocumentRelevance({"P1": {"7": 1.0, "8": 0.0, "9": 0.5}}))
    result = clariq(
        outputs(system), None, {"7": "1", "8": "1", "9": "2"}, (), EvaluationPolicy(), 0
    )
    assert value(result, "document_relevance", "topics", system="s") == 2
    assert next(iter(result.tables)) == "document_relevance"


def test_nothing_in_common() -> None:
    other = System("other", documents=DocumentRelevance({"P5": {"F1": 1.0}}))
    with pytest.raises(UsageError, match="best, other have no measure in common"):
        evaluate(BEST, other)
    with pytest.raises(UsageError, match="no topic is answered by all systems"):
        evaluate(
            System("a", questions={"1": ["a"]}), System("b", questions={"2": ["c"]}), missing="drop"
        )


def by_topic(seed: int, topics: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two systems over facets of unequally many a topic, and the facets' topics."""
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(topics), random.integers(1, 5, topics))
    return np.clip(
        0.5 + 0.2 * random.normal(size=(2, len(groups))) + 0.2 * random.normal(size=topics)[groups],
        0,
        1,
    ), groups


def test_means_and_differences_by_topic_equal_what_is_written_out() -> None:
    values, groups = by_topic(0, 12)
    found = TaskResults()
    means = found.means("t", "m", ("a", "b"), values, groups, [(0, 1)], 1)
    ols = OLS(values[0], np.ones(len(groups))).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    # statsmodels has no CR2; without the correction by 1 − h the interval is narrower
    sizes = np.bincount(groups)
    rest = np.bincount(groups, weights=values[0]) - sizes * values[0].mean()
    assert ols.bse[0] == pytest.approx(math.sqrt((rest**2).sum()) / len(groups))
    error = math.sqrt((rest**2 / (1 - sizes / len(groups))).sum()) / len(groups)
    share = values[0].mean()
    reach = scipy.stats.t.ppf(0.975, 11) * error / (share * (1 - share))
    place = scipy.special.logit(share)
    assert (means[0].value, means[0].low, means[0].high) == pytest.approx(
        (share, scipy.special.expit(place - reach), scipy.special.expit(place + reach))
    )
    (row,) = COMPARISONS.frame(found.rows["comparisons"]).itertuples()
    sums = np.bincount(groups, weights=values[0] - values[1])
    patterns = np.array(list(product((1, -1), repeat=12)))
    p = (np.abs(patterns @ sums) >= abs(sums.sum()) - 1e-12).mean()
    assert row.p == row.p_corrected == pytest.approx(p) and not found.notes
    assert (
        row.difference == pytest.approx((values[0] - values[1]).mean())
        and row.ci_low < row.difference < row.ci_high
    )
    assert (p <= 0.05) == (row.ci_low > 0 or row.ci_high < 0)


def test_fewer_than_five_topics_have_no_interval() -> None:
    found = TaskResults()
    means = found.means("t", "m", ("a", "b"), *by_topic(1, 4), [(0, 1)], 1)
    assert all(
        math.isnan(one.low) and one.note == "no interval: only 4 topics (at least 5 required)"
        for one in means
    )
    assert COMPARISONS.frame(found.rows["comparisons"])["ci_low"].isna().all()
    assert list(found.notes) == ["t: no adjusted p can reach 0.05; the smallest possible is 0.12"]


def test_scores_outside_0_and_1_have_intervals_that_may_leave_them() -> None:
    values, groups = by_topic(2, 8)
    outside = TaskResults().means("t", "m", ("a", "b"), 3 * values - 1, groups, [], 1)[0]
    assert outside.method == "cluster-robust t (CR2)" and outside.high > 0.5


def test_the_order_of_topics_changes_nothing() -> None:
    some = {f"{i}": frozenset({f"q{i}", f"r{i}"}) for i in range(1, 31)}
    random = np.random.default_rng(4)
    systems = []
    for name in ("first", "second"):
        own = {
            topic: [f"q{topic}" if random.random() < 0.6 else "x", f"r{topic}"] for topic in some
        }
        documents = {f"F{topic}": float(random.random()) for topic in some}
        needs = {topic: int(random.integers(1, 5)) for topic in some}
        systems.append(System(name, own, DocumentRelevance({"P1": documents}), needs))

    def turned(order: list[str]) -> Clariq:
        topics = Topics(
            requests=dict.fromkeys(order, "?"), needs={topic: 1 + int(topic) % 4 for topic in order},
            questions={topic: some[topic] for topic in order}, facets={f"F{topic}": topic for topic in order},
            facet_texts={}, question_texts={}, rows=30,
        )  # fmt: skip
        shuffled = [
            one._replace(documents=DocumentRelevance({"P1": {f"F{topic}": one.documents.scores["P1"][f"F{topic}"] for topic in order}}))
            for one in systems if one.documents
        ]  # fmt: skip
        return clariq(outputs(*shuffled), topics, {}, (), EvaluationPolicy(), 0)

    one, other = turned(sorted(some)), turned(sorted(some, reverse=True))
    for name, frame in one.tables.items():
        pd.testing.assert_frame_equal(frame, other.tables[name], check_exact=True)
    assert one.evaluated.as_dict()["unit"] == "topic" and one.evaluated.as_dict()["units"] == 30


def test_intervals_of_need_by_topic() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(5)
    true, guess = random.integers(1, 5, 40), random.integers(0, 5, 40)
    guess[:25] = true[:25]
    topics = replace(
        TOPICS,
        needs={f"{i}": int(label) for i, label in enumerate(true)},
        requests={f"{i}": "?" for i in range(40)},
    )
    system = System("s", needs={f"{i}": int(label) for i, label in enumerate(guess) if label})
    rows = clariq(
        outputs(system), topics, {}, (), EvaluationPolicy(), 0
    ).clarification_need.set_index("measure")
    assert (rows["ci_low"] < rows["value"]).all() and (rows["value"] < rows["ci_high"]).all()
    assert rows.loc["recall", "value"] == pytest.approx((true == guess).mean())
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(
        true, guess, labels=[1, 2, 3, 4], average="weighted", zero_division=0
    )
    assert rows.loc[["precision", "recall", "f1"], "value"].tolist() == pytest.approx(
        [precision, recall, f1]
    )
    assert rows.loc["mse", "topics"] == rows.loc["kappa", "topics"] == (guess > 0).sum()
    assert rows.loc["kappa", "value"] == pytest.approx(
        metrics.cohen_kappa_score(true[guess > 0], guess[guess > 0])
    )


def test_statistics_of_the_data() -> None:
    topics = replace(
        TOPICS,
        question_texts={"Q1": "", "Q2": "which one", "Q3": "why is that"},
        answers=("no", "", "it is so"),
    )
    result = clariq(
        outputs(), topics, {}, (), EvaluationPolicy(), 0, bank={"Q1": "", "Q2": "which one"}
    )
    found = {
        row.what: (row.number, row.terms, row.terms_sd) for row in result.statistics.itertuples()
    }
    assert list(found) == ["topics", "facets", "questions", "answers", "bank"]
    assert (found["questions"], found["answers"], found["bank"]) == (
        (2, 2.5, 0.5),
        (2, 2.0, 1.0),
        (1, 2.0, 0.0),
    )


def test_common_units() -> None:
    have = {"a": {"1"}, "b": {"1", "2"}}
    assert common_units(["1", "2", "3"], have, False) == (
        ["1", "2", "3"],
        {"a": ["2", "3"], "b": ["3"]},
    )
    assert common_units(["1", "2", "3"], have, True)[0] == ["1"]


def test_tables_have_the_columns_that_they_declare() -> None:
    result = evaluate(FIRST, SECOND, BEST)
    assert list(result.tables) == [
        "question_relevance", "document_relevance", "clarification_need", "comparisons", "need_confusion", "topics", "facets",
        "statistics", "preference",
    ]  # fmt: skip
    for name, frame in result.tables.items():
        with pytest.raises(TypeError, match=f"table {name} has columns"):
            result.changed(**{name: frame.assign(more=1)})
    with pytest.raises(TypeError, match="column units is"):
        result.changed(document_relevance=result.document_relevance.assign(units=0.5))
