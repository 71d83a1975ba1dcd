"""Differences between a rewrite (QR) and the manual one (Human).

These are lost or added words and names, pronouns, wording, or case. They describe the texts, not
the effect on scores.
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
a about above after again against all also am an and any are arent around as at be because been
before being below between both but by can cannot cant could couldnt did didnt do does doesnt doing
done dont down during each either else ever few for from further get had hadnt has hasnt have havent
having he her here hers herself hes him himself his how hows i id if ill im in into is isnt it itll
its itself ive just let lets like may me might more most much must my myself neither no nor not now
of off on once one ones only or other others our ours ourselves out over own per please same shall
she shes should shouldnt so some such tell than that thats the their theirs them themselves then
there theres these they theyre theyve this those though through to too under until up upon us very
was wasnt we well were werent weve what whats when whens where wheres whether which while who whom
whos whose why will with within without wont would wouldnt yes yet you your youre yours yourself
youve
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


#: Words that are not longer have no other forms.
_LONGEST_UNSTEMMED = 3


@cache
def _stem(word: str) -> str:
    """Return the key of a word: equal for the forms of one word."""
    is_one_token = word.isascii() and word.isalnum()
    if is_one_token:
        return stem(word) if len(word) > _LONGEST_UNSTEMMED else word
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
    qr_words, human_words = words(qr), words(human)
    if qr_words == human_words:
        return Difference((SPELLING,), (), ())
    only_human, only_qr = _without(human_words, qr_words), _without(qr_words, human_words)
    if not only_human and not only_qr:
        return Difference((ORDER,), (), ())

    only_human, only_qr = _content(only_human), _content(only_qr)
    missing = _without(only_human, only_qr, _stem)
    added = _without(only_qr, only_human, _stem)
    human_names, qr_names = _words_of_names(human), _words_of_names(qr)
    types = []
    if _without(referring(qr), referring(human)):
        types.append(PRONOUN)
    if any(word in human_names for word in missing):
        types.append(NAME_LOST)
    if any(word not in human_names for word in missing):
        types.append(DROPPED)
    if any(word in qr_names for word in added):
        types.append(NAME_ADDED)
    if any(word not in qr_names for word in added):
        types.append(ADDED)
    return Difference(tuple(types) or (WORDING,), tuple(missing), tuple(added))


def _content(text_words: Iterable[str]) -> list[str]:
    return [word for word in text_words if word not in FUNCTION_WORDS]


def _words_of_names(text: str) -> set[str]:
    """Return the words of the names in a text, as :func:`words` writes them."""
    return {word for name in names(text) for word in words(name)}


def _without(
    text_words: Iterable[str],
    other_words: Iterable[str],
    key: Callable[[str], str] | None = None,
) -> list[str]:
    """Return the words that ``other_words`` do not have, in order; words are equal by ``key``.

    Of a word that occurs more often than in the others, the last occurrences are returned.
    """
    unmatched = Counter(map(key, other_words) if key else other_words)
    remaining = []
    for word in text_words:
        word_key = key(word) if key else word
        if unmatched.get(word_key):
            unmatched[word_key] -= 1
        else:
            remaining.append(word)
    return remaining
