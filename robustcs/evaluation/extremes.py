r"""Largest difference of two scores over all grades of some passages, and bounds of average precision.

Each passage gets one whole grade from 0 to ``max_grade``, which counts in both runs and in their ideal rankings and numbers of
relevant passages. The weight of a passage is w = (its weight in the first run) − (its weight in the second), where the
weight in a run is that of its rank, or 0 outside the cutoff. The smallest difference is minus the largest of second − first.
The score of a single run is its difference from a run that retrieves nothing. All results are exact except for average
precision, for which only the bounds of each run are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robustcs.evaluation.matrix import UNJUDGED, Grades
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import Scores, Top, rank_discounts, rank_weights
from robustcs.statistics import Codes, quotient

#: Cells of a table of passages that are processed together.
CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class Asked:
    """A measure, the highest grade that passages could get, and the judged grades of every turn (int16[T, J])."""

    measure: Measure
    level: int
    persistence: float
    max_grade: int
    judged: Grades

    @cached_property
    def heights(self) -> dict[int, int]:
        """The positive grades that occur, ascending → their distance from the previous one (or 0)."""
        grades = sorted(
            {grade for grade in (*np.unique(self.judged).tolist(), self.max_grade) if grade > 0}
        )
        return {grade: grade - before for grade, before in zip(grades, [0, *grades], strict=False)}

    @cached_property
    def counts(self) -> dict[int, Codes]:
        """Grade → int64[T]: number of judged passages with at least this grade, for each of ``heights`` and the level."""
        return {grade: (self.judged >= grade).sum(axis=1) for grade in {*self.heights, self.level}}

    def weights(self, depth: int) -> Scores:
        """Return what a relevant passage (for nDCG: one gain) at ranks 1 to ``depth`` adds, or at most adds, to the score."""
        family, cutoff = self.measure.family, self.measure.cutoff
        if family == "ndcg":
            return rank_discounts(depth)
        if family == "recip_rank":
            return np.asarray(1.0 / np.arange(1, depth + 1))
        if family == "rbp":
            return rank_weights(self.persistence, depth)
        return np.full(depth, 1 / cutoff if family == "P" and cutoff else 1.0)


class Side(NamedTuple):
    """One run: its scores and its values of :data:`OF_RUN` (float64[R]), and the weights of the passages in it (float64[n])."""

    scores: Scores
    more: Scores
    weights: Scores

    def take(self, part: slice, inside: slice) -> Side:
        """Return some rows and their passages."""
        return Side(self.scores[part], self.more[part], self.weights[inside])


class Case(NamedTuple):
    """R rows (turns of pairs of runs), and the n passages whose grades can change their scores; ``rows`` ascend."""

    asked: Asked
    turns: Codes
    first: Side
    second: Side
    rows: Codes

    def ends(self) -> tuple[Scores, Scores]:
        """Return the smallest and the largest difference of every row: float64[R] each."""
        most = int(np.bincount(self.rows, minlength=1).max())
        size = max(1, CELLS // (most + 1))  # limits the size of a table of passages
        low, high = np.empty(len(self.turns)), np.empty(len(self.turns))
        largest = LARGEST[self.asked.measure.family]
        for start in range(0, len(self.turns), size):
            part = slice(start, start + size)
            inside = slice(*np.searchsorted(self.rows, (start, start + size)))
            first, second, rows = (
                self.first.take(part, inside),
                self.second.take(part, inside),
                self.rows[inside] - start,
            )
            low[part] = -largest(Case(self.asked, self.turns[part], second, first, rows))
            high[part] = largest(Case(self.asked, self.turns[part], first, second, rows))
        return low, high

    @property
    def weights(self) -> Scores:
        """float64[n]: w, the weight of each passage."""
        return np.asarray(self.first.weights - self.second.weights)

    @property
    def more(self) -> Scores:
        """float64[R]: the difference of :data:`OF_RUN`."""
        return np.asarray(self.first.more - self.second.more)

    def per_row(self, values: np.ndarray) -> Scores:
        """Return the sums over the passages of each row."""
        return np.asarray(
            np.bincount(self.rows, weights=values, minlength=len(self.turns)), dtype=np.float64
        )


def _total(case: Case) -> Scores:
    """P and RBP: each relevant passage adds w, so the maximum makes exactly those with w > 0 relevant."""
    return case.first.scores - case.second.scores + case.per_row(np.maximum(case.weights, 0.0))


def _first_hit(case: Case) -> Scores:
    """Reciprocal rank and success: the score is the largest weight of a relevant passage.

    For any set of passages that become relevant, consider the one with the largest weight in the first run. It alone gives the
    first run the same score, and the second run no higher one. So at most one passage has to become relevant: try each, and
    none.
    """
    first, second = case.first, case.second
    largest = first.scores - second.scores
    tried = [np.maximum(side.scores[case.rows], side.weights) for side in (first, second)]
    np.maximum.at(largest, case.rows, tried[0] - tried[1])
    return largest


def _recall(case: Case) -> Scores:
    """(h + Σ w) / (R + n), h the hits of the first run without those of the second, over n passages that become relevant.

    w is 1, 0 or −1. Because |h + Σ w| ≤ R + n, a passage with w = 1 never lowers the quotient, and one with w = −1 never raises
    it. A passage with w = 0 moves it towards 0: include all of them if the quotient is negative, otherwise none.
    """
    better, even = case.per_row(case.weights > 0), case.per_row(case.weights == 0)
    hits = case.more + better
    relevant = case.asked.counts[case.asked.level][case.turns] + better
    return quotient(hits, relevant + np.where(hits < 0, even, 0))


def _ndcg(case: Case) -> Scores:
    r"""N / D with N = Σ w_i · grade_i + const, linear, and D = ideal DCG, which every new grade enters as well.

    D(x) is the largest of the sums Σ d_r · gain, with d_r = 1/log2(r + 1) within the cutoff and 0 below, over all orders of the
    judged and the new gains x. It is a maximum of linear functions and therefore convex.

    *If N < 0 for all grades.* {x : N/D ≤ λ} = {x : N − λD ≤ 0} is convex for λ ≤ 0. So N/D is quasi-convex on the box [0, G]^u,
    where G is the highest grade, and has its maximum at a corner: every new grade is 0 or G. D depends only on the number of
    grades G. With j of them, the best choice is the j passages with the largest w. That leaves j = 0 … u.

    *Otherwise* the maximum is ≥ 0. For a multiset of new grades, N is largest with the highest grades at the largest w. Write a
    grade as the number of levels t = 1 … G that it reaches. Let n_t be the number of new grades ≥ t, and c_t that of judged
    ones. With T(n) = the sum of the n largest w and S(m) = d_1 + … + d_m, N = const + Σ_t T(n_t) and D = Σ_t S(c_t + n_t),
    under n_1 ≥ n_2 ≥ … . N/D is largest at the λ for which max (N − λD) = 0 (Dinkelbach 1967). For a given λ ≥ 0, every
    level is maximized separately: the step from n to n + 1 changes its term by w_(n+1) − λ d_{c_t + n + 1}, which does not
    grow with t, because c_t does not. So the smallest maximizers automatically satisfy n_1 ≥ n_2 ≥ …, and λ ← N/D of the
    maximizers rises to the maximum in a few rounds and never exceeds it. Levels between two grades that occur have the same
    c_t and are counted together.

    The corners are valid gradings in both cases, and the best of them is negative only in the first one, because the largest N
    is at a corner. So λ starts there, and is improved if it is not negative.

    Passages with w = 0 matter only in D. At most as many as the ideal ranking has ranks can matter; the others are ignored.
    """
    asked, cutoff, highest = case.asked, case.asked.measure.cutoff, case.asked.max_grade
    weights = _descending(case)
    size = asked.judged.shape[1] + weights.shape[1]
    ideal = from_zero(rank_discounts(min(size, cutoff or size))[None, :])[0]
    heights = list(asked.heights.values())
    new = np.arange(weights.shape[1] + 1)
    sums = []
    for level, height in asked.heights.items():
        count = asked.counts[level][case.turns, None] + (new if level <= highest else new[:1])
        sums.append(height * ideal[np.minimum(count, len(ideal) - 1)])

    gained = case.more
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
                choice = np.argmax(
                    height * reached[climbing] - high[climbing, None] * values, axis=1
                )
                numerator = numerator + height * reached[climbing, choice]
            denominator += values[rows, choice]
        better = quotient(numerator, denominator)
        higher = better > high[climbing]
        climbing, better = climbing[higher], better[higher]
        high[climbing] = better
    return high


def _descending(case: Case) -> Scores:
    """Return the w of every row, largest first, padded with −∞: float64[R, longest row]."""
    rows, weights, cutoff = case.rows, case.weights, case.asked.measure.cutoff
    if cutoff:
        kept = weights != 0
        kept[~kept] = _places(rows[~kept]) < cutoff
        rows, weights = rows[kept], weights[kept]
    places = _places(rows)
    table = np.full((len(case.turns), places.max(initial=-1) + 1), np.inf)
    table[rows, places] = -weights
    return np.asarray(-np.sort(table, axis=1))


def _places(rows: Codes) -> Codes:
    """Return 0, 1, 2, … within each group of equal ``rows``, which ascend."""
    return np.arange(len(rows)) - np.searchsorted(rows, rows)


def from_zero(values: np.ndarray) -> np.ndarray:
    """Return cumulative sums along the rows, starting with 0: the value after 0, 1, 2, … ranks."""
    return np.concatenate(
        (np.zeros((len(values), 1), dtype=np.int64), np.cumsum(values, axis=1)), axis=1
    )


#: Family → the function that returns the largest difference of every row; other families have no exact one.
LARGEST: dict[str, Callable[[Case], Scores]] = {
    "P": _total, "rbp": _total, "success": _first_hit, "recip_rank": _first_hit, "recall": _recall, "ndcg": _ndcg,
}  # fmt: skip


#: Families with bounds.
BOUNDED = (*LARGEST, "map")

# ---------------------------------------------------------------- bounds of one run, for average precision
# It is Σ_j j / r_j over the ranks r_1 < r_2 < … of relevant passages, divided by (relevant + x + y), where x and y are the
# numbers of unjudged passages inside and outside the cutoff that become relevant.
#
# With x fixed, moving a relevant passage up to a better free rank lowers some r_j and raises none, so the sum grows. Hence the
# first x unjudged passages give the maximum, the last x the minimum, and x = 0, 1, … are the candidates. y = 0 for the upper
# bound, and all for the lower one. Sums of successive candidates differ by the precision at the new rank and by 1/i for every
# relevant rank i below it, so one cumulative sum gives all candidates.


def highest_precision(top: Top) -> Scores:
    """Return the upper bound of average precision of every turn."""
    unjudged, above = top.grades == UNJUDGED, np.cumsum(top.hits, axis=1, dtype=np.int64)
    added = (above + np.cumsum(unjudged, axis=1)) / top.ranks + _sum_after(top.hits / top.ranks)
    sums = _precisions(top, above) + from_zero(np.where(unjudged, added, 0.0))
    return np.asarray(quotient(sums, top.relevant[:, None] + from_zero(unjudged)).max(axis=1))


def lowest_precision(top: Top, below: Codes) -> Scores:
    """Return the lower bound; ``below`` (int64[T]): number of graded passages outside the cutoff."""
    unjudged, above = top.grades == UNJUDGED, np.cumsum(top.hits, axis=1, dtype=np.int64)
    added = np.where(
        unjudged, (above + 1) / top.ranks + _sum_after((top.hits | unjudged) / top.ranks), 0.0
    )
    sums = _precisions(top, above) + from_zero(added[:, ::-1])
    return np.asarray(
        quotient(sums, (top.relevant + below)[:, None] + from_zero(unjudged[:, ::-1])).min(axis=1)
    )


def _precisions(top: Top, above: Codes) -> Scores:
    """Return float64[T, 1]: the sum of the precision at every relevant rank."""
    return np.asarray(np.where(top.hits, above / top.ranks, 0.0).sum(axis=1)[:, None])


def _sum_after(values: Scores) -> Scores:
    """Return, for each rank, the sum over all deeper ranks."""
    return np.asarray(np.cumsum(values[:, ::-1], axis=1)[:, ::-1] - values)


#: Family → the value of each run that its largest difference requires in addition to the score.
OF_RUN: dict[str, Callable[[Top], Scores]] = {
    "recall": lambda top: top.hits.sum(axis=1).astype(np.float64),
    "ndcg": lambda top: np.maximum(top.grades, 0) @ rank_discounts(top.grades.shape[1]),
    "map": highest_precision,
}  # fmt: skip
