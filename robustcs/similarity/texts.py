"""Similarity of texts: words, Jaccard similarity of answers, distinct n-grams, the gold information
in a text, and the place of a sentence in its passage.

Gold information is compared by content words, in lower case and stemmed (Porter), as in ROUGE-1
(Lin 2004). Only the presence of words counts: a text with the same meaning in other words gets no
credit, and a text that denies the information does.

A sentence is aligned with its passage even if punctuation or letters of the sentence were lost.
Released files contain sentences that other programs extracted from passages: dashes, quotes and
soft hyphens are missing, and in some files every character outside ASCII (``Wallstrm`` for
``Wallström``). A sentence is searched for verbatim, then by its letters and digits, then by its
ASCII letters and digits.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from robustcs.evaluation.answers import answer_tokens
from robustcs.similarity.function_words import WORD, is_grammar, plain_words
from robustcs.similarity.rouge_bleu import common, stem

_APOSTROPHES = re.compile("['’‘`´]")
_WORD = re.compile(r"[^\W_]+")

Words = Counter[str]


def words(text: str) -> list[str]:
    """Return the words of a text without case, punctuation and apostrophes: whats, the, dogs for
    ``What's the dog's``.
    """
    return _WORD.findall(_APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold())


def answer_jaccard(first: str, second: str) -> float:
    """Return the Jaccard similarity of the token sets of two answers, in [0, 1].

    Tokens have SQuAD normalisation; two answers without tokens have similarity 1. Source: Figure 3
    of the error-analysis paper.
    """
    ours, theirs = set(answer_tokens(first)), set(answer_tokens(second))
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def distinct_n(texts: Sequence[Sequence[str]], n: int) -> float:
    """Return the number of distinct word n-grams divided by all n-grams of the texts, in (0, 1];
    NaN without n-grams.

    ``texts``: the :func:`words` of each text. Source: Li et al. (2016).
    """
    grams = [
        gram for some in texts for gram in zip(*(some[start:] for start in range(n)), strict=False)
    ]
    return len(set(grams)) / len(grams) if grams else float("nan")


class Precision(NamedTuple):
    """The number of words of a text that are in the gold information, and the number of all its
    words.
    """

    shared: int
    words: int

    @property
    def value(self) -> float:
        """The share; 0 for a text without words."""
        return self.shared / self.words if self.words else 0.0


def content_words(text: str) -> Words:
    """Return the counts of the stems of a text's content words."""
    found: Words = Counter()
    for written, count in Counter(WORD.findall(text)).items():
        if (one := _content_stem(written)) is not None:
            found[one] += count
    return found


@cache
def _content_stem(written: str) -> str | None:
    """Return the stem of a word; None for a function word. Texts repeat their words."""
    (word,) = plain_words(written)
    return None if is_grammar(word) else stem(word.removesuffix("'s"))


def has_content(text: str) -> bool:
    """Return whether a text has a content word."""
    return not all(map(is_grammar, plain_words(text)))


def held(item: Words, text: Words) -> float:
    """Return the share of an item's words that are in ``text``, as multisets; 0 for an item without
    words.
    """
    return common(item, text) / item.total() if item else 0.0


def precision(text: Words, items: Iterable[Words]) -> Precision:
    """Count the words of a text that are in the gold items; each word counts up to its highest
    count in one item.
    """
    gold: Words = Counter()
    for item in items:
        gold |= item
    return Precision(common(text, gold), text.total())


# ---------------------------------------------------------------- a sentence in its passage
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
        """Return half-open ``spans`` of the passage as spans of the sentence; parts outside the
        sentence are dropped.

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
        return Alignment(
            "verbatim", tuple(range(len(sentence))), tuple(range(place, place + len(sentence)))
        )
    kept: tuple[tuple[How, Callable[[str], bool]], ...] = (
        ("letters and digits", str.isalnum),
        ("ASCII letters and digits", lambda one: one.isascii() and one.isalnum()),
    )
    for how, keep in kept:
        own, there = (
            [at for at, one in enumerate(text) if keep(one)] for text in (sentence, passage)
        )
        needle, hay = (
            "".join(text[at] for at in places)
            for text, places in ((sentence, own), (passage, there))
        )
        place = hay.find(needle)
        if needle and place >= 0:
            return Alignment(how, tuple(own), tuple(there[place : place + len(own)]))
    return None
