"""Corpus BLEU by sacrebleu (as multi-bleu-detok: WMT's ``13a`` tokens, no smoothing), over any group of sentences.

The n-grams of every sentence are counted once; the score of all sentences, a turn or a topic sums the counts. Source: Papineni
et al. (2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from robustcs.lazy import npt

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
