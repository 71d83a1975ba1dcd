"""Many comparisons at once: corrections that keep the chance of any false one at α, and what they can reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.statistics.correction import holm
from robustcs.statistics.estimate import LEVELS, Tested, counted, joined, p_text
from robustcs.statistics.sign_flip import DRAWS, Subsets

Floats = npt.NDArray[np.float64]
Correction = Literal["holm", "max_t"]
#: What max-T presumes; the figures are those of docs/statistics.md.
MAX_T_NOTE = "exact for interchangeable systems; where only their means are equal, any false one in 7 to 9 % instead of 5 %"
#: Numbers of the step-down maxima held at a time.
_CELLS = 4_000_000
_NAMES = {"holm": "Holm", "max_t": "step-down max-T over sign flips"}


@dataclass(frozen=True, eq=False)
class Family:
    """The p values of M comparisons that are read together, corrected.

    p
        float64[M], in the order given, never below the raw one; rejecting where it is ≤ α keeps the family-wise error ≤ α.
    floor
        The smallest value that a corrected p could have.
    exact
        Whether a p at the floor is a value rather than a bound.
    note
        Where the design cannot reach .05 at all, and what the correction presumes.
    """

    correction: Correction
    p: Floats
    floor: float
    exact: bool
    note: str

    def describe(self) -> str:
        """``Holm over 66 comparisons``: for the note below a table."""
        return f"{_NAMES[self.correction]} over {counted(len(self.p), 'comparison')}"

    def p_text(self, place: int) -> str:
        """The corrected p of a comparison as it is printed."""
        return p_text(float(self.p[place]), 0.0 if self.exact else self.floor)


def holm_family(tests: Sequence[Tested]) -> Family:
    """Holm's correction of the tests' p values."""
    known = [test for test in tests if not math.isnan(test.p)]
    floor = min(1.0, len(known) * min((test.floor for test in known), default=1.0))
    return Family("holm", holm([test.p for test in tests]), floor, all(test.exact for test in tests), _note(floor, len(known)))


def max_t_family(sums: npt.ArrayLike, seed: int, tests: Sequence[Tested] | None = None, draws: int = DRAWS) -> Family:
    """Step-down max-T over common sign flips of ``sums`` [M, K]: the largest |Σ ±d| / √Σd² of the comparisons not yet rejected.

    It uses that comparisons on the same units depend on each other, so it finds more than Holm where there are many (Westfall &
    Young 1993, algorithm 4.1). With ``tests``, those of the same sums, no corrected p is below the raw one.
    """
    table = np.atleast_2d(np.asarray(sums, dtype=np.float64))
    comparisons, units = table.shape
    subsets = Subsets(units, seed, draws)
    norm = np.sqrt((table**2).sum(axis=1, keepdims=True))
    scaled = np.divide(table, norm, out=np.zeros_like(table), where=norm > 0)
    observed = np.abs(scaled.sum(axis=1))
    order = np.argsort(observed, kind="stable")
    scaled, reached = scaled[order], observed[order] - 1e-12 * math.sqrt(max(1, units))
    extreme = np.ones(comparisons)
    for block in subsets.blocks(_CELLS // max(1, comparisons, units)):
        flipped = np.abs(scaled.sum(axis=1)[:, None] - 2 * (scaled @ block.T))
        extreme += (np.maximum.accumulate(flipped, axis=0) >= reached[:, None]).sum(axis=1)
    corrected = np.empty(comparisons)
    # a comparison is not rejected before those that are further from 0
    corrected[order] = np.maximum.accumulate((extreme / subsets.total)[::-1])[::-1]
    corrected[observed == 0] = 1.0
    if tests is not None:
        corrected = np.fmax(corrected, [test.p for test in tests])
    floor = min(1.0, (2 if subsets.exact else 1) / subsets.total)
    return Family("max_t", corrected, floor, subsets.exact, joined(_note(floor, comparisons), MAX_T_NOTE))


def units_for_holm(comparisons: int, alpha: float = LEVELS[0]) -> int:
    """Units from which Holm on exact sign flips of ``comparisons`` can reach ``alpha`` at all: 1 + log2(m/α), rounded up."""
    return math.ceil(1 + math.log2(comparisons / alpha) - 1e-12)


def _note(floor: float, comparisons: int) -> str:
    if floor <= LEVELS[0] or not comparisons:
        return ""
    many = counted(comparisons, "comparison")
    return f"corrected for {many} no p can reach {LEVELS[0]:g}: the smallest possible is {floor:.2g}"
