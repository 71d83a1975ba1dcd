"""Evaluation measures on the grade matrix, equal to trec_eval; :mod:`robustcs.evaluation.measure` has their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix, Grades
from robustcs.evaluation.measure import GEOMETRIC, RBP_PERSISTENCE, TOTAL, Measure, trec_eval_request
from robustcs.inputs.qrels import MAX_GRADE
from robustcs.lazy import npt, pd
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import quotient

Scores = np.ndarray[Any, np.dtype[np.float64]]

#: Cells of a matrix that are evaluated at a time: bounds working memory to a few MB.
_CELLS = 128_000
_LEAST_LOGARITHM = math.log(1e-5)
#: The grade of a passage that was drawn for judging and not judged.
_SAMPLED = -1


@dataclass(frozen=True, eq=False)
class Top:
    """What a measure looks at: the grades inside its cut-off, and the rules by which they count."""

    matrix: GradeMatrix
    cutoff: int | None
    level: int
    persistence: float

    @property
    def grades(self) -> Grades:
        """int16[T, k]."""
        return self.matrix.grades[:, : self.cutoff]

    @cached_property
    def hits(self) -> npt.NDArray[np.bool_]:
        """bool[T, k]: a relevant passage stands here."""
        return np.asarray(self.grades >= self.level)

    @property
    def ranks(self) -> npt.NDArray[np.int64]:
        """1 … k."""
        return np.arange(1, self.grades.shape[1] + 1)

    @property
    def relevant(self) -> npt.NDArray[np.int64]:
        """int64[T]: relevant passages among the judged ones, retrieved or not."""
        return np.asarray((self.matrix.judged >= self.level).sum(axis=1))


def top_of(matrix: GradeMatrix, measure: Measure, policy: EvaluationPolicy) -> Top:
    """What ``measure`` looks at in a matrix."""
    level = policy.relevance_level if measure.level is None else measure.level
    return Top(matrix, measure.cutoff, level, RBP_PERSISTENCE if measure.persistence is None else measure.persistence)


def rank_discounts(size: int) -> Scores:
    """What a gain at ranks 1 to ``size`` counts in DCG: 1 / log2(rank + 1)."""
    return np.asarray(1.0 / np.log2(np.arange(2, size + 2)))


def rank_weights(persistence: float, size: int) -> Scores:
    """What a relevant passage at ranks 1 to ``size`` counts in rank-biased precision."""
    return np.asarray((1 - persistence) * persistence ** np.arange(size))


def _dcg(grades: Grades) -> Scores:
    """Discounted gain summed rank by rank, in trec_eval's order, so that an ideal ranking scores 1 to the last bit."""
    discount = np.log2(np.arange(2, grades.shape[1] + 2))
    gains = np.cumsum(np.maximum(grades, 0) / discount, axis=1)
    return np.asarray(gains[:, -1]) if grades.shape[1] else np.zeros(len(grades))


def _bpref(top: Top) -> Scores:
    # trec_eval reads a grade below 0 as not judged here
    judged, relevant = top.matrix.judged, top.relevant
    nonrelevant = (top.grades >= 0) & ~top.hits
    above = np.minimum(np.cumsum(nonrelevant, axis=1), relevant[:, None])
    penalty = quotient(above, np.minimum(relevant, ((judged >= 0) & (judged < top.level)).sum(axis=1))[:, None])
    return quotient(np.where(top.hits, 1.0 - penalty, 0.0).sum(axis=1), relevant)


#: Family → one score per turn, 0 to 1, where the matrix serves it; 0 where there is nothing to divide by. Moffat & Zobel (2008)
#: define rbp; ``judged_k`` is the judged share of the passages retrieved in the top k; the others are trec_eval's.
NATIVE: dict[str, Callable[[Top], Scores]] = {
    "P": lambda top: top.hits.sum(axis=1) / top.cutoff,
    "recall": lambda top: quotient(top.hits.sum(axis=1), top.relevant),
    "success": lambda top: np.asarray(top.hits.any(axis=1), np.float64),
    "recip_rank": lambda top: np.asarray(np.multiply(top.hits, 1 / top.ranks).max(axis=1, initial=0.0)),
    "map": lambda top: quotient((top.hits * np.cumsum(top.hits, axis=1) / top.ranks).sum(axis=1), top.relevant),
    "ndcg": lambda top: quotient(_dcg(top.grades), _dcg(top.matrix.judged[:, : top.cutoff])),
    "bpref": _bpref,
    "rbp": lambda top: top.hits @ rank_weights(top.persistence, top.hits.shape[1]),
    "judged": lambda top: quotient((top.grades > UNJUDGED).sum(axis=1), (top.grades > ABSENT).sum(axis=1)),
}
#: What the matrix serves beside them: counts of judgments, of which no bounds under missing judgments make sense. trec_eval
#: reads a grade below 0 as not judged, and divides by k also where fewer were retrieved.
_SERVED: dict[str, Callable[[Top], Scores]] = {
    **NATIVE,
    "unj": lambda top: ((top.grades > ABSENT) & (top.grades < 0)).sum(axis=1) / top.cutoff,
}


