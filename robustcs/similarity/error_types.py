"""What is wrong with a rewrite, by what differs between it and the Human text: word lists and capitals alone.

A rewrite has one type or several; they say what differs, not what the difference does: that is what scores are for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from robustcs.similarity.differences import KINDS, difference_finder
from robustcs.similarity.references import names, referring
from robustcs.similarity.texts import words

IDENTICAL, SPELLING = "identical", "case or punctuation"
PRONOUN, NAME_LOST, DROPPED = "pronoun left", "name lost", "words dropped"
NAME_ADDED, ADDED, WORDING = "name added", "words added", "wording only"
#: The types, from none to what is lost, added and only put differently; the first two and the last stand alone.
ERROR_TYPES = (IDENTICAL, SPELLING, PRONOUN, NAME_LOST, DROPPED, NAME_ADDED, ADDED, WORDING)


def type_finder() -> Callable[[str, str], tuple[str, ...]]:
    """A function of QR and Human text to the types of a rewrite, in the order of :data:`ERROR_TYPES`.

    ``pronoun left``: QR has a pronoun that stands for what was said before, and Human has fewer of it. ``name lost``: a
    capitalised name of Human is not in QR, however written; ``name added`` the other way round. ``words dropped`` and ``words
    added``: other content words; forms of one word are one. ``wording only``: order, forms and function words.
    """
    difference = difference_finder()

    def find(qr: str, human: str) -> tuple[str, ...]:
        found = difference(qr, human)
        if found.kinds == KINDS[:1]:
            return (IDENTICAL,)
        if found.kinds == KINDS[1:2]:
            return (SPELLING,)
        theirs, ours = ({word for name in names(text) for word in words(name)} for text in (human, qr))
        there = {
            PRONOUN: bool(Counter(referring(qr)) - Counter(referring(human))),
            NAME_LOST: any(word in theirs for word in found.missing),
            DROPPED: any(word not in theirs for word in found.missing),
            NAME_ADDED: any(word in ours for word in found.added),
            ADDED: any(word not in ours for word in found.added),
        }
        return tuple(kind for kind, holds in there.items() if holds) or (WORDING,)

    return find
