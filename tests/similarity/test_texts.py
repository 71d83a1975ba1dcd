"""Words, answer tokens in common, distinct n-grams."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.similarity.texts import (
    Precision,
    answer_jaccard,
    content_words,
    distinct_n,
    held,
    precision,
    words,
)

WORDS = st.lists(
    st.sampled_from(["flour", "water", "salt", "oven", "the", "not", "and"]), max_size=12
).map(" ".join)


def test_words_have_no_case_punctuation_or_apostrophes() -> None:
    assert words("What’s the DOG's name—Straße 3?") == [
        "whats",
        "the",
        "dogs",
        "name",
        "strasse",
        "3",
    ]


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("the red dog", "a red cat", 1 / 3),
        ("", "", 1.0),
        ("the", "", 1.0),
        ("dog", "", 0.0),
        ("in 1969.", "1969 in", 1.0),
    ],
)
def test_answer_jaccard(first: str, second: str, value: float) -> None:
    assert answer_jaccard(first, second) == value == answer_jaccard(second, first)


def test_distinct_n() -> None:
    texts = [words("a b a b"), words("a b!")]
    assert distinct_n(texts, 1) == 2 / 6
    assert distinct_n(texts, 2) == 2 / 4
    assert math.isnan(distinct_n(texts, 9))


def test_function_words_do_not_count_and_endings_do_not_matter() -> None:
    found = content_words("The Baker's loaves were not baked, and the baking is done.")
    assert found == Counter({"baker": 1, "loav": 1, "bake": 2, "done": 1})
    assert content_words("It is the one that they did") == Counter()


def test_a_word_counts_as_often_as_it_stands_on_both_sides() -> None:
    item, answer = (
        content_words("flour flour water salt"),
        content_words("Take flour, and salted water"),
    )
    assert held(item, answer) == 3 / 4
    assert held(content_words("the"), answer) == 0
    # of the answer's words, those that the items have; twice flour in one item allows it twice, not four times
    found = precision(
        content_words("flour flour flour pepper"), [item, content_words("flour flour")]
    )
    assert found == Precision(2, 4) and found.value == 0.5
    assert precision(content_words(""), [item]).value == 0


@given(WORDS, WORDS, WORDS)
def test_more_text_holds_no_less_and_the_item_itself_all(item: str, text: str, more: str) -> None:
    own = content_words(item)
    assert held(own, content_words(f"{text} {more}")) >= held(own, content_words(text))
    assert held(own, own) == (1 if own else 0)
    assert 0 <= precision(content_words(text), [own, content_words(more)]).value <= 1
    assert precision(own, [own]).value == (1 if own else 0)
