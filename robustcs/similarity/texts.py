"""How alike texts are: words, tokens of answers in common, distinct n-grams, and gold information that a text holds.

Of gold information the content words count, lower-case and stemmed (Porter). What is counted is whether the words are there,
after ROUGE-1 (Lin 2004): a text that says the same in other words is not credited, one that denies it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from robustcs.evaluation.answers import answer_tokens
from robustcs.similarity.function_words import words_of
from robustcs.similarity.rouge import common, stem

_APOSTROPHES = re.compile("['’‘`´]")
_WORD = re.compile(r"[^\W_]+")

Words = Counter[str]


def words(text: str) -> list[str]:
    """The words of a text without case, punctuation and apostrophes: ``What's the dog's name?`` is whats the dogs name."""
    return _WORD.findall(_APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold())


def answer_jaccard(first: str, second: str) -> float:
    """Jaccard similarity of the token sets of two answers, in [0, 1], as Figure 3 of the error-analysis paper has it.

    Tokens are normalised as SQuAD does; two answers without any token are alike.
    """
    ours, theirs = set(answer_tokens(first)), set(answer_tokens(second))
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def distinct_n(texts: Sequence[Sequence[str]], n: int) -> float:
    """Different n-grams of words out of all n-grams of texts together, in (0, 1]; nan without any. Li et al. (2016).

    ``texts`` are given as their :func:`words`.
    """
    grams = [gram for some in texts for gram in zip(*(some[start:] for start in range(n)), strict=False)]
    return len(set(grams)) / len(grams) if grams else float("nan")


class Precision(NamedTuple):
    """Words of a text that some gold information has, and all of them."""

    shared: int
    words: int

    @property
    def value(self) -> float:
        """The share; 0 for a text without words."""
        return self.shared / self.words if self.words else 0.0


def content_words(text: str) -> Words:
    """How often a text has each stem of its content words."""
    return Counter(stem(word.name) for word in words_of(text) if not word.grammar)


def held(item: Words, text: Words) -> float:
    """The share of an item's words that ``text`` has, each as often as there; 0 for an item without words."""
    return common(item, text) / item.total() if item else 0.0


def precision(text: Words, items: Iterable[Words]) -> Precision:
    """How much of a text is gold: its words that the items have, each as often as the item that has it most often."""
    gold: Words = Counter()
    for item in items:
        gold |= item
    return Precision(common(text, gold), text.total())
