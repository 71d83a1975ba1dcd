"""Agreement from sums against the values over items, scikit-learn, krippendorff, and a bootstrap-t written out."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from robustcs.statistics.agreement import (
    LEVELS,
    MANY_UNITS,
    Floats,
    Level,
    agreement_estimate,
    alpha_of,
    alpha_sums,
    cohen_of,
    cohen_sums,
    fleiss_kappa,
    fleiss_of,
    fleiss_sums,
    krippendorff_alpha,
)


def ratings(random: np.random.Generator, items: int, raters: int = 3, scale: int = 4) -> np.ndarray:
    """Codes of every rater, int[items, raters]: a common value and an error."""
    true = random.normal(size=items)[:, None]
    return np.clip(
        np.round(1.5 + 1.1 * true + 0.8 * random.normal(size=(items, raters))), 0, scale - 1
    ).astype(int)


def counts_of(table: np.ndarray, scale: int = 4) -> np.ndarray:
    return (table[:, :, None] == np.arange(scale)).sum(axis=1)


def test_values_are_those_over_items() -> None:
    random = np.random.default_rng(0)
    table = ratings(random, 40)
    counts = counts_of(table)
    counts[random.random(counts.shape) < 0.3] = 0  # items of one rating or none
    assert fleiss_of(fleiss_sums(counts).sum(axis=0)) == pytest.approx(fleiss_kappa(counts))
    for level in LEVELS:
        sums = alpha_sums(counts).sum(axis=0)
        assert alpha_of([0, 1, 2, 3], level)(sums) == pytest.approx(
            krippendorff_alpha(counts, [0, 1, 2, 3], level)
        )
    whole = counts_of(table)
    assert fleiss_of(fleiss_sums(whole).sum(axis=0)) == pytest.approx(statsmodels_fleiss(whole))


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_krippendorffs(level: Level) -> None:
    table = ratings(np.random.default_rng(1), 25)
    expected = krippendorff.alpha(reliability_data=table.T, level_of_measurement=level)
    assert alpha_of(np.arange(4), level)(alpha_sums(counts_of(table)).sum(axis=0)) == pytest.approx(
        expected
    )


def test_cohens_kappa_is_statsmodels() -> None:
    table = ratings(np.random.default_rng(2), 60, raters=2)
    sums = cohen_sums(table[:, 0], table[:, 1], 4).sum(axis=0)
    square = sums.reshape(4, 4)
    assert cohen_of(4)(sums) == pytest.approx(cohens_kappa(square, return_results=False))
    assert cohen_of(4, "linear")(sums) == pytest.approx(
        cohens_kappa(square, wt="linear", return_results=False)
    )
    assert cohen_of(4, "quadratic")(sums) == pytest.approx(
        cohens_kappa(square, wt="quadratic", return_results=False)
    )


def by_hand(sums: Floats, seed: int, resamples: int) -> tuple[float, float]:
    """The nested bootstrap-t with every resample written out."""
    units, statistic = len(sums), cohen_of(3)

    def jackknife(rows: Floats) -> tuple[float, float]:
        without = np.array(
            [statistic(np.delete(rows, place, axis=0).sum(axis=0)) for place in range(units)]
        )
        error = math.sqrt((units - 1) / units * ((without - without.mean()) ** 2).sum())
        return units * float(statistic(rows.sum(axis=0))) - (units - 1) * float(
            without.mean()
        ), error

    value = float(statistic(sums.sum(axis=0)))
    centre, error = jackknife(sums)
    ratios = []
    for weights in np.random.default_rng(seed).multinomial(
        units, np.full(units, 1 / units), size=resamples
    ):
        drawn, spread = jackknife(np.repeat(sums, weights, axis=0))
        ratios.append((drawn - value) / max(spread, 0.2 * error))
    low, high = np.quantile(ratios, [0.025, 0.975])
    t = stats.t.ppf(0.975, units - 1)
    return centre - max(high, t) * error, centre + max(-low, t) * error


# the resamples widen the lower side, the upper side, and both
@pytest.mark.parametrize("sample", [1, 3, 8])
def test_the_interval_is_the_nested_bootstrap_t(sample: int) -> None:
    table = ratings(np.random.default_rng(sample), 70, raters=2, scale=3)
    sums = np.add.reduceat(cohen_sums(table[:, 0], table[:, 1], 3), np.arange(0, 70, 10))
    found = agreement_estimate(sums, cohen_of(3), seed=5, noun="topic", resamples=80)
    assert (found.low, found.high) == pytest.approx(by_hand(sums, 5, 80))
    assert found.units == 7 and found.note == "unstable: only 7 topics"
    assert agreement_estimate(sums, cohen_of(3), seed=5, noun="topic", resamples=80) == found


def test_what_cannot_be_said() -> None:
    alike = agreement_estimate(cohen_sums([1, 0] * 6, [1, 0] * 6, 2), cohen_of(2), 0)
    assert alike.value == 1 and math.isnan(alike.low) and "all items are alike" in alike.note
    same = agreement_estimate(cohen_sums([1] * 9, [1] * 9, 2), cohen_of(2), 0)
    assert math.isnan(same.value) and "all ratings are equal" in same.note
    few = agreement_estimate(
        fleiss_sums(counts_of(ratings(np.random.default_rng(4), 4))), fleiss_of, 0
    )
    assert (
        not math.isnan(few.value)
        and math.isnan(few.low)
        and few.note == "no interval: only 4 items (at least 5 required)"
    )
    assert agreement_estimate(np.zeros((3, 6)), fleiss_of, 0).note == "no item has two ratings"
    once = agreement_estimate(cohen_sums([1] + [0] * 9, [0] * 10, 2), cohen_of(2), 0)
    assert math.isnan(once.low)


def test_five_units_have_an_interval() -> None:
    sums = fleiss_sums(counts_of(ratings(np.random.default_rng(4), 5)))
    found = agreement_estimate(sums, fleiss_of, 0)
    assert found.low < found.value < found.high and found.note == "unstable: only 5 items"


def test_coverage_over_few_items() -> None:
    random = np.random.default_rng(6)
    statistic = alpha_of(np.arange(4), "ordinal")
    truth = float(statistic(alpha_sums(counts_of(ratings(random, 20_000))).sum(axis=0)))
    found = [
        agreement_estimate(
            alpha_sums(counts_of(ratings(random, 12))), statistic, seed, resamples=200
        )
        for seed in range(150)
    ]
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.88


def test_many_units_are_not_resampled() -> None:
    sums = fleiss_sums(counts_of(ratings(np.random.default_rng(7), MANY_UNITS - 1)))
    drawn = agreement_estimate(sums, fleiss_of, 0)
    more = agreement_estimate(np.vstack([sums, sums[:1]]), fleiss_of, 0)
    assert (more.low, more.high) == pytest.approx((drawn.low, drawn.high), abs=0.01)
    assert agreement_estimate(np.vstack([sums, sums[:1]]), fleiss_of, 1) == more


def test_resamples_drawn_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(2).multinomial(4, [0.5, 0.3, 0.2], size=30)
    by_unit = fleiss_sums(counts).reshape(10, 3, -1).sum(axis=1)
    whole = agreement_estimate(by_unit, fleiss_of, 3, "conversation", 50)
    monkeypatch.setattr("robustcs.statistics.agreement._CELLS", 7 * by_unit.size)
    assert agreement_estimate(by_unit, fleiss_of, 3, "conversation", 50) == whole
