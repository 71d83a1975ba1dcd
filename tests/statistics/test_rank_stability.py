"""The lower limit of the correlation of two rankings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from robustcs.statistics.ranks import RANK_CORRELATIONS, rank_stability


def test_value_is_kendalls_and_low_the_fifth_percentile() -> None:
    random = np.random.default_rng(0)
    quality = np.arange(8.0)[:, None] * 0.3
    sizes = random.integers(2, 9, 15).astype(float)
    first, second = (
        quality * sizes + random.normal(size=(8, 15)) * np.sqrt(sizes) for _ in range(2)
    )
    found = rank_stability(first, second, sizes, seed=1, resamples=300)
    assert found.value == pytest.approx(
        stats.kendalltau(first.sum(axis=1), second.sum(axis=1)).statistic
    )
    weights = np.random.default_rng(1).multinomial(15, np.full(15, 1 / 15), size=300)
    drawn = [stats.kendalltau(first @ row, second @ row).statistic for row in weights]
    assert found.low == pytest.approx(np.quantile(drawn, 0.05))
    assert math.isnan(found.high) and found.note.startswith("lower limit")
    assert found == rank_stability(first, second, sizes, seed=1, resamples=300) or math.isnan(
        found.high
    )


def test_rankings_on_units_of_their_own() -> None:
    random = np.random.default_rng(2)
    quality = np.arange(6.0)[:, None]
    first, second = quality + random.normal(size=(6, 10)), quality + random.normal(size=(6, 7))
    found = rank_stability(
        first, second, np.ones(10), seed=0, other_sizes=np.ones(7), noun="topic", resamples=200
    )
    assert found.units == 7 and found.low <= found.value and "unstable: only 7 topics" in found.note


def test_too_few_units_or_one_system() -> None:
    few = rank_stability(np.eye(3, 4), np.eye(3, 4), np.ones(4), seed=0)
    assert math.isnan(few.low) and "4 conversations" in few.note
    assert math.isnan(rank_stability(np.ones((1, 9)), np.ones((1, 9)), np.ones(9), seed=0).value)


@pytest.mark.parametrize("method", RANK_CORRELATIONS)
def test_every_method_is_that_of_the_means_and_the_seed_decides(method: str) -> None:
    random = np.random.default_rng(3)
    sizes = random.integers(1, 6, 12).astype(float)
    first, second = (random.random((5, 12)) * sizes for _ in range(2))
    found = rank_stability(first, second, sizes, 7, method, resamples=100)
    assert found.value == RANK_CORRELATIONS[method](
        first.sum(axis=1) / sizes.sum(), second.sum(axis=1) / sizes.sum()
    )
    assert found.low <= found.value
    assert found.low == rank_stability(first, second, sizes, 7, method, resamples=100).low


def test_means_that_differ_in_their_last_digits_are_tied_in_both_rankings() -> None:
    first = np.outer([1.0, 2.0, 3.0], np.ones(12))
    tied = np.outer([1.0, 2.0, 2.0 + 2e-10], np.ones(12))
    expected = stats.kendalltau([1, 2, 3], [1, 2, 2]).statistic
    for found in (
        rank_stability(first, tied, np.ones(12), 0),
        rank_stability(tied, first, np.ones(12), 0),
    ):
        assert (found.value, found.low) == pytest.approx((expected, expected))


@pytest.mark.parametrize(("losses", "low"), [(16, -1), (15, 1)])
def test_the_limit_has_95_percent(losses: int, low: int) -> None:
    """Two systems, of which the first wins 41 − losses units: a resample turns their order round in over or under 5 %."""
    below = stats.binom.cdf(20, 41, (41 - losses) / 41)
    assert (below > 0.05) == (low == -1)
    first = np.array([-1.0] * losses + [1.0] * (41 - losses))
    found = rank_stability(
        np.stack([np.ones(41), np.zeros(41)]),
        np.stack([first, np.zeros(41)]),
        np.ones(41),
        0,
        resamples=8000,
    )
    assert (found.value, found.low) == (1, low)


@pytest.mark.parametrize("pairs", [1, 3 * 100, 49 * 100])
def test_resamples_drawn_in_parts_are_the_same(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = np.random.default_rng(4).random((2, 10, 9))
    whole = rank_stability(first, second, np.ones(9), 0, "rbo", resamples=50)
    monkeypatch.setattr("robustcs.statistics.ranks._PAIRS", pairs)
    assert rank_stability(first, second, np.ones(9), 0, "rbo", resamples=50).low == whole.low
