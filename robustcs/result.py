"""What every analysis returns: tables, the policy that made them, and notes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from robustcs.policy import EvaluationPolicy

if TYPE_CHECKING:
    import pandas as pd

#: Where the scores come from: runs joined with qrels, per-turn score files, or predicted answers; ``texts`` has no scores.
Basis = Literal["runs", "scores", "answers", "texts"]


@dataclass(frozen=True)
class Evaluated:
    """Which turns a result is about and how they were scored.

    turns
        Turns evaluated.
    missing
        Turns that at least one run (or file) lacks: scored 0 or dropped, as the policy says.
    """

    policy: EvaluationPolicy
    basis: Basis
    turns: int
    missing: int
    notes: tuple[str, ...] = ()

    @property
    def policy_line(self) -> str:
        """The line that closes every table and report."""
        plural = "s" if self.turns != 1 else ""
        if self.basis == "texts":
            return f"{self.turns} turn{plural} · texts only, nothing is scored"
        missing = "missing turns score 0" if self.policy.missing == "zero" else "missing turns dropped"
        parts = [f"{self.turns} turn{plural}", f"{missing} ({self.missing})"]
        if self.basis == "runs":
            parts.append(self.policy.describe())
        elif self.basis == "scores":
            parts.append("scores as given, their own relevance level and order")
        else:
            parts.append("best gold answer counts · SQuAD normalisation")
        return " · ".join(parts)


    def as_dict(self) -> dict[str, Any]:
        """The ``policy`` of the JSON output."""
        return {
            **self.policy.as_dict(), "basis": self.basis, "turns": self.turns, "missing_turns": self.missing,
            "line": self.policy_line,
        }  # fmt: skip


@dataclass(frozen=True)
class Result:
    """Base of all results. Every field of a subclass that is a pandas frame is one of its tables, under the field's name."""

    evaluated: Evaluated

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Table name → frame, the main table first."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.type == "pd.DataFrame"}
