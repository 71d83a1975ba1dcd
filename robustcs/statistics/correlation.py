"""Correlation of two values per turn: Pearson, Spearman, Kendall and partial, with bootstrap intervals over turns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.statistics.intervals import CONFIDENCE, RESAMPLES

Array = npt.NDArray[np.float64]

#: Numbers in a matrix of signs that Kendall's tau works on at a time.
_BLOCK = 2_000_000


class Correlation(NamedTuple):
    """A correlation in [-1, 1] with its 95 % percentile interval over resampled turns and its two-sided p value.

    All are nan where a variable does not vary or there are fewer than three turns.
    """

    value: float
    low: float
    high: float
    p: float


_UNDEFINED = Correlation(math.nan, math.nan, math.nan, math.nan)


def correlate(x: npt.ArrayLike, y: npt.ArrayLike, method: str, seed: int, resamples: int = RESAMPLES) -> Correlation:
    """The correlation of x and y, float[n] each, by ``pearson``, ``spearman`` or ``kendall`` (tau-b).

    Value and p are scipy's: Student's t for Pearson (of a binary y the point-biserial correlation) and Spearman; Kendall's is
    exact for few turns without ties and normal else. The same turns are drawn for every method of equal x and y.
    """
    from scipy import stats

    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return _UNDEFINED
    function = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    value, p = function(x, y)
    # turns of equal x and y are interchangeable: they are drawn together
    points, counts = np.unique(np.column_stack([x, y]), axis=0, return_counts=True)
    low, high = _interval(METHODS[method](points[:, 0], points[:, 1], _draws(counts, seed, resamples)))
    return Correlation(float(value), low, high, float(p))


def partial_correlation(
    x: npt.ArrayLike, y: npt.ArrayLike, given: npt.ArrayLike, seed: int, resamples: int = RESAMPLES
) -> Correlation:
    """Pearson's correlation of what a linear model of ``given``, float[n, c], leaves of x and of y, float[n] each.

    p is Student's t with n - 2 - c degrees of freedom. Columns of ``given`` that do not vary take no part.
    """
    from scipy.special import stdtr

    x, y, given = (np.asarray(values, dtype=np.float64) for values in (x, y, given))
    given = given[:, np.ptp(given, axis=0) > 0] if len(given) else given
    freedom = len(x) - 2 - given.shape[1]
    if freedom < 1 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return _UNDEFINED
    table = np.column_stack([x, y, given])
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    value = float(_partial(table, np.ones((1, len(x))))[0])
    if math.isnan(value):
        return _UNDEFINED
    low, high = _interval(_partial(table, _draws(np.ones(len(x), dtype=np.int64), seed, resamples)))
    p = 0.0 if abs(value) == 1 else 2 * float(stdtr(freedom, -abs(value) * math.sqrt(freedom / (1 - value**2))))
    return Correlation(value, low, high, p)


def _draws(counts: npt.NDArray[np.int64], seed: int, resamples: int) -> Array:
    """float[resamples, m]: how often each of m points is drawn when as many turns are drawn as there are (with return)."""
    turns = np.repeat(np.arange(len(counts)), counts)
    drawn = turns[np.random.default_rng(seed).integers(0, len(turns), size=(resamples, len(turns)))]
    places = drawn + np.arange(resamples)[:, None] * len(counts)
    return np.bincount(places.ravel(), minlength=resamples * len(counts)).reshape(resamples, -1).astype(np.float64)


def _interval(drawn: Array) -> tuple[float, float]:
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return math.nan, math.nan
    low, high = np.quantile(drawn, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2])
    return float(low), float(high)


# ---------------------------------------------------------------- statistics of many resamples at once
# Each takes x and y, float[m], and weights, float[r, m]: how often each point stands in each of r resamples. The result is
# float[r], nan where a variable does not vary within the resample.


def pearson(x: Array, y: Array, weights: Array) -> Array:
    """Pearson's correlation in every resample."""
    total = weights.sum(axis=1)
    x, y = ((values - values.mean()) / values.std() for values in (x, y))
    mean_x, mean_y = weights @ x / total, weights @ y / total
    covariance = weights @ (x * y) / total - mean_x * mean_y
    return _quotient(covariance, weights @ x**2 / total - mean_x**2, weights @ y**2 / total - mean_y**2)


