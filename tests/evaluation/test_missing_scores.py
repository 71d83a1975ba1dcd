"""Missing scores: no order is claimed that some completion reverses, and the bounds are those of all completions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation.measures import TurnScores
from robustcs.evaluation.missing_scores import MissingScores
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.units import units_of
from robustcs.studies.evaluate.analysis import ALPHA, Evaluation, evaluate


def compared(values: np.ndarray, missing: str = "zero") -> Evaluation:
    """Evaluate systems a, b, … (rows) over turns of conversations of two."""
    turns = [f"{1 + place // 2}_{1 + place % 2}" for place in range(values.shape[1])]
    scores = {chr(97 + place): TurnScores(turns, {"s": row}) for place, row in enumerate(values)}
    own = (
        {name: int((~np.isnan(one["s"])).sum()) for name, one in scores.items()}
        if missing == "own"
        else {}
    )
    evaluated = Evaluated(
        EvaluationPolicy(),
        "scores",
        len(turns),
        0,
        own_turns=own,
        unscored=int(np.isnan(values).sum() > 0),
    )
    return evaluate(scores, {"s": False}, units_of(turns), evaluated)


@st.composite
def with_missing(draw: st.DrawFn) -> tuple[np.ndarray, np.random.Generator]:
    """Systems that differ clearly, whose judge fails on bad answers, at random or not at all."""
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    systems, turns = draw(st.integers(2, 3)), draw(st.integers(16, 30))
    values = np.clip(
        generator.normal(generator.uniform(0.1, 0.9, (systems, 1)), 0.1, (systems, turns)), 0, 1
    )
    share = draw(st.sampled_from([0.02, 0.1, 0.45]))
    bad = values < np.quantile(values, share, axis=1, keepdims=True)
    lost = bad if draw(st.booleans()) else generator.random(values.shape) < share
    lost[draw(st.integers(0, systems - 1))] = False
    values[lost] = np.nan
    values[:, :4] = np.nan_to_num(values[:, :4], nan=0.5)  # some turns are common to all
    return values, generator


@given(with_missing(), st.sampled_from(["zero", "own"]))
@settings(max_examples=60, deadline=None)
def test_no_completion_reverses_a_claimed_order(
    made: tuple[np.ndarray, np.random.Generator], rule: str
) -> None:
    values, generator = made
    result = compared(values, rule)
    lost = np.isnan(values)
    completions = [np.where(lost, generator.uniform(0, 1, values.shape), values) for _ in range(20)]
    completions += [
        np.where(lost, generator.integers(0, 2, (len(values), 1)).astype(float), values)
        for _ in range(8)
    ]
    pairs = list(combinations(range(len(values)), 2))
    for row, (first, second) in zip(result.pairs.itertuples(), pairs, strict=True):
        gaps = [float((one[first] - one[second]).mean()) for one in completions]
        if lost.any():
            assert row.lowest - 1e-9 <= min(gaps) and max(gaps) <= row.highest + 1e-9
        if row.p_corrected <= ALPHA:
            assert all(np.sign(gap) == np.sign(row.difference) for gap in gaps)
    # systems with different letters, or that a verdict calls the best, differ in every completion
    letters = result.measures.set_index("system")["letters"]
    for first, second in pairs:
        a, b = chr(97 + first), chr(97 + second)
        if not set(letters[a]) & set(letters[b]):
            assert len({np.sign((one[first] - one[second]).mean()) for one in completions}) == 1


def test_a_judge_that_fails_on_bad_answers_makes_no_system_better() -> None:
    generator = np.random.default_rng(1)
    worse = np.tile(generator.permutation(np.linspace(0, 0.8, 60)), (1, 1))[0]
    better = np.clip(worse + 0.02, 0, 1)
    lost = worse < np.quantile(worse, 0.45)
    seen = np.where(lost, np.nan, np.minimum(worse + 0.1, 1))
    common = ~lost
    assert (seen[common] - better[common]).mean() > 0.05  # over common turns, it looks better …
    row = compared(np.stack([seen, better])).pairs.iloc[0]
    assert row["difference"] > 0.05 and row["lowest"] < 0 < row["highest"]
    assert (row["p"], row["p_corrected"]) == (1.0, 1.0)  # … but no order is claimed


def test_a_difference_that_survives_the_missing_scores_is_claimed() -> None:
    values = np.array([[0.9] * 40, [0.1] * 39 + [np.nan]]) + np.linspace(-0.05, 0.05, 40)
    row = compared(values).pairs.iloc[0]
    assert row["p_corrected"] <= ALPHA and row["lowest"] > 0.7


def test_without_missing_scores_nothing_changes() -> None:
    values = np.random.default_rng(0).random((3, 30))
    result = compared(values)
    assert result.measures["missing"].tolist() == [0, 0, 0]
    assert result.measures[["lowest", "highest"]].isna().all(axis=None)
    assert result.pairs[["lowest", "highest"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.2, 0.5], (0, 1)),
        ([0, 1], (0, 1)),
        ([1, 5], (1, 5)),
        ([-0.5, 0.5], (-0.5, 0.5)),
        ([np.nan, np.nan], (0, 1)),
    ],
)
def test_the_range_is_0_to_1_unless_scores_lie_outside(
    values: list[float], expected: tuple[float, float]
) -> None:
    table = np.array([values])
    assert MissingScores(table, np.isnan(table)).range == expected
