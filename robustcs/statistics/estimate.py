"""Estimates with intervals and tests, and notes on their limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.wording import counted

#: Level of all two-sided intervals.
CONFIDENCE = 0.95
#: Fewest units for an interval.
LEAST_UNITS = 5
#: Least share of an item's pairs of ratings that must agree for the agreement filter to keep the item.
MIN_AGREEMENT = 0.4
#: Fewest units for an interval that is not called unstable.
STABLE_UNITS = 10
#: Below this number of units that differ, a note states it; a test at .01 requires this number.
FEW_MOVING = 8
#: Number of units that differ that suffices for the interval of a difference; of fewer units, at least half must differ.
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
    """An estimate with the two-sided p of "it is 0". The interval inverts the test, so the two never contradict.

    p
        The p-value; nan if no test was possible.
    floor
        The smallest p that this design can give.
    exact
        Whether all patterns were tried.
    moving
        Number of units that are not 0; only these inform the test.
    carried
        Largest share of the squared deviations in one unit; similar units would change the interval.
    """

    p: float = math.nan
    floor: float = math.nan
    exact: bool = True
    moving: int = 0
    carried: float = math.nan


def p_text(p: float, bound: float = 0.0) -> str:
    """Return ``p = 0.031``, or ``p < 0.0001`` if p is smaller or not above ``bound``, up to which a p is an upper bound."""
    if math.isnan(p):
        return "no p"
    if p < 0.0001 or p <= bound < 1:
        # rounded up, to one digit
        scale = 10.0 ** max(-4, math.floor(math.log10(max(p, bound, 1e-300))))
        return f"p < {min(1.0, max(0.0001, math.ceil(max(p, bound) / scale - 1e-9) * scale)):g}"
    return f"p = {p:.4f}" if p < 0.001 else f"p = {p:.3f}"


def joined(*notes: str) -> str:
    """Return the notes that are not empty, in one line."""
    return "; ".join(note for note in notes if note)


def units_note(units: int, noun: str) -> str:
    """Return why there is no interval, or why it is unstable; empty from ten units."""
    if units < LEAST_UNITS:
        return f"no interval: only {counted(units, noun)} (at least {LEAST_UNITS} required)"
    return f"unstable: only {counted(units, noun)}" if units < STABLE_UNITS else ""


def alike_note(units: int, noun: str) -> str:
    """Return why there is no interval if all units are alike: nothing shows how much others would vary."""
    return (
        f"no interval: {'both' if units == 2 else 'all'} {counted(units, noun)} are alike"
        if units > 1
        else ""
    )


def carried_share(rest: npt.ArrayLike) -> float:
    """Return the largest share of one unit in the squared deviations ``rest`` [K]²; 0 if all are 0."""
    squares = np.asarray(rest, dtype=np.float64) ** 2
    whole = float(squares.sum())
    return float(squares.max()) / whole if whole else 0.0


def carried_note(share: float, units: int, noun: str) -> str:
    """Return a note if one unit has more than half of the squared deviations (``share``); empty below ten units.

    Similar units may include several such units or none: on public runs, such intervals covered 86 to 93%.
    """
    if units < STABLE_UNITS or share <= CARRIED:
        return ""
    return f"one {noun} accounts for {100 * share:.0f}% of the spread, so the interval may be too narrow"


def moving_note(moving: int, units: int, floor: float, noun: str) -> str:
    """Return what a test cannot show if only ``moving`` of ``units`` differ; empty if enough differ."""
    if not units:
        return ""
    if not moving:
        share = 100 * (1 - LEVELS[0] ** (1 / units))
        return f"none of {counted(units, noun)} differs, so with 95% confidence fewer than {share:.1f}% of all {noun}s do"
    differ = "differs" if moving == 1 else "differ"
    few = ""
    if moving == units < FEW_MOVING:
        few = f"the only {noun} differs" if units == 1 else f"all {counted(units, noun)} differ"
    elif moving < FEW_MOVING:
        few = f"only {moving} of {counted(units, noun)} {differ}"
    return joined(sparse_note(moving, units, noun) or few, floor_note(floor))


def sparse_note(moving: int, units: int, noun: str) -> str:
    """Return why the difference of two systems has no interval although ``moving`` units differ; empty if it has one.

    The variation is then mostly in which units differ, and the sample has too few of them: on public runs, the intervals of
    such differences are far too short (docs/statistics.md). Every interval of a difference, and everything derived from it,
    uses this function.
    """
    if units < LEAST_UNITS or not moving or moving >= min(ENOUGH_MOVING, units / 2):
        return ""
    return f"no interval: only {moving} of {counted(units, noun)} {'differs' if moving == 1 else 'differ'}"


def floor_note(floor: float) -> str:
    """Return which level a test with the smallest p ``floor`` cannot reach; empty if it can reach all."""
    lost = next((level for level in LEVELS if floor > level), None)
    return f"p cannot be below {floor:.2g} and so cannot reach {lost:g}" if lost else ""
