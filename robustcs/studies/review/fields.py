"""Fields of turns: what coders found in them."""

from __future__ import annotations

from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.implied import coder_values, tag_values
from robustcs.records.table import Contribution, TurnField

TAG = TurnField(
    "tag", "words", "categories that coders assigned", "review", several=True, place="none"
)
CODER = TurnField(
    "coder", "words", "coders who reviewed the turn", "review", several=True, place="none"
)


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return the labels of coders, if the project has reviews."""
    if not inputs.reviews:
        return []
    return [
        Contribution(TAG, lambda: tag_values(inputs.ids, inputs)),
        Contribution(CODER, lambda: coder_values(inputs.ids, inputs)),
    ]
