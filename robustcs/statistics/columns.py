"""Comparisons with sign-flip tests: columns of their tables, effect sizes, power and margin.

A difference θ with standard error SE over K units gives t = θ/SE with K − 1 degrees of freedom.
Under a true difference, t has a noncentral t distribution with δ = √K times the standardized mean
difference (Cumming & Finch 2001).
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
from robustcs.statistics.means import cluster_ratio
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.student import t_quantile

P_FLOOR = number("p_floor", "smallest p that this design can give")
EXACT = flag(
    "exact",
    "true if all sign patterns of the units that differ were tried, false if 99,999 random ones",
)
EQUIVALENT = flag(
    "equivalent",
    "true if the 95% CI lies inside ± the margin and no unit accounts for more than 30% of the"
    " spread; null without a margin or an interval",
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
    """Return columns with a row per estimate: value and limits under the given names.

    ``more``: further columns, as column=attribute of the estimates.
    """
    attributes = {value: "value", low: "low", high: "high", **more}
    columns = {}
    for column, attribute in attributes.items():
        columns[column] = [getattr(estimate, attribute) for estimate in estimates]
    return columns


@dataclass(frozen=True)
class Comparisons:
    """M comparisons: their tests, adjusted p-values and families.

    Effect sizes are computed when they are first used.

    corrected
        The adjusted p of each comparison, or its own p if its family has no other.
    sums, sizes, noun
        What was tested: see :func:`comparisons`.
    power
        Whether :attr:`columns` contain effect sizes and detectable differences.
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
        columns = columns_of(
            self.tests, "difference", p="p", p_floor="floor", exact="exact", note="note"
        )
        columns["p_corrected"] = list(self.corrected)
        if self.power:
            columns |= columns_of(self.effects, "effect", "effect_low", "effect_high")
            columns["detectable"] = (
                detectable_differences(self.sums, self.sizes) if len(self.tests) else []
            )
        return columns

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
    """Test every row of ``sums`` [M, K] by sign flips, and adjust the p-values by max-T.

    The tests are those of :func:`~robustcs.statistics.sign_flip.paired_tests`, which explains
    ``sizes``, ``noun``, ``seed`` and ``mid_p``.

    families
        A label for every row; rows with the same label form a family. By default, all rows form
        one.
    power
        Whether effect sizes and detectable differences belong to the columns.
    """
    sums = settled(sums)
    tests = paired_tests(sums, sizes, seed, noun, mid_p=mid_p) if len(sums) else ()
    labels: Sequence[Hashable] = [None] * len(tests) if families is None else families
    rows_of_label: dict[Hashable, list[int]] = {}
    for row, label in enumerate(labels):
        rows_of_label.setdefault(label, []).append(row)

    corrected = [test.p for test in tests]
    adjusted = []
    for rows in rows_of_label.values():
        family = max_t_family([tests[row] for row in rows], sums[rows], seed)
        adjusted.append(family)
        if len(rows) > 1:  # a single comparison needs no adjustment and keeps its mid-p
            for row, p in zip(rows, family.p.tolist(), strict=True):
                corrected[row] = p
    return Comparisons(tests, corrected, adjusted, sums, sizes, noun, power)


# ---------------------------------------------------------------- effect size, power and margin

#: Power for the detectable difference and the required units.
POWER = 0.8
#: Fewest units that can reach .05 in a sign-flip test.
_FEWEST_UNITS = 6
#: Largest share of the squared deviations in one unit for equivalence.
EVEN = 0.3
#: Largest number of required units that is reported.
_MOST_UNITS = 1_000_000
#: Most steps, and relative precision, of the search for a root.
_ROOT_STEPS = 100
_ROOT_PRECISION = 1e-14
EFFECT_METHOD = "standardized mean difference over units, noncentral t"


class UnitsNeeded(NamedTuple):
    """Units that a study requires, with the limits of the 95% CI.

    None if more than a million are required; ``high`` is also None if there is no upper limit.
    """

    units: int | None
    low: int | None
    high: int | None


def effect_sizes(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, noun: str = "conversation"
) -> tuple[Estimate, ...]:
    """Return M standardized mean differences θ / (SE √K), with intervals.

    They are those of ``sums`` [M, K] over ``sizes`` [K] or [M, K]. With one turn per unit, this is
    Cohen's d of paired differences. Otherwise SE is cluster-robust, so the unit of the effect size
    is the standard deviation over units. nan if all units are alike; no interval if the difference
    has no interval.
    """
    differences = cluster_ratio(sums, sizes)
    moving = (np.abs(np.atleast_2d(sums)) > 0).sum(axis=1)
    effects = []
    for value, variance, units, moving_units in zip(
        differences.value.tolist(),
        differences.variance.tolist(),
        differences.units.tolist(),
        moving.tolist(),
        strict=True,
    ):
        effects.append(_effect_size(value, variance, units, moving_units, noun))
    return tuple(effects)