def spearman(x: Array, y: Array, weights: Array) -> Array:
    """Spearman's correlation in every resample: Pearson's of the mid-ranks that the points have within the resample."""
    ranks_x, ranks_y = (_mid_ranks(values, weights) for values in (x, y))
    total = weights.sum(axis=1, keepdims=True)
    ranks_x -= (total + 1) / 2
    ranks_y -= (total + 1) / 2
    pairs = ((ranks_x, ranks_y), (ranks_x, ranks_x), (ranks_y, ranks_y))
    return _quotient(*((weights * one * two).sum(axis=1) / total[:, 0] for one, two in pairs))


def kendall(x: Array, y: Array, weights: Array) -> Array:
    """Kendall's tau-b in every resample."""
    score = np.zeros(len(weights))
    light = weights.astype(np.float32)
    step = max(1, _BLOCK // len(x))
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        signs = np.sign(np.subtract.outer(x[rows], x)) * np.sign(np.subtract.outer(y[rows], y))
        score += np.einsum("rm,rm->r", weights[:, rows], light @ signs.astype(np.float32).T)
    total = weights.sum(axis=1)
    pairs = total * (total - 1)
    untied_x, untied_y = (1 - _tied_pairs(values, weights) / pairs for values in (x, y))
    return _quotient(score / pairs, untied_x, untied_y)


METHODS: dict[str, Callable[[Array, Array, Array], Array]] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def _partial(table: Array, weights: Array) -> Array:
    """The partial correlation of the first two columns of ``table``, float[n, 2 + c], given the others, in every resample."""
    total = weights.sum(axis=1)
    columns = table.shape[1]
    means = weights @ table / total[:, None]
    products = (table[:, :, None] * table[:, None, :]).reshape(len(table), -1)
    covariance = (weights @ products / total[:, None]).reshape(-1, columns, columns) - means[:, :, None] * means[:, None, :]
    # what the given columns explain is taken off; pinv leaves out those that add nothing in a resample
    rest = covariance[:, :2, :2] - covariance[:, :2, 2:] @ np.linalg.pinv(covariance[:, 2:, 2:]) @ covariance[:, 2:, :2]
    return _quotient(rest[:, 0, 1], rest[:, 0, 0], rest[:, 1, 1])


def _quotient(covariance: Array, variance_x: Array, variance_y: Array) -> Array:
    """Covariance by the root of both variances, nan where one of them is no more than rounding."""
    varies = (variance_x > 1e-12) & (variance_y > 1e-12)
    root = np.sqrt(np.where(varies, variance_x, 1.0) * np.where(varies, variance_y, 1.0))
    return np.where(varies, np.clip(covariance / root, -1.0, 1.0), np.nan)


def _counts_by_value(values: Array, weights: Array) -> tuple[Array, npt.NDArray[np.intp]]:
    """Per resample the points of each different value, ascending, float[r, v]; and the place of each point's value."""
    different, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(different)))
    return np.add.reduceat(weights[:, order], starts, axis=1), place


def _mid_ranks(values: Array, weights: Array) -> Array:
    counts, place = _counts_by_value(values, weights)
    ranks: Array = np.cumsum(counts, axis=1) - (counts - 1) / 2
    return ranks[:, place]


def _tied_pairs(values: Array, weights: Array) -> Array:
    """Ordered pairs of points with equal value."""
    counts, _ = _counts_by_value(values, weights)
    return np.asarray((counts * (counts - 1)).sum(axis=1))
