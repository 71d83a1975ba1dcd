"""Risk against a baseline."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.statistics.risk import Risk, risk
from robustcs.statistics.sign_flip import paired_tests


def approx(value: float) -> Any:
    return pytest.approx(value, abs=1e-15)


def test_by_hand() -> None:
    # gains .3 and .1, losses .2: (.4 − 2 · .2) / 4 = 0
    gains = [0.3, -0.2, 0.0, 0.1]
    assert risk(gains) == Risk(2, 1, 1, approx(0), approx(-0.075))
    assert risk([1e-12, -1e-12]) == Risk(0, 0, 2, 0.0, 0.0)
    assert f"{risk([0.0]).expected:.1f}" == "0.0"  # not -0.0
    assert math.isnan(risk([]).urisk)


@given(
    st.lists(
        st.lists(st.integers(-8, 8).map(lambda eighths: eighths / 8), min_size=1, max_size=4),
        min_size=1,
        max_size=8,
    )
)
def test_swapping_conversations_moves_it_as_it_moves_the_mean(
    conversations: list[list[float]],
) -> None:
    """All ways to swap two systems in whole conversations: U_Risk is their mean on average, and its p is that of the mean."""
    gains = np.concatenate([np.array(own) for own in conversations])
    codes = np.repeat(np.arange(len(conversations)), [len(own) for own in conversations])
    patterns = np.array(list(product((1, -1), repeat=len(conversations))))
    swapped = np.array([risk(signs[codes] * gains).urisk for signs in patterns])
    expected = risk(gains).expected
    assert swapped.mean() == pytest.approx(expected, abs=1e-12)
    means = np.array([(signs[codes] * gains).mean() for signs in patterns])
    np.testing.assert_allclose(swapped - expected, 1.5 * means, atol=1e-12)
    p = (np.abs(swapped - expected) >= abs(swapped[0] - expected) - 1e-12).mean()
    sums = np.bincount(codes, weights=gains)
    (test,) = paired_tests(sums, np.bincount(codes), seed=0)
    assert test.p == pytest.approx(p)
