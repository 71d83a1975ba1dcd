"""Which of two runs is better: is the order proven, certain or open, and what would decide it?

The module considers the unjudged passages in the top K of all runs, which judging works through. An
order is

- *proven* if it is the same under any grades of these passages (:mod:`robustcs.evaluation.bounds`,
  with them as the pool),
- *certain* if at least 95% of the draws of the hole model agree on it,
- *open* otherwise.

Deeper unjudged passages count as not relevant throughout, as in the scores.

**Judgments needed.** Each draw serves as the truth in turn, and its grades are revealed in the
order of judging. After n of them, the remaining grades come from all draws, and the order is
certain as soon as 95% of these agree. The effects of single passages on a difference are added up,
as if they did not interact. So the number of judgments is an estimate; the state is exact.

Shapes: R runs, M measures, T turns, N pairs of the pool, H unjudged pairs, L levels and D draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from robustcs.evaluation.bounds import PairMeasure, RunPairs, run_pairs
from robustcs.evaluation.extremes import BOUNDED
from robustcs.evaluation.hole_model import HoleModel
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import NEVER, Grades, RunPool
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Floats, Mask, places_within
from robustcs.statistics.ranks import DECIMALS

OrderState = Literal["proven", "certain", "open"]

#: Share of the draws that must agree.
SURE = 0.95
#: Number of draws of grades.
DRAWS = 200
#: Number of these draws that serve as the truth.
TRUTHS = 100
#: Number of judgment counts that are tried.
_TRIED = 200
#: Quantiles of the number of judgments needed: the ends of the range of 80%, and the median.
_QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False)
class Contest:
    """Runs of a pool to compare, and how.

    compared
        Pairs of run numbers.
    measures, policy
        How runs are scored.
    counted
        bool[T]: the turns over which means are taken.
    top
        K: depth of the passages considered.
    max_grade
        The highest grade that an unjudged passage could get.
    """

    pool: RunPool
    compared: tuple[tuple[int, int], ...]
    measures: tuple[Measure, ...]
    policy: EvaluationPolicy
    counted: Mask
    top: int
    max_grade: int

    def holes(self, grades: Grades) -> Codes:
        """Return the unjudged pairs considered, given ``grades`` (int16[N + 1]), ascending."""
        best = self.pool.best_ranks().min(axis=0, initial=NEVER)
        in_counted_turn = self.counted[self.pool.pair_turns]
        return np.flatnonzero((grades[:-1] == UNJUDGED) & (best <= self.top) & in_counted_turn)

    def means(self, sets: Grades) -> Floats:
        """Return float64[D, R, M]: mean scores with each of the sets of grades, int16[D, N + 1]."""
        size = self.pool.batch(self.measures)
        parts = []
        for start in range(0, len(sets), size):
            scores = self.pool.score(sets[start : start + size], self.measures, self.policy)
            parts.append(scores[..., self.counted].mean(axis=-1))
        return np.concatenate(parts)


@dataclass(frozen=True)
class Order:
    """The order of two runs by a measure; differences are first − second.

    first, second
        The numbers of the runs.
    difference
        The difference with the current judgments.
    low, high
        Bounds over all grades of the unjudged passages; NaN for a measure without bounds.
    expected
        Mean over the draws; NaN without draws.
    sure
        Share of the draws that agree on the order; NaN without draws.
    """

    first: int
    second: int
    measure: Measure
    difference: float
    low: float
    high: float
    expected: float
    sure: float

    @property
    def state(self) -> OrderState:
        """``proven``, ``certain`` or ``open``. Equal scores under any grades are proven equal."""
        if self.low > 0 or self.high < 0 or self.low == self.high == 0:
            return "proven"
        return "certain" if self.sure >= SURE else "open"


# ---------------------------------------------------------------- the state of orders


def drawn_grades(model: HoleModel, grades: Grades) -> Grades:
    """Return int16[D, N + 1]: draws of grades. ``grades``: int16[N + 1], those of other pairs."""
    return np.concatenate(list(model.draws(grades, DRAWS, DRAWS)))


def with_known(drawn: Grades, grades: Grades) -> Grades:
    """Return the draws with the known grades of ``grades`` (int16[N + 1]) in all of them."""
    return np.where(grades > UNJUDGED, grades, drawn)


def orders(contest: Contest, grades: Grades, drawn: Grades | None) -> list[Order]:
    """Return the state of every compared order, measure after measure.

    ``grades`` (int16[N + 1]): the judgments. ``drawn``: draws of grades (:func:`drawn_grades`), or
    None without a model.
    """
    now = contest.means(grades[None])[0]
    holes = contest.holes(grades)
    if not len(holes):
        means = now[None]
    elif drawn is None:
        means = np.full((1, *now.shape), np.nan)
    else:
        means = contest.means(drawn)
    bounds = _bounds(contest, grades, holes) if len(holes) else {}

    states = []
    for number, measure in enumerate(contest.measures):
        for first, second in contest.compared:
            difference = round(float(now[first, number] - now[second, number]), DECIMALS)
            differences = np.round(means[:, first, number] - means[:, second, number], DECIMALS)
            limits = bounds.get((first, second, measure))
            if limits is None:
                # without holes, no judgment changes the difference
                limit = np.nan if len(holes) else difference
                limits = _Limits(limit, limit)
            states.append(
                Order(
                    first,
                    second,
                    measure,
                    difference,
                    limits.low,
                    limits.high,
                    expected=float(differences.mean()),
                    sure=_agreement(differences),
                )
            )
    return states


def _agreement(differences: Floats) -> float:
    """Return the largest share of differences of one sign, or of 0; NaN without draws."""
    if np.isnan(differences).any():
        return np.nan
    signs = np.sign(differences)
    return max(float((signs == sign).mean()) for sign in (-1, 0, 1))


class _Limits(NamedTuple):
    """Bounds of a mean difference over all grades of the unjudged passages."""

    low: float
    high: float


def _bounds(
    contest: Contest, grades: Grades, holes: Codes
) -> dict[tuple[int, int, Measure], _Limits]:
    """Return (first run, second run, measure) → bounds, for measures that have bounds.

    ``holes``: the unjudged passages considered.
    """
    pool = contest.pool
    # deeper unjudged passages, and those in turns that do not count, are not relevant
    considered = grades.copy()
    considered[considered == UNJUDGED] = 0
    considered[holes] = UNJUDGED

    # passages are numbered by turn
    numbers = np.empty(len(pool), dtype=np.int64)
    numbers[holes[np.argsort(pool.pair_turns[holes], kind="stable")]] = np.arange(len(holes))
    holes_by_turn = np.bincount(pool.pair_turns[holes], minlength=len(pool.turns))
    compared_runs = {run for compared in contest.compared for run in compared}
    matrices = {run: pool.matrix(run, considered) for run in compared_runs}
    passages = {
        run: numbers[pool.places[run][matrix.grades == UNJUDGED]]
        for run, matrix in matrices.items()
    }

    bounds = {}
    for first, second in contest.compared:
        # two runs are one pair
        pair = next(
            run_pairs(
                [matrices[first], matrices[second]],
                [passages[first], passages[second]],
                holes_by_turn,
            )
        )
        for measure in contest.measures:
            if measure.family in BOUNDED:
                bounds[first, second, measure] = _limits(contest, pair, measure)
    return bounds


def _limits(contest: Contest, pair: RunPairs, measure: Measure) -> _Limits:
    """Return the bounds of the mean difference of one ``pair`` of runs."""
    of_turns = PairMeasure(pair.runs, measure, contest.policy, contest.max_grade, "pool").bounds(
        pair
    )
    low = np.round(of_turns.low[contest.counted].mean(), DECIMALS)
    high = np.round(of_turns.high[contest.counted].mean(), DECIMALS)
    return _Limits(float(low), float(high))


# ---------------------------------------------------------------- effects of single passages


class _Trial(NamedTuple):
    """A set of grades in which one unjudged passage of every turn has a grade.

    place
        The place of the passage among the tested ones of its turn.
    level
        Index of the grade among the levels.
    """

    place: int
    level: int


def hole_effects(contest: Contest, grades: Grades, pairs: Codes, levels: Grades) -> Floats:
    """Return how each run's mean score changes if one unjudged passage has each level.

    float64[H, L, R, M]. ``grades``: int16[N + 1]. ``pairs``: int64[H], the tested passages.
    ``levels``: int16[L]. All other unjudged passages remain unjudged.
    """
    pool, measures, policy = contest.pool, contest.measures, contest.policy
    turns = pool.pair_turns[pairs]
    tested_by_turn = np.bincount(turns, minlength=len(pool.turns))
    place_in_turn = np.empty(len(pairs), dtype=np.int64)
    place_in_turn[np.argsort(turns, kind="stable")] = places_within(tested_by_turn)
    # a passage affects only its turn, so one set of grades tests one passage of every turn
    trials = [
        _Trial(place, level)
        for place in range(int(tested_by_turn.max(initial=0)))
        for level in range(len(levels))
    ]

    now = pool.score(grades[None], measures, policy)[0]
    effects = np.zeros((len(pairs), len(levels), *now.shape[:2]))
    size = pool.batch(measures)
    for start in range(0, len(trials), size):
        batch = trials[start : start + size]
        sets = np.tile(grades, (len(batch), 1))
        for grades_of_trial, trial in zip(sets, batch, strict=True):
            grades_of_trial[pairs[place_in_turn == trial.place]] = levels[trial.level]
        changes = pool.score(sets, measures, policy) - now
        for change, trial in zip(changes, batch, strict=True):
            tested = np.flatnonzero(place_in_turn == trial.place)
            effects[tested, trial.level] = np.moveaxis(change[..., turns[tested]], -1, 0)

    # the effect on a mean; 0 in turns that do not count
    counted = contest.counted
    is_counted = counted[turns][:, None, None, None]
    return np.asarray(effects * is_counted / max(int(counted.sum()), 1))


def influences(effects: Floats, compared: Sequence[tuple[int, int]] = ()) -> Floats:
    """Return float64[H, L]: Σ |change of a compared difference| if the passage had each level.

    ``effects``: :func:`hole_effects`. Differences are summed over measures and over ``compared``
    (pairs of run numbers); without pairs, the scores themselves are summed.
    """
    first = np.array([run for run, _ in compared], dtype=np.int64)
    second = np.array([run for _, run in compared], dtype=np.int64)
    influence = np.zeros(effects.shape[:2])
    # level by level, which limits the memory
    for level in range(effects.shape[1]):
        changes = effects[:, level]
        if len(compared):
            changes = changes[:, first] - changes[:, second]
        influence[:, level] = np.abs(changes).sum(axis=(1, 2))
    return influence


# ---------------------------------------------------------------- judgments needed


@dataclass(frozen=True)
class JudgmentsNeeded:
    """Numbers of judgments until an order, or all, are certain.

    Median over the draws, and range of 80% of them.
    """

    median: int
    low: int
    high: int


def judgments_needed(
    contest: Contest,
    states: Sequence[Order],
    model: HoleModel,
    effects: Floats,
    grades: Grades,
    drawn: Grades,
    queue: Codes,
) -> tuple[list[JudgmentsNeeded], JudgmentsNeeded]:
    """Return how many judgments every order probably needs, and how many all of them together.

    A settled order needs 0 judgments, an open one at least 1, and one that is never settled all Q.

    states
        The present orders: :func:`orders`.
    effects
        :func:`hole_effects` of ``model.pairs`` and ``model.levels``.
    grades, drawn
        int16[N + 1] and [D, N + 1]: the judgments, and draws that agree with them.
    queue
        int64[Q]: the passages in the order of judging, as indices into ``model.pairs``.
    """
    unjudged = grades[model.pairs] == UNJUDGED
    # grades above those that the model knows belong to judged passages and have no effect here
    levels = np.searchsorted(model.levels, drawn[:, model.pairs])
    levels = np.minimum(levels, len(model.levels) - 1)
    passages = np.arange(len(model.pairs))
    spaced = np.linspace(0, len(queue), min(len(queue), _TRIED) + 1)
    counts = np.unique(spaced.astype(np.int64))

    needed = []
    needed_by_all = np.zeros(min(TRUTHS, len(drawn)), dtype=np.int64)
    for order in states:
        if order.state != "open":
            needed.append(JudgmentsNeeded(0, 0, 0))
            continue
        number = contest.measures.index(order.measure)
        by_level = effects[:, :, order.first, number] - effects[:, :, order.second, number]
        changes = by_level[passages, levels] * unjudged
        certain_after = _certain_after(order.difference, changes, queue, counts)
        needed.append(_summary(certain_after))
        needed_by_all = np.maximum(needed_by_all, certain_after)
    return needed, _summary(needed_by_all)


def _certain_after(difference: float, changes: Floats, queue: Codes, counts: Codes) -> Codes:
    """Return the number of judgments after which an open order is certain, by true draw.

    int64[≤ TRUTHS], each one of ``counts``. ``changes``: float64[D, H], the effect of every drawn
    grade on the ``difference``.
    """
    draws = len(changes)
    revealed = np.zeros((draws, len(queue) + 1))
    np.cumsum(changes[:, queue], axis=1, out=revealed[:, 1:])
    revealed = revealed[:, counts]
    remaining = np.sort(changes.sum(axis=1)[:, None] - revealed, axis=0)
    # so many draws are at most remaining[agreeing − 1] and at least remaining[draws − agreeing]
    agreeing = int(np.ceil(SURE * draws))
    known = difference + revealed[:TRUTHS]
    first_ahead = known + remaining[draws - agreeing] > 0
    second_ahead = known + remaining[agreeing - 1] < 0
    certain = first_ahead | second_ahead
    # the sum of effects may settle an order that the scores leave open; it then needs at least one
    # judgment
    certain[:, 0] = False
    certain[:, -1] = True
    return np.asarray(counts[np.argmax(certain, axis=1)])


def _summary(judgments: Codes) -> JudgmentsNeeded:
    low, median, high = np.quantile(judgments, _QUANTILES)
    return JudgmentsNeeded(round(median), round(low), round(high))
