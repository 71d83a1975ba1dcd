"""The words that tables and sentences share, each defined once; docs/glossary.md prints the same definitions."""

from __future__ import annotations

from collections.abc import Mapping

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
