"""ROUGE-1, ROUGE-2 and ROUGE-L between two questions, and corpus BLEU over any group of sentences.

ROUGE has the same scores as the rouge-score package, about ten times faster. Tokens and stems are those of rouge-score; each
word is stemmed once and each text is tokenised once. Source: Lin (2004).

BLEU is sacrebleu's (as multi-bleu-detok: WMT's ``13a`` tokens, no smoothing). The n-grams of every sentence are counted once;
the score of all sentences, a turn or a topic sums the counts. Source: Papineni et al. (2002).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from robustcs.lazy import npt

KINDS = ("rouge1", "rouge2", "rougeL")
PARTS = ("precision", "recall", "f")
#: Tokens per bit vector: one vector for a whole text would need memory quadratic in its length.
_BLOCK = 1 << 13


class _Question(NamedTuple):
    """A tokenised text; ``places``: for every block of tokens, token → a bit for each of its positions in the block."""

    tokens: list[str]
    unigrams: Counter[str]
    bigrams: Counter[tuple[str, str]]
    places: list[dict[str, int]]


@cache
def _porter() -> Any:
    """Load NLTK's Porter stemmer without the rest of NLTK, which takes seconds to import."""
    folder = find_spec("nltk").submodule_search_locations[0]  # type: ignore[union-attr,index]
    alone = "nltk" not in sys.modules
    for name, path in {"nltk": folder, "nltk.stem": f"{folder}/stem"}.items() if alone else ():
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [path]
    try:
        from nltk.stem.porter import PorterStemmer
    finally:
        for name in [name for name in sys.modules if alone and name.split(".")[0] == "nltk"]:
            del sys.modules[name]
    return PorterStemmer()


@cache
def stem(word: str) -> str:
    """Return the Porter stem of a word, in lower case."""
    return str(_porter().stem(word))


def tokens_of(text: str, stemmed: bool = True) -> list[str]:
    """Return rouge-score's tokens of a text: lower-case runs of ASCII letters and digits, stemmed if longer than three."""
    from rouge_score.tokenize import tokenize

    return list(tokenize(text, SimpleNamespace(stem=stem) if stemmed else None))


def rouge(candidates: Sequence[str], references: Sequence[str], stemmed: bool = True) -> dict[str, npt.NDArray[np.float64]]:
    """Score every candidate (QR) against the reference (Human) at the same position; floats in [0, 1], shape [n].

    The columns are ``rouge1_precision``, ``rouge1_recall``, ``rouge1_f`` and the same for ``rouge2`` and ``rougeL``. F weights
    precision and recall equally. A text without tokens scores 0.
    """
    counts = np.array(_counts(list(candidates), list(references), stemmed), dtype=np.int64).reshape(-1, len(KINDS) + 2)
    hits, lengths = counts[:, : len(KINDS)], counts[:, len(KINDS) :]
    columns: dict[str, npt.NDArray[np.float64]] = {}
    for kind, hit in zip(KINDS, hits.T, strict=True):
        units = np.maximum(lengths - 1 if kind == "rouge2" else lengths, 1)
        precision, recall = hit / units[:, 0], hit / units[:, 1]
        total = precision + recall
        f = np.divide(2 * precision * recall, total, out=np.zeros(len(hit)), where=total > 0)
        columns |= {f"{kind}_{part}": values for part, values in zip(PARTS, (precision, recall, f), strict=True)}
    return columns


def _counts(candidates: Sequence[str], references: Sequence[str], stemmed: bool) -> list[tuple[int, ...]]:
    """Return, for each pair, the n-grams in common for each of :data:`KINDS`, and the numbers of tokens of both texts."""

    @cache
    def read(text: str) -> _Question:
        tokens = tokens_of(text, stemmed)
        places: list[dict[str, int]] = []
        for start in range(0, len(tokens), _BLOCK):
            block: dict[str, int] = {}
            for position, token in enumerate(tokens[start : start + _BLOCK]):
                block[token] = block.get(token, 0) | 1 << position
            places.append(block)
        return _Question(tokens, Counter(tokens), Counter(zip(tokens, tokens[1:], strict=False)), places)

    rows: list[tuple[int, ...]] = []
    for candidate, reference in zip(candidates, references, strict=True):
        ours, theirs = read(candidate), read(reference)
        shared = common(ours.unigrams, theirs.unigrams), common(ours.bigrams, theirs.bigrams), _subsequence(ours, theirs)
        rows.append((*shared, len(ours.tokens), len(theirs.tokens)))
    return rows


def common(first: Counter, second: Counter) -> int:
    """Return the size of the multiset intersection."""
    return sum(min(first[gram], second[gram]) for gram in first.keys() & second.keys())


def _subsequence(first: _Question, second: _Question) -> int:
    """Return the length of the longest common subsequence, by bit vectors (Hyyrö, 2004), block by block of the first text.

    The carry of a block's sum enters the next block at the same token of the second text.
    """
    length = 0
    carries = bytes(len(second.tokens))
    for number, places in enumerate(first.places):
        size = min(len(first.tokens) - number * _BLOCK, _BLOCK)
        open_places = everything = (1 << size) - 1
        carried = bytearray(len(second.tokens))
        for place, token in enumerate(second.tokens):
            matches = open_places & places.get(token, 0)
            if matches or carries[place]:
                total = open_places + matches + carries[place]
                carried[place] = total >> size
                open_places = (total | (open_places - matches)) & everything
        carries = bytes(carried)
        length += size - open_places.bit_count()
    return length


def rouge_names() -> tuple[str, ...]:
    """Return all column names of :func:`rouge`."""
    return tuple(f"{kind}_{part}" for kind in KINDS for part in PARTS)


# ---------------------------------------------------------------- BLEU
#: int64[n, 10], summed by sacrebleu: lengths of a sentence and its closest reference, matched and all n-grams of 1 to 4.
Counts = npt.NDArray[np.int64]


@cache
def _metric() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(smooth_method="none")


def bleu_counts(sentences: Sequence[str], references: Sequence[Sequence[str]]) -> Counts:
    """Return the counts of every sentence compared with its references (one or more)."""
    metric, tokens = _metric(), cache(_metric()._preprocess_segment)
    rows = [
        metric._compute_segment_statistics(tokens(sentence), metric._extract_reference_info(list(map(tokens, own))))
        for sentence, own in zip(sentences, references, strict=True)
    ]
    return np.array(rows, dtype=np.int64).reshape(len(sentences), -1 if rows else 10)


def bleu(counts: Counts) -> float:
    """Return BLEU of all sentences together, 0 to 100; NaN without sentences."""
    return float(_metric()._compute_score_from_stats(counts.sum(axis=0).tolist()).score) if len(counts) else float("nan")


def self_bleu_counts(groups: Sequence[Sequence[str]]) -> list[Counts]:
    """Return per group the counts of every text compared with the other texts of its group; empty for a group of one.

    :func:`bleu` of the counts is self-BLEU: 100 if the texts repeat each other, lower if they differ (Zhu et al., 2018).
    """
    several = [group if len(group) > 1 else () for group in groups]
    return [bleu_counts(some, [[*some[:place], *some[place + 1 :]] for place in range(len(some))]) for some in several]
