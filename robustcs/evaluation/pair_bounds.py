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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.bounds import (
    ROUNDING,
    Scope,
    bounds_by_outside,
    from_zero,
    grade_levels,
    quotient,
    rank_discounts,
)
from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import RBP_PERSISTENCE, Measure
from robustcs.evaluation.measures import NATIVE, Scores
from robustcs.evaluation.run_pair import NOT_RETRIEVED, Numbers, RunPairs
from robustcs.policy import EvaluationPolicy

#: Turns whose runs are scored at a time, and cells of a table of passages that are worked on at a time.
_TURNS = 512
_CELLS = 2_000_000


@dataclass(frozen=True)
class DifferenceBounds:
    """low ≤ difference ≤ high of every turn of every pair, float64[P · T] each.

    Without ``exact`` no difference lies outside, but the ends may be too far: those of average precision and bpref.
    """

    low: Scores
    difference: Scores
    high: Scores
    exact: bool


class PairMeasure:
    """A native measure on R runs of the same T turns; what the bounds of a pair need of each run is computed once.

    Raises ``ValueError`` for a measure that the matrix does not serve itself.
    """

    def __init__(
        self,
        runs: Sequence[GradeMatrix],
        measure: Measure,
        policy: EvaluationPolicy,
        max_grade: int,
        scope: Scope = "cutoff",
    ):
        if measure.family not in NATIVE:
            raise ValueError(f"no bounds for {measure}")
        self.runs = runs
        self.measure = measure
        self.policy = policy
        self.level = policy.relevance_level if measure.level is None else measure.level
        self.max_grade = max_grade
        self.scope = scope
        self.exact = measure.family in LARGEST
        self.judged = runs[0].judged
        self.levels, self.heights = grade_levels(self.judged, max_grade)
        self._from = {grade: (self.judged >= grade).sum(axis=1) for grade in {*self.levels, self.level}}
        self.scores = np.array([self._each(run, self._score) for run in runs])
        of_run = _OF_RUN.get(measure.family)
        self.more = np.array([self._each(run, lambda block: of_run(self, block)) for run in runs]) if of_run else self.scores

    def _each(self, run: GradeMatrix, value: Callable[[GradeMatrix], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return np.concatenate([value(block) for block in run.blocks(_TURNS)])

    def _score(self, matrix: GradeMatrix) -> Scores:
        persistence = RBP_PERSISTENCE if self.measure.persistence is None else self.measure.persistence
        return NATIVE[self.measure.family](matrix, self.level, self.measure.cutoff, persistence)

    def judged_from(self, grade: int) -> Numbers:
        """int64[T]: the judged passages of every turn that have at least this grade, one of ``levels`` or ``level``."""
        return np.asarray(self._from[grade])

    def _graded(self, pairs: RunPairs) -> tuple[npt.NDArray[np.bool_], Numbers]:
        """bool[n]: which passages of the pairs get grades; int64[P · T]: how many others do."""
        ends = (self.measure.cutoff or NOT_RETRIEVED) if self.scope == "cutoff" else NOT_RETRIEVED
        graded = np.minimum(pairs.first_ranks, pairs.second_ranks) < ends
        return graded, pairs.elsewhere if self.scope == "pool" else np.zeros_like(pairs.elsewhere)

    def graded(self, pairs: RunPairs) -> Numbers:
        """int64[P · T]: the number of passages of the scope in every turn of every pair."""
        graded, elsewhere = self._graded(pairs)
        return np.bincount(pairs.rows[graded], minlength=len(elsewhere)) + elsewhere

    def bounds(self, pairs: RunPairs) -> DifferenceBounds:
        """The interval of score(first) − score(second) for every turn of every pair: float64[P · T], pair after pair."""
        graded, elsewhere = self._graded(pairs)
        first, second = self.scores[pairs.first].ravel(), self.scores[pairs.second].ravel()
        if not self.exact:
            return DifferenceBounds(*self._apart(pairs, self.graded(pairs)), exact=False)
        if self.max_grade < (1 if self.measure.family == "ndcg" else self.level):
            graded[:], elsewhere = False, np.zeros_like(elsewhere)
        depth = max(run.grades.shape[1] for run in self.runs)
        depth = min(depth, self.measure.cutoff or depth)
        weights = np.append(_weights(self.measure, depth), 0.0)
        rows = pairs.rows[graded]
        pair_weights = [weights[np.minimum(ranks[graded], depth)] for ranks in (pairs.first_ranks, pairs.second_ranks)]
        if elsewhere.any():
            # passages that neither run retrieves weigh 0 in both
            rows = np.append(rows, np.repeat(np.arange(len(elsewhere)), elsewhere))
            order = np.argsort(rows, kind="stable")
            rows = rows[order]
            pair_weights = [np.append(part, np.zeros(len(rows) - len(part)))[order] for part in pair_weights]
        turns = np.tile(np.arange(len(self.judged)), len(pairs.first))
        case = _Case(
            self, turns, first, second, self.more[pairs.first].ravel(), self.more[pairs.second].ravel(), rows, *pair_weights
        )
        low, high = np.empty(len(turns)), np.empty(len(turns))
        for part in case.parts():
            block = case.take(part)
            low[part], high[part] = -LARGEST[self.measure.family](block.swapped), LARGEST[self.measure.family](block)
        difference = first - second
        low = np.where(low < difference - ROUNDING, np.maximum(low, -1.0), difference)
        high = np.where(high > difference + ROUNDING, np.minimum(high, 1.0), difference)
        return DifferenceBounds(low, difference, high, exact=True)

    def _apart(self, pairs: RunPairs, graded: Numbers) -> tuple[Scores, Scores, Scores]:
        """Average precision and bpref: lowest − highest and highest − lowest of the two runs on their own.

        ``graded`` is the number of passages of the scope in every turn of every pair. No difference lies outside, since each
        run's interval covers all grades of its own passages and of those it does not retrieve.
        """
        shape = (len(pairs.first), -1)
        ends = np.stack([
            [self._ends(run, counts) for run, counts in zip(side, graded.reshape(shape), strict=True)]
            for side in (pairs.first, pairs.second)
        ])  # fmt: skip
        (first_low, first_high), (second_low, second_high) = ends.reshape(2, len(pairs.first), 2, -1).swapaxes(1, 2)
        difference = self.scores[pairs.first] - self.scores[pairs.second]
        return (first_low - second_high).ravel(), difference.ravel(), (first_high - second_low).ravel()

    def _ends(self, run: int, graded: Numbers) -> tuple[Scores, Scores]:
        """Of one run: float64[T] each, or [T, E] where ``graded`` is [T, E]."""
        asked = graded.reshape(len(self.judged), -1)
        low, high = bounds_by_outside(self.runs[run], self.measure, self.policy, self.max_grade, asked)
        return low.reshape(graded.shape), high.reshape(graded.shape)


class MeanDifferences:
    """Collects the mean bounds of pairs of runs by one measure, as the pairs come; memory does not grow with turns but for
    average precision and bpref, whose runs are looked at once, with all their pairs.
    """

    def __init__(self, asked: PairMeasure):
        self.asked = asked
        self._means: list[Scores] = []
        self._counts: list[tuple[Numbers, Numbers, npt.NDArray[np.int32]]] = []

    def add(self, pairs: RunPairs) -> None:
        """Take further pairs."""
        asked = self.asked
        if asked.exact:
            found = asked.bounds(pairs)
            parts = (found.low, found.difference, found.high)
            self._means.append(np.stack([part.reshape(len(pairs.first), -1).mean(axis=1) for part in parts]))
        else:
            counts = asked.graded(pairs).reshape(len(pairs.first), -1).astype(np.int32)
            self._counts.append((pairs.first, pairs.second, counts))

    def means(self) -> Scores:
        """float64[3, P]: mean low, difference and high of every pair, in the order in which they came."""
        if self.asked.exact:
            return np.concatenate(self._means, axis=1) if self._means else np.zeros((3, 0))
        asked = self.asked
        first, second, counts = (np.concatenate(parts) for parts in zip(*self._counts, strict=True))
        low, high = np.zeros(len(first)), np.zeros(len(first))
        for run in range(len(asked.runs)):
            for side, (gains, loses) in ((first, (low, high)), (second, (high, low))):
                sign = 1 if side is first else -1
                for at in np.array_split(np.flatnonzero(side == run), max(1, counts.shape[1] * len(first) // _CELLS)):
                    if len(at):
                        ends = asked._ends(run, counts[at].T.astype(np.int64))
                        gains[at] += sign * ends[0].mean(axis=0)
                        loses[at] += sign * ends[1].mean(axis=0)
        means = asked.scores.mean(axis=1)
        return np.stack([low, means[first] - means[second], high])


def difference_bounds(
    pairs: RunPairs, measure: Measure, policy: EvaluationPolicy, max_grade: int, scope: Scope = "cutoff"
) -> DifferenceBounds:
    """The interval of score(first) − score(second) for every turn of every pair; see :class:`PairMeasure`."""
    return PairMeasure(pairs.runs, measure, policy, max_grade, scope).bounds(pairs)


@dataclass(frozen=True, eq=False)
class _Case:
    """Some rows, each a turn of a pair, and the n passages whose grades can change their scores.

    ``turns`` is the turn of every row; ``first`` and ``second`` are the scores of its two runs, ``first_more`` and
    ``second_more`` what :data:`_OF_RUN` says of them. Of a passage ``rows`` and the weights in either run are known.
    """

    asked: PairMeasure
    turns: Numbers
    first: Scores
    second: Scores
    first_more: npt.NDArray[Any]
    second_more: npt.NDArray[Any]
    rows: Numbers
    first_weights: Scores
    second_weights: Scores

    @property
    def swapped(self) -> _Case:
        return replace(
            self, first=self.second, second=self.first, first_more=self.second_more, second_more=self.first_more,
            first_weights=self.second_weights, second_weights=self.first_weights,
        )  # fmt: skip

    def parts(self) -> list[slice]:
        """Rows in pieces, such that a table of their passages stays small."""
        most = int(np.bincount(self.rows, minlength=1).max())
        size = max(1, _CELLS // (most + 1))
        return [slice(start, min(start + size, len(self.turns))) for start in range(0, len(self.turns), size)]

    def take(self, part: slice) -> _Case:
        """Some of the rows."""
        inside = slice(*np.searchsorted(self.rows, (part.start, part.stop)))
        return _Case(
            self.asked, self.turns[part], self.first[part], self.second[part], self.first_more[part], self.second_more[part],
            self.rows[inside] - part.start, self.first_weights[inside], self.second_weights[inside],
        )  # fmt: skip

    def per_row(self, values: npt.NDArray[Any]) -> Scores:
        """Sums over a row's passages."""
        return np.asarray(np.bincount(self.rows, weights=values, minlength=len(self.turns)), dtype=np.float64)


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
    return case.first - case.second + case.per_row(np.maximum(case.first_weights - case.second_weights, 0.0))


def _first_hit(case: _Case) -> Scores:
    """Reciprocal rank and success: the score is the largest weight of a relevant passage.

    Take any passages that become relevant, and the one of them that weighs most in the first run. It alone gives the first
    run the same score, and the second run no higher one. So no more than one has to become relevant: try each, and none.
    """
    first, second = case.first, case.second
    largest = first - second
    tried = np.maximum(first[case.rows], case.first_weights) - np.maximum(second[case.rows], case.second_weights)
    np.maximum.at(largest, case.rows, tried)
    return largest


def _hits(asked: PairMeasure, block: GradeMatrix) -> npt.NDArray[Any]:
    return np.asarray((block.grades[:, : asked.measure.cutoff] >= asked.level).sum(axis=1))


def _recall(case: _Case) -> Scores:
    """(h + Σ w) / (R + n), h the hits of the first run without those of the second, over n passages that become relevant.

    w is 1, 0 or −1. As |h + Σ w| ≤ R + n, a passage of w = 1 never lowers the quotient and one of −1 never raises it. One of
    0 brings it nearer to 0: all of them, where it is negative, else none.
    """
    weights = case.first_weights - case.second_weights
    better, even = case.per_row(weights > 0), case.per_row(weights == 0)
    hits = case.first_more - case.second_more + better
    relevant = case.asked.judged_from(case.asked.level)[case.turns] + better
    return quotient(hits, relevant + np.where(hits < 0, even, 0))


def _all_judged(asked: PairMeasure, block: GradeMatrix) -> npt.NDArray[Any]:
    return asked._score(replace(block, grades=np.where(block.grades == UNJUDGED, 0, block.grades)))


def _judged(case: _Case) -> Scores:
    """Any grade makes a passage judged, so there is one way of grading only: all inside the cut-off are judged."""
    return np.asarray(case.first_more - case.second_more)


def _gained(asked: PairMeasure, block: GradeMatrix) -> npt.NDArray[Any]:
    gains = np.maximum(block.grades[:, : asked.measure.cutoff], 0)
    return np.asarray(gains @ rank_discounts(gains.shape[1]))


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
    judged, cutoff, highest = case.asked.judged, case.asked.measure.cutoff, case.asked.max_grade
    weights = _descending(case)
    size = judged.shape[1] + weights.shape[1]
    ideal = from_zero(rank_discounts(min(size, cutoff or size))[None, :])[0]
    levels, heights = case.asked.levels, case.asked.heights
    new = np.arange(weights.shape[1] + 1)
    sums = []
    for level, height in zip(levels, heights, strict=True):
        count = case.asked.judged_from(level)[case.turns, None] + (new if level <= highest else new[:1])
        sums.append(height * ideal[np.minimum(count, len(ideal) - 1)])

    gained = case.first_more - case.second_more
    reached = from_zero(weights)
    corners = quotient(gained[:, None] + highest * reached, sum(sums, np.zeros((len(gained), 1))))
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
    cutoff = case.asked.measure.cutoff
    if cutoff:
        kept = weights != 0
        kept[~kept] = _places(rows[~kept]) < cutoff
        rows, weights = rows[kept], weights[kept]
    places = _places(rows)
    table = np.full((len(case.turns), places.max(initial=-1) + 1), np.inf)
    table[rows, places] = -weights
    return np.asarray(-np.sort(table, axis=1))


def _places(rows: Numbers) -> Numbers:
    """0, 1, 2, … among the equal ones of ``rows``, which ascend."""
    return np.arange(len(rows)) - np.searchsorted(rows, rows)


#: Family → the largest difference of every turn; a family that is not here has no exact one.
LARGEST: dict[str, Callable[[_Case], Scores]] = {
    "P": _total, "rbp": _total, "success": _first_hit, "recip_rank": _first_hit, "recall": _recall, "judged": _judged,
    "ndcg": _ndcg,
}  # fmt: skip
#: Family → what its largest difference needs of each run besides the score.
_OF_RUN: dict[str, Callable[[PairMeasure, GradeMatrix], npt.NDArray[Any]]] = {
    "recall": _hits, "judged": _all_judged, "ndcg": _gained,
}  # fmt: skip
