"""Intervals of chance-corrected agreement: a nested bootstrap-t over units, which are items, topics or conversations.

Every coefficient here is a smooth function of sums, so a unit is the vector of what it adds to them: float64[K, D]. In a
resample the units are drawn with return; its value and standard error come from the jackknife within it. With θ the value of
all units, c = Kθ − (K − 1)θ̄₍·₎ the jackknife's correction of its bias and se its standard error, the quantiles of t* = (c* −
θ)/se* take the place of Student's, never narrower than those. Efron & Tibshirani (1993), section 12.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.statistics.agreement import Counts, Level, pair_agreement
from robustcs.statistics.estimate import LEAST_UNITS, Estimate, joined, units_note
from robustcs.statistics.intervals import CONFIDENCE
from robustcs.statistics.means import t_quantile

Floats = npt.NDArray[np.float64]
#: Sums, float64[..., D], → the coefficient, float64[...]; nan where it is undefined.
Statistic = Callable[[Floats], Floats]
Weighting = Literal["nominal", "linear", "quadratic"]

METHOD = "nested bootstrap-t over units"
RESAMPLES = 1000
#: A resample's standard error counts as at least this share of the sample's.
_LEAST_ERROR = 0.2
#: Resamples that have a value, below which there is no interval.
_LEAST_RESAMPLES = 0.5
#: Sums held at a time.
_CELLS = 2_000_000


# ---------------------------------------------------------------- what a unit adds to the sums


def fleiss_sums(counts: Counts) -> Floats:
    """float64[N, V + 2] from how often each item got each value: the agreement of its pairs, 1, and its shares of the values.

    Items with fewer than two ratings add nothing. Add up the rows of a topic to make it the unit.
    """
    paired = counts.sum(axis=1) >= 2
    agreement = np.where(paired, np.nan_to_num(pair_agreement(counts)), 0.0)
    return np.column_stack([agreement, paired, counts * paired[:, None]]).astype(np.float64)


def alpha_sums(counts: Counts) -> Floats:
    """float64[N, V²]: every item's coincidences of two ratings, ordered pairs divided by its ratings minus one."""
    table = np.asarray(counts, dtype=np.float64)
    ratings = table.sum(axis=1)
    pairs = table[:, :, None] * table[:, None, :]
    pairs[:, np.arange(table.shape[1]), np.arange(table.shape[1])] -= table
    return np.asarray((pairs / np.maximum(ratings - 1, 1)[:, None, None]).reshape(len(table), -1))


def cohen_sums(first: npt.ArrayLike, second: npt.ArrayLike, values: int) -> Floats:
    """float64[N, values²]: a one where the two raters' codes (0 … values − 1) of an item meet."""
    cells = np.asarray(first, dtype=np.int64) * values + np.asarray(second, dtype=np.int64)
    return np.asarray(cells[:, None] == np.arange(values**2), dtype=np.float64)


# ---------------------------------------------------------------- the coefficients


def fleiss_of(sums: Floats) -> Floats:
    """Fleiss' kappa, equal to :func:`~robustcs.statistics.agreement.fleiss_kappa` of all items."""
    observed = _quotient(sums[..., 0], sums[..., 1])
    shares = _quotient(sums[..., 2:], sums[..., 2:].sum(axis=-1, keepdims=True))
    expected = (shares**2).sum(axis=-1)
    return _quotient(observed - expected, 1 - expected)


def alpha_of(values: npt.ArrayLike, level: Level) -> Statistic:
    """Krippendorff's alpha of ascending ``values``, equal to :func:`~robustcs.statistics.agreement.krippendorff_alpha`."""
    scale = np.asarray(values, dtype=np.float64)
    size = len(scale)

    def statistic(sums: Floats) -> Floats:
        coincidences = sums.reshape(*sums.shape[:-1], size, size)
        totals = coincidences.sum(axis=-1)
        number = totals.sum(axis=-1)
        if level == "nominal":
            distance = np.asarray(1.0 - np.eye(size))
        else:
            # ordinal: ratings between two values, half of their own included, are the difference of mid-ranks
            place = totals.cumsum(axis=-1) - totals / 2 if level == "ordinal" else np.broadcast_to(scale, totals.shape)
            distance = (place[..., :, None] - place[..., None, :]) ** 2
        observed = (coincidences * distance).sum(axis=(-2, -1))
        expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
        return np.asarray(1 - _quotient(observed * (number - 1), expected))

    return statistic


