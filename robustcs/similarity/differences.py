"""Differences between a rewrite (QR) and the manual one (Human): lost or added words and names,
pronouns, wording, or case.

They describe the texts, not the effect on scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from robustcs.similarity.function_words import names, referring
from robustcs.similarity.rouge_bleu import stem, tokens_of
from robustcs.similarity.texts import words

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
#: English words with grammar rather than content, as :func:`~robustcs.similarity.texts.words`
#: writes them.
FUNCTION_WORDS = frozenset(_GRAMMAR.split())

IDENTICAL, SPELLING, ORDER = "identical", "case or punctuation", "word order"
PRONOUN, NAME_LOST, DROPPED = "pronoun left", "name lost", "words dropped"
NAME_ADDED, ADDED, WORDING = "name added", "words added", "wording only"
#: Error types: none, lost, added, and differences of wording only. The first three and the last
#: exclude all others.
ERROR_TYPES = (IDENTICAL, SPELLING, ORDER, PRONOUN, NAME_LOST, DROPPED, NAME_ADDED, ADDED, WORDING)


class Difference(NamedTuple):
    """The difference of one turn.

    types
        Its error types (one or several), in the order of :data:`ERROR_TYPES`.
    missing, added
        The content words missing in QR and added by QR, in the order of the texts.
    """

    types: tuple[str, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]


@cache
def _stem(word: str) -> str:
    if word.isascii() and word.isalnum():  # one token
        return stem(word) if len(word) > 3 else word
    return " ".join(tokens_of(word)) or word


@lru_cache(32_768)  # several parts of a report describe the same texts
def text_difference(qr: str, human: str) -> Difference:
    """Return the difference between the texts of QR and Human.

    Words are compared as multisets without case, punctuation and apostrophes. Words with the same
    Porter stem are forms of one word.

    - ``pronoun left``: QR contains a pronoun that refers to earlier text more often than Human
      does.
    - ``name lost``: a capitalised name of Human is not in QR, in any case. ``name added``: the
      reverse.
    - ``words dropped``, ``words added``: other content words; forms of one word count as the same.
    - ``word order``: the same words in another order. ``wording only``: word forms and function
      words.
    """
    if qr.strip() == human.strip():
        return Difference((IDENTICAL,), (), ())
    ours, theirs = words(qr), words(human)
    if ours == theirs:
        return Difference((SPELLING,), (), ())
    missing, added = _without(theirs, ours), _without(ours, theirs)
    if not missing and not added:
        return Difference((ORDER,), (), ())
    missing, added = (
        [word for word in some if word not in FUNCTION_WORDS] for some in (missing, added)
    )
    lost, new = _without(missing, added, _stem), _without(added, missing, _stem)
    in_human, in_qr = (
        {word for name in names(text) for word in words(name)} for text in (human, qr)
    )
    there = {
        PRONOUN: bool(_without(referring(qr), referring(human))),
        NAME_LOST: any(word in in_human for word in lost),
        DROPPED: any(word not in in_human for word in lost),
        NAME_ADDED: any(word in in_qr for word in new),
        ADDED: any(word not in in_qr for word in new),
    }
    return Difference(
        tuple(kind for kind, holds in there.items() if holds) or (WORDING,), tuple(lost), tuple(new)
    )


def _without(
    some: Iterable[str], others: Iterable[str], key: Callable[[str], str] | None = None
) -> list[str]:
    """Return the words that ``others`` do not have, by their key, in order; of a repeated word, the
    last occurrences.
    """
    left = Counter(map(key, others) if key else others)
    kept = []
    for word in some:
        if left.get(own := key(word) if key else word):
            left[own] -= 1
        else:
            kept.append(word)
    return kept
