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

from robustcs.evaluation.hole_expectation import DRAWS, Contrast, FilledHoles
from robustcs.evaluation.hole_order import SURE
from robustcs.evaluation.run_pool import Grades
from robustcs.lazy import pd
from robustcs.result import measure, number, table, text
from robustcs.statistics import Codes, Floats, settled
from robustcs.statistics.completed import completed_differ, largest_statistics
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.statistics.ranks import DECIMALS

#: Largest factor by which odds are multiplied or divided, and the number of steps to it, equal in logs.
LARGEST, STEPS = 50.0, 64
#: Steps between the factors tried first; the first change is then narrowed down.
_COARSE = 16
#: Least number of draws, for very many turns.
LEAST_DRAWS = 20
#: Kinds of conclusions: the side expected ahead, a significant difference on similar conversations, agreement of the draws.
Kind = Literal["order", "differ", "sure"]
#: The number of the measure, the place of the contrast in the family, the kind of the conclusion, and the scope: the place of
#: the contrast again if only the passages that one of its two sides retrieved have other odds, otherwise :data:`_ALL`.
_Question = tuple[int, int, Kind, int]
_ALL = -1
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
        factors, measures = _Factors(filled, family), filled.scoring.measures
        questions: list[_Question] = [
            (column, place, kind, scope)
            for column, one in enumerate(measures) for place in map(family.index, asked.get(one.name, ())) for kind in kinds
            if kind != "differ" or filled.units.count >= LEAST_UNITS for scope in (_ALL, place)
        ]  # fmt: skip
        stands = factors.answers(questions, factors.every)
        found = nearest(partial(factors.conclusions, questions), stands)
        for (column, place, kind, scope), stand, ends in zip(questions, stands, found, strict=True):
            said = (*family[place].names, measures[column].name, _WORDS[kind][stand])
            rows.append((*said, "all" if scope == _ALL else "unique", *ends))
    return TIPPING.frame(rows)


def nearest(conclusions: Callable[[int, Codes], Codes], stands: Codes) -> Floats:
    """Return float64[Q, 2]: the nearest factors below and above 1 at which conclusions are not ``stands``; NaN if none is.

    ``conclusions``: those with the factor of a step on the questions with some numbers. A few factors are tried from 1 outward.
    The first range with a change is then bisected. Each step is tried once, for all questions that need it.
    """
    found = np.full((len(stands), 2), np.nan)
    for column, side in enumerate((-1, 1)):
        changed = np.zeros(len(stands), dtype=np.int64)

        def tried(step: int, some: Codes, side: int = side, changed: Codes = changed) -> None:
            if len(some):
                changed[some[conclusions(side * step, some) != stands[some]]] = step

        for step in range(_COARSE, STEPS + 1, _COARSE):
            tried(step, np.flatnonzero(changed == 0))
        half = _COARSE // 2
        while half:
            middle = changed - half
            for step in np.unique(middle[middle > 0]).tolist():
                tried(step, np.flatnonzero(middle == step))
            half //= 2
        moved = np.flatnonzero(changed)
        found[moved, column] = [factor_at(side * step) for step in changed[moved].tolist()]
    return found


