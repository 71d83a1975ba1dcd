"""Risk against a baseline."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from robustcs.statistics.means import Risk, risk
from robustcs.statistics.sign_flip import paired_tests


def approx(value: float) -> Any:
    return pytest.approx(value, abs=1e-15)


def test_by_hand() -> None:
    # gains .3 and .1, losses .2; alpha 1: (.4 − 2 · .2) / 4 = 0, alpha 5: (.4 − 6 · .2) / 4 = −.2
    gains = [0.3, -0.2, 0.0, 0.1]
    assert risk(gains, alpha=1) == Risk(2, 1, 1, approx(0), approx(0), approx(-0.075))
    assert risk(gains, alpha=5).urisk == pytest.approx(-0.2)
    assert risk([1e-12, -1e-12], alpha=1) == Risk(0, 0, 2, 0.0, pytest.approx(math.nan, nan_ok=True), 0.0)
    assert math.isnan(risk([], alpha=1).urisk)


@given(st.lists(st.integers(-100, 100).map(lambda value: value / 100), min_size=2, max_size=30), st.floats(0, 10))
def test_alpha_zero_is_the_paired_t_statistic_and_more_alpha_is_more_risk(gains: list[float], alpha: float) -> None:
    if len(set(gains)) > 1:
        assert risk(gains, 0).trisk == pytest.approx(stats.ttest_1samp(gains, 0).statistic, rel=1e-9, abs=1e-9)
    assert risk(gains, 0).urisk == pytest.approx(np.mean(gains))
    assert risk(gains, alpha).urisk <= risk(gains, 0).urisk + 1e-12


@given(
    st.lists(st.lists(st.integers(-8, 8).map(lambda eighths: eighths / 8), min_size=1, max_size=4), min_size=1, max_size=8),
    st.sampled_from([0, 0.5, 1, 5]),
)
def test_swapping_conversations_moves_it_as_it_moves_the_mean(conversations: list[list[float]], alpha: float) -> None:
    """All ways to swap two systems in whole conversations: U_Risk is their mean on average, and its p is that of the mean."""
    gains = np.concatenate([np.array(own) for own in conversations])
    codes = np.repeat(np.arange(len(conversations)), [len(own) for own in conversations])
    patterns = np.array(list(product((1, -1), repeat=len(conversations))))
    swapped = np.array([risk(signs[codes] * gains, alpha).urisk for signs in patterns])
    expected = risk(gains, alpha).expected
    assert swapped.mean() == pytest.approx(expected, abs=1e-12)
    means = np.array([(signs[codes] * gains).mean() for signs in patterns])
    np.testing.assert_allclose(swapped - expected, (1 + alpha / 2) * means, atol=1e-12)
    p = (np.abs(swapped - expected) >= abs(swapped[0] - expected) - 1e-12).mean()
    sums = np.bincount(codes, weights=gains)
    (test,) = paired_tests(sums, np.bincount(codes), seed=0)
    assert test.p == pytest.approx(p)


def test_equal_systems_fall_below_minus_two() -> None:
    """Why T_Risk is no test."""
    random = np.random.default_rng(0)
    trisk = [risk(random.normal(0, 0.3, 80), alpha=1).trisk for _ in range(200)]
    assert np.mean(np.array(trisk) < -2) > 0.5
