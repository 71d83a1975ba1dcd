"""Fields of turns: what readers found in them."""

from __future__ import annotations

from functools import partial

from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.table import NO_SYSTEM, Contribution, TurnField, Values, aligned_words

TAG = TurnField(
    "tag", "words", "categories that coders assigned", "review", several=True, place="none"
)
CODER = TurnField(
    "coder", "words", "coders who reviewed the turn", "review", several=True, place="none"
)


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return the labels of readers, if the project has reviews."""
    if not inputs.reviews:
        return []
    return [
        Contribution(TAG, partial(_values, inputs, True)),
        Contribution(CODER, partial(_values, inputs, False)),
    ]


def _values(inputs: TurnInputs, tags: bool) -> Values:
    found: dict[str, list[str]] = {}
    for one in inputs.reviews:
        found.setdefault(one.turn, []).extend(one.categories if tags else (one.coder,))
    return {NO_SYSTEM: aligned_words(inputs.ids, found)}
