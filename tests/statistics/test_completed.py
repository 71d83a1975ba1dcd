"""Sampling and draws in one interval: equal to the test's without draws, as wide as Rubin's rules with them."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.statistics.completed import (
    completed_differ,
    completed_family,
    completed_intervals,
    largest_statistics,
)
from robustcs.statistics.families import max_t
from robustcs.statistics.sign_flip import paired_tests


def test_draws_that_agree_give_the_interval_of_the_test() -> None:
    rng = np.random.default_rng(0)
    sums, sizes = rng.normal(0.3, 1, (2, 20)), rng.integers(3, 9, 20).astype(float)
    low, high = completed_intervals(np.tile(sums, (30, 1, 1)), sizes, 4)
    for number, test in enumerate(paired_tests(sums, sizes, 4)):
        assert (low[number], high[number]) == (test.low, test.high)


def test_the_limits_are_ratios_of_random_subsets_of_all_draws() -> None:
    """The ratios of 999 subsets in each of 7 draws and the observed one are 6,994: the 174th from either end has 2.5%."""
    rng = np.random.default_rng(6)
    sums, sizes = (
        rng.normal(0.4, 1, (1, 3, 11)) + rng.normal(0, 0.2, (7, 3, 11)),
        rng.integers(1, 6, 11).astype(float),
    )
    found = completed_intervals(sums, sizes, 8)
    for number in range(3):
        ratios = []
        for draw in range(7):
            inside = np.random.default_rng([8, draw]).integers(0, 2, (11, 999)) == 1
            ratios += [
                sums[draw, number, some].sum() / sizes[some].sum()
                for some in inside.T
                if some.any()
            ]
            ratios += [-np.inf, np.inf] * int((~inside.any(axis=0)).sum())
        ratios.sort()
        assert (found[0][number], found[1][number]) == pytest.approx((ratios[173], ratios[-174]))


def test_swapping_the_systems_changes_no_p_even_where_a_draw_is_undecided() -> None:
    """In some draws the first difference is 0 in total, which speaks for neither side."""
    rng = np.random.default_rng(9)
    sums = rng.normal(1.5, 1, (10, 3, 9))
    sums[:4, 0] = [1, -1, 2, -2, 3, -3, 0.5, -0.5, 0]
    found = completed_family(sums, 2)
    assert found[0] > 0.4
    np.testing.assert_array_equal(completed_family(-sums, 2), found)


@pytest.mark.parametrize("between", [0.2, 1.0, 3.0])
def test_the_width_is_that_of_rubins_rules(between: float) -> None:
    """Variance within the draws plus that between them; with 40 units the ratios are near normal."""
    rng = np.random.default_rng(1)
    units, draws = 40, 400
    base, sizes = rng.normal(0.2, 1, units), np.full(units, 4.0)
    # a common shift of every draw: what is not known of the holes, on top of the spread over units
    shift = rng.normal(0, between / np.sqrt(units), draws)
    sums = (base + shift[:, None])[:, None, :] * 1.0
    low, high = completed_intervals(sums, sizes, 0)
    within = np.mean([row[0].var(ddof=1) / units for row in sums])
    expected = 2 * 1.98 * np.sqrt(within + (sums.mean(axis=-1)).var(ddof=1)) / 4
    assert high[0] - low[0] == pytest.approx(expected, rel=0.06)
    assert (high[0] + low[0]) / 2 == pytest.approx(sums.mean() / 4, abs=0.02)


def test_it_holds_a_planted_difference() -> None:
    """Rows of units with normal noise; a third of them is not seen and drawn from what is known, as holes are."""
    rng = np.random.default_rng(2)
    inside = []
    for trial in range(150):
        truth = rng.normal(0.5, 1, 16)
        draws = np.tile(truth, (60, 1, 1))
        hidden = rng.random(16) < 1 / 3
        seen = truth[~hidden]
        # proper draws: mean and variance from their posterior first
        variance = seen.var(ddof=1) * (len(seen) - 1) / rng.chisquare(len(seen) - 1, 60)
        mean = rng.normal(seen.mean(), np.sqrt(variance / len(seen)))
        draws[:, 0, hidden] = rng.normal(
            mean[:, None], np.sqrt(variance)[:, None], (60, int(hidden.sum()))
        )
        low, high = completed_intervals(draws, np.ones(16), trial)
        inside.append(low[0] <= 0.5 <= high[0])
    assert 0.9 <= np.mean(inside) <= 0.99


def test_too_few_units_that_differ_give_no_interval() -> None:
    """Nine of 20 units differ in every draw, or ten; and nine in most of the draws."""
    rng = np.random.default_rng(4)
    sums = np.zeros((21, 3, 20))
    sums[:, 0, :9], sums[:, 1, :10], sums[:, 2, :9] = (
        rng.normal(1, 1, (21, some)) for some in (9, 10, 9)
    )
    sums[:10, 2, 9:12] = 1.0
    low, high = completed_intervals(sums, np.ones(20), 0)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False, True]


def test_below_six_units_there_is_no_interval() -> None:
    sums = np.random.default_rng(3).normal(size=(20, 1, 5))
    assert np.isnan(completed_intervals(sums, np.ones(5), 0)).all()
    assert np.isfinite(
        completed_intervals(np.random.default_rng(3).normal(size=(20, 1, 8)), np.ones(8), 0)
    ).all()


@pytest.mark.parametrize("shape", [(40, 6, 9), (30, 1, 12), (3, 60, 7)])
def test_p_of_a_family_is_the_mean_of_the_draws(shape: tuple[int, int, int]) -> None:
    """Step-down max-T draw by draw, with plain loops; a draw with the other sign counts as 2."""
    draws, differences, units = shape
    rng = np.random.default_rng(1)
    sums = rng.normal(0.7, 1, (differences, units)) + rng.normal(0, 0.4, shape)
    sums[:, 0] *= 3
    sums[0, -1] = 0
    total = np.zeros((2, differences))
    for number, table in enumerate(sums):
        signs = np.random.default_rng([5, number]).integers(0, 2, (units, 199)) * 2 - 1
        norm = np.sqrt((table**2).sum(axis=1))
        scaled = table / np.where(norm > 0, norm, 1)[:, None]
        observed, statistics = scaled.sum(axis=1), np.abs(scaled @ signs)
        for at in range(differences):
            worst = 0
            for other in np.flatnonzero(np.abs(observed) >= abs(observed[at])):
                below = np.abs(observed) <= abs(observed[other])
                worst = max(
                    worst, int((statistics[below].max(axis=0) >= abs(observed[other]) - 1e-9).sum())
                )
            total[0, at] += worst if observed[at] > 0 else 398
            total[1, at] += worst if observed[at] < 0 else 398
    expected = np.minimum(1, (1 + total.min(axis=0)) / (1 + draws * 199))
    np.testing.assert_allclose(completed_family(sums, 5), expected, rtol=1e-12)


def test_draws_that_do_not_differ_are_max_t() -> None:
    sums = np.repeat(np.random.default_rng(2).normal(1.2, 1, (1, 4, 12)), 5, axis=0)
    assert completed_family(sums, 3).tolist() == max_t(sums[0], 3).tolist()


def test_copies_of_a_difference_have_its_p_even_if_there_are_more_than_a_thousand() -> None:
    """All 1,326 pairs of 52 systems."""
    sums = np.random.default_rng(4).normal(0.8, 1, (3, 1, 8))
    (p,) = completed_family(sums, 0)
    assert (completed_family(np.repeat(sums, 1326, axis=1), 0) == p).all() and p < 1


@pytest.mark.parametrize("seed", range(6))
def test_bounds_decide_as_the_p_values_do(seed: int) -> None:
    """Differences from clear to none, so that p lies on both sides of .05; also with one difference replaced."""
    rng = np.random.default_rng(seed)
    sums = (rng.normal(0, 1, (12, 11)) + np.linspace(0, 2, 12)[:, None]) + rng.normal(
        0, 0.3, (50, 12, 11)
    )
    asked = [3, 11, 0, 8]
    np.testing.assert_array_equal(
        completed_differ(sums, 1, asked), completed_family(sums, 1)[asked] <= 0.05
    )
    largest = largest_statistics(sums, 1)
    for place in range(12):
        other = sums.copy()
        other[:, place] = rng.normal(rng.uniform(0, 2), 1, 11) + rng.normal(0, 0.3, (50, 11))
        known = completed_family(other, 1)[[place]] <= 0.05
        assert (
            completed_differ(other, 1, [place], largest)
            == completed_differ(other, 1, [place])
            == known
        )


def test_draws_that_are_equal_and_too_few_units_are_decided_as_well() -> None:
    sums = np.repeat(np.random.default_rng(2).normal(1.2, 1, (1, 4, 12)), 5, axis=0)
    every = list(range(4))
    np.testing.assert_array_equal(
        completed_differ(sums, 0, every), completed_family(sums, 0) <= 0.05
    )
    assert not completed_differ(sums[:, :, :4], 0, every).any()


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_five_units_have_a_p_and_four_have_none(spread: float) -> None:
    rng = np.random.default_rng(7)
    sums = rng.normal(1, 1, (1, 3, 5)) + rng.normal(0, spread, (6, 3, 5))
    assert (
        not np.isnan(completed_family(sums, 0)).any()
        and np.isnan(completed_family(sums[..., :4], 0)).all()
    )


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_a_p_at_the_level_is_significant(spread: float) -> None:
    rng = np.random.default_rng(7)
    sums = rng.normal(0.8, 1, (1, 4, 10)) + rng.normal(0, spread, (6, 4, 10))
    for place, p in enumerate(completed_family(sums, 3)):
        assert completed_differ(sums, 3, [place], alpha=p) and not completed_differ(
            sums, 3, [place], alpha=p * 0.999
        )


def test_the_last_bits_of_a_sum_are_no_side() -> None:
    """Tenths add up to 0 only nearly: p must be that of the same differences in whole numbers."""
    random = np.random.default_rng(0)
    even = np.array([random.permutation([1, 2, -3, 3, -1, -2, 6, -6]) for _ in range(60)])[
        :, None, :
    ]
    ahead = np.array([random.permutation([1, 2, 3, 3, 1, -2, 6, -1]) for _ in range(20)])[
        :, None, :
    ]
    assert completed_family(even / 10, 0) == 1 and not completed_differ(even / 10, 0, [0])[0]
    for whole in (np.concatenate([even, ahead]), np.concatenate([even[:10], ahead])):
        assert completed_family(whole / 10, 0) == completed_family(whole, 0)
    # a draw without a difference counts against both sides, as one with the other sign
    assert completed_family(np.concatenate([even[:10], ahead]), 0) == completed_family(
        np.concatenate([-ahead[:10], ahead]), 0
    )
