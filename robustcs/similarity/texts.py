"""Similarity of texts: words, answers, n-grams, gold information, and a sentence in its passage.

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
    """Return the words of a text without case, punctuation and apostrophes.

    For ``What's the dog's``: whats, the, dogs.
    """
    return _WORD.findall(_APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold())


def answer_jaccard(first: str, second: str) -> float:
    """Return the Jaccard similarity of the token sets of two answers, in [0, 1].

    Tokens have SQuAD normalisation; two answers without tokens have similarity 1. Source: Figure 3
    of the error-analysis paper.
    """
    first_tokens, second_tokens = set(answer_tokens(first)), set(answer_tokens(second))
    union = first_tokens | second_tokens
    if not union:
        return 1.0
    return len(first_tokens & second_tokens) / len(union)


def distinct_n(texts: Sequence[Sequence[str]], n: int) -> float:
    """Return the number of distinct word n-grams divided by all n-grams of the texts, in (0, 1].

    ``texts``: the :func:`words` of each text. NaN without n-grams. Source: Li et al. (2016).
    """
    grams: list[tuple[str, ...]] = []
    for text_words in texts:
        shifted = [text_words[start:] for start in range(n)]
        grams.extend(zip(*shifted, strict=False))  # the last one is the shortest and ends them
    return len(set(grams)) / len(grams) if grams else float("nan")


class Precision(NamedTuple):
    """The number of words of a text that are in the gold information, and of all its words."""

    shared: int
    words: int

    @property
    def value(self) -> float:
        """The share; 0 for a text without words."""
        return self.shared / self.words if self.words else 0.0


def content_words(text: str) -> Words:
    """Return the counts of the stems of a text's content words."""
    stems: Words = Counter()
    for written, count in Counter(WORD.findall(text)).items():
        word_stem = _content_stem(written)
        if word_stem is not None:
            stems[word_stem] += count
    return stems


@cache  # texts repeat their words
def _content_stem(written: str) -> str | None:
    """Return the stem of a word; None for a function word."""
    (word,) = plain_words(written)
    return None if is_grammar(word) else stem(word.removesuffix("'s"))


def has_content(text: str) -> bool:
    """Return whether a text has a content word."""
    return any(not is_grammar(word) for word in plain_words(text))


def held(item: Words, text: Words) -> float:
    """Return the share of an item's words that are in ``text``, as multisets.

    0 for an item without words.
    """
    return common(item, text) / item.total() if item else 0.0


def precision(text: Words, items: Iterable[Words]) -> Precision:
    """Count the words of a text that are in the gold items.

    Each word counts up to its highest count in one item.
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
        """Return half-open ``spans`` of the passage as spans of the sentence.

        A span reaches from the first to the last character of the sentence that it contains; parts
        outside the sentence are dropped.
        """
        in_sentence = []
        for start, end in spans:
            first, last = bisect_left(self.there, start), bisect_left(self.there, end) - 1
            if first <= last:
                in_sentence.append((self.own[first], self.own[last] + 1))
        return tuple(in_sentence)


def _is_letter_or_digit(character: str) -> bool:
    return character.isalnum()


def _is_ascii_letter_or_digit(character: str) -> bool:
    return character.isascii() and character.isalnum()


#: What is compared if a sentence is not in its passage verbatim → which characters count.
_COMPARED: tuple[tuple[How, Callable[[str], bool]], ...] = (
    ("letters and digits", _is_letter_or_digit),
    ("ASCII letters and digits", _is_ascii_letter_or_digit),
)


def align(sentence: str, passage: str) -> Alignment | None:
    """Align ``sentence`` with its first occurrence in ``passage``; None if there is none."""
    start = passage.find(sentence)
    if start >= 0 and sentence:
        own = range(len(sentence))
        return Alignment("verbatim", tuple(own), tuple(start + place for place in own))
    for how, counts in _COMPARED:
        in_sentence = [place for place, letter in enumerate(sentence) if counts(letter)]
        in_passage = [place for place, letter in enumerate(passage) if counts(letter)]
        needle = "".join(sentence[place] for place in in_sentence)
        haystack = "".join(passage[place] for place in in_passage)
        start = haystack.find(needle)
        if needle and start >= 0:
            matched = in_passage[start : start + len(needle)]
            return Alignment(how, tuple(in_sentence), tuple(matched))
    return None
