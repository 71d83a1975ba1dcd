"""How far a score could move: the lowest and the highest value that grades of unjudged passages could give.

A turn has unjudged passages in its ranking; each could be given any whole grade from 0 to ``max_grade``. All of a turn's
passages that a ``scope`` names are graded at once, and the interval of the turn goes from the lowest to the highest score
among all these ways of grading and the score as the judgments stand (which only bpref and ``judged`` tell apart from
"everything is 0"). Scopes:

``cutoff``
    The unjudged passages inside the measure's cut-off: what judging this top k could change.
``run``
    All unjudged passages of the run. Those below the cut-off still enter the ideal ranking and the number of relevant
    passages.
``pool``
    All unjudged passages of any run under analysis. Those that other runs retrieve enter the ideal ranking and the number of
    relevant passages too, so this is what judging these runs could change, however deep; the other scopes are not.

Turns do not touch each other, so the interval of a mean is the mean of the ends. Every interval is exact, at any cut-off
and depth, but that of bpref where passages are graded that the run does not retrieve; nothing is sampled or enumerated beyond
O(depth) candidates a turn. The arguments stand at the functions. Intervals of two runs say little about their difference:
:mod:`robustcs.evaluation.pair_bounds` has that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import RBP_PERSISTENCE, Measure
from robustcs.evaluation.measures import NATIVE, Scores
from robustcs.policy import EvaluationPolicy

Scope = Literal["cutoff", "run", "pool"]
Ends = tuple[Scores, Scores]

#: Ends as near as this to the score are the score: sums in another order differ in the last bits.
ROUNDING = 1e-12
#: Turns worked on at a time, so that memory stays bounded.
BLOCK = 256


@dataclass(frozen=True)
class Bounds:
    """float64[T] each, low ≤ score ≤ high; ``unjudged`` (int64[T]) counts the turn's unjudged passages in the scope."""

    low: Scores
    score: Scores
    high: Scores
    unjudged: npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Case:
    """What is asked of one block of turns.

    ``top`` is the block's grades inside the cut-off, ``below`` (int64[T]) the number of graded passages that are not there.
    """

    matrix: GradeMatrix
    measure: Measure
    level: int
    max_grade: int
    below: npt.NDArray[np.int64]

    @property
    def top(self) -> npt.NDArray[np.int16]:
        return self.matrix.grades[:, : self.measure.cutoff]

    @property
    def unjudged(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.top == UNJUDGED)

    @property
    def can_be_relevant(self) -> bool:
        return self.max_grade >= self.level

    @property
    def relevant(self) -> npt.NDArray[np.int64]:
        """Relevant passages among the judged ones, retrieved or not."""
        return np.asarray((self.matrix.judged >= self.level).sum(axis=1))

    def score(self, matrix: GradeMatrix) -> Scores:
        persistence = RBP_PERSISTENCE if self.measure.persistence is None else self.measure.persistence
        return NATIVE[self.measure.family](matrix, self.level, self.measure.cutoff, persistence)


