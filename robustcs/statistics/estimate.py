"""Estimates with intervals and tests, and notes on their limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.wording import counted

#: Level of all two-sided intervals.
CONFIDENCE = 0.95
#: The quantiles at the limits of such an interval: .025 and .975, up to the last bits.
TAILS = (0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2)
#: Fewest units for an interval.
LEAST_UNITS = 5
#: Least share of an item's pairs of ratings that must agree for the agreement filter to keep the
#: item.
MIN_AGREEMENT = 0.4
#: Fewest units for an interval that is not called unstable.
STABLE_UNITS = 10
#: Below this number of units that differ, a note states it; a test at .01 requires this number.
FEW_MOVING = 8
#: Number of units that differ that suffices for the interval of a difference; of fewer units, at
#: least half must differ.
ENOUGH_MOVING = 10
#: Share of the spread in one unit from which a note is given.
CARRIED = 0.5
#: Significance levels of tests.
LEVELS = (0.05, 0.01)


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval, in the units of the measured quantity.

    value
        The estimate from all units; nan if there is none.
    low, high
        Limits of the 95% CI for similar units; nan if there is none (``note`` states why).
    units
        Number of sampling units: conversations, turns, topics or items.
    method
        Method of the interval and p, for the note of a table.
    note
        Limits of the numbers; empty if there are none.
    """

    value: float
    low: float
    high: float
    units: int
    method: str
    note: str = ""


@dataclass(frozen=True)
class Tested(Estimate):
    """An estimate with the two-sided p of "it is 0".

    The interval inverts the test, so the two never contradict.

    p
        The p-value; nan if no test was possible.
    floor
        The smallest p that this design can give.
    exact
        Whether all patterns were tried.
    moving
        Number of units that are not 0; only these inform the test.
    carried
        Largest share of the squared deviations in one unit; similar units would change the
        interval.
    """

    p: float = math.nan
    floor: float = math.nan
    exact: bool = True
    moving: int = 0
    carried: float = math.nan


#: Smallest p that is written as a number; below, a bound is written. It has as many decimals as
#: this exponent says.
_LEAST_EXPONENT = -4
_LEAST_P = 0.0001
#: From here on, three decimals of a p show enough; below, four.
_THREE_DECIMALS = 0.001
#: An excess over a digit that is only rounding, in units of that digit.
_ROUNDING = 1e-9


def p_text(p: float, bound: float = 0.0) -> str:
    """Return ``p = 0.031``, or ``p < 0.0001`` if p is smaller than can be written.

    ``bound``: up to it, a p is itself an upper bound, and is written with ``<`` too.
    """
    if math.isnan(p):
        return "no p"
    if p < _LEAST_P or p <= bound < 1:
        return f"p < {_rounded_up(max(p, bound)):g}"
    if p < _THREE_DECIMALS:
        return f"p = {p:.4f}"
    return f"p = {p:.3f}"


def _rounded_up(p: float) -> float:
    """Return ``p`` rounded up to one significant digit, in [0.0001, 1]."""
    exponent = _LEAST_EXPONENT
    if p > 0:
        exponent = max(_LEAST_EXPONENT, math.floor(math.log10(p)))
    digit = 10.0**exponent
    return min(1.0, max(_LEAST_P, math.ceil(p / digit - _ROUNDING) * digit))


def joined(*notes: str) -> str:
    """Return the notes that are not empty, in one line."""
    return "; ".join(note for note in notes if note)


def units_note(units: int, noun: str) -> str:
    """Return why there is no interval, or why it is unstable; empty from ten units.

    ``noun`` names a unit, such as ``conversation``.
    """
    if units < LEAST_UNITS:
        return f"no interval: only {counted(units, noun)} (at least {LEAST_UNITS} required)"
    if units < STABLE_UNITS:
        return f"unstable: only {counted(units, noun)}"
    return ""


def alike_note(units: int, noun: str) -> str:
    """Return why there is no interval if all units are alike: nothing shows how others would vary.

    Empty for a single unit.
    """
    if units <= 1:
        return ""
    every = "both" if units == 2 else "all"
    return f"no interval: {every} {counted(units, noun)} are alike"


def carried_share(deviations: npt.ArrayLike) -> float:
    """Return the largest share of one unit in the sum of squared deviations, 0 to 1.

    ``deviations`` [K]: those of the units; 0 if all are 0.
    """
    squares = np.asarray(deviations, dtype=np.float64) ** 2
    total = float(squares.sum())
    return float(squares.max()) / total if total else 0.0


def carried_note(share: float, units: int, noun: str) -> str:
    """Return a note if one unit has more than half of the squared deviations (``share``).

    Empty below ten units. Similar units may include several such units or none: on public runs,
    such intervals covered 86 to 93%.
    """
    if units < STABLE_UNITS or share <= CARRIED:
        return ""
    percent = f"{100 * share:.0f}%"
    return f"one {noun} accounts for {percent} of the spread, so the interval may be too narrow"


def moving_note(moving: int, units: int, floor: float, noun: str) -> str:
    """Return what a test cannot show if only ``moving`` of ``units`` differ; empty if enough do.

    ``floor``: the smallest p of the test.
    """
    if not units:
        return ""
    if not moving:
        # the exact upper limit of a share of which the sample contains nothing
        percent = f"{100 * (1 - LEVELS[0] ** (1 / units)):.1f}%"
        return (
            f"none of {counted(units, noun)} differs, so with 95% confidence fewer than {percent}"
            f" of all {noun}s do"
        )
    few = sparse_note(moving, units, noun) or _few_note(moving, units, noun)
    return joined(few, floor_note(floor))


def _few_note(moving: int, units: int, noun: str) -> str:
    """Return that fewer than :data:`FEW_MOVING` units differ; else empty."""
    if moving >= FEW_MOVING:
        return ""
    if moving < units:
        return f"only {moving} of {counted(units, noun)} {_differ(moving)}"
    if units == 1:
        return f"the only {noun} differs"
    return f"all {counted(units, noun)} differ"


def _differ(count: int) -> str:
    return "differs" if count == 1 else "differ"


def sparse_note(moving: int, units: int, noun: str) -> str:
    """Return why a difference has no interval although ``moving`` units differ; empty if it has.

    The variation is then mostly in which units differ, and the sample has too few of them: on
    public runs, the intervals of such differences are far too short (docs/statistics.md). Every
    interval of a difference, and everything derived from it, uses this function.
    """
    if units < LEAST_UNITS or not moving or moving >= min(ENOUGH_MOVING, units / 2):
        return ""
    return f"no interval: only {moving} of {counted(units, noun)} {_differ(moving)}"


def floor_note(floor: float) -> str:
    """Return which level a test cannot reach, as its smallest p is ``floor``; else empty."""
    unreachable = [level for level in LEVELS if floor > level]
    if not unreachable:
        return ""
    return f"p cannot be below {floor:.2g} and so cannot reach {unreachable[0]:g}"
