"""n-grams of many texts as numbers: equal n-grams have equal numbers, and counting them is sorting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Grams:
    """The n-grams of T texts of one order, those of every text counted: m (text, n-gram) pairs by text, then by n-gram.

    starts
        int64[T + 1]: text t has the pairs ``starts[t]:starts[t + 1]``.
    grams, counts
        int64[m]: the n-gram, from 0 on, and how often the text has it.
    """

    starts: Numbers
    grams: Numbers
    counts: Numbers

    @property
    def texts(self) -> Numbers:
        """int64[m]: the text of every pair."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def found(self, texts: Numbers, grams: Numbers) -> Numbers:
        """int64[k]: how often each of the texts has the n-gram beside it; both are int64[k]."""
        if not len(self.grams):
            return np.zeros(len(texts), dtype=np.int64)
        width = int(max(self.grams.max(), grams.max(initial=0))) + 1
        keys, wanted = self.texts * width + self.grams, texts * width + grams
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, self.counts[place], 0)


def grams_of(texts: Sequence[Sequence[str]], orders: int) -> Iterator[Grams]:
    """Of every order from 1 to ``orders`` the n-grams of texts, which are given as their tokens."""
    code_of: dict[str, int] = {}
    codes = np.array([code_of.setdefault(token, len(code_of)) for tokens in texts for token in tokens], dtype=np.int64)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    text = np.repeat(np.arange(len(texts)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(codes))
    begins, grams = np.arange(len(codes)), codes
    for order in range(1, orders + 1):
        if order > 1:
            # the n-gram that begins at a token is the shorter one there, and the token after that
            inside = left[begins] >= order
            begins = begins[inside]
            longer = grams[inside] * max(len(code_of), 1) + codes[begins + order - 1]
            _, grams = np.unique(longer, return_inverse=True)
        width = int(grams.max(initial=0)) + 1
        keys, counts = np.unique(text[begins] * width + grams, return_counts=True)
        starts = np.searchsorted(keys, np.arange(len(texts) + 1) * width)
        yield Grams(starts, keys % width, counts)
