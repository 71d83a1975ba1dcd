"""Evaluation measures on the grade matrix, equal to trec_eval. Their names are in :mod:`robustcs.evaluation.measure`."""

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
_LEAST_LOGARITHM = math.log(1e-5)


@dataclass(frozen=True, eq=False)
class Top:
    """Input of a measure: the grades within its cutoff, and its parameters."""

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
    return Top(
        matrix,
        measure.cutoff,
        level,
        RBP_PERSISTENCE if measure.persistence is None else measure.persistence,
    )


def rank_discounts(size: int) -> Scores:
    """Return the weights of gains at ranks 1 to ``size`` in DCG: 1 / log2(rank + 1)."""
    return np.asarray(1.0 / np.log2(np.arange(2, size + 2)))


def rank_weights(persistence: float, size: int) -> Scores:
    """Return the weights of relevant passages at ranks 1 to ``size`` in RBP: (1 − p) · p^(rank − 1)."""
    return np.asarray((1 - persistence) * persistence ** np.arange(size))


def _dcg(grades: Grades) -> Scores:
    """Return the discounted gain, summed rank by rank as in trec_eval, so that an ideal ranking scores exactly 1."""
    discount = np.log2(np.arange(2, grades.shape[1] + 2))
    if len(discount) <= _NARROW:
        return sum(
            (np.maximum(column, 0) / by for column, by in zip(grades.T, discount, strict=True)),
            np.zeros(len(grades)),
        )
    gains = np.cumsum(np.maximum(grades, 0) / discount, axis=1)
    return np.asarray(gains[:, -1])


def _average_precision(top: Top) -> Scores:
    # relevant passages are few: only their ranks are looked at
    turns, places = np.divmod(np.flatnonzero(top.hits), max(top.hits.shape[1], 1))
    number = np.bincount(turns, minlength=len(top.hits))
    return quotient(
        np.bincount(turns, (places_within(number) + 1) / (places + 1), len(number)), top.relevant
    )


def _bpref(top: Top) -> Scores:
    # here, trec_eval treats a grade below 0 as unjudged
    judged, relevant = top.matrix.judged, top.relevant
    nonrelevant = (top.grades >= 0) & ~top.hits
    above = np.minimum(np.cumsum(nonrelevant, axis=1), relevant[:, None])
    penalty = quotient(
        above, np.minimum(relevant, ((judged >= 0) & (judged < top.level)).sum(axis=1))[:, None]
    )
    return quotient(np.where(top.hits, 1.0 - penalty, 0.0).sum(axis=1), relevant)


#: Family → function that returns one score per turn, 0 to 1, or 0 if there is nothing to divide by. rbp follows Moffat & Zobel
#: (2008); ``judged_k`` is the judged share of the passages retrieved in the top k; the others equal trec_eval's.
NATIVE: dict[str, Callable[[Top], Scores]] = {
    "P": lambda top: top.hits.sum(axis=1) / top.cutoff,
    "recall": lambda top: quotient(top.hits.sum(axis=1), top.relevant),
    "success": lambda top: np.asarray(top.hits.any(axis=1), np.float64),
    "recip_rank": lambda top: np.asarray(
        np.multiply(top.hits, 1 / top.ranks).max(axis=1, initial=0.0)
    ),
    "map": _average_precision,
    "ndcg": lambda top: quotient(_dcg(top.grades), _dcg(top.matrix.judged[:, : top.cutoff])),
    "bpref": _bpref,
    "rbp": lambda top: top.hits @ rank_weights(top.persistence, top.hits.shape[1]),
    "judged": lambda top: quotient(
        (top.grades > UNJUDGED).sum(axis=1), (top.grades > ABSENT).sum(axis=1)
    ),
}
#: Further measures on the matrix: counts of judgments, for which bounds under missing judgments make no sense. trec_eval treats
#: a grade below 0 as unjudged, and divides by k even if fewer passages were retrieved.
_SERVED: dict[str, Callable[[Top], Scores]] = {
    **NATIVE,
    "unj": lambda top: ((top.grades > ABSENT) & (top.grades < 0)).sum(axis=1) / top.cutoff,
}


