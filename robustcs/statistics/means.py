"""Means and shares over the turns of units that differ in length, with intervals that take the unit as independent.

Everything is given by sums over units (:class:`~robustcs.statistics.units.Units`): y_g, the sum of the values of unit g's
turns, and n_g, their number. The estimate is the mean over turns θ = Σy / Σn. Its variance is the cluster-robust one with the
correction CR2 of Bell & McCaffrey (2002), written out for a mean: Σ e_g² / (1 − n_g/N) / N² with e_g = y_g − θ n_g, N = Σn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.statistics.estimate import (
    CONFIDENCE,
    LEAST_UNITS,
    Estimate,
    alike_note,
    carried_note,
    carried_share,
    joined,
    units_note,
)

Floats = npt.NDArray[np.float64]

MEAN_METHOD = "cluster-robust t (CR2)"
BOUNDED_METHOD = "cluster-robust t (CR2) on the logit"
SHARE_METHOD = "Wilson with the effective sample size of the units"


class Ratio(NamedTuple):
    """Σy / Σn of M estimates, its variance, and the units that take part: float64[M], float64[M], int64[M]."""

    value: Floats
    variance: Floats
    units: npt.NDArray[np.int64]


def cluster_ratio(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> Ratio:
    """θ and its CR2 variance from ``sums`` [M, K] and ``sizes`` [K] or [M, K]; nan without turns, or for a single unit.

    Units without turns take no part. Where every unit has one turn the variance is s²/K.
    """
    tops, counts = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (np.atleast_2d(sums), sizes)))
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = tops.sum(axis=1, keepdims=True) / total
        rest = tops - value * counts
        # what is 0 on paper may come out as 1e-17
        rest[np.abs(rest) <= 1e-12 * np.abs(tops).sum(axis=1, keepdims=True)] = 0.0
        variance = (rest**2 / (1 - counts / total)).sum(axis=1) / total[:, 0] ** 2
    units = (counts > 0).sum(axis=1)
    return Ratio(value[:, 0], np.where(units > 1, variance, np.nan), units)


def t_quantile(units: npt.ArrayLike, confidence: float = CONFIDENCE) -> Floats:
    """The two-sided quantile of Student's t with units − 1 degrees of freedom; nan below two units."""
    from scipy.special import stdtrit

    freedom = np.asarray(units, dtype=np.float64) - 1
    return np.asarray(np.where(freedom > 0, stdtrit(np.maximum(freedom, 1), 0.5 + confidence / 2), np.nan))


def mean_estimates(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, noun: str = "conversation", bounds: tuple[float, float] | None = None
) -> tuple[Estimate, ...]:
    """M means from ``sums`` [M, K] and ``sizes`` [K] or [M, K], each with its cluster-robust t interval on K − 1 degrees.

    With ``bounds``, the ends of the measure's scale, the interval is made on the logit of the place between them: it stays
    inside, is as wide, and covers skewed measures such as MAP better (docs/statistics.md). No interval below five units or
    where all are alike.
    """
    value, variance, units = cluster_ratio(sums, sizes)
    half = t_quantile(units) * np.sqrt(variance)
    tops, counts = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (np.atleast_2d(sums), sizes)))
    method = MEAN_METHOD if bounds is None else BOUNDED_METHOD
    found = []
    for row, (mean, width, count) in enumerate(zip(value.tolist(), half.tolist(), units.tolist(), strict=True)):
        if count < LEAST_UNITS or not width > 0:
            notes = joined(units_note(count, noun), alike_note(count, noun) if count >= LEAST_UNITS else "")
            found.append(Estimate(mean, math.nan, math.nan, count, method, notes))
            continue
        low, high = mean_interval(mean, width, bounds)
        notes = joined(units_note(count, noun), carried_note(carried_share(tops[row] - mean * counts[row]), count, noun))
        found.append(Estimate(mean, low, high, count, method, notes))
    return tuple(found)


def mean_interval(mean: float, half: float, bounds: tuple[float, float] | None) -> tuple[float, float]:
    """Limits ``half`` away from ``mean``; with ``bounds`` so by the delta method on the logit, back on the scale."""
    if bounds is None:
        return mean - half, mean + half
    lowest, highest = bounds
    share = (mean - lowest) / (highest - lowest)
    if not 0 < share < 1:
        raise ValueError(f"a mean of {mean} that varies is not between {lowest} and {highest}")
    place, reach = math.log(share / (1 - share)), half / (highest - lowest) / (share * (1 - share))
    # written so that no exponent overflows
    low, high = ((1 + math.tanh((place + sign * reach) / 2)) / 2 for sign in (-1, 1))
    return lowest + low * (highest - lowest), lowest + high * (highest - lowest)


def cluster_t_test(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> Floats:
    """float64[M]: two-sided p of "the mean is 0" by the cluster-robust t, a second opinion beside the sign-flip test.

    1 where all units are 0, nan below two units. With one turn a unit it is Student's paired t test.
    """
    from scipy.special import stdtr

    value, variance, units = cluster_ratio(sums, sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * stdtr(np.maximum(units - 1, 1), -np.abs(value) / np.sqrt(variance))
    return np.where(units > 1, np.where(value == 0, 1.0, p), np.nan)


def share_estimates(hits: npt.ArrayLike, sizes: npt.ArrayLike, noun: str = "conversation") -> tuple[Estimate, ...]:
    """M shares Σ hits / Σ sizes, ``hits`` [M, K] of ``sizes`` [K] or [M, K] turns, with Wilson's interval for units.

    The number of trials is n_eff = p̃(1 − p̃)/v, how many independent turns would have the share's CR2 variance v, with the
    share p̃ kept half a turn away from 0 and 1; K where v is 0. The quantile is that of t with K − 1 degrees of freedom.
    After Korn & Graubard (1998) and Dean & Pagano (2015). No interval below five units.
    """
    value, variance, units = cluster_ratio(hits, sizes)
    total = np.broadcast_to(np.asarray(sizes, dtype=np.float64), np.atleast_2d(hits).shape).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.clip(value, 0.5 / total, 1 - 0.5 / total)
        trials = np.where(variance > 0, inside * (1 - inside) / variance, units)
        squared = t_quantile(units) ** 2
        centre = (value + squared / (2 * trials)) / (1 + squared / trials)
        spread = np.sqrt(squared * (value * (1 - value) / trials + squared / (4 * trials**2))) / (1 + squared / trials)
    # the interval touches 0 and 1 exactly where nothing or everything is a hit
    low = np.where(value <= 0, 0.0, np.maximum(centre - spread, 0.0))
    high = np.where(value >= 1, 1.0, np.minimum(centre + spread, 1.0))
    limits = np.where(units >= LEAST_UNITS, (low, high), np.nan).T.tolist()
    return tuple(
        Estimate(share, lower, upper, count, SHARE_METHOD, units_note(count, noun))
        for share, (lower, upper), count in zip(value.tolist(), limits, units.tolist(), strict=True)
    )
