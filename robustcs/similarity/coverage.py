"""How much of some gold information a text holds, by the words that carry meaning.

Words are lower-case; function words are left out and the others stemmed (Porter). What is counted is whether the words are
there, after ROUGE-1 (Lin 2004): a text that says the same in other words is not credited, one that denies it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple

from robustcs.similarity import porter
from robustcs.similarity.function_words import words_of

Words = Counter[str]


class Precision(NamedTuple):
    """Words of a text that some gold information has, and all of them."""

    shared: int
    words: int

    @property
    def value(self) -> float:
        """The share; 0 for a text without words."""
        return self.shared / self.words if self.words else 0.0


def reader() -> Callable[[str], Words]:
    """A function from a text to how often it has each stem of its content words; every word is stemmed once."""
    stem = cache(porter.stem)
    return lambda text: Counter(stem(word.name) for word in words_of(text) if not word.grammar)


def held(item: Words, text: Words) -> float:
    """The share of an item's words that ``text`` has, each as often as there; 0 for an item without words."""
    return shared(item, text) / item.total() if item else 0.0


def shared(first: Mapping[str, int], second: Mapping[str, int]) -> int:
    """Size of the multiset intersection."""
    return sum(min(count, second[word]) for word, count in first.items() if word in second)


def precision(text: Words, items: Iterable[Words]) -> Precision:
    """How much of a text is gold: its words that the items have, each as often as the item that has it most often."""
    gold: Words = Counter()
    for item in items:
        gold |= item
    return Precision(shared(text, gold), text.total())
