"""ROUGE: the same numbers as the rouge-score package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

from robustcs.inputs.scores import read_scores
from robustcs.inputs.texts import read_texts
from robustcs.similarity.rouge_bleu import KINDS, MOST_TOKENS, PARTS, rouge, rouge_names, stem

WORDS = st.sampled_from(
    [
        "What",
        "is",
        "the",
        "treatment",
        "treatments",
        "treated",
        "cancer",
        "CANCER",
        "42",
        "Tió",
        "x-ray",
    ]
)
QUESTION = st.one_of(st.lists(WORDS, max_size=9).map(" ".join), st.text(max_size=30))


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(QUESTION, QUESTION), min_size=1, max_size=4), st.booleans())
@example([("", ""), ("a", ""), ("", "a"), ("one", "two"), ("a b a b", "b a b a")], True)
def test_equal_to_rouge_score(pairs: list[tuple[str, str]], stem: bool) -> None:
    scorer = RougeScorer(list(KINDS), use_stemmer=stem)
    ours = rouge([qr for qr, _ in pairs], [human for _, human in pairs], stem)
    assert tuple(ours) == rouge_names()
    for row, (qr, human) in enumerate(pairs):
        theirs = scorer.score(human, qr)
        for kind in KINDS:
            for part, name in zip(PARTS, ("precision", "recall", "fmeasure"), strict=True):
                assert ours[f"{kind}_{part}"][row] == pytest.approx(
                    getattr(theirs[kind], name), abs=1e-12
                )


def test_precision_is_of_the_rewrite() -> None:
    scores = rouge(["throat cancer"], ["what is throat cancer"])
    assert (scores["rouge1_precision"][0], scores["rouge1_recall"][0]) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("column", "turns", "pearson"),
    [
        ("rouge1_f", 479, 0.7506224569),
        ("rouge1_recall", 479, 0.7565),
        ("rouge1_recall", 173, 0.760),
    ],
)
def test_published_correlations(shared_data: Path, column: str, turns: int, pearson: float) -> None:
    folder = shared_data / "cast2019" / "qrqa"
    human = read_texts(folder / "Human.tsv", "human")
    qr = read_texts(folder / "Transformer_Plus_Plus_Q.tsv", "qr")
    overlap = read_scores(folder / "answer_overlap_r1000.txt")["overlap_1000"]
    judged = read_scores(folder / "human_query_metrics.txt").index
    chosen = list(overlap.index) if turns == 479 else list(judged)
    assert len(chosen) == turns
    x = rouge([qr[turn] for turn in chosen], [human[turn] for turn in chosen])[column]
    value = np.corrcoef(x, overlap[chosen])[0, 1]
    digits = len(str(pearson)) - 2
    assert round(float(value), digits) == pearson


def test_the_first_tokens_of_a_long_text_count() -> None:
    first = " ".join(f"w{number}" for number in range(MOST_TOKENS))
    scores = rouge([f"{first} more words"], [f"{first} others"], stemmed=False)
    assert all(values[0] == 1 for values in scores.values())


def test_stems_are_those_of_porter() -> None:
    for word in ("Flying", "skies", "oed", "yyy", "Tió"):
        assert stem(word) == PorterStemmer().stem(word)
