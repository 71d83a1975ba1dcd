"""The mean score of a sampled rewriter, for other units, for other samples, and for both.

Y_gs is the sum of the scores of sample s over the turns of unit g, n_g the number of its turns, N
their sum. Units and samples are crossed and both random, so a mean over all of them has the
variance (MS_units + MS_samples − MS_rest) / (K n) of a two-way analysis, with Satterthwaite's
degrees of freedom (Burdick & Graybill 1992). Units differ in length, so every mean square is that
of a ratio Σ_g Y_gs / N: the cluster-robust variance of the means over samples, the variance of the
samples' means, and the cluster-robust variance of the residual of a sample. There is no preliminary
test of whether samples differ: with few samples, such a test misses most differences.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.lazy import special
from robustcs.statistics import Floats
from robustcs.statistics.estimate import LEAST_UNITS, Estimate, alike_note, joined, units_note
from robustcs.statistics.means import cluster_ratio, mean_estimates, mean_interval
from robustcs.statistics.student import t_quantile
from robustcs.statistics.units import Units

#: Two-sided 95% quantile of the normal distribution.
NORMAL = 1.959963984540054
#: Probabilities of the χ² quantiles of the limits.
_CHI_TAILS = (0.025, 0.975)
RANDOM_EFFECTS_METHOD = "two-way random effects of units and samples, Satterthwaite's t"
ERROR_METHOD = (
    "variance between samples, chi-squared; at least that within units, cluster-robust t (CR2) on"
    " the logarithm"
)


class _Variances(NamedTuple):
    """Variances of one sample's mean: over samples, and from drawing within units."""

    between: float
    within: float


def sampled_mean(
    scores: npt.ArrayLike, units: Units, bounds: tuple[float, float] | None = None
) -> Estimate:
    """Return the mean of ``scores`` with its interval for other units and other samples.

    ``scores``: float[turns, n] of n ≥ 2 samples. ``bounds``: the ends of the scale, as for
    :func:`~robustcs.statistics.means.mean_estimates`. No interval below five units or if all units
    are alike.
    """
    sums = units.sums(np.asarray(scores, dtype=np.float64).T)
    n, count = sums.shape
    ratio = cluster_ratio(sums.mean(axis=0), units.sizes)
    mean, of_units = float(ratio.value[0]), ratio.variance[0]
    between, within = _of_one_sample(sums, units.sizes)
    variance = of_units + max(between - within, 0.0) / n
    notes = units_note(count, units.kind)
    if count < LEAST_UNITS:
        return Estimate(mean, math.nan, math.nan, count, RANDOM_EFFECTS_METHOD, notes)
    if not variance > 0:
        notes = joined(notes, alike_note(count, units.kind))
        return Estimate(mean, math.nan, math.nan, count, RANDOM_EFFECTS_METHOD, notes)
    # Satterthwaite: variance² / freedom is the sum over the mean squares
    squared_by_freedom = (
        of_units**2 / (count - 1)
        + (between / n) ** 2 / (n - 1)
        + (within / n) ** 2 / ((count - 1) * (n - 1))
    )
    freedom = variance**2 / squared_by_freedom
    half = float(t_quantile(1 + freedom)) * math.sqrt(variance)
    low, high = mean_interval(mean, half, bounds)
    return Estimate(mean, low, high, count, RANDOM_EFFECTS_METHOD, notes)


def sampling_error(scores: npt.ArrayLike, units: Units) -> tuple[float, Estimate]:
    """Return the error of one sample's mean over these turns relative to all possible samples.

    The first value is ±, half the 95% CI; the second is the standard deviation.

    scores
        float[turns, n], n ≥ 2 samples of every turn.

    The turns are fixed; the interval for other turns is separate. The standard deviation is that of
    the samples' means, with the χ² interval on n − 1 degrees of freedom, but at least the standard
    deviation from drawing within units, with a cluster-robust t interval on the logarithm. ± is by
    Student's t with the same degrees of freedom. nan if all samples have equal scores, or below two
    turns, which cannot separate turns from samples.
    """
    table = np.asarray(scores, dtype=np.float64)
    turns, n = table.shape
    unknown = Estimate(math.nan, math.nan, math.nan, n, ERROR_METHOD)
    if turns < 2:
        return math.nan, replace(unknown, note="at least two turns are required")
    sums = units.sums(table.T)
    between, within = _of_one_sample(sums, units.sizes)
    if not max(between, within) > 0:
        why = f"no interval: all {n} samples have equal scores in every {units.kind}"
        return math.nan, replace(unknown, note=why)
    low, high = (
        between * (n - 1) / float(special.chdtri(n - 1, probability)) for probability in _CHI_TAILS
    )
    relative_half = _relative_half_width(sums, turns, units)
    if relative_half is not None:
        factor = math.exp(relative_half)
        low, high = max(low, within / factor), max(high, within * factor)
    half = max(
        float(t_quantile(n)) * math.sqrt(between),
        float(t_quantile((n - 1) * (units.count - 1) + 1)) * math.sqrt(within),
    )
    deviation = math.sqrt(max(between, within))
    return half, Estimate(deviation, math.sqrt(low), math.sqrt(high), n, ERROR_METHOD)


def _relative_half_width(sums: Floats, turns: int, units: Units) -> float | None:
    """Return half of the 95% CI of the variance within units, as a share of it.

    None if it has no interval. ``sums`` [n, K].
    """
    residuals = sums - sums.mean(axis=0)
    residuals -= residuals.sum(axis=1, keepdims=True) / turns * units.sizes
    squares = (residuals**2).sum(axis=0)
    (mean_square,) = mean_estimates(squares, np.ones(units.count), units.kind)
    half = (mean_square.high - mean_square.low) / 2
    return half / mean_square.value if half > 0 else None


def _of_one_sample(sums: Floats, sizes: Floats) -> _Variances:
    """Return the variances of one sample's mean from ``sums`` [n, K] of n samples."""
    sums = sums - sums[0]  # equal samples then differ by exactly 0
    means = sums.sum(axis=1) / sizes.sum()
    residual_variances = cluster_ratio(sums - sums.mean(axis=0), sizes).variance
    within = float(residual_variances.sum()) / (len(sums) - 1)
    return _Variances(float(means.var(ddof=1)), within)


def draws_needed(spread: float, within: float) -> float:
    """Return the fewest samples whose average varies by at most ``within`` (95%).

    ``spread``: the standard deviation of one sample's mean; nan if it is unknown.
    """
    if math.isnan(spread):
        return math.nan
    return float(max(1, math.ceil((NORMAL * spread / within) ** 2 - 1e-9)))
