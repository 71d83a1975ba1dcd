"""Comparisons with sign-flip tests: columns of their tables, effect size, detectable difference, required units, and margin.

A difference θ with standard error SE over K units gives t = θ/SE with K − 1 degrees of freedom. Under a true difference, t has
a noncentral t distribution with δ = √K times the standardized mean difference (Cumming & Finch 2001).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from robustcs.errors import UsageError
from robustcs.lazy import npt, pd, special
from robustcs.result import flag, number
from robustcs.statistics import settled
from robustcs.statistics.estimate import (
    CONFIDENCE,
    LEAST_UNITS,
    Estimate,
    Tested,
    joined,
    sparse_note,
    units_note,
)
from robustcs.statistics.families import Family, max_t_family
from robustcs.statistics.means import cluster_ratio, t_quantile
from robustcs.statistics.sign_flip import paired_tests

P_FLOOR = number("p_floor", "smallest p that this design can give")
EXACT = flag(
    "exact",
    "true if all sign patterns of the units that differ were tried, false if 99,999 random ones",
)
EQUIVALENT = flag(
    "equivalent",
    "true if the 95% CI lies inside ± the margin and no unit accounts for more than 30% of the spread; null without a margin or"
    " an interval",
    "within margin",
)
DETECTABLE = number(
    "detectable", "smallest true difference that this design detects with 80% power at .05"
)
EFFECT = (
    number("effect", "effect size: standardized mean difference over units"),
    number("effect_low"),
    number("effect_high"),
)


def columns_of(
    estimates: Sequence[Estimate],
    value: str,
    low: str = "ci_low",
    high: str = "ci_high",
    **more: str,
) -> dict[str, list[Any]]:
    """Return columns with a row per estimate: value and limits under these names, and ``more`` (column=attribute)."""
    names = {value: "value", low: "low", high: "high", **more}
    return {
        name: [getattr(one, attribute) for one in estimates] for name, attribute in names.items()
    }


@dataclass(frozen=True)
class Comparisons:
    """M comparisons: their tests, adjusted p-values and families. Effect sizes are computed when they are first used.

    sums, sizes, noun
        What was tested: see :func:`comparisons`.
    """

    tests: Sequence[Tested]
    corrected: Sequence[float]
    families: Sequence[Family]
    sums: np.ndarray
    sizes: np.ndarray
    noun: str
    power: bool

    @cached_property
    def effects(self) -> Sequence[Estimate]:
        """The effect sizes."""
        return effect_sizes(self.sums, self.sizes, self.noun) if len(self.tests) else ()

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns: difference, ci_low, ci_high, p, p_floor, exact, note, p_corrected.

        With ``power`` also effect, effect_low, effect_high and detectable.
        """
        found = columns_of(
            self.tests, "difference", p="p", p_floor="floor", exact="exact", note="note"
        )
        found["p_corrected"] = list(self.corrected)
        if self.power:
            found |= columns_of(self.effects, "effect", "effect_low", "effect_high")
            found["detectable"] = (
                detectable_differences(self.sums, self.sizes) if len(self.tests) else []
            )
        return found

    @property
    def frame(self) -> pd.DataFrame:
        """The columns as a frame."""
        return pd.DataFrame(self.columns)


def comparisons(
    sums: np.ndarray,
    sizes: np.ndarray,
    noun: str,
    seed: int,
    families: Sequence[Hashable] | None = None,
    mid_p: bool = False,
    power: bool = True,
) -> Comparisons:
    """Test every row of ``sums`` [M, K] with :func:`~robustcs.statistics.sign_flip.paired_tests`, and adjust by max-T.

    families
        A label for every row; rows with the same label form a family. By default, all rows form one.
    """
    sums = settled(sums)
    tests = paired_tests(sums, sizes, seed, noun, mid_p=mid_p) if len(sums) else ()
    together: dict[Hashable, list[int]] = {}
    for row, label in enumerate([None] * len(tests) if families is None else families):
        together.setdefault(label, []).append(row)
    corrected, read = [test.p for test in tests], []
    for rows in together.values():
        read.append(max_t_family([tests[row] for row in rows], sums[rows], seed))
        if len(rows) > 1:  # a single comparison needs no adjustment and keeps its mid-p
            for row, p in zip(rows, read[-1].p.tolist(), strict=True):
                corrected[row] = p
    return Comparisons(tests, corrected, read, sums, sizes, noun, power)


# ---------------------------------------------------------------- effect size, power and margin

#: Power for the detectable difference and the required units.
POWER = 0.8
#: Fewest units that can reach .05 in a sign-flip test.
_FEWEST_UNITS = 6
#: Largest share of the squared deviations in one unit for equivalence.
EVEN = 0.3
#: Largest number of required units that is reported.
_MOST_UNITS = 1_000_000
EFFECT_METHOD = "standardized mean difference over units, noncentral t"


class Needed(NamedTuple):
    """Units that a study requires, with the limits of the 95% CI; ``high`` is None if there is no upper limit."""

    units: int | None
    low: int | None
    high: int | None


