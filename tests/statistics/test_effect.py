"""Effect sizes, power and margins against scipy's noncentral t and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from robustcs.errors import UsageError
from robustcs.statistics import estimate
from robustcs.statistics.columns import (
    check_margin,
    detectable_differences,
    detectable_noncentrality,
    effect_sizes,
    noncentrality_limits,
    units_needed,
    within_margin,
)
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.sign_flip import paired_tests


@pytest.mark.parametrize(
    ("t", "freedom"), [(0.0, 9), (2.5, 4), (-1.3, 24), (9.0, 19), (40.0, 172), (-25.0, 11)]
)
def test_limits_of_the_noncentrality(t: float, freedom: int) -> None:
    low, high = noncentrality_limits(t, freedom)
    assert low < t < high or t == 0
    assert stats.nct.sf(t, freedom, low) == pytest.approx(0.025, abs=1e-6)
    assert stats.nct.cdf(t, freedom, high) == pytest.approx(0.025, abs=1e-6)


def test_effect_of_single_turns_is_cohens_d() -> None:
    random = np.random.default_rng(0)
    differences = random.normal(0.3, 1, (300, 16))
    found = effect_sizes(differences, np.ones(16))
    assert found[0].value == pytest.approx(differences[0].mean() / differences[0].std(ddof=1))
    assert 0.92 <= np.mean([one.low <= 0.3 <= one.high for one in found]) <= 0.98
    t = stats.ttest_1samp(differences[0], 0).statistic
    assert (found[0].low * 4, found[0].high * 4) == pytest.approx(noncentrality_limits(t, 15))
    # the length of units changes nothing where all are as long
    assert effect_sizes(differences[0] * 5, np.full(16, 5.0))[0].value == pytest.approx(
        found[0].value
    )


@pytest.mark.parametrize("units", [5, 10, 25, 173])
def test_detectable_differences_are_found_in_four_of_five(units: int) -> None:
    delta = detectable_noncentrality(units)
    assert stats.nct.sf(stats.t.ppf(0.975, units - 1), units - 1, delta) == pytest.approx(
        0.8, abs=1e-9
    )
    # statsmodels counts rejections on the wrong side as well, which are next to none
    assert TTestPower().power(delta / math.sqrt(units), units, 0.05) == pytest.approx(0.8, abs=1e-4)


def test_a_detectable_difference_is_that_of_the_standard_error() -> None:
    sums = np.random.default_rng(1).normal(0, 2, (40, 12))
    found = detectable_differences(sums, np.ones(12))
    assert found == pytest.approx(detectable_noncentrality(12) * stats.sem(sums, axis=1))
    # units without turns change nothing
    (same,) = detectable_differences([*sums[0], 0.0], [*np.ones(12), 0.0])
    assert same == pytest.approx(found[0])


def test_five_units_have_a_detectable_difference_and_an_effect_of_their_own() -> None:
    for number in (4, 5):
        sums, sizes = np.arange(1.0, number + 1), np.ones(number)
        (least,), (effect,) = detectable_differences(sums, sizes), effect_sizes(sums, sizes)
        assert math.isnan(least) == math.isnan(effect.low) == (number == 4)
        assert effect.note == estimate.units_note(number, "conversation") and not math.isnan(
            effect.value
        )
    assert math.isnan(detectable_noncentrality(1)) and detectable_noncentrality(2) > 0
    assert np.isnan(detectable_differences(np.full(7, 0.5), np.ones(7))).all()


def test_only_a_difference_above_0_is_a_margin() -> None:
    for margin in (0.0, -0.1, math.inf, math.nan):
        with pytest.raises(UsageError, match="use a difference above 0"):
            check_margin(margin)
    check_margin(None)
    check_margin(0.02)


def test_units_needed_are_statsmodels() -> None:
    rest = np.random.default_rng(2).normal(0, 1, 20)
    rest -= rest.mean()
    differences = (0.3, -0.05, 2.0)
    expected = [
        max(
            6,
            math.ceil(
                TTestPower().solve_power(abs(one) / rest.std(ddof=1), power=0.8, alpha=0.05) - 1e-6
            ),
        )
        for one in differences
    ]
    effects = effect_sizes([rest + one for one in differences], np.ones(20))
    assert [one.units for one in units_needed(effects)] == expected
    none = effect_sizes([rest + 1e-6, np.ones(20), np.zeros(20)], np.ones(20))
    assert [one.units for one in units_needed(none)] == [None, None, None]


def test_limits_of_the_units_needed_are_those_of_the_effect() -> None:
    def needed(effect: float) -> int:
        return max(
            6, math.ceil(TTestPower().solve_power(abs(effect), power=0.8, alpha=0.05) - 1e-6)
        )

    rest = np.random.default_rng(2).normal(0, 1, 30)
    rest -= rest.mean()
    clear, against, unclear = effect_sizes([rest + 0.8, rest - 0.8, rest + 0.2], np.ones(30))
    for one in (clear, against):
        (found,) = units_needed([one])
        near, far = sorted((abs(one.low), abs(one.high)))
        assert (
            found == (needed(one.value), needed(far), needed(near))
            and found.low < found.units < found.high
        )
    assert units_needed([clear]) == units_needed([against])
    (found,) = units_needed([unclear])
    assert unclear.low < 0 < unclear.high
    assert found == (needed(unclear.value), needed(max(-unclear.low, unclear.high)), None)


def test_units_needed_hold_the_truth() -> None:
    random = np.random.default_rng(5)
    found = units_needed(effect_sizes(random.normal(0.5, 1, (300, 12)), np.ones(12)))
    truth = math.ceil(TTestPower().solve_power(0.5, power=0.8, alpha=0.05))
    held = [
        one.low <= truth <= (math.inf if one.high is None else one.high)
        for one in found
        if one.low is not None
    ]
    assert len(held) == 300 and 0.92 <= np.mean(held) <= 0.98


def test_sparse_differences_have_an_effect_without_an_interval() -> None:
    (sparse,) = effect_sizes([1.0, 2, 1, 0, 0, 0, 0, 0, 0, 0], np.ones(10))
    assert (
        sparse.value > 0
        and math.isnan(sparse.low)
        and sparse.note == "no interval: only 3 of 10 conversations differ"
    )
    assert units_needed([sparse])[0][1:] == (None, None) and units_needed([sparse])[0].units


@pytest.mark.parametrize("units", [6, 11, 40])
def test_a_detectable_difference_needs_as_many_units_as_there_are(units: int) -> None:
    lengths = np.random.default_rng(units).integers(1, 9, units).astype(float)
    rest = np.random.default_rng(0).normal(0, 1, units) * lengths
    rest -= rest.sum() / lengths.sum() * lengths
    (least,) = detectable_differences(rest, lengths)
    some = effect_sizes([rest + 1.0001 * least * lengths, rest + 0.9 * least * lengths], lengths)
    enough, more = (one.units for one in units_needed(some))
    assert enough == units and more is not None and more > units


def test_margins_are_two_one_sided_tests() -> None:
    random = np.random.default_rng(3)
    one, two = random.normal(0, 1, (2, 30))
    (difference,) = mean_estimates(one - two, np.ones(30))
    verdicts = set()
    for margin in np.linspace(0.05, 2, 30):
        p = ttost_paired(one, two, -margin, margin)[0]
        verdict = within_margin(_compared(difference), float(margin))
        assert verdict == (p < 0.025)
        verdicts.add(verdict)
    assert verdicts == {True, False}


def _compared(one: Estimate, carried: float = 0.1) -> estimate.Tested:
    return estimate.Tested(one.value, one.low, one.high, one.units, one.method, carried=carried)


def test_a_margin_says_nothing_without_an_interval_or_where_one_unit_decides() -> None:
    inside = Estimate(0.0, -0.01, 0.01, 30, "")
    assert (
        within_margin(_compared(inside), 0.02) is True
        and within_margin(_compared(inside, 0.31), 0.02) is False
    )
    assert within_margin(_compared(Estimate(0.0, -0.01, 0.0, 30, "")), 0.01) is False
    assert (
        within_margin(_compared(inside), 0.01) is False
        and within_margin(_compared(inside), None) is None
    )
    identical, sparse = paired_tests(
        [np.zeros(20), np.where(np.arange(20) < 4, 0.001, 0.0)], np.ones(20), 0
    )
    assert within_margin(identical, 0.02) is None and within_margin(sparse, 0.02) is None
    assert identical.note.startswith(
        "none of 20 conversations differs, so with 95% confidence fewer than 13.9% of"
    )
    assert sparse.note.startswith("no interval: only 4 of 20 conversations differ")


def test_equivalence_at_the_margin_is_rarely_claimed() -> None:
    """Differences with a long tail, on average as large as the margin: a draw without the largest looks too alike."""
    random = np.random.default_rng(0)
    every = random.lognormal(0, 1.3, 50)
    found = paired_tests(every[random.integers(0, 50, (600, 10))], np.ones(10), 0)
    margin = float(every.mean())
    loose = np.mean([one.low > -margin and one.high < margin for one in found])
    strict = np.mean([within_margin(one, margin) is True for one in found])
    assert loose > 0.09 and strict < 0.06


def test_too_few_or_alike() -> None:
    (few,) = effect_sizes([1.0, 2, 4], np.ones(3))
    assert few.value == pytest.approx(7 / 3 / np.std([1, 2, 4], ddof=1))
    assert math.isnan(few.low) and "3 conversations" in few.note
    (alike,) = effect_sizes(np.ones(8), np.ones(8))
    assert (
        math.isnan(alike.value)
        and alike.note == "unstable: only 8 conversations; all conversations are alike"
    )
    assert math.isnan(detectable_differences([1.0, 2, 4], np.ones(3))[0]) and math.isnan(
        detectable_noncentrality(1)
    )
    assert detectable_noncentrality(2) > 12  # beyond the t quantile of one degree of freedom
