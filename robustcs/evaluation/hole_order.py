"""Which of two runs is better: is the order proven, certain or open, and how many judgments would decide it?

The module considers the unjudged passages in the top K of all runs, which judging works through. An order is

- *proven* if it is the same under any grades of these passages (:mod:`robustcs.evaluation.bounds`, with them as the pool),
- *certain* if at least 95% of the draws of the hole model agree on it,
- *open* otherwise.

Deeper unjudged passages count as not relevant throughout, as in the scores.

**Judgments needed.** Each draw serves as the truth in turn, and its grades are revealed in the order of judging. After n of
them, the remaining grades come from all draws, and the order is certain as soon as 95% of these agree. The effects of single
passages on a difference are added up, as if they did not interact. So the number of judgments is an estimate; the state is
exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robustcs.evaluation.bounds import PairMeasure, run_pairs
from robustcs.evaluation.extremes import BOUNDED
from robustcs.evaluation.hole_model import HoleModel
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import NEVER, Grades, RunPool
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Floats, Mask, places_within
from robustcs.statistics.ranks import DECIMALS


def hole_effects(contest: Contest, grades: Grades, pairs: Codes, levels: Grades) -> Floats:
    """Return float64[H, L, R, M]: the change of each run's mean score if one unjudged passage of ``pairs`` had each level.

    ``grades``: int16[N + 1], ``pairs``: int64[H], ``levels``: int16[L]. All other unjudged passages remain unjudged.
    """
    pool, measures, policy, counted = (
        contest.pool,
        contest.measures,
        contest.policy,
        contest.counted,
    )
    turns = pool.pair_turns[pairs]
    number = np.bincount(turns, minlength=len(pool.turns))
    place = np.empty(len(pairs), dtype=np.int64)  # of each pair among those of its turn
    place[np.argsort(turns, kind="stable")] = places_within(number)
    base = pool.score(grades[None], measures, policy)[0]
    effects = np.zeros((len(pairs), len(levels), *base.shape[:2]))
    # a passage affects only its turn, so one set of grades tests one passage of every turn
    jobs = [
        (step, column)
        for step in range(int(number.max(initial=0)))
        for column in range(len(levels))
    ]
    size = pool.batch(measures)
    for start in range(0, len(jobs), size):
        some = jobs[start : start + size]
        sets = np.tile(grades, (len(some), 1))
        for row, (step, column) in zip(sets, some, strict=True):
            row[pairs[place == step]] = levels[column]
        change = pool.score(sets, measures, policy) - base
        for moved, (step, column) in zip(change, some, strict=True):
            tried = np.flatnonzero(place == step)
            effects[tried, column] = np.moveaxis(moved[..., turns[tried]], -1, 0)
    return np.asarray(effects * counted[turns][:, None, None, None] / max(int(counted.sum()), 1))


def influences(effects: Floats, compared: Sequence[tuple[int, int]] = ()) -> Floats:
    """Return float64[H, L]: Σ |change of a compared difference| if the passage had each level.

    ``effects``: :func:`hole_effects`. Differences are summed over measures and over ``compared`` (pairs of run numbers);
    without pairs, the scores themselves are summed.
    """
    first, second = (np.array([pair[side] for pair in compared], dtype=np.int64) for side in (0, 1))
    found = np.zeros(effects.shape[:2])
    for column in range(effects.shape[1]):
        change = effects[:, column]
        moved = change[:, first] - change[:, second] if len(compared) else change
        found[:, column] = np.abs(moved).sum(axis=(1, 2))
    return found


State = Literal["proven", "certain", "open"]

#: Share of the draws that must agree.
SURE = 0.95
#: Number of draws of grades, and of the draws that serve as the truth.
DRAWS, TRUTHS = 200, 100
#: Number of judgment counts that are tried.
_TRIED = 200


@dataclass(frozen=True, eq=False)
class Contest:
    """Runs of a pool to compare, and how.

    compared
        Pairs of run numbers.
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
        return np.flatnonzero(
            (grades[:-1] == UNJUDGED) & (best <= self.top) & self.counted[self.pool.pair_turns]
        )


