"""Missing scores of systems: by how much they could change means and differences.

Scores may be missing because of the answers themselves: a judge that fails on bad answers makes the
worse system look better over the turns that have a score. So each missing score may take any value
of the measure's range, as each unjudged passage may take any grade. A difference between two
systems is an order only if it has the same sign, and is significant, with the missing scores at
both ends of the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from robustcs.statistics import Floats, Mask, settled
from robustcs.statistics.columns import Comparisons, comparisons
from robustcs.statistics.units import Units

#: An end of the range of a measure.
End = Literal["lowest", "highest"]
#: The usual range of a measure.
_UNIT_RANGE = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class MissingScores:
    """Scores of R systems by one measure on T turns, of which some are missing.

    True if at least one score is missing.

    values
        float64[R, T]: nan where missing, and where a run has not answered.
    missing
        bool[R, T]: whether the score is missing.
    """

    values: Floats
    missing: Mask

    def __bool__(self) -> bool:
        return bool(self.missing.any())

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest score: 0 and 1, or those observed if some lie outside."""
        known = self.values[~np.isnan(self.values)]
        if not len(known):
            return _UNIT_RANGE
        low, high = float(known.min()), float(known.max())
        if low >= _UNIT_RANGE[0] and high <= _UNIT_RANGE[1]:
            return _UNIT_RANGE
        return low, high

    def filled(self, end: End) -> Floats:
        """Return the scores, float64[R, T], with the missing ones at this end of the range."""
        lowest, highest = self.range
        return np.where(self.missing, lowest if end == "lowest" else highest, self.values)

    def means(self) -> tuple[Floats, Floats]:
        """Return the lowest and highest possible mean of every system, float64[R]."""
        lowest = np.nanmean(self.filled("lowest"), axis=1)
        highest = np.nanmean(self.filled("highest"), axis=1)
        return lowest, highest

    def differences(self, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, Floats]:
        """Return the lowest and highest possible differences by turn, float64[P, T] each.

        A difference is the score of the first minus that of the second system of a pair.
        """
        lowest, highest = self.filled("lowest"), self.filled("highest")
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return lowest[first] - highest[second], highest[first] - lowest[second]


@dataclass(frozen=True, eq=False)
class Bounded:
    """Comparisons whose p-values hold for every value of the missing scores.

    lowest, highest
        float64[P]: the bounds of the mean differences.
    """

    comparisons: Comparisons
    lowest: Floats
    highest: Floats


def bounded_comparisons(
    on_known: Comparisons,
    scores: MissingScores,
    pairs: Sequence[tuple[int, int]],
    units: Units,
    seed: int,
) -> Bounded:
    """Replace p-values by the largest of three tests: on the known scores, and at both bounds.

    They are 1 if the bounds do not have the sign of the difference over the known scores: then the
    missing scores decide the order. All mean differences that any completion gives lie within the
    bounds. ``on_known``: the comparisons on the known scores; ``pairs``: their systems.
    """
    low, high = scores.differences(pairs)
    at_lowest, lowest = _compared(low, units, seed)
    at_highest, highest = _compared(high, units, seed)

    observed = np.array([test.value for test in on_known.tests])
    same_sign = ((lowest > 0) & (observed > 0)) | ((highest < 0) & (observed < 0))
    completions = (on_known, at_lowest, at_highest)
    raw = np.max([_p_values(completion) for completion in completions], axis=0)
    adjusted = np.max([completion.corrected for completion in completions], axis=0)
    raw, adjusted = np.where(same_sign, raw, 1.0), np.where(same_sign, adjusted, 1.0)

    tests = [replace(test, p=float(p)) for test, p in zip(on_known.tests, raw, strict=True)]
    families = [replace(on_known.families[0], p=adjusted)]
    bounded = replace(on_known, tests=tests, corrected=adjusted.tolist(), families=families)
    return Bounded(bounded, lowest, highest)


def _compared(differences: Floats, units: Units, seed: int) -> tuple[Comparisons, Floats]:
    """Return the comparisons of ``differences`` [P, T], nan if unknown, and their means [P]."""
    known = ~np.isnan(differences)
    sums = units.sums(np.where(known, settled(differences), 0.0))
    sizes = units.sums(known)
    compared = comparisons(sums, sizes, units.kind, seed, power=False)
    return compared, settled(sums.sum(axis=1) / sizes.sum(axis=1))


def _p_values(compared: Comparisons) -> list[float]:
    return [test.p for test in compared.tests]
