"""Differences between systems with partly drawn data, with intervals and p-values.

They cover two kinds of uncertainty: the sample of units and the draws.

Every draw completes the data and has its own sign-flip distribution: the ratios Σ_S y / Σ_S n over
random subsets S of the units, whose quantiles are the interval of
:mod:`robustcs.statistics.sign_flip`. The mixture of the distributions of all draws has the variance
within draws plus that between them, as in the rules of Rubin (1987) for multiple imputation, and
its tails need no normal approximation. The limits are its quantiles at the positions that the test
would use. If the draws agree, the interval is that of the test.

The differences are y, float64[D, C, K], by draw, difference and unit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Floats, Mask
from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, LEVELS, sparse_note
from robustcs.statistics.families import max_t
from robustcs.statistics.sign_flip import limits, paired_tests

#: Random subsets for each draw.
SUBSETS = 999
#: Sign patterns for each draw of a family; all draws together have tens of thousands.
FAMILY_PATTERNS = 199
#: Ratios in memory at the same time, which limits memory to about 100 MB.
_RATIOS = 4_000_000
#: Statistics in memory at the same time: few enough for the processor's cache.
_CELLS = 250_000
#: Statistics are at most √K; differences below this are rounding.
_ROUNDING = 1e-9
#: Sums over a unit that differ by less are equal.
_EQUAL_SUMS = 1e-12


def completed_intervals(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, seed: int, confidence: float = CONFIDENCE
) -> tuple[Floats, Floats]:
    """Return lower and upper limits, float64[C] each, of C differences Σy / Σn.

    ``sums``: y, float64[D, C, K]. ``sizes``: n, float64[K], turns of every unit. NaN if there is no
    interval: below six units, or if too few units differ in half of the draws (the rule without
    draws). Seeded; all differences share their subsets.
    """
    completed, turns = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    _, differences, units = completed.shape
    low, high = np.full((2, differences), math.nan)
    if units < LEAST_UNITS:
        return low, high
    draws_differ = np.ptp(completed, axis=0).max(axis=1) > _EQUAL_SUMS
    same_in_all_draws = np.flatnonzero(~draws_differ)
    tests = paired_tests(completed[0, same_in_all_draws], turns, seed)
    for difference, test in zip(same_in_all_draws, tests, strict=True):
        low[difference], high[difference] = test.low, test.high

    moving_units = np.median((np.abs(completed) > _EQUAL_SUMS).sum(axis=2), axis=0)
    sparse = [bool(sparse_note(int(moving), units, "unit")) for moving in moving_units]
    mixed = np.flatnonzero(draws_differ & ~np.array(sparse, dtype=bool))
    if len(mixed):
        low[mixed], high[mixed] = _mixture_limits(completed, mixed, turns, seed, confidence)
    return low, high


def _mixture_limits(
    completed: Floats,
    differences: npt.NDArray[np.intp],
    turns: Floats,
    seed: int,
    confidence: float,
) -> tuple[list[float], list[float]]:
    """Return the limits of these ``differences`` from the ratios of all draws together."""
    draws, _, units = completed.shape
    subsets = []
    for draw in range(draws):
        generator = np.random.default_rng([seed, draw])
        subsets.append(generator.integers(0, 2, (units, SUBSETS)).astype(np.uint8))
    bottoms = np.concatenate([turns @ subset for subset in subsets])
    place = math.floor((1 - confidence) * (draws * SUBSETS + 1) / 2 + 1e-9)
    low, high = [], []
    step = max(1, _RATIOS // (draws * SUBSETS))
    for start in range(0, len(differences), step):
        block = differences[start : start + step]
        tops = np.empty((len(block), draws, SUBSETS))
        for draw, subset in enumerate(subsets):
            tops[:, draw] = completed[draw, block] @ subset.astype(np.float64)
        for tops_of_difference in tops:
            lower, upper = limits(tops_of_difference.ravel(), bottoms, place)
            low.append(lower)
            high.append(upper)
    return low, high


def completed_family(sums: npt.ArrayLike, seed: int) -> Floats:
    """Return the p-values, float64[C], of C differences, adjusted for all of them.

    ``sums``: float64[D, C, K]. In every draw, each difference has the step-down max-T p of
    :func:`~robustcs.statistics.families.max_t`; p is their mean, as in the mixture of
    :func:`completed_intervals`. A draw in which a difference has the other sign counts as 2, as in
    a two-sided p. So if draws disagree on the sign, nothing is rejected. If the draws do not
    differ, the result is max-T. NaN below five units. Seeded.
    """
    completed = np.asarray(sums, dtype=np.float64)
    draws, differences, units = completed.shape
    if units < LEAST_UNITS:
        return np.full(differences, math.nan)
    if not _draws_differ(completed):
        return max_t(completed[0], seed)
    scaled, totals = _scaled(completed)
    order = np.argsort(np.abs(totals), axis=1, kind="stable")
    ascending = np.take_along_axis(scaled, order[..., None], axis=1)
    observed = np.take_along_axis(np.abs(totals), order, axis=1)
    as_far = np.empty((differences, draws))
    for block, statistics in _statistics(ascending, seed):
        # ascending, so that the running maximum covers all differences not yet rejected
        for smaller, row in itertools.pairwise(statistics):
            np.maximum(smaller, row, out=row)
        thresholds = observed[block].T[..., None] - _ROUNDING
        as_far[:, block] = (statistics >= thresholds).sum(axis=2)
    # a difference cannot be rejected before those with larger statistics
    stepped = np.maximum.accumulate(as_far[::-1])[::-1]
    in_given_order = np.empty((draws, differences))
    np.put_along_axis(in_given_order, order, stepped.T, axis=1)
    return _mean_p(in_given_order, totals)


def completed_differ(
    sums: npt.ArrayLike,
    seed: int,
    chosen: Sequence[int],
    largest: Floats | None = None,
    alpha: float = LEVELS[0],
) -> Mask:
    """Return bool[A]: whether some differences have a p of :func:`completed_family` ≤ ``alpha``.

    ``chosen``: the numbers of these A differences. Bounds decide in most cases. ``largest``: the
    :func:`largest_statistics` of the others, and possibly of further differences.
    """
    completed = np.asarray(sums, dtype=np.float64)
    if completed.shape[2] >= LEAST_UNITS and _draws_differ(completed):
        differ = _decided_by_bounds(completed, seed, chosen, largest, alpha)
        if differ is not None:
            return differ
    return np.asarray(completed_family(completed, seed)[chosen] <= alpha)


def _decided_by_bounds(
    completed: Floats, seed: int, chosen: Sequence[int], largest: Floats | None, alpha: float
) -> Mask | None:
    """Return :func:`completed_differ` from bounds of p; None if they leave a difference open."""
    draws, _, units = completed.shape
    scaled, totals = _scaled(completed[:, chosen])
    statistics = np.abs(scaled @ _patterns(seed, draws, units))
    observed = np.abs(totals)[..., None] - _ROUNDING
    # p is at least that of the difference alone, and at most that of the single-step max-T
    not_rejected = _mean_p((statistics >= observed).sum(axis=2), totals) > alpha
    if not_rejected.all():
        return np.asarray(~not_rejected)
    if largest is None:
        largest = largest_statistics(completed, seed)
    single_step = (np.maximum(statistics, largest[:, None]) >= observed).sum(axis=2)
    rejected = _mean_p(single_step, totals) <= alpha
    if not (not_rejected | rejected).all():
        return None
    return np.asarray(rejected)


def largest_statistics(sums: Floats, seed: int) -> Floats:
    """Return float64[D, :data:`FAMILY_PATTERNS`]: the largest statistic of all differences.

    By draw and sign pattern; ``sums``: float64[D, C, K].
    """
    scaled, _ = _scaled(sums)
    return np.concatenate([statistics.max(axis=0) for _, statistics in _statistics(scaled, seed)])


def _draws_differ(completed: Floats) -> bool:
    return bool((np.ptp(completed, axis=0) > _EQUAL_SUMS).any())


def _scaled(completed: Floats) -> tuple[Floats, Floats]:
    """Return differences with a sum of squares of 1, or 0, and their sums over units.

    float64[D, C, K] and float64[D, C], without rounding noise.
    """
    norm = np.sqrt((completed**2).sum(axis=2, keepdims=True))
    scaled = np.divide(completed, norm, out=np.zeros_like(completed), where=norm > 0)
    totals = scaled.sum(axis=2)
    return scaled, np.where(np.abs(totals) < _ROUNDING, 0.0, totals)


def _statistics(scaled: Floats, seed: int) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of draws with their statistics, float64[C, d, :data:`FAMILY_PATTERNS`]."""
    draws, differences, units = scaled.shape
    signs = _patterns(seed, draws, units)
    step = max(1, _CELLS // (differences * FAMILY_PATTERNS))
    for start in range(0, draws, step):
        block = slice(start, start + step)
        # by difference first: the maximum of whole rows is several times faster than along rows
        statistics = np.empty((differences, len(scaled[block]), FAMILY_PATTERNS))
        np.matmul(scaled[block], signs[block], out=statistics.swapaxes(0, 1))
        yield block, np.abs(statistics, out=statistics)


def _mean_p(as_far: npt.NDArray[Any], totals: Floats) -> Floats:
    """Return p, float64[C], from the number of patterns as far as observed, [D, C].

    ``totals`` [D, C]: the observed statistics with their signs. p is that of the side with more
    evidence; a draw on the other side counts as if its p were 2.
    """
    other_side = 2 * FAMILY_PATTERNS
    above = np.where(totals > 0, as_far, other_side).sum(axis=0)
    below = np.where(totals < 0, as_far, other_side).sum(axis=0)
    patterns = len(totals) * FAMILY_PATTERNS
    return np.asarray(np.minimum(1.0, (1 + np.minimum(above, below)) / (1 + patterns)))


@lru_cache(maxsize=1)
def _patterns(seed: int, draws: int, units: int) -> Floats:
    """Return float64[D, K, :data:`FAMILY_PATTERNS`]: the signs, −1 or 1, of every draw."""
    signs = []
    for draw in range(draws):
        generator = np.random.default_rng([seed, draw])
        signs.append(generator.integers(0, 2, (units, FAMILY_PATTERNS)) * 2.0 - 1)
    return np.stack(signs)
