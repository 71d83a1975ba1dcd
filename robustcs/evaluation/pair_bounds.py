r"""How far the difference of two runs could move: a passage that both retrieve gets one grade, the same in both.

The difference of two scores is asked for the same grades as in :mod:`robustcs.evaluation.bounds`, but of a pair of runs at
once. ``scope`` names the passages: with ``cutoff`` those that are unjudged and inside the measure's cut-off of either run,
with ``run`` all unjudged passages of either, with ``pool`` those of any run under analysis. Each gets one whole grade from 0
to ``max_grade``, which counts wherever the passage stands in the two runs, and in the ideal ranking and the number of relevant
passages of both, also of a run that does not retrieve it. All others keep counting as not relevant. The interval of a turn
goes from the smallest to the largest difference among all these ways of grading and the difference as the judgments stand.

So it can be much narrower than what the intervals of the two runs leave, where a passage could be good in one and worthless in
the other. It can also be wider, for a passage that one run alone retrieves enters the other's ideal ranking too.

A passage weighs w = (its weight in the first run) − (its weight in the second), the weight being that of its rank, and 0 where
it is not inside the cut-off. The functions below give the largest difference; the smallest is minus the largest of second −
first. All are exact but those of average precision and bpref, for which only an outer interval is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.bounds import (
    BLOCK,
    ROUNDING,
    Scope,
    from_zero,
    grade_levels,
    measure_bounds,
    outside_of,
    quotient,
    rank_discounts,
)
from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import RBP_PERSISTENCE, Measure
from robustcs.evaluation.measures import NATIVE, Scores
from robustcs.evaluation.run_pair import NOT_RETRIEVED, Numbers, RunPair
from robustcs.policy import EvaluationPolicy


@dataclass(frozen=True)
class DifferenceBounds:
    """float64[T] each, low ≤ difference ≤ high. Without ``exact`` no difference lies outside, but the ends may be too far."""

    low: Scores
    difference: Scores
    high: Scores
    exact: bool


def difference_bounds(
    pair: RunPair, measure: Measure, policy: EvaluationPolicy, max_grade: int, scope: Scope = "cutoff"
) -> DifferenceBounds:
    """The interval of score(first) − score(second) for every turn, for a native measure.

    Raises ``ValueError`` for a measure that the matrix does not serve itself.
    """
    if measure.family not in NATIVE:
        raise ValueError(f"no bounds for {measure}")
    parts = [_block_bounds(block, measure, policy, max_grade, scope) for block in pair.blocks(BLOCK)]
    low, difference, high = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return DifferenceBounds(low, difference, high, measure.family in _LARGEST)


@dataclass(frozen=True, eq=False)
class _Case:
    """One block of turns, and the passages whose grades can change the scores: row and weight in either run, shape [n]."""

    first: GradeMatrix
    second: GradeMatrix
    measure: Measure
    level: int
    max_grade: int
    rows: Numbers
    first_weights: Scores
    second_weights: Scores

    @property
    def swapped(self) -> _Case:
        return replace(
            self, first=self.second, second=self.first, first_weights=self.second_weights, second_weights=self.first_weights
        )  # fmt: skip

    def scores(self) -> tuple[Scores, Scores]:
        """Of both runs, as their matrices stand."""
        persistence = RBP_PERSISTENCE if self.measure.persistence is None else self.measure.persistence
        score = NATIVE[self.measure.family]
        first, second = (score(run, self.level, self.measure.cutoff, persistence) for run in (self.first, self.second))
        return first, second

    def per_turn(self, values: npt.NDArray[Any]) -> Scores:
        """Sums over a turn's passages."""
        return np.asarray(np.bincount(self.rows, weights=values, minlength=len(self.first.turns)), dtype=np.float64)


