"""Risk against a baseline."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from robustcs.statistics.risk import Risk, risk


def test_by_hand() -> None:
    # gains .3 and .1, losses .2; alpha 1: (.4 − 2 · .2) / 4 = 0, alpha 5: (.4 − 6 · .2) / 4 = −.2
    gains = [0.3, -0.2, 0.0, 0.1]
    assert risk(gains, alpha=1) == Risk(2, 1, 1, pytest.approx(0, abs=1e-15), pytest.approx(0, abs=1e-15))
    assert risk(gains, alpha=5).urisk == pytest.approx(-0.2)
    assert risk([1e-12, -1e-12], alpha=1) == Risk(0, 0, 2, 0.0, pytest.approx(math.nan, nan_ok=True))
    assert math.isnan(risk([], alpha=1).urisk)


@given(st.lists(st.integers(-100, 100).map(lambda value: value / 100), min_size=2, max_size=30), st.floats(0, 10))
def test_alpha_zero_is_the_paired_t_statistic_and_more_alpha_is_more_risk(gains: list[float], alpha: float) -> None:
    if len(set(gains)) > 1:
        assert risk(gains, 0).trisk == pytest.approx(stats.ttest_1samp(gains, 0).statistic, rel=1e-9, abs=1e-9)
    assert risk(gains, 0).urisk == pytest.approx(np.mean(gains))
    assert risk(gains, alpha).urisk <= risk(gains, 0).urisk + 1e-12
