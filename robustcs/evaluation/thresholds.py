"""From a score to correct or incorrect, and the words that say so."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.measure import Measure, highest_score, parse_measure

#: Two scores that are closer than this are the same number: sums of floats differ in their last bits.
TOLERANCE = 1e-9

_EXPRESSION = re.compile(r"(?P<operator>>=|>|==?|≥)?\s*(?P<value>[0-9]*\.?[0-9]+(?:[eE]-?[0-9]+)?)")


@dataclass(frozen=True)
class Threshold:
    """What a turn's score must be for its answer to count as correct; prints as ``>0``, ``>=0.5``, ``=1``."""

    operator: Literal[">", ">=", "="]
    value: float

    def __str__(self) -> str:
        return f"{self.operator}{self.value:.12g}"

    @property
    def label(self) -> str:
        """As papers print it: ``> 0``, ``≥ 0.5``, ``= 1``."""
        return f"{self.operator.replace('>=', '≥')} {self.value:.12g}"

    def holds(self, scores: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Element-wise, whether a score is correct; scores within :data:`TOLERANCE` of the value count as equal to it."""
        difference = np.asarray(scores, dtype=np.float64) - self.value
        if self.operator == ">":
            return difference > TOLERANCE
        if self.operator == ">=":
            return difference >= -TOLERANCE
        return np.abs(difference) <= TOLERANCE


def parse_threshold(text: str) -> Threshold:
    """``'>0'``, ``'>=0.5'``, ``'=1'``; a bare number t means ``>=t`` and a bare 0 means ``>0``.

    Raises :class:`UsageError` for anything else.
    """
    match = _EXPRESSION.fullmatch(text.strip())
    if not match:
        raise UsageError("bad-threshold", f"threshold {text!r} cannot be read", "write '>0', '>=0.5', '=1' or a number")
    value = float(match["value"])
    if not math.isfinite(value):
        raise UsageError("bad-threshold", f"threshold {text!r} is too large", "write a number such as 0.5")
    operator = match["operator"]
    if operator is None:
        return Threshold(">", 0.0) if value == 0 else Threshold(">=", value)
    return Threshold({"≥": ">=", "==": "="}.get(operator, operator), value)  # type: ignore[arg-type]


def reachable_thresholds(given: Sequence[Threshold], measures: Sequence[Measure] = ()) -> tuple[Threshold, ...]:
    """Every threshold once; the paper's three where none is given.

    ``measures`` are those that they cut; the default ones are P@1 and others that end at 1 as well.

    Raises :class:`UsageError` for a threshold that no score of a measure reaches.
    """
    thresholds = tuple(dict.fromkeys(given)) or DEFAULT_THRESHOLDS
    for measure in measures or (parse_measure("P_1"),):
        for threshold in thresholds:
            refuse_unreachable(measure, threshold)
    return thresholds


def refuse_unreachable(measure: Measure, threshold: Threshold) -> None:
    """Raises :class:`UsageError` where no score of the measure is so high: then every answer would count as incorrect."""
    highest = highest_score(measure)
    if highest is None:
        return
    reached = threshold.holds(highest) if threshold.operator == ">" else threshold.value <= highest + TOLERANCE
    if not reached:
        raise UsageError(
            "threshold-too-high", f"no score of {measure} is {threshold}: the highest is {highest:g}",
            f"write a threshold such as '>=0.5' or '={highest:g}'",
        )  # fmt: skip


def distinct_thresholds(measure: str, thresholds: Sequence[Threshold]) -> list[Threshold]:
    """The thresholds that differ on the measure: where every score is 0 or 1 (P@1), ``>0``, ``>=0.5`` and ``=1`` say the same.

    Of equal ones ``=1`` stays, or else the first; a name that is no measure of ours keeps them all.
    """
    try:
        right_or_wrong = parse_measure(measure).right_or_wrong
    except UsageError:
        right_or_wrong = False
    if not right_or_wrong:
        return list(thresholds)
    kept: dict[tuple[bool, ...], Threshold] = {}
    for threshold in thresholds:
        marks = tuple(threshold.holds([0.0, 1.0]).tolist())
        if marks not in kept or threshold == Threshold("=", 1.0):
            kept[marks] = threshold
    return list(kept.values())


#: Table 1 and 2 of the error-analysis paper.
DEFAULT_THRESHOLDS = (Threshold(">", 0.0), Threshold(">=", 0.5), Threshold("=", 1.0))

#: Word → its definition.
TERMS: Mapping[str, str] = {
    "threshold": "the condition on a score that makes an answer correct: > 0, ≥ 0.5, = 1",
    "correct": "the score of the answer passes the threshold",
    "answered": "the system's own answer is correct, whatever the other systems do",
    "answerable": "Human is correct",
    "QA error": "Human is not correct: the QA component (ranker or reader) fails even with the human rewrite",
    "rewriter error": "Human is correct and the rewriter is not",
    "QR and Human correct": "both are correct: neither a QA error nor a rewriter error",
    "differ": "the adjusted p-value of the difference is at most 0.05 (differ significantly)",
    "drop": "the score of the baseline minus the score of the system; without a named baseline, Human is the baseline",
    "adjusted p-value": "the p-value after the adjustment for all comparisons of its family (p adj.)",
    "family": "the comparisons that are read together; the note of a table names it",
}
