"""What differs between two questions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.inputs.texts import read_texts
from robustcs.similarity.differences import ERROR_TYPES, FUNCTION_WORDS, text_difference
from robustcs.similarity.texts import words


@pytest.mark.parametrize(
    ("qr", "human", "missing", "added"),
    [
        ("gears for a bicycle", "a bicycle for gears", (), ()),
        ("classes of satellite", "classes of satellites", (), ()),
        ("importance of surrealism", "the importance of surrealism", (), ()),
        ("oldest oceanic found", "oldest oceanic crust found", ("crust",), ()),
        ("lung cancer symptoms", "cancer", (), ("lung", "symptoms")),
        ("Who built the first chain", "Who built a first bicycle", ("bicycle",), ("chain",)),
        ("gears", "gears gears", ("gears",), ()),
    ],
)
def test_words_that_differ(
    qr: str, human: str, missing: tuple[str, ...], added: tuple[str, ...]
) -> None:
    found = text_difference(qr, human)
    assert (found.missing, found.added) == (missing, added)
    assert (found.types[0] in ("word order", "wording only")) == (not missing and not added)


QUESTION = st.lists(
    st.sampled_from(["What", "is", "the", "satellite", "satellites", "Crust", "crust's", "?"]),
    max_size=6,
)


@settings(deadline=None)
@given(QUESTION, QUESTION)
def test_every_pair_has_a_type_and_swapping_swaps(first: list[str], second: list[str]) -> None:
    one, other = (
        text_difference(" ".join(first), " ".join(second)),
        text_difference(" ".join(second), " ".join(first)),
    )
    assert one.types and set(one.types) <= set(ERROR_TYPES)
    assert sorted(one.missing) == sorted(other.added) and sorted(one.added) == sorted(other.missing)
    assert len(one.types) == 1 or not {
        "identical",
        "case or punctuation",
        "word order",
        "wording only",
    } & set(one.types)


def test_function_words_are_written_as_words_are() -> None:
    assert all(words(word) == [word] for word in FUNCTION_WORDS)


@pytest.mark.parametrize(
    ("qr", "human", "types"),
    [
        ("What is honey? ", "What is honey?", ("identical",)),
        ("what is honey", "What is honey?", ("case or punctuation",)),
        ("How did it begin?", "How did snowboarding begin?", ("pronoun left", "words dropped")),
        ("What are the EU rules?", "What are the GMO rules in the EU?", ("name lost",)),
        ("What are the gmo rules?", "What are the GMO rules?", ("case or punctuation",)),
        (
            "How can I run a Lamborghini truck?",
            "How can I run a successful truck?",
            ("words dropped", "name added"),
        ),
        (
            "What types of indoor toilets are there?",
            "What types of toilets are there?",
            ("words added",),
        ),
        ("Is honey good?", "honey is good?", ("word order",)),
        ("What are bees' habitats?", "What are the habitats of bees?", ("wording only",)),
        (
            "Why did they allow it?",
            "Why did they allow live recordings?",
            ("pronoun left", "words dropped"),
        ),
    ],
)
def test_types(qr: str, human: str, types: tuple[str, ...]) -> None:
    assert text_difference(qr, human).types == types


def test_real_rewrites_have_each_a_type(shared_data: Path) -> None:
    file = shared_data / "cast2019" / "runs" / "rewrites_cv.jsonl"
    qr, human = read_texts(file, "qr"), read_texts(file, "human")
    found = [text_difference(qr[turn], human[turn]).types for turn in qr if turn in human]
    assert all(
        types and list(types) == [kind for kind in ERROR_TYPES if kind in types] for types in found
    )
    counts = Counter(kind for types in found for kind in types)
    identical = sum(qr[turn].strip() == human[turn].strip() for turn in qr if turn in human)
    assert (
        counts["identical"] == identical == 175
        and counts["words dropped"] > counts["words added"] > 50
    )
