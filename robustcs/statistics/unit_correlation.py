"""Correlation of two values per turn where turns come in units: the jackknife over whole units, on Fisher's z.

Leaving out one unit at a time gives K values z₍₋g₎ = artanh r₍₋g₎; the standard error of z is √((K − 1)/K · Σ (z₍₋g₎ − z̄)²),
the interval tanh(z ± t·se) and p that of z/se, with t on K − 1 degrees of freedom. Efron & Tibshirani (1993), chapter 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from robustcs.statistics.estimate import LEAST_UNITS, Tested, joined, units_note
from robustcs.statistics.means import t_quantile
from robustcs.statistics.units import Units

Floats = npt.NDArray[np.float64]

METHOD = "jackknife over units on Fisher's z"
METHODS = ("pearson", "spearman", "kendall")
#: Fisher's z of a correlation of 1 is infinite.
_ALMOST_ONE = 1 - 1e-12
#: Numbers in a matrix of weights or signs that is worked on at a time.
_CELLS = 4_000_000


def unit_correlation(x: npt.ArrayLike, y: npt.ArrayLike, units: Units, method: str) -> Tested:
    """Correlation of x and y, float[T] each, by one of :data:`METHODS`, over all turns (Kendall's is tau-b).

    It says how turns vary together, across and within units; it is no correlation of systems. nan where a variable does not
    vary or there are fewer than three turns; no interval and no p below five units, or where a variable does not vary without
    one of them.
    """
    one, two = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return Tested(math.nan, math.nan, math.nan, units.count, METHOD, "a variable does not vary")
    if method == "kendall":
        return _jackknife(*_kendall(one, two, units), units)
    function = {"pearson": _pearson, "spearman": _spearman}[method]
    return _jackknife(*_left_out(lambda weights: function(one, two, weights), units), units)


def unit_partial_correlation(x: npt.ArrayLike, y: npt.ArrayLike, given: npt.ArrayLike, units: Units) -> Tested:
    """Pearson's correlation of what a linear model of ``given``, float[T, c], leaves of x and of y, float[T] each.

    Columns of ``given`` that do not vary take no part; nan where the others explain x or y, or turns are too few for them.
    """
    constant = np.asarray(given, dtype=np.float64)
    constant = constant[:, np.ptp(constant, axis=0) > 0] if len(constant) else constant
    table = np.column_stack([x, y, constant]).astype(np.float64)
    if len(table) < 3 + constant.shape[1] or (np.ptp(table[:, :2], axis=0) == 0).any():
        return Tested(math.nan, math.nan, math.nan, units.count, METHOD, "a variable does not vary")
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    return _jackknife(*_left_out(lambda weights: _partial(table, weights), units), units)


def _jackknife(value: float, left_out: Floats, units: Units) -> Tested:
    """The estimate ``value`` with what it is without each of the units, float[K]."""
    noun, count = units.kind, units.count
    notes = units_note(count, noun)
    if count < LEAST_UNITS or math.isnan(value):
        return Tested(value, math.nan, math.nan, count, METHOD, notes)
    if np.isnan(left_out).any():
        notes = joined(f"no interval: without one {noun} a variable does not vary", notes)
        return Tested(value, math.nan, math.nan, count, METHOD, notes)
    z = math.atanh(min(max(value, -_ALMOST_ONE), _ALMOST_ONE))
    each = np.arctanh(np.clip(left_out, -_ALMOST_ONE, _ALMOST_ONE))
    error = math.sqrt((count - 1) / count * float(((each - each.mean()) ** 2).sum()))
    if error <= 1e-9:
        return Tested(value, math.nan, math.nan, count, METHOD, joined(f"no interval: all {noun}s are alike", notes))
    from scipy.special import stdtr

    half = float(t_quantile(count)) * error
    p = 2 * float(stdtr(count - 1, -abs(z) / error))
    return Tested(value, math.tanh(z - half), math.tanh(z + half), count, METHOD, notes, p, 0.0)


# ---------------------------------------------------------------- correlations with each unit left out
# All return the correlation over all turns, and float[K] without each unit; nan where a variable does not vary.


def _left_out(function: Callable[[Floats], Floats], units: Units) -> tuple[float, Floats]:
    """By ``function``: weights of the turns, float[R, T] of 0 and 1 → the correlation in each of R cases."""
    step = max(1, _CELLS // len(units.codes))
    left = units.count if units.count >= LEAST_UNITS else 0
    parts = [
        function((units.codes != np.arange(start, min(start + step, left))[:, None]).astype(np.float64))
        for start in range(0, left, step)
    ]
    return float(function(np.ones((1, len(units.codes))))[0]), np.concatenate([*parts, []])


def _kendall(x: Floats, y: Floats, units: Units) -> tuple[float, Floats]:
    """Kendall's tau-b. Concordant less discordant pairs without a unit: all, less those that its turns are in."""
    order = np.argsort(units.codes, kind="stable")
    x, y, codes = x[order], y[order], units.codes[order]
    step = max(1, _CELLS // len(x))
    # of every turn, the pairs with all others
    of_turn = np.concatenate([_signs(x[s : s + step], x, y[s : s + step], y).sum(axis=1) for s in range(0, len(x), step)])
    ends = np.cumsum(units.sizes).astype(np.int64)
    inside = [_signs(x[s:e], x[s:e], y[s:e], y[s:e]).sum() for s, e in zip([0, *ends[:-1]], ends, strict=True)]
    out = 2 * np.bincount(codes, of_turn, units.count) - np.array(inside)
    score = of_turn.sum() - np.append(out, 0.0)
    turns = len(x) - np.append(units.sizes, 0.0)
    pairs = np.maximum(turns * (turns - 1), 1)
    tied_x, tied_y = (_ties(values, codes, units.count) for values in (x, y))
    tau = _quotient(score / pairs, 1 - tied_x / pairs, 1 - tied_y / pairs)
    return float(tau[-1]), tau[:-1]


def _signs(x: Floats, all_x: Floats, y: Floats, all_y: Floats) -> Floats:
    """1 for a concordant pair of turns, -1 for a discordant one, 0 for a tie."""
    return np.asarray(np.sign(np.subtract.outer(x, all_x)) * np.sign(np.subtract.outer(y, all_y)))


def _ties(values: Floats, codes: npt.NDArray[np.int64], units: int) -> Floats:
    """float[K + 1]: ordered pairs of turns with equal value without each unit, and without none of them."""
    different, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    own, sizes = np.unique(codes * len(different) + place, return_counts=True)
    without = np.bincount(codes, counts[place], units) * 2
    without -= np.bincount(own // len(different), sizes.astype(np.float64) ** 2, units)
    turns = len(values) - np.append(np.bincount(codes, minlength=units), 0)
    return np.asarray((counts.astype(np.float64) ** 2).sum() - np.append(without, 0.0) - turns)


def _pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's correlation of the turns that count, for each row of weights."""
    total = weights.sum(axis=1)
    x, y = ((values - values.mean()) / values.std() for values in (x, y))
    mean_x, mean_y = weights @ x / total, weights @ y / total
    covariance = weights @ (x * y) / total - mean_x * mean_y
    return _quotient(covariance, weights @ x**2 / total - mean_x**2, weights @ y**2 / total - mean_y**2)


def _spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Spearman's correlation: Pearson's of the mid-ranks that turns have among those that count."""
    ranks_x, ranks_y = (_mid_ranks(values, weights) for values in (x, y))
    total = weights.sum(axis=1, keepdims=True)
    ranks_x -= (total + 1) / 2
    ranks_y -= (total + 1) / 2
    pairs = ((ranks_x, ranks_y), (ranks_x, ranks_x), (ranks_y, ranks_y))
    return _quotient(*((weights * one * two).sum(axis=1) / total[:, 0] for one, two in pairs))


def _mid_ranks(values: Floats, weights: Floats) -> Floats:
    different, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    counts = np.add.reduceat(weights[:, order], np.searchsorted(place[order], np.arange(len(different))), axis=1)
    ranks: Floats = np.cumsum(counts, axis=1) - (counts - 1) / 2
    return ranks[:, place]


def _partial(table: Floats, weights: Floats) -> Floats:
    """The partial correlation of the first two columns of ``table``, float[T, 2 + c], given the others."""
    total = weights.sum(axis=1)
    columns = table.shape[1]
    means = weights @ table / total[:, None]
    products = (table[:, :, None] * table[:, None, :]).reshape(len(table), -1)
    covariance = (weights @ products / total[:, None]).reshape(-1, columns, columns) - means[:, :, None] * means[:, None, :]
    # what the given columns explain is taken off; pinv leaves out those that do not vary without a unit
    rest = covariance[:, :2, :2] - covariance[:, :2, 2:] @ np.linalg.pinv(covariance[:, 2:, 2:]) @ covariance[:, 2:, :2]
    return _quotient(rest[:, 0, 1], rest[:, 0, 0], rest[:, 1, 1])


def _quotient(covariance: Floats, variance_x: Floats, variance_y: Floats) -> Floats:
    """Covariance by the root of both variances, nan where one of them is no more than rounding."""
    varies = (variance_x > 1e-12) & (variance_y > 1e-12)
    root = np.sqrt(np.where(varies, variance_x, 1.0) * np.where(varies, variance_y, 1.0))
    return np.where(varies, np.clip(covariance / root, -1.0, 1.0), np.nan)
