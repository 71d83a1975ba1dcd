"""Evaluation measures on the grade matrix, equal to trec_eval, and their names.

A :class:`Measure` is a value that prints as trec_eval names it. The ir_measures spelling is read too: ``nDCG@3`` is
``ndcg_cut_3``; ``P(rel=2)@1`` is ``P_1`` with its own relevance level.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import RBP_PERSISTENCE, Measure
from robustcs.evaluation.trec_eval import evaluate_with_trec_eval, is_averaged, trec_eval_knows
from robustcs.inputs.numbers import whole_number
from robustcs.inputs.qrels import MAX_GRADE
from robustcs.lazy import npt, pd
from robustcs.policy import EvaluationPolicy

Scores = np.ndarray[Any, np.dtype[np.float64]]

#: Cells of a matrix that are evaluated at a time: bounds working memory to a few MB.
_CELLS = 128_000


# ---------------------------------------------------------------- the measures
# Each takes a block of the matrix, a relevance level, a cut-off and a persistence and returns one score per turn in [0, 1].


def _relevant(matrix: GradeMatrix, level: int, cutoff: int | None) -> npt.NDArray[np.bool_]:
    return matrix.grades[:, :cutoff] >= level


def _all_relevant(matrix: GradeMatrix, level: int) -> npt.NDArray[np.int64]:
    return np.asarray((matrix.judged >= level).sum(axis=1))


def _ratio(numerator: npt.NDArray[np.generic], denominator: npt.NDArray[np.generic]) -> Scores:
    """Quotient per turn, 0 where there is nothing to divide by, as trec_eval scores such turns."""
    out = np.zeros(len(numerator), dtype=np.float64)
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator) > 0)
    return out


def _precision(matrix: GradeMatrix, level: int, cutoff: int | None, _: float) -> Scores:
    assert cutoff is not None
    return np.asarray(_relevant(matrix, level, cutoff).sum(axis=1) / cutoff)


def _recall(matrix: GradeMatrix, level: int, cutoff: int | None, _: float) -> Scores:
    return _ratio(_relevant(matrix, level, cutoff).sum(axis=1), _all_relevant(matrix, level))


def _success(matrix: GradeMatrix, level: int, cutoff: int | None, _: float) -> Scores:
    return np.asarray(_relevant(matrix, level, cutoff).any(axis=1), dtype=np.float64)


def _reciprocal_rank(matrix: GradeMatrix, level: int, cutoff: int | None, _: float) -> Scores:
    relevant = _relevant(matrix, level, cutoff)
    if not relevant.shape[1]:
        return np.zeros(len(matrix.turns))
    return np.where(relevant.any(axis=1), 1.0 / (relevant.argmax(axis=1) + 1), 0.0)


def _average_precision(matrix: GradeMatrix, level: int, cutoff: int | None, _: float) -> Scores:
    relevant = _relevant(matrix, level, cutoff)
    ranks = np.arange(1, relevant.shape[1] + 1)
    precision = np.where(relevant, np.cumsum(relevant, axis=1) / ranks, 0.0)
    return _ratio(precision.sum(axis=1), _all_relevant(matrix, level))


def _dcg(grades: npt.NDArray[np.int16]) -> Scores:
    """Discounted gain summed rank by rank, in trec_eval's order, so that an ideal ranking scores 1 to the last bit."""
    if not grades.shape[1]:
        return np.zeros(len(grades))
    discount = np.log2(np.arange(2, grades.shape[1] + 2))
    return np.asarray(np.cumsum(np.maximum(grades, 0) / discount, axis=1)[:, -1])


def _ndcg(matrix: GradeMatrix, _: int, cutoff: int | None, __: float) -> Scores:
    return _ratio(_dcg(matrix.grades[:, :cutoff]), _dcg(matrix.judged[:, :cutoff]))


def _bpref(matrix: GradeMatrix, level: int, cutoff: int | None, _: float) -> Scores:
    relevant = _relevant(matrix, level, None)
    # trec_eval reads a grade below 0 as not judged here
    nonrelevant = (matrix.grades >= 0) & ~relevant
    all_relevant = _all_relevant(matrix, level)
    all_nonrelevant = ((matrix.judged >= 0) & (matrix.judged < level)).sum(axis=1)
    above = np.minimum(np.cumsum(nonrelevant, axis=1), all_relevant[:, None])
    bound = np.minimum(all_relevant, all_nonrelevant)[:, None]
    penalty = np.divide(above, bound, out=np.zeros(above.shape), where=bound > 0)
    return _ratio(np.where(relevant, 1.0 - penalty, 0.0).sum(axis=1), all_relevant)


