"""Adjust the p-values of a family of comparisons, so that the probability of any false rejection is at most α.

Step-down max-T (Westfall & Young 1993, algorithm 2.8) with sign flips of whole units: every sign pattern gives each
comparison m the statistic |Σ s_k d_mk| / √Σ d_mk². Each observed statistic is compared with the largest one among the
comparisons not yet rejected. All comparisons share their patterns, so their dependence is taken into account: pairs of the
same systems cost far less than with Holm's correction. Holm's remains for p-values without sign flips (correlations,
binomial tests).

Differences between systems with partly drawn data: one interval for sampling and draws.

Every draw completes the data and has its own sign-flip distribution: the ratios Σ_S y / Σ_S n over random subsets S of the
units, whose quantiles are the interval of :mod:`robustcs.statistics.sign_flip`. The mixture of the distributions of all draws
has the variance within draws plus that between them, as in the rules of Rubin (1987) for multiple imputation, and its tails
need no normal approximation. The limits are its quantiles at the positions that the test would use. If the draws agree, the
interval is that of the test.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Floats
from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, LEVELS, Tested, sparse_note
from robustcs.statistics.sign_flip import DRAWS, Subsets, limits, paired_tests
from robustcs.wording import counted

Method = Literal["max-T", "Holm"]
#: Statistics in memory at the same time: few enough for the processor's cache.
_CELLS = 250_000
#: Patterns and comparisons whose statistics are computed together: long rows, and not more than :data:`_CELLS`.
_PATTERNS, _ROWS = 2_048, 122
#: Statistics are at most √K; differences below this are rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Family:
    """The adjusted p-values of a family of M comparisons.

    p
        float64[M], in the given order, never below the raw p. Rejecting if p ≤ α keeps the family-wise error ≤ α.
    floor
        The smallest possible adjusted p.
    note
        A note if the design cannot reach .05.
    method
        The adjustment.
    """

    p: Floats
    floor: float
    note: str
    method: Method = "max-T"

    def describe(self, noun: str = "comparison") -> str:
        """Return ``max-T over 66 comparisons``, for the note of a table; ``noun`` names a comparison, such as ``pair``."""
        return f"{self.method} over {counted(len(self.p), noun)}"


def max_t(sums: npt.ArrayLike, seed: int, one_sided: bool = False, draws: int = DRAWS) -> Floats:
    """Return the step-down max-T p-values, float64[M], of "Σ_k ``sums``[m, k] is 0" (``one_sided``: "is at most 0").

    ``sums``: float64[M, K], a column per unit; 0 if a comparison has no turns in a unit. A comparison without differences has
    p = 1. All 2^K patterns are used up to 16 units, otherwise ``draws`` random ones and the observed one, as in
    :func:`~robustcs.statistics.sign_flip.paired_tests`.
    """
    table = np.atleast_2d(np.asarray(sums, dtype=np.float64))
    found = np.ones(len(table))
    norm = np.sqrt((table**2).sum(axis=1))
    moving = np.flatnonzero(norm > 0)
    if not len(moving):
        return found
    scaled = table[moving] / norm[moving, None]
    observed = scaled.sum(axis=1)
    if not one_sided:
        np.abs(observed, out=observed)
    # ascending, so that the running maximum covers all comparisons not yet rejected
    order = np.argsort(observed, kind="stable")
    scaled, observed = scaled[order], observed[order] - _ROUNDING
    totals = scaled.sum(axis=1, keepdims=True)
    subsets = Subsets(table.shape[1], seed, draws)
    as_far = np.ones(len(order))
    for block in subsets.blocks(_PATTERNS):
        flips, highest = -2.0 * block.T, np.full(len(block), -np.inf)
        for start in range(0, len(order), _ROWS):
            rows = slice(start, start + _ROWS)
            statistics = scaled[rows] @ flips + totals[rows]
            if not one_sided:
                np.abs(statistics, out=statistics)
            for place, row in enumerate(statistics, start):
                np.maximum(highest, row, out=highest)
                as_far[place] += np.count_nonzero(highest >= observed[place])
    # a comparison cannot be rejected before those with larger statistics
    stepped = np.maximum.accumulate((as_far / subsets.total)[::-1])[::-1]
    found[moving[order]] = stepped
    return found


def max_t_family(
    tests: Sequence[Tested], sums: npt.ArrayLike, seed: int, draws: int = DRAWS
) -> Family:
    """Return the family of sign-flip ``tests`` on ``sums`` [M, K], adjusted by :func:`max_t`.

    ``sums``: those of the tests, with the same columns for all of them. nan if a test has no p.
    """
    raw = np.array([test.p for test in tests])
    adjusted = np.maximum(raw, max_t(sums, seed, draws=draws)) if len(tests) else raw
    floor = min((test.floor for test in tests if not math.isnan(test.p)), default=1.0)
    note = ""
    if floor > LEVELS[0] and len(tests):
        note = f"no adjusted p can reach {LEVELS[0]:g}; the smallest possible is {floor:.2g}"
    return Family(adjusted, floor, note)


def holm_family(tests: Sequence[Tested]) -> Family:
    """Return Holm's correction of the p-values, for tests without common sign flips."""
    known = [test for test in tests if not math.isnan(test.p)]
    floor = len(known) * min((test.floor for test in known), default=1.0)
    exact = all(test.exact for test in tests)
    return Family(
        holm([test.p for test in tests]), min(1.0, floor), _note(floor, len(known), exact), "Holm"
    )


