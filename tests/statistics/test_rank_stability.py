"""The lower limit of the correlation of two rankings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from robustcs.statistics.rank_stability import rank_stability


def test_value_is_kendalls_and_low_the_fifth_percentile() -> None:
    random = np.random.default_rng(0)
    quality = np.arange(8.0)[:, None] * 0.3
    sizes = random.integers(2, 9, 15).astype(float)
    first, second = (quality * sizes + random.normal(size=(8, 15)) * np.sqrt(sizes) for _ in range(2))
    found = rank_stability(first, second, sizes, seed=1, resamples=300)
    assert found.value == pytest.approx(stats.kendalltau(first.sum(axis=1), second.sum(axis=1)).statistic)
    weights = np.random.default_rng(1).multinomial(15, np.full(15, 1 / 15), size=300)
    drawn = [stats.kendalltau(first @ row, second @ row).statistic for row in weights]
    assert found.low == pytest.approx(np.quantile(drawn, 0.05))
    assert math.isnan(found.high) and found.note.startswith("at least")
    assert found == rank_stability(first, second, sizes, seed=1, resamples=300) or math.isnan(found.high)


def test_rankings_on_units_of_their_own() -> None:
    random = np.random.default_rng(2)
    quality = np.arange(6.0)[:, None]
    first, second = quality + random.normal(size=(6, 10)), quality + random.normal(size=(6, 7))
    found = rank_stability(first, second, np.ones(10), seed=0, other_sizes=np.ones(7), noun="topic", resamples=200)
    assert found.units == 7 and found.low <= found.value and "unstable: 7 topics only" in found.note


def test_too_few_units_or_one_system() -> None:
    few = rank_stability(np.eye(3, 4), np.eye(3, 4), np.ones(4), seed=0)
    assert math.isnan(few.low) and "4 conversations" in few.note
    assert math.isnan(rank_stability(np.ones((1, 9)), np.ones((1, 9)), np.ones(9), seed=0).value)