def _rbp(matrix: GradeMatrix, level: int, cutoff: int | None, persistence: float) -> Scores:
    relevant = _relevant(matrix, level, cutoff)
    weights = (1 - persistence) * persistence ** np.arange(relevant.shape[1])
    return np.asarray(relevant @ weights)


def _judged_share(matrix: GradeMatrix, _: int, cutoff: int | None, __: float) -> Scores:
    top = matrix.grades[:, :cutoff]
    return _ratio((top > UNJUDGED).sum(axis=1), (top > ABSENT).sum(axis=1))


def _unjudged_share(matrix: GradeMatrix, _: int, cutoff: int | None, __: float) -> Scores:
    assert cutoff is not None
    top = matrix.grades[:, :cutoff]
    # trec_eval reads a grade below 0 as not judged, and divides by k also where fewer were retrieved
    return np.asarray(((top > ABSENT) & (top < 0)).sum(axis=1) / cutoff)


#: Families that the matrix serves itself. Moffat & Zobel (2008) define rbp; ``judged_k`` is the judged share of the passages
#: retrieved in the top k; the others are trec_eval's.
NATIVE: dict[str, Callable[[GradeMatrix, int, int | None, float], Scores]] = {
    "P": _precision,
    "recall": _recall,
    "success": _success,
    "recip_rank": _reciprocal_rank,
    "map": _average_precision,
    "ndcg": _ndcg,
    "bpref": _bpref,
    "rbp": _rbp,
    "judged": _judged_share,
}
#: What the matrix serves beside them: counts of judgments, of which no bounds under missing judgments make sense.
_SERVED = {**NATIVE, "unj": _unjudged_share}
#: Measures of predicted answers (reading comprehension); they need no qrels.
ANSWER_FAMILIES = ("f1", "em")
#: How the names of trec_eval's further measures start whose scores end at 1 as well.
_SHARES = ("Rprec", "11pt_avg", "iprec_at_recall", "set_P", "set_recall", "set_F", "set_map", "relative_P", "set_relative_P")


def highest_score(measure: Measure) -> float | None:
    """The most that a turn can score: 1, or None for measures of trec_eval that have no such end, such as utility."""
    return 1.0 if measure.family != "trec_eval" or measure.name.startswith(_SHARES) else None


