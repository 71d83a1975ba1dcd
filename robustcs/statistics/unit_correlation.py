"""Correlation of two values of turns in units: the jackknife over whole units on Fisher's z.

Leaving out one unit at a time gives K values z₍₋g₎ = artanh r₍₋g₎. The standard error of z is √((K − 1)/K · Σ (z₍₋g₎ −
z̄)²), the interval is tanh(z ± t·se), and p is that of z/se, with t on K − 1 degrees of freedom. Efron & Tibshirani (1993),
chapter 11.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Codes, Floats
from robustcs.statistics.estimate import LEAST_UNITS, Tested, joined, units_note
from robustcs.statistics.means import t_p, t_quantile
from robustcs.statistics.units import Units

METHOD = "jackknife over units on Fisher's z"
METHODS = ("pearson", "spearman", "kendall")
#: Fisher's z of a correlation of 1 is infinite.
_ALMOST_ONE = 1 - 1e-12
#: Numbers in a matrix of ranks that are processed together.
_CELLS = 4_000_000
#: Number of turns among which all pairs are compared directly.
_BLOCK = 64


def unit_correlation(x: npt.ArrayLike, y: npt.ArrayLike, units: Units, method: str) -> Tested:
    """Return the correlation of x and y, float[T] each, by one of :data:`METHODS`, over all turns (for Kendall, tau-b).

    It describes how turns vary together, across and within units; it is not a correlation of systems. nan if a variable does
    not vary or there are fewer than three turns. No interval and no p below five units, or if a variable does not vary
    without one of them.
    """
    # equal similarities may differ in their last bits
    one, two = np.round(np.array([x, y], dtype=np.float64), 12)
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return Tested(math.nan, math.nan, math.nan, units.count, METHOD, "a variable does not vary")
    if method == "pearson":
        return _jackknife(*_pearson(np.column_stack([one, two]), units), units)
    return _jackknife(*{"spearman": _spearman, "kendall": _kendall}[method](one, two, units), units)


def unit_partial_correlation(
    x: npt.ArrayLike, y: npt.ArrayLike, given: npt.ArrayLike, units: Units
) -> Tested:
    """Return Pearson's correlation of the residuals of x and y, float[T] each, under a linear model of ``given``, float[T, c].

    Columns of ``given`` that do not vary are ignored. nan if the others explain x or y completely, or if there are too few
    turns.
    """
    constant = np.asarray(given, dtype=np.float64)
    constant = constant[:, np.ptp(constant, axis=0) > 0] if len(constant) else constant
    table = np.column_stack([x, y, constant]).astype(np.float64)
    if len(table) < 3 + constant.shape[1] or (np.ptp(table[:, :2], axis=0) == 0).any():
        return Tested(math.nan, math.nan, math.nan, units.count, METHOD, "a variable does not vary")
    return _jackknife(*_pearson(table, units), units)


def _jackknife(value: float, left_out: Floats, units: Units) -> Tested:
    """Return the estimate ``value`` with its interval; ``left_out``: the values without each unit, float[K]."""
    noun, count = units.kind, units.count
    notes = units_note(count, noun)
    if count < LEAST_UNITS or math.isnan(value):
        return Tested(value, math.nan, math.nan, count, METHOD, notes)
    if np.isnan(left_out).any():
        notes = joined(f"no interval: without one {noun}, a variable does not vary", notes)
        return Tested(value, math.nan, math.nan, count, METHOD, notes)
    z = math.atanh(min(max(value, -_ALMOST_ONE), _ALMOST_ONE))
    each = np.arctanh(np.clip(left_out, -_ALMOST_ONE, _ALMOST_ONE))
    error = math.sqrt((count - 1) / count * float(((each - each.mean()) ** 2).sum()))
    if error <= 1e-9:
        return Tested(
            value,
            math.nan,
            math.nan,
            count,
            METHOD,
            joined(f"no interval: all {noun}s are alike", notes),
        )
    half = float(t_quantile(count)) * error
    ends = math.tanh(z - half), math.tanh(z + half)
    return Tested(value, *ends, count, METHOD, notes, t_p(z / error, count - 1), 0.0)


# ---------------------------------------------------------------- correlations with each unit left out
# All return the correlation over all turns, and float[K] without each unit; nan if a variable does not vary.


def _kendall(x: Floats, y: Floats, units: Units) -> tuple[float, Floats]:
    """Kendall's tau-b. Concordant minus discordant pairs without a unit are all minus those with its turns."""
    codes, count = units.codes, units.count
    of_turn = _concordance(x, y, np.zeros_like(codes))
    inside = np.bincount(codes, _concordance(x, y, codes), count)
    out = 2 * np.bincount(codes, of_turn, count) - inside
    score = of_turn.sum() - np.append(out, 0.0)
    turns = len(x) - np.append(units.sizes, 0.0)
    pairs = np.maximum(turns * (turns - 1), 1)
    tied_x, tied_y = (_ties(values, codes, count) for values in (x, y))
    tau = _quotient(score / pairs, 1 - tied_x / pairs, 1 - tied_y / pairs)
    return float(tau[-1]), tau[:-1]


