"""How far off must the hole model be for a conclusion to change?

Judgments are often missing where passages were not relevant, or the reverse, and no judgment tells by how much. So the odds
that a hole goes on to the next grade are multiplied by a factor, in every stage and draw (a shift of the logit: the pattern
mixture of Rubin 1977), and the nearest factor below and above 1 at which a conclusion is another one is reported: for all
holes alike, and for those that only one of the two sides found. All factors share the random numbers of the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.hole_expectation import Contrast, FilledHoles
from robustcs.evaluation.hole_features import Floats
from robustcs.evaluation.hole_order import SURE
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.result import number, table, text
from robustcs.statistics.completed import completed_family
from robustcs.statistics.estimate import LEVELS
from robustcs.statistics.ranks import DECIMALS

if TYPE_CHECKING:
    import pandas as pd

#: The most that odds are multiplied or divided by, and the steps, equal in logs, on the way there.
LARGEST, STEPS = 50.0, 64
#: Steps between the factors that are tried before the first change is narrowed down.
_COARSE = 16
#: What is concluded: which side is expected ahead, whether they differ elsewhere, whether the draws agree on the order here.
Kind = Literal["order", "differ", "sure"]
_WORDS: dict[Kind, tuple[str, ...]] = {
    "order": ("second > first expected", "first = second expected", "first > second expected"),
    "differ": ("no difference shown on other conversations", "differ on other conversations"),
    "sure": ("order open", "order certain"),
}  # fmt: skip

TIPPING = table(
    "tipping", "How far off the odds of relevance that the hole model predicts must be for a conclusion to change.",
    text("first", header="First"), text("second", "a system, or a group: the mean of its sets", "Second"),
    text("metric", header="Measure"),
    text("conclusion", "first > second expected (or the reverse); differ on other conversations (expected_p ≤ .05) or no"
         " difference shown; order certain (95 % of the draws agree on these turns) or open"),
    text("scope", "whose odds are multiplied: all unjudged passages, or unique: those that only one of the two found"),
    number("factor_below", "the nearest factor below 1 on the odds of every grade at which the conclusion is another one, in"
           f" steps of {100 * (LARGEST ** (1 / STEPS) - 1):.0f} %; null where none from 1/{LARGEST:.0f} on changes it",
           "below ×"),
    number("factor_above", f"the nearest above 1; null where none up to {LARGEST:.0f} changes it", "above ×"),
)  # fmt: skip


def factor_at(step: int) -> float:
    """The factor of a step from −:data:`STEPS` to :data:`STEPS`; 1 at 0."""
    return float(LARGEST ** (step / STEPS))


def kind_of(conclusion: str) -> Kind:
    """Return which kind of conclusion a cell of :data:`TIPPING` is."""
    return next(kind for kind, words in _WORDS.items() if conclusion in words)


def tipping(
    filled: FilledHoles | None,
    asked: Sequence[Contrast],
    family: Sequence[Contrast],
    kinds: Sequence[Kind] = ("order", "differ", "sure"),
) -> pd.DataFrame:
    """Return :data:`TIPPING` of the contrasts ``asked``, all of which are part of the ``family`` that p is adjusted over.

    ``kinds``: the conclusions in question; there is none on other conversations below five units. No rows without holes.
    """
    if filled is None or filled.scoring is None or not asked:
        return TIPPING.frame([])
    factors = _Factors(filled, family)
    rows = []
    for contrast in asked:
        place = family.index(contrast)
        for column, measure in enumerate(filled.scoring.measures):
            for kind in kinds:
                stands = factors.everywhere(place, kind, column, 0)
                if stands < 0:
                    continue
                everywhere = nearest(partial(factors.everywhere, place, kind, column), stands)
                alone = nearest(partial(factors.alone, place, kind, column), stands)
                said = (*contrast.names, measure.name, _WORDS[kind][stands])
                rows += [(column, *said, "all", *everywhere), (column, *said, "unique", *alone)]
        factors.sums_unique.cache_clear()
    rows.sort(key=lambda row: row[0])
    return TIPPING.frame([row[1:] for row in rows])


def nearest(conclusion: Callable[[int], int], stands: int) -> tuple[float, float]:
    """Return the nearest factors below and above 1 whose ``conclusion`` (of a step) is not ``stands``; NaN where there is none.

    Few factors are tried from 1 outward, and the first stretch that ends in a change is halved until the step is found.
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
    """What is concluded under a factor; each is looked at once."""

    def __init__(self, filled: FilledHoles, family: Sequence[Contrast]):
        assert filled.scoring is not None
        self.filled, self.scoring, self.family = filled, filled.scoring, family
        self.kept = self.scoring.model.kept(len(filled.sums))
        self.at_one = self.kept.grades(1.0)
        self.weights = np.array([one.weights(len(self.scoring.pool.names)) for one in family])
        #: float64[M, D, C, K]: at factor 1
        self.base = np.stack([filled.drawn(self.weights, number) for number in range(len(self.scoring.measures))])
        self.best = self.scoring.pool.best_ranks()[:, self.scoring.model.pairs] <= int(self.scoring.model.holes.best.max())
        self.at_all = cache(self._at_all)
        self.sums_unique = cache(self._sums_unique)

    def _at_all(self, step: int) -> dict[Kind, npt.NDArray[np.int64]]:
        """By kind int64[M, C], all holes having the factor of ``step``; −1 where nothing can be concluded."""
        drawn = self.base
        if step:
            sums = self._scored(self.scoring.pool, self.kept.grades(factor_at(step)))
            drawn = np.round(np.einsum("cr,drmk->mdck", self.weights, sums), DECIMALS)
        return {kind: np.stack([self._concluded(kind, one) for one in drawn]) for kind in ("order", "differ", "sure")}

    def everywhere(self, place: int, kind: Kind, column: int, step: int) -> int:
        """What is concluded of one contrast and measure, all holes having the factor of ``step``."""
        return int(self.at_all(step)[kind][column, place])

    def alone(self, place: int, kind: Kind, column: int, step: int) -> int:
        """The same, the holes that only one side found having it."""
        own = self.sums_unique(step, place)
        if own is None:
            return self.everywhere(place, kind, column, 0)
        if kind != "differ":
            return int(self._concluded(kind, own[column][:, None])[0])
        drawn = self.base[column].copy()
        drawn[:, place] = own[column]
        return int(self._concluded(kind, drawn)[place])

    def _sums_unique(self, step: int, place: int) -> Floats | None:
        """float64[M, D, K] of one contrast; None where neither side alone found a hole."""
        contrast, pool = self.family[place], self.scoring.pool
        first, second = (self.best[list(side)].any(axis=0) for side in (contrast.first, contrast.second))
        own = np.flatnonzero(first != second)
        if not len(own):
            return None
        runs = sorted({*contrast.first, *contrast.second})
        some = replace(pool, names=tuple(pool.names[run] for run in runs), places=tuple(pool.places[run] for run in runs))
        grades = self.at_one.copy()
        grades[:, own] = self.kept.grades(factor_at(step), own)
        sums = self._scored(some, grades)
        return np.asarray(np.round(np.einsum("r,drmk->mdk", self.weights[place, runs], sums), DECIMALS))

    def _scored(self, pool: RunPool, drawn: Grades) -> Floats:
        """float64[D, R, M, K]: the sums of a pool's runs with grades ``drawn`` (int16[D, H]) for the holes."""
        scoring, size, parts = self.scoring, pool.batch(self.scoring.measures), []
        for start in range(0, len(drawn), size):
            some = drawn[start : start + size]
            sets = np.tile(scoring.grades, (len(some), 1))
            sets[:, scoring.model.pairs] = some
            scores = pool.score(sets, scoring.measures, scoring.policy)[..., scoring.counted]
            parts.append(self.filled.units.sums(scores))
        return np.concatenate(parts)

    def _concluded(self, kind: Kind, drawn: Floats) -> npt.NDArray[np.int64]:
        """int64[C]: the place in :data:`_WORDS` of what the differences ``drawn`` (float64[D, C, K]) say."""
        if kind == "differ":
            p = completed_family(drawn, self.filled.seed)
            return np.asarray(np.where(np.isnan(p), -1, p <= LEVELS[0]), dtype=np.int64)
        means = np.round(drawn.sum(axis=-1) / self.filled.units.sizes.sum(), DECIMALS)
        if kind == "order":
            return np.asarray(np.sign(np.round(means.mean(axis=0), DECIMALS)) + 1, dtype=np.int64)
        agree = np.max([(np.sign(means) == sign).mean(axis=0) for sign in (-1, 0, 1)], axis=0)
        return np.asarray(agree >= SURE, dtype=np.int64)
