"""The mean score of a rewriter that is sampled: how far it is from that of other units, of other samples, and of both.

Y_gs is the sum of the scores of sample s over the turns of unit g, n_g the number of its turns, N their sum. Units and samples
are crossed and both drawn at random, so a mean over all of them has the variance (MS_units + MS_samples − MS_rest) / (K n) of a
two-way analysis, with Satterthwaite's degrees of freedom (Burdick & Graybill 1992).
Units differ in length, so every mean square is that of a ratio Σ_g Y_gs / N: the cluster-robust variance of the means over
samples, the variance of the samples' means, and the cluster-robust variance of what is left of a sample. Whether whole samples
differ is never tested first: with few samples such a test overlooks most of what there is.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robustcs.statistics.estimate import LEAST_UNITS, Estimate, alike_note, joined, units_note
from robustcs.statistics.means import cluster_ratio, mean_estimates, mean_interval, t_quantile
from robustcs.statistics.units import Units

Floats = npt.NDArray[np.float64]

#: The two-sided quantile of the normal distribution at 95 %.
NORMAL = 1.959963984540054

MEAN_METHOD = "two-way random effects of units and samples, Satterthwaite's t"
ERROR_METHOD = "variance between samples, chi-squared; at least that within units, cluster-robust t (CR2) on the logarithm"


def sampled_mean(scores: npt.ArrayLike, units: Units, bounds: tuple[float, float] | None = None) -> Estimate:
    """The mean of ``scores``, float[turns, n] of n samples, with its interval for other units and other samples.

    ``bounds`` are the ends of the scale, as of :func:`~robustcs.statistics.means.mean_estimates`. No interval below five units
    or two samples, or where all are alike.
    """
    sums = units.sums(np.asarray(scores, dtype=np.float64).T)
    n, count = sums.shape
    ((value,), (of_units,), _) = cluster_ratio(sums.mean(axis=0), units.sizes)
    between, within = _variances(sums, units.sizes)
    variance = of_units + max(between - within, 0.0) / n
    if count < LEAST_UNITS or n < 2 or not variance > 0:
        notes = joined(units_note(count, units.kind), alike_note(count, units.kind) if count >= LEAST_UNITS else "")
        return Estimate(float(value), math.nan, math.nan, count, MEAN_METHOD, notes)
    spent = of_units**2 / (count - 1) + (between / n) ** 2 / (n - 1) + (within / n) ** 2 / ((count - 1) * (n - 1))
    half = float(t_quantile(1 + variance**2 / spent)) * math.sqrt(variance)
    low, high = mean_interval(float(value), half, bounds)
    return Estimate(float(value), low, high, count, MEAN_METHOD, units_note(count, units.kind))


def sampling_error(scores: npt.ArrayLike, units: Units) -> tuple[float, Estimate]:
    """How far the mean of one sample over these turns is from that of all that could be drawn: ±, and its standard deviation.

    scores
        float[turns, n], n samples of every turn.

    The turns are taken as they are: the interval for other turns stands beside it. The standard deviation is that of the
    samples' means, with the interval of chi-squared on n − 1 degrees of freedom, but no less than what drawing anew in every
    unit leaves, with a cluster-robust t interval on the logarithm. ± is half the 95 % interval, by Student's t on the same
    degrees of freedom. nan where all samples score alike, or for fewer than two turns, which do not tell one from the other.
    """
    table = np.asarray(scores, dtype=np.float64)
    turns, n = table.shape
    nothing = Estimate(math.nan, math.nan, math.nan, n, ERROR_METHOD)
    if turns < 2:
        return math.nan, replace(nothing, note="it takes two turns to tell a draw from a whole sample")
    sums = units.sums(table.T)
    between, within = _variances(sums, units.sizes)
    if not max(between, within) > 0:
        return math.nan, replace(nothing, note=f"no interval: all {n} samples score the same in every {units.kind}")
    from scipy.special import chdtri

    chances = (0.025, 0.975)
    low, high = (between * (n - 1) / float(chdtri(n - 1, chance)) for chance in chances)
    rest = sums - sums.mean(axis=0)
    rest -= rest.sum(axis=1, keepdims=True) / turns * units.sizes
    (found,) = mean_estimates((rest**2).sum(axis=0), np.ones(units.count), units.kind)
    if (width := (found.high - found.low) / 2) > 0:
        reach = math.exp(width / found.value)
        low, high = max(low, within / reach), max(high, within * reach)
    half = max(
        float(t_quantile(freedom + 1)) * math.sqrt(part)
        for part, freedom in ((between, n - 1), (within, (n - 1) * (units.count - 1)))
    )
    value, low, high = (math.sqrt(part) for part in (max(between, within), low, high))
    return half, Estimate(value, low, high, n, ERROR_METHOD)


def _variances(sums: Floats, sizes: Floats) -> tuple[float, float]:
    """Of one sample's mean, from ``sums`` [n, K]: its variance over samples, and that of drawing anew in every unit alone."""
    sums = sums - sums[0]  # samples that are alike then differ by exactly 0
    means = sums.sum(axis=1) / sizes.sum()
    left = cluster_ratio(sums - sums.mean(axis=0), sizes).variance
    return float(means.var(ddof=1)), float(left.sum()) / (len(sums) - 1)


def draws_needed(spread: float, within: float) -> float:
    """The least number of samples whose average moves by no more than ``within`` (95 %); ``spread``: that of one sample's mean.

    nan where that is not known.
    """
    return math.nan if math.isnan(spread) else float(max(1, math.ceil((NORMAL * spread / within) ** 2 - 1e-9)))
