"""The compact letter display: two systems share a letter exactly where nothing tells them apart."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from robustcs.statistics.letters import compact_letters, letters_of

PAIRS = st.integers(1, 9).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.sets(st.sampled_from([(i, j) for i in range(n) for j in range(i + 1, n)] or [(0, 0)])),
    )
)


@given(PAIRS)
def test_sharing_a_letter_is_not_being_told_apart(case: tuple[int, set[tuple[int, int]]]) -> None:
    count, apart = case
    letters = [set(some.split()) for some in compact_letters(count, dict.fromkeys(apart, True))]
    assert all(letters)
    for i in range(count):
        for j in range(i + 1, count):
            assert bool(letters[i] & letters[j]) == ((i, j) not in apart)
    used = sorted(set().union(*letters))
    assert used == [chr(ord("a") + place) for place in range(len(used))] and "a" in letters[0]


def test_the_usual_staircase() -> None:
    apart = {(0, 2): True, (0, 3): True, (1, 3): True}
    assert compact_letters(4, apart) == ("a", "a b", "b c", "c")
    assert compact_letters(3, {}) == ("a", "a", "a")
    assert compact_letters(2, {(0, 1): True}) == ("a", "b")
    assert compact_letters(0, {}) == ()


def test_more_than_26_groups() -> None:
    count = 60
    apart = {(i, j): True for i in range(count) for j in range(i + 1, count)}
    letters = compact_letters(count, apart)
    assert letters[25:29] == ("z", "aa", "ab", "ac") and len(set(letters)) == count


def test_what_a_corrected_p_tells_apart() -> None:
    assert letters_of([3, 2, 1], {(0, 1): 0.05, (0, 2): 0.051, (1, 2): math.nan}) == [
        "a",
        "b",
        "a b",
    ]


def test_letters_stand_in_the_order_of_the_systems() -> None:
    """The best gets the first letter, wherever it stands."""
    assert letters_of([0.1, 0.9, 0.5], {(0, 1): 0.01, (0, 2): 0.3, (1, 2): 0.2}) == [
        "b",
        "a",
        "a b",
    ]
    assert letters_of([0.1, 0.9], {(0, 1): 0.05}) == ["b", "a"]
    assert letters_of([0.1, 0.9, 0.5], {(0, 1): 0.01, (0, 2): 0.3, (1, 2): 0.01}, left_out=[0]) == [
        "",
        "a",
        "b",
    ]
    assert letters_of([0.1, 0.9], {(0, 1): 0.07}) == ["a", "a"] and letters_of(
        [0.1, 0.9], {(0, 1): 0.07}, 0.1
    ) == ["b", "a"]
