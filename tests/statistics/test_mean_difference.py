"""The paired tests: equal to scipy's, exact where all patterns can be tried, calibrated."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from robustcs.statistics.mean_difference import randomisation_test, t_test

#: Eighths add up without rounding: scipy gets ties of rounded sums wrong.
SHORT = st.lists(st.integers(-16, 16).map(lambda eighths: eighths / 8), min_size=2, max_size=10)


@settings(max_examples=60, deadline=None)
@given(SHORT)
def test_exact_p_equals_scipy(differences: list[float]) -> None:
    found = randomisation_test(differences, seed=0)
    test = stats.permutation_test(
        (np.array(differences), np.zeros(len(differences))), lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=np.inf,
    )  # fmt: skip
    assert found == pytest.approx(min(test.pvalue, 1.0), abs=1e-12)


def test_drawn_p_equals_scipy_up_to_chance() -> None:
    differences = np.random.default_rng(1).normal(0.04, 0.3, size=120)
    found = randomisation_test(differences, seed=0)
    test = stats.permutation_test(
        (differences, np.zeros(120)), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=20_000, rng=np.random.default_rng(2),
    )  # fmt: skip
    assert 0.02 < test.pvalue < 0.9
    assert found == pytest.approx(test.pvalue, abs=0.02)


def test_the_seed_decides_and_turns_without_a_difference_do_not() -> None:
    differences = np.random.default_rng(3).normal(0.05, 0.3, size=80)
    found = randomisation_test(differences, seed=5)
    assert found == randomisation_test([*differences, 0, 0, 0], seed=5)
    assert found != randomisation_test(differences, seed=6)


def test_rejects_as_often_as_it_says_where_nothing_differs() -> None:
    rng = np.random.default_rng(4)
    skewed = rng.exponential(size=(1000, 60)) * rng.choice([-1, 1], size=(1000, 60))
    for p in (
        np.array([randomisation_test(row, seed=0, randomisations=1000) for row in skewed]),
        np.array([t_test(row) for row in skewed]),
    ):
        assert (p <= 0.05).mean() == pytest.approx(0.05, abs=0.015)
        assert (p <= 0.5).mean() == pytest.approx(0.5, abs=0.04)


def test_sums_equal_on_paper_are_equal() -> None:
    # 0.1 + 1.4 − 1.5 is 2e-16 in floating point, and 0 is the least extreme sum there is
    assert randomisation_test([0.1, 1.4, -1.5], seed=0) == 1


def test_never_zero_and_one_without_differences() -> None:
    assert randomisation_test(np.ones(50), seed=0, randomisations=999) == 1 / 1000
    assert randomisation_test(np.zeros(50), seed=0) == 1
    assert t_test(np.zeros(50)) == 1
    assert math.isnan(randomisation_test([], seed=0))
    assert math.isnan(t_test([0.5]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=2, max_size=40))
def test_t_equals_scipy(differences: list[float]) -> None:
    if len(set(differences)) < 2:
        return
    expected = stats.ttest_rel(differences, np.zeros(len(differences))).pvalue
    assert t_test(differences) == pytest.approx(expected, rel=1e-9, abs=1e-300)