def score_columns(matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy) -> dict[str, Scores]:
    """Scores of every judged turn: measure name → float64[T], in the order of ``measures`` and of the matrix's turns.

    A turn that the run lacks, or without any relevant passage, scores 0. Native measures equal trec_eval's to 1e-9.
    """
    parts: dict[str, list[Scores]] = {measure.name: [] for measure in measures if measure.family in _SERVED}
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


def evaluate(matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy) -> pd.DataFrame:
    """:func:`score_columns` as a frame indexed by turn, one column per measure."""
    # importing pandas takes longer than evaluating 500 turns
    return pd.DataFrame(score_columns(matrix, measures, policy), index=pd.Index(matrix.turns, name="turn"))


# ---------------------------------------------------------------- measures that the matrix does not serve, by pytrec_eval


def evaluate_with_trec_eval(matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy) -> dict[str, Scores]:
    """Scores per turn from pytrec_eval: measure name → float64[T]; missing turns score 0.

    The matrix holds all that trec_eval looks at, so the run and the qrels are rebuilt from it with made-up document ids: that
    keeps the policy's order (also ``--order rank`` and ``--depth``) for every measure.
    """
    import pytrec_eval

    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for turn, row, judged in zip(matrix.turns, matrix.grades, matrix.judged, strict=True):
        row, judged = row[row > ABSENT], judged[judged > ABSENT]
        depth = len(row)
        run[turn] = {f"r{rank:07d}": float(depth - rank) for rank in range(depth)}
        qrels[turn] = {f"r{rank:07d}": int(row[rank]) for rank in np.flatnonzero(row > UNJUDGED)}
        # what is judged but not retrieved
        left = list(judged[::-1])
        for grade in row[row > UNJUDGED]:
            left.remove(grade)
        qrels[turn].update({f"u{i:07d}": int(grade) for i, grade in enumerate(left)})
        if judged.max(initial=-1) < 0:
            # trec_eval reads outside its arrays, and may crash, where a turn has no grade from 0 on
            qrels[turn]["n"] = 0
    requests = {str(trec_eval_request(measure.name)) for measure in measures}
    # trec_eval keeps the level in 32 bits; no grade reaches one above the highest
    level = min(policy.relevance_level, MAX_GRADE + 1)
    results = pytrec_eval.RelevanceEvaluator(qrels, requests, relevance_level=level).evaluate(
        {turn: ranking for turn, ranking in run.items() if ranking}
    )
    missing = {measure.name: missing_score(measure.name) for measure in measures}
    found = {name: np.array([results.get(turn, missing)[name] for turn in matrix.turns], dtype=np.float64) for name in missing}
    if "num_rel" in found:  # with -c trec_eval counts what is relevant in the turns that a run lacks, too
        found["num_rel"] = (matrix.judged >= level).sum(axis=1).astype(np.float64)
    return found


def missing_score(name: str) -> float:
    """What a turn without any passage adds by a measure of trec_eval: 0, the floor of logarithms, or 1 turn."""
    return _LEAST_LOGARITHM if name.startswith(GEOMETRIC) else float(name == "num_q")


def score_of_run(name: str, scores: Scores) -> float:
    """The score of a run from those of its turns, as trec_eval prints it for ``all``: a mean, a total or a geometric mean."""
    if name.startswith(TOTAL):
        return float(scores.sum())
    return math.exp(scores.mean()) if name.startswith(GEOMETRIC) else float(scores.mean())


def sampling_notes(measures: Sequence[Measure], grades: npt.NDArray[np.integer]) -> list[str]:
    """A note where infAP is asked for without any passage that was sampled and not judged (grade -1): it is MAP then."""
    if all(measure.name != "infAP" for measure in measures) or (grades == _SAMPLED).any():
        return []
    return [f"infAP equals MAP here: the qrels have no passage that was sampled but not judged (grade {_SAMPLED})"]
