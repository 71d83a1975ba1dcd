"""Near-duplicates, against the textbook edit distance."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.similarity.paraphrases import relation, within


def levenshtein(first: Sequence[str], second: Sequence[str]) -> int:
    row = list(range(len(second) + 1))
    for i, one in enumerate(first, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(second, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]


@given(st.text("abc", max_size=9), st.text("abc", max_size=9), st.integers(0, 3))
def test_within_is_the_edit_distance(first: str, second: str, limit: int) -> None:
    assert within(first, second, limit) == (levenshtein(first, second) <= limit)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("What is a goat?", "what  is a GOAT?", "exact"),
        ("What breeds of goats are there?", "What types of goats are there?", "one word"),
        ("Is a PA ranked higher than an NP?", "Is a PA higher than an NP?", "one word"),
        ("What's the best orange?", "What is the best orange?", "few characters"),
        ("What is the 16/8 diet", "What is the 16:8 diet?", "few characters"),
        ("Why is the sky blue?", "Why is the sky blue...?!", "few characters"),
        ("How do goats sleep?", "Where do goats sleep at night?", None),
        ("Why does honey never rot?", "Is honey spoiling?", None),
    ],
)
def test_relations(first: str, second: str, expected: str | None) -> None:
    assert relation(first, second) == relation(second, first) == expected
