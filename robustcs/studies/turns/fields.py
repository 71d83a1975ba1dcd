"""Fields of turns that no analysis computes: ids, conversations, and slices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.table import (
    NO_SYSTEM,
    Contribution,
    TurnField,
    Values,
    aligned_words,
)
from robustcs.slicing import BY_TEXTS
from robustcs.slicing.table import Slicing, turn_slicings

TURN = TurnField("turn", "words", "its id", "turns", place="none")
CONVERSATION = TurnField("conversation", "words", "its conversation", "turns", place="none")
DEPTH = TurnField("depth", "number", "its place in the conversation, from 1", "turns", place="none")

#: Property of texts → what it is.
_SAYS = {
    "pronoun": "whether the Original text has a pronoun",
    "ellipsis": "whether the Original text leaves something out",
    "length": "the length of the Original text",
    "shift": "whether the turn changes the topic",
    "name": "whether the Original text has the names of the Human text",
}
#: The slicing by names in the texts of rewriters, as the slices call it.
_NAME_IN_REWRITE = "name in rewrite"


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return ids and conversations, properties of texts if there are some, and columns of files."""
    ids, conversations = inputs.ids, inputs.conversations
    found = [
        Contribution(TURN, lambda: {NO_SYSTEM: [(turn,) for turn in ids]}),
        Contribution(
            CONVERSATION, lambda: {NO_SYSTEM: [(conversations.of(turn),) for turn in ids]}
        ),
        Contribution(DEPTH, partial(_depths, inputs)),
    ]
    columns = inputs.slice_columns
    if inputs.texts:
        for name in BY_TEXTS:
            if name not in columns:
                field = TurnField(name, "words", _SAYS[name], "turns", place="slices")
                found.append(Contribution(field, partial(_by_texts, inputs, name, _of_turns)))
        says = "whether a rewrite has the names of the Human text"
        field = TurnField(_NAME_IN_REWRITE, "words", says, "turns", True, place="slices")
        found.append(Contribution(field, partial(_by_texts, inputs, "name", _of_systems)))
    for name, values in columns.items():
        field = TurnField(name, "words", f"the column {name} of a file", "turns", place="slices")
        found.append(Contribution(field, partial(_column, inputs, values)))
    return found


def _depths(inputs: TurnInputs) -> Values:
    depths = [inputs.conversations.depth(turn) for turn in inputs.ids]
    known = [np.nan if depth is None else depth for depth in depths]
    return {NO_SYSTEM: np.array(known, float)}


def _column(inputs: TurnInputs, values: Mapping[str, str]) -> Values:
    words = {turn: (value,) for turn, value in values.items()}
    return {NO_SYSTEM: aligned_words(inputs.ids, words)}


def _by_texts(inputs: TurnInputs, name: str, chosen: Callable[[Slicing], bool]) -> Values:
    """Return the values of a property of texts; turns without the texts have none."""
    slicings, _ = turn_slicings((), inputs.ids, inputs.texts, {}, (name,), inputs.conversations)
    values = {}
    for one in slicings:
        if chosen(one):
            values[one.system] = [
                (one.slices[code],) if code >= 0 else () for code in one.codes.tolist()
            ]
    return values


def _of_turns(slicing: Slicing) -> bool:
    return not slicing.system


def _of_systems(slicing: Slicing) -> bool:
    return bool(slicing.system)
