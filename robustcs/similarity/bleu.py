"""Corpus BLEU, equal to sacrebleu (and so to multi-bleu-detok) with ``smooth_method="none"``, over any grouping of sentences.

The counts of every sentence are taken once; a score over all sentences, a turn or a topic sums them. Papineni et al. (2002).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

_ORDERS = 4

#: int64[n, 10]: per sentence the matched n-grams and the n-grams of each order, its length, and the reference's length.
Counts = npt.NDArray[np.int64]


def bleu_counts(sentences: Sequence[str], references: Sequence[Sequence[str]]) -> Counts:
    """The counts of every sentence against its references (one or more), tokenised as WMT's ``13a``.

    A match counts as often as the reference that has it most often; the reference closest in length gives the length,
    the shorter one of two that are equally close.
    """
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenize = Tokenizer13a()  # type: ignore[no-untyped-call]

    @cache
    def grams(text: str) -> tuple[Counter[tuple[str, ...]], int]:
        tokens = tokenize(text.rstrip()).split()
        parts = (zip(*(tokens[start:] for start in range(order)), strict=False) for order in range(1, _ORDERS + 1))
        return Counter(gram for part in parts for gram in part), len(tokens)

    counts = np.zeros((len(sentences), 2 * _ORDERS + 2), dtype=np.int64)
    for row, (sentence, against) in enumerate(zip(sentences, references, strict=True)):
        ours, length = grams(sentence)
        theirs = [grams(reference) for reference in against]
        for gram, count in ours.items():
            best = max(found.get(gram, 0) for found, _ in theirs)
            counts[row, len(gram) - 1] += min(count, best)
        counts[row, _ORDERS : 2 * _ORDERS] = np.maximum(length - np.arange(_ORDERS), 0)
        counts[row, -2:] = length, min((abs(other - length), other) for _, other in theirs)[1]
    return counts


def bleu(counts: Counts) -> float:
    """BLEU of all sentences together, 0 to 100; nan without sentences."""
    from sacrebleu.metrics.bleu import BLEU

    if not len(counts):
        return float("nan")
    total = [int(count) for count in counts.sum(axis=0)]
    matched, possible, (length, reference) = total[:_ORDERS], total[_ORDERS : 2 * _ORDERS], total[2 * _ORDERS :]
    return float(BLEU.compute_bleu(matched, possible, length, reference, smooth_method="none").score)


def self_bleu_counts(groups: Sequence[Sequence[str]]) -> list[Counts]:
    """Per group the counts of every text against the other texts of its group; an empty table for a group of one.

    :func:`bleu` of them is self-BLEU: 100 where the texts repeat each other, lower where they differ (Zhu et al., 2018).
    """
    sentences, references, sizes = [], [], []
    for group in groups:
        others = [[*group[:place], *group[place + 1 :]] for place in range(len(group))] if len(group) > 1 else []
        sentences += [*group] if others else []
        references += others
        sizes.append(len(others))
    return list(np.split(bleu_counts(sentences, references), np.cumsum(sizes)[:-1])) if groups else []
