"""The jackknife of correlations against one written out, scipy's values and a short simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from robustcs.statistics.correlation import partial_correlation
from robustcs.statistics.unit_correlation import unit_correlation, unit_partial_correlation
from robustcs.statistics.units import Units

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def units(lengths: list[int]) -> Units:
    return Units("conversation", np.repeat(np.arange(len(lengths)), lengths), tuple(map(str, range(len(lengths)))))


def sample(random: np.random.Generator, lengths: list[int], digits: int = 2) -> tuple[np.ndarray, np.ndarray]:
    codes = np.repeat(np.arange(len(lengths)), lengths)
    common = random.normal(0, 0.7, (2, len(lengths)))[:, codes]
    x, y = random.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], len(codes)).T + common
    return x.round(digits), y.round(digits)


@pytest.mark.parametrize("method", SCIPY)
@pytest.mark.parametrize("digits", [0, 3])  # with and without ties
def test_it_is_the_jackknife_written_out(method: str, digits: int) -> None:
    lengths = [3, 7, 5, 9, 4, 6, 8, 2, 5, 6, 3]
    some = units(lengths)
    x, y = sample(np.random.default_rng(0), lengths, digits)
    found = unit_correlation(x, y, some, method)
    count = len(lengths)
    z = np.arctanh([SCIPY[method](x[some.codes != g], y[some.codes != g])[0] for g in range(count)])
    error = math.sqrt((count - 1) / count * ((z - z.mean()) ** 2).sum())
    value = SCIPY[method](x, y)[0]
    half = stats.t.ppf(0.975, count - 1) * error
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx((math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(math.atanh(value)) / error, count - 1))
    assert (found.low <= 0 <= found.high) == (found.p > 0.05)


def test_partial_correlation_has_the_value_over_turns() -> None:
    lengths = [6] * 12
    random = np.random.default_rng(1)
    x, y = sample(random, lengths)
    given = np.column_stack([x + random.normal(size=72), np.ones(72)])
    found = unit_partial_correlation(x, y, given, units(lengths))
    assert found.value == pytest.approx(partial_correlation(x, y, given, 0).value)
    assert found.low < found.value < found.high
    assert math.isnan(unit_partial_correlation(x, y, x[:, None], units(lengths)).value)


def test_what_cannot_be_said() -> None:
    some = units([4] * 6)
    x = np.arange(24.0)
    assert math.isnan(unit_correlation(x, np.ones(24), some, "pearson").value)
    perfect = unit_correlation(x, 2 * x, some, "pearson")
    assert perfect.value == pytest.approx(1) and math.isnan(perfect.low) and "all conversations are alike" in perfect.note
    once = unit_correlation(x, (x == 3) * 1.0, some, "spearman")
    assert math.isnan(once.low) and "without one conversation" in once.note
    few = unit_correlation(x[:16], np.sin(x[:16]), units([4] * 4), "kendall")
    assert math.isnan(few.low) and few.note == "no interval: 4 conversations, 5 are needed"


def test_coverage() -> None:
    random = np.random.default_rng(2)
    lengths = [5, 9, 12, 3, 7, 8, 10, 6, 9, 11, 4, 7]
    some = units(lengths)
    truth = 0.5 / (1 + 0.49)
    held = [unit_correlation(*sample(random, lengths, 6), some, "pearson") for _ in range(300)]
    assert 0.89 <= np.mean([one.low <= truth <= one.high for one in held]) <= 0.98
