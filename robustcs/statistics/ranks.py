"""Similarity of two rankings of the same systems, with ties.

The measures are Kendall's tau, the AP correlation and rank-biased overlap.

Rankings are given by scores (higher is better) with systems on the last axis; all leading axes are
processed together. Scores equal to :data:`DECIMALS` decimals are tied, because sums of floats
differ in their last bits.

Would other units rank the systems alike? For this, the rank correlation of two rankings has a lower
limit only. No two-sided interval has the nominal coverage: sampling noise lowers the correlation of
two noisy rankings, and lowers it again in every resample. So the value is reported for these units,
with a one-sided limit "at least L" from resampled units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Codes, Floats, Mask, quotient
from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, Estimate, joined, units_note
from robustcs.statistics.units import resampled

DECIMALS = 9
#: Persistence of rank-biased overlap: the first ten ranks have 86% of the weight (Webber et al.
#: 2010).
PERSISTENCE = 0.9


def _above(scores: npt.ArrayLike) -> Mask:
    """Return bool[..., n, n]: whether system j ranks strictly above system i."""
    rounded = np.round(np.asarray(scores, dtype=np.float64), DECIMALS)
    return np.asarray(rounded[..., None, :] > rounded[..., :, None])


def ranks(scores: npt.ArrayLike) -> Codes:
    """Return the rank of every system from 1.

    Tied systems share the best of their ranks (1, 2, 2, 4).
    """
    return np.asarray(1 + _above(scores).sum(axis=-1))


def kendall(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """Return Kendall's tau-b in [-1, 1].

    nan if all systems of a ranking are tied or there is only one. Equal to
    ``scipy.stats.kendalltau``, but for thousands of resampled rankings at once.
    """
    above, also_above = _above(first), _above(second)
    concordant = _pairs(above & also_above)
    discordant = _pairs(above & also_above.swapaxes(-2, -1))
    untied = np.sqrt(_pairs(above) * _pairs(also_above).astype(np.float64))
    return quotient(concordant - discordant, untied, np.nan)


def _pairs(matrix: Mask) -> Codes:
    """Return int64[...]: the number of pairs of systems that are true in ``matrix`` [..., n, n]."""
    return np.asarray(matrix.sum(axis=(-2, -1)))


def tau_ap(reference: npt.ArrayLike, estimate: npt.ArrayLike) -> Floats:
    """Return the AP correlation in [-1, 1] (Yilmaz, Aslam & Robertson 2008).

    It is like tau, but errors near the top cost more. It is the mean, over systems of the estimate
    except its best and then over those above it, of whether the reference orders the two in the
    same way, rescaled to [-1, 1]. Systems tied in the estimate are not compared with each other,
    and a pair tied only in the reference counts as wrong (one half of tau_AP,b, Urbano & Marrero
    2017). nan if the estimate ties all systems.
    """
    above_in_reference, above = _above(reference), _above(estimate)
    better = above.sum(axis=-1)
    right = (above_in_reference & above).sum(axis=-1)
    share_right = quotient(right, better)
    mean = quotient(share_right.sum(axis=-1), (better > 0).sum(axis=-1), np.nan)
    return 2 * mean - 1


def system_rbo(
    first: npt.ArrayLike, second: npt.ArrayLike, persistence: float = PERSISTENCE
) -> Floats:
    """Return extrapolated rank-biased overlap in [0, 1] of complete rankings.

    Webber, Moffat & Zobel (2010), equation 32. Tied systems share the best of their ranks.
    Agreement at a depth is twice the overlap divided by the number of systems that the two rankings
    have there (their section 4.5). Beyond the last rank it is 1, because both rank the same
    systems.
    """
    first_ranks, second_ranks = ranks(first), ranks(second)
    systems = first_ranks.shape[-1]
    depths = np.arange(1, systems + 1)
    common = _down_to(np.maximum(first_ranks, second_ranks), depths)
    seen = _down_to(first_ranks, depths) + _down_to(second_ranks, depths)
    weights = (1 - persistence) * persistence ** (depths - 1)
    return np.asarray(2 * common / seen @ weights + persistence**systems)


def _down_to(system_ranks: Codes, depths: Codes) -> Codes:
    """Return int64[..., n]: the number of systems down to each depth."""
    return np.asarray((system_ranks[..., None] <= depths).sum(axis=-2))


#: Function of two rankings, given by scores: reference or first, estimate or second.
RankCorrelation = Callable[[npt.ArrayLike, npt.ArrayLike], Floats]
#: Name in results → the function.
RANK_CORRELATIONS: dict[str, RankCorrelation] = {
    "kendall": kendall,
    "tau_ap": tau_ap,
    "rbo": system_rbo,
}


STABILITY_METHOD = "percentile bootstrap over units, one-sided"
#: Numbers of matrices of system pairs in memory at the same time.
_PAIRS = 4_000_000

#: Number of bootstrap resamples.
RESAMPLES = 2000


class _SystemSums(NamedTuple):
    """Sums over units of S systems, float64[S, K], and the turns of the units, float64[K]."""

    sums: Floats
    sizes: Floats

    def means(self) -> Floats:
        """Return float64[S]: the means of the systems over all turns."""
        return np.asarray(self.sums.sum(axis=1) / self.sizes.sum())

    def resampled_means(self, weights: Floats) -> Floats:
        """Return float64[B, S]: the means over turns in every resample; ``weights`` [B, K]."""
        return np.asarray(weights @ self.sums.T / (weights @ self.sizes)[:, None])


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
    """Return the rank correlation of the means of S systems, with a one-sided 95% limit.

    ``reference`` and ``estimate`` [S, K]: sums over units. ``sizes`` [K]: turns of the units.
    ``method``: one of :data:`RANK_CORRELATIONS`. Both rankings use the same resampled units; with
    ``other_sizes``, the second has its own units, which are resampled separately. ``low`` is the
    5th percentile of the resamples, and ``high`` is always nan. No limit below five units.
    """
    same_units = other_sizes is None
    second_sizes = sizes if other_sizes is None else other_sizes
    first = _SystemSums(np.asarray(reference, np.float64), np.asarray(sizes, np.float64))
    second = _SystemSums(np.asarray(estimate, np.float64), np.asarray(second_sizes, np.float64))
    correlation = RANK_CORRELATIONS[method]
    value = float(correlation(first.means(), second.means()))
    units = min(len(first.sizes), len(second.sizes))
    note = units_note(units, noun)
    if units < LEAST_UNITS or np.isnan(value):
        return Estimate(value, np.nan, np.nan, units, STABILITY_METHOD, note)
    values = _resampled_correlations(first, second, same_units, correlation, seed, resamples)
    low = float(np.quantile(values, 1 - CONFIDENCE)) if len(values) else np.nan
    limit_note = "lower limit for rankings on the same number of other units; no upper limit"
    note = joined(limit_note, note)
    return Estimate(value, min(low, value), np.nan, units, STABILITY_METHOD, note)


def _resampled_correlations(
    first: _SystemSums,
    second: _SystemSums,
    same_units: bool,
    correlation: RankCorrelation,
    seed: int,
    resamples: int,
) -> Floats:
    """Return float64[≤ resamples]: the correlation in every resample in which it is defined."""
    generator = np.random.default_rng(seed)
    blocks = []
    systems = len(first.sums)
    step = max(1, _PAIRS // systems**2)
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        weights = resampled(generator, len(first.sizes), count)
        second_weights = weights
        if not same_units:
            second_weights = resampled(generator, len(second.sizes), count)
        means, second_means = first.resampled_means(weights), second.resampled_means(second_weights)
        blocks.append(correlation(means, second_means))
    values = np.concatenate(blocks)
    return np.asarray(values[~np.isnan(values)])
