"""Where a sentence stands in its passage, although punctuation or whole letters were lost on the way.

Released files hold sentences that other programs cut out of passages: dashes, quotes and soft hyphens are gone, and in some
every character outside ASCII is (``Wallstrm`` for ``Wallström``). A sentence is looked for as it stands, then by its letters
and digits, then by those of ASCII alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

#: How a sentence was found.
How = Literal["verbatim", "letters and digits", "ASCII letters and digits"]
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Alignment:
    """Characters of a sentence and of its passage that are the same, both ascending and as many.

    how
        What was compared.
    own, there
        Their places in the sentence and in the passage.
    """

    how: How
    own: tuple[int, ...]
    there: tuple[int, ...]

    def cut(self, spans: Iterable[tuple[int, int]]) -> Spans:
        """Half-open ``spans`` of the passage as spans of the sentence; what lies outside it is gone.

        A span goes from the first to the last character of the sentence that it holds.
        """
        found = []
        for start, end in spans:
            first, last = bisect_left(self.there, start), bisect_left(self.there, end)
            if first < last:
                found.append((self.own[first], self.own[last - 1] + 1))
        return tuple(found)


def align(sentence: str, passage: str) -> Alignment | None:
    """Where ``sentence`` first stands in ``passage``; None where it does not."""
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
