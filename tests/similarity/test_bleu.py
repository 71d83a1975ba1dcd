"""BLEU: the same numbers as sacrebleu, over any grouping."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.inputs.texts import read_texts
from robustcs.similarity.rouge_bleu import bleu, bleu_counts, self_bleu_counts

WORDS = st.sampled_from(
    ["What", "is", "the", "cancer", "cancer?", "don't", "U.S.", "3.5%", "a-b", "&quot;", "Tió"]
)
SENTENCE = st.one_of(st.lists(WORDS, min_size=1, max_size=8).map(" ".join), st.text(max_size=20))


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(SENTENCE, SENTENCE, SENTENCE), min_size=1, max_size=6))
def test_equal_to_sacrebleu(rows: list[tuple[str, str, str]]) -> None:
    sentences, first, second = (list(column) for column in zip(*rows, strict=True))
    single = sacrebleu.corpus_bleu(sentences, [first], smooth_method="none").score
    two = sacrebleu.corpus_bleu(sentences, [first, second], smooth_method="none").score
    assert bleu(bleu_counts(sentences, [[one] for one in first])) == pytest.approx(single, abs=1e-9)
    assert bleu(bleu_counts(sentences, list(zip(first, second, strict=True)))) == pytest.approx(
        two, abs=1e-9
    )


def test_cast_2020_manual_against_raw_turns(shared_data: Path) -> None:
    topics = shared_data / "cast2020" / "topics_manual.json"
    raw = read_texts(topics, "original", "raw_utterance")
    manual = read_texts(topics, "human", "manual_rewritten_utterance")
    assert len(raw) == 216
    assert (
        round(
            bleu(bleu_counts([manual[turn] for turn in raw], [[text] for text in raw.values()])), 2
        )
        == 44.72
    )


def test_self_bleu_takes_the_other_texts_of_a_group() -> None:
    groups = [["a b c d e", "a b c d f", "a b c d e"], ["alone"], ["x y z w", "x y z w"]]
    counts = self_bleu_counts(groups)
    assert [len(one) for one in counts] == [3, 0, 2]
    first, second, third = groups[0]
    others = [[second, first, first], [third, third, second]]
    expected = sacrebleu.corpus_bleu(groups[0], others, smooth_method="none").score
    assert bleu(counts[0]) == pytest.approx(expected)
    assert bleu(counts[2]) == pytest.approx(100)
    assert math.isnan(bleu(counts[1]))
    assert self_bleu_counts([]) == []
