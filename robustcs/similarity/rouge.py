"""ROUGE-1, ROUGE-2 and ROUGE-L between two questions: the numbers of the rouge-score package, an order of magnitude faster.

Tokens are rouge-score's own and stems equal to its; every word is stemmed once and every text tokenised once. Lin (2004).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.similarity import porter

KINDS = ("rouge1", "rouge2", "rougeL")
PARTS = ("precision", "recall", "f")

#: Tokens whose places share one number: a whole text in one would take memory by the square of its length.
_BLOCK = 1 << 13

Columns = dict[str, npt.NDArray[np.float64]]


class _Question(NamedTuple):
    """What the scores need of one text.

    places
        For every block of tokens, token → a bit for each position of the block at which it stands.
    """

    length: int
    unigrams: Counter[str]
    bigrams: Counter[tuple[str, str]]
    places: list[dict[str, int]]
    tokens: list[str]


def rouge(candidates: Sequence[str], references: Sequence[str], stem: bool = True) -> Columns:
    """Scores of every candidate (QR) against the reference (Human) of the same place, floats in [0, 1], shape [n].

    Columns ``rouge1_precision``, ``rouge1_recall``, ``rouge1_f`` and the same for ``rouge2`` and ``rougeL``; F has equal
    weights. ``stem`` applies the Porter stemmer to words of more than three letters. A text without tokens scores 0.
    """
    question = cache(_reader(stem))
    hits = np.zeros((len(candidates), len(KINDS)), dtype=np.int64)
    lengths = np.zeros((len(candidates), 2), dtype=np.int64)
    for row, (candidate, reference) in enumerate(zip(candidates, references, strict=True)):
        ours, theirs = question(candidate), question(reference)
        hits[row] = _common(ours.unigrams, theirs.unigrams), _common(ours.bigrams, theirs.bigrams), _subsequence(ours, theirs)
        lengths[row] = ours.length, theirs.length
    columns: Columns = {}
    for kind, hit in zip(KINDS, hits.T, strict=True):
        units = np.maximum(lengths - 1 if kind == "rouge2" else lengths, 1)
        precision, recall = hit / units[:, 0], hit / units[:, 1]
        total = precision + recall
        f = np.divide(2 * precision * recall, total, out=np.zeros(len(hit)), where=total > 0)
        columns |= {f"{kind}_{part}": values for part, values in zip(PARTS, (precision, recall, f), strict=True)}
    return columns


def tokenizer(stem: bool = True) -> Callable[[str], list[str]]:
    """rouge-score's tokens of a text: lower-case runs of ASCII letters and digits, stemmed; every word is stemmed once."""
    from rouge_score.tokenize import tokenize

    stemmer = _Stemmer() if stem else None
    return lambda text: tokenize(text, stemmer)


class _Stemmer:
    def __init__(self) -> None:
        self.stem = cache(porter.stem)


def _reader(stem: bool) -> Callable[[str], _Question]:
    tokens_of = tokenizer(stem)

    def read(text: str) -> _Question:
        tokens = tokens_of(text)
        places: list[dict[str, int]] = []
        for start in range(0, len(tokens), _BLOCK):
            block: dict[str, int] = {}
            for position, token in enumerate(tokens[start : start + _BLOCK]):
                block[token] = block.get(token, 0) | 1 << position
            places.append(block)
        return _Question(len(tokens), Counter(tokens), Counter(zip(tokens, tokens[1:], strict=False)), places, tokens)

    return read


def _common(first: Counter, second: Counter) -> int:
    """Size of the multiset intersection."""
    if len(second) < len(first):
        first, second = second, first
    return sum(min(count, second[gram]) for gram, count in first.items() if gram in second)


def _subsequence(first: _Question, second: _Question) -> int:
    """Length of the longest common subsequence, bit by bit (Hyyrö, 2004), block by block of the first text.

    What the sum of a block carries over goes into the next block at the same token of the second text.
    """
    common = 0
    carries = bytes(len(second.tokens))
    for number, places in enumerate(first.places):
        size = min(first.length - number * _BLOCK, _BLOCK)
        everything = (1 << size) - 1
        open_places = everything
        carried = bytearray(len(second.tokens))
        for place, token in enumerate(second.tokens):
            matches = open_places & places.get(token, 0)
            if matches or carries[place]:
                total = open_places + matches + carries[place]
                carried[place] = total >> size
                open_places = (total | (open_places - matches)) & everything
        carries = bytes(carried)
        common += size - open_places.bit_count()
    return common


def rouge_names() -> tuple[str, ...]:
    """All column names of :func:`rouge`."""
    return tuple(f"{kind}_{part}" for kind in KINDS for part in PARTS)
