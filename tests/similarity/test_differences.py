"""What differs between two questions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.similarity.differences import FUNCTION_WORDS, KINDS, difference_finder
from robustcs.similarity.texts import words

FIND = difference_finder()


@pytest.mark.parametrize(
    ("qr", "human", "kinds", "missing", "added"),
    [
        ("What is it?", " What is it? ", ("identical",), (), ()),
        ("what is bakers percentage", "What is baker's percentage?", ("case, punctuation, apostrophes",), (), ()),
        ("gears for a bicycle", "a bicycle for gears", ("word order",), (), ()),
        ("classes of satellite", "classes of satellites", ("word form",), (), ()),
        ("importance of surrealism", "the importance of surrealism", ("function words",), (), ()),
        ("oldest oceanic found", "oldest oceanic crust found", ("missing content words",), ("crust",), ()),
        ("lung cancer symptoms", "cancer", ("added content words",), (), ("lung", "symptoms")),
        (
            "Who built the first chain", "Who built a first bicycle",
            ("function words", "missing content words", "added content words"), ("bicycle",), ("chain",),
        ),
        ("gears", "gears gears", ("missing content words",), ("gears",), ()),
        ("What's this", "What this", ("function words",), (), ()),
    ],
)  # fmt: skip
def test_kinds(qr: str, human: str, kinds: tuple[str, ...], missing: tuple[str, ...], added: tuple[str, ...]) -> None:
    assert FIND(qr, human) == (kinds, missing, added)


QUESTION = st.lists(st.sampled_from(["What", "is", "the", "satellite", "satellites", "Crust", "crust's", "?"]), max_size=6)


@settings(deadline=None)
@given(QUESTION, QUESTION)
def test_every_pair_has_a_kind_and_swapping_swaps(first: list[str], second: list[str]) -> None:
    one, other = FIND(" ".join(first), " ".join(second)), FIND(" ".join(second), " ".join(first))
    assert one.kinds and set(one.kinds) <= set(KINDS)
    assert sorted(one.missing) == sorted(other.added) and sorted(one.added) == sorted(other.missing)
    assert len(one.kinds) == 1 or not set(one.kinds) & set(KINDS[:3])


def test_function_words_are_written_as_words_are() -> None:
    assert all(words(word) == [word] for word in FUNCTION_WORDS)
