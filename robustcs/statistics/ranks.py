"""Similarity of two rankings of the same systems: Kendall's tau, AP correlation and rank-biased overlap, all with ties.

Rankings are given by scores (higher is better) with systems on the last axis; all leading axes are processed together. Scores
equal to :data:`DECIMALS` decimals are tied, because sums of floats differ in their last bits.

Would other units rank the systems alike? For this, the rank correlation of two rankings has a lower limit only. No two-sided
interval has the nominal coverage: sampling noise lowers the correlation of two noisy rankings, and lowers it again in every
resample. So the value is reported for these units, with a one-sided limit "at least L" from resampled units.

How much of the lead of the best system is luck? It is chosen on one half of the units and measured on the other half.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Codes, Floats, Mask, quotient
from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, Estimate, joined, units_note
from robustcs.statistics.means import t_quantile
from robustcs.statistics.units import Units, resampled

DECIMALS = 9
#: Persistence of rank-biased overlap: the first ten ranks have 86% of the weight (Webber et al. 2010).
PERSISTENCE = 0.9


def _above(scores: npt.ArrayLike) -> Mask:
    """Return bool[..., n, n]: whether system j ranks strictly above system i."""
    rounded = np.round(np.asarray(scores, dtype=np.float64), DECIMALS)
    return np.asarray(rounded[..., None, :] > rounded[..., :, None])


def ranks(scores: npt.ArrayLike) -> Codes:
    """Return the rank of every system from 1; tied systems share the best of their ranks (1, 2, 2, 4)."""
    return np.asarray(1 + _above(scores).sum(axis=-1))


def kendall(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """Return Kendall's tau-b in [-1, 1]; nan if all systems of a ranking are tied or there is only one.

    Equal to ``scipy.stats.kendalltau``, but for thousands of resampled rankings at once.
    """
    one, two = _above(first), _above(second)
    concordant = (one & two).sum(axis=(-2, -1))
    discordant = (one & two.swapaxes(-2, -1)).sum(axis=(-2, -1))
    pairs = np.sqrt(one.sum(axis=(-2, -1)) * two.sum(axis=(-2, -1)).astype(np.float64))
    return quotient(concordant - discordant, pairs, np.nan)


def tau_ap(reference: npt.ArrayLike, estimate: npt.ArrayLike) -> Floats:
    """Return the AP correlation in [-1, 1] (Yilmaz, Aslam & Robertson 2008): like tau, but errors near the top cost more.

    It is the mean, over systems of the estimate except its best and then over those above it, of whether the reference orders
    the two in the same way, rescaled to [-1, 1]. Systems tied in the estimate are not compared with each other, and a pair tied
    only in the reference counts as wrong (one half of tau_AP,b, Urbano & Marrero 2017). nan if the estimate ties all systems.
    """
    right, above = _above(reference), _above(estimate)
    better = above.sum(axis=-1)
    share = quotient((right & above).sum(axis=-1), better)
    return 2 * quotient(share.sum(axis=-1), (better > 0).sum(axis=-1), np.nan) - 1


def rbo(first: npt.ArrayLike, second: npt.ArrayLike, persistence: float = PERSISTENCE) -> Floats:
    """Return extrapolated rank-biased overlap in [0, 1] (Webber, Moffat & Zobel 2010, equation 32) of complete rankings.

    Tied systems share the best of their ranks. Agreement at a depth is twice the overlap divided by the number of systems that
    the two rankings have there (their section 4.5). Beyond the last rank it is 1, because both rank the same systems.
    """
    one, two = ranks(first), ranks(second)
    systems = one.shape[-1]
    depth = np.arange(1, systems + 1)
    common = (np.maximum(one, two)[..., None] <= depth).sum(axis=-2)
    seen = (one[..., None] <= depth).sum(axis=-2) + (two[..., None] <= depth).sum(axis=-2)
    weights = (1 - persistence) * persistence ** (depth - 1)
    return np.asarray(2 * common / seen @ weights + persistence**systems)


#: Name in results → function of (reference or first, estimate or second).
METHODS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], Floats]] = {
    "kendall": kendall,
    "tau_ap": tau_ap,
    "rbo": rbo,
}


STABILITY_METHOD = "percentile bootstrap over units, one-sided"
#: Numbers of matrices of system pairs in memory at the same time.
_PAIRS = 4_000_000

#: Number of bootstrap resamples.
RESAMPLES = 2000


def rank_stability(
    reference: npt.ArrayLike,
    estimate: npt.ArrayLike,
    sizes: npt.ArrayLike,
    seed: int,
    method: str = "kendall",
    other_sizes: npt.ArrayLike | None = None,
    noun: str = "conversation",
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return the rank correlation ``method`` of the systems' means, from sums over units ``reference`` and ``estimate`` [S, K].

    ``sizes`` [K]: turns of the units. Both rankings use the same resampled units; with ``other_sizes``, the second has its own
    units, which are resampled separately. ``low`` is the one-sided 95% limit (the 5th percentile of the resamples), and
    ``high`` is always nan. No limit below five units.
    """
    first, second = np.asarray(reference, dtype=np.float64), np.asarray(estimate, dtype=np.float64)
    lengths = np.asarray(sizes, dtype=np.float64)
    others = lengths if other_sizes is None else np.asarray(other_sizes, dtype=np.float64)
    compute = METHODS[method]
    value = float(compute(first.sum(axis=1) / lengths.sum(), second.sum(axis=1) / others.sum()))
    units = min(len(lengths), len(others))
    notes = units_note(units, noun)
    words = joined(
        "lower limit for rankings on the same number of other units; no upper limit", notes
    )
    if units < LEAST_UNITS or np.isnan(value):
        return Estimate(value, np.nan, np.nan, units, STABILITY_METHOD, notes)
    generator = np.random.default_rng(seed)
    drawn = []
    step = max(1, _PAIRS // len(first) ** 2)
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        weights = resampled(generator, len(lengths), count)
        apart = weights if other_sizes is None else resampled(generator, len(others), count)
        drawn.append(compute(_means(first, lengths, weights), _means(second, others, apart)))
    values = np.concatenate(drawn)
    values = values[~np.isnan(values)]
    low = float(np.quantile(values, 1 - CONFIDENCE)) if len(values) else np.nan
    return Estimate(value, min(low, value), np.nan, units, STABILITY_METHOD, words)


def _means(sums: Floats, sizes: Floats, weights: Floats) -> Floats:
    """Return float64[R, S]: the means of the systems over turns in every resample."""
    return np.asarray(weights @ sums.T / (weights @ sizes)[:, None])


# ---------------------------------------------------------------- the best system on one half of the units

#: Random halves.
SPLITS = 1_000
#: Largest number of groups of the jackknife, and smallest number of splits in each.
_GROUPS, _LEAST_SPLITS = 50, 200
HALVES_METHOD = "jackknife over units, Student's t"


@dataclass(frozen=True)
class Halves:
    """The best of M systems on random halves of the units, and the same system on the other half.

    chosen, second
        int64[S]: the systems with the highest and second highest mean on the half of each split.
    half, half_lead
        Means over splits, on the half that chose the systems: the mean of the best, and its lead over the second best.
    other, other_lead
        The same on the other half, with intervals for other units.
    """

    chosen: Codes
    second: Codes
    half: float
    half_lead: float
    other: Estimate
    other_lead: Estimate


def halves_of(table: Floats, units: Units, seed: int, splits: int = SPLITS) -> Halves:
    """Choose the best of M ≥ 2 systems on random halves of at least two units; ``table``: scores, float[M, turns].

    The interval is a jackknife over units (over 50 groups of units, if there are more) with Student's t. Only half of the units
    choose, so half of them count for its degrees of freedom; docs/components.md shows the coverage.
    """
    by_unit, sizes = units.sums(table), units.sizes
    generator = np.random.default_rng(seed)
    order, half, other = _split(by_unit, sizes, generator, splits)
    value = other.mean(axis=0)
    limits = np.full((2, 2), math.nan)
    if units.count >= LEAST_UNITS:
        count = min(units.count, _GROUPS)
        groups = np.arange(units.count) % count
        fewer = max(_LEAST_SPLITS, splits // 4)
        rest = (groups != group for group in range(count))
        left = np.array(
            [_split(by_unit[:, own], sizes[own], generator, fewer)[2].mean(axis=0) for own in rest]
        )
        error = np.sqrt((count - 1) / count * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
        reach = t_quantile(max(2, count // 2)) * error
        limits = np.array([value - reach, value + reach])
    found = [
        Estimate(
            float(value[place]),
            float(limits[0, place]),
            float(limits[1, place]),
            units.count,
            HALVES_METHOD,
        )
        for place in (0, 1)
    ]
    return Halves(
        order[:, 0], order[:, 1], float(half[:, 0].mean()), float(half[:, 1].mean()), *found
    )


def _split(
    by_unit: Floats, sizes: Floats, generator: np.random.Generator, splits: int
) -> tuple[Codes, Floats, Floats]:
    """Return the two best systems of S random halves, int[S, 2], and mean and lead on both halves, float[S, 2] each."""
    inside = generator.permuted(
        np.tile(np.arange(len(sizes)) < len(sizes) // 2, (splits, 1)), axis=1
    )
    means = [(part @ by_unit.T) / (part @ sizes)[:, None] for part in (inside, ~inside)]
    order = np.argsort(-means[0], axis=1, kind="stable")[:, :2]
    best = [np.take_along_axis(part, order, axis=1) for part in means]
    half, other = (np.column_stack([part[:, 0], part[:, 0] - part[:, 1]]) for part in best)
    return order, half, other
