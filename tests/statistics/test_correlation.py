"""Correlations: scipy's values, and intervals like those of resampling turn by turn."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from robustcs.statistics.correlation import METHODS, correlate, partial_correlation

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
VALUES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(VALUES, VALUES, st.integers(0, 4)), min_size=3, max_size=12))
def test_every_resample_is_scipys_correlation(points: list[tuple[float, float, int]]) -> None:
    x, y, weights = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    drawn_x, drawn_y = (np.repeat(values, weights.astype(int)) for values in (x, y))
    for method, function in METHODS.items():
        if len(x) == 0 or np.ptp(x) == 0 or np.ptp(y) == 0 or weights.sum() < 2:
            continue
        ours = function(x, y, np.stack([weights, weights]))
        defined = np.ptp(drawn_x) > 0 and np.ptp(drawn_y) > 0
        theirs = SCIPY[method](drawn_x, drawn_y)[0] if defined and len(drawn_x) > 1 else math.nan
        assert ours == pytest.approx([theirs, theirs], abs=1e-7, nan_ok=True)


@pytest.mark.parametrize("method", list(METHODS))
def test_value_p_and_interval(method: str) -> None:
    rng = np.random.default_rng(1)
    x = np.round(rng.random(120), 2)
    y = np.round(0.6 * x + 0.4 * rng.random(120), 2)
    found = correlate(x, y, method, seed=0)
    value, p = SCIPY[method](x, y)
    assert (found.value, found.p) == pytest.approx((value, p), rel=1e-12)
    rows = [rng.integers(0, 120, 120) for _ in range(800)]
    plain = np.quantile([SCIPY[method](x[row], y[row])[0] for row in rows], [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(plain), abs=0.015)
    assert found == correlate(x, y, method, seed=0) != correlate(x, y, method, seed=1)


def test_a_binary_variable_gives_the_point_biserial_correlation() -> None:
    x, y = np.array([0.1, 0.4, 0.5, 0.9, 0.8, 0.2]), np.array([0, 0, 1, 1, 1, 0])
    theirs = stats.pointbiserialr(y, x)
    found = correlate(x, y, "pearson", 0)
    assert (found.value, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))


@pytest.mark.parametrize("method", list(METHODS))
def test_what_does_not_vary_has_no_correlation(method: str) -> None:
    for x, y in (([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3, 4], [0, 0, 0, 0]), ([1, 2], [2, 1]), ([], [])):
        assert all(math.isnan(part) for part in correlate(x, y, method, 0))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_partial_correlation_is_that_of_the_residuals(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    given_ = rng.normal(size=(25, columns))
    x, y = given_.sum(axis=1) + rng.normal(size=25), given_[:, 0] + rng.normal(size=25)
    model = np.column_stack([np.ones(25), given_])
    rest = [values - model @ np.linalg.lstsq(model, values, rcond=None)[0] for values in (x, y)]
    expected = np.corrcoef(*rest)[0, 1]
    found = partial_correlation(x, y, given_, 0, resamples=200)
    freedom = 25 - 2 - columns
    p = 2 * stats.t.sf(abs(expected) * math.sqrt(freedom / (1 - expected**2)), freedom)
    assert (found.value, found.p) == pytest.approx((expected, p), abs=1e-9)
    assert found.low < found.value < found.high


def test_given_columns_that_explain_everything_or_nothing() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30))
    nothing = partial_correlation(x, y, np.ones((30, 2)), 0)
    assert nothing.value == pytest.approx(correlate(x, y, "pearson", 0).value)
    assert all(math.isnan(part) for part in partial_correlation(x, y, x[:, None], 0))
    assert all(math.isnan(part) for part in partial_correlation(x[:3], y[:3], x[:3, None], 0))


def test_more_turns_make_narrower_intervals() -> None:
    rng = np.random.default_rng(3)
    x = rng.random(800)
    y = x + rng.random(800)
    widths = []
    for turns in (50, 200, 800):
        found = correlate(x[:turns], y[:turns], "kendall", 0)
        widths.append(found.high - found.low)
    assert all(first > 1.5 * second for first, second in pairwise(widths))