def measure_bounds(
    matrix: GradeMatrix,
    measure: Measure,
    policy: EvaluationPolicy,
    max_grade: int,
    scope: Scope = "cutoff",
    outside: npt.NDArray[np.int64] | None = None,
) -> Bounds:
    """The interval of every turn, for a native measure. A turn without unjudged passages in the scope is a point.

    ``outside`` (int64[T]) says how many passages are graded besides those inside the cut-off, where others than those of the
    run are, such as the passages of another run: :func:`outside_of` counts them for the scope ``pool``, which needs them. bpref
    is the one measure whose interval is then not exact but too wide.

    Raises ``ValueError`` for a measure that the matrix does not serve itself.
    """
    if measure.family not in _ENDS:
        raise ValueError(f"no bounds for {measure}")
    level = policy.relevance_level if measure.level is None else measure.level
    if outside is None:
        if scope == "pool":
            raise ValueError("the scope pool needs the number of passages outside")
        below = matrix.grades[:, measure.cutoff :] if scope == "run" and measure.cutoff else matrix.grades[:, :0]
        outside = np.asarray((below == UNJUDGED).sum(axis=1))
    parts = [
        _block_bounds(_Case(block, measure, level, max_grade, outside[number * BLOCK :][:BLOCK]))
        for number, block in enumerate(matrix.blocks(BLOCK))
    ]
    return Bounds(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def bounds_by_outside(
    matrix: GradeMatrix, measure: Measure, policy: EvaluationPolicy, max_grade: int, graded: npt.NDArray[np.int64]
) -> Ends:
    """Lowest and highest score of average precision or bpref for each of E numbers of graded passages: float64[T, E] each.

    ``graded`` (int64[T, E]) counts a turn's graded passages, those of the run inside the cut-off among them. The same as
    :func:`measure_bounds` with :func:`outside_of` E times, but what the numbers do not change is computed once.
    """
    level = policy.relevance_level if measure.level is None else measure.level
    parts = []
    for number, block in enumerate(matrix.blocks(BLOCK)):
        asked = graded[number * BLOCK :][:BLOCK]
        unjudged = (block.grades[:, : measure.cutoff] == UNJUDGED).sum(axis=1)[:, None]
        case = _Case(block, measure, level, max_grade, asked - unjudged)
        if measure.family == "map":
            sums, counts, best = _precision_sums(case)
            lowest = [quotient(sums, counts + below[:, None]).min(axis=1) for below in (case.below * case.can_be_relevant).T]
            low, high = np.stack(lowest, axis=1), np.broadcast_to(best[:, None], asked.shape)
        else:
            low, high = _bpref(case)
        score = case.score(block)[:, None]
        low = np.where((asked > 0) & (low < score - ROUNDING), np.maximum(low, 0.0), score)
        parts.append((low, np.where((asked > 0) & (high > score + ROUNDING), np.minimum(high, 1.0), score)))
    low, high = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return low, high


def outside_of(matrix: GradeMatrix, measure: Measure, graded: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """int64[T]: of ``graded`` passages of every turn, those that do not stand inside the measure's cut-off."""
    return np.asarray(graded - (matrix.grades[:, : measure.cutoff] == UNJUDGED).sum(axis=1))


def _block_bounds(case: _Case) -> tuple[Scores, Scores, Scores, npt.NDArray[np.int64]]:
    score = case.score(case.matrix)
    unjudged = case.unjudged.sum(axis=1) + case.below
    low, high = _ENDS[case.measure.family](case)
    low = np.where((unjudged > 0) & (low < score - ROUNDING), np.maximum(low, 0.0), score)
    high = np.where((unjudged > 0) & (high > score + ROUNDING), np.minimum(high, 1.0), score)
    return low, score, high, unjudged


def _monotone(case: _Case) -> Ends:
    """P, success, reciprocal rank, RBP, judged: raising a grade never lowers them, and what is below the cut-off is not
    seen. So all 0 (the score as it is) and all ``max_grade`` are the ends.
    """
    grades = np.where(case.matrix.grades == UNJUDGED, case.max_grade, case.matrix.grades)
    return case.score(case.matrix), case.score(replace(case.matrix, grades=grades))


def _recall(case: _Case) -> Ends:
    """(hits + x) / (relevant + x + y), x and y the unjudged passages above and below the cut-off that turn out relevant.

    It grows with x, since hits ≤ relevant, and falls with y: x = 0 and y = all is the low end, x = all and y = 0 the high.
    """
    hits = (case.top >= case.level).sum(axis=1)
    inside = case.unjudged.sum(axis=1) * case.can_be_relevant
    low = quotient(hits, case.relevant + case.below * case.can_be_relevant)
    return low, quotient(hits + inside, case.relevant + inside)


def _precision_sums(case: _Case) -> tuple[Scores, npt.NDArray[np.int64], Scores]:
    """Average precision: what the low end is the least quotient of, without y, and the high end.

    It is Σ_j j / r_j over the ranks r_1 < r_2 < … of relevant passages, divided by (relevant + x + y) as in :func:`_recall`.

    With x fixed, moving a relevant passage up to a better free rank lowers some r_j and raises none, so the sum grows: the
    first x unjudged passages give the most, the last x the least, and x = 0, 1, … are all candidates. y = 0 for the high
    end, all for the low one. Sums of successive candidates differ by the precision at the new rank and by 1/i for every
    relevant rank i below it, which makes all candidates one cumulative sum.
    """
    relevant, unjudged = case.top >= case.level, case.unjudged & case.can_be_relevant
    ranks = np.arange(1, relevant.shape[1] + 1)
    above = np.cumsum(relevant, axis=1)
    first = np.cumsum(unjudged, axis=1)
    base = np.where(relevant, above / ranks, 0.0).sum(axis=1)[:, None]
    known = case.relevant[:, None]

    added = np.where(unjudged, (above + first) / ranks + _sum_after(relevant / ranks), 0.0)
    high = quotient(base + from_zero(added), known + from_zero(unjudged)).max(axis=1)

    added = np.where(unjudged, (above + 1) / ranks + _sum_after((relevant | unjudged) / ranks), 0.0)
    return base + from_zero(added[:, ::-1]), known + from_zero(unjudged[:, ::-1]), high


def _average_precision(case: _Case) -> Ends:
    """See :func:`_precision_sums`."""
    sums, counts, high = _precision_sums(case)
    return quotient(sums, counts + (case.below * case.can_be_relevant)[:, None]).min(axis=1), high


def _ndcg(case: _Case) -> Ends:
    r"""DCG / ideal DCG, where every new grade enters the ideal ranking as well.

    Let d_r = 1/log2(r + 1) inside the cut-off K and 0 below, x the gains of the unjudged passages. N(x) = DCG is linear in
    x. D(x) = ideal DCG is the largest of the sums Σ d_r · gain over all orders of the judged and the new gains: a maximum
    of linear functions, so convex.

    *Low end.* {x : N/D ≥ λ} = {x : N − λD ≥ 0} is convex for λ ≥ 0, so N/D is quasi-concave on the box [0, G]^u, G being
    the highest grade, and takes its minimum at a corner: every new grade is 0 or G. D depends only on how many are G, so
    with j of them they stand at the last j unjudged ranks. That leaves j = 0 … u. Passages below the cut-off are in D only:
    all G.

    *High end.* Passages below the cut-off: all 0. For a multiset of new grades N is largest with the highest grades at the
    best unjudged ranks. Write a grade as the number of levels t = 1 … G that it reaches, and n_t for the number of new
    grades ≥ t, c_t for that of judged ones. With T(n) = the sum of d over the first n unjudged ranks and S(m) =
    d_1 + … + d_m, N = const + Σ_t T(n_t) and D = Σ_t S(c_t + n_t), under n_1 ≥ n_2 ≥ … . N/D is largest at the λ at which
    max (N − λD) = 0 (Dinkelbach 1967). For a given λ every level is maximised on its own: the step from n to n + 1
    changes its term by d_{rank of the (n+1)-th} − λ d_{c_t + n + 1}, which does not grow with t, because c_t does not. So
    the smallest maximisers fulfil n_1 ≥ n_2 ≥ … by themselves, the maximum over free n_t is the one sought, and λ ← N/D
    of the maximisers climbs to it in a few rounds and never beyond.

    Levels between two grades that occur have the same c_t and are counted together.
    """
    top, unjudged, judged = case.top, case.unjudged, case.matrix.judged
    size = judged.shape[1] + top.shape[1] + int(case.below.max(initial=0))
    ideal = from_zero(rank_discounts(min(size, case.measure.cutoff or size))[None, :])[0]
    discounts = rank_discounts(top.shape[1])
    gained = np.maximum(top, 0) @ discounts
    levels, heights = grade_levels(judged, case.max_grade)
    counts = [(judged >= level).sum(axis=1)[:, None] for level in levels]

    def best(count: npt.NDArray[Any]) -> Scores:
        return np.asarray(ideal[np.minimum(count, len(ideal) - 1)])

    last = unjudged[:, ::-1]
    new = from_zero(last) + case.below[:, None]
    ideal_gain = np.zeros(new.shape)
    for level, height, count in zip(levels, heights, counts, strict=True):
        ideal_gain += height * best(count + new if level <= case.max_grade else count)
    gain = gained[:, None] + case.max_grade * from_zero(last * discounts[::-1])
    low = quotient(gain, ideal_gain).min(axis=1)

    first, reached = from_zero(unjudged), from_zero(unjudged * discounts)
    rows = np.arange(len(top))
    high = np.zeros(len(top))
    while True:
        numerator, denominator = gained.copy(), np.zeros(len(top))
        for level, height, count in zip(levels, heights, counts, strict=True):
            if level <= case.max_grade:
                sums = best(count + first)
                choice = np.argmax(reached - high[:, None] * sums, axis=1)
                numerator += height * reached[rows, choice]
                denominator += height * sums[rows, choice]
            else:
                denominator += height * best(count)[:, 0]
        better = quotient(numerator, denominator)
        if not (better > high).any():
            return low, high
        high = np.maximum(high, better)


def _bpref(case: _Case) -> Ends:
    """bpref passes over unjudged passages; once they are graded, R relevant and N others are known and none is passed over.

    As no more than N stand above a passage, its penalty min(non-relevant above, R) / min(R, N) is min(non-relevant above, B)
    / B with B = min(R, N). With x relevant ones among the u new grades R and N are fixed. Exchanging a relevant passage with
    another one above it that is not lowers the number of non-relevant passages above it and above those between, and raises
    none: the first x unjudged ranks give the most, the last x the least. The sum over relevant ranks of min(non-relevant
    above, B) for every x comes from cumulative sums, because these numbers do not fall along the ranking.

    Of e passages outside the ranking any number z may be relevant: R grows by z, N by e − z. The penalties fall with B, so
    the largest B and the smallest R together are never below the highest value, the smallest B and the largest R together
    never above the lowest.
    """
    below = case.below.reshape(len(case.matrix.turns), -1)
    low, high = np.ones(below.shape), np.zeros(below.shape)
    nonrelevant = ((case.matrix.judged >= 0) & (case.matrix.judged < case.level)).sum(axis=1)
    relevant = case.relevant
    for row in np.flatnonzero(case.unjudged.any(axis=1) | (below > 0).any(axis=1)):
        numbers, each = np.unique(below[row], return_inverse=True)
        ends = _bpref_of_turn(case, case.top[row], int(relevant[row]), int(nonrelevant[row]), numbers[:, None])
        low[row], high[row] = ends[0][each], ends[1][each]
    return low.reshape(case.below.shape), high.reshape(case.below.shape)


def _bpref_of_turn(
    case: _Case, grades: npt.NDArray[np.int16], relevant: int, nonrelevant: int, outside: npt.NDArray[np.int64]
) -> Ends:
    """Both ends for every number of passages outside (int64[E, 1])."""
    unjudged, hit = grades == UNJUDGED, grades >= case.level
    count = int(unjudged.sum())
    others = np.cumsum((grades >= 0) & ~hit)
    passed = np.cumsum(unjudged)
    x = np.arange(count + 1) if case.can_be_relevant else np.zeros(1, dtype=np.int64)
    y = count - x
    fewest, others_most = relevant + x, nonrelevant + y + outside
    either_way = outside * case.can_be_relevant
    most, others_fewest = fewest + either_way, others_most - either_way
    # a bound of 0 has nothing to divide: without others nothing stands above, without relevant ones nothing is added up
    small = np.maximum(np.minimum(fewest, others_fewest), 1)
    large = np.maximum(np.minimum(np.minimum(most, others_most), (fewest + others_most) // 2), 1)

    def total(
        values: npt.NDArray[Any],
        start: npt.NDArray[Any],
        end: npt.NDArray[Any],
        more: npt.NDArray[Any],
        bound: npt.NDArray[Any],
    ) -> Any:
        """Σ min(values + more, bound) / bound over start:end, for every x; values do not fall."""
        sums = np.concatenate(([0], np.cumsum(values)))
        full = np.clip(np.searchsorted(values, bound - more, side="right"), start, end)
        return (sums[full] - sums[start] + more * (full - start)) / bound + (end - full)

    either = hit | unjudged
    known_others, known_passed = others[hit], passed[hit]
    nothing, size = np.zeros_like(x), np.full_like(x, either.sum())
    # above: ranks whose unjudged passages above are all relevant (high) or all non-relevant (low)
    split, known_split = (np.searchsorted(place, x, side="right") for place in (passed[either], known_passed))
    least_passed = total(others[either], nothing, split, nothing, large)
    least_passed = least_passed + total(known_others + known_passed, known_split, np.full_like(x, hit.sum()), -x, large)
    split, known_split = (np.searchsorted(place, y, side="right") for place in (passed[either], known_passed))
    most_passed = total(known_others + known_passed, nothing, known_split, nothing, small)
    most_passed = most_passed + total(others[either], split, size, y, small)
    low, high = quotient(hit.sum() + x - most_passed, most), quotient(hit.sum() + x - least_passed, fewest)
    return low.min(axis=1), high.max(axis=1)


_ENDS: dict[str, Callable[[_Case], Ends]] = {
    "P": _monotone, "success": _monotone, "recip_rank": _monotone, "rbp": _monotone, "judged": _monotone,
    "recall": _recall, "map": _average_precision, "ndcg": _ndcg, "bpref": _bpref,
}  # fmt: skip


def rank_discounts(size: int) -> Scores:
    """What a gain at ranks 1 to ``size`` counts in DCG: 1 / log2(rank + 1)."""
    return np.asarray(1.0 / np.log2(np.arange(2, size + 2)))


def grade_levels(judged: npt.NDArray[np.int16], max_grade: int) -> tuple[list[int], list[int]]:
    """The positive grades that occur, ascending, and the distance of each from the one before it (from 0)."""
    grades = sorted({int(grade) for grade in np.unique(judged) if grade > 0} | ({max_grade} if max_grade > 0 else set()))
    return grades, [grade - before for grade, before in zip(grades, [0, *grades], strict=False)]


def from_zero(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Cumulative sums along the rows with a 0 in front: the value after 0, 1, 2, … ranks."""
    return np.concatenate((np.zeros((len(values), 1), dtype=np.int64), np.cumsum(values, axis=1)), axis=1)


def _sum_after(values: npt.NDArray[np.float64]) -> Scores:
    """Per rank the sum over all lower ranks."""
    reverse = np.cumsum(values[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(reverse - values)


def quotient(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> Scores:
    """0 where there is nothing to divide by, as trec_eval scores such turns."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.zeros(numerator.shape)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def condensed(matrix: GradeMatrix) -> GradeMatrix:
    """The matrix without its unjudged passages, everything below moved up: the condensed list of Sakai (2007)."""
    gone = matrix.grades == UNJUDGED
    order = np.argsort(gone, axis=1, kind="stable")
    grades = np.take_along_axis(np.where(gone, ABSENT, matrix.grades), order, axis=1)
    return replace(matrix, grades=grades.astype(np.int16))


def rbp_residual(matrix: GradeMatrix, persistence: float = RBP_PERSISTENCE) -> tuple[Scores, Scores]:
    """The weight in rank-biased precision of the unjudged passages, and of all ranks below the end of the list.

    float64[T] each, 0 to 1. Their sum is the residual of Moffat & Zobel (2008): RBP lies between the score and the score
    plus the residual, whatever stands at those ranks.
    """
    weights = (1 - persistence) * persistence ** np.arange(matrix.grades.shape[1])
    return np.asarray((matrix.grades == UNJUDGED) @ weights), np.asarray(persistence**matrix.retrieved)
