"""Correlation of two values of turns in units: the jackknife over whole units on Fisher's z.

Leaving out one unit at a time gives K values z₍₋g₎ = artanh r₍₋g₎. The standard error of z is √((K
− 1)/K · Σ (z₍₋g₎ − z̄)²), the interval is tanh(z ± t·se), and p is that of z/se, with t on K − 1
degrees of freedom. Efron & Tibshirani (1993), chapter 11.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Codes, Floats, Mask
from robustcs.statistics.estimate import LEAST_UNITS, Tested, joined, units_note
from robustcs.statistics.student import t_p, t_quantile
from robustcs.statistics.units import Units

CORRELATION_METHOD = "jackknife over units on Fisher's z"
CORRELATIONS = ("pearson", "spearman", "kendall")
#: Fisher's z of a correlation of 1 is infinite.
_ALMOST_ONE = 1 - 1e-12
#: Decimals to which values are compared: equal similarities may differ in their last bits.
_DECIMALS = 12
#: Largest standard error, and largest variance, that is only rounding.
_NO_ERROR = 1e-9
_NO_VARIANCE = 1e-12
#: Numbers in a matrix of ranks that are processed together.
_CELLS = 4_000_000
#: Number of turns among which all pairs are compared directly.
_BLOCK = 64


class _LeftOut(NamedTuple):
    """A correlation over all turns, and float64[K] without each unit.

    nan if a variable does not vary.
    """

    value: float
    without_unit: Floats


def unit_correlation(x: npt.ArrayLike, y: npt.ArrayLike, units: Units, method: str) -> Tested:
    """Return the correlation of x and y, float[T] each, over all turns.

    ``method``: one of :data:`CORRELATIONS`; for Kendall, it is tau-b. The correlation describes how
    turns vary together, across and within units; it is not a correlation of systems. nan if a
    variable does not vary or there are fewer than three turns. No interval and no p below five
    units, or if a variable does not vary without one of them.
    """
    x_values: Floats = np.asarray(x, dtype=np.float64).round(_DECIMALS)
    y_values: Floats = np.asarray(y, dtype=np.float64).round(_DECIMALS)
    if len(x_values) < 3 or np.ptp(x_values) == 0 or np.ptp(y_values) == 0:
        return _undefined(units)
    if method == "pearson":
        return _jackknife(_pearson(np.column_stack([x_values, y_values]), units), units)
    correlate = {"spearman": _spearman, "kendall": _kendall}[method]
    return _jackknife(correlate(x_values, y_values, units), units)


def unit_partial_correlation(
    x: npt.ArrayLike, y: npt.ArrayLike, given: npt.ArrayLike, units: Units
) -> Tested:
    """Return Pearson's correlation of the residuals of x and y, float[T] each.

    The residuals are those of a linear model of ``given``, float[T, c], of which columns that do
    not vary are ignored. nan if the others explain x or y completely, or if there are too few
    turns.
    """
    covariates = np.asarray(given, dtype=np.float64)
    if len(covariates):
        covariates = covariates[:, np.ptp(covariates, axis=0) > 0]
    table = np.column_stack([x, y, covariates]).astype(np.float64)
    too_few = len(table) < 3 + covariates.shape[1]
    if too_few or (np.ptp(table[:, :2], axis=0) == 0).any():
        return _undefined(units)
    return _jackknife(_pearson(table, units), units)


def _undefined(units: Units) -> Tested:
    return Tested(
        math.nan, math.nan, math.nan, units.count, CORRELATION_METHOD, "a variable does not vary"
    )


def _jackknife(correlation: _LeftOut, units: Units) -> Tested:
    """Return the correlation over all turns with its interval and p."""
    value, without_unit = correlation
    noun, count = units.kind, units.count
    notes = units_note(count, noun)
    no_interval = Tested(value, math.nan, math.nan, count, CORRELATION_METHOD, notes)
    if count < LEAST_UNITS or math.isnan(value):
        return no_interval
    if np.isnan(without_unit).any():
        why = f"no interval: without one {noun}, a variable does not vary"
        return replace(no_interval, note=joined(why, notes))
    z = math.atanh(min(max(value, -_ALMOST_ONE), _ALMOST_ONE))
    z_without_unit = np.arctanh(np.clip(without_unit, -_ALMOST_ONE, _ALMOST_ONE))
    squares = float(((z_without_unit - z_without_unit.mean()) ** 2).sum())
    error = math.sqrt((count - 1) / count * squares)
    if error <= _NO_ERROR:
        why = f"no interval: all {noun}s are alike"
        return replace(no_interval, note=joined(why, notes))
    half = float(t_quantile(count)) * error
    return replace(
        no_interval,
        low=math.tanh(z - half),
        high=math.tanh(z + half),
        p=t_p(z / error, count - 1),
        floor=0.0,
    )


# ---------------------------------------------------------------- with each unit left out


def _kendall(x: Floats, y: Floats, units: Units) -> _LeftOut:
    """Return Kendall's tau-b.

    Concordant minus discordant pairs without a unit are all of them minus those with its turns.
    """
    codes, count = units.codes, units.count
    score_of_turn = _concordance(x, y, np.zeros_like(codes))
    within_unit = np.bincount(codes, _concordance(x, y, codes), count)
    # ordered pairs with a turn of the unit: those within it are in the sum of its turns once
    with_unit = 2 * np.bincount(codes, score_of_turn, count) - within_unit
    # the last place leaves out no unit
    score = score_of_turn.sum() - np.append(with_unit, 0.0)
    turns = len(x) - np.append(units.sizes, 0.0)
    pairs = np.maximum(turns * (turns - 1), 1)
    tied_x, tied_y = _ties(x, codes, count), _ties(y, codes, count)
    tau = _correlations(score / pairs, 1 - tied_x / pairs, 1 - tied_y / pairs)
    return _LeftOut(float(tau[-1]), tau[:-1])


def _concordance(x: Floats, y: Floats, groups: Codes) -> Codes:
    """Return int64[T]: concordant minus discordant pairs of each turn with turns of its group.

    ``groups``: int64[T]. Turns are sorted by group, x and y, and counted within blocks, then
    between neighbouring blocks of doubling size: T log² T steps.
    """
    y_ranks = np.unique(y, return_inverse=True)[1]
    order = np.lexsort((y_ranks, x, groups))
    x, groups, y_ranks = x[order], groups[order], y_ranks[order]
    score = _score_within_blocks(groups, y_ranks)
    size = _BLOCK
    while size < len(x):
        score += _score_between_blocks(groups, y_ranks, size)
        size *= 2
    score += _correction_of_ties(x, groups, y_ranks)
    in_given_order = np.empty_like(score)
    in_given_order[order] = score
    return in_given_order


def _score_within_blocks(groups: Codes, y_ranks: Codes) -> Codes:
    """Return int64[T]: the score of each turn with turns of its group and block.

    A pair is concordant if the later turn has the higher rank; equal ranks count 0.
    """
    places = np.arange(len(groups))
    score = np.zeros(len(groups), dtype=np.int64)
    for start in range(0, len(groups), _BLOCK):
        block = slice(start, start + _BLOCK)
        order_of_y = np.sign(np.subtract.outer(y_ranks[block], y_ranks[block]))
        order_of_place = np.sign(np.subtract.outer(places[block], places[block]))
        same_group = np.equal.outer(groups[block], groups[block])
        score[block] = (order_of_y * order_of_place * same_group).sum(axis=1)
    return score


def _score_between_blocks(groups: Codes, y_ranks: Codes, size: int) -> Codes:
    """Return int64[T]: the score of each turn with turns of its group in the neighbouring block.

    Blocks of ``size`` turns are neighbours in pairs: the first and second, the third and fourth, …
    """
    places = np.arange(len(groups))
    ranks = int(y_ranks.max()) + 1
    # a turn's key orders it by pair of blocks, then group, then rank
    pair_and_group = places // (2 * size) * (int(groups[-1]) + 1) + groups
    lowest_keys = pair_and_group * ranks
    keys = lowest_keys + y_ranks
    in_second_block = places // size % 2 == 1
    score = np.zeros(len(groups), dtype=np.int64)
    for inside, sign in ((in_second_block, 1), (~in_second_block, -1)):
        other_keys = np.sort(keys[~inside])
        first = np.searchsorted(other_keys, lowest_keys[inside])
        equal = np.searchsorted(other_keys, keys[inside])
        above = np.searchsorted(other_keys, keys[inside] + 1)
        end = np.searchsorted(other_keys, lowest_keys[inside] + ranks)
        lower_ranks, higher_ranks = equal - first, end - above
        score[inside] = sign * (lower_ranks - higher_ranks)
    return score


def _correction_of_ties(x: Floats, groups: Codes, y_ranks: Codes) -> Codes:
    """Return int64[T]: minus the pairs of each turn with equal x but different y in its group.

    Turns with equal x are in the order of y and were counted as concordant.
    """
    new_x = np.append(True, (np.diff(groups) != 0) | (np.diff(x) != 0))
    new_x_or_y = new_x | np.append(True, np.diff(y_ranks) != 0)
    return _run_lengths(new_x_or_y) - _run_lengths(new_x)


def _run_lengths(begins: Mask) -> Codes:
    """Return int64[T]: the length of each place's run; ``begins`` is true where a run begins."""
    sizes = np.diff(np.append(np.flatnonzero(begins), len(begins)))
    return np.repeat(sizes, sizes)


