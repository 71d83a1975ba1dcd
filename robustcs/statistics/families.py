"""Adjust the p-values of a family of comparisons.

The probability of any false rejection is then at most α.
Step-down max-T (Westfall & Young 1993, algorithm 2.8) with sign flips of whole units: every sign
pattern gives each comparison m the statistic |Σ s_k d_mk| / √Σ d_mk². Each observed statistic is
compared with the largest one among the comparisons not yet rejected. All comparisons share their
patterns, so their dependence is taken into account: pairs of the same systems cost far less than
with Holm's correction. Holm's remains for p-values without sign flips (correlations, binomial
tests).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Floats
from robustcs.statistics.estimate import LEVELS, Tested
from robustcs.statistics.sign_flip import DRAWS, Subsets
from robustcs.wording import counted

Method = Literal["max-T", "Holm"]
#: Patterns and comparisons whose statistics are computed together: long rows, and not more than
#: 250,000 numbers, which fit into the processor's cache.
_PATTERNS, _ROWS = 2_048, 122
#: Statistics are at most √K; differences below this are rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Family:
    """The adjusted p-values of a family of M comparisons.

    p
        float64[M], in the given order, never below the raw p. Rejecting if p ≤ α keeps the
        family-wise error ≤ α.
    floor
        The smallest possible adjusted p.
    note
        A note if the design cannot reach .05.
    method
        The adjustment.
    """

    p: Floats
    floor: float
    note: str
    method: Method = "max-T"

    def describe(self, noun: str = "comparison") -> str:
        """Return ``max-T over 66 comparisons``, for the note of a table.

        ``noun`` names a comparison, such as ``pair``.
        """
        return f"{self.method} over {counted(len(self.p), noun)}"


def max_t(sums: npt.ArrayLike, seed: int, one_sided: bool = False, draws: int = DRAWS) -> Floats:
    """Return the step-down max-T p-values, float64[M], of "the sum of a comparison is 0".

    ``one_sided``: of "it is at most 0". ``sums``: float64[M, K], a column per unit; 0 if a
    comparison has no turns in a unit. A comparison without differences has p = 1. All 2^K patterns
    are used up to 16 units, otherwise ``draws`` random ones and the observed one, as in
    :func:`~robustcs.statistics.sign_flip.paired_tests`.
    """
    table = np.atleast_2d(np.asarray(sums, dtype=np.float64))
    p_values = np.ones(len(table))
    norm = np.sqrt((table**2).sum(axis=1))
    moving = np.flatnonzero(norm > 0)
    if not len(moving):
        return p_values
    scaled = table[moving] / norm[moving, None]
    observed = scaled.sum(axis=1)
    if not one_sided:
        np.abs(observed, out=observed)
    order = np.argsort(observed, kind="stable")
    subsets = Subsets(table.shape[1], seed, draws)
    as_far = _patterns_as_far(scaled[order], observed[order] - _ROUNDING, subsets, one_sided)
    # a comparison cannot be rejected before those with larger statistics
    stepped = np.maximum.accumulate((as_far / subsets.total)[::-1])[::-1]
    p_values[moving[order]] = stepped
    return p_values


def _patterns_as_far(scaled: Floats, observed: Floats, subsets: Subsets, one_sided: bool) -> Floats:
    """Return float64[M]: the number of sign patterns as far as observed, and the observed one.

    A pattern is as far if the largest statistic of a comparison and of all before it reaches
    ``observed`` [M], which is ascending, as are the rows of ``scaled`` [M, K].
    """
    totals = scaled.sum(axis=1, keepdims=True)
    as_far = np.ones(len(scaled))
    for block in subsets.blocks(_PATTERNS):
        flips = -2.0 * block.T
        highest = np.full(len(block), -np.inf)
        for start in range(0, len(scaled), _ROWS):
            rows = slice(start, start + _ROWS)
            statistics = scaled[rows] @ flips + totals[rows]
            if not one_sided:
                np.abs(statistics, out=statistics)
            # ascending, so that the running maximum covers all comparisons not yet rejected
            for comparison, row in enumerate(statistics, start):
                np.maximum(highest, row, out=highest)
                as_far[comparison] += np.count_nonzero(highest >= observed[comparison])
    return as_far


def max_t_family(
    tests: Sequence[Tested], sums: npt.ArrayLike, seed: int, draws: int = DRAWS
) -> Family:
    """Return the family of sign-flip ``tests`` on ``sums`` [M, K], adjusted by :func:`max_t`.

    ``sums``: those of the tests, with the same columns for all of them. nan if a test has no p.
    """
    p_values = np.array([test.p for test in tests])
    if not len(tests):
        return Family(p_values, 1.0, "")
    adjusted = np.maximum(p_values, max_t(sums, seed, draws=draws))
    floor = min((test.floor for test in tests if not math.isnan(test.p)), default=1.0)
    note = ""
    if floor > LEVELS[0]:
        note = f"no adjusted p can reach {LEVELS[0]:g}; the smallest possible is {floor:.2g}"
    return Family(adjusted, floor, note)


def holm_family(tests: Sequence[Tested]) -> Family:
    """Return Holm's correction of the p-values, for tests without common sign flips."""
    tested = [test for test in tests if not math.isnan(test.p)]
    smallest = len(tested) * min((test.floor for test in tested), default=1.0)
    exact = all(test.exact for test in tests)
    note = _holm_note(smallest, len(tested), exact)
    return Family(holm([test.p for test in tests]), min(1.0, smallest), note, "Holm")


def _holm_note(smallest: float, comparisons: int, exact: bool) -> str:
    """Return a note if Holm cannot reach .05; else empty.

    ``smallest``: the smallest p times the number of comparisons, possibly above 1.
    """
    level = LEVELS[0]
    if smallest <= level or not comparisons:
        return ""
    note = (
        f"adjusted for {counted(comparisons, 'comparison')}, no p can reach {level:g}:"
        f" the smallest possible is {min(1.0, smallest):.2g}"
    )
    if not exact:
        return note
    # every further unit that differs halves the smallest p
    more_units = math.ceil(math.log2(smallest / level) - 1e-12)
    return f"{note}; {counted(more_units, 'more unit')} would suffice"


def holm(p: npt.ArrayLike) -> Floats:
    """Return Holm's step-down correction: float64, in the given order.

    Rejecting if p ≤ α keeps the family-wise error ≤ α. The i-th smallest of m values is multiplied
    by m − i + 1; it is at least as large as those before it and at most 1. nan is not a comparison
    and stays nan. Holm (1979).
    """
    p_values = np.asarray(p, dtype=np.float64)
    corrected = np.full(p_values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return corrected
