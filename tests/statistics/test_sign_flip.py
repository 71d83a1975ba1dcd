"""The sign-flip test and its inversion against scipy, enumeration written out, and each other."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from robustcs.statistics.estimate import p_text
from robustcs.statistics.preference import mcnemar_exact
from robustcs.statistics.sign_flip import Subsets, limits, paired_tests

# few different values make ties, and sums that are 0
VALUES = st.sampled_from([-2.0, -1.0, -0.3, -0.1, 0.0, 0.1, 0.2, 0.3, 1.0])
TABLES = st.integers(1, 9).flatmap(
    lambda k: st.tuples(
        st.lists(VALUES, min_size=k, max_size=k),
        st.lists(st.integers(1, 9), min_size=k, max_size=k),
        st.booleans(),
    )
)


def p_by_hand(y: np.ndarray, mid: bool) -> float:
    """The share of sign patterns at least as far from 0; with ``mid`` those as far count one half."""
    totals = np.array(
        [abs(np.dot(signs, y)) for signs in itertools.product((-1, 1), repeat=len(y))]
    )
    return float(
        (totals > abs(y.sum()) + 1e-9).mean()
        + (0.5 if mid else 1) * (abs(totals - abs(y.sum())) <= 1e-9).mean()
    )


@given(TABLES)
@settings(deadline=None, max_examples=40)
def test_p_is_that_of_all_sign_patterns_and_agrees_with_the_interval(
    table: tuple[list[float], list[int], bool],
) -> None:
    y, n, mid = np.array(table[0]), np.array(table[1], dtype=float), table[2]
    (found,) = paired_tests(y, n, seed=0, mid_p=mid)
    moving = np.count_nonzero(y)
    half = mid and moving >= 6
    # a total of 0 is the least extreme of all, mid-p or not
    expected = p_by_hand(y, half)
    assert found.p == pytest.approx(expected) or (
        half and abs(y.sum()) < 1e-9 and found.p == pytest.approx(1)
    )
    assert found.moving == moving and found.exact and found.p >= found.floor - 1e-12
    if not math.isnan(found.low):
        assert found.low <= y.sum() / n.sum() <= found.high
        if found.p > 0.05:
            assert found.low <= 0 <= found.high
        elif half:
            assert not found.low < 0 < found.high
        else:
            assert not found.low <= 0 <= found.high


@given(TABLES.filter(lambda table: len(table[0]) >= 6 and any(table[0])), st.floats(-1, 1))
@settings(deadline=None, max_examples=25)
def test_the_interval_holds_what_the_test_does_not_reject(
    table: tuple[list[float], list[int], bool], theta: float
) -> None:
    y, n = np.array(table[0]), np.array(table[1], dtype=float)
    (found,) = paired_tests(y, n, seed=0)
    if min(abs(theta - found.low), abs(theta - found.high)) > 1e-6:
        assert (found.low <= theta <= found.high) == (p_by_hand(y - theta * n, False) > 0.05)


def test_exact_p_is_scipys() -> None:
    y = np.random.default_rng(1).normal(0.3, 1, 12)
    expected = stats.permutation_test(
        (y,), np.sum, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert paired_tests(y, np.ones(12), seed=0)[0].p == pytest.approx(expected)


def test_random_patterns_come_near_the_exact_p_and_are_the_same_for_all() -> None:
    random = np.random.default_rng(2)
    sums, sizes = random.normal(0.2, 1, (5, 20)), random.integers(1, 9, 20).astype(float)
    together = paired_tests(sums, sizes, seed=3)
    for row, found in enumerate(together):
        (alone,) = paired_tests(sums[row], sizes, seed=3)
        assert alone.p == found.p and (alone.low, alone.high) == pytest.approx(
            (found.low, found.high)
        )
        exact = stats.permutation_test(
            (sums[row],), np.sum, permutation_type="samples", n_resamples=20_000, rng=0
        ).pvalue
        assert found.p == pytest.approx(exact, abs=0.02)
        assert not found.exact and found.floor == 2 / 100_000
        assert (found.low <= 0 <= found.high) == (found.p > 0.05)
    assert paired_tests(sums, sizes, seed=3) == together != paired_tests(sums, sizes, seed=4)


def test_random_patterns_do_not_depend_on_the_blocks() -> None:
    subsets = Subsets(21, 7, 999)
    blocks = [np.concatenate(list(subsets.blocks(size))) for size in (32, 100, 5000)]
    assert all(np.array_equal(block, blocks[0]) for block in blocks) and blocks[0].shape == (
        999,
        21,
    )
    assert blocks[0].mean() == pytest.approx(0.5, abs=0.02)
    exact = np.concatenate(list(Subsets(6, 0).blocks(32)))
    assert {tuple(row) for row in exact} == set(itertools.product((0, 1), repeat=6)) - {(0,) * 6}
    assert [len(block) for block in Subsets(6, 0).blocks(32)] == [32, 31]
    np.testing.assert_array_equal(Subsets(6, 0).sums(2 * np.eye(6)), 2 * exact.T)


def test_subsets_are_drawn_once_for_differences_and_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    blocks = Subsets.blocks
    monkeypatch.setattr(
        Subsets, "blocks", lambda self, size: drawn.append(size) or blocks(self, size)
    )
    random = np.random.default_rng(0)
    paired_tests(random.normal(size=(3, 40)), np.ones(40), 0)
    paired_tests(random.normal(size=(3, 40)), random.integers(1, 9, (3, 40)), 0)
    assert len(drawn) == 2


@pytest.mark.parametrize("own", [False, True])
def test_a_few_comparisons_at_a_time_give_the_same(
    own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(8)
    sums, sizes = (
        random.normal(size=(5, 9)),
        random.integers(1, 9, (5, 9) if own else 9).astype(float),
    )
    together = paired_tests(sums, sizes, 0)
    monkeypatch.setattr("robustcs.statistics.sign_flip._CELLS", 2 * 2**9)
    assert paired_tests(sums, sizes, 0) == together


def test_a_drop_relative_to_the_baseline_has_the_same_p() -> None:
    random = np.random.default_rng(5)
    baseline = random.uniform(0.2, 1, (3, 14)) * 8
    sums = baseline * random.normal(-0.1, 0.2, (3, 14))
    plain, relative = paired_tests(sums, np.full(14, 8.0), 0), paired_tests(sums, baseline, 0)
    for one, two, d, a in zip(plain, relative, sums, baseline, strict=True):
        assert one.p == two.p and two.value == pytest.approx(d.sum() / a.sum())
        assert two.low < two.value < two.high and (two.low <= 0 <= two.high) == (two.p > 0.05)
    # a baseline that scores nowhere but in one unit bounds no drop
    (lost,) = paired_tests([1.0, -1, 2, 3, 1, 1, 1], [0, 0, 0, 0, 0, 0, 1.0], 0)
    assert math.isnan(lost.low) and "infinite" in lost.note and not math.isnan(lost.p)


def test_mid_p_on_single_turns_is_mcnemars_mid_p() -> None:
    y = np.array([1.0] * 9 + [-1.0] * 3)
    exact = mcnemar_exact(9, 3)
    assert paired_tests(y, np.ones(12), 0)[0].p == pytest.approx(exact)
    tail = stats.binom.pmf(3, 12, 0.5)
    assert paired_tests(y, np.ones(12), 0, mid_p=True)[0].p == pytest.approx(exact - tail)
    # the mid-p begins with six units that differ
    few, six = (paired_tests(np.ones(units), np.ones(units), 0, mid_p=True)[0] for units in (5, 6))
    assert (few.p, six.p) == (2 * 2**-5, 2**-6)
    # of 64 patterns, ⌊0.05 · 64 / 2 + 1/2⌋ = 2 may be as far on either side
    (ordered,) = paired_tests(np.arange(1.0, 7), np.ones(6), 0, mid_p=True)
    assert (ordered.low, ordered.high) == (1.5, 5.5)


def test_what_few_units_cannot_show_is_said() -> None:
    (four,) = paired_tests([1.0, 2, 3, 4], np.ones(4), 0)
    assert (
        four.p == 1 / 8
        and math.isnan(four.low)
        and "only 4 conversations (at least 5 required)" in four.note
    )
    (five,) = paired_tests([1.0, 2, 3, 4, 5], np.ones(5), 0)
    assert five.p == 1 / 16 and math.isnan(five.low) and "not reach 0.05" in five.note
    assert five.note.startswith(
        "no interval below 6 conversations; unstable: only 5 conversations; "
    )
    (six,) = paired_tests([1.0, 2, 3, 4, 5, 6], np.ones(6), 0)
    assert (
        six.p == 1 / 32
        and (six.low, six.high) == (1, 6)
        and "not reach 0.01" in six.note
        and "0.05" not in six.note
    )
    (eight,) = paired_tests(np.arange(1.0, 9), np.ones(8), 0)
    assert eight.p == 1 / 128 and "reach" not in eight.note
    (sparse,) = paired_tests([1.0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], np.ones(12), 0)
    assert sparse.p == 0.25 and sparse.moving == 3
    assert sparse.note.startswith(
        "no interval: only 3 of 12 conversations differ; p cannot be below 0.25"
    )


def test_no_difference_at_all_gives_no_empty_interval() -> None:
    (found,) = paired_tests(np.zeros(20), np.ones(20), 0)
    assert (found.value, found.p) == (0, 1) and math.isnan(found.low)
    assert (
        found.note
        == "none of 20 conversations differs, so with 95% confidence fewer than 13.9% of all conversations do"
    )
    (none,) = paired_tests(np.zeros((1, 0)), np.zeros(0), 0)
    assert math.isnan(none.p) and math.isnan(none.value)


def test_the_floor_of_drawn_patterns_is_printed_as_a_bound_and_that_of_few_units_as_a_value() -> (
    None
):
    (found,) = paired_tests(np.arange(1.0, 31), np.ones(30), 0)
    assert found.p == found.floor == 2 / 100_000 and p_text(found.p) == "p < 0.0001"
    two = paired_tests([1.0, 1, *[0] * 18], np.ones(20), 0)[0]
    assert (
        two.p == two.floor == 0.5
        and p_text(two.p) == "p = 0.500"
        and "cannot be below 0.5 " in two.note
    )


@pytest.mark.parametrize("mid", [False, True])
def test_all_patterns_of_few_units_that_differ_are_tried_however_many_do_not(mid: bool) -> None:
    for y in ([1.0, 1, -1, -1, -1], [0.3, 0.2, -0.1, 0.4, 0.1, 0.1, -0.2, 0.3, 0.5], [1.0]):
        (found,) = paired_tests([*y, *[0] * 20], np.ones(20 + len(y)), 3, mid_p=mid)
        assert (
            found.exact
            and math.isnan(found.low)
            and found.p == pytest.approx(p_by_hand(np.array(y), mid and len(y) >= 6))
        )


def test_the_floor_that_is_told_can_be_reached() -> None:
    """Six conversations, all in one direction: with mid-p, the observed pattern counts half."""
    for mid, floor, told in ((False, 1 / 32, "0.031"), (True, 1 / 64, "0.016")):
        (six,) = paired_tests(np.ones(6), np.ones(6), 0, mid_p=mid)
        assert (
            six.p == six.floor == floor
            and f"p cannot be below {told} and so cannot reach 0.01" in six.note
        )
    (seven,) = paired_tests(np.ones(7), np.ones(7), 0, mid_p=True)
    assert seven.p == seven.floor == 1 / 128 and "cannot" not in seven.note


def test_size_of_the_test_and_coverage_of_the_interval() -> None:
    random = np.random.default_rng(6)
    lengths = random.integers(3, 14, 14).astype(float)
    trials = 400
    sums = random.standard_t(5, (trials, 14)) * np.sqrt(lengths) + lengths * random.normal(
        0, 0.3, (trials, 14)
    )
    found = paired_tests(sums + 0.7 * lengths, lengths, 0)
    assert 0.91 <= np.mean([one.low <= 0.7 <= one.high for one in found]) <= 0.98
    assert 0.02 <= np.mean([one.p <= 0.05 for one in paired_tests(sums, lengths, 0)]) <= 0.085


def test_random_patterns_never_give_a_p_below_the_floor() -> None:
    """Ten of 20 conversations differ, all in one direction: 1 in 512 patterns is as far, and drawn ones may be fewer."""
    sums = np.where(np.arange(20) < 10, 1.0, 0.0)
    found = [paired_tests(sums, np.ones(20), seed)[0] for seed in range(20)]
    assert all(one.p >= one.floor == 2 / 2**10 for one in found) and any(
        one.p == one.floor for one in found
    )


@pytest.mark.parametrize(
    ("units", "fewest"), [(6, 3), (7, 4), (10, 5), (12, 6), (19, 10), (20, 10), (21, 10), (50, 10)]
)
def test_an_interval_needs_half_of_the_units_or_ten_to_differ(units: int, fewest: int) -> None:
    for moving in range(1, units + 1, 1 + units // 20):
        sums = np.zeros(units)
        sums[:moving] = np.arange(1, moving + 1)
        for sizes in (np.ones(units), np.arange(1.0, units + 1)):
            for mid in (False, True):
                (test,) = paired_tests(sums, sizes, 0, "topic", mid_p=mid, draws=999)
                assert test.moving == moving and test.p >= test.floor
                if moving >= fewest:
                    assert test.low <= test.value <= test.high and "no interval" not in test.note
                else:
                    verb = "differs" if moving == 1 else "differ"
                    assert math.isnan(test.low) and math.isnan(test.high)
                    assert f"no interval: only {moving} of {units} topics {verb}" in test.note


def test_units_without_turns_are_not_among_those_of_which_half_must_differ() -> None:
    """As in a drop in per cent, where the baseline scores 0 in a conversation and the system too."""
    sums, sizes = (
        np.array([1.0, 2, -1, 1, 0, 0, 0, 0, 0, 0]),
        np.array([3.0, 4, 2, 5, 2, 3, 0, 0, 0, 0]),
    )
    (relative,) = paired_tests(sums, sizes, 0)
    assert (relative.units, relative.moving) == (6, 4) and not math.isnan(relative.low)
    (plain,) = paired_tests(sums, np.ones(10), 0)
    assert math.isnan(plain.low) and plain.p == relative.p


def test_the_share_that_one_unit_carries() -> None:
    sums, sizes = np.array([5.0, 1, -1, 1, 0, -1, 1]), np.array([1.0, 2, 1, 1, 1, 1, 1])
    (test,) = paired_tests(sums, sizes, 0)
    rest = sums - sums.sum() / sizes.sum() * sizes
    assert test.carried == pytest.approx((rest**2).max() / (rest**2).sum())


def test_coverage_of_the_intervals_that_sparse_differences_have() -> None:
    """A third of 400 conversations differ; of draws of 20 a few have ten that do. docs/statistics.md has real pairs."""
    random = np.random.default_rng(7)
    truth = np.where(random.random(400) < 0.45, random.normal(0.3, 0.5, 400), 0.0)
    drawn = truth[random.integers(0, 400, (400, 20))]
    found = paired_tests(drawn, np.ones(20), 0, draws=999)
    printed = [one for one in found if not math.isnan(one.low)]
    assert 60 < len(printed) < 250
    assert np.mean([one.low <= truth.mean() <= one.high for one in printed]) >= 0.9


@pytest.mark.parametrize("order", ["random", "ascending", "descending", "ties", "misleading"])
@pytest.mark.parametrize("place", [1, 50, 2_500, 20_000])
def test_limits_are_those_of_all_ratios_whatever_the_sample_suggests(
    order: str, place: int
) -> None:
    ratios = np.random.default_rng(1).normal(size=40_000)
    if order == "ascending":
        ratios.sort()
    elif order == "descending":
        ratios[::-1].sort()
    elif order == "ties":
        ratios = ratios.round(1)
    elif order == "misleading":  # the extremes stand where the sample looks
        ratios.sort()
        ratios = ratios.reshape(16, -1).T.ravel()
    ordered = np.sort(ratios)
    assert limits(ratios.copy(), np.ones(len(ratios)), place) == (
        ordered[place - 1],
        ordered[-place],
    )


def test_subsets_without_turns_are_beyond_both_limits() -> None:
    """0 / 0 counts at either end, and a difference in no turns is infinite."""
    tops, bottoms = np.array([3.0, 0, 1, 5, 2, 4]), np.array([1.0, 0, 1, 1, 1, 1])
    assert [limits(tops.copy(), bottoms, place) for place in (2, 3)] == [(1, 5), (2, 4)]
    assert (
        np.isnan(limits(tops.copy(), bottoms, 1)).all()
        and np.isnan(limits(tops.copy(), np.ones(6), 0)).all()
    )
    tops[1] = 7
    assert np.isnan(limits(tops.copy(), bottoms, 1)).all() and limits(tops.copy(), bottoms, 2) == (
        2,
        5,
    )
