"""Cluster-robust means and shares against statsmodels, the matrix form of CR2, scipy and short simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import linalg, stats
from statsmodels.stats.proportion import proportion_confint

from robustcs.statistics.means import (
    cluster_ratio,
    cluster_t_test,
    mean_estimates,
    score_estimates,
    share_estimates,
)
from robustcs.statistics.student import t_p, t_quantile
from robustcs.statistics.units import Units


def sample(seed: int, lengths: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Values per turn, the unit of each, sums and sizes."""
    random = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(lengths)), lengths)
    values = random.normal(0.4, 0.3, len(codes)) + random.normal(0, 0.2, len(lengths))[codes]
    return values, codes, np.bincount(codes, values), np.asarray(lengths, dtype=float)


def test_single_turns_are_students_t() -> None:
    values, _, sums, sizes = sample(0, [1] * 12)
    (found,) = mean_estimates(sums, sizes)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert cluster_t_test(sums, sizes)[0] == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    robust = sm.OLS(values, np.ones(12)).fit(cov_type="HC2")
    assert cluster_ratio(sums, sizes).variance[0] == pytest.approx(robust.cov_params()[0, 0])


def test_equal_lengths_are_statsmodels_cluster_robust_ols() -> None:
    values, codes, sums, sizes = sample(1, [6] * 15)
    fit = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster",
        cov_kwds={"groups": codes, "use_correction": True, "df_correction": True},
        use_t=True,
    )
    # its correction G/(G − 1) · (N − 1)/(N − 1) is that of CR2 where all units are as long
    (found,) = mean_estimates(sums, sizes)
    assert found.value == pytest.approx(fit.params[0])
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[0]))
    assert cluster_t_test(sums, sizes)[0] == pytest.approx(fit.pvalues[0])


def test_unequal_lengths_are_the_matrix_form_of_cr2() -> None:
    lengths = [1, 4, 9, 2, 7, 7, 3]
    values, codes, sums, sizes = sample(2, lengths)
    number = len(values)
    hat = np.full((number, number), 1 / number)
    rest = values - values.mean()
    meat = 0.0
    for code in range(len(lengths)):
        rows = codes == code
        adjusted = (
            linalg.inv(linalg.sqrtm(np.eye(rows.sum()) - hat[np.ix_(rows, rows)])) @ rest[rows]
        )
        meat += adjusted.sum() ** 2
    found = cluster_ratio(sums, sizes)
    assert found.variance[0] == pytest.approx(meat / number**2)
    assert found.value[0] == pytest.approx(values.mean())


def test_many_at_once_with_sizes_of_their_own() -> None:
    random = np.random.default_rng(3)
    sums, sizes = random.normal(size=(4, 8)), random.integers(0, 5, (4, 8)).astype(float)
    sums[sizes == 0] = 0
    together = mean_estimates(sums, sizes)
    for row, found in enumerate(together):
        kept = sizes[row] > 0
        (alone,) = mean_estimates(sums[row, kept], sizes[row, kept])
        assert (
            found == pytest.approx(alone)
            if isinstance(found, float)
            else found.units == alone.units == kept.sum()
        )
        assert (found.value, found.low, found.high) == pytest.approx(
            (alone.value, alone.low, alone.high), nan_ok=True
        )


def test_no_interval_is_said() -> None:
    (few,) = mean_estimates([[1.0, 2, 3, 4]], np.ones(4))
    assert (
        few.value == 2.5
        and math.isnan(few.low)
        and few.note == "no interval: only 4 conversations (at least 5 required)"
    )
    (alike,) = mean_estimates([np.full(12, 0.1) * 3], np.full(12, 3.0), noun="turn")
    assert math.isnan(alike.low) and alike.note == "no interval: all 12 turns are alike"
    (unstable,) = mean_estimates([[1.0, 2, 3, 4, 5]], np.ones(5))
    assert not math.isnan(unstable.low) and unstable.note == "unstable: only 5 conversations"
    (none,) = mean_estimates(np.zeros((1, 0)), np.zeros(0))
    assert math.isnan(none.value) and none.units == 0