def _ties(values: Floats, codes: Codes, units: int) -> Floats:
    """Return float64[K + 1]: ordered pairs of turns with equal values.

    Without each of K = ``units`` units, and over all units in the last place.
    """
    different, value_codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    keys, sizes = np.unique(codes * len(different) + value_codes, return_counts=True)
    unit_of_key = keys // len(different)
    # pairs with a turn of the unit, including each turn with itself
    with_unit = 2 * np.bincount(codes, counts[value_codes], units)
    with_unit -= np.bincount(unit_of_key, sizes.astype(np.float64) ** 2, units)
    turns = len(values) - np.append(np.bincount(codes, minlength=units), 0)
    all_pairs = (counts.astype(np.float64) ** 2).sum()
    return np.asarray(all_pairs - np.append(with_unit, 0.0) - turns)


def _spearman(x: Floats, y: Floats, units: Units) -> _LeftOut:
    """Return Spearman's correlation: Pearson's of the mid-ranks among the turns that remain.

    Turns with equal x and y are grouped. Ranks are multiples of one half, so sums of their products
    are exact up to about 300,000 turns, in any order of addition.
    """
    x_codes = np.unique(x, return_inverse=True)[1]
    y_codes = np.unique(y, return_inverse=True)[1]
    y_values = int(y_codes.max()) + 1
    pairs, pair_codes = np.unique(x_codes * y_values + y_codes, return_inverse=True)
    x_of_pair, y_of_pair = pairs // y_values, pairs % y_values
    step = max(1, _CELLS // len(pairs))
    blocks = []
    for start in range(0, units.count + 1, step):
        # the last row leaves out no unit
        rows = range(start, min(start + step, units.count + 1))
        x_counts, x_ranks = _mid_ranks(x_codes, units.codes, rows)
        y_counts, y_ranks = _mid_ranks(y_codes, units.codes, rows)
        products = _remaining(pair_codes, units.codes, rows)
        products *= x_ranks[:, x_of_pair]
        products *= y_ranks[:, y_of_pair]
        turns = np.maximum(x_counts.sum(axis=1), 1)
        covariance = products.sum(axis=1) / turns
        variance_x = (x_counts * x_ranks**2).sum(axis=1) / turns
        variance_y = (y_counts * y_ranks**2).sum(axis=1) / turns
        blocks.append(_correlations(covariance, variance_x, variance_y))
    rho = np.concatenate(blocks)
    return _LeftOut(float(rho[-1]), rho[:-1])


def _mid_ranks(value_codes: Codes, codes: Codes, rows: range) -> tuple[Floats, Floats]:
    """Return the counts and the mid-ranks of each of V values, float64[R, V] each.

    Among the turns that remain without the unit of a row; mid-ranks are relative to the middle.
    """
    counts = _remaining(value_codes, codes, rows)
    middle = (counts.sum(axis=1, keepdims=True) + 1) / 2
    return counts, np.cumsum(counts, axis=1) - (counts - 1) / 2 - middle


def _remaining(value_codes: Codes, codes: Codes, rows: range) -> Floats:
    """Return float64[R, V]: the turns with each of V values without those of the unit of a row.

    ``rows``: codes of units; one that no turn has leaves out nothing.
    """
    values = int(value_codes.max()) + 1
    left_out = (codes >= rows.start) & (codes < rows.stop)
    cells = (codes[left_out] - rows.start) * values + value_codes[left_out]
    counts = np.bincount(cells, minlength=len(rows) * values).reshape(len(rows), values)
    return np.asarray(np.bincount(value_codes, minlength=values) - counts, dtype=np.float64)


def _pearson(table: Floats, units: Units) -> _LeftOut:
    """Return Pearson's correlation of the first two columns given the others.

    ``table``: float64[T, 2 + c].
    """
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    turns, columns = table.shape
    products = (table[:, :, None] * table[:, None, :]).reshape(turns, -1)
    terms = np.column_stack([np.ones(turns), table, products])
    # the last row leaves out no unit
    left_out = np.vstack([units.sums(terms.T).T, np.zeros(terms.shape[1])])
    sums = terms.sum(axis=0) - left_out
    moments = sums[:, 1:] / np.maximum(sums[:, :1], 1.0)
    means, mean_products = np.split(moments, [columns], axis=1)
    mean_products = mean_products.reshape(-1, columns, columns)
    covariance = mean_products - means[:, :, None] * means[:, None, :]
    # remove what the given columns explain; pinv ignores columns that do not vary without a unit
    of_both, with_given = covariance[:, :2, :2], covariance[:, :2, 2:]
    of_given, given_with = covariance[:, 2:, 2:], covariance[:, 2:, :2]
    residual = of_both - with_given @ np.linalg.pinv(of_given) @ given_with
    r = _correlations(residual[:, 0, 1], residual[:, 0, 0], residual[:, 1, 1])
    return _LeftOut(float(r[-1]), r[:-1])


def _correlations(covariance: Floats, variance_x: Floats, variance_y: Floats) -> Floats:
    """Return covariance / √(product of variances); nan if a variance is only rounding error."""
    varies = (variance_x > _NO_VARIANCE) & (variance_y > _NO_VARIANCE)
    root = np.sqrt(np.where(varies, variance_x * variance_y, 1.0))
    return np.where(varies, np.clip(covariance / root, -1.0, 1.0), np.nan)