def _note(floor: float, comparisons: int, exact: bool) -> str:
    """Return a note if Holm cannot reach a level; ``floor``: smallest p times number of comparisons, possibly above 1."""
    if floor <= LEVELS[0] or not comparisons:
        return ""
    # every further unit that differs halves the smallest p
    more = (
        f"; {counted(math.ceil(math.log2(floor / LEVELS[0]) - 1e-12), 'more unit')} would suffice"
        if exact
        else ""
    )
    corrected = f"adjusted for {counted(comparisons, 'comparison')}, no p can reach {LEVELS[0]:g}"
    return f"{corrected}: the smallest possible is {min(1.0, floor):.2g}{more}"


def holm(p: npt.ArrayLike) -> Floats:
    """Return Holm's step-down correction: float64, in the given order; rejecting if p ≤ α keeps the family-wise error ≤ α.

    The i-th smallest of m values is multiplied by m − i + 1; it is at least as large as those before it and at most 1. nan is
    not a comparison and stays nan. Holm (1979).
    """
    values = np.asarray(p, dtype=np.float64)
    corrected = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return corrected


#: Random subsets for each draw.
SUBSETS = 999
#: Sign patterns for each draw of a family; all draws together have tens of thousands.
FAMILY_PATTERNS = 199
#: Ratios in memory at the same time, which limits memory to about 100 MB.
_RATIOS = 4_000_000


