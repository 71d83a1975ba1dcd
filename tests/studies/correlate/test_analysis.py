"""Correlations, outliers and kinds of difference on turns small enough to count by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.unit_correlation import unit_correlation
from robustcs.statistics.units import units_of
from robustcs.studies.correlate.analysis import Correlate, QuestionPairs, correlate_similarity

TURNS = ["1_1", "1_2", "1_3", "2_1", "2_2", "2_3"]
X = [1.0, 0.95, 0.9, 0.5, 0.2, 0.79]
Y = [1.0, 0.1, 0.1, 0.3, np.nan, 0.9]
EVALUATED = Evaluated(EvaluationPolicy(), "scores", 6, 0)


def pair(name: str = "qr", judged: bool = True) -> QuestionPairs:
    index = pd.Index(TURNS, name="turn")
    scored = np.array([True, True, False, True, True, False])
    return QuestionPairs(
        rewriter=name,
        similarity=pd.DataFrame({"rouge1_f": X, "use": X[::-1]}, index=index),
        answers=pd.DataFrame({"overlap_10": Y}, index=index),
        judged=scored if judged else None,
        correct=scored & np.array([True, True, True, False, True, True]) if judged else None,
        depth=np.array([1.0, 2, 3, 1, 2, 3]),
        original=["a", None, "c", "d", "e", "f"],
        qr=["dog", "dogs", "red dog", "dog", "the dog", "dog red"],
        human=["dog", "dog", "red dog", "red dog", "dog", "red dog"],
    )


@pytest.fixture(scope="module")
def result() -> Correlate:
    return correlate_similarity([pair(), pair("other")], EVALUATED)


def test_correlations_over_each_subset(result: Correlate) -> None:
    frame = result.correlations
    assert list(frame) == [
        "rewriter", "x", "y", "subset", "turns", "method", "value", "ci_low", "ci_high", "p", "p_corrected", "comparisons",
        "units", "note",
    ]  # fmt: skip
    assert len(frame) == 2 * 2 * 3 * 3
    rows = frame[
        (frame["rewriter"] == "qr") & (frame["x"] == "rouge1_f") & (frame["method"] == "pearson")
    ]
    assert rows.set_index("subset")["turns"].to_dict() == {"all": 5, "judged": 3, "correct": 2}
    value = rows.set_index("subset")["value"]
    known = [0, 1, 2, 3, 5]
    single = units_of([TURNS[i] for i in known])
    assert (
        value["all"]
        == unit_correlation([X[i] for i in known], [Y[i] for i in known], single, "pearson").value
    )
    assert value["judged"] == pytest.approx(np.corrcoef([1.0, 0.95, 0.5], [1.0, 0.1, 0.3])[0, 1])
    assert np.isnan(value["correct"])  # two turns are too few


def conversations(count: int, length: int, seed: int = 0) -> QuestionPairs:
    """Two similarities against two measures of the answers; the turns of a conversation are alike."""
    random = np.random.default_rng(seed)
    index = pd.Index(
        [f"{c}_{turn}" for c in range(1, count + 1) for turn in range(1, length + 1)], name="turn"
    )
    common = np.repeat(random.normal(size=count), length)
    columns = {
        name: common + random.normal(size=len(index))
        for name in ("rouge1_f", "use", "overlap_10", "rbo")
    }
    texts = ["dog"] * len(index)
    return replace(
        pair(judged=False), similarity=pd.DataFrame({name: columns[name] for name in ("rouge1_f", "use")}, index=index),
        answers=pd.DataFrame({name: columns[name] for name in ("overlap_10", "rbo")}, index=index),
        depth=np.tile(np.arange(1.0, length + 1), count), original=texts, qr=texts, human=texts,
    )  # fmt: skip


def test_intervals_and_p_take_the_conversation_as_unit() -> None:
    one = conversations(12, 6)
    whole, single = (
        correlate_similarity([one], Evaluated(EvaluationPolicy(unit=unit), "scores", 72, 0))
        for unit in ("conversation", "turn")
    )
    assert (whole.evaluated.unit, whole.evaluated.units) == ("conversation", 12)
    assert (single.evaluated.unit, single.evaluated.units) == ("turn", 72)
    assert set(whole.correlations["units"]) == {12} and set(single.correlations["units"]) == {72}
    assert whole.correlations["value"].tolist() == single.correlations["value"].tolist()
    widths = [
        (result.correlations["ci_high"] - result.correlations["ci_low"]).mean()
        for result in (whole, single)
    ]
    assert widths[0] > 1.2 * widths[1]
    for frame in (whole.correlations, whole.partial):
        assert ((frame["ci_low"] <= 0) & (frame["ci_high"] >= 0)).tolist() == (
            frame["p"] > 0.05
        ).tolist()


def test_a_family_is_what_one_method_says_of_a_subset() -> None:
    result = correlate_similarity(
        [conversations(6, 4), replace(conversations(6, 4, 1), rewriter="other")], EVALUATED
    )
    assert set(result.correlations["comparisons"]) == set(result.partial["comparisons"]) == {4}
    for _, rows in result.correlations.groupby(["rewriter", "method"]):
        assert rows["p_corrected"].tolist() == pytest.approx(
            multipletests(rows["p"], method="holm")[1]
        )


def test_no_interval_below_five_conversations_with_such_turns() -> None:
    one = conversations(6, 4)
    judged = np.repeat([True, True, True, False, False, False], 4)
    result = correlate_similarity([replace(one, judged=judged, correct=judged)], EVALUATED)
    rows = result.correlations[result.correlations["method"] == "pearson"]
    few = rows[rows["subset"] == "judged"]
    assert few["value"].notna().all() and few[["ci_low", "ci_high", "p"]].isna().all(axis=None)
    assert set(few["note"]) == {"no interval: only 3 conversations (at least 5 required)"}
    assert rows[rows["subset"] == "all"]["ci_low"].notna().all()


def test_without_scores_there_is_one_subset() -> None:
    result = correlate_similarity([pair(judged=False)], EVALUATED)
    assert set(result.correlations["subset"]) == {"all"}
    assert result.pairs["correct"].isna().all()


def test_outliers_and_their_limits(result: Correlate) -> None:
    rows = result.outliers[result.outliers["rewriter"] == "qr"]
    # 0.9 is not above 0.9; a turn whose answers are unknown is no outlier
    assert list(zip(rows["turn"], rows["corner"], strict=True)) == [
        ("1_2", "different answers"),
        ("2_3", "same answers"),
    ]
    assert rows["kinds"].tolist() == ["wording only", "word order"]
    assert rows["human_text"].tolist() == ["dog", "red dog"]


def test_pairs_have_every_column(result: Correlate) -> None:
    rows = result.pairs[result.pairs["rewriter"] == "qr"].set_index("turn")
    assert rows["rouge1_f"].tolist() == X
    assert rows["length"].tolist() == [1, 1, 2, 2, 1, 2]
    assert rows["correct"].isna().tolist() == [False, False, True, False, False, True]
    assert rows.loc["1_2", "original_text"] is None or pd.isna(rows.loc["1_2", "original_text"])


def test_depth_is_not_held_constant_where_ids_do_not_say_it() -> None:
    unknown = pair()
    object.__setattr__(unknown, "depth", np.full(6, np.nan))
    assert set(correlate_similarity([unknown], EVALUATED).partial["given"]) == {"length"}
    assert set(correlate_similarity([pair()], EVALUATED).partial["given"]) == {"depth, length"}


def test_tables_have_the_columns_that_they_declare(result: Correlate) -> None:
    for name, frame in result.tables.items():
        assert [field.name for field in result.spec(name).fields] == list(frame)
        with pytest.raises(TypeError, match=f"table {name} has columns"):
            result.changed(**{name: frame.rename(columns={frame.columns[-1]: "other"})})
    names = [field.name for field in result.spec("pairs").fields]
    assert names[:6] == ["rewriter", "turn", "rouge1_f", "use", "overlap_10", "judged"]
    with pytest.raises(TypeError, match="column use is bool"):
        result.changed(pairs=result.pairs.assign(use=True))
