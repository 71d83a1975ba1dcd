"""Assignment of turns to slices by ids, texts or a user's columns, for all commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustcs.conversations import Conversations
from robustcs.errors import UsageError
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Either, Message
from robustcs.slicing import BY_IDS, BY_TEXTS, TEXTS
from robustcs.slicing.properties import ellipsis, length, name_kept, pronoun, topic_shifts
from robustcs.statistics import Codes
from robustcs.wording import Note, counted

#: Role of a formulation, which is its name for a rewriter → turn → text.
TextsByFormulation = Mapping[str, Mapping[str, str]]

#: The code of a turn whose value is unknown.
_UNKNOWN = -1
#: Properties of the original text of a turn.
_OF_ORIGINAL: dict[str, Callable[[str], str]] = {
    "pronoun": pronoun,
    "ellipsis": ellipsis,
    "length": length,
}
_NO_PLACE = "the turn ids do not contain the place in the conversation"
_NO_ORIGINAL = "there are no Original texts"
#: Property → why there are no slices by it.
_WHY_NOT = {
    "first": _NO_PLACE,
    "depth": _NO_PLACE,
    "conversation": "the turn ids do not contain conversations",
    "pronoun": _NO_ORIGINAL,
    "ellipsis": _NO_ORIGINAL,
    "length": _NO_ORIGINAL,
    "shift": "it requires Human or Original texts, and turn ids with the place in the conversation",
    "name": "it requires Human texts and texts of another formulation",
    TEXTS: _NO_ORIGINAL,
}


@dataclass(frozen=True, eq=False)
class Slicing:
    """One way to split T turns.

    name
        ``depth``, a column of a user's file, ….
    slices
        The values in natural order; numbers by size.
    codes
        int64[T]: the index of every turn's value in ``slices``; −1 if unknown.
    system
        The only system to which it applies, because it is read from the texts of that system; empty
        for all systems.
    """

    name: str
    slices: tuple[str, ...]
    codes: Codes
    system: str = ""

    @cached_property
    def numbers(self) -> tuple[float, ...] | None:
        """The values as numbers; None unless all are numbers."""
        return _numbers(self.slices)

    def concerns(self, system: str) -> bool:
        """Return whether the slicing applies to the scores of ``system``."""
        return self.system in ("", system)


def _numbers(values: Sequence[str]) -> tuple[float, ...] | None:
    """Return the values as finite numbers; None unless all are."""
    try:
        numbers = tuple(map(float, values))
    except ValueError:
        return None
    return numbers if all(map(np.isfinite, numbers)) else None


def slicing(
    name: str, turns: Sequence[str], values: Mapping[str, str], system: str = ""
) -> Slicing:
    """Return the slicing of ``turns`` by ``values``, turn → value."""
    slices = tuple(_in_order({values[turn] for turn in turns if turn in values}))
    code_of = {value: code for code, value in enumerate(slices)}
    codes = [code_of[values[turn]] if turn in values else _UNKNOWN for turn in turns]
    return Slicing(name, slices, np.array(codes, dtype=np.int64), system)


def _in_order(values: Iterable[str]) -> list[str]:
    """Return the values by size if all are numbers, otherwise in natural order."""
    natural = sorted(values, key=turn_sort_key)
    numbers = _numbers(natural)
    if numbers is None:
        return natural
    return [value for _, value in sorted(zip(numbers, natural, strict=True))]


def turn_slicings(
    named: Sequence[str],
    turns: Sequence[str],
    texts: TextsByFormulation,
    columns: Mapping[str, Mapping[str, str]],
    offered: Sequence[str] = (),
    conversations: Conversations | None = None,
) -> tuple[tuple[Slicing, ...], tuple[str, ...]]:
    """Return the requested slicings, then one for each of ``columns``, and notes.

    named
        Requested properties, or :data:`TEXTS` for all that are read from texts.
    turns
        The evaluated turns.
    texts
        Name of a formulation → turn → text, for all turns with a text, evaluated or not.
        ``original`` is used for pronoun, ellipsis and length; ``human`` (else ``original``) for
        topic shifts; both for names; and a rewriter's texts for the names in its rewrites.
    columns
        Column of a user's file → turn → value. A column replaces a property of the same name.
    offered
        Properties that are used if ids and texts provide them, before the requested ones.
    conversations
        The conversations of the project; None: those that the ids of ``turns`` show.

    Raises :class:`UsageError` for a requested property of texts that are missing.
    """
    conversations = conversations or Conversations.from_ids(turns)
    requested = _properties(named)
    slicings: list[Slicing] = []
    lacking: list[str] = []
    for name in dict.fromkeys((*_properties(offered), *requested)):
        if name in BY_IDS:
            by_property = [_by_ids(name, turns, conversations)]
        else:
            by_property = _by_texts(name, turns, texts, conversations)
        with_values = [cut for cut in by_property if cut.slices]
        slicings += with_values
        if not with_values:
            lacking.append(name)
    for name, values in columns.items():
        slicings = [cut for cut in slicings if cut.name != name]
        slicings.append(slicing(name, turns, values))
    _refuse_unknown(lacking, named, slicings)

    notes = []
    for name in lacking:
        if name in requested and name not in columns:
            notes.append(f"no slices by {name}: {_WHY_NOT[name]}")
    for cut in slicings:
        notes += _notes_on_unknown(cut, cut.name in columns)
    return tuple(slicings), tuple(notes)


def _properties(named: Sequence[str]) -> list[str]:
    """Return the properties, with those of texts in place of :data:`TEXTS`."""
    properties: list[str] = []
    for name in named:
        properties += BY_TEXTS if name == TEXTS else (name,)
    return properties


def _notes_on_unknown(cut: Slicing, is_column: bool) -> list[str]:
    """Return a note if some turns have no value; not for the slicing of a single system."""
    unknown = int((cut.codes == _UNKNOWN).sum())
    if not unknown or cut.system:
        return []
    what = f"column {cut.name}" if is_column else cut.name
    turns = f"{unknown} of the {counted(len(cut.codes), 'turn')}"
    kind = "slices that have no value for some turns"
    return [Note.of(what, turns, kind, f"slices: {what} has no value for {turns}")]


def _refuse_unknown(
    lacking: Sequence[str], named: Sequence[str], slicings: Sequence[Slicing]
) -> None:
    """Raise for a property of texts that was requested by name but cannot be read.

    Also for :data:`TEXTS` if no property of texts can be read.
    """
    known = {cut.name for cut in slicings}
    refused = [name for name in lacking if name in named and name in BY_TEXTS and name not in known]
    if TEXTS in named and not known.intersection(BY_TEXTS):
        refused = [TEXTS]
    if refused:
        raise UsageError(
            "no-texts",
            f"no slices by {refused[0]}: {_WHY_NOT[refused[0]]}",
            Message(
                "name texts with ",
                Either(
                    "--rewrites original=FILE, human=FILE",
                    "rewrites={'original': FILE, 'human': FILE}",
                ),
                ", or as rewrites in robustcs.toml",
            ),
        )


def _by_ids(name: str, turns: Sequence[str], conversations: Conversations) -> Slicing:
    """Return the slicing by a property of :data:`BY_IDS`; without slices if ids do not show it."""
    if name == "conversation":
        by_turn = {turn: conversations.of(turn) for turn in turns}
        # ids without conversations make every turn its own conversation
        shows_conversations = len(set(by_turn.values())) < len(turns)
        return slicing(name, turns, by_turn if shows_conversations else {})
    values = {}
    for turn in turns:
        depth = conversations.depth(turn)
        if depth is None:
            continue
        if name == "depth":
            values[turn] = str(depth)
        else:
            values[turn] = "first" if depth == 1 else "later"
    return slicing(name, turns, values)


def _by_texts(
    name: str, turns: Sequence[str], texts: TextsByFormulation, conversations: Conversations
) -> list[Slicing]:
    """Return the slicings by a property of :data:`BY_TEXTS`, one or, for names, one per system."""
    original, human = texts.get("original", {}), texts.get("human", {})
    if name == "shift":
        return [slicing(name, turns, topic_shifts({**original, **human}, conversations))]
    if name == "name":
        others = [system for system in texts if system != "human"]
        return [_by_names(system, turns, texts[system], human) for system in others]
    read = _OF_ORIGINAL[name]
    return [
        slicing(name, turns, {turn: read(original[turn]) for turn in turns if turn in original})
    ]


def _by_names(
    system: str, turns: Sequence[str], texts: Mapping[str, str], human: Mapping[str, str]
) -> Slicing:
    """Return the slicing by the names of the Human text that the ``texts`` of a system keep."""
    values = {
        turn: name_kept(texts[turn], human[turn])
        for turn in turns
        if turn in texts and turn in human
    }
    if system == "original":
        # what the user wrote is a property of the turn, whatever the system
        return slicing("name", turns, values)
    return slicing("name in rewrite", turns, values, system)
