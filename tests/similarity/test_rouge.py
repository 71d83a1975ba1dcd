"""ROUGE: the same numbers as the rouge-score package."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

from robustcs.inputs.scores import read_scores
from robustcs.inputs.texts import read_texts
from robustcs.similarity import rouge_bleu as module
from robustcs.similarity.rouge_bleu import KINDS, PARTS, rouge, rouge_names

WORDS = st.sampled_from(["What", "is", "the", "treatment", "treatments", "treated", "cancer", "CANCER", "42", "Tió", "x-ray"])
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
                assert ours[f"{kind}_{part}"][row] == getattr(theirs[kind], name)


def test_precision_is_of_the_rewrite() -> None:
    scores = rouge(["throat cancer"], ["what is throat cancer"])
    assert (scores["rouge1_precision"][0], scores["rouge1_recall"][0]) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("column", "turns", "pearson"),
    [("rouge1_f", 479, 0.7506224569), ("rouge1_recall", 479, 0.7565), ("rouge1_recall", 173, 0.760)],
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


@settings(deadline=None, max_examples=200)
@given(st.lists(WORDS, max_size=40).map(" ".join), st.lists(WORDS, max_size=40).map(" ".join), st.integers(1, 9))
def test_a_text_of_many_blocks_scores_the_same(qr: str, human: str, block: int) -> None:
    whole = rouge([qr], [human])
    with mock.patch.object(module, "_BLOCK", block):
        pieces = rouge([qr], [human])
    assert {name: values[0] for name, values in pieces.items()} == {name: values[0] for name, values in whole.items()}


def test_memory_follows_the_length_of_a_text() -> None:
    # every word another one: a number per word with a bit per place would take 30 MB
    text = " ".join(f"w{number}" for number in range(20_000))
    rouge(["warm"], ["up"])
    tracemalloc.start()
    scores = rouge([text], [text], stemmed=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert scores["rougeL_f"][0] == 1
    assert peak < 25_000_000


def test_rouge_and_content_words_do_without_the_rest_of_nltk() -> None:
    code = (
        "import sys; from robustcs.similarity import rouge_bleu as rouge, texts; rouge.rouge(['stems'], ['stemming']);"
        " assert texts.content_words('stems') and not [name for name in sys.modules if name.startswith('nltk')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    for word in ("Flying", "skies", "oed", "yyy", "Tió"):
        assert module.stem(word) == PorterStemmer().stem(word)
