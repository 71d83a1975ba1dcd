"""Similarity of texts: words, Jaccard similarity of answers, distinct n-grams, and the gold information in a text.

Gold information is compared by content words, in lower case and stemmed (Porter), as in ROUGE-1 (Lin 2004). Only the presence
of words counts: a text with the same meaning in other words gets no credit, and a text that denies the information does.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from robustcs.evaluation.answers import answer_tokens
from robustcs.similarity.function_words import WORD, is_grammar, plain_words
from robustcs.similarity.rouge_bleu import common, stem

_APOSTROPHES = re.compile("['’‘`´]")
_WORD = re.compile(r"[^\W_]+")

Words = Counter[str]


def words(text: str) -> list[str]:
    """Return the words of a text without case, punctuation and apostrophes: whats, the, dogs for ``What's the dog's``."""
    return _WORD.findall(_APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold())


def answer_jaccard(first: str, second: str) -> float:
    """Return the Jaccard similarity of the token sets of two answers, in [0, 1].

    Tokens have SQuAD normalisation; two answers without tokens have similarity 1. Source: Figure 3 of the error-analysis paper.
    """
    ours, theirs = set(answer_tokens(first)), set(answer_tokens(second))
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def distinct_n(texts: Sequence[Sequence[str]], n: int) -> float:
    """Return the number of distinct word n-grams divided by all n-grams of the texts, in (0, 1]; NaN without n-grams.

    ``texts``: the :func:`words` of each text. Source: Li et al. (2016).
    """
    grams = [gram for some in texts for gram in zip(*(some[start:] for start in range(n)), strict=False)]
    return len(set(grams)) / len(grams) if grams else float("nan")


class Precision(NamedTuple):
    """The number of words of a text that are in the gold information, and the number of all its words."""

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
    """Return the share of an item's words that are in ``text``, as multisets; 0 for an item without words."""
    return common(item, text) / item.total() if item else 0.0


def precision(text: Words, items: Iterable[Words]) -> Precision:
    """Count the words of a text that are in the gold items; each word counts up to its highest count in one item."""
    gold: Words = Counter()
    for item in items:
        gold |= item
    return Precision(common(text, gold), text.total())
