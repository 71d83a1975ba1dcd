"""The natural order of turn ids."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from robustcs.inputs.turns import turn_sort_key


def test_natural_order() -> None:
    ordered = [
        "9_1",
        "31_2",
        "31_9",
        "31_10",
        "132_1-3",
        "132_1-11",
        "132_2-1",
        "C_a_0_q#2",
        "C_a_0_q#10",
        "C_a_1_q#0",
    ]
    shuffled = ordered.copy()
    random.Random(1).shuffle(shuffled)
    assert shuffled != ordered
    assert sorted(shuffled, key=turn_sort_key) == ordered


@given(st.lists(st.text(alphabet="C_#q-019٣²", max_size=8), unique=True))
def test_any_ids_have_one_order(turns: list[str]) -> None:
    backwards = turns[::-1]
    assert sorted(turns, key=turn_sort_key) == sorted(backwards, key=turn_sort_key)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_ids_sort_as_their_numbers(
    topic: int, depth: int, other_topic: int, other_depth: int
) -> None:
    by_key = turn_sort_key(f"{topic}_{depth}") < turn_sort_key(f"{other_topic}_{other_depth}")
    assert by_key == ((topic, depth) < (other_topic, other_depth))


def test_ids_of_thousands_of_digits_have_an_order() -> None:
    long, longer = "7" * 5000, "1" + "0" * 5000
    assert sorted([f"1_{longer}", f"1_{long}", "1_9", f"1_00{long[1:]}"], key=turn_sort_key) == [
        "1_9", f"1_00{long[1:]}", f"1_{long}", f"1_{longer}"
    ]  # fmt: skip
