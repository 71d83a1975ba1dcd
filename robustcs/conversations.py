"""Which turns form a conversation: from fields of files, else from turn ids if all together look like places in conversations.

Known forms of ids: ``31_4`` (CAsT, iKAT, QReCC, TopiOCQA), ``1-1_3`` (iKAT), ``132_1-3`` (CAsT 2022), ``C_…_1_q#2`` (QuAC and
CANARD), ``hash<::>4``, ``hash::4`` and ``hash_4`` (MTRAG), and a word for a conversation with its number: ``conv12_3``,
``session-7_2``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from robustcs.wording import counted

#: The known forms; each has a group of the conversation, then of the place.
_HASH = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}"
_WORD = r"(?i:conversation|conv|session|sess|dialogue|dialog|dial|chat|thread)"
_FORMS = re.compile(
    r"(.+)_q#([0-9]+)|(.+)<::>([^<>]*)|"
    rf"({_HASH})(?:::|_)([0-9]+)|([0-9]+(?:-[0-9]+)?)_([0-9]+)|([0-9]+_[0-9]+)-([0-9]+)|"
    rf"(QReCC-[A-Za-z]+_[0-9]+)_([0-9]+)|({_WORD}[-_]?[0-9]+)[-_]([0-9]+)"
)
#: Group of the place in QuAC's form, which counts from 0.
_QUAC = 2
#: Any id that ends in a number after a separator: ``locomo_0_qa17``, ``billing-07``.
_OTHER = re.compile(r"(.*[^-_:./#\s])[-_:./#]+[A-Za-z]*([0-9]+)")
#: Conversations that share a topic: iKAT's ``1-2`` (topic, conversation), CAsT 2022's ``132_1``.
_SHARED_TOPIC = re.compile(r"([0-9]+)(?:-[0-9]+_|_[0-9]+-)[0-9]+")
#: Largest number of digits of a place; greater numbers are ids and would not fit into an array.
_DIGITS = 18

#: Conversations begin at one of the first turns (CAsT judges some turns only), and end at no more than so many times their
#: number of turns (CAsT 2022 counts by twos).
_FIRST, _TIMES = 3, 5
#: Largest place if all conversations have one turn, so that nothing else tells places from other numbers.
_LONGEST = 100
#: Smallest number of groups of another form that a note offers as units.
_LEAST_GROUPS = 5

#: Turn → its conversation, and its place there if known.
Places = Mapping[str, tuple[str, int | None]]
Source = Literal["fields", "pattern", "none"]
#: The words of ``[policy] conversation``; anything else is a file.
NONE, PATTERN = "none", "pattern"


@dataclass(frozen=True)
class Conversations:
    """The conversations of a set of turns, decided once for all of them.

    places
        Places of turns from explicit fields, which precede ids.
    by_ids
        Turn ids contain conversations and places.
    any_form
        Ids of any form that ends in a number do (``conversation = "pattern"``).
    example
        A turn whose conversation is known; empty if there is none.
    single
        Each conversation that the ids show has one turn, so that turns are units.
    said
        Part of the policy line: where conversations come from, if they are not those that the ids show.
    note
        Groups of ids that could be units, but are not.
    """

    places: Places = field(default_factory=dict, repr=False)
    by_ids: bool = False
    any_form: bool = False
    example: str = ""
    single: bool = False
    said: str = ""
    note: str = ""

    @classmethod
    def from_ids(cls, turns: Iterable[str], decided: str = "") -> Conversations:
        """Decide whether ids contain conversations.

        turns
            All known turns. Ids contain places if at least two thirds of the conversations with several turns begin at one of
            the first three turns and end at no more than five times their number of turns. If every conversation has one turn,
            the number in the id is its place.
        decided
            ``none`` or ``pattern``: what the user decided, whatever the ids look like.
        """
        every = list(dict.fromkeys(turns))
        if decided == NONE:
            return cls(said="conversations set to none")
        if decided == PATTERN:
            made = cls(
                by_ids=True,
                any_form=True,
                said="conversations from any number at the end of a turn id",
            )
        elif _plausible(every):
            made = cls(by_ids=True)
            made = replace(made, single=len(set(map(made.of, every))) == len(every))
        else:
            return cls(note=_offer(every))
        return replace(made, example=_example(made, every))

    @classmethod
    def from_fields(cls, places: Places, turns: Iterable[str], file: str) -> Conversations:
        """Return conversations from fields of ``file``; fields that repeat the ids add nothing.

        A turn without a field is its own conversation: names from fields and from ids are not of one kind.
        """
        every = list(dict.fromkeys(turns))
        by_ids = cls.from_ids(every)
        told = [turn for turn in every if turn in places]
        if all(places[turn] in (by_ids._place(turn), (by_ids.of(turn), None)) for turn in told):
            return by_ids
        names = {conversation for conversation, _ in places.values()}
        alone = {
            turn: (f"turn {turn}", None) for turn in every if turn not in places and turn in names
        }
        made = cls({**places, **alone}, said=f"conversations from the fields of {file}")
        return replace(made, example=_example(made, told) or told[0])

    @property
    def source(self) -> Source:
        """Where conversations come from."""
        return "fields" if self.places else "pattern" if self.by_ids else "none"

    def of(self, turn: str) -> str:
        """Return the conversation of a turn; a turn without a known conversation is its own.

        For CAsT 2022 this is one branch of the topic's tree: ``132_1`` for ``132_1-3``.
        """
        return self._place(turn)[0]

    def depth(self, turn: str) -> int | None:
        """Return the place of the turn in its conversation, from 1; None if it is unknown."""
        return self._place(turn)[1]

    def unit(self, turn: str) -> str:
        """Return the sampling unit of a turn: its conversation, or the topic that several conversations share.

        Questions on one topic are related: ``132`` for ``132_1-3``, ``1`` for ``1-2_3``.
        """
        found = _SHARED_TOPIC.fullmatch(turn) if self.by_ids and turn not in self.places else None
        return found[1] if found else self.of(turn)

    def kind(self, turns: Sequence[str]) -> str:
        """Return what :meth:`unit` returns for ``turns``: a ``topic`` if ids contain topic and conversation."""
        by_topic = self.by_ids and any(
            turn not in self.places and _SHARED_TOPIC.fullmatch(turn) for turn in turns
        )
        return "topic" if by_topic else "conversation"

    def earlier(self, turns: Iterable[str]) -> dict[str, list[str]]:
        """Return for each of ``turns`` the earlier turns of its conversation, by their places; ``turns`` are in natural order.

        A turn without a place in the id has no history.
        """
        so_far: dict[str, list[str]] = {}
        found = {}
        for turn in sorted(turns, key=lambda turn: self.depth(turn) or 0):
            alone = self.depth(turn) is None and turn not in self.places
            known = so_far.setdefault(turn if alone else self.of(turn), [])
            found[turn] = list(known)
            known.append(turn)
        return found

    @property
    def in_words(self) -> str:
        """Where conversations come from: ``conversations from turn ids: 31_4 is turn 4 of conversation 31``."""
        if not self.example:
            return "no conversations: each turn is a sampling unit"
        conversation, depth = self._place(self.example)
        place = f"turn {depth} of" if depth is not None else "in"
        source = self.said.removeprefix("conversations from ") or "turn ids"
        one = ", one turn of each" if self.single else ""
        return f"conversations from {source}{one}: {self.example} is {place} conversation {conversation}"

    def _place(self, turn: str) -> tuple[str, int | None]:
        known = self.places.get(turn)
        if known is not None or not self.by_ids:
            return known or (turn, None)
        return _parsed(turn, self.any_form) or (turn, None)


@lru_cache(maxsize=1 << 14)  # each decision looks at every turn several times
def _parsed(turn: str, any_form: bool = False) -> tuple[str, int | None] | None:
    """Return conversation and place of an id in one of the known forms, or in any form that ends in a number."""
    found = _FORMS.fullmatch(turn) or (_OTHER.fullmatch(turn) if any_form else None)
    if found is None or found.lastindex is None:
        return None
    digits = found[found.lastindex].lstrip("0") or "0"
    whole = (
        found[found.lastindex].isascii()
        and found[found.lastindex].isdecimal()
        and len(digits) <= _DIGITS
    )
    first = 1 if found.re is _FORMS and found.lastindex == _QUAC else 0
    return found[found.lastindex - 1], int(digits) + first if whole else None


def _plausible(turns: Sequence[str]) -> bool:
    """Return whether the numbers in ids of the known forms look like places in conversations."""
    groups: dict[str, list[int]] = {}
    for turn in turns:
        if found := _parsed(turn):
            groups.setdefault(found[0], []).extend([] if found[1] is None else [found[1]])
    several = [places for places in groups.values() if len(places) > 1]
    if not several:
        return any(groups) and all(
            place <= _LONGEST for places in groups.values() for place in places
        )
    fitting = sum(
        min(places) <= _FIRST and max(places) <= _TIMES * len(places) for places in several
    )
    return 3 * fitting >= 2 * len(several)


def _example(found: Conversations, turns: Sequence[str]) -> str:
    """Return a later turn of a conversation with several turns, else a turn with a place."""
    placed = [turn for turn in turns if found.depth(turn) is not None]
    counts: dict[str, int] = {}
    for turn in placed:
        counts[found.of(turn)] = counts.get(found.of(turn), 0) + 1
    later = (turn for turn in placed if counts[found.of(turn)] > 1 and (found.depth(turn) or 0) > 1)
    return next(later, placed[0] if placed else "")


def _offer(turns: Sequence[str]) -> str:
    """Return a note that offers the groups of ids with a common beginning as units; empty if there are too few."""
    groups: dict[str, list[str]] = {}
    for turn in turns:
        if found := _parsed(turn, any_form=True):
            groups.setdefault(found[0], []).append(turn)
    several = {name: own for name, own in groups.items() if len(own) > 1}
    if len(several) < _LEAST_GROUPS or 3 * sum(map(len, several.values())) < 2 * len(turns):
        return ""
    name, (turn, *_) = next(iter(several.items()))
    return (
        f"turn ids begin with one of {counted(len(several), 'name')}, such as {name} in {turn}, but their numbers do not look"
        f" like positions in a conversation, so each turn is a sampling unit; to use these groups, add --conversation pattern"
    )
