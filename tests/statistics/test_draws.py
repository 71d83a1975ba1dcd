"""The mean of a rewriter's samples: against a brute-force analysis of variance, and against simulated truths."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from robustcs.statistics.means import mean_estimates
from robustcs.statistics.samples import NORMAL, draws_needed, sampled_mean, sampling_error
from robustcs.statistics.units import Units

SEED_EFFECT = 0.03


def units_with(lengths: np.ndarray) -> Units:
    count = len(lengths)
    return Units(
        "conversation", np.repeat(np.arange(count), lengths), tuple(map(str, range(count)))
    )


def drawn(
    generator: np.random.Generator, count: int = 20, samples: int = 5, whole: float = 0.0
) -> tuple[np.ndarray, Units]:
    """Scores around 0.5 of conversations of 4 to 12 turns; ``whole``: sd of the effect of a whole sample."""
    lengths = generator.integers(4, 13, count)
    units = units_with(lengths)
    turns = (
        0.5
        + 0.1 * generator.normal(size=count)[units.codes]
        + 0.2 * generator.normal(size=lengths.sum())
    )
    noise = 0.15 * generator.normal(size=(len(turns), samples))
    return turns[:, None] + noise + whole * generator.normal(size=samples), units


def anova(scores: np.ndarray) -> tuple[float, float, float]:
    """The mean squares of units, samples and the rest, by statsmodels; ``scores``: units × samples."""
    rows, columns = np.indices(scores.shape)
    frame = pd.DataFrame({"y": scores.ravel(), "unit": rows.ravel(), "sample": columns.ravel()})
    found = anova_lm(ols("y ~ C(unit) + C(sample)", frame).fit())
    return tuple(found["sum_sq"] / found["df"])  # type: ignore[return-value]


@pytest.mark.parametrize("whole", [0.0, 0.3])
def test_the_mean_of_single_turns_has_the_two_way_variance(whole: float) -> None:
    generator = np.random.default_rng(0)
    scores = (
        generator.normal(size=(9, 1))
        + 0.2 * generator.normal(size=(9, 4))
        + whole * generator.normal(size=4)
    )
    of_units, of_samples, rest = anova(scores)
    assert of_samples > rest
    variance = (of_units + of_samples - rest) / 36
    freedom = variance**2 / (of_units**2 / 8 + of_samples**2 / 3 + rest**2 / 24) * 36**2
    found = sampled_mean(scores, units_with(np.ones(9, int)))
    half = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    assert (found.value, found.low, found.high) == pytest.approx(
        (scores.mean(), scores.mean() - half, scores.mean() + half)
    )
    error, spread = sampling_error(scores, units_with(np.ones(9, int)))
    assert error == pytest.approx(stats.t.ppf(0.975, 3) * math.sqrt(of_samples / 9))
    assert spread.value == pytest.approx(math.sqrt(of_samples / 9))
    assert spread.high == pytest.approx(math.sqrt(of_samples / 9 * 3 / stats.chi2.ppf(0.025, 3)))


def test_units_of_unequal_length_are_ratios() -> None:
    """The same by hand: every mean square is that of the residuals of sums, relative to the number of turns."""
    scores, units = drawn(np.random.default_rng(1), 6, 3, 0.1)
    lengths, n = units.sizes, 3
    sums = np.array(
        [[scores[units.codes == unit, sample].sum() for unit in range(6)] for sample in range(n)]
    )
    means = sums.sum(axis=1) / lengths.sum()
    of_units = within = 0.0
    for unit in range(6):
        weight = (1 - lengths[unit] / lengths.sum()) * lengths.sum() ** 2
        of_units += (sums[:, unit].mean() - scores.mean() * lengths[unit]) ** 2 / weight
        own = sums[:, unit] - means * lengths[unit]
        within += own.var(ddof=1) / weight
    between = means.var(ddof=1)
    variance = of_units + (between - within) / n
    assert between > within
    freedom = variance**2 / (of_units**2 / 5 + (between / n) ** 2 / 2 + (within / n) ** 2 / 10)
    found = sampled_mean(scores, units)
    assert (found.high - found.low) / 2 == pytest.approx(
        stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    )


def test_samples_that_differ_no_more_than_their_turns_never_narrow_the_interval() -> None:
    generator = np.random.default_rng(2)
    for _ in range(20):
        scores, units = drawn(generator, 8, 3)
        (alone,) = mean_estimates(units.sums(scores.mean(axis=1)), units.sizes)
        both = sampled_mean(scores, units)
        # Satterthwaite's degrees may exceed those of the units, never by more than those of the samples
        assert both.high - both.low > 0.9 * (alone.high - alone.low)


@pytest.mark.parametrize("whole", [0.0, SEED_EFFECT])
def test_coverage_with_few_conversations_and_samples(whole: float) -> None:
    """K = 8, n = 3; docs/statistics.md has more cells."""
    generator = np.random.default_rng(3)
    held, near = [], []
    for _ in range(300):
        lengths = generator.integers(4, 13, 8)
        units = units_with(lengths)
        turns = (
            0.5
            + 0.1 * generator.normal(size=8)[units.codes]
            + 0.2 * generator.normal(size=lengths.sum())
        )
        scores = (
            turns[:, None]
            + 0.15 * generator.normal(size=(len(turns), 4))
            + whole * generator.normal(size=4)
        )
        found = sampled_mean(scores[:, :3], units)
        held.append(found.low <= 0.5 <= found.high)
        half, spread = sampling_error(scores[:, :3], units)
        # the fourth sample is new
        near.append(abs(scores[:, 3].mean() - turns.mean()) <= half)
        assert spread.low < spread.value < spread.high
    assert 0.92 <= np.mean(held) <= 0.995
    assert 0.92 <= np.mean(near) <= 0.999


def test_the_interval_of_the_standard_deviation_holds_the_truth() -> None:
    generator = np.random.default_rng(4)
    held = []
    for _ in range(300):
        scores, units = drawn(generator, 20, 3, SEED_EFFECT)
        truth = math.sqrt(SEED_EFFECT**2 + 0.15**2 / len(scores))
        _, spread = sampling_error(scores, units)
        held.append(spread.low <= truth <= spread.high)
    assert np.mean(held) >= 0.91


@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(-5, 5))
def test_scale_shift_and_names_change_nothing_else(seed: int, scale: float, shift: float) -> None:
    generator = np.random.default_rng(seed)
    scores, units = drawn(generator, 6, 3, 0.05)
    one, (half, spread) = sampled_mean(scores, units), sampling_error(scores, units)
    moved = sampled_mean(scale * scores + shift, units)
    assert [moved.value, moved.low, moved.high] == pytest.approx(
        [scale * x + shift for x in (one.value, one.low, one.high)]
    )
    assert sampling_error(scale * scores + shift, units)[0] == pytest.approx(scale * half, rel=1e-6)
    order = generator.permutation(6)
    renamed = Units("conversation", order[units.codes], units.labels)
    again = sampled_mean(scores[:, generator.permutation(3)], renamed)
    assert (again.low, again.high) == pytest.approx((one.low, one.high))
    assert sampling_error(scores, renamed)[1].high == pytest.approx(spread.high)


def test_equal_means_of_samples_leave_what_the_turns_vary() -> None:
    """Two samples that answer different turns may have the same P@1: that is no ± of 0."""
    scores = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]], float)
    units = units_with(np.ones(6, int))
    half, spread = sampling_error(scores, units)
    assert spread.value == pytest.approx(math.sqrt(0.5 * 4 / 6 * 6 / 5 / 6))
    assert half == pytest.approx(stats.t.ppf(0.975, 5) * spread.value)


def test_samples_that_are_all_alike_have_no_interval() -> None:
    scores, units = drawn(np.random.default_rng(5))
    half, spread = sampling_error(np.repeat(scores[:, :1], 3, axis=1), units)
    assert (
        math.isnan(half) and math.isnan(spread.low) and math.isnan(draws_needed(spread.value, 0.01))
    )
    assert spread.note == "no interval: all 3 samples have equal scores in every conversation"
    few = sampled_mean(scores[units.codes < 4], units.take(units.codes < 4))
    assert (
        math.isnan(few.low)
        and few.note == "no interval: only 4 conversations (at least 5 required)"
    )
    one, two = (sampling_error(scores[:turns], units_with(np.ones(turns, int))) for turns in (1, 2))
    assert math.isnan(one[0]) and one[1].note == "at least two turns are required" and two[0] > 0


@pytest.mark.parametrize("count", [5, 12])
def test_units_that_are_all_alike_have_no_interval(count: int) -> None:
    found = sampled_mean(np.full((count, 3), 0.4), units_with(np.ones(count, int)))
    assert found.value == pytest.approx(0.4) and math.isnan(found.low) and math.isnan(found.high)
    assert f"no interval: all {count} conversations are alike" in found.note


@pytest.mark.parametrize(
    ("half", "within", "needed"),
    [(0.02, 0.01, 4), (0.02, 0.02, 1), (0.0201, 0.01, 5), (0.005, 0.01, 1)],
)
def test_an_average_needs_the_square_of_the_ratio(half: float, within: float, needed: int) -> None:
    assert draws_needed(half / NORMAL, within) == needed
    assert math.isnan(draws_needed(math.nan, within))


@pytest.mark.parametrize("whole", [0.0, 0.1])
def test_the_limits_of_the_standard_deviation_by_hand(whole: float) -> None:
    """χ² limits of the variance between samples; but drawing within units has its own, on the logarithm."""
    scores, units = drawn(np.random.default_rng(10), 7, 4, whole)
    parts, sizes, turns, n = (
        scores - scores.mean(axis=1, keepdims=True),
        units.sizes,
        len(scores),
        4,
    )
    sums = np.array(
        [[parts[units.codes == unit, sample].sum() for unit in range(7)] for sample in range(n)]
    )
    rest = sums - sums.sum(axis=1, keepdims=True) * sizes / turns
    within = (rest**2 / (1 - sizes / turns)).sum() / turns**2 / (n - 1)
    squares = (rest**2).sum(axis=0)
    reach = math.exp(stats.t.ppf(0.975, 6) * stats.sem(squares) / squares.mean())
    between = scores.mean(axis=0).var(ddof=1)
    low, high = between * 3 / stats.chi2.ppf([0.975, 0.025], 3)
    _, spread = sampling_error(scores, units)
    assert (between > within) == (whole > 0) and (low > within / reach) == (whole > 0)
    assert spread.value**2 == pytest.approx(max(between, within))
    assert (spread.low**2, spread.high**2) == pytest.approx(
        (max(low, within / reach), max(high, within * reach))
    )