def completed_intervals(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, seed: int, confidence: float = CONFIDENCE
) -> tuple[Floats, Floats]:
    """Return lower and upper limits, float64[C] each, of C differences Σy / Σn.

    ``sums``: y, float64[D, C, K], by draw, difference and unit. ``sizes``: n, float64[K], turns of every unit. NaN if there is
    no interval: below six units, or if too few units differ in half of the draws (the rule without draws). Seeded; all
    differences share their subsets.
    """
    drawn, counts = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    draws, differences, units = drawn.shape
    low, high = np.full((2, differences), math.nan)
    if units < LEAST_UNITS:
        return low, high
    moved = np.ptp(drawn, axis=0).max(axis=1) > 1e-12
    for place, test in zip(
        np.flatnonzero(~moved), paired_tests(drawn[0, ~moved], counts, seed), strict=True
    ):
        low[place], high[place] = test.low, test.high
    place = math.floor((1 - confidence) * (draws * SUBSETS + 1) / 2 + 1e-9)
    moving = np.median((np.abs(drawn) > 1e-12).sum(axis=2), axis=0)
    open_ = np.flatnonzero(
        moved & np.array([not sparse_note(int(some), units, "unit") for some in moving], dtype=bool)
    )
    if not len(open_):
        return low, high
    shape = units, SUBSETS
    subsets = [
        np.random.default_rng([seed, number]).integers(0, 2, shape).astype(np.uint8)
        for number in range(draws)
    ]
    bottoms = np.concatenate([counts @ subset for subset in subsets])
    step = max(1, _RATIOS // (draws * SUBSETS))
    for start in range(0, len(open_), step):
        some = open_[start : start + step]
        tops = np.empty((len(some), draws, SUBSETS))
        for number, subset in enumerate(subsets):
            tops[:, number] = drawn[number, some] @ subset.astype(np.float64)
        for row, difference in zip(tops, some, strict=True):
            low[difference], high[difference] = limits(row.ravel(), bottoms, place)
    return low, high


def completed_family(sums: npt.ArrayLike, seed: int) -> Floats:
    """Return the p-values, float64[C], of C differences, adjusted for all of them.

    ``sums``: float64[D, C, K], by draw, difference and unit. In every draw, each difference has the step-down max-T p of
    :func:`~robustcs.statistics.families.max_t`; p is their mean, as in the mixture of :func:`completed_intervals`. A draw in
    which a difference has the other sign counts as 2, as in a two-sided p. So if draws disagree on the sign, nothing is
    rejected. If the draws do not differ, the result is max-T. NaN below five units. Seeded.
    """
    drawn = np.asarray(sums, dtype=np.float64)
    draws, differences, units = drawn.shape
    if units < LEAST_UNITS:
        return np.full(differences, math.nan)
    if not (np.ptp(drawn, axis=0) > 1e-12).any():
        return max_t(drawn[0], seed)
    scaled, totals = _scaled(drawn)
    order = np.argsort(np.abs(totals), axis=1, kind="stable")
    scaled, observed = (
        np.take_along_axis(one, order[..., None], axis=1)
        for one in (scaled, np.abs(totals)[..., None])
    )
    as_far = np.empty((differences, draws))
    for some, statistics in _statistics(scaled, seed):
        # ascending, so that the running maximum covers all differences not yet rejected
        for below, row in itertools.pairwise(statistics):
            np.maximum(below, row, out=row)
        as_far[:, some] = (statistics >= observed[some].swapaxes(0, 1) - _ROUNDING).sum(axis=2)
    found = np.empty((draws, differences))
    np.put_along_axis(found, order, np.maximum.accumulate(as_far[::-1])[::-1].T, axis=1)
    return _mean_p(found, totals)


def completed_differ(
    sums: npt.ArrayLike,
    seed: int,
    asked: Sequence[int],
    largest: Floats | None = None,
    alpha: float = LEVELS[0],
) -> npt.NDArray[np.bool_]:
    """Return whether some differences (bool[A], numbers ``asked``) have a p of :func:`completed_family` up to ``alpha``.

    Bounds decide in most cases. ``largest``: the :func:`largest_statistics` of the others, and possibly of further differences.
    """
    drawn = np.asarray(sums, dtype=np.float64)
    if drawn.shape[2] >= LEAST_UNITS and (np.ptp(drawn, axis=0) > 1e-12).any():
        scaled, totals = _scaled(drawn[:, asked])
        own = np.abs(scaled @ _patterns(seed, len(drawn), drawn.shape[2]))
        observed = np.abs(totals)[..., None] - _ROUNDING
        # p is at least that of the difference alone, and at most that of the single-step max-T
        above = _mean_p((own >= observed).sum(axis=2), totals) > alpha
        if above.all():
            return ~above
        largest = largest_statistics(drawn, seed) if largest is None else largest
        found = (
            _mean_p((np.maximum(own, largest[:, None]) >= observed).sum(axis=2), totals) <= alpha
        )
        if (above | found).all():
            return np.asarray(found)
    return np.asarray(completed_family(drawn, seed)[asked] <= alpha)


def largest_statistics(sums: Floats, seed: int) -> Floats:
    """Return float64[D, :data:`FAMILY_PATTERNS`]: the largest statistic of all differences, by draw and sign pattern."""
    return np.concatenate(
        [statistics.max(axis=0) for _, statistics in _statistics(_scaled(sums)[0], seed)]
    )


def _scaled(drawn: Floats) -> tuple[Floats, Floats]:
    """Return differences with a sum of squares of 1, or 0, and their sums over units, float64[D, C], without rounding noise."""
    norm = np.sqrt((drawn**2).sum(axis=2, keepdims=True))
    scaled = np.divide(drawn, norm, out=np.zeros_like(drawn), where=norm > 0)
    totals = scaled.sum(axis=2)
    return scaled, np.where(np.abs(totals) < _ROUNDING, 0.0, totals)


def _statistics(scaled: Floats, seed: int) -> Iterator[tuple[slice, Floats]]:
    """Yield some draws and their statistics, float64[C, d, :data:`FAMILY_PATTERNS`]."""
    draws, differences, units = scaled.shape
    signs, step = _patterns(seed, draws, units), max(1, _CELLS // (differences * FAMILY_PATTERNS))
    for some in (slice(start, start + step) for start in range(0, draws, step)):
        # by difference first: the maximum of whole rows is several times faster than along rows
        statistics = np.empty((differences, len(scaled[some]), FAMILY_PATTERNS))
        np.matmul(scaled[some], signs[some], out=statistics.swapaxes(0, 1))
        yield some, np.abs(statistics, out=statistics)


def _mean_p(as_far: npt.NDArray[Any], totals: Floats) -> Floats:
    """Return p from the number of patterns as far as observed, by draw and difference."""
    sides = [
        np.where(ahead, as_far, 2 * FAMILY_PATTERNS).sum(axis=0)
        for ahead in (totals > 0, totals < 0)
    ]
    return np.asarray(
        np.minimum(1.0, (1 + np.minimum(*sides)) / (1 + len(totals) * FAMILY_PATTERNS))
    )


@lru_cache(maxsize=1)
def _patterns(seed: int, draws: int, units: int) -> Floats:
    """Return float64[D, K, :data:`FAMILY_PATTERNS`]: the signs of every draw."""
    shape = units, FAMILY_PATTERNS
    return np.stack(
        [
            np.random.default_rng([seed, number]).integers(0, 2, shape) * 2.0 - 1
            for number in range(draws)
        ]
    )


def compact_letters(count: int, apart: Mapping[tuple[int, int], bool]) -> tuple[str, ...]:
    """Return letters for ``count`` systems, best first: two share a letter if and only if they do not differ significantly.

    ``apart``: pair of indices (i, j), i < j → whether the two differ significantly; absent pairs were not tested and do not
    differ. Letters run a … z, aa, ab …; each names a group of systems without significant differences, and the best system has
    an a. Groups are grown greedily in the given order, and redundant ones are removed (after Piepho 2004, "An algorithm for a
    letter-based representation of all-pairwise comparisons"). The letters are few, but not provably the fewest.
    """
    alike = [
        [i == j or not apart.get((min(i, j), max(i, j)), False) for j in range(count)]
        for i in range(count)
    ]
    groups: list[set[int]] = []
    covered: set[tuple[int, int]] = set()
    for first in range(count):
        for second in range(first, count):
            if alike[first][second] and (first, second) not in covered:
                group = _grown({first, second}, first, alike)
                groups.append(group)
                covered |= _pairs(group)
    groups = _needed(groups)
    groups.sort(key=sorted)
    return tuple(
        " ".join(_letter(place) for place, group in enumerate(groups) if system in group)
        for system in range(count)
    )


def letters_of(
    values: Sequence[float],
    corrected: Mapping[tuple[int, int], float],
    alpha: float = 0.05,
    left_out: Collection[int] = (),
) -> list[str]:
    """Return the letters of systems, in their order, from their means and the adjusted p of every pair of indices (or nan).

    ``left_out``: indices of systems without letters.
    """
    order = sorted(
        (place for place in range(len(values)) if place not in left_out),
        key=lambda place: -values[place],
    )
    rank = {place: position for position, place in enumerate(order)}
    known = (
        (rank[one], rank[two], p)
        for (one, two), p in corrected.items()
        if one in rank and two in rank
    )
    apart = {(min(one, two), max(one, two)): p <= alpha for one, two, p in known}
    letters = compact_letters(len(order), apart) if apart else [""] * len(order)
    return [letters[rank[place]] if place in rank else "" for place in range(len(values))]


def _grown(group: set[int], start: int, alike: Sequence[Sequence[bool]]) -> set[int]:
    """Return ``group`` with every further system that differs from none of its members, nearest to ``start`` first."""
    for system in sorted(range(len(alike)), key=lambda place: abs(place - start)):
        if all(alike[system][member] for member in group):
            group.add(system)
    return group


def _pairs(group: set[int]) -> set[tuple[int, int]]:
    return {(i, j) for i in group for j in group if i <= j}


def _needed(groups: list[set[int]]) -> list[set[int]]:
    """Return the groups without those whose pairs are all in other groups."""
    times = Counter(pair for group in groups for pair in _pairs(group))
    kept = []
    for group in sorted(groups, key=len):
        pairs = _pairs(group)
        if all(times[pair] > 1 for pair in pairs):
            times.subtract(pairs)
        else:
            kept.append(group)
    return kept


def _letter(place: int) -> str:
    """Return a … z, aa, ab, …"""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
