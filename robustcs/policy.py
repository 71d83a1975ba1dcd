"""The evaluation policy, printed below each table.

Evaluation tools differ in which turns count, how ties are ordered, and which passages are relevant. robustcs follows trec_eval
(with ``-c``) and the CAsT guidelines.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from robustcs.errors import UsageError

Missing = Literal["zero", "drop", "own"]
Order = Literal["score", "rank"]
Unit = Literal["conversation", "turn"]
#: Part of the policy line for runs of passages that are evaluated against judged documents.
BY_DOCUMENT = "documents by their best passage"


@dataclass(frozen=True)
class EvaluationPolicy:
    """Rules by which runs and qrels become scores.

    relevance_level
        Lowest grade of a relevant passage in binary measures (P, recall, map, recip_rank, success, bpref, rbp): 1 as in
        trec_eval, 2 in CAsT. It does not affect nDCG, which uses the grades.
    missing
        ``zero``: judged turns that a run does not answer score 0 (``trec_eval -c``). ``drop``: means cover the turns that all
        runs answer. ``own``: the mean of each run covers the judged turns that it answers (``trec_eval`` without ``-c``);
        comparisons turn by turn cover the turns that both runs answer.
    order
        ``score``: by descending score, then by descending document id; scores are compared as 32-bit floats, as in trec_eval.
        ``rank``: by the rank column, equal ranks in file order.
    depth
        Evaluate only the top ``depth`` passages of each turn; None means all.
    documents
        The runs rank passages ``DOC-N`` and the qrels judge documents ``DOC``: the best-ranked passage of each document counts,
        and its other passages are removed before ``depth`` applies.
    unit
        Sampling unit for intervals and tests: ``conversation`` (single turns if turn ids do not show conversations, or show
        fewer than five), or ``turn``.
    strict
        Reject files with any unusable row. Otherwise, up to 5% unusable rows are skipped, except in runs and judgments. Results
        do not record it, since it changes no score.
    """

    relevance_level: int = 1
    missing: Missing = "zero"
    order: Order = "score"
    depth: int | None = None
    documents: bool = False
    unit: Unit = "conversation"
    strict: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        for key in ("relevance_level", "depth"):
            if (number := getattr(self, key)) is not None and number < 1:
                name = key.replace("_", " ")
                raise UsageError(f"bad-{key.replace('_', '-')}", f"{name} is {number}", "write a whole number of at least 1")
        for key, known in (("missing", get_args(Missing)), ("order", get_args(Order)), ("unit", get_args(Unit))):
            if (word := getattr(self, key)) not in known:
                what = "the rule for missing turns" if key == "missing" else key
                raise UsageError(f"bad-{key}", f"{what} is {word!r}", f"write {', '.join(known[:-1])} or {known[-1]}")
        for key in ("documents", "strict"):
            if not isinstance(flag := getattr(self, key), bool):
                raise UsageError(f"bad-{key}", f"{key} is {flag!r}", "write true or false")

    def as_dict(self) -> dict[str, Any]:
        """Return the policy as in the JSON output."""
        return {key: value for key, value in asdict(self).items() if key != "strict"}

    def describe(self) -> str:
        """Return order and relevance level in words, for the policy line below each table."""
        by_score = ["ties by docid descending", "scores as float32"]
        parts = by_score if self.order == "score" else ["order by the rank column"]
        if self.documents:
            parts.append(BY_DOCUMENT)
        if self.depth is not None:
            parts.append(f"top {self.depth} only")
        parts.append(f"relevant ≥ {self.relevance_level} (binary measures)")
        return " · ".join(parts)
