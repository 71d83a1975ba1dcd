"""What differs between a rewrite (QR) and the manual one (Human): words missing or added, their order or form, or only case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import compress
from typing import NamedTuple

from robustcs.similarity import porter
from robustcs.similarity.rouge import tokenizer
from robustcs.similarity.texts import words

#: Kinds of difference, from none to heavy. A turn has one of the first two, or one or more of the others.
KINDS = (
    "identical",
    "case, punctuation, apostrophes",
    "word order",
    "word form",
    "function words",
    "missing content words",
    "added content words",
)

_GRAMMAR = """
a about above after again against all also am an and any are arent around as at be because been before being below between
both but by can cannot cant could couldnt did didnt do does doesnt doing done dont down during each either else ever few for
from further get had hadnt has hasnt have havent having he her here hers herself hes him himself his how hows i id if ill im
in into is isnt it itll its itself ive just let lets like may me might more most much must my myself neither no nor not now
of off on once one ones only or other others our ours ourselves out over own per please same shall she shes should shouldnt
so some such tell than that thats the their theirs them themselves then there theres these they theyre theyve this those
though through to too under until up upon us very was wasnt we well were werent weve what whats when whens where wheres
whether which while who whom whos whose why will with within without wont would wouldnt yes yet you your youre yours
yourself youve
"""
#: English words that carry grammar rather than content, as :func:`~robustcs.similarity.texts.words` writes them.
FUNCTION_WORDS = frozenset(_GRAMMAR.split())


class Difference(NamedTuple):
    """One turn's difference: its kinds, and the content words that QR lacks and has too many, in the order of the texts."""

    kinds: tuple[str, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]


def difference_finder() -> Callable[[str, str], Difference]:
    """A function of QR and Human text; it remembers stems between calls.

    Words are compared as multisets without case, punctuation and apostrophes. Two of equal Porter stem are one word in two
    forms; words of :data:`FUNCTION_WORDS` count apart.
    """
    stems = tokenizer(stem=True)

    @cache
    def stem(word: str) -> str:
        if word.isascii() and word.isalnum():  # one token
            return porter.stem(word) if len(word) > 3 else word
        return " ".join(stems(word)) or word

    def find(qr: str, human: str) -> Difference:
        if qr.strip() == human.strip():
            return Difference(KINDS[:1], (), ())
        ours, theirs = words(qr), words(human)
        if ours == theirs:
            return Difference(KINDS[1:2], (), ())
        missing, added = _surplus(theirs, ours), _surplus(ours, theirs)
        if not missing and not added:
            return Difference(KINDS[2:3], (), ())
        grammar = any(word in FUNCTION_WORDS for word in (*missing, *added))
        missing = [word for word in missing if word not in FUNCTION_WORDS]
        added = [word for word in added if word not in FUNCTION_WORDS]
        shared = Counter(map(stem, missing)) & Counter(map(stem, added))
        missing, added = _without(missing, shared, stem), _without(added, shared, stem)
        there = (bool(shared), grammar, bool(missing), bool(added))
        return Difference(tuple(compress(KINDS[3:], there)), tuple(missing), tuple(added))

    return find


def _surplus(first: list[str], second: list[str]) -> list[str]:
    """The words of ``first`` that ``second`` has fewer times, in order; of a repeated word the last ones."""
    left = Counter(first) - Counter(second)
    kept = []
    for word in reversed(first):
        if left[word] > 0:
            left[word] -= 1
            kept.append(word)
    return kept[::-1]


def _without(some: list[str], taken: Counter[str], stem: Callable[[str], str]) -> list[str]:
    left = Counter(taken)
    kept = []
    for word in some:
        if left[stem(word)] > 0:
            left[stem(word)] -= 1
        else:
            kept.append(word)
    return kept
