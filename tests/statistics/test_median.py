"""The median and Woodruff's interval."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.statistics.means import median_estimate, share_estimates
from robustcs.statistics.units import units_of


def units(turns: int, conversations: int):  # type: ignore[no-untyped-def]
    return units_of(
        [f"{place % conversations}_{place // conversations + 1}" for place in range(turns)]
    )


def test_the_limits_are_the_quantiles_at_the_limits_of_the_share_below() -> None:
    values = np.random.default_rng(3).lognormal(4, 1, 101)
    some = units(101, 12)
    found = median_estimate(values, some)
    assert found.value == np.median(values) and found.units == 12
    (share,) = share_estimates(some.sums(values <= found.value), some.sizes)
    shift = 0.5 - share.value
    assert (found.low, found.high) == pytest.approx(
        np.quantile(values, [share.low + shift, share.high + shift]).tolist()
    )
    assert found.low < found.value < found.high


def test_units_that_are_alike_inside_widen_it() -> None:
    by_unit = np.random.default_rng(5).lognormal(4, 1, 12)
    together = median_estimate(by_unit[np.arange(120) % 12], units(120, 12))
    apart = median_estimate(
        np.random.default_rng(5).permutation(by_unit[np.arange(120) % 12]), units(120, 12)
    )
    assert together.high - together.low > 1.5 * (apart.high - apart.low)


def test_few_units_have_no_interval_and_nothing_has_no_median() -> None:
    few = median_estimate([1.0, 2.0, 4.0], units(3, 3))
    assert (
        few.value == 2
        and np.isnan(few.low)
        and few.note == "no interval: only 3 turns (at least 5 required)"
    )
    nothing = median_estimate([], units(5, 5))
    assert np.isnan(nothing.value) and nothing.units == 0
    ties = median_estimate([7.0] * 20, units(20, 10))
    assert (ties.low, ties.value, ties.high) == (7, 7, 7)


def test_it_covers_what_it_says() -> None:
    random = np.random.default_rng(2)
    trials, held = 400, 0
    for _ in range(trials):
        codes = np.repeat(np.arange(12), random.integers(5, 25, 12))
        noise = 0.6 * random.normal(size=12)[codes] + 0.8 * random.normal(size=len(codes))
        places = np.arange(len(codes)) - np.searchsorted(codes, codes) + 1
        some = units_of([f"{code}_{place}" for code, place in zip(codes, places, strict=True)])
        found = median_estimate(np.exp(4 + noise), some)
        held += found.low <= np.exp(4) <= found.high
    assert 0.90 <= held / trials <= 0.98


def test_ties_above_the_middle_shift_the_interval_back_to_its_values() -> None:
    """15 of 16 values are the median or less, and the limits of this share are moved by its distance from one half."""
    values = np.array([*[1.0] * 5, *[2.0] * 10, 9.0])
    some = units(16, 8)
    found = median_estimate(values, some)
    (share,) = share_estimates(some.sums(values <= 2), some.sizes)
    assert share.value == 15 / 16 and found.value == 2
    assert found.low == np.quantile(values, max(0, 0.5 - (share.value - share.low)))
    assert found.high == np.quantile(values, 0.5 + (share.high - share.value)) == 2
