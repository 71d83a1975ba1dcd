"""One evaluation policy, stated once and printed everywhere.

Tools of this field silently disagree on which turns count, how ties are ordered and what is relevant.
robustcs follows trec_eval (with ``-c``) and the CAsT guidelines, and says so below every table.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from robustcs.errors import UsageError

Missing = Literal["zero", "drop", "own"]
Order = Literal["score", "rank"]
Unit = Literal["conversation", "turn"]
#: What the policy line says of runs of passages that are evaluated against judged documents.
BY_DOCUMENT = "documents by their best passage"


@dataclass(frozen=True)
class EvaluationPolicy:
    """How runs and qrels become scores.

    relevance_level
        The grade from which a passage is relevant in binary measures (P, recall, map, recip_rank, success, bpref, rbp);
        1 as in trec_eval, 2 at CAsT. nDCG uses the grades themselves and does not change with it.
    missing
        ``zero``: a judged turn that a run lacks scores 0 (``trec_eval -c``). ``drop``: averages go over the turns that
        every run answers. ``own``: each run's average goes over the judged turns that it answers itself (``trec_eval`` without
        ``-c``); what compares runs turn by turn goes over the turns that they share.
    order
        ``score``: score descending, equal scores by document id descending, scores compared as 32-bit floats, as
        trec_eval does. ``rank``: the rank column of the file, equal ranks in file order.
    depth
        Only the first ``depth`` passages of every turn are evaluated; None is the whole run.
    documents
        The runs hold passages ``DOC-N`` and the qrels documents ``DOC``: the best-ranked passage of every document stands for
        it, and the others are left out before ``depth`` is applied.
    unit
        What intervals and tests take as independent: conversations (single turns where turn ids tell no conversations, or
        fewer than five), or ``turn``.
    strict
        Is a file with a single row that cannot be used refused? Else up to 5% of such rows are skipped, but for runs and
        judgments. It changes no score, so that results do not say it.
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
        """The policy as it stands in the JSON output."""
        return {key: value for key, value in asdict(self).items() if key != "strict"}

    def describe(self) -> str:
        """Order and relevance in words: the second half of the line that closes every table."""
        by_score = ["ties by docid descending", "scores as float32"]
        parts = by_score if self.order == "score" else ["order by the rank column"]
        if self.documents:
            parts.append(BY_DOCUMENT)
        if self.depth is not None:
            parts.append(f"top {self.depth} only")
        parts.append(f"relevant ≥ {self.relevance_level} (binary measures)")
        return " · ".join(parts)
