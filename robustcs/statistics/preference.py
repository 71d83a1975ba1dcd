"""The share of judgments that prefer one of two systems, with a test of "it is one half"."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from robustcs.lazy import special
from robustcs.statistics import Floats
from robustcs.statistics.estimate import (
    CONFIDENCE,
    LEAST_UNITS,
    Tested,
    floor_note,
    joined,
    units_note,
)
from robustcs.statistics.means import SHARE_METHOD, cluster_ratio, share_estimates
from robustcs.statistics.student import t_p

EXACT_METHOD = "exact binomial test"


def preferred_share(wins: npt.ArrayLike, decided: npt.ArrayLike, noun: str = "judgment") -> Tested:
    """Return the share Σ wins / Σ decided of K units (K numbers each), and its two-sided p.

    The hypothesis is "the share is one half". If every unit has one judgment, these are the exact
    binomial test and the interval of Clopper & Pearson (1934), its inversion. If units have
    several, correlated judgments, the interval is Wilson's with the effective sample size of the
    units (:func:`~robustcs.statistics.means.share_estimates`), and p is that of its score test.
    Units without a decided judgment are ignored. No interval below five units.
    """
    hits, sizes = np.asarray(wins, dtype=np.float64), np.asarray(decided, dtype=np.float64)
    hits, sizes = hits[sizes > 0], sizes[sizes > 0]
    units = len(sizes)
    if not units:
        note = f"no {noun} is decided"
        return Tested(math.nan, math.nan, math.nan, 0, EXACT_METHOD, note, p=1.0, floor=1.0)
    if (sizes == 1).all():
        return _of_single_judgments(int(hits.sum()), units, noun)
    return _of_repeated_judgments(hits, sizes, noun)


def _of_single_judgments(wins: int, judgments: int, noun: str) -> Tested:
    losses = judgments - wins
    low, high = math.nan, math.nan
    if judgments >= LEAST_UNITS:
        tail = (1 - CONFIDENCE) / 2
        low = float(special.betaincinv(wins, losses + 1, tail)) if wins else 0.0
        high = float(special.betaincinv(wins + 1, losses, 1 - tail)) if losses else 1.0
    floor = 2.0 ** (1 - judgments)
    return Tested(
        wins / judgments,
        low,
        high,
        judgments,
        EXACT_METHOD,
        joined(units_note(judgments, noun), floor_note(floor)),
        p=mcnemar_exact(wins, losses),
        floor=floor,
        exact=True,
        moving=judgments,
    )


def _of_repeated_judgments(hits: Floats, sizes: Floats, noun: str) -> Tested:
    (share,) = share_estimates(hits, sizes, noun)
    units = len(sizes)
    variance = float(cluster_ratio(hits, sizes).variance[0])
    half_a_judgment = 0.5 / sizes.sum()
    inside = min(max(share.value, half_a_judgment), 1 - half_a_judgment)
    trials = inside * (1 - inside) / variance if variance > 0 else units
    p = math.nan
    if units > 1:
        p = t_p((share.value - 0.5) * math.sqrt(4 * trials), units - 1)
    return Tested(
        share.value,
        share.low,
        share.high,
        units,
        SHARE_METHOD,
        share.note,
        p=p,
        floor=0.0,
        exact=True,
        moving=int((hits != sizes / 2).sum()),
    )


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Return the two-sided p of McNemar's exact test.

    ``only_first`` and ``only_second``: the turns that only one of two systems answers correctly. p
    is twice the binomial tail of the smaller number out of their sum at 1/2, at most 1 (McNemar
    1947). Equal to ``scipy.stats.binomtest(b, b + c)``, computed in integers and without its import
    time.
    """
    discordant = only_first + only_second
    tail, coefficient = 0, 1
    for hits in range(min(only_first, only_second) + 1):
        tail += coefficient
        coefficient = coefficient * (discordant - hits) // (hits + 1)
    return min(1.0, float(2 * tail / 2**discordant))
