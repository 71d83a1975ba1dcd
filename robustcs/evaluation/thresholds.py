"""Thresholds that make an answer correct or incorrect, and definitions of the terms about them."""

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
from robustcs.statistics import Mask

Operator = Literal[">", ">=", "="]

#: Scores closer than this count as equal, because sums of floats differ in their last bits.
TOLERANCE = 1e-9

_EXPRESSION = re.compile(
    r"(?P<operator>>=|>|==?|≥)?\s*"
    r"(?P<value>[0-9]*\.?[0-9]+(?:[eE]-?[0-9]+)?)"
)
#: Operator as written → operator of :class:`Threshold`.
_OPERATORS: dict[str, Operator] = {">": ">", ">=": ">=", "≥": ">=", "=": "=", "==": "="}


@dataclass(frozen=True)
class Threshold:
    """The condition on a turn's score that makes its answer correct.

    Prints as ``>0``, ``>=0.5``, ``=1``.
    """

    operator: Operator
    value: float

    def __str__(self) -> str:
        return f"{self.operator}{self.value:.12g}"

    @property
    def label(self) -> str:
        """The threshold as printed in papers: ``> 0``, ``≥ 0.5``, ``= 1``."""
        return f"{self.operator.replace('>=', '≥')} {self.value:.12g}"

    def holds(self, scores: npt.ArrayLike) -> Mask:
        """Return bool, of the shape of ``scores``: whether each is correct.

        Scores within :data:`TOLERANCE` of the value count as equal to it.
        """
        difference = np.asarray(scores, dtype=np.float64) - self.value
        if self.operator == ">":
            return difference > TOLERANCE
        if self.operator == ">=":
            return difference >= -TOLERANCE
        return np.abs(difference) <= TOLERANCE


def parse_threshold(text: str) -> Threshold:
    """Return the threshold of ``'>0'``, ``'>=0.5'`` or ``'=1'``.

    A bare number t means ``>=t``, and a bare 0 means ``>0``.

    Raises :class:`UsageError` for any other text.
    """
    match = _EXPRESSION.fullmatch(text.strip())
    if not match:
        raise UsageError(
            "bad-threshold",
            f"cannot read threshold {text!r}",
            "use '>0', '>=0.5', '=1' or a number",
        )
    value = float(match["value"])
    if not math.isfinite(value):
        raise UsageError(
            "bad-threshold", f"threshold {text!r} is too large", "use a number such as 0.5"
        )
    if match["operator"] is not None:
        return Threshold(_OPERATORS[match["operator"]], value)
    if value == 0:
        return Threshold(">", 0.0)  # every score is at least 0
    return Threshold(">=", value)


def reachable_thresholds(
    given: Sequence[Threshold], measures: Sequence[Measure] = ()
) -> tuple[Threshold, ...]:
    """Return every threshold once, or the three of the paper if none is given.

    ``measures``: the measures to which they apply; the highest score of the default ones is 1, as
    for P@1.

    Raises :class:`UsageError` for a threshold that no score of a measure reaches.
    """
    thresholds = tuple(dict.fromkeys(given)) or DEFAULT_THRESHOLDS
    for measure in measures or (parse_measure("P_1"),):
        for threshold in thresholds:
            refuse_unreachable(measure, threshold)
    return thresholds


def refuse_unreachable(measure: Measure, threshold: Threshold) -> None:
    """Raise :class:`UsageError` if no score of the measure reaches the threshold.

    Otherwise every answer would be incorrect.
    """
    highest = highest_score(measure)
    if highest is None:
        return
    if threshold.operator == ">":
        reached = bool(threshold.holds(highest))
    else:
        reached = threshold.value <= highest + TOLERANCE
    if not reached:
        raise UsageError(
            "threshold-too-high",
            f"no score of {measure} can be {threshold}: the highest is {highest:g}",
            f"use a threshold such as '>=0.5' or '={highest:g}'",
        )


def distinct_thresholds(measure: str, thresholds: Sequence[Threshold]) -> list[Threshold]:
    """Return the thresholds that differ for the measure.

    For scores of 0 and 1 (P@1), ``>0``, ``>=0.5`` and ``=1`` are equal. Of equal thresholds, ``=1``
    is kept, or else the first. If the measure is unknown, all are kept.
    """
    try:
        right_or_wrong = parse_measure(measure, given=True).right_or_wrong
    except UsageError:
        right_or_wrong = False
    if not right_or_wrong:
        return list(thresholds)
    # thresholds are equal if they agree on the two scores that occur: whether 0 and 1 are correct
    kept: dict[tuple[bool, ...], Threshold] = {}
    for threshold in thresholds:
        correct = tuple(threshold.holds([0.0, 1.0]).tolist())
        if correct not in kept or threshold == Threshold("=", 1.0):
            kept[correct] = threshold
    return list(kept.values())


#: Thresholds of Tables 1 and 2 of the error-analysis paper.
DEFAULT_THRESHOLDS = (Threshold(">", 0.0), Threshold(">=", 0.5), Threshold("=", 1.0))

#: Term → its definition, as in docs/glossary.md.
TERMS: Mapping[str, str] = {
    "threshold": "the condition on a score that makes an answer correct: > 0, ≥ 0.5, = 1",
    "correct": "the score of the answer passes the threshold",
    "answered": "the system's own answer is correct, whatever the other systems do",
    "answerable": "Human is correct",
    "QA error": (
        "Human is not correct: the QA component (ranker or reader) fails even with the human"
        " rewrite"
    ),
    "rewriter error": "Human is correct and the rewriter is not",
    "QR and Human correct": "both are correct: neither a QA error nor a rewriter error",
    "differ": "the adjusted p-value of the difference is at most 0.05 (differ significantly)",
    "drop": (
        "the score of the baseline minus the score of the system; without a named baseline, Human"
        " is the baseline"
    ),
    "adjusted p-value": (
        "the p-value after the adjustment for all comparisons of its family (p adj.)"
    ),
    "family": "the comparisons that are read together; the note of a table names it",
}