def test_a_bounded_measure_stays_inside_its_scale() -> None:
    sums = np.array([0, 0, 0, 0.1, 0, 0, 0.2, 0, 1.0, 0])
    (found,) = mean_estimates(sums, np.ones(10), bounds=(0, 1))
    (plain,) = mean_estimates(sums, np.ones(10))
    assert plain.low < 0 < found.low < found.value < found.high < 1 and found.high > plain.high
    place = math.log(found.value / (1 - found.value))
    reach = (plain.high - plain.value) / (found.value * (1 - found.value))
    assert found.low == pytest.approx(1 / (1 + math.exp(reach - place)))
    # on any scale, and from both ends alike
    (grades,) = mean_estimates(4 - 4 * sums, np.ones(10), bounds=(0, 4))
    assert (grades.low, grades.high) == pytest.approx((4 - 4 * found.high, 4 - 4 * found.low))
    (shifted,) = mean_estimates(1 + 4 * sums, np.ones(10), bounds=(1, 5))
    assert (shifted.low, shifted.high) == pytest.approx((1 + 4 * found.low, 1 + 4 * found.high))
    assert (
        found.method == "cluster-robust t (CR2) on the logit"
        and plain.method == "cluster-robust t (CR2)"
    )
    (far,) = mean_estimates([1e-9] * 9 + [1e-3], np.ones(10), bounds=(0, 1))
    assert 0 <= far.low < far.value < far.high <= 1
    with pytest.raises(ValueError, match="not between"):
        mean_estimates([2.0, 3, 2, 3, 2], np.ones(5), bounds=(0, 1))


def test_one_unit_that_carries_the_spread_is_named() -> None:
    (found,) = mean_estimates(
        [0.5, 0.4, 0.5, 0.6, 0.5, 0.4, 0.6, 0.5, 0.5, 0.5, 0.5, 3], np.ones(12)
    )
    assert (
        found.note
        == "one conversation accounts for 91% of the spread, so the interval may be too narrow"
    )
    # 11 units of 4 turns around their mean of 1/2 and one of 8 turns at 1: by hand, its deviation is 8 (1 − mean)
    tops, sizes = np.array([*[1.5, 2.5] * 5, 2.0, 8.0]), np.array([*[4.0] * 11, 8.0])
    rest = tops - tops.sum() / sizes.sum() * sizes
    (long,) = mean_estimates(tops, sizes, "topic")
    assert (
        long.note
        == f"one topic accounts for {100 * rest[-1] ** 2 / (rest**2).sum():.0f}% of the spread, so the interval may be"
        + (" too narrow")
    )
    (even,) = mean_estimates(np.arange(12.0), np.ones(12))
    assert even.note == ""


def test_a_share_of_single_turns_is_wilsons_with_t() -> None:
    hits = np.array([1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0], dtype=float)
    (found,) = share_estimates(hits, np.ones(12))
    # v = p(1 − p)/(K − 1), so 11 trials at the quantile of t
    share, trials, t = 1 / 3, 11, stats.t.ppf(0.975, 11)
    root = t * math.sqrt(share * (1 - share) / trials + t**2 / (4 * trials**2))
    limits = ((share + t**2 / (2 * trials) + sign * root) / (1 + t**2 / trials) for sign in (-1, 1))
    assert (found.low, found.high) == pytest.approx(tuple(limits))


def test_shares_of_nothing_and_of_all() -> None:
    nothing, everything = share_estimates([np.zeros(400), np.ones(400)], np.ones(400))
    assert nothing.low == 0 and everything.high == 1
    # many units: Wilson's with the normal quantile
    assert nothing.high == pytest.approx(proportion_confint(0, 400, method="wilson")[1], rel=0.02)
    assert everything.low == pytest.approx(
        proportion_confint(400, 400, method="wilson")[0], rel=0.02
    )
    (few,) = share_estimates([1, 0, 1], np.ones(3))
    assert math.isnan(few.low) and "3 conversations" in few.note


def test_coverage_of_means_and_shares() -> None:
    random = np.random.default_rng(4)
    lengths = random.integers(3, 14, (400, 15)).astype(float)
    level = random.normal(0, 1, (400, 15))
    chance = stats.norm.cdf(-0.7 + 0.6 * level)
    found = share_estimates(random.binomial(lengths.astype(int), chance), lengths)
    truth = stats.norm.cdf(-0.7 / math.sqrt(1 + 0.36))
    assert 0.91 <= np.mean([one.low <= truth <= one.high for one in found]) <= 0.99
    found = mean_estimates(
        lengths * level * 0.3 + random.normal(size=(400, 15)) * np.sqrt(lengths), lengths
    )
    assert 0.91 <= np.mean([one.low <= 0 <= one.high for one in found]) <= 0.98


@pytest.mark.parametrize(("conversations", "turns"), [(8, 3), (30, 4)])
@pytest.mark.parametrize("share", [0.5, 0.85, 0.95])
def test_scores_of_0_and_1_from_files_have_intervals_that_cover_and_stay_inside(
    conversations: int, turns: int, share: float
) -> None:
    generator = np.random.default_rng(1)
    units = Units(
        "conversation",
        np.repeat(np.arange(conversations), turns),
        tuple(map(str, range(conversations))),
    )
    # intraclass correlation 0.3
    chances = generator.beta(share * 7 / 3, (1 - share) * 7 / 3, size=(1000, conversations, 1))
    values = (
        (generator.random((1000, conversations, turns)) < chances).reshape(1000, -1).astype(float)
    )
    found = score_estimates(values, units, bounded=False)
    assert all(0 <= one.low <= one.value <= one.high <= 1 for one in found)
    assert np.mean([one.low <= share <= one.high for one in found]) > 0.92
    before = mean_estimates(units.sums(values), units.sizes)
    assert share == 0.5 or any(one.high > 1 for one in before), "these left the range"