def _block_bounds(
    pair: RunPair, measure: Measure, policy: EvaluationPolicy, max_grade: int, scope: Scope
) -> tuple[Scores, Scores, Scores]:
    depth = max(pair.first.grades.shape[1], pair.second.grades.shape[1])
    depth = min(depth, measure.cutoff or depth)
    graded = np.minimum(pair.first_ranks, pair.second_ranks) < (depth if scope == "cutoff" else NOT_RETRIEVED)
    elsewhere = pair.elsewhere if scope == "pool" else np.zeros_like(pair.elsewhere)
    if measure.family not in _LARGEST:
        number = np.bincount(pair.rows[graded], minlength=len(pair.first.turns))
        return _apart(pair, number + elsewhere, measure, policy, max_grade)
    level = policy.relevance_level if measure.level is None else measure.level
    if max_grade < (1 if measure.family == "ndcg" else level):
        graded[:], elsewhere = False, np.zeros_like(elsewhere)
    weights = np.append(_weights(measure, depth), 0.0)
    # passages that neither run retrieves weigh 0 in both
    rows = np.append(pair.rows[graded], np.repeat(np.arange(len(elsewhere)), elsewhere))
    in_order = np.argsort(rows, kind="stable")
    first_weights, second_weights = (
        np.append(weights[np.minimum(ranks[graded], depth)], np.zeros(elsewhere.sum()))[in_order]
        for ranks in (pair.first_ranks, pair.second_ranks)
    )
    case = _Case(pair.first, pair.second, measure, level, max_grade, rows[in_order], first_weights, second_weights)
    first, second = case.scores()
    difference = first - second
    largest = _LARGEST[measure.family]
    low, high = -largest(case.swapped), largest(case)
    low = np.where(low < difference - ROUNDING, np.maximum(low, -1.0), difference)
    high = np.where(high > difference + ROUNDING, np.minimum(high, 1.0), difference)
    return low, difference, high


def _apart(
    pair: RunPair, graded: Numbers, measure: Measure, policy: EvaluationPolicy, max_grade: int
) -> tuple[Scores, Scores, Scores]:
    """Average precision and bpref: lowest − highest and highest − lowest of the two runs on their own.

    ``graded`` is the number of passages of the scope in every turn. No difference lies outside, since each run's interval
    covers all grades of its own passages and of those it does not retrieve.
    """
    first, second = (
        measure_bounds(run, measure, policy, max_grade, outside=outside_of(run, measure, graded))
        for run in (pair.first, pair.second)
    )
    return first.low - second.high, first.score - second.score, first.high - second.low


def _weights(measure: Measure, depth: int) -> Scores:
    """What a relevant passage (for nDCG: one gain) at ranks 1 to ``depth`` adds to the score, or can at most add to it."""
    ranks = np.arange(1, depth + 1)
    if measure.family == "ndcg":
        return rank_discounts(depth)
    if measure.family == "recip_rank":
        return 1.0 / ranks
    if measure.family == "rbp":
        persistence = RBP_PERSISTENCE if measure.persistence is None else measure.persistence
        return np.asarray((1 - persistence) * persistence ** (ranks - 1))
    return np.full(depth, 1 / measure.cutoff if measure.family == "P" and measure.cutoff else 1.0)


def _total(case: _Case) -> Scores:
    """P and RBP: every passage that becomes relevant adds w, so all with w > 0 do and the others do not."""
    first, second = case.scores()
    return first - second + case.per_turn(np.maximum(case.first_weights - case.second_weights, 0.0))


def _first_hit(case: _Case) -> Scores:
    """Reciprocal rank and success: the score is the largest weight of a relevant passage.

    Take any passages that become relevant, and the one of them that weighs most in the first run. It alone gives the first
    run the same score, and the second run no higher one. So no more than one has to become relevant: try each, and none.
    """
    first, second = case.scores()
    largest = first - second
    tried = np.maximum(first[case.rows], case.first_weights) - np.maximum(second[case.rows], case.second_weights)
    np.maximum.at(largest, case.rows, tried)
    return largest


def _recall(case: _Case) -> Scores:
    """(h + Σ w) / (R + n), h the hits of the first run without those of the second, over n passages that become relevant.

    w is 1, 0 or −1. As |h + Σ w| ≤ R + n, a passage of w = 1 never lowers the quotient and one of −1 never raises it. One of
    0 brings it nearer to 0: all of them, where it is negative, else none.
    """
    first, second = (run.grades[:, : case.measure.cutoff] >= case.level for run in (case.first, case.second))
    weights = case.first_weights - case.second_weights
    better, even = case.per_turn(weights > 0), case.per_turn(weights == 0)
    hits = first.sum(axis=1) - second.sum(axis=1) + better
    relevant = (case.first.judged >= case.level).sum(axis=1) + better
    return quotient(hits, relevant + np.where(hits < 0, even, 0))


def _judged(case: _Case) -> Scores:
    """Any grade makes a passage judged, so there is one way of grading only: all inside the cut-off are judged."""
    runs = (case.first, case.second)
    one, other = (replace(run, grades=np.where(run.grades == UNJUDGED, 0, run.grades)) for run in runs)
    first, second = replace(case, first=one, second=other).scores()
    return first - second