@dataclass(frozen=True)
class Order:
    """The order of two runs by a measure; differences are first − second.

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
    def state(self) -> State:
        """``proven``, ``certain`` or ``open``."""
        if self.low > 0 or self.high < 0 or self.low == self.high == 0:
            return "proven"
        return "certain" if self.sure >= SURE else "open"


def drawn_grades(model: HoleModel, grades: Grades) -> Grades:
    """Return int16[D, N + 1]: draws of grades."""
    return np.concatenate(list(model.draws(grades, DRAWS, DRAWS)))


def with_known(drawn: Grades, grades: Grades) -> Grades:
    """Return the draws with the known grades of ``grades`` (int16[N + 1]) in all of them."""
    return np.where(grades > UNJUDGED, grades, drawn)


def orders(contest: Contest, grades: Grades, drawn: Grades | None) -> list[Order]:
    """Return the state of every compared order, measure after measure.

    ``grades`` (int16[N + 1]): the judgments. ``drawn``: draws of grades (:func:`drawn_grades`), or None without a model.
    """
    pool, counted = contest.pool, contest.counted
    now = pool.score(grades[None], contest.measures, contest.policy)[0][..., counted].mean(axis=-1)
    holes = contest.holes(grades)
    if drawn is not None and len(holes):
        size = pool.batch(contest.measures)
        means = [
            pool.score(drawn[start : start + size], contest.measures, contest.policy)[
                ..., counted
            ].mean(axis=-1)
            for start in range(0, len(drawn), size)
        ]
        scores = np.concatenate(means)
    else:
        scores = now[None] if not len(holes) else np.full((1, *now.shape), np.nan)
    bounds = _bounds(contest, grades, holes) if len(holes) else {}
    found = []
    for number, measure in enumerate(contest.measures):
        for first, second in contest.compared:
            differences = np.round(scores[:, first, number] - scores[:, second, number], DECIMALS)
            difference = round(float(now[first, number] - now[second, number]), DECIMALS)
            agree = max(float((np.sign(differences) == sign).mean()) for sign in (-1, 0, 1))
            sure = np.nan if np.isnan(differences).any() else agree
            without = (np.nan, np.nan) if len(holes) else (difference, difference)
            ends = bounds.get((first, second, measure), without)
            found.append(
                Order(first, second, measure, difference, *ends, float(differences.mean()), sure)
            )
    return found


def _bounds(
    contest: Contest, grades: Grades, holes: Codes
) -> dict[tuple[int, int, Measure], tuple[float, float]]:
    """Return low and high of mean differences over all grades of the unjudged passages ``holes``, for measures with bounds."""
    pool = contest.pool
    # deeper unjudged passages, and those in turns that do not count, are not relevant
    known = grades.copy()
    known[known == UNJUDGED] = 0
    known[holes] = UNJUDGED
    number = np.empty(len(pool), dtype=np.int64)
    number[holes[np.argsort(pool.pair_turns[holes], kind="stable")]] = np.arange(len(holes))
    per_turn = np.bincount(pool.pair_turns[holes], minlength=len(pool.turns))
    matrices = {
        run: pool.matrix(run, known) for run in {run for pair in contest.compared for run in pair}
    }
    numbers = {
        run: number[pool.places[run][matrix.grades == UNJUDGED]] for run, matrix in matrices.items()
    }
    found = {}
    for sides in contest.compared:
        (pair,) = run_pairs(
            [matrices[run] for run in sides], [numbers[run] for run in sides], per_turn
        )
        for measure in contest.measures:
            if measure.family in BOUNDED:
                ends = PairMeasure(
                    pair.runs, measure, contest.policy, contest.max_grade, "pool"
                ).bounds(pair)
                low, high = (
                    float(np.round(end[contest.counted].mean(), DECIMALS))
                    for end in (ends.low, ends.high)
                )
                found[*sides, measure] = low, high
    return found


@dataclass(frozen=True)
class Needed:
    """Numbers of judgments until an order, or all, are certain: median over the draws, and range of 80% of them."""

    median: int
    low: int
    high: int


def judgments_needed(
    contest: Contest,
    found: Sequence[Order],
    model: HoleModel,
    effects: Floats,
    grades: Grades,
    drawn: Grades,
    queue: Codes,
) -> tuple[list[Needed], Needed]:
    """Return how many judgments every order of ``found`` probably needs, and how many all of them together need.

    ``effects``: :func:`hole_effects`. ``queue`` (int64[Q]): the passages in the order of judging, as indices into
    ``model.pairs``. A settled order needs 0 judgments, an open one at least 1, and one that is never settled all Q.
    """
    open_ = grades[model.pairs] == UNJUDGED
    # grades above those that the model knows belong to judged passages and have no effect here
    levels = np.minimum(np.searchsorted(model.levels, drawn[:, model.pairs]), len(model.levels) - 1)
    tried = np.unique(np.linspace(0, len(queue), min(len(queue), _TRIED) + 1).astype(np.int64))
    rows = np.arange(len(model.pairs))
    needed, most = [], np.zeros(min(TRUTHS, len(drawn)), dtype=np.int64)
    for order in found:
        if order.state != "open":
            needed.append(Needed(0, 0, 0))
            continue
        number = contest.measures.index(order.measure)
        effect = effects[:, :, order.first, number] - effects[:, :, order.second, number]
        moved = effect[rows, levels] * open_  # (draws, unjudged passages)
        judged = np.zeros((len(drawn), len(queue) + 1))
        np.cumsum(moved[:, queue], axis=1, out=judged[:, 1:])
        judged = judged[:, tried]
        left = np.sort(moved.sum(axis=1)[:, None] - judged, axis=0)
        odd = int(np.ceil(SURE * len(drawn))) - 1
        known = order.difference + judged[:TRUTHS]
        certain = (known + left[len(drawn) - 1 - odd] > 0) | (known + left[odd] < 0)
        # the sum of effects may settle an order that the scores leave open; it then needs at least one judgment
        certain[:, 0] = False
        certain[:, -1] = True
        takes = tried[np.argmax(certain, axis=1)]
        needed.append(_summary(takes))
        most = np.maximum(most, takes)
    return needed, _summary(most)


def _summary(takes: Codes) -> Needed:
    low, median, high = np.quantile(takes, (0.1, 0.5, 0.9))
    return Needed(round(median), round(low), round(high))
