"""Assignment of turns to slices by ids, texts or a user's columns, for all commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustcs.conversations import Conversations
from robustcs.errors import UsageError
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Either, Message
from robustcs.similarity.function_words import (
    AUXILIARIES,
    CONNECTING,
    QUESTION_WORDS,
    REQUESTS,
    is_grammar,
    names,
    plain_words,
    referring,
)
from robustcs.slicing import BY_IDS, BY_TEXTS, TEXTS
from robustcs.statistics import Codes
from robustcs.wording import Note, counted

#: Classes of question length: the largest number of words of each class except the last.
LENGTHS = (5, 8)


def pronoun(text: str) -> str:
    """Return ``yes`` if the text contains a pronoun that refers to earlier text, else ``no``.

    A ``that`` directly after a content word begins a clause (foods that help) and does not count.
    """
    return "yes" if referring(text) else "no"


def ellipsis(text: str) -> str:
    """Return ``yes`` if the question is elliptical, else ``no``.

    A question is elliptical if it begins with and, or, but, also, then, what about or how about; if it consists of function
    words only (why?); or if it has no question word and no auxiliary and does not begin like a request (tell me).
    """
    words = plain_words(text)
    if all(map(is_grammar, words)):
        return "yes"
    first = words[0]
    if first in CONNECTING or (first in ("what", "how") and words[1] == "about"):
        return "yes"
    asks = any(
        word in QUESTION_WORDS or word in AUXILIARIES or word.endswith("n't") for word in words
    )
    return "no" if asks or first in REQUESTS else "yes"


def length(text: str) -> str:
    """Return the class of the number of words: ``1–5``, ``6–8`` or ``9+``."""
    words, start = len(plain_words(text)), 1
    for last in LENGTHS:
        if words <= last:
            return f"{start}–{last}"
        start = last + 1
    return f"{start}+"


def name_kept(text: str, human: str) -> str:
    """Return ``lost`` if ``text`` misses a capitalised name of Human, ``kept`` if it has all, ``none`` without a name."""
    named = names(human)
    if not named:
        return "none"
    return "kept" if named <= {word.removesuffix("'s") for word in plain_words(text)} else "lost"


def topic_shifts(
    texts: Mapping[str, str], conversations: Conversations | None = None
) -> dict[str, str]:
    """Return turn → ``first``, ``stays``, ``returns`` or ``shifts``, by the content words shared with earlier questions.

    A turn ``stays`` if it shares a word with the previous question, ``returns`` if only with an earlier one, and ``shifts`` if
    with none. Words are compared without case, genitive and plural s. ``texts``: all known texts, evaluated or not, preferably
    self-contained ones. Turns without a known place in a conversation are excluded.
    """
    conversations = conversations or Conversations.from_ids(texts)
    by_conversation: dict[str, list[tuple[int, str]]] = {}
    for turn in texts:
        depth = conversations.depth(turn)
        if depth is not None:
            by_conversation.setdefault(conversations.of(turn), []).append((depth, turn))
    found = {}
    for turns in by_conversation.values():
        earlier: list[set[str]] = []
        for _, turn in sorted(turns):
            own = {
                _stem(word)
                for word in plain_words(texts[turn])
                if not is_grammar(word) and word not in REQUESTS
            }
            found[turn] = _shift(own, earlier)
            earlier.append(own)
    return found


def _shift(own: set[str], earlier: Sequence[set[str]]) -> str:
    if not earlier:
        return "first"
    if own & earlier[-1]:
        return "stays"
    return "returns" if any(own & words for words in earlier) else "shifts"


def _stem(word: str) -> str:
    plain = word.removesuffix("'s")
    return (
        plain[:-1]
        if len(plain) > 3 and plain.endswith("s") and not plain.endswith(("ss", "us", "is"))
        else plain
    )


Texts = Mapping[str, Mapping[str, str]]


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
        The only system to which it applies, because it is read from the texts of that system; empty for all systems.
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
    try:
        found = tuple(map(float, values))
    except ValueError:
        return None
    return found if all(map(np.isfinite, found)) else None


def slicing(
    name: str, turns: Sequence[str], values: Mapping[str, str], system: str = ""
) -> Slicing:
    """Return the slicing of ``turns`` by ``values``, turn → value."""
    different = sorted({values[turn] for turn in turns if turn in values}, key=turn_sort_key)
    numbers = _numbers(different)
    slices = tuple(
        different
        if numbers is None
        else (value for _, value in sorted(zip(numbers, different, strict=True)))
    )
    places = {value: place for place, value in enumerate(slices)}
    return Slicing(
        name,
        slices,
        np.array([places.get(values.get(turn, ""), -1) for turn in turns], dtype=np.int64),
        system,
    )


def turn_slicings(
    asked: Sequence[str],
    turns: Sequence[str],
    texts: Texts,
    columns: Mapping[str, Mapping[str, str]],
    offered: Sequence[str] = (),
    conversations: Conversations | None = None,
) -> tuple[tuple[Slicing, ...], tuple[str, ...]]:
    """Return the requested slicings, then one for each of ``columns``, and notes.

    texts
        Name of a formulation → turn → text, for all turns with a text, evaluated or not. ``original`` is used for pronoun,
        ellipsis and length; ``human`` (else ``original``) for topic shifts; both for names; and a rewriter's texts for the
        names in its rewrites.
    columns
        Column of a user's file → turn → value. A column replaces a property of the same name.
    offered
        Properties that are used if ids and texts provide them, before the requested ones.
    conversations
        The conversations of the project; None: those that the ids of ``turns`` show.

    Raises :class:`UsageError` for a requested property of texts that are missing.
    """
    known = conversations or Conversations.from_ids(turns)
    if_told = _words(offered)
    found: dict[tuple[str, str], Slicing] = {}
    lacking: list[str] = []
    for name in dict.fromkeys((*if_told, *_words(asked))):
        made = (
            _by_ids(name, turns, known) if name in BY_IDS else _by_texts(name, turns, texts, known)
        )
        found |= {(one.name, one.system): one for one in made if one.slices}
        if not any(one.slices for one in made):
            lacking.append(name)
    for name, values in columns.items():
        found = {key: one for key, one in found.items() if key[0] != name}
        found[name, ""] = slicing(name, turns, values)
    _refuse_unknown(lacking, asked, found)
    notes = [
        f"no slices by {name}: {_WHY[name]}"
        for name in lacking
        if name in _words(asked) and name not in columns
    ]
    for one in found.values():
        silent = int((one.codes < 0).sum())
        if silent and not one.system:
            what = f"column {one.name}" if one.name in columns else one.name
            some = f"{silent} of the {counted(len(turns), 'turn')}"
            kind = "slices that have no value for some turns"
            notes.append(Note.of(what, some, kind, f"slices: {what} has no value for {some}"))
    return tuple(found.values()), tuple(notes)


def _words(asked: Sequence[str]) -> list[str]:
    return [word for name in asked for word in (BY_TEXTS if name == TEXTS else (name,))]


_NO_ORIGINAL = "there are no Original texts"
_WHY = {
    **dict.fromkeys(
        ("first", "depth"), "the turn ids do not contain the place in the conversation"
    ),
    "conversation": "the turn ids do not contain conversations",
    **dict.fromkeys(("pronoun", "ellipsis", "length"), _NO_ORIGINAL),
    "shift": "it requires Human or Original texts, and turn ids with the place in the conversation",
    "name": "it requires Human texts and texts of another formulation",
}


def _refuse_unknown(
    lacking: Sequence[str], asked: Sequence[str], found: Mapping[tuple[str, str], Slicing]
) -> None:
    """Raise for a property of texts that was requested by name, or for ``texts`` if no property is known."""
    told = {name for name, _ in found}
    named = [name for name in lacking if name in asked and name in BY_TEXTS and name not in told]
    if TEXTS in asked and not told.intersection(BY_TEXTS):
        named = [TEXTS]
    if named:
        why = _NO_ORIGINAL if named[0] == TEXTS else _WHY[named[0]]
        advice = Message(
            "name texts with ",
            Either(
                "--rewrites original=FILE, human=FILE", "rewrites={'original': FILE, 'human': FILE}"
            ),
            ", or as rewrites in robustcs.toml",
        )
        raise UsageError("no-texts", f"no slices by {named[0]}: {why}", advice)


def _by_ids(name: str, turns: Sequence[str], conversations: Conversations) -> list[Slicing]:
    if name == "conversation":
        values = {turn: conversations.of(turn) for turn in turns}
        return [slicing(name, turns, values if len(set(values.values())) < len(turns) else {})]
    depths = {turn: depth for turn in turns if (depth := conversations.depth(turn)) is not None}
    if name == "depth":
        return [slicing(name, turns, {turn: str(depth) for turn, depth in depths.items()})]
    return [
        slicing(
            name,
            turns,
            {turn: "first" if depth == 1 else "later" for turn, depth in depths.items()},
        )
    ]


_OF_ONE_TEXT: dict[str, Callable[[str], str]] = {
    "pronoun": pronoun, "ellipsis": ellipsis, "length": length,
}  # fmt: skip


def _by_texts(
    name: str, turns: Sequence[str], texts: Texts, conversations: Conversations
) -> list[Slicing]:
    original, human = texts.get("original", {}), texts.get("human", {})
    if name == "shift":
        return [slicing(name, turns, topic_shifts({**original, **human}, conversations))]
    if name == "name":
        made = []
        for system, own in texts.items():
            if system != "human":
                values = {
                    turn: name_kept(own[turn], human[turn])
                    for turn in turns
                    if turn in own and turn in human
                }
                general = system == "original"
                made.append(
                    slicing(
                        name if general else "name in rewrite",
                        turns,
                        values,
                        "" if general else system,
                    )
                )
        return made
    read = _OF_ONE_TEXT[name]
    return [
        slicing(name, turns, {turn: read(original[turn]) for turn in turns if turn in original})
    ]
