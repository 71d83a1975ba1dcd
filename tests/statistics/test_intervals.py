"""Intervals, against scipy and against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from robustcs.statistics.intervals import bootstrap_mean, wilson


@settings(deadline=None)
@given(trials=st.integers(1, 6000), share=st.floats(0, 1), confidence=st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_equals_scipy(trials: int, share: float, confidence: float) -> None:
    successes = round(share * trials)
    expected = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    low, high = wilson(successes, trials, confidence)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= low <= successes / trials <= high <= 1


def test_wilson_touches_the_ends_exactly() -> None:
    assert wilson(0, 173)[0] == 0.0
    assert wilson(173, 173)[1] == 1.0


def test_wilson_without_trials_and_with_nonsense() -> None:
    assert all(math.isnan(bound) for bound in wilson(0, 0))
    for successes in (-1, 4):
        with pytest.raises(ValueError, match=f"{successes} successes in 3 trials"):
            wilson(successes, 3)


@settings(deadline=None)
@given(values=st.lists(st.floats(-10, 10), min_size=1, max_size=60), seed=st.integers(0, 5))
def test_bootstrap_is_seeded_and_lies_within_the_values(values: list[float], seed: int) -> None:
    low, high = bootstrap_mean(values, seed, resamples=200)
    assert (low, high) == bootstrap_mean(values, seed, resamples=200)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


def test_bootstrap_contains_the_mean_and_depends_on_the_seed() -> None:
    sample = np.random.default_rng(1).normal(size=173)
    low, high = bootstrap_mean(sample, 0)
    assert low < sample.mean() < high
    assert bootstrap_mean(sample, 0) != bootstrap_mean(sample, 1)


def test_bootstrap_is_about_as_wide_as_the_normal_interval() -> None:
    sample = np.random.default_rng(2).normal(size=400)
    low, high = bootstrap_mean(sample, 0)
    assert high - low == pytest.approx(2 * 1.96 * sample.std() / 20, rel=0.08)
    narrow = bootstrap_mean(sample, 0, confidence=0.5)
    assert narrow[1] - narrow[0] == pytest.approx(2 * 0.674 * sample.std() / 20, rel=0.12)


def test_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(3)
    intervals = [bootstrap_mean(random.exponential(size=100), seed, resamples=400) for seed in range(300)]
    covered = sum(low <= 1 <= high for low, high in intervals)
    assert 0.88 <= covered / 300 <= 0.98


def test_bootstrap_of_nothing_and_of_one_value() -> None:
    assert all(math.isnan(bound) for bound in bootstrap_mean([], 0))
    assert bootstrap_mean([0.25, 0.25], 0) == (0.25, 0.25)
