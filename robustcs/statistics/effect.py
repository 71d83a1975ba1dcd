"""How large is a difference, and what could this design have found? Effect size, detectable difference, margin.

A difference θ with standard error SE over K units is read as t = θ/SE on K − 1 degrees of freedom; its distribution under a
true difference is the noncentral t with δ = √K times the standardised mean difference (Cumming & Finch 2001).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, Estimate, joined, units_note
from robustcs.statistics.means import cluster_ratio, t_quantile

#: Chance to find what is there, for the detectable difference and the units needed.
POWER = 0.8
#: Fewer units cannot reach .05 in a sign-flip test.
_FEWEST_UNITS = 6
#: More units than anyone would gather.
_MOST_UNITS = 1_000_000
EFFECT_METHOD = "standardised mean difference over units, noncentral t"
DETECTABLE_METHOD = f"noncentral t, {POWER:.0%} power at .05"

Verdict = Literal["inside", "outside", "open"]


def effect_sizes(sums: npt.ArrayLike, sizes: npt.ArrayLike, noun: str = "conversation") -> tuple[Estimate, ...]:
    """M standardised mean differences θ / (SE √K) of ``sums`` [M, K] over ``sizes`` [K] or [M, K], with intervals.

    With one turn a unit this is Cohen's d of the paired differences; else SE is cluster-robust, so that it stays the mean in
    standard deviations of units. nan where all units are alike.
    """
    value, variance, units = cluster_ratio(sums, sizes)
    found = []
    for mean, spread, count in zip(value.tolist(), variance.tolist(), units.tolist(), strict=True):
        notes = joined(units_note(count, noun), "" if spread > 0 else f"all {noun}s are alike")
        if not spread > 0:
            found.append(Estimate(math.nan, math.nan, math.nan, count, EFFECT_METHOD, notes))
            continue
        t = mean / math.sqrt(spread)
        low, high = noncentrality_limits(t, count - 1) if count >= LEAST_UNITS else (math.nan, math.nan)
        root = math.sqrt(count)
        found.append(Estimate(t / root, low / root, high / root, count, EFFECT_METHOD, notes))
    return tuple(found)


def noncentrality_limits(t: float, freedom: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The noncentralities under which a noncentral t is above or below the observed ``t`` with chance (1 − confidence)/2."""
    from scipy.special import nctdtr

    def limit(chance: float) -> float:
        # the chance of a smaller t falls as the noncentrality grows
        below, above = t - 1.0, t + 1.0
        while nctdtr(freedom, below, t) < chance:
            below -= 2 * (t - below)
        while nctdtr(freedom, above, t) > chance:
            above += 2 * (above - t)
        for _ in range(80):
            middle = (below + above) / 2
            if nctdtr(freedom, middle, t) > chance:
                below = middle
            else:
                above = middle
        return (below + above) / 2

    tail = (1 - confidence) / 2
    return limit(1 - tail), limit(tail)


@lru_cache(maxsize=1024)
def detectable_noncentrality(units: int, power: float = POWER, confidence: float = CONFIDENCE) -> float:
    """The δ that a two-sided t test on ``units`` − 1 degrees of freedom finds with chance ``power``; nan below two units."""
    from scipy.special import nctdtr

    if units < 2:
        return math.nan
    critical = float(t_quantile(units, confidence))
    below, above = 0.0, 2 * critical + 10.0
    for _ in range(80):
        middle = (below + above) / 2
        if 1 - nctdtr(units - 1, middle, critical) < power:
            below = middle
        else:
            above = middle
    return (below + above) / 2


def detectable_differences(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, noun: str = "conversation", power: float = POWER
) -> tuple[Estimate, ...]:
    """M smallest true differences that this design finds at .05 with chance ``power``: δ · SE, two-sided.

    SE is estimated from the same units, so it has an interval of its own: a jackknife over units on log SE, with Student's t.
    The usual one by χ² takes sums of units as normal; on real scores it covers 77 to 100 %. Nothing below five units.
    """
    _, variance, units = cluster_ratio(sums, sizes)
    parts = _variance_parts(sums, sizes)
    found = []
    for spread, count, part in zip(variance.tolist(), units.tolist(), parts, strict=True):
        if count < LEAST_UNITS or not spread > 0:
            notes = units_note(count, noun) if count < LEAST_UNITS else f"all {noun}s are alike"
            found.append(Estimate(math.nan, math.nan, math.nan, count, DETECTABLE_METHOD, notes))
            continue
        value = detectable_noncentrality(count, power) * math.sqrt(spread)
        # units without turns are not left out
        rest = part[part >= 0]
        if rest.max() >= rest.sum() * (1 - 1e-12):
            alone = joined(f"only one {noun} varies", units_note(count, noun))
            found.append(Estimate(value, math.nan, math.nan, count, DETECTABLE_METHOD, alone))
            continue
        logs = np.log(rest.sum() - rest)
        error = math.sqrt((count - 1) / count * float(((logs - logs.mean()) ** 2).sum())) / 2
        factor = math.exp(float(t_quantile(count)) * error)
        found.append(Estimate(value, value / factor, value * factor, count, DETECTABLE_METHOD, units_note(count, noun)))
    return tuple(found)


def _variance_parts(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """float64[M, K]: what every unit adds to the cluster-robust variance, up to a factor; −1 for units without turns."""
    tops, counts = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (np.atleast_2d(sums), sizes)))
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = tops - tops.sum(axis=1, keepdims=True) / total * counts
        return np.where(counts > 0, rest**2 / (1 - counts / total), -1.0)


def units_needed(sums: npt.ArrayLike, sizes: npt.ArrayLike, power: float = POWER) -> list[int | None]:
    """For each of M differences, the units like these that find a true one as large as it at .05 with chance ``power``.

    None where there is no difference, all units are alike, or a million do not suffice.
    """
    value, variance, units = cluster_ratio(sums, sizes)
    return [
        _units_needed(abs(difference) / math.sqrt(spread * count), power) if spread > 0 and difference else None
        for difference, spread, count in zip(value.tolist(), variance.tolist(), units.tolist(), strict=True)
    ]


def _units_needed(effect: float, power: float) -> int | None:
    """The fewest units, at least :data:`_FEWEST_UNITS`, whose detectable standardised difference is ``effect`` or less."""
    if detectable_noncentrality(_MOST_UNITS, power) / math.sqrt(_MOST_UNITS) > effect:
        return None
    below, above = _FEWEST_UNITS - 1, _MOST_UNITS
    while above - below > 1:
        middle = (below + above) // 2
        if detectable_noncentrality(middle, power) / math.sqrt(middle) <= effect:
            above = middle
        else:
            below = middle
    return above


def check_margin(margin: float | None) -> None:
    """Raise :class:`UsageError` for a margin that is not above 0; None is no margin."""
    if margin is not None and not 0 < margin < math.inf:
        raise UsageError("bad-margin", f"margin {margin:g}", "write a difference above 0, such as 0.02")


def within_margin(estimate: Estimate, margin: float) -> Verdict:
    """Whether the 95 % interval lies ``inside`` ±``margin`` (equivalent), ``outside`` it, or leaves it ``open``.

    Two one-sided tests at .025 each (Schuirmann 1987), stricter than the usual .05, for at 90 % too many pairs that differ by
    the margin pass for equal. Without an interval it stays open.
    """
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return "open"
    if -margin < estimate.low and estimate.high < margin:
        return "inside"
    return "outside" if estimate.low > margin or estimate.high < -margin else "open"
