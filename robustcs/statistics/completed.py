"""Differences between systems where part of the data was drawn: sampling and the draws in one interval.

Every draw completes the data and has a sign-flip distribution of its own: the ratios Σ_S y / Σ_S n over random subsets S of the
units, whose ends are the interval of :mod:`robustcs.statistics.sign_flip`. The mixture of all draws' distributions has the
variance within the draws plus that between them, as Rubin's (1987) rules for multiple imputation have it, and its tails without
their normal approximation. The limits are its quantiles, at the places that the test would take. Where the draws agree, the
interval is that of the test.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, sparse_note
from robustcs.statistics.families import max_t
from robustcs.statistics.sign_flip import limits, paired_tests

Floats = npt.NDArray[np.float64]

#: Random subsets for each draw.
SUBSETS = 999
#: Sign patterns for each draw of a family: their draws together make some tens of thousands.
FAMILY_PATTERNS = 199
#: Statistics are at most √K; differences below this are rounding.
_ROUNDING = 1e-9
#: Ratios held at a time: bounds working memory to some 100 MB.
_CELLS = 4_000_000


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
    step = max(1, _CELLS // (draws * SUBSETS))
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
    step = max(1, _CELLS // (differences * FAMILY_PATTERNS))
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
