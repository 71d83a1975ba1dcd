"""Corpus BLEU, equal to sacrebleu (and so to multi-bleu-detok) with ``smooth_method="none"``, over any grouping of sentences.

The counts of every sentence are taken once; a score over all sentences, a turn or a topic sums them. Papineni et al. (2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from robustcs.similarity.ngrams import grams_of

_ORDERS = 4
#: Characters of sentences and references that are worked on at a time.
_CHARACTERS = 1_000_000

#: int64[n, 10]: per sentence the matched n-grams and the n-grams of each order, its length, and the reference's length.
Counts = npt.NDArray[np.int64]


def bleu_counts(sentences: Sequence[str], references: Sequence[Sequence[str]]) -> Counts:
    """The counts of every sentence against its references (one or more), tokenised as WMT's ``13a``.

    A match counts as often as the reference that has it most often; the reference closest in length gives the length,
    the shorter one of two that are equally close.
    """
    counts = np.zeros((len(sentences), 2 * _ORDERS + 2), dtype=np.int64)
    sizes = np.cumsum([len(sentence) + sum(map(len, own)) for sentence, own in zip(sentences, references, strict=True)])
    for begin, end in pairwise(
        [0, *np.searchsorted(sizes, range(_CHARACTERS, int(sizes[-1:].sum()), _CHARACTERS)), len(counts)]
    ):
        if begin < end:
            counts[begin:end] = _counts(sentences[begin:end], references[begin:end])
    return counts


def _counts(sentences: Sequence[str], references: Sequence[Sequence[str]]) -> Counts:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenize = Tokenizer13a()  # type: ignore[no-untyped-call]
    place_of = {text: place for place, text in enumerate(dict.fromkeys(chain(sentences, *references)))}
    tokens = [tokenize(text.rstrip()).split() for text in place_of]
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    ours = np.array([place_of[text] for text in sentences])
    # a column of references at a time; a sentence that has fewer takes its first one again
    most = max(map(len, references))
    theirs = np.array([[place_of[own[column if column < len(own) else 0]] for own in references] for column in range(most)])
    counts = np.empty((len(ours), 2 * _ORDERS + 2), dtype=np.int64)
    for order, grams in enumerate(grams_of(tokens, _ORDERS)):
        pairs = np.diff(grams.starts)[ours]
        rows = np.repeat(np.arange(len(ours)), pairs)
        own = np.arange(len(rows)) + np.repeat(grams.starts[ours] - (np.cumsum(pairs) - pairs), pairs)
        best = np.zeros(len(rows), dtype=np.int64)
        for column in theirs:
            np.maximum(best, grams.found(column[rows], grams.grams[own]), out=best)
        matched = np.minimum(best, grams.counts[own])
        counts[:, order] = np.bincount(rows, weights=matched, minlength=len(ours))
        counts[:, _ORDERS + order] = np.maximum(lengths[ours] - order, 0)
    distance = np.abs(lengths[theirs] - lengths[ours])
    closest = distance == distance.min(axis=0)
    counts[:, -2] = lengths[ours]
    counts[:, -1] = np.where(closest, lengths[theirs], lengths.max(initial=0)).min(axis=0)
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