def cohen_of(values: int, weighting: Weighting = "nominal") -> Statistic:
    """Cohen's kappa of two raters, or the weighted one, whose disagreements cost their distance in codes or its square."""
    apart = np.abs(np.subtract.outer(np.arange(values), np.arange(values))).astype(np.float64)
    cost = {"nominal": np.asarray(apart > 0, dtype=np.float64), "linear": apart, "quadratic": apart**2}[weighting]

    def statistic(sums: Floats) -> Floats:
        table = sums.reshape(*sums.shape[:-1], values, values)
        number = table.sum(axis=(-2, -1))
        observed = (table * cost).sum(axis=(-2, -1)) * number
        expected = (table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :] * cost).sum(axis=(-2, -1))
        return np.asarray(1 - _quotient(observed, expected))

    return statistic


def _quotient(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient; nan where the denominator is 0 up to rounding."""
    top, bottom = np.broadcast_arrays(numerator, denominator)
    quotient: Floats = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=np.abs(bottom) > 1e-9)
    return quotient


# ---------------------------------------------------------------- the interval


def agreement_estimate(
    sums: npt.ArrayLike, statistic: Statistic, seed: int, noun: str = "item", resamples: int = RESAMPLES
) -> Estimate:
    """The coefficient ``statistic`` of all K units, from what each adds (``sums`` [K, D]), with its 95 % interval.

    Units that add nothing take no part. No interval below five units, where all are alike, or where most resamples have no
    value (almost all ratings the same). Seeded.
    """
    parts = np.asarray(sums, dtype=np.float64)
    parts = parts[parts.any(axis=1)]
    units = len(parts)
    if not units:
        return Estimate(math.nan, math.nan, math.nan, 0, METHOD, f"no {noun} has two ratings")
    value = float(statistic(parts.sum(axis=0)))
    notes = units_note(units, noun)
    if units < LEAST_UNITS or math.isnan(value):
        return Estimate(value, math.nan, math.nan, units, METHOD, joined(notes, "" if value == value else "nothing varies"))
    centre, error = (float(part[0]) for part in _jackknife(np.ones((1, units)), parts, statistic))
    if not error > 1e-9:
        why = f"no interval: all {noun}s are alike" if error <= 1e-9 else f"no interval: without one {noun} nothing varies"
        return Estimate(value, math.nan, math.nan, units, METHOD, joined(why, notes))
    generator = np.random.default_rng(seed)
    step = max(1, _CELLS // (units * parts.shape[1]))
    drawn = []
    for start in range(0, resamples, step):
        weights = generator.multinomial(units, np.full(units, 1 / units), size=min(step, resamples - start))
        centres, errors = _jackknife(weights.astype(np.float64), parts, statistic)
        drawn.append((centres - value) / np.maximum(errors, _LEAST_ERROR * error))
    ratios = np.concatenate(drawn)
    ratios = ratios[~np.isnan(ratios)]
    if len(ratios) < _LEAST_RESAMPLES * resamples:
        return Estimate(value, math.nan, math.nan, units, METHOD, joined("no interval: almost nothing varies", notes))
    lowest, highest = np.quantile(ratios, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2])
    student = float(t_quantile(units))
    low, high = centre - max(float(highest), student) * error, centre + max(-float(lowest), student) * error
    # a coefficient has no limit below, but 1 is full agreement; the value never stands outside its own interval
    return Estimate(value, min(low, value), max(min(high, 1.0), value), units, METHOD, notes)


def _jackknife(weights: Floats, parts: Floats, statistic: Statistic) -> tuple[Floats, Floats]:
    """Per resample (``weights`` [B, K]: how often it has each unit) the value corrected for bias, and its standard error."""
    units = weights.shape[1]
    totals = weights @ parts
    left_out = statistic(totals[:, None, :] - parts[None, :, :])
    # units that a resample lacks cannot be left out of it
    left_out = np.where(weights > 0, left_out, 0.0)
    mean = (weights * left_out).sum(axis=1) / units
    error = np.sqrt((units - 1) / units * (weights * (left_out - mean[:, None]) ** 2).sum(axis=1))
    return np.asarray(units * statistic(totals) - (units - 1) * mean), np.asarray(error)
