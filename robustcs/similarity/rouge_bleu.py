"""ROUGE-1, ROUGE-2 and ROUGE-L between two questions, and corpus BLEU over any group of sentences.

ROUGE is computed by rouge-score; each text is tokenised once and each word is stemmed once. Source:
Lin (2004).

BLEU is sacrebleu's (as multi-bleu-detok: WMT's ``13a`` tokens, no smoothing). The n-grams of every
sentence are counted once; the score of all sentences, a turn or a topic sums the counts. Source:
Papineni et al. (2002).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from robustcs.lazy import npt

KINDS = ("rouge1", "rouge2", "rougeL")
PARTS = ("precision", "recall", "f")
#: Only the first tokens of a text count: the time and memory of ROUGE-L grow with the product of
#: two lengths.
MOST_TOKENS = 2_000


@cache
def _porter() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@cache
def stem(word: str) -> str:
    """Return the Porter stem of a word, in lower case."""
    return str(_porter().stem(word))


def tokens_of(text: str, stemmed: bool = True) -> list[str]:
    """Return rouge-score's tokens of a text: lower-case runs of ASCII letters and digits.

    With ``stemmed``, tokens of more than three characters are stemmed.
    """
    from rouge_score.tokenize import tokenize

    stemmer = SimpleNamespace(stem=stem) if stemmed else None
    return list(tokenize(text, stemmer))


def rouge(
    candidates: Sequence[str], references: Sequence[str], stemmed: bool = True
) -> dict[str, npt.NDArray[np.float64]]:
    """Score every candidate (QR) against the reference (Human) at the same position.

    Returns column → float64[n] in [0, 1]. The columns are ``rouge1_precision``,
    ``rouge1_recall``, ``rouge1_f`` and the same for ``rouge2`` and ``rougeL``. F weights precision
    and recall equally. A text without tokens scores 0. Of each text, the first :data:`MOST_TOKENS`
    tokens count.
    """
    from rouge_score.rouge_scorer import RougeScorer

    @cache
    def tokenize(text: str) -> list[str]:
        return tokens_of(text, stemmed)[:MOST_TOKENS]

    scorer = RougeScorer(list(KINDS), tokenizer=SimpleNamespace(tokenize=tokenize))
    rows = []
    for candidate, reference in zip(candidates, references, strict=True):
        scores = scorer.score(reference, candidate)
        # a score is a tuple in the order of PARTS
        rows.append([scores[kind] for kind in KINDS])
    columns = rouge_names()
    values = np.array(rows).reshape(-1, len(columns))
    return dict(zip(columns, values.T, strict=True))


def common(first: Counter, second: Counter) -> int:
    """Return the size of the multiset intersection."""
    return sum(min(first[gram], second[gram]) for gram in first.keys() & second.keys())


def rouge_names() -> tuple[str, ...]:
    """Return all column names of :func:`rouge`."""
    return tuple(f"{kind}_{part}" for kind in KINDS for part in PARTS)


# ---------------------------------------------------------------- BLEU
#: Orders of the n-grams of BLEU, 1 to 4.
_ORDERS = 4
#: int64[n, 10]: lengths of a sentence and its closest reference, then matched and all n-grams of 1
#: to 4.
Counts = npt.NDArray[np.int64]


def bleu_counts(sentences: Sequence[str], references: Sequence[Sequence[str]]) -> Counts:
    """Return the counts of every sentence compared with its references (one or more)."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(smooth_method="none")
    rows = []
    for sentence, sentence_references in zip(sentences, references, strict=True):
        # a corpus of one sentence, with one list for each of its references
        score = metric.corpus_score([sentence], [[reference] for reference in sentence_references])
        rows.append((score.sys_len, score.ref_len, *score.counts, *score.totals))
    return np.array(rows, dtype=np.int64).reshape(len(rows), 2 + 2 * _ORDERS)


def bleu(counts: Counts) -> float:
    """Return BLEU of all sentences together, 0 to 100; NaN without sentences."""
    if not len(counts):
        return float("nan")
    from sacrebleu.metrics.bleu import BLEU

    length, closest_reference_length, *grams = counts.sum(axis=0).tolist()
    score = BLEU.compute_bleu(
        correct=grams[:_ORDERS],
        total=grams[_ORDERS:],
        sys_len=length,
        ref_len=closest_reference_length,
        smooth_method="none",
    )
    return float(score.score)


def self_bleu_counts(groups: Sequence[Sequence[str]]) -> list[Counts]:
    """Return per group the counts of every text compared with the other texts of its group.

    Empty for a group of one. :func:`bleu` of the counts is self-BLEU: 100 if the texts repeat each
    other, lower if they differ (Zhu et al., 2018).
    """
    counts = []
    for group in groups:
        texts = group if len(group) > 1 else ()
        others = [[*texts[:place], *texts[place + 1 :]] for place in range(len(texts))]
        counts.append(bleu_counts(texts, others))
    return counts
