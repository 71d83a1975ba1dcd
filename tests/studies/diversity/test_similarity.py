"""Similarity of several rewriters to a reference, on hand-made texts and numbers."""

from __future__ import annotations

from statistics import mean

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from robustcs.statistics.families import max_t
from robustcs.studies.diversity.analysis import (
    ROUGE,
    TextSet,
    compare_similarities,
    diversity,
    label,
    rouge_of,
)
from tests.studies.diversity.test_analysis import EVALUATED, SOURCE, TARGET


def test_rouge_is_that_of_rouge_score() -> None:
    texts = ["How do bees make their honeys?", "Why, honey?", "", "what is a moraine"]
    references = [
        ["how do bees make honey", "bees make honey"],
        ["why honey"],
        ["why honey"],
        ["What are moraines made of?"],
    ]
    found = rouge_of(texts, references)
    scorer = RougeScorer([name.partition("_")[0] for name in ROUGE], use_stemmer=True)
    for name in ROUGE:
        expected = [
            max(
                scorer.score(reference, text)[name.partition("_")[0]].fmeasure for reference in some
            )
            for text, some in zip(texts, references, strict=True)
        ]
        assert found[name].tolist() == pytest.approx(expected)
    assert found["rouge1_f"][2] == 0


def test_a_mean_is_over_the_texts_of_a_turn_and_then_over_turns() -> None:
    result = diversity([(SOURCE, TARGET)], EVALUATED)
    scorer = RougeScorer(["rouge1"], use_stemmer=True)
    by_turn = [
        mean(
            scorer.score(SOURCE.wordings[turn][0], text)["rouge1"].fmeasure
            for text in TARGET.wordings[turn]
        )
        for turn in ("1_1", "1_2")
    ]
    row = result.similarity.iloc[0]
    assert (row["measure"], row["turns"], row["texts"], row["samples"]) == ("rouge1_f", 2, 6, 3)
    assert row["value"] == pytest.approx(mean(by_turn))
    assert (
        np.isnan(row["ci_low"]) and "no interval: only 2 turns (at least 5 required)" in row["note"]
    )
    assert result.similarity_pairs.empty


def test_an_empty_sample_has_a_similarity_of_0() -> None:
    source = TextSet("human", {f"{topic}_1": ("what is a moraine",) for topic in range(6)})
    target = TextSet("llm", {turn: (*texts, "") for turn, texts in source.wordings.items()})
    result = diversity([(source, target)], EVALUATED)
    assert result.similarity["value"].tolist() == [0.5, 0.5, 0.5]
    assert result.bleu["sentences"].tolist() == [12]


def test_pairs_of_rewriters() -> None:
    """Differences of eight conversations: the p-values by hand, adjusted over the three pairs together."""
    turns = [f"{topic}_{turn}" for topic in range(8) for turn in (1, 2)]
    one = np.linspace(0.5, 0.8, len(turns))
    two = one - 0.1
    three = two + 0.05 * np.array([1, 1] * 5 + [-1, -1] * 3)
    sizes = dict.fromkeys(turns, 1)
    # the third rewriter lacks the last conversation
    fewer = dict.fromkeys(turns[:-2], 1)
    targets = {
        "one": (sizes, {"m": one}),
        "two": (sizes, {"m": two}),
        "three": (fewer, {"m": three[:-2]}),
    }
    means, pairs = compare_similarities("human", targets, "conversation", 0)
    assert [(*row[1:6], row[6].value) for row in means] == [
        ("one", "m", 16, 16, 1, pytest.approx(one.mean())), ("two", "m", 16, 16, 1, pytest.approx(two.mean())),
        ("three", "m", 14, 14, 1, pytest.approx(three[:-2].mean())),
    ]  # fmt: skip
    found = {row[1:3]: row for row in pairs}
    assert list(found) == [("one", "two"), ("one", "three"), ("two", "three")]
    assert [row[4] for row in pairs] == [16, 14, 14]
    test, p = found["one", "two"][5:7]
    assert (test.value, test.low, test.high) == (
        pytest.approx(0.1),
        pytest.approx(0.1),
        pytest.approx(0.1),
    )
    assert p == pytest.approx(2 / 2**8)
    # five conversations against two: 2 · (1 + 7 + 21) of 2**7 patterns are as far
    assert found["two", "three"][5].value == pytest.approx(-0.05 * (10 - 4) / 14)
    assert found["two", "three"][6] == pytest.approx(2 * 29 / 2**7)
    sums = [[0.2] * 8, [0.1] * 5 + [0.3] * 2 + [0], [-0.1] * 5 + [0.1] * 2 + [0]]
    adjusted = np.maximum([row[6] for row in pairs], max_t(sums, 0))
    assert [row[7] for row in pairs] == pytest.approx(adjusted.tolist())
    assert found["two", "three"][7] >= found["two", "three"][6]


def test_rewriters_without_a_common_turn_are_no_pair() -> None:
    targets = {
        "one": ({"1_1": 1}, {"m": np.ones(1)}),
        "two": ({"2_1": 2}, {"m": np.array([0.5, 1.0])}),
    }
    means, pairs = compare_similarities("human", targets, "conversation", 0)
    assert [row[6].value for row in means] == [1.0, 0.75] and not pairs
    alike = {"one": targets["one"], "two": ({"1_1": 1}, {"m": np.zeros(1)})}
    assert compare_similarities("human", alike, "turn", 0, every_pair=False)[1] == []


def test_labels() -> None:
    assert [label(name) for name in (*ROUGE, "cosine_sentence_transformer")] == [
        "ROUGE-1 F", "ROUGE-2 F", "ROUGE-L F", "cosine (sentence-transformer)",
    ]  # fmt: skip