class _Factors:
    """Conclusions under each factor."""

    def __init__(self, filled: FilledHoles, family: Sequence[Contrast]):
        assert filled.scoring is not None
        self.filled, self.scoring, self.family = filled, filled.scoring, family
        self.weights = np.array([one.weights(len(self.scoring.pool.names)) for one in family])
        #: By measure, float64[D, C, K], at factor 1: all draws, and those that are used.
        self.every = [
            filled.drawn(self.weights, column) for column in range(len(self.scoring.measures))
        ]
        draws = min(len(filled.sums), self.scoring.model.enough_draws(DRAWS, LEAST_DRAWS))
        self.base = [drawn[:draws] for drawn in self.every]
        self.largest = cache(lambda column: largest_statistics(self.base[column], filled.seed))
        self.kept = self.scoring.model.kept(range(draws))
        self.at_one = self.kept.grades(1)

    def conclusions(self, questions: Sequence[_Question], step: int, some: Codes) -> Codes:
        """Return the answers to ``some`` questions with the factor of ``step``."""
        grades, scopes = (
            self.kept.grades(factor_at(step)),
            np.array([questions[number][3] for number in some]),
        )
        found = np.empty(len(some), dtype=np.int64)
        for scope in np.unique(scopes).tolist():
            which = np.flatnonzero(scopes == scope)
            found[which] = self._in_scope(
                [questions[number] for number in some[which]], scope, grades
            )
        return found

    def _in_scope(self, asked: Sequence[_Question], scope: int, grades: Grades) -> Codes:
        """Return the answers to questions of one scope; ``grades``: int16[D, H], with the other odds for all passages."""
        alone = scope != _ALL
        if alone:
            sides = (self.family[scope].first, self.family[scope].second)
            first, second = (self.scoring.found[list(side)].any(axis=0) for side in sides)
            grades = self.at_one + (grades - self.at_one) * (
                first != second
            )  # several times faster than where
        # p depends on the whole family
        family = not alone and any(kind == "differ" for _, _, kind, _ in asked)
        places = (
            list(range(len(self.family))) if family else sorted({place for _, place, _, _ in asked})
        )
        columns, drawn = sorted({column for column, *_ in asked}), list(self.base)
        for column, sums in zip(columns, self._differences(grades, columns, places), strict=True):
            drawn[column] = drawn[column].copy()
            drawn[column][:, places] = sums
        return self.answers(asked, drawn, alone)

    def answers(
        self, questions: Sequence[_Question], drawn: Sequence[Floats], alone: bool = False
    ) -> Codes:
        """Return the conclusions from the differences ``drawn`` (by measure, float64[D, C, K]), as indices in :data:`_WORDS`.

        ``alone``: only the differences in question are not those at factor 1.
        """
        found = np.empty(len(questions), dtype=np.int64)
        for asked in dict.fromkeys((column, kind) for column, _, kind, _ in questions):
            some = [
                number
                for number, (column, _, kind, _) in enumerate(questions)
                if (column, kind) == asked
            ]
            places, sums = [questions[number][1] for number in some], drawn[asked[0]]
            means = np.round(sums[:, places].sum(axis=-1) / self.filled.units.sizes.sum(), DECIMALS)
            if asked[1] == "differ":
                largest = self.largest(asked[0]) if alone else None
                found[some] = completed_differ(sums, self.filled.seed, places, largest)
            elif asked[1] == "order":
                found[some] = np.sign(np.round(means.mean(axis=0), DECIMALS)) + 1
            else:
                found[some] = (
                    np.max([(np.sign(means) == sign).mean(axis=0) for sign in (-1, 0, 1)], axis=0)
                    >= SURE
                )
        return found

    def _differences(self, drawn: Grades, columns: Sequence[int], places: Sequence[int]) -> Floats:
        """Return float64[M, D, C, K]: differences by measures and contrasts with the grades ``drawn`` (int16[D, H])."""
        scoring, whole, parts, weights = self.scoring, self.scoring.pool, [], self.weights[places]
        runs = np.flatnonzero(weights.any(axis=0)).tolist() or [0]
        pool = replace(
            whole,
            names=tuple(whole.names[run] for run in runs),
            places=tuple(whole.places[run] for run in runs),
        )
        measures = [scoring.measures[column] for column in columns]
        size = pool.batch(measures)
        for start in range(0, len(drawn), size):
            some = drawn[start : start + size]
            sets = np.hstack([some, np.tile(scoring.grades[some.shape[1] :], (len(some), 1))])
            scores = pool.score(sets, measures, scoring.policy)[..., scoring.counted]
            parts.append(
                np.einsum("cr,drmk->mdck", weights[:, runs], self.filled.units.sums(scores))
            )
        return settled(np.concatenate(parts, axis=1))