def test_limits_are_cut_only_at_a_score_that_occurs() -> None:
    units = Units("turn", np.arange(6), tuple("abcdef"))

    def limits(*values: float) -> tuple[float, float]:
        [one] = score_estimates([values], units, bounded=False)
        return one.low, one.high

    whole = [0.0, 1.0, 0.9, 1.0, 1.0, 1.0]
    low, high = limits(*whole)
    assert high == 1.0 and low == mean_estimates([whole], np.ones(6))[0].low
    assert limits(0.2, 0.99, 0.99, 0.99, 0.99, 0.99)[1] > 1  # the range is unknown
    assert (
        limits(0.0, 5.0, 5.0, 5.0, 5.0, 5.0)[1] > 5 and limits(0.0, 0.0, 0.0, 0.0, 0.0, 0.9)[0] == 0
    )
    [gap] = score_estimates([[1.0, np.nan, 0.5, 1.0, 0.5, 1.0]], units, bounded=False)
    assert (gap.value, gap.units, gap.high) == (0.8, 5, 1.0)


@pytest.mark.parametrize("freedom", [1, 1.3, 2, 4, 7.7, 28, 999, 1e4])
def test_p_values_of_t_are_scipy_s_to_ten_digits(freedom: float) -> None:
    for t in (0.0, 1e-12, 0.01, 0.3, -1.0, 1.7, 2.2, 5.0, -30.0, 1e9):
        assert t_p(t, freedom) == pytest.approx(
            2 * stats.t.sf(abs(t), freedom), rel=1e-10, abs=1e-300
        )


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.999])
def test_quantiles_are_scipy_s_to_twelve_digits(confidence: float) -> None:
    freedom = np.array(
        [[1, 1.3, 2, 2.5, 3, 4, 7.7, 28], [207, 999, 999.5, 1000, 1001, 6979, 1e5, 1e8]]
    )
    expected = stats.t.ppf(0.5 + confidence / 2, freedom)
    assert t_quantile(freedom + 1, confidence) == pytest.approx(expected, rel=1e-12, abs=0)
    assert t_quantile(1.2, confidence) == t_quantile(2, confidence), (
        "an interval by degrees below 1 would mean nothing"
    )
    assert np.isnan(t_quantile([0, 1, np.nan], confidence)).all()


def test_five_units_have_an_interval_and_two_a_test() -> None:
    hits = [1.0, 0, 0, 1, 0]
    (five,), (four,) = share_estimates(hits, np.ones(5)), share_estimates(hits[:4], np.ones(4))
    assert (
        0 < five.low < five.value < five.high < 1 and five.note == "unstable: only 5 conversations"
    )
    assert math.isnan(four.low) and math.isnan(four.high)
    assert cluster_t_test([1.0, 2.5], np.ones(2))[0] == pytest.approx(
        stats.ttest_1samp([1.0, 2.5], 0).pvalue
    )
    assert np.isnan(cluster_t_test([[1.0], [0.0]], np.ones(1))).all()
    assert cluster_t_test([[0.0, 0, 0], [1, -1, 0]], np.ones(3)).tolist() == [1, 1]


def test_a_small_part_of_a_hit_counts_as_half_a_turn_in_the_number_of_trials() -> None:
    """Hits may be parts, such as the share of the systems that lose a turn."""
    sizes = np.array([2.0, 3, 1, 2, 4, 1, 2])
    parts = np.array([0.1, 0, 0, 0.2, 0, 0, 0])
    few, most = share_estimates([parts, sizes - parts], sizes)
    share, variance, t = 0.02, cluster_ratio(parts, sizes).variance[0], stats.t.ppf(0.975, 6)
    trials = 1 / 30 * 29 / 30 / variance
    root = t * math.sqrt(share * (1 - share) / trials + t**2 / (4 * trials**2))
    limits = [(share + t**2 / (2 * trials) + sign * root) / (1 + t**2 / trials) for sign in (-1, 1)]
    assert (few.value, few.low, few.high) == pytest.approx((share, *limits))
    assert (most.low, most.high) == pytest.approx((1 - few.high, 1 - few.low))


@pytest.mark.parametrize("middle", [-0.5, 0.0, 1.0, 1.5])
def test_a_mean_that_varies_lies_inside_its_scale(middle: float) -> None:
    sums = middle + np.array([-0.5, -0.25, 0, 0.25, 0.5])
    with pytest.raises(ValueError, match="that varies is not between 0 and 1"):
        mean_estimates(sums, np.ones(5), bounds=(0, 1))