def _ndcg(case: _Case) -> Scores:
    r"""N / D with N = Σ w_i · grade_i + const, linear, and D the ideal DCG, convex: see ``_ndcg`` in :mod:`bounds`.

    *Where N < 0 for all grades.* {x : N/D ≤ λ} = {x : N − λD ≤ 0} is convex for λ ≤ 0, so N/D is quasi-convex on the box
    [0, G]^u, G being the highest grade, and takes its maximum at a corner: every new grade is 0 or G. D depends only on how
    many are G, so with j of them they are the j passages of the largest w. That leaves j = 0 … u.

    *Else* the maximum is ≥ 0. For a multiset of new grades N is largest with the highest grades at the largest w. With T(n)
    = the sum of the n largest w, and the levels t, the counts n_t and c_t and S(m) of the single run, N = const + Σ_t T(n_t)
    and D = Σ_t S(c_t + n_t), under n_1 ≥ n_2 ≥ … . For a given λ ≥ 0 the step from n to n + 1 changes the term of its level
    by w_(n+1) − λ d_{c_t + n + 1}. It does not grow with t, as in a single run, and that is all that was needed there: the
    smallest maximisers of the levels fulfil n_1 ≥ n_2 ≥ … by themselves, and λ ← N/D of them climbs to the maximum.

    The corners are ways of grading in either case, and the best of them is negative only in the first one, because the largest
    N is at a corner. So λ starts there, and climbs where it is not negative.

    Passages of w = 0 matter only in D, which as many of them as the ideal ranking is long fill: more are left out.
    """
    judged, cutoff = case.first.judged, case.measure.cutoff
    weights = _descending(case)
    size = judged.shape[1] + weights.shape[1]
    ideal = from_zero(rank_discounts(min(size, cutoff or size))[None, :])[0]
    levels, heights = grade_levels(judged, case.max_grade)
    new = np.arange(weights.shape[1] + 1)
    sums = []
    for level, height in zip(levels, heights, strict=True):
        count = (judged >= level).sum(axis=1)[:, None] + (new if level <= case.max_grade else new[:1])
        sums.append(height * ideal[np.minimum(count, len(ideal) - 1)])

    gained = _gained(case.first, cutoff) - _gained(case.second, cutoff)
    reached = from_zero(weights)
    corners = quotient(gained[:, None] + case.max_grade * reached, sum(sums, np.zeros((len(gained), 1))))
    high: Scores = corners.max(axis=1)
    climbing = np.flatnonzero(high >= 0)
    while len(climbing):
        numerator, denominator = gained[climbing], np.zeros(len(climbing))
        rows = np.arange(len(climbing))
        for height, values in zip(heights, sums, strict=True):
            values = values[climbing]
            choice = np.zeros_like(rows)
            if values.shape[1] > 1:
                choice = np.argmax(height * reached[climbing] - high[climbing, None] * values, axis=1)
                numerator = numerator + height * reached[climbing, choice]
            denominator += values[rows, choice]
        better = quotient(numerator, denominator)
        higher = better > high[climbing]
        climbing, better = climbing[higher], better[higher]
        high[climbing] = better
    return high


def _descending(case: _Case) -> Scores:
    """Every turn's w, largest first, with −∞ at the end of shorter rows: float64[T, most of a turn]."""
    rows, weights = case.rows, case.first_weights - case.second_weights
    if case.measure.cutoff:
        kept = weights != 0
        kept[~kept] = _places(rows[~kept]) < case.measure.cutoff
        rows, weights = rows[kept], weights[kept]
    places = _places(rows)
    table = np.full((len(case.first.turns), places.max(initial=-1) + 1), np.inf)
    table[rows, places] = -weights
    return np.asarray(-np.sort(table, axis=1))


def _places(rows: Numbers) -> Numbers:
    """0, 1, 2, … among the equal ones of ``rows``, which ascend."""
    return np.arange(len(rows)) - np.searchsorted(rows, rows)


def _gained(run: GradeMatrix, cutoff: int | None) -> Scores:
    gains = np.maximum(run.grades[:, :cutoff], 0)
    return np.asarray(gains @ rank_discounts(gains.shape[1]))


#: Family → the largest difference of every turn; a family that is not here has no exact one.
_LARGEST: dict[str, Callable[[_Case], Scores]] = {
    "P": _total, "rbp": _total, "success": _first_hit, "recip_rank": _first_hit, "recall": _recall, "judged": _judged,
    "ndcg": _ndcg,
}  # fmt: skip
