"""Is one of two sides preferred? A share against one half, with an interval that leaves out one half exactly where p ≤ .05."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, Tested, floor_note, joined, units_note
from robustcs.statistics.means import SHARE_METHOD, cluster_ratio, share_estimates
from robustcs.statistics.paired import mcnemar_exact

EXACT_METHOD = "exact binomial test"


def preferred_share(wins: npt.ArrayLike, decided: npt.ArrayLike, noun: str = "judgment") -> Tested:
    """The share Σ wins / Σ decided of K units (K numbers each), and p of "it is one half", two-sided.

    Where every unit has one judgment these are the exact binomial test and the interval of Clopper & Pearson (1934), its
    inversion. Where units have several, which depend on each other, it is Wilson's interval with the units' effective sample
    size (:func:`share_estimates`), and p is that of its score test. Units without a decided judgment take no part. No interval
    below five units.
    """
    hits, sizes = np.asarray(wins, dtype=np.float64), np.asarray(decided, dtype=np.float64)
    hits, sizes = hits[sizes > 0], sizes[sizes > 0]
    units = len(sizes)
    if not units:
        return Tested(math.nan, math.nan, math.nan, 0, EXACT_METHOD, f"no {noun} decides", 1.0, 1.0)
    return _single(int(hits.sum()), units, noun) if (sizes == 1).all() else _repeated(hits, sizes, noun)


def _single(wins: int, number: int, noun: str) -> Tested:
    from scipy.special import betaincinv

    low, high = math.nan, math.nan
    if number >= LEAST_UNITS:
        tail = (1 - CONFIDENCE) / 2
        low = float(betaincinv(wins, number - wins + 1, tail)) if wins else 0.0
        high = float(betaincinv(wins + 1, number - wins, 1 - tail)) if wins < number else 1.0
    floor = min(1.0, 2.0 ** (1 - number))
    notes = joined(units_note(number, noun), floor_note(floor))
    p = mcnemar_exact(wins, number - wins)
    return Tested(wins / number, low, high, number, EXACT_METHOD, notes, p, floor, True, number)


def _repeated(hits: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64], noun: str) -> Tested:
    from scipy.special import stdtr

    (found,) = share_estimates(hits, sizes, noun)
    share, units = found.value, len(sizes)
    variance = float(cluster_ratio(hits, sizes).variance[0])
    inside = min(max(share, 0.5 / sizes.sum()), 1 - 0.5 / sizes.sum())
    trials = inside * (1 - inside) / variance if variance > 0 else units
    p = min(1.0, 2 * float(stdtr(units - 1, -abs(share - 0.5) * math.sqrt(4 * trials)))) if units > 1 else math.nan
    return Tested(share, found.low, found.high, units, SHARE_METHOD, found.note, p, 0.0, True, int((hits != sizes / 2).sum()))
