"""Alignment of a sentence with its passage, even if punctuation or letters of the sentence were lost.

Released files contain sentences that other programs extracted from passages: dashes, quotes and soft hyphens are missing, and
in some files every character outside ASCII (``Wallstrm`` for ``Wallström``). A sentence is searched for verbatim, then by its
letters and digits, then by its ASCII letters and digits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

#: How a sentence matched.
How = Literal["verbatim", "letters and digits", "ASCII letters and digits"]
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Alignment:
    """Matching characters of a sentence and of its passage.

    how
        What was compared.
    own, there
        Positions in the sentence and in the passage, ascending and of the same number.
    """

    how: How
    own: tuple[int, ...]
    there: tuple[int, ...]

    def cut(self, spans: Iterable[tuple[int, int]]) -> Spans:
        """Return half-open ``spans`` of the passage as spans of the sentence; parts outside the sentence are dropped.

        A span reaches from the first to the last character of the sentence that it contains.
        """
        found = []
        for start, end in spans:
            first, last = bisect_left(self.there, start), bisect_left(self.there, end)
            if first < last:
                found.append((self.own[first], self.own[last - 1] + 1))
        return tuple(found)


def align(sentence: str, passage: str) -> Alignment | None:
    """Align ``sentence`` with its first occurrence in ``passage``; None if there is none."""
    place = passage.find(sentence)
    if place >= 0 and sentence:
        return Alignment("verbatim", tuple(range(len(sentence))), tuple(range(place, place + len(sentence))))
    kept: tuple[tuple[How, Callable[[str], bool]], ...] = (
        ("letters and digits", str.isalnum),
        ("ASCII letters and digits", lambda one: one.isascii() and one.isalnum()),
    )
    for how, keep in kept:
        own, there = ([at for at, one in enumerate(text) if keep(one)] for text in (sentence, passage))
        needle, hay = ("".join(text[at] for at in places) for text, places in ((sentence, own), (passage, there)))
        place = hay.find(needle)
        if needle and place >= 0:
            return Alignment(how, tuple(own), tuple(there[place : place + len(own)]))
    return None
