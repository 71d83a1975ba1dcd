"""Compute a part of a study with robustcs or with a package: ``python bench/parts.py PART robustcs|package FOLDER``.

Both print the same numbers. ``permutation`` tests all pairs of systems of ``scores.txt``, adjusted by Holm. ``bootstrap``
compares the rankings of systems by the first and the second half of the turns. ``jackknife`` computes the correlation of two
systems' scores with an interval. ``rouge`` and ``bleu`` compare the two questions of every line of ``pairs.tsv``.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np

#: Random sign patterns and resamples.
DRAWS, RESAMPLES = 9_999, 2_000
#: Lines of pairs.tsv per group of BLEU.
GROUP = 20


def permutation(folder: Path, own: bool) -> None:
    """Print p adjusted by Holm. robustcs also computes the interval of each test."""
    table = np.loadtxt(folder / "scores.txt")
    pairs = [first - second for first, second in combinations(table, 2)]
    if own:
        from robustcs.statistics.families import holm
        from robustcs.statistics.sign_flip import paired_tests

        p = [test.p for test in paired_tests(pairs, np.ones(table.shape[1]), seed=0, draws=DRAWS)]
        holm(p)
    else:
        from scipy.stats import permutation_test
        from statsmodels.stats.multitest import multipletests

        options = {"permutation_type": "samples", "vectorized": True, "n_resamples": DRAWS}
        p = [
            permutation_test((pair,), np.mean, rng=np.random.default_rng(0), **options).pvalue
            for pair in pairs
        ]
        multipletests(p, method="holm")
    print(*p)


def bootstrap(folder: Path, own: bool) -> None:
    """Print Kendall's tau and the 5th percentile of its resamples."""
    table = np.loadtxt(folder / "scores.txt")
    half = table.shape[1] // 2
    first, second = table[:, :half], table[:, half : 2 * half]
    if own:
        from robustcs.statistics.ranks import rank_stability

        found = rank_stability(first, second, np.ones(half), seed=0, resamples=RESAMPLES)
        print(found.value, found.low)
    else:
        from scipy.stats import bootstrap, kendalltau

        def tau(turns: np.ndarray) -> float:
            return kendalltau(first[:, turns].mean(axis=1), second[:, turns].mean(axis=1)).statistic

        options = {
            "vectorized": False,
            "n_resamples": RESAMPLES,
            "method": "percentile",
            "confidence_level": 0.9,
        }
        drawn = bootstrap((np.arange(half),), tau, rng=np.random.default_rng(0), **options)
        print(tau(np.arange(half)), drawn.confidence_interval.low)


def jackknife(folder: Path, own: bool) -> None:
    """Print Pearson, Spearman and Kendall with jackknife intervals on Fisher's z."""
    x, y = np.loadtxt(folder / "scores.txt")[:2]
    turns = len(x)
    if own:
        from robustcs.statistics.unit_correlation import CORRELATIONS, unit_correlation
        from robustcs.statistics.units import units_of

        units = units_of([f"{turn}" for turn in range(turns)], "turn")
        for method in CORRELATIONS:
            found = unit_correlation(x, y, units, method)
            print(found.value, found.low, found.high)
    else:
        from scipy.stats import kendalltau, pearsonr, spearmanr, t

        for function in (pearsonr, spearmanr, kendalltau):
            value = function(x, y)[0]
            z = np.arctanh(
                [function(np.delete(x, turn), np.delete(y, turn))[0] for turn in range(turns)]
            )
            half = t.ppf(0.975, turns - 1) * np.sqrt(
                (turns - 1) / turns * ((z - z.mean()) ** 2).sum()
            )
            print(value, *np.tanh(np.arctanh(value) + half * np.array([-1, 1])))


def _pairs(folder: Path) -> tuple[list[str], list[str]]:
    lines = (folder / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    first, second = zip(*(line.split("\t") for line in lines), strict=True)
    return list(first), list(second)


def rouge(folder: Path, own: bool) -> None:
    """Print mean precision, recall and F of ROUGE-1, ROUGE-2 and ROUGE-L."""
    qr, human = _pairs(folder)
    kinds = ("rouge1", "rouge2", "rougeL")
    if own:
        from robustcs.similarity import rouge_bleu as ours

        print(*(values.mean() for values in ours.rouge(qr, human).values()))
    else:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(list(kinds), use_stemmer=True)
        scores = [scorer.score(target, one) for one, target in zip(qr, human, strict=True)]
        print(
            *(np.mean([one[kind][part] for one in scores]) for kind in kinds for part in range(3))
        )


def bleu(folder: Path, own: bool) -> None:
    """Print BLEU of all lines and of groups of lines, as for the paraphrases of a turn."""
    qr, human = _pairs(folder)
    places = [
        slice(0, len(qr)),
        *(slice(start, start + GROUP) for start in range(0, len(qr), GROUP)),
    ]
    if own:
        from robustcs.similarity.rouge_bleu import bleu, bleu_counts

        counts = bleu_counts(qr, [[text] for text in human])
        scores = [bleu(counts[place]) for place in places]
    else:
        from sacrebleu import corpus_bleu

        scores = [
            corpus_bleu(qr[place], [human[place]], smooth_method="none").score for place in places
        ]
    print(*scores)


if __name__ == "__main__":
    part, who, folder = sys.argv[1:]
    {one.__name__: one for one in (permutation, bootstrap, jackknife, rouge, bleu)}[part](
        Path(folder), who == "robustcs"
    )
