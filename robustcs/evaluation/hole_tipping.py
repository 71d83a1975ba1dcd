"""Tipping points: how wrong must the hole model be for a conclusion to change?

Judgments are often missing because passages were unlikely to be relevant, or for the opposite reason, and the judgments do not
show by how much. So the odds that an unjudged passage reaches the next grade are multiplied by a factor, in every stage and
draw (a shift of the logit: the pattern mixture of Rubin 1977). The module reports the nearest factors below and above 1 at
which a conclusion changes: for all unjudged passages, and for those that only one of the two sides retrieved. All factors use
the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.hole_expectation import Contrast, FilledHoles
from robustcs.evaluation.hole_model import KeptDraws
from robustcs.evaluation.hole_order import SURE
from robustcs.evaluation.run_pool import Grades
from robustcs.lazy import pd
from robustcs.result import measure, number, table, text
from robustcs.statistics import Floats
from robustcs.statistics.estimate import LEVELS
from robustcs.statistics.families import completed_family
from robustcs.statistics.ranks import DECIMALS

#: Largest factor by which odds are multiplied or divided, and the number of steps to it, equal in logs.
LARGEST, STEPS = 50.0, 64
#: Steps between the factors tried first; the first change is then narrowed down.
_COARSE = 16
#: Kinds of conclusions: the side expected ahead, a significant difference on similar conversations, agreement of the draws.
Kind = Literal["order", "differ", "sure"]
_WORDS: dict[Kind, tuple[str, ...]] = {
    "order": ("second > first expected", "first = second expected", "first > second expected"),
    "differ": ("no difference shown on other conversations", "differ on other conversations"),
    "sure": ("order open", "order certain"),
}  # fmt: skip

TIPPING = table(
    "tipping", "Factors on the odds of relevance predicted by the hole model at which a conclusion changes.",
    text("first", header="First"), text("second", "a system, or a group (the mean of its sets)", "Second"),
    measure(),
    text("conclusion", "first > second expected (or the reverse); differ on other conversations (expected_p ≤ .05) or no"
         " difference shown; order certain (95% of the draws agree on these turns) or open"),
    text("scope", "passages whose odds are multiplied: all unjudged ones, or unique (retrieved by only one of the two)"),
    number("factor_below", "nearest factor below 1 on the odds of every grade at which the conclusion changes, in steps of"
           f" {100 * (LARGEST ** (1 / STEPS) - 1):.0f}%; null if no factor down to 1/{LARGEST:.0f} changes it",
           "below ×"),
    number("factor_above", f"nearest factor above 1; null if no factor up to {LARGEST:.0f} changes it",
           "above ×"),
)  # fmt: skip


def factor_at(step: int) -> float:
    """Return the factor of a step from −:data:`STEPS` to :data:`STEPS`; 1 at step 0."""
    return float(LARGEST ** (step / STEPS))


def kind_of(conclusion: str) -> Kind:
    """Return the kind of a conclusion in :data:`TIPPING`."""
    return next(kind for kind, words in _WORDS.items() if conclusion in words)


def tipping(
    filled: FilledHoles | None,
    asked: Mapping[str, Sequence[Contrast]],
    family: Sequence[Contrast],
    kinds: Sequence[Kind] = ("order", "differ", "sure"),
) -> pd.DataFrame:
    """Return :data:`TIPPING` for the contrasts ``asked`` of each measure, all of them members of the ``family``.

    p is adjusted for the family. ``kinds``: the conclusions to test; below five units, there is none on similar conversations.
    No rows without unjudged passages.
    """
    rows = []
    if filled is not None and filled.scoring is not None and any(asked.values()):
        kept = filled.scoring.model.kept(len(filled.sums))
        for column, one in enumerate(filled.scoring.measures):
            factors = _Factors(filled, family, column, kept)
            for contrast in asked.get(one.name, ()):
                place = family.index(contrast)
                for kind in kinds:
                    stands = factors.everywhere(place, kind, 0)
                    if stands < 0:
                        continue
                    said = (*contrast.names, one.name, _WORDS[kind][stands])
                    for scope, look in (("all", factors.everywhere), ("unique", factors.alone)):
                        rows.append((*said, scope, *nearest(partial(look, place, kind), stands)))
                factors.sums_unique.cache_clear()
    return TIPPING.frame(rows)


def nearest(conclusion: Callable[[int], int], stands: int) -> tuple[float, float]:
    """Return the nearest factors below and above 1 whose ``conclusion`` (of a step) is not ``stands``; NaN if there is none.

    A few factors are tried from 1 outward. The first range with a change is then bisected.
    """
    found = []
    for side in (-1, 1):
        same, changed = 0, next((s for s in range(_COARSE, STEPS + 1, _COARSE) if conclusion(side * s) != stands), None)
        if changed is not None:
            same = changed - _COARSE
            while changed - same > 1:
                middle = (same + changed) // 2
                same, changed = (same, middle) if conclusion(side * middle) != stands else (middle, changed)
        found.append(np.nan if changed is None else factor_at(side * changed))
    return found[0], found[1]


class _Factors:
    """Conclusions by one measure under each factor, computed once."""

    def __init__(self, filled: FilledHoles, family: Sequence[Contrast], column: int, kept: KeptDraws):
        assert filled.scoring is not None
        self.filled, self.scoring, self.family, self.kept = filled, filled.scoring, family, kept
        self.measures = (self.scoring.measures[column],)
        self.weights = np.array([one.weights(len(self.scoring.pool.names)) for one in family])
        #: float64[D, C, K] and int16[D, H], at factor 1
        self.base, self.at_one = filled.drawn(self.weights, column), kept.grades(1.0)
        self.found = self.scoring.pool.best_ranks()[:, self.scoring.model.pairs] <= int(self.scoring.model.holes.best.max())
        self.at_all = cache(self._at_all)
        self.sums_unique = cache(self._sums_unique)

    def everywhere(self, place: int, kind: Kind, step: int) -> int:
        """Return the conclusion on a contrast with the factor of ``step`` for all unjudged passages; −1 if there is none."""
        return int(self.at_all(step)[kind][place])

    def alone(self, place: int, kind: Kind, step: int) -> int:
        """Return the same with the factor for unjudged passages that only one of the two sides retrieved."""
        own = self.sums_unique(step, place)
        if own is None:
            return self.everywhere(place, kind, 0)
        if kind != "differ":
            return int(self._concluded(kind, own[:, None])[0])
        drawn = self.base.copy()
        drawn[:, place] = own
        return int(self._concluded(kind, drawn)[place])

    def _at_all(self, step: int) -> dict[Kind, npt.NDArray[np.int64]]:
        """Return int64[C] by kind, with the factor of ``step`` for all unjudged passages."""
        drawn = self._differences(self.weights, self.kept.grades(factor_at(step))) if step else self.base
        return {kind: self._concluded(kind, drawn) for kind in _WORDS}

    def _sums_unique(self, step: int, place: int) -> Floats | None:
        """Return float64[D, K] of one contrast; None if no unjudged passage was retrieved by one side only."""
        contrast = self.family[place]
        first, second = (self.found[list(side)].any(axis=0) for side in (contrast.first, contrast.second))
        own = np.flatnonzero(first != second)
        if not len(own):
            return None
        grades = self.at_one.copy()
        grades[:, own] = self.kept.grades(factor_at(step), own)
        return np.asarray(self._differences(self.weights[[place]], grades)[:, 0])

    def _differences(self, weights: Floats, drawn: Grades) -> Floats:
        """Return float64[D, C, K]: differences by ``weights`` [C, R] with the grades ``drawn`` (int16[D, H])."""
        scoring, whole, parts = self.scoring, self.scoring.pool, []
        runs = np.flatnonzero(weights.any(axis=0)).tolist() or [0]
        pool = replace(whole, names=tuple(whole.names[run] for run in runs), places=tuple(whole.places[run] for run in runs))
        size = pool.batch(self.measures)
        for start in range(0, len(drawn), size):
            some = drawn[start : start + size]
            sets = np.tile(scoring.grades, (len(some), 1))
            sets[:, scoring.model.pairs] = some
            scores = pool.score(sets, self.measures, scoring.policy)[:, :, 0][..., scoring.counted]
            parts.append(np.einsum("cr,drk->dck", weights[:, runs], self.filled.units.sums(scores)))
        return np.asarray(np.round(np.concatenate(parts), DECIMALS))

    def _concluded(self, kind: Kind, drawn: Floats) -> npt.NDArray[np.int64]:
        """Return int64[C]: the index in :data:`_WORDS` of the conclusion from the differences ``drawn`` (float64[D, C, K])."""
        if kind == "differ":
            p = completed_family(drawn, self.filled.seed)
            return np.asarray(np.where(np.isnan(p), -1, p <= LEVELS[0]), dtype=np.int64)
        means = np.round(drawn.sum(axis=-1) / self.filled.units.sizes.sum(), DECIMALS)
        if kind == "order":
            return np.asarray(np.sign(np.round(means.mean(axis=0), DECIMALS)) + 1, dtype=np.int64)
        agree = np.max([(np.sign(means) == sign).mean(axis=0) for sign in (-1, 0, 1)], axis=0)
        return np.asarray(agree >= SURE, dtype=np.int64)
