"""Means and shares over the turns of units of different lengths, with intervals that treat units as independent.

Inputs are sums over units (:class:`~robustcs.statistics.units.Units`): y_g, the sum of the values of the turns of unit g, and
n_g, the number of these turns. The estimate is the mean over turns, θ = Σy / Σn. Its variance is cluster-robust with the
correction CR2 of Bell & McCaffrey (2002), which for a mean is Σ e_g² / (1 − n_g/N) / N² with e_g = y_g − θ n_g and N = Σn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.lazy import special
from robustcs.statistics import Codes, Floats
from robustcs.statistics.estimate import (
    CONFIDENCE,
    LEAST_UNITS,
    Estimate,
    Tested,
    alike_note,
    carried_note,
    carried_share,
    floor_note,
    joined,
    units_note,
)
from robustcs.statistics.units import Units

MEAN_METHOD = "cluster-robust t (CR2)"
BOUNDED_METHOD = "cluster-robust t (CR2) on the logit"
SHARE_METHOD = "Wilson with the effective sample size of the units"


class Ratio(NamedTuple):
    """Σy / Σn of M estimates, its variance, and the number of units with turns: float64[M], float64[M], int64[M]."""

    value: Floats
    variance: Floats
    units: Codes


def cluster_ratio(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> Ratio:
    """Return θ and its CR2 variance from ``sums`` [M, K] and ``sizes`` [K] or [M, K]; nan without turns or for a single unit.

    Units without turns are ignored. If every unit has one turn, the variance is s²/K.
    """
    tops, counts = np.broadcast_arrays(
        *(np.asarray(part, dtype=np.float64) for part in (np.atleast_2d(sums), sizes))
    )
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = tops.sum(axis=1, keepdims=True) / total
        rest = tops - value * counts
        # exact zeros may be computed as 1e-17
        rest[np.abs(rest) <= 1e-12 * np.abs(tops).sum(axis=1, keepdims=True)] = 0.0
        variance = (rest**2 / (1 - counts / total)).sum(axis=1) / total[:, 0] ** 2
    units = (counts > 0).sum(axis=1)
    return Ratio(value[:, 0], np.where(units > 1, variance, np.nan), units)


def t_quantile(units: npt.ArrayLike, confidence: float = CONFIDENCE) -> Floats:
    """Return the two-sided quantile of Student's t with units − 1 degrees of freedom, at least 1; nan for a single unit."""
    freedom, place = np.unique(np.asarray(units, dtype=np.float64) - 1, return_inverse=True)
    found = np.array(
        [_quantile(max(one, 1.0), confidence) if one > 0 else math.nan for one in freedom.tolist()]
    )
    return np.asarray(found[place].reshape(np.shape(units)))


