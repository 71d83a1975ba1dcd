"""Adjust the p-values of comparisons that are read together, so that the chance of any false one stays at α.

Step-down max-T (Westfall & Young 1993, algorithm 2.8) on sign flips of whole units: every sign pattern gives each comparison m
the statistic |Σ s_k d_mk| / √Σ d_mk², and the largest statistic among the comparisons not yet rejected is what each observed
one must beat. All comparisons share their patterns, so their dependence counts: pairs of the same systems cost far less than in
Holm's correction, which remains for p-values that no sign flip gives (correlations, binomial tests).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.statistics.correction import holm
from robustcs.statistics.estimate import LEVELS, Tested
from robustcs.statistics.sign_flip import DRAWS, Subsets
from robustcs.wording import counted

Floats = npt.NDArray[np.float64]

Method = Literal["max-T", "Holm"]
#: Statistics held at a time: few enough for the processor's cache.
_CELLS = 250_000
#: Statistics are at most √K; differences below this are rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Family:
    """The p-values of M comparisons that are read together, adjusted.

    p
        float64[M], in the order given, never below the raw one; rejecting where it is ≤ α keeps the family-wise error ≤ α.
    floor
        The smallest value that an adjusted p could have.
    exact
        Whether a p at the floor is a value rather than a bound.
    note
        Where the design cannot reach .05 at all.
    method
        How they were adjusted.
    """

    p: Floats
    floor: float
    exact: bool
    note: str
    method: Method = "max-T"

    def describe(self, noun: str = "comparison") -> str:
        """Return ``max-T over 66 comparisons``, for the note below a table; ``noun``: what is compared, such as ``pair``."""
        return f"{self.method} over {counted(len(self.p), noun)}"


def max_t(sums: npt.ArrayLike, seed: int, one_sided: bool = False, draws: int = DRAWS) -> Floats:
    """Return the step-down max-T p-values, float64[M], of "Σ_k ``sums``[m, k] is 0" (``one_sided``: "is at most 0").

    ``sums``: float64[M, K], a column per unit; 0 where a comparison has no turns in a unit. A comparison without any difference
    has p 1. All 2^K patterns up to 16 units, else ``draws`` random ones and the observed one, as in
    :func:`~robustcs.statistics.sign_flip.paired_tests`.
    """
    table = np.atleast_2d(np.asarray(sums, dtype=np.float64))
    found = np.ones(len(table))
    norm = np.sqrt((table**2).sum(axis=1))
    scale = np.abs(table).max(axis=1, initial=0.0)
    moving = np.flatnonzero(scale > 0)
    if not len(moving):
        return found
    scaled = table[moving] / norm[moving, None]
    observed = scaled.sum(axis=1)
    if not one_sided:
        np.abs(observed, out=observed)
    # the smallest first, so that a running maximum is that of all comparisons not yet rejected
    order = np.argsort(observed, kind="stable")
    scaled, observed = scaled[order], observed[order, None] - _ROUNDING
    subsets = Subsets(table.shape[1], seed, draws)
    as_far = np.ones(len(order))
    for block in subsets.blocks(max(1, _CELLS // len(order))):
        statistics = scaled @ (1.0 - 2.0 * block.T)
        if not one_sided:
            np.abs(statistics, out=statistics)
        np.maximum.accumulate(statistics, axis=0, out=statistics)
        as_far += np.count_nonzero(statistics >= observed, axis=1)
    # a comparison cannot be rejected before those that lie further out
    stepped = np.maximum.accumulate((as_far / subsets.total)[::-1])[::-1]
    found[moving[order]] = stepped
    return found


def max_t_family(tests: Sequence[Tested], sums: npt.ArrayLike, seed: int, draws: int = DRAWS) -> Family:
    """Return the family of sign-flip ``tests`` on ``sums`` [M, K], adjusted by :func:`max_t`.

    ``sums`` are those that the tests were made of, with the same columns for all of them; nan where a test has no p.
    """
    raw = np.array([test.p for test in tests])
    adjusted = np.maximum(raw, max_t(sums, seed, draws=draws)) if len(tests) else raw
    floor = min((test.floor for test in tests if not math.isnan(test.p)), default=1.0)
    exact = all(test.exact for test in tests)
    note = ""
    if floor > LEVELS[0] and len(tests):
        note = f"no p-value can reach {LEVELS[0]:g}: the smallest possible is {floor:.2g}"
    return Family(adjusted, floor, exact, note)


def holm_family(tests: Sequence[Tested]) -> Family:
    """Return Holm's correction of the tests' p-values, for tests that share no sign flips."""
    known = [test for test in tests if not math.isnan(test.p)]
    floor = len(known) * min((test.floor for test in known), default=1.0)
    exact = all(test.exact for test in tests)
    return Family(holm([test.p for test in tests]), min(1.0, floor), exact, _note(floor, len(known), exact), "Holm")


def _note(floor: float, comparisons: int, exact: bool) -> str:
    """What Holm cannot reach where the smallest p times their number is ``floor``, which may be above 1."""
    if floor <= LEVELS[0] or not comparisons:
        return ""
    # every further unit with a difference halves the smallest p
    more = f"; {counted(math.ceil(math.log2(floor / LEVELS[0]) - 1e-12), 'more unit')} could" if exact else ""
    corrected = f"corrected for {counted(comparisons, 'comparison')} no p can reach {LEVELS[0]:g}"
    return f"{corrected}: the smallest possible is {min(1.0, floor):.2g}{more}"
