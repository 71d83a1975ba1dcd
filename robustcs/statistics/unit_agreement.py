"""Intervals of chance-corrected agreement, and of other functions of sums: a nested bootstrap-t over units.

Every coefficient here is a smooth function of sums, so a unit is the vector of what it adds to them: float64[K, D]. In a
resample the units are drawn with return; its value and standard error come from the jackknife within it. With θ the value of
all units, c = Kθ − (K − 1)θ̄₍·₎ the jackknife's correction of its bias and se its standard error, the quantiles of t* = (c* −
θ)/se* take the place of Student's, never narrower than those. Efron & Tibshirani (1993), section 12.5. From 200 units on
Student's are taken, for the two hardly differ there.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from robustcs.statistics.agreement import Floats, Statistic
from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, Estimate, joined, units_note
from robustcs.statistics.means import t_quantile

METHOD = "nested bootstrap-t over units"
RESAMPLES = 1000
#: Units from which nothing is resampled.
MANY_UNITS = 200
#: A resample's standard error counts as at least this share of the sample's.
_LEAST_ERROR = 0.2
#: Resamples that have a value, below which there is no interval.
_LEAST_RESAMPLES = 0.5
#: Sums held at a time.
_CELLS = 2_000_000


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
    student = float(t_quantile(units))
    lowest, highest = -student, student
    if units < MANY_UNITS:
        ratios = _resampled(parts, statistic, value, error, seed, resamples)
        if len(ratios) < _LEAST_RESAMPLES * resamples:
            return Estimate(value, math.nan, math.nan, units, METHOD, joined("no interval: almost nothing varies", notes))
        lowest, highest = np.quantile(ratios, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2]).tolist()
    low, high = centre - max(highest, student) * error, centre + max(-lowest, student) * error
    # a coefficient has no limit below, but 1 is full agreement; the value never stands outside its own interval
    return Estimate(value, min(low, value), max(min(high, 1.0), value), units, METHOD, notes)


def _resampled(parts: Floats, statistic: Statistic, value: float, error: float, seed: int, resamples: int) -> Floats:
    """float64[≤ resamples]: (c* − θ)/se* of every resample that has a value."""
    units = len(parts)
    generator = np.random.default_rng(seed)
    step = max(1, _CELLS // (units * parts.shape[1]))
    drawn = []
    for start in range(0, resamples, step):
        weights = generator.multinomial(units, np.full(units, 1 / units), size=min(step, resamples - start))
        centres, errors = _jackknife(weights.astype(np.float64), parts, statistic)
        drawn.append((centres - value) / np.maximum(errors, _LEAST_ERROR * error))
    ratios = np.concatenate(drawn)
    return np.asarray(ratios[~np.isnan(ratios)])


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
