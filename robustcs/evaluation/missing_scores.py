"""Missing scores of systems: by how much they could change means and differences, and the p-values that no completion refutes.

Scores may be missing because of the answers themselves: a judge that fails on bad answers makes the worse system look better
over the turns that have a score. So each missing score may take any value of the measure's range, as each unjudged passage may
take any grade. A difference between two systems is an order only if it has the same sign, and is significant, with the missing
scores at both ends of the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robustcs.statistics import Floats, Mask, settled
from robustcs.statistics.columns import Comparisons, comparisons
from robustcs.statistics.units import Units


@dataclass(frozen=True, eq=False)
class MissingScores:
    """Scores of R systems by one measure on T turns, of which some are missing.

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
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)

    def filled(self, end: int) -> Floats:
        """Return the scores with the missing ones at the lower end (0) or upper end (1) of the range."""
        return np.where(self.missing, self.range[end], self.values)

    def means(self) -> tuple[Floats, Floats]:
        """Return the lowest and highest possible mean of every system, float64[R]."""
        low, high = (np.nanmean(self.filled(end), axis=1) for end in (0, 1))
        return low, high

    def differences(self, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, Floats]:
        """Return the scores of the first minus those of the second system, as low and as high as possible: float64[P, T]."""
        low, high = self.filled(0), self.filled(1)
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return low[first] - high[second], high[first] - low[second]


@dataclass(frozen=True, eq=False)
class Bounded:
    """Comparisons whose p-values hold for every value of the missing scores, with the bounds of the differences, float64[P]."""

    comparisons: Comparisons
    lowest: Floats
    highest: Floats


def bounded_comparisons(
    found: Comparisons,
    scores: MissingScores,
    pairs: Sequence[tuple[int, int]],
    units: Units,
    seed: int,
) -> Bounded:
    """Replace the p-values of ``found`` by the largest of the test on the known scores and at both bounds of the difference.

    They are 1 if the bounds do not have the sign of the difference over the known scores: then the missing scores decide the
    order. All mean differences that any completion gives lie within the bounds. ``pairs``: the systems of the comparisons.
    """
    ends, lowest_and_highest = [], []
    for gaps in scores.differences(pairs):
        known = ~np.isnan(gaps)
        sums, sizes = units.sums(np.where(known, settled(gaps), 0.0)), units.sums(known)
        ends.append(comparisons(sums, sizes, units.kind, seed, power=False))
        lowest_and_highest.append(settled(sums.sum(axis=1) / sizes.sum(axis=1)))
    low, high = lowest_and_highest
    observed = np.array([test.value for test in found.tests])
    holds = ((low > 0) & (observed > 0)) | ((high < 0) & (observed < 0))
    every = (found, *ends)
    raw = np.where(holds, np.max([[test.p for test in one.tests] for one in every], axis=0), 1.0)
    adjusted = np.where(holds, np.max([one.corrected for one in every], axis=0), 1.0)
    tests = [replace(test, p=float(p)) for test, p in zip(found.tests, raw, strict=True)]
    families = [replace(found.families[0], p=adjusted)]
    return Bounded(
        replace(found, tests=tests, corrected=adjusted.tolist(), families=families), low, high
    )
