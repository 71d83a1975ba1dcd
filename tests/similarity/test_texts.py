"""Words, answer tokens in common, distinct n-grams."""

from __future__ import annotations

import math

import pytest

from robustcs.similarity.texts import answer_jaccard, distinct_n, words


def test_words_have_no_case_punctuation_or_apostrophes() -> None:
    assert words("What’s the DOG's name—Straße 3?") == ["whats", "the", "dogs", "name", "strasse", "3"]


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [("the red dog", "a red cat", 1 / 3), ("", "", 1.0), ("the", "", 1.0), ("dog", "", 0.0), ("in 1969.", "1969 in", 1.0)],
)
def test_answer_jaccard(first: str, second: str, value: float) -> None:
    assert answer_jaccard(first, second) == value == answer_jaccard(second, first)


def test_distinct_n() -> None:
    texts = [words("a b a b"), words("a b!")]
    assert distinct_n(texts, 1) == 2 / 6
    assert distinct_n(texts, 2) == 2 / 4
    assert math.isnan(distinct_n(texts, 9))
