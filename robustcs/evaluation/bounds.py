"""Bounds of scores and of differences of two runs over all grades of the unjudged passages.

Each passage in the ``scope`` could have any whole grade from 0 to ``max_grade``, the same in every run that retrieves it. The
bounds of a turn are the lowest and highest value over all these grades. Scopes:

``cutoff``
    The unjudged passages within the measure's cutoff (of either run): what judging this top k could change.
``run``
    All unjudged passages of the run, or of both. Those below the cutoff still affect the ideal ranking and the number of
    relevant passages.
``pool``
    All unjudged passages of any run under analysis. Those of other runs also affect the ideal ranking and the number of
    relevant passages. Only this scope covers all changes from judging these runs to any depth.

Turns are independent, so the bounds of a mean are the means of the bounds. All bounds are exact, at any cutoff and depth,
except those of differences of average precision. bpref and the judged share have no bounds. Nothing is sampled or enumerated
beyond O(depth) candidates per turn. The proofs are in :mod:`robustcs.evaluation.extremes`.

The bounds of a difference can be much narrower than the bounds of the two runs imply, because a passage has one grade in both
runs. They can also be wider, because a passage that only one run retrieves affects the ideal ranking of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.extremes import (
    BOUNDED,
    LARGEST,
    OF_RUN,
    Asked,
    Case,
    Side,
    lowest_precision,
)
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import NATIVE, Scores, Top, rank_weights, top_of
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Mask

Scope = Literal["cutoff", "run", "pool"]

#: Bounds this close to the score equal it: sums in another order differ in their last bits.
ROUNDING = 1e-12
#: Rank of a passage that the run does not retrieve.
NOT_RETRIEVED = np.iinfo(np.int32).max
#: Turns that are scored together.
_TURNS = 512
#: Turns of pairs, and passages of a first run, that are looked up together.
_ROWS = 16_384
_PASSAGES = 4_000_000


@dataclass(frozen=True)
class Bounds:
    """Bounds of every turn: low ≤ score ≤ high. For pairs, float64[P · T]; the score is the difference.

    ``unjudged``: numbers of unjudged passages in the scope.
    """

    low: Scores
    score: Scores
    high: Scores
    unjudged: Codes


@dataclass(frozen=True, eq=False)
class RunPairs:
    """P pairs of runs on the same T turns and judgments, with the n unjudged passages that either run retrieves.

    runs
        The runs; ``first`` and ``second`` (int64[P]) are indices into them.
    rows
        int64[n], ascending: ``p · T + t``, the pair and the turn of the passage.
    first_ranks, second_ranks
        int32[n]: the rank in each run, from 0, or :data:`NOT_RETRIEVED`.
    elsewhere
        int64[P · T]: number of further unjudged passages of every turn that other runs under analysis retrieve.
    """

    runs: Sequence[GradeMatrix]
    first: Codes
    second: Codes
    rows: Codes
    first_ranks: npt.NDArray[np.int32]
    second_ranks: npt.NDArray[np.int32]
    elsewhere: Codes


def run_pairs(
    runs: Sequence[GradeMatrix], passages: Sequence[Codes], pool: Codes | None = None
) -> Iterator[RunPairs]:
    """Yield all pairs of runs, those of the first run first, in parts to limit memory.

    ``passages`` number the unjudged passages of each matrix, in the order of ``np.nonzero(grades == UNJUDGED)``: equal
    numbers, from 0, are the same passage of the same turn. ``pool`` (int64[T]): the number of unjudged passages that any run
    under analysis retrieves; without it, only those of a pair count.
    """
    turns = len(runs[0].turns) if runs else 0
    starts = np.concatenate(
        ([0], np.cumsum([len(numbers) for numbers in passages], dtype=np.int64))
    )
    places = [np.nonzero(run.grades == UNJUDGED) for run in runs]
    rows = [place[0] for place in places]
    ranks = [place[1].astype(np.int32) for place in places]
    # index of a passage among those of the first run
    place_of = np.full(
        1 + max((int(numbers.max(initial=-1)) for numbers in passages), default=-1),
        -1,
        dtype=np.int32,
    )
    for first in range(len(runs) - 1):
        own = len(passages[first])
        place_of[passages[first]] = np.arange(own, dtype=np.int32)
        step = max(1, min(_ROWS // max(turns, 1), _PASSAGES // max(own, 1)))
        for begin in range(first + 1, len(runs), step):
            end = min(begin + step, len(runs))
            pair = np.repeat(np.arange(end - begin), np.diff(starts[begin : end + 1]))
            place = place_of[np.concatenate(passages[begin:end])]
            shared = place >= 0
            alone = np.ones((end - begin, own), dtype=bool)
            alone[pair[shared], place[shared]] = False
            its_pair, its_place = np.nonzero(alone)
            first_ranks = np.full(len(place), NOT_RETRIEVED, dtype=np.int32)
            first_ranks[shared] = ranks[first][place[shared]]
            found = np.concatenate(
                [
                    pair * turns + np.concatenate(rows[begin:end]),
                    its_pair * turns + rows[first][its_place],
                ]
            )
            order = np.argsort(found, kind="stable")
            count = np.bincount(found, minlength=(end - begin) * turns)
            yield RunPairs(
                runs=runs,
                first=np.full(end - begin, first),
                second=np.arange(begin, end),
                rows=found[order],
                first_ranks=np.concatenate([first_ranks, ranks[first][its_place]])[order],
                second_ranks=np.concatenate(
                    [*ranks[begin:end], np.full(len(its_place), NOT_RETRIEVED, np.int32)]
                )[order],
                elsewhere=np.zeros_like(count)
                if pool is None
                else np.tile(pool, end - begin) - count,
            )
        place_of[passages[first]] = -1


class PairMeasure:
    """A measure on R runs of the same T turns. The inputs of a run for the bounds of pairs are computed once.

    Raises ``ValueError`` for a measure whose family is not :data:`~robustcs.evaluation.extremes.BOUNDED`.
    """

    def __init__(
        self,
        runs: Sequence[GradeMatrix],
        measure: Measure,
        policy: EvaluationPolicy,
        max_grade: int,
        scope: Scope = "cutoff",
    ):
        if measure.family not in BOUNDED:
            raise ValueError(f"no bounds for {measure}")
        self.runs, self.measure, self.policy, self.scope = runs, measure, policy, scope
        self.exact = measure.family in LARGEST
        top = top_of(runs[0], measure, policy)
        self.asked = Asked(measure, top.level, top.persistence, max_grade, runs[0].judged)
        self.scores = self._each(NATIVE[measure.family])
        self.more = self._each(OF_RUN[measure.family]) if measure.family in OF_RUN else self.scores

    def _each(self, value: Callable[[Top], Scores]) -> Scores:
        """Return float64[R, T]: the value of every run and turn, 0 for a run that retrieves nothing."""
        values = np.zeros((len(self.runs), len(self.asked.judged)))
        for own, run in zip(values, self.runs, strict=True):
            for number, block in enumerate(run.blocks(_TURNS) if run.grades.shape[1] else ()):
                own[number * _TURNS :][:_TURNS] = value(top_of(block, self.measure, self.policy))
        return values

    def _graded(self, pairs: RunPairs) -> tuple[Mask, Codes]:
        """Return bool[n]: whether a passage of the pairs gets a grade, and int64[P · T]: the number of others that do."""
        end = (self.measure.cutoff or NOT_RETRIEVED) if self.scope == "cutoff" else NOT_RETRIEVED
        graded = np.minimum(pairs.first_ranks, pairs.second_ranks) < end
        return graded, pairs.elsewhere if self.scope == "pool" else np.zeros_like(pairs.elsewhere)

    def graded(self, pairs: RunPairs) -> Codes:
        """Return int64[P · T]: the number of passages in the scope for every turn of every pair."""
        graded, elsewhere = self._graded(pairs)
        return np.bincount(pairs.rows[graded], minlength=len(elsewhere)) + elsewhere

    def bounds(self, pairs: RunPairs) -> Bounds:
        """Return the bounds of score(first) − score(second) for every turn of every pair: float64[P · T], pair after pair."""
        counts = self.graded(pairs)
        difference = (self.scores[pairs.first] - self.scores[pairs.second]).ravel()
        low, high = self._exact(pairs) if self.exact else self._apart(pairs, counts)
        if self.exact:
            low = np.where(low < difference - ROUNDING, np.maximum(low, -1.0), difference)
            high = np.where(high > difference + ROUNDING, np.minimum(high, 1.0), difference)
        return Bounds(low, difference, high, counts)

    def _exact(self, pairs: RunPairs) -> tuple[Scores, Scores]:
        graded, elsewhere = self._graded(pairs)
        if self.asked.max_grade < (1 if self.measure.family == "ndcg" else self.asked.level):
            graded, elsewhere = np.zeros_like(graded), np.zeros_like(elsewhere)
        depth = max(run.grades.shape[1] for run in self.runs)
        depth = min(depth, self.measure.cutoff or depth)
        weights = np.append(self.asked.weights(depth), 0.0)
        # passages that neither run retrieves have weight 0 in both
        rows = np.append(pairs.rows[graded], np.repeat(np.arange(len(elsewhere)), elsewhere))
        order = np.argsort(rows, kind="stable")
        sides = []
        for run, ranks in ((pairs.first, pairs.first_ranks), (pairs.second, pairs.second_ranks)):
            of_passages = np.append(
                weights[np.minimum(ranks[graded], depth)], np.zeros(int(elsewhere.sum()))
            )
            sides.append(Side(self.scores[run].ravel(), self.more[run].ravel(), of_passages[order]))
        turns = np.tile(np.arange(len(self.asked.judged)), len(pairs.first))
        return Case(self.asked, turns, sides[0], sides[1], rows[order]).ends()

    def _apart(self, pairs: RunPairs, counts: Codes) -> tuple[Scores, Scores]:
        """Return bounds for average precision: lowest − highest and highest − lowest of the two runs.

        No difference lies outside: the bounds of each run cover all grades of its own passages and of those that it does not
        retrieve. ``counts``: the number of passages for every turn of every pair.
        """
        by_pair = counts.reshape(len(pairs.first), -1)
        first, second = (
            np.concatenate(
                [self._ends(run, own) for run, own in zip(side, by_pair, strict=True)], axis=1
            )
            for side in (pairs.first, pairs.second)
        )
        return first[0] - second[1], first[1] - second[0]

    def _ends(self, run: int, graded: Codes) -> Scores:
        """Return float64[2, T]: the bounds of average precision of a run.

        ``graded`` (int64[T]): the number of graded passages of a turn, including those of the run within the cutoff.
        """
        score, high = self.scores[run], self.more[run]
        if self.asked.max_grade < self.asked.level or not self.runs[run].grades.shape[1]:
            return np.stack([score, score])
        low = np.empty_like(score)
        for number, block in enumerate(self.runs[run].blocks(_TURNS)):
            part, top = (
                slice(number * _TURNS, (number + 1) * _TURNS),
                top_of(block, self.measure, self.policy),
            )
            low[part] = lowest_precision(top, graded[part] - (top.grades == UNJUDGED).sum(axis=1))
        low = np.where((graded > 0) & (low < score - ROUNDING), np.maximum(low, 0.0), score)
        return np.stack(
            [low, np.where((graded > 0) & (high > score + ROUNDING), np.minimum(high, 1.0), score)]
        )

    def means(self, pairs: RunPairs) -> Scores:
        """Return float64[3, P]: mean low, difference and high of every pair."""
        found = self.bounds(pairs)
        return np.stack(
            [
                part.reshape(len(pairs.first), -1).mean(axis=1)
                for part in (found.low, found.score, found.high)
            ]
        )


def measure_bounds(
    matrix: GradeMatrix,
    measure: Measure,
    policy: EvaluationPolicy,
    max_grade: int,
    scope: Scope = "cutoff",
    pool: Codes | None = None,
) -> Bounds:
    """Return the bounds of every turn; they equal the score without unjudged passages in the scope.

    ``pool`` (int64[T]): the number of graded passages, including those of the run within the cutoff. The scope ``pool``
    requires it.

    Raises ``ValueError`` for a measure without bounds.
    """
    rows, ranks = np.nonzero(matrix.grades[:, : measure.cutoff] == UNJUDGED)
    inside = np.bincount(rows, minlength=len(matrix.turns))
    if pool is None:
        if scope == "pool":
            raise ValueError("the scope pool requires the number of passages in it")
        pool = (matrix.grades == UNJUDGED).sum(axis=1) if scope == "run" else inside
    # a score is the difference from a run that retrieves nothing
    nothing = replace(matrix, grades=matrix.grades[:, :0])
    lacks = np.full(len(ranks), NOT_RETRIEVED, dtype=np.int32)
    zero = np.zeros(1, dtype=np.int64)
    pair = RunPairs(
        [matrix, nothing], zero, zero + 1, rows, ranks.astype(np.int32), lacks, pool - inside
    )
    found = PairMeasure(pair.runs, measure, policy, max_grade, "pool").bounds(pair)
    return replace(found, low=np.minimum(np.maximum(found.low, 0.0), found.score))


def condensed(matrix: GradeMatrix) -> GradeMatrix:
    """Return the matrix after its unjudged passages are removed from the rankings: the condensed list of Sakai (2007)."""
    gone = matrix.grades == UNJUDGED
    order = np.argsort(gone, axis=1, kind="stable")
    grades = np.take_along_axis(np.where(gone, ABSENT, matrix.grades), order, axis=1)
    return replace(matrix, grades=grades.astype(np.int16))


def rbp_residual(matrix: GradeMatrix, measure: Measure, policy: EvaluationPolicy) -> Scores:
    """Return how much the RBP of every turn could rise (Moffat and Zobel 2008): the weight of the ranks without a grade.

    These are the ranks of unjudged passages and those after the end of the list, down to the cutoff.
    """
    top = top_of(matrix, measure, policy)
    known = (top.grades > UNJUDGED) @ rank_weights(top.persistence, top.grades.shape[1])
    return np.asarray(1 - top.persistence ** (measure.cutoff or np.inf) - known)
