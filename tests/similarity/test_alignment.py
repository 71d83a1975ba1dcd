"""Sentences found in their passages, and spans carried over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from robustcs.similarity.texts import align

PASSAGE = "First. Margot Wallström – of Sweden – said: 'no'. Last."


def test_a_sentence_is_found_as_it_stands_by_letters_and_by_those_of_ascii() -> None:
    for sentence, how, chosen in (
        ("Margot Wallström – of Sweden – said: 'no'.", "verbatim", "Wallström – of Sweden"),
        ("Margot Wallström  of Sweden  said no", "letters and digits", "Wallström  of Sweden"),
        ("Margot Wallstrm  of Sweden  said no.", "ASCII letters and digits", "Wallstrm  of Sweden"),
    ):
        found = align(sentence, PASSAGE)
        assert found is not None and found.how == how
        start = PASSAGE.index("Wallström")
        ((first, last),) = found.cut([(start, PASSAGE.index(" – said"))])
        assert sentence[first:last] == chosen


def test_what_is_not_there_is_not_found() -> None:
    for sentence in ("Margot Wallström of Norway", "…", ""):
        assert align(sentence, PASSAGE) is None


def test_spans_outside_the_sentence_are_gone_and_those_across_its_ends_are_cut() -> None:
    found = align("two three", "one two three four")
    assert found is not None
    assert found.cut([(0, 3), (2, 7), (8, 18), (14, 18)]) == ((0, 3), (4, 9))


@given(
    st.text("ab –é'", min_size=1, max_size=12),
    st.text("ab –é'", max_size=12),
    st.text("ab –é'", max_size=12),
)
def test_whatever_loses_its_marks_is_found_again(sentence: str, before: str, after: str) -> None:
    passage = before + sentence + after
    lost = "".join(one for one in sentence if one.isascii() and one not in "'–")
    if not any(one.isalnum() for one in lost):
        return
    found = align(lost, passage)
    assert found is not None and len(found.own) == len(found.there)
    assert [lost[place] for place in found.own] == [passage[place] for place in found.there]
    assert list(found.there) == sorted(set(found.there))
    # everything chosen there is everything that is known of the sentence
    assert found.cut([(0, len(passage))]) == ((found.own[0], found.own[-1] + 1),)
