"""Adjust the p-values of comparisons that are read together, so that the chance of any false one stays at α.

Step-down max-T (Westfall & Young 1993, algorithm 2.8) on sign flips of whole units: every sign pattern gives each comparison m
the statistic |Σ s_k d_mk| / √Σ d_mk², and the largest statistic among the comparisons not yet rejected is what each observed
one must beat. All comparisons share their patterns, so their dependence counts: pairs of the same systems cost far less than in
Holm's correction, which remains for p-values that no sign flip gives (correlations, binomial tests).

Differences between systems where part of the data was drawn: sampling and the draws in one interval.

Every draw completes the data and has a sign-flip distribution of its own: the ratios Σ_S y / Σ_S n over random subsets S of the
units, whose ends are the interval of :mod:`robustcs.statistics.sign_flip`. The mixture of all draws' distributions has the
variance within the draws plus that between them, as Rubin's (1987) rules for multiple imputation have it, and its tails without
their normal approximation. The limits are its quantiles, at the places that the test would take. Where the draws agree, the
interval is that of the test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Floats
from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, LEVELS, Tested, sparse_note
from robustcs.statistics.sign_flip import DRAWS, Subsets, limits, paired_tests
from robustcs.wording import counted

Method = Literal["max-T", "Holm"]
#: Statistics held at a time: few enough for the processor's cache.
_CELLS = 250_000
#: Statistics are at most √K; differences below this are rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Family:
    """The p-values of M comparisons that are read together, adjusted.

    p
        float64[M], in the order given, never below the raw one; rejecting where it is ≤ α keeps the family-wise error ≤ α.
    floor
        The smallest value that an adjusted p could have.
    exact
        Whether a p at the floor is a value rather than a bound.
    note
        Where the design cannot reach .05 at all.
    method
        How they were adjusted.
    """

    p: Floats
    floor: float
    exact: bool
    note: str
    method: Method = "max-T"

    def describe(self, noun: str = "comparison") -> str:
        """Return ``max-T over 66 comparisons``, for the note below a table; ``noun``: what is compared, such as ``pair``."""
        return f"{self.method} over {counted(len(self.p), noun)}"


def max_t(sums: npt.ArrayLike, seed: int, one_sided: bool = False, draws: int = DRAWS) -> Floats:
    """Return the step-down max-T p-values, float64[M], of "Σ_k ``sums``[m, k] is 0" (``one_sided``: "is at most 0").

    ``sums``: float64[M, K], a column per unit; 0 where a comparison has no turns in a unit. A comparison without any difference
    has p 1. All 2^K patterns up to 16 units, else ``draws`` random ones and the observed one, as in
    :func:`~robustcs.statistics.sign_flip.paired_tests`.
    """
    table = np.atleast_2d(np.asarray(sums, dtype=np.float64))
    found = np.ones(len(table))
    norm = np.sqrt((table**2).sum(axis=1))
    scale = np.abs(table).max(axis=1, initial=0.0)
    moving = np.flatnonzero(scale > 0)
    if not len(moving):
        return found
    scaled = table[moving] / norm[moving, None]
    observed = scaled.sum(axis=1)
    if not one_sided:
        np.abs(observed, out=observed)
    # the smallest first, so that a running maximum is that of all comparisons not yet rejected
    order = np.argsort(observed, kind="stable")
    scaled, observed = scaled[order], observed[order, None] - _ROUNDING
    subsets = Subsets(table.shape[1], seed, draws)
    as_far = np.ones(len(order))
    for block in subsets.blocks(max(1, _CELLS // len(order))):
        statistics = scaled @ (1.0 - 2.0 * block.T)
        if not one_sided:
            np.abs(statistics, out=statistics)
        np.maximum.accumulate(statistics, axis=0, out=statistics)
        as_far += np.count_nonzero(statistics >= observed, axis=1)
    # a comparison cannot be rejected before those that lie further out
    stepped = np.maximum.accumulate((as_far / subsets.total)[::-1])[::-1]
    found[moving[order]] = stepped
    return found


def max_t_family(tests: Sequence[Tested], sums: npt.ArrayLike, seed: int, draws: int = DRAWS) -> Family:
    """Return the family of sign-flip ``tests`` on ``sums`` [M, K], adjusted by :func:`max_t`.

    ``sums`` are those that the tests were made of, with the same columns for all of them; nan where a test has no p.
    """
    raw = np.array([test.p for test in tests])
    adjusted = np.maximum(raw, max_t(sums, seed, draws=draws)) if len(tests) else raw
    floor = min((test.floor for test in tests if not math.isnan(test.p)), default=1.0)
    exact = all(test.exact for test in tests)
    note = ""
    if floor > LEVELS[0] and len(tests):
        note = f"no p-value can reach {LEVELS[0]:g}: the smallest possible is {floor:.2g}"
    return Family(adjusted, floor, exact, note)


def holm_family(tests: Sequence[Tested]) -> Family:
    """Return Holm's correction of the tests' p-values, for tests that share no sign flips."""
    known = [test for test in tests if not math.isnan(test.p)]
    floor = len(known) * min((test.floor for test in known), default=1.0)
    exact = all(test.exact for test in tests)
    return Family(holm([test.p for test in tests]), min(1.0, floor), exact, _note(floor, len(known), exact), "Holm")


def _note(floor: float, comparisons: int, exact: bool) -> str:
    """What Holm cannot reach where the smallest p times their number is ``floor``, which may be above 1."""
    if floor <= LEVELS[0] or not comparisons:
        return ""
    # every further unit with a difference halves the smallest p
    more = f"; {counted(math.ceil(math.log2(floor / LEVELS[0]) - 1e-12), 'more unit')} could" if exact else ""
    corrected = f"corrected for {counted(comparisons, 'comparison')} no p can reach {LEVELS[0]:g}"
    return f"{corrected}: the smallest possible is {min(1.0, floor):.2g}{more}"


def holm(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Holm's step-down correction: float64, in the order given; rejecting where it is ≤ α keeps the family-wise error ≤ α.

    The i-th smallest of m values is multiplied by m − i + 1 and is at least as large as those before it, at most 1. nan is
    no comparison and stays nan. Holm (1979).
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
#: Sign patterns for each draw of a family: their draws together make some tens of thousands.
FAMILY_PATTERNS = 199
#: Ratios held at a time: bounds working memory to some 100 MB.
_RATIOS = 4_000_000


def completed_intervals(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, seed: int, confidence: float = CONFIDENCE
) -> tuple[Floats, Floats]:
    """Lower and upper limits, float64[C] each, of C differences Σy / Σn.

    ``sums``: y float64[D, C, K], a sum for each of D draws, differences and units. ``sizes``: n float64[K], turns of every
    unit. NaN where no interval can be given: below six units, or where too few units differ in half of the draws, as without
    draws. Seeded; all differences share their subsets.
    """
    drawn, counts = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    draws, differences, units = drawn.shape
    low, high = np.full((2, differences), math.nan)
    if units < LEAST_UNITS:
        return low, high
    moved = np.ptp(drawn, axis=0).max(axis=1) > 1e-12
    for place, test in zip(np.flatnonzero(~moved), paired_tests(drawn[0, ~moved], counts, seed), strict=True):
        low[place], high[place] = test.low, test.high
    place = math.floor((1 - confidence) * (draws * SUBSETS + 1) / 2 + 1e-9)
    moving = np.median((np.abs(drawn) > 1e-12).sum(axis=2), axis=0)
    open_ = np.flatnonzero(moved & np.array([not sparse_note(int(some), units, "unit") for some in moving], dtype=bool))
    step = max(1, _RATIOS // (draws * SUBSETS))
    for start in range(0, len(open_), step):
        some = open_[start : start + step]
        tops, bottoms = np.empty((len(some), draws, SUBSETS)), np.empty((draws, SUBSETS))
        for number in range(draws):
            flipped = np.random.default_rng([seed, number]).integers(0, 2, (units, SUBSETS)).astype(np.float64)
            tops[:, number], bottoms[number] = drawn[number, some] @ flipped, counts @ flipped
        for row, difference in zip(tops, some, strict=True):
            low[difference], high[difference] = limits(row.ravel(), bottoms.ravel(), place)
    return low, high


def completed_family(sums: npt.ArrayLike, seed: int) -> Floats:
    """Return the p-values, float64[C], of C differences that are read together, adjusted over all of them.

    ``sums``: float64[D, C, K], a sum for each of D draws, differences and units. Every draw has the step-down max-T p of
    :func:`~robustcs.statistics.families.max_t` for each difference; their mean is p, as in the mixture behind
    :func:`completed_intervals`. A draw in which a difference has the other sign counts as 2, as it does in a two-sided p: where
    draws disagree on the sign, nothing is rejected. Without anything that draws leave open it is max-T itself. NaN below five
    units. Seeded.
    """
    drawn = np.asarray(sums, dtype=np.float64)
    draws, differences, units = drawn.shape
    if units < LEAST_UNITS:
        return np.full(differences, math.nan)
    if not (np.ptp(drawn, axis=0) > 1e-12).any():
        return max_t(drawn[0], seed)
    norm = np.sqrt((drawn**2).sum(axis=2, keepdims=True))
    scaled = np.divide(drawn, norm, out=np.zeros_like(drawn), where=norm > 0)
    totals = scaled.sum(axis=2)
    order = np.argsort(np.abs(totals), axis=1, kind="stable")
    scaled, observed = (np.take_along_axis(one, order[..., None], axis=1) for one in (scaled, np.abs(totals)[..., None]))
    found = np.empty((draws, differences))
    step = max(1, _RATIOS // (differences * FAMILY_PATTERNS))
    for start in range(0, draws, step):
        some = slice(start, start + step)
        statistics = np.abs(scaled[some] @ _patterns(seed, draws, units)[some])
        # the smallest first, so that a running maximum is that of all differences not yet rejected
        np.maximum.accumulate(statistics, axis=1, out=statistics)
        as_far = (statistics >= observed[some] - _ROUNDING).sum(axis=2)
        stepped = np.maximum.accumulate(as_far[:, ::-1], axis=1)[:, ::-1]
        np.put_along_axis(found[some], order[some], stepped.astype(np.float64), axis=1)
    sides = [np.where(ahead, found, 2 * FAMILY_PATTERNS).sum(axis=0) for ahead in (totals > 0, totals < 0)]
    return np.asarray(np.minimum(1.0, (1 + np.minimum(*sides)) / (1 + draws * FAMILY_PATTERNS)))


@lru_cache(maxsize=1)
def _patterns(seed: int, draws: int, units: int) -> Floats:
    """float64[D, K, :data:`FAMILY_PATTERNS`]: the signs of every draw."""
    shape = units, FAMILY_PATTERNS
    return np.stack([np.random.default_rng([seed, number]).integers(0, 2, shape) * 2.0 - 1 for number in range(draws)])


def compact_letters(count: int, apart: Mapping[tuple[int, int], bool]) -> tuple[str, ...]:
    """Letters for ``count`` systems, best first: two share a letter exactly where they are not told apart.

    ``apart`` says for every pair of places (i, j), i < j, whether the tests tell the two apart; a pair that it lacks was not
    tested and is not. Letters run a … z, aa, ab …; each names a group of systems none of which is told apart from another, and
    the best system has an a. Groups are grown greedily in the given order and those that add nothing are left out (after Piepho
    2004, "An algorithm for a letter-based representation of all-pairwise comparisons"): few letters, not provably the fewest.
    """
    alike = [[i == j or not apart.get((min(i, j), max(i, j)), False) for j in range(count)] for i in range(count)]
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
    return tuple(" ".join(_letter(place) for place, group in enumerate(groups) if system in group) for system in range(count))


def letters_of(values: Sequence[float], corrected: Mapping[tuple[int, int], float], alpha: float = 0.05) -> list[str]:
    """The letters of systems, in their order, by their means and the corrected p of every pair of places."""
    order = sorted(range(len(values)), key=lambda place: -values[place])
    rank = {place: position for position, place in enumerate(order)}
    ranked = {(min(rank[one], rank[two]), max(rank[one], rank[two])): p for (one, two), p in corrected.items()}
    letters = compact_letters(len(values), told_apart(ranked, alpha))
    return [letters[rank[place]] for place in range(len(values))]


def told_apart(corrected: Mapping[tuple[int, int], float], alpha: float = 0.05) -> dict[tuple[int, int], bool]:
    """Which pairs a corrected p tells apart at ``alpha``; nan does not."""
    return {pair: p <= alpha for pair, p in corrected.items()}


def _grown(group: set[int], start: int, alike: Sequence[Sequence[bool]]) -> set[int]:
    """``group`` with every further system that is like all of its members, nearest to ``start`` first."""
    for system in sorted(range(len(alike)), key=lambda place: abs(place - start)):
        if all(alike[system][member] for member in group):
            group.add(system)
    return group


def _pairs(group: set[int]) -> set[tuple[int, int]]:
    return {(i, j) for i in group for j in group if i <= j}


def _needed(groups: list[set[int]]) -> list[set[int]]:
    """The groups without those all of whose pairs stand together in others."""
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
    """a … z, aa, ab, …"""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
