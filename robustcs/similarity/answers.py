"""Measures of answers (y) that question similarity is compared with, by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from robustcs.errors import UsageError
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.thresholds import Threshold, parse_threshold, refuse_unreachable
from robustcs.similarity.rankings import RBO_PERSISTENCE

_TOP = re.compile(r"(overlap|jaccard)_([1-9][0-9]{0,6})")
_RBO = re.compile(r"rbo(?:_(0?\.[0-9]*[1-9]))?")
_CORRECT = re.compile(r"(.+?)((?:>=|>|==?|≥).+)")


@dataclass(frozen=True)
class AnswerMeasure:
    """A measure of answers.

    kind
        ``given``: a column of a file; ``overlap`` and ``jaccard`` of the top ``depth``, and ``rbo``, of two runs;
        ``answer_jaccard`` of two predicted answers; ``difference``: QR − Human in ``measure``; ``correct``: 1 if the score of
        QR in ``measure`` passes ``threshold``, else 0.
    """

    name: str
    kind: Literal["given", "overlap", "jaccard", "rbo", "answer_jaccard", "difference", "correct"]
    depth: int = 0
    persistence: float = RBO_PERSISTENCE
    measure: Measure | None = None
    threshold: Threshold | None = None


def parse_answer_measure(text: str) -> AnswerMeasure:
    """Parse the name of a measure of answers.

    Valid names are ``overlap_1000``, ``jaccard_10``, ``rbo``, ``rbo_0.95``, ``answer_jaccard``, a measure, or a measure with a
    threshold.

    Raises :class:`UsageError` for anything else.
    """
    if found := _TOP.fullmatch(text):
        return AnswerMeasure(text, found[1], depth=int(found[2]))  # type: ignore[arg-type]
    if found := _RBO.fullmatch(text):
        return AnswerMeasure(text, "rbo", persistence=float(found[1] or RBO_PERSISTENCE))
    if text == "answer_jaccard":
        return AnswerMeasure(text, "answer_jaccard")
    if found := _CORRECT.fullmatch(text):
        measure, threshold = parse_measure(found[1]), parse_threshold(found[2])
        refuse_unreachable(measure, threshold)
        return AnswerMeasure(f"{measure}{threshold}", "correct", measure=measure, threshold=threshold)
    try:
        measure = parse_measure(text)
    except UsageError as error:
        raise UsageError(
            "unknown-answer-measure", f"no measure of answers is named {text!r}",
            "write overlap_K, jaccard_K, rbo, answer_jaccard, a column of --scores answers=FILE, a measure (QR − Human), or a"
            " measure and a threshold (is QR correct?), such as P_1=1",
        ) from error  # fmt: skip
    return AnswerMeasure(measure.name, "difference", measure=measure)