def score_columns(
    matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy
) -> dict[str, Scores]:
    """Return scores of every judged turn: measure name → float64[T], in the order of ``measures`` and of the matrix's turns.

    A turn that the run misses, or without relevant passages, scores 0. Native measures equal trec_eval's to 1e-9.
    """
    parts: dict[str, list[Scores]] = {
        measure.name: [] for measure in measures if measure.family in _SERVED
    }
    width = max(matrix.grades.shape[1], matrix.judged.shape[1], 1)
    for block in matrix.blocks(max(1, _CELLS // width)):
        for measure in measures:
            if measure.family in _SERVED:
                parts[measure.name].append(_SERVED[measure.family](top_of(block, measure, policy)))
    columns = {name: np.concatenate(scores) for name, scores in parts.items()}
    foreign = [measure for measure in measures if measure.family == "trec_eval"]
    if foreign:
        columns |= evaluate_with_trec_eval(matrix, foreign, policy)
    return {measure.name: columns[measure.name] for measure in measures}


class TurnScores(dict[str, Scores]):
    """Scores of a system on T turns: measure → float64[T]. Importing pandas would take longer than evaluating 500 turns."""

    def __init__(self, turns: Iterable[str], scores: Mapping[str, Scores]) -> None:
        super().__init__(scores)
        self.turns = tuple(turns)

    @classmethod
    def of(cls, frame: pd.DataFrame) -> TurnScores:
        """Return the scores of a float frame, turns × measures."""
        return cls(
            frame.index,
            {str(metric): values.to_numpy(np.float64) for metric, values in frame.items()},
        )

    def frame(self) -> pd.DataFrame:
        """Return the scores as a float frame, turns × measures."""
        return pd.DataFrame(self, index=pd.Index(self.turns, name="turn"))

    def only(self, measures: Iterable[str]) -> TurnScores:
        """Return the scores by some of the measures."""
        return TurnScores(self.turns, {name: self[name] for name in measures})

    def take(self, chosen: Mask) -> TurnScores:
        """Return the scores on the turns of ``chosen``, bool[T]."""
        return TurnScores(
            compress(self.turns, chosen), {name: values[chosen] for name, values in self.items()}
        )

    def without(self, left: Mask) -> TurnScores:
        """Return the scores with nan on the turns of ``left``, bool[T]."""
        return TurnScores(
            self.turns, {name: np.where(left, np.nan, values) for name, values in self.items()}
        )

    def over(self, turns: Sequence[str], absent: float | None = None) -> TurnScores:
        """Return the scores on other turns, with ``absent`` (default: :func:`missing_score`) for those without one."""
        places = {turn: place for place, turn in enumerate(self.turns)}
        at = np.array([places.get(turn, -1) for turn in turns], dtype=np.int64)
        fill = {name: missing_score(name) if absent is None else absent for name in self}
        return TurnScores(
            turns, {name: np.append(values, fill[name])[at] for name, values in self.items()}
        )


def evaluate(
    matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy
) -> TurnScores:
    """Return :func:`score_columns` with the turns."""
    return TurnScores(matrix.turns, score_columns(matrix, measures, policy))


# ---------------------------------------------------------------- other measures, computed by pytrec_eval


def evaluate_with_trec_eval(
    matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy
) -> dict[str, Scores]:
    """Return scores by turn from pytrec_eval: measure name → float64[T]; missing turns score 0.

    The run and the qrels are rebuilt from the matrix with artificial document ids. This keeps the order of the policy (also
    ``--order rank`` and ``--depth``) for every measure.
    """
    import pytrec_eval

    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for turn, row, judged in zip(matrix.turns, matrix.grades, matrix.judged, strict=True):
        row, judged = row[row > ABSENT], judged[judged > ABSENT]
        depth = len(row)
        run[turn] = {f"r{rank:07d}": float(depth - rank) for rank in range(depth)}
        qrels[turn] = {f"r{rank:07d}": int(row[rank]) for rank in np.flatnonzero(row > UNJUDGED)}
        # judged passages that were not retrieved
        left = list(judged[::-1])
        for grade in row[row > UNJUDGED]:
            left.remove(grade)
        qrels[turn].update({f"u{i:07d}": int(grade) for i, grade in enumerate(left)})
        if judged.max(initial=-1) < 0:
            # without a grade of at least 0 in a turn, trec_eval reads outside its arrays and may crash
            qrels[turn]["n"] = 0
    requests = {str(trec_eval_request(measure.name)) for measure in measures}
    # trec_eval stores the level in 32 bits; no grade exceeds the highest
    level = min(policy.relevance_level, MAX_GRADE + 1)
    results = pytrec_eval.RelevanceEvaluator(qrels, requests, relevance_level=level).evaluate(
        {turn: ranking for turn, ranking in run.items() if ranking}
    )
    missing = {measure.name: missing_score(measure.name) for measure in measures}
    found = {
        name: np.array(
            [results.get(turn, missing)[name] for turn in matrix.turns], dtype=np.float64
        )
        for name in missing
    }
    if "num_rel" in found:  # with -c, trec_eval also counts relevant passages of missing turns
        found["num_rel"] = (matrix.judged >= level).sum(axis=1).astype(np.float64)
    return found


def missing_score(name: str) -> float:
    """Return the score of a turn without passages by a measure of trec_eval: 0, the least logarithm, or 1 (num_q)."""
    return _LEAST_LOGARITHM if name.startswith(GEOMETRIC) else float(name == "num_q")


def score_of_run(name: str, scores: Scores) -> float:
    """Return the score of a run, as trec_eval prints it for ``all``: the mean, total or geometric mean over turns."""
    if name.startswith(TOTAL):
        return float(scores.sum())
    return math.exp(scores.mean()) if name.startswith(GEOMETRIC) else float(scores.mean())
