"""Any measure of trec_eval that the matrix does not serve, through pytrec_eval.

The matrix holds all that trec_eval looks at, so the run and the qrels are rebuilt from it with made-up document ids: that
keeps the policy's order (also ``--order rank`` and ``--depth``) for every measure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import Measure
from robustcs.inputs.qrels import MAX_GRADE
from robustcs.lazy import npt
from robustcs.policy import EvaluationPolicy

#: Measures whose results have a number in their names, as trec_eval writes it. With others, and from 0 ranks on, trec_eval
#: itself breaks an assertion and ends the whole process.
_WITH_CUT = r"(relative_P)_([1-9][0-9]{0,5})|(Rprec_mult|iprec_at_recall)_([0-9]{1,5}\.[0-9]{2})"
_LEAST_LOGARITHM = math.log(1e-5)
#: What trec_eval prints beside measures; pytrec_eval gives 0 for them.
_TEXTS = ("runid", "relstring")
#: The grade of a passage that was drawn for judging and not judged.
_SAMPLED = -1
#: Measures that are counted or multiplied over turns, not averaged: totals, and geometric means (kept as logarithms).
TOTAL, GEOMETRIC = "num_", "gm_"


def is_averaged(name: str) -> bool:
    """Whether a run's score is the mean of its turns' scores, so that turns can be compared, tested and resampled."""
    return not name.startswith((TOTAL, GEOMETRIC))


def missing_score(name: str) -> float:
    """What a turn without any passage adds by a measure of trec_eval: 0, the floor of logarithms, or 1 turn."""
    return _LEAST_LOGARITHM if name.startswith(GEOMETRIC) else float(name == "num_q")


def _request(name: str) -> str | None:
    """pytrec_eval's spelling of a trec_eval result name (``Rprec_mult_0.20`` → ``Rprec_mult.0.20``); None if unknown."""
    import pytrec_eval

    if name in pytrec_eval.supported_measures:
        return name
    match = re.fullmatch(_WITH_CUT, name)
    return f"{match[1] or match[3]}.{match[2] or match[4]}" if match else None


def trec_eval_knows(name: str) -> bool:
    """Whether trec_eval computes a measure of this name, one number per turn (``P`` alone is several: it needs a cut-off)."""
    import pytrec_eval

    request = _request(name)
    if request is None or name in _TEXTS:
        return False
    tried = pytrec_eval.RelevanceEvaluator({"1": {"a": 1}}, {request}).evaluate({"1": {"a": 1.0}})
    return name in tried["1"]


def sampling_notes(measures: Sequence[Measure], grades: npt.NDArray[np.integer]) -> list[str]:
    """A note where infAP is asked for without any passage that was sampled and not judged (grade -1): it is MAP then."""
    if all(measure.name != "infAP" for measure in measures) or (grades == _SAMPLED).any():
        return []
    return [f"infAP equals MAP here: the qrels have no passage that was sampled but not judged (grade {_SAMPLED})"]


def evaluate_with_trec_eval(
    matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy
) -> dict[str, npt.NDArray[np.float64]]:
    """Scores per turn from pytrec_eval: measure name → float64[T]; missing turns score 0."""
    import pytrec_eval

    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for turn, row, judged in zip(matrix.turns, matrix.grades, matrix.judged, strict=True):
        row, judged = row[row > ABSENT], judged[judged > ABSENT]
        depth = len(row)
        run[turn] = {f"r{rank:07d}": float(depth - rank) for rank in range(depth)}
        qrels[turn] = {f"r{rank:07d}": int(row[rank]) for rank in np.flatnonzero(row > UNJUDGED)}
        # what is judged but not retrieved
        retrieved = np.sort(row[row > UNJUDGED])
        left = list(judged[::-1])
        for grade in retrieved:
            left.remove(grade)
        qrels[turn].update({f"u{i:07d}": int(grade) for i, grade in enumerate(left)})
        if judged.max(initial=-1) < 0:
            # trec_eval reads outside its arrays, and may crash, where a turn has no grade from 0 on
            qrels[turn]["n"] = 0
    requests = {str(_request(measure.name)) for measure in measures}
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


def score_of_run(name: str, scores: npt.NDArray[np.float64]) -> float:
    """The score of a run from those of its turns, as trec_eval prints it for ``all``: a mean, a total or a geometric mean."""
    if name.startswith(TOTAL):
        return float(scores.sum())
    return math.exp(scores.mean()) if name.startswith(GEOMETRIC) else float(scores.mean())