@lru_cache(maxsize=4096)
def _quantile(freedom: float, confidence: float) -> float:
    """Return the two-sided quantile of Student's t to 12 digits, without the import time of scipy.special.

    Newton's method from the left, where the tail is convex. From 1,000 degrees on, an expansion around the quantile of the
    normal distribution (Abramowitz & Stegun 1964, 26.7.5) is as exact.
    """
    z, t = 0.0, 1e-3
    while t > z:
        z, t = (
            t,
            t
            - (math.erf(t / math.sqrt(2)) - confidence)
            / (math.sqrt(2 / math.pi) * math.exp(-t * t / 2)),
        )
    if freedom >= 1000:
        powers = (
            (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )  # fmt: skip
        return z + sum(term / freedom**place for place, term in enumerate(powers, 1))
    half = freedom / 2
    scale = math.exp(math.lgamma(half + 0.5) - math.lgamma(half)) / math.sqrt(freedom * math.pi)
    t, before = max(z, 1e-3), 0.0
    while t - before > 1e-15 * t:
        x = freedom / (freedom + t * t)
        density = scale * x ** (half + 0.5)
        before, t = (
            t,
            t
            + (density * t / half * _beta_fraction(half, 0.5, x) - (1 - confidence))
            / (2 * density),
        )
    return t


def t_p(t: float, freedom: float) -> float:
    """Return the two-sided p of Student's t to 10 digits, without the import time of scipy.special; ``freedom``: at least 1."""
    half, y = freedom / 2, t * t / (freedom + t * t)
    front = math.exp(
        math.lgamma(half + 0.5) - math.lgamma(half) - half * math.log1p(t * t / freedom)
    ) * math.sqrt(y / math.pi)
    if y > 1.5 / (half + 2.5):
        return front / half * _beta_fraction(half, 0.5, 1 - y)
    return 1 - 2 * front * _beta_fraction(0.5, half, y)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function by Lentz's method (Press et al. 2007, 6.4)."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value, m, change = d, 1, 0.0
    while abs(change - 1) > 1e-15:
        change = 1.0
        for top in (
            m * (b - m) * x / (a + 2 * m - 1),
            -(a + m) * (a + b + m) * x / (a + 2 * m + 1),
        ):
            d = 1 / (1 + top / (a + 2 * m) * d)
            c = 1 + top / (a + 2 * m) / c
            change *= c * d
        value, m = value * change, m + 1
    return value


def mean_estimates(
    sums: npt.ArrayLike,
    sizes: npt.ArrayLike,
    noun: str = "conversation",
    bounds: tuple[float, float] | None = None,
) -> tuple[Estimate, ...]:
    """Return M means from ``sums`` [M, K] and ``sizes`` [K] or [M, K], with cluster-robust t intervals (K − 1 degrees).

    With ``bounds``, the ends of the measure's scale, the interval is computed on the logit of the position between them. It
    stays inside, is about as wide, and covers skewed measures such as MAP better (docs/statistics.md). No interval below
    five units or if all units are alike.
    """
    value, variance, units = cluster_ratio(sums, sizes)
    half = t_quantile(units) * np.sqrt(variance)
    tops, counts = np.broadcast_arrays(
        *(np.asarray(part, dtype=np.float64) for part in (np.atleast_2d(sums), sizes))
    )
    method = MEAN_METHOD if bounds is None else BOUNDED_METHOD
    found = []
    for row, (mean, width, count) in enumerate(
        zip(value.tolist(), half.tolist(), units.tolist(), strict=True)
    ):
        if count < LEAST_UNITS or not width > 0:
            notes = joined(
                units_note(count, noun), alike_note(count, noun) if count >= LEAST_UNITS else ""
            )
            found.append(Estimate(mean, math.nan, math.nan, count, method, notes))
            continue
        low, high = mean_interval(mean, width, bounds)
        notes = joined(
            units_note(count, noun),
            carried_note(carried_share(tops[row] - mean * counts[row]), count, noun),
        )
        found.append(Estimate(mean, low, high, count, method, notes))
    return tuple(found)


def is_binary(values: npt.ArrayLike) -> bool:
    """Return whether all values are 0 or 1, so that their mean is a share; nan is no value."""
    table = np.asarray(values, dtype=np.float64)
    return bool(np.isin(table[~np.isnan(table)], (0.0, 1.0)).all())


def score_estimates(values: npt.ArrayLike, units: Units, bounded: bool) -> tuple[Estimate, ...]:
    """Return the means of ``values`` [M, T], nan for a turn without a score, with limits inside the range of the scores.

    bounded
        Whether the measure lies between 0 and 1 by definition; then the interval is computed on the logit.

    The range of other scores shows only in the scores: if all are 0 or 1, their means are shares
    (:func:`share_estimates`). If all lie between 0 and 1, limits beyond a score that occurs, 0 or 1, are cut there. This
    changes no coverage, because no such mean lies beyond it.
    """
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    known = table[~np.isnan(table)]
    by_unit, sizes = units.sums(np.nan_to_num(table)), units.sums(~np.isnan(table))
    if bounded:
        return mean_estimates(by_unit, sizes, units.kind, (0.0, 1.0))
    if is_binary(known):
        return share_estimates(by_unit, sizes, units.kind)
    found = mean_estimates(by_unit, sizes, units.kind)
    lowest, highest = known.min(), known.max()
    if lowest < 0 or highest > 1:
        return found
    ends = 0.0 if lowest == 0 else -math.inf, 1.0 if highest == 1 else math.inf
    # np.clip keeps nan
    return tuple(
        replace(one, low=float(np.clip(one.low, *ends)), high=float(np.clip(one.high, *ends)))
        for one in found
    )


def mean_interval(
    mean: float, half: float, bounds: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the limits ``mean`` ± ``half``; with ``bounds``, by the delta method on the logit, transformed back."""
    if bounds is None:
        return mean - half, mean + half
    lowest, highest = bounds
    share = (mean - lowest) / (highest - lowest)
    if not 0 < share < 1:
        raise ValueError(f"a mean of {mean} that varies is not between {lowest} and {highest}")
    place, reach = math.log(share / (1 - share)), half / (highest - lowest) / (share * (1 - share))
    # this form avoids overflow
    low, high = ((1 + math.tanh((place + sign * reach) / 2)) / 2 for sign in (-1, 1))
    return lowest + low * (highest - lowest), lowest + high * (highest - lowest)


def cluster_t_test(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> Floats:
    """Return float64[M]: two-sided p of "the mean is 0" by the cluster-robust t test, for comparison with the sign-flip test.

    1 if all units are 0, nan below two units. With one turn per unit, it is Student's paired t test.
    """
    value, variance, units = cluster_ratio(sums, sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * special.stdtr(np.maximum(units - 1, 1), -np.abs(value) / np.sqrt(variance))
    return np.where(units > 1, np.where(value == 0, 1.0, p), np.nan)


def share_estimates(
    hits: npt.ArrayLike, sizes: npt.ArrayLike, noun: str = "conversation"
) -> tuple[Estimate, ...]:
    """Return M shares Σ hits / Σ sizes, ``hits`` [M, K] of ``sizes`` [K] or [M, K] turns, with Wilson intervals for units.

    The number of trials is n_eff = p̃(1 − p̃)/v, the number of independent turns that would have the CR2 variance v of the share,
    with the share p̃ kept half a turn away from 0 and 1; it is K if v is 0. The quantile is that of t with K − 1 degrees of
    freedom. After Korn & Graubard (1998) and Dean & Pagano (2015). No interval below five units.
    """
    value, variance, units = cluster_ratio(hits, sizes)
    total = np.broadcast_to(np.asarray(sizes, dtype=np.float64), np.atleast_2d(hits).shape).sum(
        axis=1
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.clip(value, 0.5 / total, 1 - 0.5 / total)
        trials = np.where(variance > 0, inside * (1 - inside) / variance, units)
        squared = t_quantile(units) ** 2
        centre = (value + squared / (2 * trials)) / (1 + squared / trials)
        spread = np.sqrt(squared * (value * (1 - value) / trials + squared / (4 * trials**2))) / (
            1 + squared / trials
        )
    # the interval reaches 0 or 1 exactly if no turn or every turn is a hit
    low = np.where(value <= 0, 0.0, np.maximum(centre - spread, 0.0))
    high = np.where(value >= 1, 1.0, np.minimum(centre + spread, 1.0))
    limits = np.where(units >= LEAST_UNITS, (low, high), np.nan).T.tolist()
    return tuple(
        Estimate(share, lower, upper, count, SHARE_METHOD, units_note(count, noun))
        for share, (lower, upper), count in zip(value.tolist(), limits, units.tolist(), strict=True)
    )


MEDIAN_METHOD = "Woodruff: interval of the share below the median, converted to values"


def median_estimate(values: npt.ArrayLike, units: Units) -> Estimate:
    """Return the median of ``values``, float[T], one for each item of ``units``, with its 95% CI for similar units.

    The share of items up to the median has an interval by units (:func:`~robustcs.statistics.means.share_estimates`); the
    values at these shares are the limits (Woodruff 1952). No interval below five units; nan without values.
    """
    known = np.asarray(values, dtype=np.float64)
    if not len(known):
        return Estimate(math.nan, math.nan, math.nan, 0, MEDIAN_METHOD)
    middle = float(np.median(known))
    (share,) = share_estimates(units.sums(known <= middle), units.sizes, units.kind)
    if math.isnan(share.low):
        return Estimate(middle, math.nan, math.nan, share.units, MEDIAN_METHOD, share.note)
    # ties move the share at the median above one half; the interval is shifted back
    low, high = (
        float(np.quantile(known, max(0.0, 0.5 + end - share.value)))
        for end in (share.low, share.high)
    )
    return Estimate(
        middle, min(low, middle), max(high, middle), share.units, MEDIAN_METHOD, share.note
    )


EXACT_METHOD = "exact binomial test"


def preferred_share(wins: npt.ArrayLike, decided: npt.ArrayLike, noun: str = "judgment") -> Tested:
    """Return the share Σ wins / Σ decided of K units (K numbers each), and the two-sided p of "it is one half".

    If every unit has one judgment, these are the exact binomial test and the interval of Clopper & Pearson (1934), its
    inversion. If units have several, correlated judgments, the interval is Wilson's with the effective sample size of the units
    (:func:`share_estimates`), and p is that of its score test. Units without a decided judgment are ignored. No interval below
    five units.
    """
    hits, sizes = np.asarray(wins, dtype=np.float64), np.asarray(decided, dtype=np.float64)
    hits, sizes = hits[sizes > 0], sizes[sizes > 0]
    units = len(sizes)
    if not units:
        return Tested(
            math.nan, math.nan, math.nan, 0, EXACT_METHOD, f"no {noun} is decided", 1.0, 1.0
        )
    return (
        _single(int(hits.sum()), units, noun)
        if (sizes == 1).all()
        else _repeated(hits, sizes, noun)
    )


def _single(wins: int, number: int, noun: str) -> Tested:
    low, high = math.nan, math.nan
    if number >= LEAST_UNITS:
        tail = (1 - CONFIDENCE) / 2
        low = float(special.betaincinv(wins, number - wins + 1, tail)) if wins else 0.0
        high = (
            float(special.betaincinv(wins + 1, number - wins, 1 - tail)) if wins < number else 1.0
        )
    floor = 2.0 ** (1 - number)
    notes = joined(units_note(number, noun), floor_note(floor))
    p = mcnemar_exact(wins, number - wins)
    return Tested(wins / number, low, high, number, EXACT_METHOD, notes, p, floor, True, number)


def _repeated(hits: Floats, sizes: Floats, noun: str) -> Tested:
    (found,) = share_estimates(hits, sizes, noun)
    share, units = found.value, len(sizes)
    variance = float(cluster_ratio(hits, sizes).variance[0])
    inside = min(max(share, 0.5 / sizes.sum()), 1 - 0.5 / sizes.sum())
    trials = inside * (1 - inside) / variance if variance > 0 else units
    p = t_p((share - 0.5) * math.sqrt(4 * trials), units - 1) if units > 1 else math.nan
    return Tested(
        share,
        found.low,
        found.high,
        units,
        SHARE_METHOD,
        found.note,
        p,
        0.0,
        True,
        int((hits != sizes / 2).sum()),
    )


#: Scores that differ by less count as equal; measures equal trec_eval's only to 1e-9.
TIE = 1e-9


@dataclass(frozen=True)
class Risk:
    """Numbers of turns that gain, lose or tie with the baseline; U_Risk (nan without turns).

    expected
        Mean U_Risk if the two systems were swapped at random in whole turns or conversations.
    """

    wins: int
    losses: int
    ties: int
    urisk: float
    expected: float


def risk(gains: npt.ArrayLike) -> Risk:
    """Return the risk summary of ``gains`` (score − baseline, one per turn); a loss counts twice as much as a gain.

    U_Risk = (1/n) · (Σ gains − (1 + α) · Σ |losses|) over n turns, with α = 1 as in the TREC Web Track 2013; it is negative if
    losses outweigh gains (Wang, Bennett & Collins-Thompson 2012). Losses have more weight, so for equal systems it is
    −α/2 · mean |gain| on average: U_Risk = (1 + α/2) · mean gain − α/2 · mean |gain|, and the second part does not change if
    the two systems are swapped anywhere. So the sign-flip test of U_Risk equals that of the mean gain.
    """
    values = np.asarray(gains, dtype=np.float64)
    values = np.where(np.abs(values) < TIE, 0.0, values)
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    weighted = np.where(values < 0, 2 * values, values)
    urisk, expected = (
        (float(weighted.mean()), 0.0 - float(np.abs(values).mean()) / 2)
        if len(values)
        else (math.nan,) * 2
    )
    return Risk(wins, losses, len(values) - wins - losses, urisk, expected)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Return the two-sided p of McNemar's exact test on the turns that only one of two systems answers correctly.

    Twice the binomial tail of ``min(only_first, only_second)`` out of their sum at 1/2, at most 1 (McNemar 1947). Equal to
    ``scipy.stats.binomtest(b, b + c)``, computed in integers and without its import time.
    """
    discordant = only_first + only_second
    tail, coefficient = 0, 1
    for i in range(min(only_first, only_second) + 1):
        tail += coefficient
        coefficient = coefficient * (discordant - i) // (i + 1)
    return min(1.0, float(2 * tail / 2**discordant))
