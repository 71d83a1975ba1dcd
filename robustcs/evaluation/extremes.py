r"""The largest difference of two scores over all grades of some passages.

Each passage gets one whole grade from 0 to ``max_grade``, which counts in both runs and in their
ideal rankings and numbers of relevant passages. The weight of a passage is w = (its weight in the
first run) − (its weight in the second), where the weight in a run is that of its rank, or 0 outside
the cutoff. The smallest difference is minus the largest of second − first. The score of a single
run is its difference from a run that retrieves nothing. All results are exact. For average
precision there is none, only the bounds of each run: :mod:`robustcs.evaluation.precision_bounds`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robustcs.evaluation.matrix import Grades
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import Scores, Top, rank_discounts, rank_weights
from robustcs.statistics import Codes, quotient

#: Cells of a table of passages that are processed together.
CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class BoundedMeasure:
    """A measure to bound, and what its bounds depend on besides the runs.

    level
        Lowest relevant grade.
    persistence
        p of rank-biased precision.
    max_grade
        Highest grade that an unjudged passage could get.
    judged
        int16[T, J]: the judged grades of every turn.
    """

    measure: Measure
    level: int
    persistence: float
    max_grade: int
    judged: Grades

    @cached_property
    def heights(self) -> dict[int, int]:
        """The positive grades that occur, ascending → their distance from the previous one (or 0).

        Grades occur if they are judged, or if an unjudged passage could get them as the highest.
        """
        occurring = {*np.unique(self.judged).tolist(), self.max_grade}
        heights = {}
        previous = 0
        for grade in sorted(grade for grade in occurring if grade > 0):
            heights[grade] = grade - previous
            previous = grade
        return heights

    @cached_property
    def counts(self) -> dict[int, Codes]:
        """Grade → int64[T]: the number of judged passages with at least this grade.

        Contains each of ``heights`` and the level.
        """
        return {grade: (self.judged >= grade).sum(axis=1) for grade in {*self.heights, self.level}}

    def weights(self, depth: int) -> Scores:
        """Return float64[depth]: what a relevant passage at each rank adds to the score.

        For nDCG: what each unit of gain adds to the DCG. For measures of the first relevant
        passage: the score if it is this one. For recall: 1 for each relevant passage.
        """
        family, cutoff = self.measure.family, self.measure.cutoff
        if family == "ndcg":
            return rank_discounts(depth)
        if family == "recip_rank":
            return np.asarray(1.0 / np.arange(1, depth + 1))
        if family == "rbp":
            return rank_weights(self.persistence, depth)
        if family == "P" and cutoff:
            return np.full(depth, 1 / cutoff)
        return np.ones(depth)


class Side(NamedTuple):
    """One run of each pair.

    scores
        float64[R]: its score of each row.
    sums
        float64[R]: the sum that the largest difference starts from: the DCG for nDCG, the number of
        relevant passages for recall; the score for other measures, which do not use it.
    weights
        float64[n]: the weight of each passage in it.
    """

    scores: Scores
    sums: Scores
    weights: Scores

    def take(self, rows: slice, passages: slice) -> Side:
        """Return some rows and their passages."""
        return Side(self.scores[rows], self.sums[rows], self.weights[passages])


class PairRows(NamedTuple):
    """R rows, and the n passages whose grades can change their scores.

    turns
        int64[R]: a row is one turn of one pair of runs.
    rows
        int64[n], ascending: the row of each passage.
    """

    bounded: BoundedMeasure
    turns: Codes
    first: Side
    second: Side
    rows: Codes

    def ends(self) -> tuple[Scores, Scores]:
        """Return the smallest and the largest difference of every row: float64[R] each."""
        longest = int(np.bincount(self.rows, minlength=1).max())
        step = max(1, CELLS // (longest + 1))  # limits the size of a table of passages
        low, high = np.empty(len(self.turns)), np.empty(len(self.turns))
        largest = LARGEST[self.bounded.measure.family]
        for start in range(0, len(self.turns), step):
            part = slice(start, start + step)
            passages = slice(*np.searchsorted(self.rows, (start, start + step)))
            case = PairRows(
                self.bounded,
                self.turns[part],
                self.first.take(part, passages),
                self.second.take(part, passages),
                self.rows[passages] - start,
            )
            low[part] = -largest(case._replace(first=case.second, second=case.first))
            high[part] = largest(case)
        return low, high

    @property
    def weights(self) -> Scores:
        """float64[n]: w, the weight of each passage."""
        return np.asarray(self.first.weights - self.second.weights)

    @property
    def sums(self) -> Scores:
        """float64[R]: the difference of :attr:`Side.sums`."""
        return np.asarray(self.first.sums - self.second.sums)

    def per_row(self, values: np.ndarray) -> Scores:
        """Return float64[R]: the sums of ``values`` over the passages of each row."""
        sums = np.bincount(self.rows, weights=values, minlength=len(self.turns))
        return np.asarray(sums, dtype=np.float64)


def _total(case: PairRows) -> Scores:
    """P and RBP: each relevant passage adds w, so those with w > 0 become relevant, no others."""
    return case.first.scores - case.second.scores + case.per_row(np.maximum(case.weights, 0.0))


def _first_hit(case: PairRows) -> Scores:
    """Reciprocal rank and success: the score is the largest weight of a relevant passage.

    For any set of passages that become relevant, consider the one with the largest weight in the
    first run. It alone gives the first run the same score, and the second run no higher one. So at
    most one passage has to become relevant: try each, and none.
    """
    first, second = case.first, case.second
    largest = first.scores - second.scores
    first_with_passage = np.maximum(first.scores[case.rows], first.weights)
    second_with_passage = np.maximum(second.scores[case.rows], second.weights)
    np.maximum.at(largest, case.rows, first_with_passage - second_with_passage)
    return largest


def _recall(case: PairRows) -> Scores:
    """(h + Σ w) / (R + n): h, hits of the first run without the second's; n passages are added.

    w is 1, 0 or −1. Because |h + Σ w| ≤ R + n, a passage with w = 1 never lowers the quotient, and
    one with w = −1 never raises it. A passage with w = 0 moves it towards 0: include all of them if
    the quotient is negative, otherwise none.
    """
    only_first = case.per_row(case.weights > 0)
    neutral = case.per_row(case.weights == 0)
    hits = case.sums + only_first
    relevant = case.bounded.counts[case.bounded.level][case.turns] + only_first
    return quotient(hits, relevant + np.where(hits < 0, neutral, 0))


def _ndcg(case: PairRows) -> Scores:
    r"""N / D: N = Σ w_i · grade_i + const is linear; D is the ideal DCG, with every new grade.

    D(x) is the largest of the sums Σ d_r · gain, with d_r = 1/log2(r + 1) within the cutoff and 0
    below, over all orders of the judged and the new gains x. It is a maximum of linear functions
    and therefore convex.

    *If N < 0 for all grades.* {x : N/D ≤ λ} = {x : N − λD ≤ 0} is convex for λ ≤ 0. So N/D is
    quasi-convex on the box [0, G]^u, where G is the highest grade, and has its maximum at a corner:
    every new grade is 0 or G. D depends only on the number of grades G. With j of them, the best
    choice is the j passages with the largest w. That leaves j = 0 … u.

    *Otherwise* the maximum is ≥ 0. For a multiset of new grades, N is largest with the highest
    grades at the largest w. Write a grade as the number of levels t = 1 … G that it reaches. Let
    n_t be the number of new grades ≥ t, and c_t that of judged ones. With T(n) = the sum of the n
    largest w and S(m) = d_1 + … + d_m, N = const + Σ_t T(n_t) and D = Σ_t S(c_t + n_t), under n_1 ≥
    n_2 ≥ … . N/D is largest at the λ for which max (N − λD) = 0 (Dinkelbach 1967). For a given λ ≥
    0, every level is maximized separately: the step from n to n + 1 changes its term by w_(n+1) − λ
    d_{c_t + n + 1}, which does not grow with t, because c_t does not. So the smallest maximizers
    automatically satisfy n_1 ≥ n_2 ≥ …, and λ ← N/D of the maximizers rises to the maximum in a few
    rounds and never exceeds it. Levels between two grades that occur have the same c_t and are
    counted together.

    The corners are valid gradings in both cases, and the best of them is negative only in the first
    one, because the largest N is at a corner. So λ starts there, and is improved if it is not
    negative.

    Passages with w = 0 matter only in D. At most as many as the ideal ranking has ranks can matter;
    the others are ignored.
    """
    weights = _descending_weights(case)
    gained = case.sums
    weight_sums = from_zero(weights)  # T(n) of every row
    ideal = _ideal_terms(case, weights.shape[1])
    ideal_dcg = sum((term.sums for term in ideal), np.zeros((len(gained), 1)))
    corners = quotient(gained[:, None] + case.bounded.max_grade * weight_sums, ideal_dcg)
    high: Scores = corners.max(axis=1)
    rising = np.flatnonzero(high >= 0)  # rows whose λ may still rise
    while len(rising):
        numerator, denominator = gained[rising], np.zeros(len(rising))
        rows = np.arange(len(rising))
        for height, sums in ideal:
            sums = sums[rising]
            number = np.zeros_like(rows)  # of new grades that reach these levels
            if sums.shape[1] > 1:
                gains = height * weight_sums[rising]
                number = np.argmax(gains - high[rising, None] * sums, axis=1)
                numerator = numerator + height * weight_sums[rising, number]
            denominator += sums[rows, number]
        better = quotient(numerator, denominator)
        higher = better > high[rising]
        rising, better = rising[higher], better[higher]
        high[rising] = better
    return high


class _IdealTerm(NamedTuple):
    """The part of the ideal DCG from the levels above one grade that occurs, up to the next.

    height
        The number of these levels.
    sums
        float64[R, u + 1]: the part if 0, 1, … u new grades reach them; float64[R, 1] if none can.
    """

    height: int
    sums: Scores


def _ideal_terms(case: PairRows, passages: int) -> list[_IdealTerm]:
    """Return the parts of the ideal DCG of every row, with up to ``passages`` new grades."""
    bounded = case.bounded
    longest = bounded.judged.shape[1] + passages
    ranks = min(longest, bounded.measure.cutoff or longest)
    ideal = from_zero(rank_discounts(ranks)[None, :])[0]  # S(m)
    new = np.arange(passages + 1)
    terms = []
    for level, height in bounded.heights.items():
        reaching = bounded.counts[level][case.turns, None]
        # no new grade exceeds the highest
        reaching = reaching + (new if level <= bounded.max_grade else new[:1])
        terms.append(_IdealTerm(height, height * ideal[np.minimum(reaching, ranks)]))
    return terms


def _descending_weights(case: PairRows) -> Scores:
    """Return float64[R, longest row]: the w of every row, largest first, padded with −∞."""
    rows, weights, cutoff = case.rows, case.weights, case.bounded.measure.cutoff
    if cutoff:
        # of passages with w = 0, no more matter than the ideal ranking has ranks
        kept = weights != 0
        kept[~kept] = _places(rows[~kept]) < cutoff
        rows, weights = rows[kept], weights[kept]
    places = _places(rows)
    negative = np.full((len(case.turns), places.max(initial=-1) + 1), np.inf)
    negative[rows, places] = -weights
    return np.asarray(-np.sort(negative, axis=1))


def _places(rows: Codes) -> Codes:
    """Return 0, 1, 2, … within each group of equal ``rows``, which ascend."""
    return np.arange(len(rows)) - np.searchsorted(rows, rows)


def from_zero(values: np.ndarray) -> np.ndarray:
    """Return cumulative sums along the rows, starting with 0: the sum of 0, 1, 2, … values."""
    zeros = np.zeros((len(values), 1), dtype=np.int64)
    return np.concatenate((zeros, np.cumsum(values, axis=1)), axis=1)


#: Family → the function that returns the largest difference of every row, float64[R]; no other
#: family has an exact one.
LARGEST: dict[str, Callable[[PairRows], Scores]] = {
    "P": _total,
    "rbp": _total,
    "success": _first_hit,
    "recip_rank": _first_hit,
    "recall": _recall,
    "ndcg": _ndcg,
}
#: Family → the function that returns :attr:`Side.sums` of one run, float64[T]; others need none.
SUMS: dict[str, Callable[[Top], Scores]] = {
    "recall": lambda top: top.hits.sum(axis=1).astype(np.float64),
    "ndcg": lambda top: np.maximum(top.grades, 0) @ rank_discounts(top.grades.shape[1]),
}
#: Families with bounds; for average precision, see :mod:`robustcs.evaluation.precision_bounds`.
BOUNDED = (*LARGEST, "map")
