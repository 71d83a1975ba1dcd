"""What differs in a rewrite."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from robustcs.inputs.texts import read_texts
from robustcs.similarity.error_types import ERROR_TYPES, type_finder


@pytest.mark.parametrize(
    ("qr", "human", "types"),
    [
        ("What is honey? ", "What is honey?", ("identical",)),
        ("what is honey", "What is honey?", ("case or punctuation",)),
        ("How did it begin?", "How did snowboarding begin?", ("pronoun left", "words dropped")),
        ("What are the EU rules?", "What are the GMO rules in the EU?", ("name lost",)),
        ("What are the gmo rules?", "What are the GMO rules?", ("case or punctuation",)),
        ("How can I run a Lamborghini truck?", "How can I run a successful truck?", ("words dropped", "name added")),
        ("What types of indoor toilets are there?", "What types of toilets are there?", ("words added",)),
        ("What are bees' habitats?", "What are the habitats of bees?", ("wording only",)),
        ("Why did they allow it?", "Why did they allow live recordings?", ("pronoun left", "words dropped")),
    ],
)
def test_types(qr: str, human: str, types: tuple[str, ...]) -> None:
    assert type_finder()(qr, human) == types


def test_real_rewrites_have_each_a_type(shared_data: Path) -> None:
    file = shared_data / "cast2019" / "runs" / "rewrites_cv.jsonl"
    qr, human = read_texts(file, "qr"), read_texts(file, "human")
    find = type_finder()
    found = [find(qr[turn], human[turn]) for turn in qr if turn in human]
    assert all(types and list(types) == [kind for kind in ERROR_TYPES if kind in types] for types in found)
    counts = Counter(kind for types in found for kind in types)
    identical = sum(qr[turn].strip() == human[turn].strip() for turn in qr if turn in human)
    assert counts["identical"] == identical == 175 and counts["words dropped"] > counts["words added"] > 50
