"""A share against one half: scipy where every unit has one judgment, agreement of p and interval everywhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, t

from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.statistics.families import holm_family
from robustcs.statistics.means import cluster_ratio, share_estimates
from robustcs.statistics.preference import EXACT_METHOD, preferred_share


@pytest.mark.parametrize("number", [5, 8, 13, 40])
def test_single_judgments_are_the_exact_binomial_test(number: int) -> None:
    for wins in range(number + 1):
        found = preferred_share([1] * wins + [0] * (number - wins), [1] * number)
        expected = binomtest(wins, number)
        interval = expected.proportion_ci()
        assert (found.p, found.low, found.high) == pytest.approx(
            (expected.pvalue, interval.low, interval.high)
        )
        assert found.method == EXACT_METHOD and found.floor == pytest.approx(2 * 0.5**number)


@given(
    st.lists(
        st.integers(1, 5).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size))),
        min_size=1,
        max_size=30,
    )
)
def test_the_interval_leaves_out_one_half_exactly_where_p_is_small(
    pairs: list[tuple[int, int]],
) -> None:
    found = preferred_share(*zip(*pairs, strict=True))
    if len(pairs) < LEAST_UNITS:
        assert math.isnan(found.low) and "at least 5 required" in found.note
        return
    assert found.low <= found.value <= found.high
    if abs(found.p - 0.05) > 1e-9:
        assert (found.p <= 0.05) == (found.low > 0.5 or found.high < 0.5)
    swapped = preferred_share([size - wins for wins, size in pairs], [size for _, size in pairs])
    assert swapped.p == pytest.approx(found.p) and swapped.low == pytest.approx(1 - found.high)


def test_units_of_several_judgments_have_wilsons_interval() -> None:
    wins, sizes = [3, 2, 0, 2, 3, 0, 1], [3, 3, 1, 2, 4, 1, 1]
    found = preferred_share([*wins, 0], [*sizes, 0], "pair")
    assert holm_family([found] * 20).note == ""
    (share,) = share_estimates(wins, sizes, "pair")
    assert (found.value, found.low, found.high, found.units) == (
        share.value,
        share.low,
        share.high,
        7,
    )


def test_nothing_decided() -> None:
    found = preferred_share([0, 0], [0, 0])
    assert (
        math.isnan(found.value)
        and found.p == found.floor == 1
        and found.note == "no judgment is decided"
    )


def test_equal_sides_are_told_apart_in_one_of_twenty() -> None:
    random = np.random.default_rng(0)
    rejected = []
    for _ in range(1500):
        sizes = random.integers(1, 5, 15)
        rejected.append(
            preferred_share(random.binomial(sizes, random.beta(2, 2, 15)), sizes).p <= 0.05
        )
    assert 0.03 <= np.mean(rejected) <= 0.065


def test_nothing_decided_and_all_won() -> None:
    nothing = preferred_share([0, 0], [0, 0])
    assert (
        math.isnan(nothing.value)
        and nothing.units == 0
        and nothing.note == "no judgment is decided"
    )
    # all units agree: no variance, so as many trials as units
    found = preferred_share([2] * 8, [2] * 8)
    assert found.value == 1 and found.p == pytest.approx(2 * t.sf((1 - 0.5) * math.sqrt(4 * 8), 7))


def test_units_that_are_balanced_do_not_inform_the_test() -> None:
    assert preferred_share([1, 2, 0, 3, 1], [2, 2, 2, 3, 1]).moving == 4
    assert preferred_share([1, 0, 1], [1, 1, 1]).moving == 3


def test_few_units_of_several_judgments() -> None:
    one, two = preferred_share([3], [4]), preferred_share([3, 1], [4, 2])
    assert math.isnan(one.p) and one.value == 0.75
    # two units: θ = 2/3, residuals ±1/3, shares of the turns 2/3 and 1/3, so v = (1/3 + 1/6) / 36
    trials = 2 / 9 / ((1 / 3 + 1 / 6) / 36)
    assert two.p == pytest.approx(2 * t.sf(abs(2 / 3 - 0.5) * math.sqrt(4 * trials), 1))


def test_parts_of_judgments_count_as_half_a_judgment_in_the_number_of_trials() -> None:
    wins, sizes = [0.1, 0, 0, 0.2, 0, 0, 0], [2.0, 3, 1, 2, 4, 1, 2]
    few, most = preferred_share(wins, sizes), preferred_share(np.subtract(sizes, wins), sizes)
    trials = 1 / 30 * 29 / 30 / float(cluster_ratio(wins, sizes).variance[0])
    assert few.p == pytest.approx(
        2 * t.sf((0.5 - 0.02) * math.sqrt(4 * trials), 6)
    ) and most.p == pytest.approx(few.p)