def _concordance(x: Floats, y: Floats, groups: Codes) -> Codes:
    """Return int64[T]: for each turn, its concordant minus its discordant pairs with turns of its group.

    Turns are sorted by group and x, and counted within blocks, then between neighbouring blocks of doubling size: T log² T
    steps.
    """
    places, rank = np.arange(len(x)), np.unique(y, return_inverse=True)[1]
    order = np.lexsort((rank, x, groups))
    x, groups, rank = x[order], groups[order], rank[order]
    total = np.zeros(len(x), dtype=np.int64)
    for start in range(0, len(x), _BLOCK):
        block = slice(start, start + _BLOCK)
        signs = np.sign(np.subtract.outer(rank[block], rank[block])) * np.sign(
            np.subtract.outer(places[block], places[block])
        )
        total[block] = (signs * np.equal.outer(groups[block], groups[block])).sum(axis=1)
    size, values = _BLOCK, int(rank.max()) + 1
    while size < len(x):
        low = (places // (2 * size) * (int(groups[-1]) + 1) + groups) * values
        keys = low + rank
        later = places // size % 2 == 1
        for own, sign in ((later, 1), (~later, -1)):
            others = np.sort(keys[~own])
            first, here, above, last = (
                np.searchsorted(others, some[own]) for some in (low, keys, keys + 1, low + values)
            )
            total[own] += sign * ((here - first) - (last - above))
        size *= 2
    # turns with equal x are in the order of y and were counted as concordant
    new_x = np.append(True, (np.diff(groups) != 0) | (np.diff(x) != 0))
    new_pair = new_x | np.append(True, np.diff(rank) != 0)
    for first_ones, sign in ((new_x, -1), (new_pair, 1)):
        sizes = np.diff(np.append(np.flatnonzero(first_ones), len(x)))
        total += sign * np.repeat(sizes, sizes)
    found = np.empty_like(total)
    found[order] = total
    return found


def _ties(values: Floats, codes: Codes, units: int) -> Floats:
    """Return float[K + 1]: ordered pairs of turns with equal values without each unit, and over all units."""
    different, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    own, sizes = np.unique(codes * len(different) + place, return_counts=True)
    without = np.bincount(codes, counts[place], units) * 2
    without -= np.bincount(own // len(different), sizes.astype(np.float64) ** 2, units)
    turns = len(values) - np.append(np.bincount(codes, minlength=units), 0)
    return np.asarray((counts.astype(np.float64) ** 2).sum() - np.append(without, 0.0) - turns)


def _spearman(x: Floats, y: Floats, units: Units) -> tuple[float, Floats]:
    """Spearman's correlation: Pearson's correlation of the mid-ranks among the turns with weight 1.

    Turns with equal x and y are grouped. Ranks are multiples of one half, so sums of their products are exact up to about
    300,000 turns, in any order of addition.
    """
    place_x, place_y = (np.unique(values, return_inverse=True)[1] for values in (x, y))
    values = int(place_y.max()) + 1
    pairs, place = np.unique(place_x * values + place_y, return_inverse=True)
    step = max(1, _CELLS // len(pairs))
    parts = []
    for start in range(0, units.count + 1, step):
        rows = range(start, min(start + step, units.count + 1))  # the last row leaves out no unit
        (here_x, ranks_x), (here_y, ranks_y) = (
            _mid_ranks(own, units.codes, rows) for own in (place_x, place_y)
        )
        products = (
            _left(place, units.codes, rows)
            * ranks_x[:, pairs // values]
            * ranks_y[:, pairs % values]
        )
        turns = np.maximum(here_x.sum(axis=1), 1)
        sums = (
            products.sum(axis=1),
            (here_x * ranks_x**2).sum(axis=1),
            (here_y * ranks_y**2).sum(axis=1),
        )
        parts.append(_quotient(*(one / turns for one in sums)))
    found = np.concatenate(parts)
    return float(found[-1]), found[:-1]


def _mid_ranks(places: Codes, codes: Codes, rows: range) -> tuple[Floats, Floats]:
    """Return float[R, V] each: the remaining turns with each of V values, and their mid-ranks, relative to the middle."""
    left = _left(places, codes, rows)
    middle = (left.sum(axis=1, keepdims=True) + 1) / 2
    return left, np.cumsum(left, axis=1) - (left - 1) / 2 - middle


def _left(places: Codes, codes: Codes, rows: range) -> Floats:
    """Return float[R, V]: the turns with each of V values without those of the unit of a row."""
    count = int(places.max()) + 1
    own = (codes >= rows.start) & (codes < rows.stop)
    out = np.bincount((codes[own] - rows.start) * count + places[own], minlength=len(rows) * count)
    return np.asarray(
        np.bincount(places, minlength=count) - out.reshape(len(rows), count), dtype=np.float64
    )


def _pearson(table: Floats, units: Units) -> tuple[float, Floats]:
    """Pearson's correlation of the first two columns of ``table``, float[T, 2 + c], given the others."""
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    turns, columns = table.shape
    terms = np.column_stack(
        [np.ones(turns), table, (table[:, :, None] * table[:, None, :]).reshape(turns, -1)]
    )
    # the last row leaves out no unit
    left = terms.sum(axis=0) - np.vstack([units.sums(terms.T).T, np.zeros(terms.shape[1])])
    means, products = np.split(left[:, 1:] / np.maximum(left[:, :1], 1.0), [columns], axis=1)
    covariance = products.reshape(-1, columns, columns) - means[:, :, None] * means[:, None, :]
    # remove what the given columns explain; pinv ignores columns that do not vary without a unit
    rest = (
        covariance[:, :2, :2]
        - covariance[:, :2, 2:] @ np.linalg.pinv(covariance[:, 2:, 2:]) @ covariance[:, 2:, :2]
    )
    found = _quotient(rest[:, 0, 1], rest[:, 0, 0], rest[:, 1, 1])
    return float(found[-1]), found[:-1]


def _quotient(covariance: Floats, variance_x: Floats, variance_y: Floats) -> Floats:
    """Return covariance / √(product of variances); nan if a variance is only rounding error."""
    varies = (variance_x > 1e-12) & (variance_y > 1e-12)
    root = np.sqrt(np.where(varies, variance_x * variance_y, 1.0))
    return np.where(varies, np.clip(covariance / root, -1.0, 1.0), np.nan)
