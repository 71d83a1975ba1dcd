"""How much of an item a text holds, by its content words."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from robustcs.similarity.coverage import Precision, held, precision, reader

WORDS = st.lists(st.sampled_from(["flour", "water", "salt", "oven", "the", "not", "and"]), max_size=12).map(" ".join)


def test_function_words_do_not_count_and_endings_do_not_matter() -> None:
    words = reader()
    assert words("The Baker's loaves were not baked, and the baking is done.") == Counter({"baker": 1, "loav": 1, "bake": 2,
                                                                                           "done": 1})  # fmt: skip
    assert words("It is the one that they did") == Counter()


def test_a_word_counts_as_often_as_it_stands_on_both_sides() -> None:
    words = reader()
    item, answer = words("flour flour water salt"), words("Take flour, and salted water")
    assert held(item, answer) == 3 / 4
    assert held(words("the"), answer) == 0
    # of the answer's words, those that the items have; twice flour in one item allows it twice, not four times
    found = precision(words("flour flour flour pepper"), [item, words("flour flour")])
    assert found == Precision(2, 4) and found.value == 0.5
    assert precision(words(""), [item]).value == 0


@given(WORDS, WORDS, WORDS)
def test_more_text_holds_no_less_and_the_item_itself_all(item: str, text: str, more: str) -> None:
    words = reader()
    own = words(item)
    assert held(own, words(f"{text} {more}")) >= held(own, words(text))
    assert held(own, own) == (1 if own else 0)
    assert 0 <= precision(words(text), [own, words(more)]).value <= 1
    assert precision(own, [own]).value == (1 if own else 0)
