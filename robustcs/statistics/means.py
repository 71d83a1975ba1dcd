"""Means and shares over turns, with intervals that treat units, not turns, as independent.

Units have different lengths. Inputs are sums over units
(:class:`~robustcs.statistics.units.Units`): y_g, the sum of the values of the turns of unit g, and
n_g, the number of these turns. The estimate is the mean over turns, θ = Σy / Σn. Its variance is
cluster-robust with the correction CR2 of Bell & McCaffrey (2002), which for a mean is Σ e_g² / (1 −
n_g/N) / N² with e_g = y_g − θ n_g and N = Σn.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.lazy import special
from robustcs.statistics import Codes, Floats
from robustcs.statistics.estimate import (
    LEAST_UNITS,
    Estimate,
    alike_note,
    carried_note,
    carried_share,
    joined,
    units_note,
)
from robustcs.statistics.student import t_quantile
from robustcs.statistics.units import Units

MEAN_METHOD = "cluster-robust t (CR2)"
BOUNDED_METHOD = "cluster-robust t (CR2) on the logit"
SHARE_METHOD = "Wilson with the effective sample size of the units"
#: Deviations below this share of a sum are only rounding.
_ROUNDING = 1e-12


class Ratio(NamedTuple):
    """Σy / Σn of M estimates, its variance, and the number of units with turns.

    float64[M], float64[M], int64[M].
    """

    value: Floats
    variance: Floats
    units: Codes


def cluster_ratio(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> Ratio:
    """Return θ and its CR2 variance from ``sums`` [M, K] and ``sizes`` [K] or [M, K].

    nan without turns or for a single unit. Units without turns are ignored. If every unit has one
    turn, the variance is s²/K.
    """
    table, counts = _by_estimate(sums, sizes)
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = table.sum(axis=1, keepdims=True) / total
        residuals = table - value * counts
        # exact zeros may be computed as 1e-17
        rounding = _ROUNDING * np.abs(table).sum(axis=1, keepdims=True)
        residuals[np.abs(residuals) <= rounding] = 0.0
        variance = (residuals**2 / (1 - counts / total)).sum(axis=1) / total[:, 0] ** 2
    units = (counts > 0).sum(axis=1)
    return Ratio(value[:, 0], np.where(units > 1, variance, np.nan), units)


def _by_estimate(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return sums and sizes, float64[M, K] each."""
    table, counts = np.broadcast_arrays(
        np.asarray(np.atleast_2d(sums), dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    )
    return table, counts


def mean_estimates(
    sums: npt.ArrayLike,
    sizes: npt.ArrayLike,
    noun: str = "conversation",
    bounds: tuple[float, float] | None = None,
) -> tuple[Estimate, ...]:
    """Return M means from ``sums`` [M, K] and ``sizes`` [K] or [M, K], with their intervals.

    The intervals are cluster-robust t intervals with K − 1 degrees of freedom. With ``bounds``, the
    ends of the measure's scale, the interval is computed on the logit of the position between them.
    It stays inside, is about as wide, and covers skewed measures such as MAP better
    (docs/statistics.md). No interval below five units or if all units are alike.
    """
    ratio = cluster_ratio(sums, sizes)
    half_widths = t_quantile(ratio.units) * np.sqrt(ratio.variance)
    table, counts = _by_estimate(sums, sizes)
    method = MEAN_METHOD if bounds is None else BOUNDED_METHOD
    estimates = []
    for row, (mean, half, units) in enumerate(
        zip(ratio.value.tolist(), half_widths.tolist(), ratio.units.tolist(), strict=True)
    ):
        if units < LEAST_UNITS or not half > 0:
            note = units_note(units, noun)
            if units >= LEAST_UNITS:
                note = joined(note, alike_note(units, noun))
            estimates.append(Estimate(mean, math.nan, math.nan, units, method, note))
            continue
        low, high = mean_interval(mean, half, bounds)
        carried = carried_share(table[row] - mean * counts[row])
        note = joined(units_note(units, noun), carried_note(carried, units, noun))
        estimates.append(Estimate(mean, low, high, units, method, note))
    return tuple(estimates)


def is_binary(values: npt.ArrayLike) -> bool:
    """Return whether all values are 0 or 1, so that their mean is a share; nan is no value."""
    table = np.asarray(values, dtype=np.float64)
    return bool(np.isin(table[~np.isnan(table)], (0.0, 1.0)).all())


def score_estimates(values: npt.ArrayLike, units: Units, bounded: bool) -> tuple[Estimate, ...]:
    """Return the means of ``values`` [M, T], with limits inside the range of the scores.

    ``values``: nan for a turn without a score.

    bounded
        Whether the measure lies between 0 and 1 by definition; then the interval is computed on the
        logit.

    The range of other scores shows only in the scores: if all are 0 or 1, their means are shares
    (:func:`share_estimates`). If all lie between 0 and 1, limits beyond a score that occurs, 0 or
    1, are cut there. This changes no coverage, because no such mean lies beyond it.
    """
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    known = table[~np.isnan(table)]
    by_unit, sizes = units.sums(np.nan_to_num(table)), units.sums(~np.isnan(table))
    if bounded:
        return mean_estimates(by_unit, sizes, units.kind, (0.0, 1.0))
    if is_binary(known):
        return share_estimates(by_unit, sizes, units.kind)
    estimates = mean_estimates(by_unit, sizes, units.kind)
    smallest, largest = known.min(), known.max()
    if smallest < 0 or largest > 1:
        return estimates
    lower_end = 0.0 if smallest == 0 else -math.inf
    upper_end = 1.0 if largest == 1 else math.inf
    cut = []
    for estimate in estimates:
        # np.clip keeps nan
        low, high = np.clip([estimate.low, estimate.high], lower_end, upper_end).tolist()
        cut.append(replace(estimate, low=low, high=high))
    return tuple(cut)


def mean_interval(
    mean: float, half: float, bounds: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the limits ``mean`` ± ``half``.

    With ``bounds``, they are computed by the delta method on the logit and transformed back.
    Raises :class:`ValueError` if ``mean`` is not between the bounds.
    """
    if bounds is None:
        return mean - half, mean + half
    lowest, highest = bounds
    scale = highest - lowest
    share = (mean - lowest) / scale
    if not 0 < share < 1:
        raise ValueError(f"a mean of {mean} that varies is not between {lowest} and {highest}")
    logit = math.log(share / (1 - share))
    half_of_logit = half / scale / (share * (1 - share))
    # the logistic function as tanh avoids overflow
    low = (1 + math.tanh((logit - half_of_logit) / 2)) / 2
    high = (1 + math.tanh((logit + half_of_logit) / 2)) / 2
    return lowest + low * scale, lowest + high * scale


def cluster_t_test(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> Floats:
    """Return float64[M]: two-sided p of "the mean is 0" by the cluster-robust t test.

    It is shown for comparison with the sign-flip test. 1 if all units are 0, nan below two units.
    With one turn per unit, it is Student's paired t test.
    """
    value, variance, units = cluster_ratio(sums, sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * special.stdtr(np.maximum(units - 1, 1), -np.abs(value) / np.sqrt(variance))
    p = np.where(value == 0, 1.0, p)
    return np.where(units > 1, p, np.nan)


def share_estimates(
    hits: npt.ArrayLike, sizes: npt.ArrayLike, noun: str = "conversation"
) -> tuple[Estimate, ...]:
    """Return M shares Σ hits / Σ sizes with Wilson intervals for units.

    ``hits`` [M, K] are those of ``sizes`` [K] or [M, K] turns. The number of trials is
    n_eff = p̃(1 − p̃)/v, the number of independent turns that would have the CR2 variance v of the
    share, with the share p̃ kept half a turn away from 0 and 1; it is K if v is 0. The quantile is
    that of t with K − 1 degrees of freedom. After Korn & Graubard (1998) and Dean & Pagano (2015).
    No interval below five units.
    """
    value, variance, units = cluster_ratio(hits, sizes)
    _, counts = _by_estimate(hits, sizes)
    total = counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        half_a_turn = 0.5 / total
        inside = np.clip(value, half_a_turn, 1 - half_a_turn)
        trials = np.where(variance > 0, inside * (1 - inside) / variance, units)
        squared = t_quantile(units) ** 2
        shrinkage = 1 + squared / trials
        centre = (value + squared / (2 * trials)) / shrinkage
        score_variance = value * (1 - value) / trials + squared / (4 * trials**2)
        half_width = np.sqrt(squared * score_variance) / shrinkage
    # the interval reaches 0 or 1 exactly if no turn or every turn is a hit
    low = np.where(value <= 0, 0.0, np.maximum(centre - half_width, 0.0))
    high = np.where(value >= 1, 1.0, np.minimum(centre + half_width, 1.0))
    low, high = np.where(units >= LEAST_UNITS, (low, high), np.nan)
    estimates = []
    for share, lower, upper, count in zip(
        value.tolist(), low.tolist(), high.tolist(), units.tolist(), strict=True
    ):
        note = units_note(count, noun)
        estimates.append(Estimate(share, lower, upper, count, SHARE_METHOD, note))
    return tuple(estimates)


MEDIAN_METHOD = "Woodruff: interval of the share below the median, converted to values"


def median_estimate(values: npt.ArrayLike, units: Units) -> Estimate:
    """Return the median of ``values``, float[T], one for each item of ``units``, with its 95% CI.

    The interval is for similar units: the share of items up to the median has an interval by units
    (:func:`share_estimates`), and the values at these shares are the limits (Woodruff 1952). No
    interval below five units; nan without values.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers):
        return Estimate(math.nan, math.nan, math.nan, 0, MEDIAN_METHOD)
    median = float(np.median(numbers))
    (share,) = share_estimates(units.sums(numbers <= median), units.sizes, units.kind)
    if math.isnan(share.low):
        return Estimate(median, math.nan, math.nan, share.units, MEDIAN_METHOD, share.note)
    # ties move the share at the median above one half; the interval is shifted back
    low = float(np.quantile(numbers, max(0.0, 0.5 + share.low - share.value)))
    high = float(np.quantile(numbers, max(0.0, 0.5 + share.high - share.value)))
    return Estimate(
        median, min(low, median), max(high, median), share.units, MEDIAN_METHOD, share.note
    )
