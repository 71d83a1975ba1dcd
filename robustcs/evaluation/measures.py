"""Evaluation measures on the grade matrix, equal to trec_eval.

Their names are in :mod:`robustcs.evaluation.measure`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix, Grades
from robustcs.evaluation.measure import (
    GEOMETRIC,
    RBP_PERSISTENCE,
    TOTAL,
    Measure,
    trec_eval_request,
)
from robustcs.inputs.ids import MAX_GRADE
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Mask, places_within, quotient

Scores = np.ndarray[Any, np.dtype[np.float64]]

#: Cells of a matrix that are evaluated together, which limits memory to a few MB.
_CELLS = 128_000
#: Ranks that are summed faster column by column.
_NARROW = 16
#: Logarithm of the least score that geometric means of trec_eval distinguish from 0.
_LEAST_LOGARITHM = math.log(1e-5)


@dataclass(frozen=True, eq=False)
class Top:
    """Input of a measure: the grades within its cutoff, and its parameters.

    level
        Lowest relevant grade.
    persistence
        p of rank-biased precision.
    """

    matrix: GradeMatrix
    cutoff: int | None
    level: int
    persistence: float

    @property
    def grades(self) -> Grades:
        """int16[T, k]: the grades within the cutoff."""
        return self.matrix.grades[:, : self.cutoff]

    @cached_property
    def hits(self) -> Mask:
        """bool[T, k]: whether the passage at this rank is relevant."""
        return np.asarray(self.grades >= self.level)

    @property
    def ranks(self) -> Codes:
        """int64[k]: 1 … k."""
        return np.arange(1, self.grades.shape[1] + 1)

    @property
    def relevant(self) -> Codes:
        """int64[T]: number of relevant passages among the judged ones, retrieved or not."""
        # sums of int32 are twice as fast
        return np.asarray((self.matrix.judged >= self.level).sum(axis=1, dtype=np.int32), np.int64)


def top_of(matrix: GradeMatrix, measure: Measure, policy: EvaluationPolicy) -> Top:
    """Return the input of ``measure`` from a matrix."""
    level = policy.relevance_level if measure.level is None else measure.level
    persistence = RBP_PERSISTENCE if measure.persistence is None else measure.persistence
    return Top(matrix, measure.cutoff, level, persistence)


def rank_discounts(size: int) -> Scores:
    """Return the weights of gains at ranks 1 to ``size`` in DCG: 1 / log2(rank + 1)."""
    return np.asarray(1.0 / np.log2(np.arange(2, size + 2)))


def rank_weights(persistence: float, size: int) -> Scores:
    """Return the weights of relevant passages at ranks 1 to ``size`` in RBP.

    These are (1 − p) · p^(rank − 1).
    """
    return np.asarray((1 - persistence) * persistence ** np.arange(size))


# The functions of the families return one score per turn, float64[T]: see NATIVE.


def _precision(top: Top) -> Scores:
    return np.asarray(top.hits.sum(axis=1) / top.cutoff)


def _recall(top: Top) -> Scores:
    return quotient(top.hits.sum(axis=1), top.relevant)


def _success(top: Top) -> Scores:
    return np.asarray(top.hits.any(axis=1), np.float64)


def _reciprocal_rank(top: Top) -> Scores:
    return np.asarray(np.multiply(top.hits, 1 / top.ranks).max(axis=1, initial=0.0))


def _average_precision(top: Top) -> Scores:
    # relevant passages are few: only their ranks are looked at
    depth = max(top.hits.shape[1], 1)
    turns, places = np.divmod(np.flatnonzero(top.hits), depth)  # faster than nonzero
    hits_of_turn = np.bincount(turns, minlength=len(top.hits))
    precisions = (places_within(hits_of_turn) + 1) / (places + 1)
    return quotient(np.bincount(turns, precisions, len(hits_of_turn)), top.relevant)


def _ndcg(top: Top) -> Scores:
    return quotient(_dcg(top.grades), _dcg(top.matrix.judged[:, : top.cutoff]))


def _dcg(grades: Grades) -> Scores:
    """Return the discounted gain of every turn.

    It is summed rank by rank as in trec_eval, so that an ideal ranking scores exactly 1.
    """
    discounts = np.log2(np.arange(2, grades.shape[1] + 2))
    if len(discounts) > _NARROW:
        sums = np.cumsum(np.maximum(grades, 0) / discounts, axis=1)
        return np.asarray(sums[:, -1])
    dcg = np.zeros(len(grades))
    for gains, discount in zip(grades.T, discounts, strict=True):
        dcg += np.maximum(gains, 0) / discount
    return dcg


def _bpref(top: Top) -> Scores:
    # here, trec_eval treats a grade below 0 as unjudged
    judged, relevant = top.matrix.judged, top.relevant
    nonrelevant = ((judged >= 0) & (judged < top.level)).sum(axis=1)
    nonrelevant_hits = (top.grades >= 0) & ~top.hits
    above = np.minimum(np.cumsum(nonrelevant_hits, axis=1), relevant[:, None])
    penalty = quotient(above, np.minimum(relevant, nonrelevant)[:, None])
    return quotient(np.where(top.hits, 1.0 - penalty, 0.0).sum(axis=1), relevant)


def _rank_biased_precision(top: Top) -> Scores:
    # after Moffat and Zobel (2008)
    return np.asarray(top.hits @ rank_weights(top.persistence, top.hits.shape[1]))


def _judged_share(top: Top) -> Scores:
    # of the passages retrieved within the cutoff
    judged = (top.grades > UNJUDGED).sum(axis=1)
    return quotient(judged, (top.grades > ABSENT).sum(axis=1))


def _unjudged_share(top: Top) -> Scores:
    # trec_eval treats a grade below 0 as unjudged, and divides by the cutoff even if fewer passages
    # were retrieved
    unjudged = (top.grades > ABSENT) & (top.grades < 0)
    return np.asarray(unjudged.sum(axis=1) / top.cutoff)


#: Family → function that returns one score per turn, 0 to 1, or 0 if there is nothing to divide by.
#: rbp and judged are not in trec_eval; the others equal its scores.
NATIVE: dict[str, Callable[[Top], Scores]] = {
    "P": _precision,
    "recall": _recall,
    "success": _success,
    "recip_rank": _reciprocal_rank,
    "map": _average_precision,
    "ndcg": _ndcg,
    "bpref": _bpref,
    "rbp": _rank_biased_precision,
    "judged": _judged_share,
}
#: These, and a count of judgments for which bounds under missing judgments make no sense.
_ON_MATRIX: dict[str, Callable[[Top], Scores]] = {**NATIVE, "unj": _unjudged_share}


def score_columns(
    matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy
) -> dict[str, Scores]:
    """Return scores of every judged turn: measure name → float64[T].

    They are in the order of ``measures`` and of the matrix's turns. A turn that the run misses, or
    without relevant passages, scores 0. Native measures equal trec_eval's to 1e-9.
    """
    on_matrix = [measure for measure in measures if measure.family in _ON_MATRIX]
    parts: dict[str, list[Scores]] = {measure.name: [] for measure in on_matrix}
    width = max(matrix.grades.shape[1], matrix.judged.shape[1], 1)
    for block in matrix.blocks(max(1, _CELLS // width)):
        for measure in on_matrix:
            scores = _ON_MATRIX[measure.family](top_of(block, measure, policy))
            parts[measure.name].append(scores)
    columns = {name: np.concatenate(scores) for name, scores in parts.items()}
    foreign = [measure for measure in measures if measure.family == "trec_eval"]
    if foreign:
        columns |= evaluate_with_trec_eval(matrix, foreign, policy)
    return {measure.name: columns[measure.name] for measure in measures}


class TurnScores(dict[str, Scores]):
    """Scores of a system on T turns: measure → float64[T].

    A dictionary, because importing pandas would take longer than evaluating 500 turns.
    """

    def __init__(self, turns: Iterable[str], scores: Mapping[str, Scores]) -> None:
        super().__init__(scores)
        self.turns = tuple(turns)

    @classmethod
    def of(cls, frame: pd.DataFrame) -> TurnScores:
        """Return the scores of a float frame, turns × measures."""
        columns = {str(metric): scores.to_numpy(np.float64) for metric, scores in frame.items()}
        return cls(frame.index, columns)

    def frame(self) -> pd.DataFrame:
        """Return the scores as a float frame, turns × measures."""
        return pd.DataFrame(self, index=pd.Index(self.turns, name="turn"))

    def only(self, measures: Iterable[str]) -> TurnScores:
        """Return the scores by some of the measures."""
        return TurnScores(self.turns, {name: self[name] for name in measures})

    def take(self, chosen: Mask) -> TurnScores:
        """Return the scores on the turns of ``chosen``, bool[T]."""
        columns = {name: scores[chosen] for name, scores in self.items()}
        return TurnScores(compress(self.turns, chosen), columns)

    def without(self, turns: Mask) -> TurnScores:
        """Return the scores with nan on ``turns``, bool[T]."""
        columns = {name: np.where(turns, np.nan, scores) for name, scores in self.items()}
        return TurnScores(self.turns, columns)

    def over(self, turns: Sequence[str], absent: float | None = None) -> TurnScores:
        """Return the scores on other turns.

        ``absent`` is the score of those without one; by default :func:`missing_score`.
        """
        place_of = {turn: place for place, turn in enumerate(self.turns)}
        # the score of absent turns is appended, where the place -1 finds it
        places = np.array([place_of.get(turn, -1) for turn in turns], dtype=np.int64)
        columns = {}
        for name, scores in self.items():
            score = missing_score(name) if absent is None else absent
            columns[name] = np.append(scores, score)[places]
        return TurnScores(turns, columns)


def evaluate(
    matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy
) -> TurnScores:
    """Return :func:`score_columns` with the turns."""
    return TurnScores(matrix.turns, score_columns(matrix, measures, policy))


# ---------------------------------------------------------------- measures by pytrec_eval


def evaluate_with_trec_eval(
    matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy
) -> dict[str, Scores]:
    """Return scores by turn from pytrec_eval: measure name → float64[T]; missing turns score 0.

    The run and the qrels are rebuilt from the matrix with artificial document ids. This keeps the
    order of the policy (also ``--order rank`` and ``--depth``) for every measure.
    """
    import pytrec_eval

    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for turn, row, judged in zip(matrix.turns, matrix.grades, matrix.judged, strict=True):
        grades = row[row > ABSENT]
        run[turn] = {_rank_id(rank): float(len(grades) - rank) for rank in range(len(grades))}
        qrels[turn] = _artificial_qrels(grades, judged[judged > ABSENT])
    requests = {str(trec_eval_request(measure.name)) for measure in measures}
    # trec_eval stores the level in 32 bits; no grade exceeds the highest
    level = min(policy.relevance_level, MAX_GRADE + 1)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, requests, relevance_level=level)
    results = evaluator.evaluate({turn: ranking for turn, ranking in run.items() if ranking})
    columns = {}
    for measure in measures:
        missing = {measure.name: missing_score(measure.name)}
        scores = [results.get(turn, missing)[measure.name] for turn in matrix.turns]
        columns[measure.name] = np.array(scores, dtype=np.float64)
    if "num_rel" in columns:  # with -c, trec_eval also counts relevant passages of missing turns
        columns["num_rel"] = (matrix.judged >= level).sum(axis=1).astype(np.float64)
    return columns


def _rank_id(rank: int) -> str:
    """Return the artificial id of the passage at a rank; text order is the order of the ranks."""
    return f"r{rank:07d}"


def _artificial_qrels(grades: Grades, judged: Grades) -> dict[str, int]:
    """Return artificial document id → grade for one turn.

    ``grades``: those of the retrieved passages by rank. ``judged``: those of all judged passages.
    """
    ranks = np.flatnonzero(grades > UNJUDGED).tolist()
    qrels = {_rank_id(rank): int(grades[rank]) for rank in ranks}
    not_retrieved = list(judged[::-1])
    for grade in grades[ranks]:
        not_retrieved.remove(grade)
    for number, grade in enumerate(not_retrieved):
        qrels[f"u{number:07d}"] = int(grade)
    if judged.max(initial=-1) < 0:
        # without a grade of at least 0 in a turn, trec_eval reads outside its arrays and may crash
        qrels["n"] = 0
    return qrels


def missing_score(name: str) -> float:
    """Return the score of a turn without passages by a measure of trec_eval.

    0, the least logarithm for geometric means, or 1 for num_q.
    """
    if name.startswith(GEOMETRIC):
        return _LEAST_LOGARITHM
    return 1.0 if name == "num_q" else 0.0


def score_of_run(name: str, scores: Scores) -> float:
    """Return the score of a run, as trec_eval prints it for ``all``.

    This is the mean over turns, the total (num_…), or the geometric mean (gm_…).
    """
    if name.startswith(TOTAL):
        return float(scores.sum())
    mean = float(scores.mean())
    return math.exp(mean) if name.startswith(GEOMETRIC) else mean