def _effect_size(value: float, variance: float, units: int, moving: int, noun: str) -> Estimate:
    """Return the effect size of one difference, of which ``moving`` of the ``units`` are not 0."""
    if not variance > 0:
        notes = joined(units_note(units, noun), f"all {noun}s are alike")
        return Estimate(math.nan, math.nan, math.nan, units, EFFECT_METHOD, notes)
    sparse = sparse_note(moving, units, noun)
    notes = joined(units_note(units, noun), sparse)
    t = value / math.sqrt(variance)
    low, high = math.nan, math.nan
    if units >= LEAST_UNITS and not sparse:
        low, high = noncentrality_limits(t, units - 1)
    root = math.sqrt(units)
    return Estimate(t / root, low / root, high / root, units, EFFECT_METHOD, notes)


def noncentrality_limits(
    t: float, freedom: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the limits of the noncentrality that give a noncentral t of ``t``.

    With the lower one, t is exceeded with probability (1 − ``confidence``)/2; with the upper one,
    t is not reached with that probability. ``freedom``: degrees of freedom.
    """
    positive_t = abs(t)  # nctdtr is nan for some t below 0

    def limit(probability: float) -> float:
        """Return the noncentrality with this probability of a smaller t."""
        # the probability falls as the noncentrality grows
        below, above = positive_t - 1.0, positive_t + 1.0
        while special.nctdtr(freedom, below, positive_t) < probability:
            below -= 2 * (positive_t - below)
        while special.nctdtr(freedom, above, positive_t) > probability:
            above += 2 * (above - positive_t)
        return _root(
            lambda middle: special.nctdtr(freedom, middle, positive_t) - probability, below, above
        )

    tail = (1 - confidence) / 2
    low, high = limit(1 - tail), limit(tail)
    return (low, high) if t >= 0 else (-high, -low)


@cache
def detectable_noncentrality(
    units: int, power: float = POWER, confidence: float = CONFIDENCE
) -> float:
    """Return the noncentrality δ that a two-sided t test detects with ``power``.

    The test has ``units`` − 1 degrees of freedom and the level 1 − ``confidence``; nan for one
    unit.
    """
    if units < 2:
        return math.nan
    critical = float(t_quantile(units, confidence))
    far_above = 2 * critical + 10.0
    return _root(
        lambda middle: 1 - power - special.nctdtr(units - 1, middle, critical), 0.0, far_above
    )


def _root(function: Callable[[float], float], start: float, end: float) -> float:
    """Return the root of a monotonic function between two points.

    False position with Illinois weights: of the two ends of the bracket, ``latest`` is the last
    point tried; the value at an end that stays twice is halved, so that the bracket shrinks from
    both sides.
    """
    retained, latest = start, end
    at_retained, at_latest = function(retained), function(latest)
    for _ in range(_ROOT_STEPS):
        new = (retained * at_latest - latest * at_retained) / (at_latest - at_retained)
        at_new = function(new)
        if at_new == 0 or abs(new - latest) <= _ROOT_PRECISION * abs(new):
            return new
        if (at_new > 0) == (at_latest > 0):
            at_retained /= 2
        else:
            retained, at_retained = latest, at_latest
        latest, at_latest = new, at_new
    return latest


def detectable_differences(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, power: float = POWER
) -> list[float]:
    """Return M smallest true differences that this design detects at .05 with ``power``.

    They are δ · SE, two-sided; ``sums`` and ``sizes`` as for :func:`effect_sizes`. nan below five
    units or if all units are alike.
    """
    differences = cluster_ratio(sums, sizes)
    detectable = []
    for variance, units in zip(
        differences.variance.tolist(), differences.units.tolist(), strict=True
    ):
        if units >= LEAST_UNITS and variance > 0:
            detectable.append(detectable_noncentrality(units, power) * math.sqrt(variance))
        else:
            detectable.append(math.nan)
    return detectable


def units_needed(effects: Iterable[Estimate], power: float = POWER) -> list[UnitsNeeded]:
    """Return the number of similar units that detects a true effect of each size at .05.

    ``power``: the probability of detection. The limits are those of the effect: larger effects
    require fewer units. There is no upper limit if the interval of the effect includes 0. None if
    there is no effect or no interval, or if a million units do not suffice.
    """
    needed = []
    for effect in effects:
        sizes_at_limits = abs(effect.low), abs(effect.high)
        smallest = 0.0 if effect.low <= 0 <= effect.high else min(sizes_at_limits)
        needed.append(
            UnitsNeeded(
                units=_units_needed(abs(effect.value), power),
                low=_units_needed(max(sizes_at_limits), power),
                high=_units_needed(smallest, power),
            )
        )
    return needed


def _units_needed(effect: float, power: float) -> int | None:
    """Return the fewest units (≥ :data:`_FEWEST_UNITS`) that detect the standardized ``effect``.

    None if a million do not suffice, or if the effect is 0 or nan.
    """
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

    The 95% CI must lie inside ±``margin``. These are two one-sided tests at .025 each (Schuirmann
    1987), stricter than the usual .05, because with 90% intervals too many pairs that differ by the
    margin would pass. In addition, no unit may account for more than :data:`EVEN` of the squared
    deviations: otherwise a few such units decide, and a sample without them looks far too similar
    (docs/statistics.md).
    """
    if margin is None or math.isnan(test.low) or math.isnan(test.high):
        return None
    return -margin < test.low and test.high < margin and test.carried <= EVEN
