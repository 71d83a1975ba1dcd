"""Tipping points: how wrong must the hole model be for a conclusion to change?

Judgments are often missing because passages were unlikely to be relevant, or for the opposite
reason, and the judgments do not show by how much. So the odds that an unjudged passage reaches the
next grade are multiplied by a factor, in every stage and draw (a shift of the logit: the pattern
mixture of Rubin 1977). The module reports the nearest factors below and above 1 at which a
conclusion changes: for all unjudged passages, and for those that only one of the two sides
retrieved. All factors use the same random numbers.

Shapes: D draws, C contrasts, K units, H unjudged pairs and Q questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from robustcs.evaluation.hole_expectation import DRAWS, Contrast, FilledHoles, Scoring
from robustcs.evaluation.hole_order import SURE
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.lazy import pd
from robustcs.result import measure, number, table, text
from robustcs.statistics import Codes, Floats, settled
from robustcs.statistics.completed import completed_differ, largest_statistics
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.statistics.ranks import DECIMALS

#: Largest factor by which odds are multiplied or divided, and the number of steps to it, equal in
#: logs.
LARGEST, STEPS = 50.0, 64
#: Steps between the factors tried first; the first change is then narrowed down.
_COARSE = 16
#: Least number of draws, for very many turns.
LEAST_DRAWS = 20
#: Kinds of conclusions: the side expected ahead, a significant difference on similar conversations,
#: agreement of the draws.
Kind = Literal["order", "differ", "sure"]
#: The conclusions of each kind in words; code c of a conclusion stands for the word at c.
_WORDS: dict[Kind, tuple[str, ...]] = {
    "order": ("second > first expected", "first = second expected", "first > second expected"),
    "differ": ("no difference shown on other conversations", "differ on other conversations"),
    "sure": ("order open", "order certain"),
}
_STEP_PERCENT = 100 * (LARGEST ** (1 / STEPS) - 1)

TIPPING = table(
    "tipping",
    "Factors on the odds of relevance predicted by the hole model at which a conclusion changes.",
    text("first", header="First"),
    text("second", "a system, or a group (the mean of its sets)", "Second"),
    measure(),
    text(
        "conclusion",
        "first > second expected (or the reverse); differ on other conversations (expected_p ≤ .05)"
        " or no difference shown; order certain (95% of the draws agree on these turns) or open",
    ),
    text(
        "scope",
        "passages whose odds are multiplied: all unjudged ones, or unique (retrieved by only one of"
        " the two)",
    ),
    number(
        "factor_below",
        "nearest factor below 1 on the odds of every grade at which the conclusion changes, in"
        f" steps of {_STEP_PERCENT:.0f}%; null if no factor down to 1/{LARGEST:.0f} changes it",
        "below ×",
    ),
    number(
        "factor_above",
        f"nearest factor above 1; null if no factor up to {LARGEST:.0f} changes it",
        "above ×",
    ),
)


@dataclass(frozen=True)
class _Question:
    """Does a conclusion change?

    measure
        Index of the measure.
    contrast
        Place of the contrast in the family.
    unique
        Whether only the passages that one of the two sides retrieved have other odds; otherwise all
        unjudged passages have them.
    """

    measure: int
    contrast: int
    kind: Kind
    unique: bool


def factor_at(step: int) -> float:
    """Return the factor of a step from −:data:`STEPS` to :data:`STEPS`; 1 at step 0."""
    return float(LARGEST ** (step / STEPS))


def kind_of(conclusion: str) -> Kind:
    """Return the kind of a conclusion in :data:`TIPPING`."""
    return next(kind for kind, words in _WORDS.items() if conclusion in words)


def tipping(
    filled: FilledHoles | None,
    tested: Mapping[str, Sequence[Contrast]],
    family: Sequence[Contrast],
    kinds: Sequence[Kind] = ("order", "differ", "sure"),
) -> pd.DataFrame:
    """Return :data:`TIPPING` for contrasts of each measure. No rows without unjudged passages.

    tested
        Measure → contrasts, all of them members of the ``family``, for which p is adjusted.
    kinds
        The conclusions to test; below five units, there is none on similar conversations.
    """
    rows: list[tuple[object, ...]] = []
    if filled is None or filled.scoring is None or not any(tested.values()):
        return TIPPING.frame(rows)
    measures = filled.scoring.measures
    if filled.units.count < LEAST_UNITS:
        kinds = [kind for kind in kinds if kind != "differ"]
    questions = []
    for column, scored in enumerate(measures):
        for contrast in tested.get(scored.name, ()):
            for kind in kinds:
                place = family.index(contrast)
                questions.append(_Question(column, place, kind, unique=False))
                questions.append(_Question(column, place, kind, unique=True))

    factors = _Factors(filled, filled.scoring, family)
    at_one = factors.conclusions_at_one(questions)
    changes = nearest(partial(factors.conclusions, questions), at_one)
    for question, conclusion, (below, above) in zip(questions, at_one, changes, strict=True):
        first, second = family[question.contrast].names
        metric, words = measures[question.measure].name, _WORDS[question.kind][conclusion]
        scope = "unique" if question.unique else "all"
        rows.append((first, second, metric, words, scope, below, above))
    return TIPPING.frame(rows)


def nearest(conclusions: Callable[[int, Codes], Codes], at_one: Codes) -> Floats:
    """Return float64[Q, 2]: the nearest factors below and above 1 at which conclusions change.

    NaN if there is none.

    conclusions
        Takes a step and the numbers of some questions, and returns their conclusions with the
        factor of this step. Each step is tried once, for all questions that need it.
    at_one
        int64[Q]: the conclusions with factor 1.
    """
    factors = np.full((len(at_one), 2), np.nan)
    for column, direction in enumerate((-1, 1)):
        steps = _steps_to_change(conclusions, at_one, direction)
        changed = np.flatnonzero(steps)
        factors[changed, column] = [factor_at(direction * step) for step in steps[changed].tolist()]
    return factors


def _steps_to_change(
    conclusions: Callable[[int, Codes], Codes], at_one: Codes, direction: int
) -> Codes:
    """Return int64[Q]: the number of steps from factor 1 to the nearest change; 0 if there is none.

    A few factors are tried from 1 outward. The first range with a change is then bisected.
    """
    steps = np.zeros(len(at_one), dtype=np.int64)

    def try_step(step: int, questions: Codes) -> None:
        """Keep the step for those of the questions whose conclusion it changes."""
        if len(questions):
            changed = conclusions(direction * step, questions) != at_one[questions]
            steps[questions[changed]] = step

    for step in range(_COARSE, STEPS + 1, _COARSE):
        try_step(step, np.flatnonzero(steps == 0))
    # a question with a change now has the end of a range of _COARSE steps
    half = _COARSE // 2
    while half:
        middles = steps - half
        for middle in np.unique(middles[middles > 0]).tolist():
            try_step(middle, np.flatnonzero(middles == middle))
        half //= 2
    return steps


class _Factors:
    """Conclusions under each factor, as indices in :data:`_WORDS`."""

    def __init__(self, filled: FilledHoles, scoring: Scoring, family: Sequence[Contrast]) -> None:
        self.filled, self.scoring, self.family = filled, scoring, family
        self.weights = np.array([side.weights(len(scoring.pool.names)) for side in family])
        # by measure, float64[D, C, K]: differences at factor 1
        measures = range(len(scoring.measures))
        self.of_all_draws = [filled.drawn(self.weights, column) for column in measures]
        # other factors are tried with fewer draws, if there are very many turns
        draws = min(len(filled.sums), scoring.model.enough_draws(DRAWS, LEAST_DRAWS))
        self.sums_at_one = [sums[:draws] for sums in self.of_all_draws]
        self.draws = scoring.model.kept(range(draws))
        self.grades_at_one = self.draws.grades(1)
        self._largest: dict[int, Floats] = {}

    def conclusions_at_one(self, questions: Sequence[_Question]) -> Codes:
        """Return int64[Q]: the conclusions of all draws with factor 1."""
        return self._concluded(questions, self.of_all_draws, others_at_one=False)

    def conclusions(self, questions: Sequence[_Question], step: int, numbers: Codes) -> Codes:
        """Return the conclusions of some questions, by number, with the factor of ``step``."""
        grades = self.draws.grades(factor_at(step))
        chosen = [questions[number] for number in numbers]
        conclusions = np.empty(len(chosen), dtype=np.int64)

        places = [place for place, question in enumerate(chosen) if not question.unique]
        if places:
            conclusions[places] = self._of_all([chosen[place] for place in places], grades)

        of_contrast: dict[int, list[int]] = {}
        for place, question in enumerate(chosen):
            if question.unique:
                of_contrast.setdefault(question.contrast, []).append(place)
        for contrast, places in of_contrast.items():
            of_it = [chosen[place] for place in places]
            conclusions[places] = self._of_unique(of_it, contrast, grades)
        return conclusions

    def _of_all(self, questions: Sequence[_Question], grades: Grades) -> Codes:
        """Return the conclusions if all unjudged passages have ``grades``, int16[D, H]."""
        contrasts = sorted({question.contrast for question in questions})
        if any(question.kind == "differ" for question in questions):
            # p depends on the whole family
            contrasts = list(range(len(self.family)))
        sums = self._sums(questions, contrasts, grades)
        return self._concluded(questions, sums, others_at_one=False)

    def _of_unique(self, questions: Sequence[_Question], contrast: int, grades: Grades) -> Codes:
        """Return conclusions on a contrast whose unique passages have ``grades``, int16[D, H]."""
        sides, retrieved = self.family[contrast], self.scoring.retrieved
        by_first = retrieved[list(sides.first)].any(axis=0)
        by_second = retrieved[list(sides.second)].any(axis=0)
        unique = by_first != by_second
        # several times faster than where
        grades = self.grades_at_one + (grades - self.grades_at_one) * unique
        sums = self._sums(questions, [contrast], grades)
        return self._concluded(questions, sums, others_at_one=True)

    def _concluded(
        self, questions: Sequence[_Question], sums: Sequence[Floats], others_at_one: bool
    ) -> Codes:
        """Return the conclusions from differences ``sums`` (by measure, float64[D, C, K]).

        ``others_at_one``: whether the differences of all other contrasts are those at factor 1.
        """
        together: dict[tuple[int, Kind], list[int]] = {}
        for place, question in enumerate(questions):
            together.setdefault((question.measure, question.kind), []).append(place)
        conclusions = np.empty(len(questions), dtype=np.int64)
        for (column, kind), places in together.items():
            contrasts = [questions[place].contrast for place in places]
            if kind == "differ":
                largest = self._largest_at_one(column) if others_at_one else None
                conclusions[places] = completed_differ(
                    sums[column], self.filled.seed, contrasts, largest
                )
                continue
            means = sums[column][:, contrasts].sum(axis=-1) / self.filled.units.sizes.sum()
            means = np.round(means, DECIMALS)
            conclusions[places] = _order(means) if kind == "order" else _is_sure(means)
        return conclusions

    def _largest_at_one(self, column: int) -> Floats:
        """Return the largest statistics of the family at factor 1, by the measure of a number."""
        if column not in self._largest:
            self._largest[column] = largest_statistics(self.sums_at_one[column], self.filled.seed)
        return self._largest[column]

    def _sums(
        self, questions: Sequence[_Question], contrasts: Sequence[int], grades: Grades
    ) -> list[Floats]:
        """Return differences by measure, float64[D, C, K].

        Those of the measures of ``questions`` and of ``contrasts`` are with ``grades``, the others
        at factor 1.
        """
        sums = list(self.sums_at_one)
        columns = sorted({question.measure for question in questions})
        changed = self._differences(grades, columns, contrasts)
        for column, differences in zip(columns, changed, strict=True):
            sums[column] = sums[column].copy()
            sums[column][:, contrasts] = differences
        return sums

    def _differences(
        self, grades: Grades, columns: Sequence[int], contrasts: Sequence[int]
    ) -> Floats:
        """Return float64[M, D, C, K]: differences with ``grades``, int16[D, H].

        Of the M measures ``columns`` and the C ``contrasts``, given by number.
        """
        scoring, weights = self.scoring, self.weights[contrasts]
        # a pool has at least one run; the sides of a contrast may cancel
        runs = np.flatnonzero(weights.any(axis=0)).tolist() or [0]
        pool = _only_runs(scoring.pool, runs)
        measures = [scoring.measures[column] for column in columns]
        size = pool.batch(measures)
        parts = []
        for start in range(0, len(grades), size):
            drawn = grades[start : start + size]
            known = np.tile(scoring.grades[drawn.shape[1] :], (len(drawn), 1))
            scores = pool.score(np.hstack([drawn, known]), measures, scoring.policy)
            by_unit = self.filled.units.sums(scores[..., scoring.counted])
            parts.append(np.einsum("cr,drmk->mdck", weights[:, runs], by_unit))
        return settled(np.concatenate(parts, axis=1))


def _only_runs(pool: RunPool, runs: Sequence[int]) -> RunPool:
    names = tuple(pool.names[run] for run in runs)
    places = tuple(pool.places[run] for run in runs)
    return replace(pool, names=names, places=places)


def _order(means: Floats) -> Codes:
    """Return which side is expected ahead; ``means``: float64[D, C], rounded mean differences."""
    return np.asarray(np.sign(np.round(means.mean(axis=0), DECIMALS)) + 1, dtype=np.int64)


def _is_sure(means: Floats) -> Codes:
    """Return whether the draws agree on the order; ``means``: as for :func:`_order`."""
    signs = np.sign(means)
    agreement = np.max([(signs == sign).mean(axis=0) for sign in (-1, 0, 1)], axis=0)
    return np.asarray(agreement >= SURE, dtype=np.int64)