def score_columns(matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy) -> dict[str, Scores]:
    """Scores of every judged turn: measure name → float64[T], in the order of ``measures`` and of the matrix's turns.

    A turn that the run lacks, or without any relevant passage, scores 0. Native measures equal trec_eval's to 1e-9.
    """
    parts: dict[str, list[Scores]] = {measure.name: [] for measure in measures if measure.family in _SERVED}
    width = max(matrix.grades.shape[1], matrix.judged.shape[1], 1)
    for block in matrix.blocks(max(1, _CELLS // width)):
        for measure in measures:
            if measure.family in _SERVED:
                level = policy.relevance_level if measure.level is None else measure.level
                persistence = RBP_PERSISTENCE if measure.persistence is None else measure.persistence
                parts[measure.name].append(_SERVED[measure.family](block, level, measure.cutoff, persistence))
    columns = {name: np.concatenate(scores) for name, scores in parts.items()}
    foreign = [measure for measure in measures if measure.family == "trec_eval"]
    if foreign:
        columns |= evaluate_with_trec_eval(matrix, foreign, policy)
    return {measure.name: columns[measure.name] for measure in measures}


def evaluate(matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy) -> pd.DataFrame:
    """:func:`score_columns` as a frame indexed by turn, one column per measure."""
    # importing pandas takes longer than evaluating 500 turns
    return pd.DataFrame(score_columns(matrix, measures, policy), index=pd.Index(matrix.turns, name="turn"))


# ---------------------------------------------------------------- their names

_TREC_NAMES = re.compile(
    r"(?P<cut>P|recall|success|judged|unj|ndcg_cut|map_cut|recip_rank_cut|rbp_cut)_(?P<k>[0-9]+)"
    r"|(?P<whole>ndcg|map|recip_rank|bpref|rbp|f1|em)"
    r"|rbp_(?P<p>0?\.[0-9]+)"
)
_IR_MEASURES = r"(?P<name>[A-Za-z]+)(?:\((?P<arguments>[^)]*)\))?(?:@(?P<k>[0-9]+))?"
#: ir_measures name (lower case) → family and whether a cut-off is needed (True), refused (False) or optional (None).
_IR_FAMILIES: dict[str, tuple[str, bool | None]] = {
    "p": ("P", True), "precision": ("P", True), "r": ("recall", True), "recall": ("recall", True),
    "success": ("success", True), "judged": ("judged", True), "ndcg": ("ndcg", None), "ap": ("map", None),
    "map": ("map", None), "rr": ("recip_rank", None), "mrr": ("recip_rank", None), "bpref": ("bpref", False),
    "rbp": ("rbp", None), "f": ("f1", None), "em": ("em", False),
}  # fmt: skip


def parse_measure(text: str) -> Measure:
    """The measure that ``text`` names, in trec_eval's or in ir_measures' spelling.

    Raises :class:`UsageError` with the names that look alike for anything else.
    """
    text = text.strip()
    match = _TREC_NAMES.fullmatch(text)
    if match:
        if match["cut"]:
            return _native(match["cut"].removesuffix("_cut"), _cutoff(text, match["k"]), None, None)
        if match["p"]:
            return _native("rbp", None, None, _persistence(text, match["p"]))
        return _native(match["whole"], None, None, None)
    match = re.fullmatch(_IR_MEASURES, text)
    family, wants_cutoff = _IR_FAMILIES.get(match["name"].lower(), (None, None)) if match else (None, None)
    if match and family and (match["k"] or match["arguments"] is not None or match["name"] not in ("P", "R", "F")):
        if family == "f1" or (wants_cutoff is not None and wants_cutoff != bool(match["k"])):
            raise _unknown(text)
        level, persistence = None, None
        for argument in filter(None, (match["arguments"] or "").split(",")):
            key, _, value = (part.strip() for part in argument.partition("="))
            if key == "rel" and (rel := whole_number(value, MAX_GRADE) or 0) >= 1 and family not in ("ndcg", "judged", "em"):
                level = rel
            elif key == "p" and family == "rbp":
                persistence = _persistence(text, value)
            else:
                raise UsageError(
                    "bad-measure", f"measure {text!r} has an argument {argument.strip()!r} it does not take",
                    "rel=LEVEL goes with binary measures, p=PERSISTENCE with RBP",
                )  # fmt: skip
        return _native(family, _cutoff(text, match["k"]) if match["k"] else None, level, persistence)
    if trec_eval_knows(text):
        return Measure(text, "trec_eval")
    raise _unknown(text)


def _native(family: str, cutoff: int | None, level: int | None, persistence: float | None) -> Measure:
    if family == "rbp" and level is not None and persistence is None:
        persistence = RBP_PERSISTENCE  # which its name then says
    if level is not None or (persistence is not None and cutoff is not None):
        # trec_eval has no name for a measure with a level of its own
        name = Measure("", family, cutoff, level, persistence).label
    elif cutoff is None:
        name = family if persistence is None else f"{family}_{persistence:g}"
    else:
        name = f"{family}_cut_{cutoff}" if family in ("ndcg", "map", "recip_rank", "rbp") else f"{family}_{cutoff}"
    return Measure(name, family, cutoff, level, persistence)


def _cutoff(text: str, digits: str) -> int:
    cutoff = whole_number(digits, 1_000_000) or 0
    if cutoff < 1:
        raise UsageError("bad-measure", f"measure {text!r} has the cut-off {digits}", "it goes from 1 to 1000000")
    return cutoff


def _persistence(text: str, value: str) -> float:
    try:
        persistence = float(value)
    except ValueError:
        persistence = 0.0
    if not 0 < persistence < 1:
        raise UsageError("bad-measure", f"measure {text!r} has the persistence {value!r}", "it lies between 0 and 1")
    return persistence


def _unknown(text: str) -> UsageError:
    import difflib

    names = ["P_1", "P_5", "recall_1000", "success_1", "ndcg_cut_3", "ndcg_cut_5", "map", "map_cut_100", "recip_rank",
             "bpref", "rbp", "judged_3", "ndcg", "f1", "em"]  # fmt: skip
    close = difflib.get_close_matches(text, names, n=2, cutoff=0.6)
    advice = f"did you mean {' or '.join(close)}?" if close else f"write a trec_eval name such as {', '.join(names[:6])}"
    return UsageError("unknown-measure", f"no measure is named {text!r}", advice)


def averaged(measures: Sequence[Measure], totals: bool = False) -> list[Measure]:
    """Return the measures, each once; totals and geometric means only where ``totals`` are welcome.

    Raises :class:`UsageError` where nothing else is asked for.
    """
    kept = [measure for measure in measures if totals or is_averaged(measure.name)]
    if measures and not kept:
        advice = "ask for a mean such as map, or ask robustcs evaluate"
        raise UsageError("not-a-mean", f"{measures[0]} is no mean over turns", advice)
    return list(dict.fromkeys(kept))
