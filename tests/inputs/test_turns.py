"""Turn ids: depth, conversation, natural order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.inputs.turns import conversation, turn_depth, turn_sort_key


@pytest.mark.parametrize(
    ("turn", "depth", "of"),
    [
        ("31_4", 4, "31"),
        ("105_10", 10, "105"),
        ("132_1-3", 3, "132_1"),
        ("132_2-11", 11, "132_2"),
        ("C_abc_1_q#2", 3, "C_abc_1"),
        ("C_2d211835213b45588ad5ca868ce7fabd_0_q#0", 1, "C_2d211835213b45588ad5ca868ce7fabd_0"),
        ("1-1_1", 1, "1-1"),
        ("0_12", 12, "0"),
        ("QReCC-Test_1_12", 12, "QReCC-Test_1"),
        ("dd6b6ffd177f2b311abe676261279d2f<::>4", 4, "dd6b6ffd177f2b311abe676261279d2f"),
        ("a_b-1<::>x", None, "a_b-1"),
        ("2024-145979", None, "2024-145979"),
        ("1037798", None, "1037798"),
        ("17", None, "17"),
        ("opening", None, "opening"),
        ("31_", None, "31_"),
        ("_4", None, "_4"),
        ("", None, ""),
    ],
)
def test_depth_and_conversation(turn: str, depth: int | None, of: str) -> None:
    assert turn_depth(turn) == depth
    assert conversation(turn) == of


def test_natural_order() -> None:
    ordered = ["9_1", "31_2", "31_9", "31_10", "132_1-3", "132_1-11", "132_2-1", "C_a_0_q#2", "C_a_0_q#10", "C_a_1_q#0"]
    shuffled = ordered.copy()
    random.Random(1).shuffle(shuffled)
    assert shuffled != ordered
    assert sorted(shuffled, key=turn_sort_key) == ordered


@given(st.lists(st.text(alphabet="C_#q-019٣²", max_size=8), unique=True))
def test_any_ids_have_one_order(turns: list[str]) -> None:
    backwards = turns[::-1]
    assert sorted(turns, key=turn_sort_key) == sorted(backwards, key=turn_sort_key)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_ids_sort_as_their_numbers(topic: int, depth: int, other_topic: int, other_depth: int) -> None:
    by_key = turn_sort_key(f"{topic}_{depth}") < turn_sort_key(f"{other_topic}_{other_depth}")
    assert by_key == ((topic, depth) < (other_topic, other_depth))
    assert (turn_depth(f"{topic}_{depth}"), conversation(f"{topic}_{depth}")) == (depth, str(topic))


def test_ids_of_thousands_of_digits_have_an_order_and_no_depth() -> None:
    long, longer = "7" * 5000, "1" + "0" * 5000
    assert sorted([f"1_{longer}", f"1_{long}", "1_9", f"1_00{long[1:]}"], key=turn_sort_key) == [
        "1_9", f"1_00{long[1:]}", f"1_{long}", f"1_{longer}"
    ]  # fmt: skip
    for turn in (f"1_{long}", f"C_1_q#{long}", "1_" + "9" * 19):
        assert turn_depth(turn) is None
    assert conversation(f"1_{long}") == "1"
    assert turn_depth("1_" + "9" * 18) == 10**18 - 1
    assert turn_depth("1_" + "0" * 5000 + "7") == 7
