"""Field of turns: how far their scores changed between two states."""

from __future__ import annotations

from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.table import Contribution, TurnField

CHANGE = TurnField(
    "change",
    "number",
    "new minus old score in the headline measure, or in that of `at:`; only in compare",
    "compare",
    per_system=True,
    by_cut=True,
    place="none",
)


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return no fields: a single state has no changes."""
    return []
