"""What an estimate says: its value, its interval, the test that goes with it, and the words for what it cannot say."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.wording import counted

#: Two-sided level of all intervals.
CONFIDENCE = 0.95
#: Below so many units no interval is given.
LEAST_UNITS = 5
#: Below so many units an interval is given and called unstable.
STABLE_UNITS = 10
#: Below so many units with a difference their number is told: a test at .01 needs that many.
FEW_MOVING = 8
#: So many units that differ are enough for the interval of a difference; of fewer, at least half must differ.
ENOUGH_MOVING = 10
#: Share of the spread from which one unit is said to carry it.
CARRIED = 0.5
#: Levels at which tests are read.
LEVELS = (0.05, 0.01)


@dataclass(frozen=True)
class Estimate:
    """A value with its interval, both in the units of what was measured.

    value
        The estimate from all units; nan where there is none.
    low, high
        Limits of the 95 % interval for other units of this kind; nan where no interval can be given (``note`` says why).
    units
        Sampling units that it rests on: conversations, turns, topics or items.
    method
        How interval and p were made, for a table's note.
    note
        What a reader must know beside the numbers; empty where there is nothing.
    """

    value: float
    low: float
    high: float
    units: int
    method: str
    note: str = ""


@dataclass(frozen=True)
class Tested(Estimate):
    """An estimate with the two-sided p value of "it is 0", whose inversion the interval is: the two never contradict.

    p
        nan where nothing could be tested.
    floor
        The smallest p that this design could have shown.
    exact
        Whether all patterns were tried; else a p at the floor means "at most that".
    moving
        Units that are not 0, the only ones that can say anything.
    carried
        Share of the squared deviations that one unit has: other units like it would move the interval.
    """

    p: float = math.nan
    floor: float = math.nan
    exact: bool = True
    moving: int = 0
    carried: float = math.nan

    @property
    def p_text(self) -> str:
        """The p value as it is printed."""
        return p_text(self.p, 0.0 if self.exact else self.floor)


def p_text(p: float, bound: float = 0.0) -> str:
    """``p = 0.031``; ``p < 0.0001`` where it is smaller, or not above ``bound``, the smallest that could be measured."""
    if math.isnan(p):
        return "no p"
    if p < 0.0001 or p <= bound < 1:
        # rounded up, to one digit
        scale = 10.0 ** max(-4, math.floor(math.log10(max(p, bound, 1e-300))))
        return f"p < {min(1.0, max(0.0001, math.ceil(max(p, bound) / scale - 1e-9) * scale)):g}"
    return f"p = {p:.4f}" if p < 0.001 else f"p = {p:.3f}"


def joined(*notes: str) -> str:
    """The notes that say something, in one line."""
    return "; ".join(note for note in notes if note)


def units_note(units: int, noun: str) -> str:
    """Why there is no interval, or why it is unstable; empty from ten units."""
    if units < LEAST_UNITS:
        return f"no interval: {counted(units, noun)}, {LEAST_UNITS} are needed"
    return f"unstable: {counted(units, noun)} only" if units < STABLE_UNITS else ""


def alike_note(units: int, noun: str) -> str:
    """Where all units are alike and nothing shows how much others would vary."""
    return f"no interval: {'both' if units == 2 else 'all'} {counted(units, noun)} are alike" if units > 1 else ""


def carried_share(rest: npt.ArrayLike) -> float:
    """The largest share that one unit has of the squared deviations ``rest`` [K]² of all; 0 where there are none."""
    squares = np.asarray(rest, dtype=np.float64) ** 2
    whole = float(squares.sum())
    return float(squares.max()) / whole if whole else 0.0


def carried_note(share: float, units: int, noun: str) -> str:
    """Where one unit carries more than half of the squared deviations, ``share`` of them; empty below ten units.

    Other units like these may hold more such ones or none: on public runs intervals of this kind covered 86 to 93 %.
    """
    if units < STABLE_UNITS or share <= CARRIED:
        return ""
    return f"one {noun} carries {100 * share:.0f} % of the spread: the interval may be too narrow"


def moving_note(moving: int, units: int, floor: float, noun: str) -> str:
    """What a test of ``moving`` units with a difference out of ``units`` cannot show; empty where there are enough."""
    if not units:
        return ""
    if not moving:
        share = 100 * (1 - LEVELS[0] ** (1 / units))
        return f"no difference in any of {counted(units, noun)}: at 95 %, fewer than {share:.1f} % of {noun}s have one"
    few = f"differences in {moving} of {counted(units, noun)}" if moving < FEW_MOVING else ""
    return joined(sparse_note(moving, units, noun) or few, floor_note(floor))


def sparse_note(moving: int, units: int, noun: str) -> str:
    """Why the difference of two systems has no interval although ``moving`` units differ; empty where it has one.

    Which units differ is then most of what varies, and the sample shows too few of them: on public runs the intervals of such
    differences are far too short (docs/statistics.md). Every interval of a difference, and what is derived from it, asks here.
    """
    if units < LEAST_UNITS or not moving or moving >= min(ENOUGH_MOVING, units / 2):
        return ""
    return f"no interval: only {moving} of {counted(units, noun)} {'differs' if moving == 1 else 'differ'}"


def floor_note(floor: float) -> str:
    """Which level a test whose smallest p is ``floor`` cannot reach; empty where it reaches all."""
    lost = next((level for level in LEVELS if floor > level), None)
    return f"p cannot fall below {floor:.2g}, so not reach {lost:g}" if lost else ""