def effect_sizes(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, noun: str = "conversation"
) -> tuple[Estimate, ...]:
    """Return M standardized mean differences θ / (SE √K) of ``sums`` [M, K] over ``sizes`` [K] or [M, K], with intervals.

    With one turn per unit, this is Cohen's d of paired differences. Otherwise SE is cluster-robust, so the unit of the effect
    size is the standard deviation over units. nan if all units are alike; no interval if the difference has no interval.
    """
    value, variance, units = cluster_ratio(sums, sizes)
    moving = (np.abs(np.atleast_2d(sums)) > 0).sum(axis=1)
    found = []
    for mean, spread, count, some in zip(
        value.tolist(), variance.tolist(), units.tolist(), moving.tolist(), strict=True
    ):
        few = sparse_note(some, count, noun)
        notes = joined(units_note(count, noun), few if spread > 0 else f"all {noun}s are alike")
        if not spread > 0:
            found.append(Estimate(math.nan, math.nan, math.nan, count, EFFECT_METHOD, notes))
            continue
        t = mean / math.sqrt(spread)
        low, high = (
            noncentrality_limits(t, count - 1)
            if count >= LEAST_UNITS and not few
            else (math.nan, math.nan)
        )
        root = math.sqrt(count)
        found.append(Estimate(t / root, low / root, high / root, count, EFFECT_METHOD, notes))
    return tuple(found)


def noncentrality_limits(
    t: float, freedom: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the noncentralities for which a noncentral t exceeds, or is below, ``t`` with probability (1 − confidence)/2."""

    size = abs(t)  # nctdtr is nan for some t below 0

    def limit(chance: float) -> float:
        # the probability of a smaller t falls as the noncentrality grows
        below, above = size - 1.0, size + 1.0
        while special.nctdtr(freedom, below, size) < chance:
            below -= 2 * (size - below)
        while special.nctdtr(freedom, above, size) > chance:
            above += 2 * (above - size)
        return _root(lambda middle: special.nctdtr(freedom, middle, size) - chance, below, above)

    tail = (1 - confidence) / 2
    low, high = limit(1 - tail), limit(tail)
    return (low, high) if t >= 0 else (-high, -low)


@cache
def detectable_noncentrality(
    units: int, power: float = POWER, confidence: float = CONFIDENCE
) -> float:
    """Return the δ that a two-sided t test with ``units`` − 1 degrees of freedom detects with ``power``; nan for one unit."""
    if units < 2:
        return math.nan
    critical = float(t_quantile(units, confidence))
    return _root(
        lambda middle: 1 - power - special.nctdtr(units - 1, middle, critical),
        0.0,
        2 * critical + 10.0,
    )


def _root(function: Callable[[float], float], one: float, other: float) -> float:
    """Return the root of a monotonic function between two points (false position with Illinois weights)."""
    at_one, at_other = function(one), function(other)
    for _ in range(100):
        new = (one * at_other - other * at_one) / (at_other - at_one)
        at_new = function(new)
        if at_new == 0 or abs(new - other) <= 1e-14 * abs(new):
            return new
        if (at_new > 0) == (at_other > 0):
            at_one /= 2
        else:
            one, at_one = other, at_other
        other, at_other = new, at_new
    return other


def detectable_differences(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, power: float = POWER
) -> list[float]:
    """Return M smallest true differences that this design detects at .05 with ``power``: δ · SE, two-sided.

    nan below five units or if all units are alike.
    """
    _, variance, units = cluster_ratio(sums, sizes)
    return [
        detectable_noncentrality(count, power) * math.sqrt(spread)
        if count >= LEAST_UNITS and spread > 0
        else math.nan
        for spread, count in zip(variance.tolist(), units.tolist(), strict=True)
    ]


def units_needed(effects: Iterable[Estimate], power: float = POWER) -> list[Needed]:
    """Return, for each of the ``effects``, the number of similar units that detects a true effect of this size at .05.

    ``power``: the probability of detection. The limits are those of the effect: larger effects require fewer units. There is no
    upper limit if the interval of the effect includes 0. None if there is no effect or no interval, or if a million units do
    not suffice.
    """
    found = []
    for one in effects:
        ends = abs(one.low), abs(one.high)
        near = 0.0 if one.low <= 0 <= one.high else min(ends)
        found.append(
            Needed(*(_units_needed(size, power) for size in (abs(one.value), max(ends), near)))
        )
    return found


def _units_needed(effect: float, power: float) -> int | None:
    """Return the fewest units (≥ :data:`_FEWEST_UNITS`) with a detectable standardized difference of at most ``effect``."""
    least = detectable_noncentrality(_MOST_UNITS, power)
    if not effect >= least / math.sqrt(_MOST_UNITS):
        return None
    # the detectable noncentrality falls with the number of units, but soon only slightly
    units = max(_FEWEST_UNITS, math.ceil((least / effect) ** 2))
    while detectable_noncentrality(units, power) / math.sqrt(units) > effect:
        units += 1
    return units


def check_margin(margin: float | None) -> None:
    """Raise :class:`UsageError` if the margin is not above 0; None means no margin."""
    if margin is not None and not 0 < margin < math.inf:
        raise UsageError(
            "bad-margin", f"margin {margin:g}", "use a difference above 0, such as 0.02"
        )


def within_margin(test: Tested, margin: float | None) -> bool | None:
    """Return whether a difference is shown to be equivalent; None without a margin or an interval.

    The 95% CI must lie inside ±``margin``. These are two one-sided tests at .025 each (Schuirmann 1987), stricter than the
    usual .05, because with 90% intervals too many pairs that differ by the margin would pass. In addition, no unit may
    account for more than :data:`EVEN` of the squared deviations: otherwise a few such units decide, and a sample without
    them looks far too similar (docs/statistics.md).
    """
    if margin is None or math.isnan(test.low) or math.isnan(test.high):
        return None
    return -margin < test.low and test.high < margin and test.carried <= EVEN
