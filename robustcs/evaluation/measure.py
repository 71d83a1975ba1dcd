"""A measure as a value, which prints as it is parsed."""

from __future__ import annotations

from dataclasses import dataclass

#: Persistence of rank-biased precision where the name gives none: that of ir_measures. trec_eval 10 takes 0.9.
RBP_PERSISTENCE = 0.8
_TITLES = {
    "P": "P", "recall": "R", "success": "Success", "recip_rank": "MRR", "map": "MAP", "ndcg": "NDCG",
    "bpref": "bpref", "rbp": "RBP", "judged": "Judged", "unj": "Unjudged", "f1": "F1", "em": "EM",
}  # fmt: skip


@dataclass(frozen=True)
class Measure:
    """A measure as a value.

    family
        A key of :data:`NATIVE`, or ``trec_eval`` for any other measure that trec_eval knows.
    cutoff
        Ranks that count; None is all.
    level
        Relevance level of its own, instead of the policy's.
    persistence
        p of rank-biased precision.
    """

    name: str
    family: str
    cutoff: int | None = None
    level: int | None = None
    persistence: float | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def right_or_wrong(self) -> bool:
        """Is every turn's score 0 or 1, as of P@1, success and em?"""
        return self.family in ("success", "em") or (self.family == "P" and self.cutoff == 1)

    @property
    def label(self) -> str:
        """The name as papers print it: ``NDCG@3``, ``P@1``, ``F1``."""
        title = _TITLES.get(self.family)
        if title is None:
            return self.name
        arguments = [] if self.level is None else [f"rel={self.level}"]
        if self.family == "rbp":  # tools differ in what they take where none is given
            arguments.append(f"p={RBP_PERSISTENCE if self.persistence is None else self.persistence:g}")
        if arguments:
            title += f"({','.join(arguments)})"
        return title if self.cutoff is None else f"{title}@{self.cutoff}"
