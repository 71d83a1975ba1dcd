"""Bounds of scores and of differences of two runs over all grades of the unjudged passages.

Each passage in the ``scope`` could have any whole grade from 0 to ``max_grade``, the same in every
run that retrieves it. The bounds of a turn are the lowest and highest value over all these grades.
Scopes:

``cutoff``
    The unjudged passages within the measure's cutoff (of either run): what judging this top k could
    change.
``run``
    All unjudged passages of the run, or of both. Those below the cutoff still affect the ideal
    ranking and the number of relevant passages.
``pool``
    All unjudged passages of any run under analysis. Those of other runs also affect the ideal
    ranking and the number of relevant passages. Only this scope covers all changes from judging
    these runs to any depth.

Turns are independent, so the bounds of a mean are the means of the bounds. All bounds are exact, at
any cutoff and depth, except those of differences of average precision. bpref and the judged share
have no bounds. Nothing is sampled or enumerated beyond O(depth) candidates per turn. The proofs are
in :mod:`robustcs.evaluation.extremes` and :mod:`robustcs.evaluation.precision_bounds`.

The bounds of a difference can be much narrower than the bounds of the two runs imply, because a
passage has one grade in both runs. They can also be wider, because a passage that only one run
retrieves affects the ideal ranking of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.extremes import BOUNDED, LARGEST, SUMS, BoundedMeasure, PairRows, Side
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import NATIVE, Scores, Top, rank_weights, top_of
from robustcs.evaluation.precision_bounds import highest_precision, lowest_precision
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Mask

Scope = Literal["cutoff", "run", "pool"]
_Ranks = npt.NDArray[np.int32]

#: Bounds this close to the score equal it: sums in another order differ in their last bits.
ROUNDING = 1e-12
#: Rank of a passage that the run does not retrieve.
NOT_RETRIEVED = np.iinfo(np.int32).max
#: Turns of one run that are scored together.
_TURNS = 512
#: Turns of pairs that are yielded together.
_ROWS = 16_384
#: Passages of the first run, times pairs, that are looked up together.
_PASSAGES = 4_000_000


@dataclass(frozen=True)
class Bounds:
    """Bounds of every turn: low ≤ score ≤ high, float64[T] each.

    For pairs, float64[P · T]; the score is the difference.

    unjudged
        Number of unjudged passages in the scope.
    """

    low: Scores
    score: Scores
    high: Scores
    unjudged: Codes


@dataclass(frozen=True, eq=False)
class RunPairs:
    """P pairs of runs on the same T turns and judgments, with n unjudged passages.

    A passage is listed for every pair of which at least one run retrieves it.

    runs
        The runs; ``first`` and ``second`` (int64[P]) are indices into them.
    rows
        int64[n], ascending: ``p · T + t``, the pair and the turn of the passage.
    first_ranks, second_ranks
        int32[n]: the rank in each run, from 0, or :data:`NOT_RETRIEVED`.
    elsewhere
        int64[P · T]: number of further unjudged passages of every turn that other runs under
        analysis retrieve.
    """

    runs: Sequence[GradeMatrix]
    first: Codes
    second: Codes
    rows: Codes
    first_ranks: _Ranks
    second_ranks: _Ranks
    elsewhere: Codes


class _UnjudgedPassages(NamedTuple):
    """The m unjudged passages of a run.

    numbers
        int64[m]: equal numbers are the same passage of the same turn.
    turns, ranks
        int64[m], int32[m]: the turn of each, and its rank from 0.
    """

    numbers: Codes
    turns: Codes
    ranks: _Ranks

    def __len__(self) -> int:
        return len(self.numbers)


def run_pairs(
    runs: Sequence[GradeMatrix], passages: Sequence[Codes], pool: Codes | None = None
) -> Iterator[RunPairs]:
    """Yield all pairs of runs, those of the first run first, in parts to limit memory.

    ``passages`` number the unjudged passages of each matrix, in the order of
    ``np.nonzero(grades == UNJUDGED)``: equal numbers, from 0, are the same passage of the same
    turn. ``pool`` (int64[T]): the number of unjudged passages that any run under analysis
    retrieves; without it, only those of a pair count.
    """
    turns = len(runs[0].turns) if runs else 0
    unjudged = []
    for run, numbers in zip(runs, passages, strict=True):
        rows, ranks = np.nonzero(run.grades == UNJUDGED)
        unjudged.append(_UnjudgedPassages(numbers, rows, ranks.astype(np.int32)))
    highest = max((int(numbers.max(initial=-1)) for numbers in passages), default=-1)
    # passage number → its index among those of the first run, or -1
    index_in_first = np.full(highest + 1, -1, dtype=np.int32)
    for first in range(len(runs) - 1):
        size = len(unjudged[first])
        index_in_first[passages[first]] = np.arange(size, dtype=np.int32)
        step = max(1, min(_ROWS // max(turns, 1), _PASSAGES // max(size, 1)))
        for begin in range(first + 1, len(runs), step):
            seconds = np.arange(begin, min(begin + step, len(runs)))
            yield _pairs_with(runs, unjudged, first, seconds, index_in_first, pool)
        index_in_first[passages[first]] = -1


def _pairs_with(
    runs: Sequence[GradeMatrix],
    unjudged: Sequence[_UnjudgedPassages],
    first: int,
    seconds: Codes,
    index_in_first: _Ranks,
    pool: Codes | None,
) -> RunPairs:
    """Return the pairs of the run ``first`` with each of ``seconds``.

    ``index_in_first``: passage number → its index among those of the first run, or -1.
    """
    turns, pairs = len(runs[first].turns), len(seconds)
    of_first = unjudged[first]
    of_seconds = [unjudged[second] for second in seconds]
    pair = np.repeat(np.arange(pairs), [len(passages) for passages in of_seconds])
    numbers = np.concatenate([passages.numbers for passages in of_seconds])
    rows = pair * turns + np.concatenate([passages.turns for passages in of_seconds])
    index = index_in_first[numbers]
    shared = index >= 0
    first_ranks = np.full(len(index), NOT_RETRIEVED, dtype=np.int32)
    first_ranks[shared] = of_first.ranks[index[shared]]
    second_ranks = np.concatenate([passages.ranks for passages in of_seconds])

    # passages of the first run alone follow those of the second runs
    only_first = np.ones((pairs, len(of_first)), dtype=bool)
    only_first[pair[shared], index[shared]] = False
    pair_alone, index_alone = np.nonzero(only_first)
    rows = np.concatenate([rows, pair_alone * turns + of_first.turns[index_alone]])
    first_ranks = np.concatenate([first_ranks, of_first.ranks[index_alone]])
    lacks = np.full(len(index_alone), NOT_RETRIEVED, dtype=np.int32)
    second_ranks = np.concatenate([second_ranks, lacks])

    order = np.argsort(rows, kind="stable")
    elsewhere = np.zeros(pairs * turns, dtype=np.int64)
    if pool is not None:
        elsewhere = np.tile(pool, pairs) - np.bincount(rows, minlength=pairs * turns)
    return RunPairs(
        runs=runs,
        first=np.full(pairs, first),
        second=seconds,
        rows=rows[order],
        first_ranks=first_ranks[order],
        second_ranks=second_ranks[order],
        elsewhere=elsewhere,
    )


class PairMeasure:
    """A measure on R runs of the same T turns, to bound the differences of pairs of them.

    What the bounds need of each run is computed once. Raises ``ValueError`` for a measure whose
    family is not in :data:`~robustcs.evaluation.extremes.BOUNDED`.
    """

    def __init__(
        self,
        runs: Sequence[GradeMatrix],
        measure: Measure,
        policy: EvaluationPolicy,
        max_grade: int,
        scope: Scope = "cutoff",
    ):
        family = measure.family
        if family not in BOUNDED:
            raise ValueError(f"no bounds for {measure}")
        self.runs, self.measure, self.policy, self.scope = runs, measure, policy, scope
        top = top_of(runs[0], measure, policy)
        self.bounded = BoundedMeasure(
            measure, top.level, top.persistence, max_grade, runs[0].judged
        )
        self.scores = self._each(NATIVE[family])
        self.exact = family in LARGEST
        if self.exact:
            self._sums = self._each(SUMS[family]) if family in SUMS else self.scores
        else:
            self._highest = self._each(highest_precision)

    def _blocks(self, run: GradeMatrix) -> Iterator[tuple[slice, Top]]:
        """Yield the turns of a run in parts, each with the input of the measure."""
        for number, block in enumerate(run.blocks(_TURNS)):
            turns = slice(number * _TURNS, (number + 1) * _TURNS)
            yield turns, top_of(block, self.measure, self.policy)

    def _each(self, value: Callable[[Top], Scores]) -> Scores:
        """Return float64[R, T]: the ``value`` of every turn; 0 for a run that retrieves nothing."""
        values = np.zeros((len(self.runs), len(self.bounded.judged)))
        for row, run in zip(values, self.runs, strict=True):
            if run.grades.shape[1]:
                for turns, top in self._blocks(run):
                    row[turns] = value(top)
        return values

    def _in_scope(self, pairs: RunPairs) -> tuple[Mask, Codes]:
        """Return which passages of the pairs are in the scope (bool[n]), and how many others are.

        The others, int64[P · T], are retrieved by neither run.
        """
        end = NOT_RETRIEVED
        if self.scope == "cutoff" and self.measure.cutoff:
            end = self.measure.cutoff
        inside = np.minimum(pairs.first_ranks, pairs.second_ranks) < end
        others = pairs.elsewhere if self.scope == "pool" else np.zeros_like(pairs.elsewhere)
        return inside, others

    def graded(self, pairs: RunPairs) -> Codes:
        """Return int64[P · T]: the number of passages in the scope for every turn of every pair."""
        inside, others = self._in_scope(pairs)
        return np.bincount(pairs.rows[inside], minlength=len(others)) + others

    def bounds(self, pairs: RunPairs) -> Bounds:
        """Return the bounds of score(first) − score(second) for every turn of every pair.

        All are float64[P · T], pair after pair.
        """
        counts = self.graded(pairs)
        difference = (self.scores[pairs.first] - self.scores[pairs.second]).ravel()
        if self.exact:
            low, high = self._exact(pairs)
            low = _settled_low(low, difference, -1.0)
            high = _settled_high(high, difference, 1.0)
        else:
            low, high = self._apart(pairs, counts)
        return Bounds(low, difference, high, counts)

    def _exact(self, pairs: RunPairs) -> tuple[Scores, Scores]:
        """Return the smallest and the largest difference: float64[P · T] each."""
        inside, others = self._in_scope(pairs)
        least = 1 if self.measure.family == "ndcg" else self.bounded.level
        if self.bounded.max_grade < least:  # no passage can change a score
            inside, others = np.zeros_like(inside), np.zeros_like(others)
        # passages that neither run retrieves follow, with weight 0 in both
        rows = np.append(pairs.rows[inside], np.repeat(np.arange(len(others)), others))
        order = np.argsort(rows, kind="stable")

        depth = max(run.grades.shape[1] for run in self.runs)
        depth = min(depth, self.measure.cutoff or depth)
        weights = np.append(self.bounded.weights(depth), 0.0)  # 0 for all deeper ranks
        sides = []
        for runs, ranks in ((pairs.first, pairs.first_ranks), (pairs.second, pairs.second_ranks)):
            retrieved = weights[np.minimum(ranks[inside], depth)]
            of_passages = np.append(retrieved, np.zeros(int(others.sum())))[order]
            sides.append(Side(self.scores[runs].ravel(), self._sums[runs].ravel(), of_passages))
        turns = np.tile(np.arange(len(self.bounded.judged)), len(pairs.first))
        return PairRows(self.bounded, turns, sides[0], sides[1], rows[order]).ends()

    def _apart(self, pairs: RunPairs, counts: Codes) -> tuple[Scores, Scores]:
        """Return bounds for average precision: lowest − highest and highest − lowest of both runs.

        No difference lies outside: the bounds of each run cover all grades of its own passages and
        of those that it does not retrieve. ``counts``: the number of passages for every turn of
        every pair.
        """
        lows, highs = [], []
        counts_of_pair = counts.reshape(len(pairs.first), -1)
        for first, second, graded in zip(pairs.first, pairs.second, counts_of_pair, strict=True):
            first_low, first_high = self._precision_ends(first, graded)
            second_low, second_high = self._precision_ends(second, graded)
            lows.append(first_low - second_high)
            highs.append(first_high - second_low)
        return np.concatenate(lows), np.concatenate(highs)

    def _precision_ends(self, run: int, graded: Codes) -> tuple[Scores, Scores]:
        """Return the lowest and highest average precision of a run: float64[T] each.

        ``graded`` (int64[T]): the number of graded passages of a turn, including those of the run
        within the cutoff.
        """
        score, matrix = self.scores[run], self.runs[run]
        if self.bounded.max_grade < self.bounded.level or not matrix.grades.shape[1]:
            return score, score
        low = np.empty_like(score)
        for turns, top in self._blocks(matrix):
            inside = (top.grades == UNJUDGED).sum(axis=1)
            low[turns] = lowest_precision(top, graded[turns] - inside)
        low = _settled_low(low, score, 0.0)
        high = _settled_high(self._highest[run], score, 1.0)
        return np.where(graded > 0, low, score), np.where(graded > 0, high, score)

    def means(self, pairs: RunPairs) -> Scores:
        """Return float64[3, P]: mean low, difference and high of every pair."""
        bounds = self.bounds(pairs)
        by_turn = np.stack([bounds.low, bounds.score, bounds.high])
        return np.asarray(by_turn.reshape(3, len(pairs.first), -1).mean(axis=2))


def _settled_low(low: Scores, score: Scores, least: float) -> Scores:
    """Return lower bounds of at least ``least``; the score if they are within :data:`ROUNDING`."""
    return np.where(low < score - ROUNDING, np.maximum(low, least), score)


def _settled_high(high: Scores, score: Scores, most: float) -> Scores:
    """Return upper bounds of at most ``most``; the score if they are within :data:`ROUNDING`."""
    return np.where(high > score + ROUNDING, np.minimum(high, most), score)


def measure_bounds(
    matrix: GradeMatrix,
    measure: Measure,
    policy: EvaluationPolicy,
    max_grade: int,
    scope: Scope = "cutoff",
    pool: Codes | None = None,
) -> Bounds:
    """Return the bounds of every turn; they equal the score without unjudged passages in the scope.

    ``pool`` (int64[T]): the number of graded passages, including those of the run within the
    cutoff. The scope ``pool`` requires it.

    Raises ``ValueError`` for a measure without bounds, and for the scope ``pool`` without ``pool``.
    """
    rows, ranks = np.nonzero(matrix.grades[:, : measure.cutoff] == UNJUDGED)
    inside = np.bincount(rows, minlength=len(matrix.turns))
    graded = pool
    if graded is None:
        if scope == "pool":
            raise ValueError("the scope pool requires the number of passages in it")
        graded = inside
        if scope == "run":
            graded = (matrix.grades == UNJUDGED).sum(axis=1)
    # a score is the difference from a run that retrieves nothing
    nothing = replace(matrix, grades=matrix.grades[:, :0])
    pair = RunPairs(
        runs=[matrix, nothing],
        first=np.array([0]),
        second=np.array([1]),
        rows=rows,
        first_ranks=ranks.astype(np.int32),
        second_ranks=np.full(len(ranks), NOT_RETRIEVED, dtype=np.int32),
        elsewhere=graded - inside,
    )
    # passages below the cutoff count like those of other runs: hence the scope
    bounds = PairMeasure(pair.runs, measure, policy, max_grade, "pool").bounds(pair)
    return replace(bounds, low=np.minimum(np.maximum(bounds.low, 0.0), bounds.score))


def condensed(matrix: GradeMatrix) -> GradeMatrix:
    """Return the matrix with unjudged passages removed from the rankings.

    This is the condensed list of Sakai (2007).
    """
    unjudged = matrix.grades == UNJUDGED
    judged_first = np.argsort(unjudged, axis=1, kind="stable")
    grades = np.where(unjudged, ABSENT, matrix.grades)
    grades = np.take_along_axis(grades, judged_first, axis=1)
    return replace(matrix, grades=grades.astype(np.int16))


def rbp_residual(matrix: GradeMatrix, measure: Measure, policy: EvaluationPolicy) -> Scores:
    """Return float64[T]: how much the RBP of every turn could rise (Moffat and Zobel 2008).

    This is the weight of the ranks without a grade: those of unjudged passages and those after the
    end of the list, down to the cutoff.
    """
    top = top_of(matrix, measure, policy)
    weights = rank_weights(top.persistence, top.grades.shape[1])
    graded = (top.grades > UNJUDGED) @ weights
    every_rank = 1.0  # the sum of the weights down to the cutoff
    if measure.cutoff is not None:
        every_rank = 1 - top.persistence**measure.cutoff
    return np.asarray(every_rank - graded)
