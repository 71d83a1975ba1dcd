"""Many comparisons at once: Holm's correction, which keeps the chance of any false one at α, and what it can reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.statistics.correction import holm
from robustcs.statistics.estimate import LEVELS, Tested
from robustcs.wording import counted

Floats = npt.NDArray[np.float64]


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
        Where the design cannot reach .05 at all.
    """

    p: Floats
    floor: float
    exact: bool
    note: str

    def describe(self) -> str:
        """``Holm over 66 comparisons``: for the note below a table."""
        return f"Holm over {counted(len(self.p), 'comparison')}"


def holm_family(tests: Sequence[Tested]) -> Family:
    """Holm's correction of the tests' p values."""
    known = [test for test in tests if not math.isnan(test.p)]
    floor = len(known) * min((test.floor for test in known), default=1.0)
    exact = all(test.exact for test in tests)
    return Family(holm([test.p for test in tests]), min(1.0, floor), exact, _note(floor, len(known), exact))


def _note(floor: float, comparisons: int, exact: bool) -> str:
    """What Holm cannot reach where the smallest p times their number is ``floor``, which may be above 1."""
    if floor <= LEVELS[0] or not comparisons:
        return ""
    # every further unit with a difference halves the smallest p
    more = f"; {counted(math.ceil(math.log2(floor / LEVELS[0]) - 1e-12), 'more unit')} could" if exact else ""
    corrected = f"corrected for {counted(comparisons, 'comparison')} no p can reach {LEVELS[0]:g}"
    return f"{corrected}: the smallest possible is {min(1.0, floor):.2g}{more}"
