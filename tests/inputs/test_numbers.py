"""Numbers that can be counted and printed, and all the others."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.inputs.text import finite_number, whole_number


@given(st.integers(-2000, 2000), st.sampled_from(["", "0", "000"]))
def test_what_int_reads_up_to_the_most(number: int, zeros: str) -> None:
    text = ("-" if number < 0 else "") + zeros + str(abs(number))
    assert whole_number(text, 1000) == (number if abs(number) <= 1000 else None)


@pytest.mark.parametrize(("text", "number"), [("+7", 7), ("-0", 0), ("0" * 5000 + "7", 7)])
def test_signs_and_zeros(text: str, number: int) -> None:
    assert whole_number(text, 9) == number


@pytest.mark.parametrize(
    "text", ["", "-", "7.", "1_0", " 7", "٣", "²", "x", "9" * 5000, "1e1", "7\n"]
)
def test_what_is_no_small_whole_number(text: str) -> None:
    assert whole_number(text, 10**18) is None


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60))
def test_numbers_of_json(value: float) -> None:
    assert finite_number(value) == float(value)


@pytest.mark.parametrize(
    "value", [None, True, "7", [7], math.nan, math.inf, -math.inf, 10**400, -(10**4000)]
)
def test_what_is_no_finite_number(value: object) -> None:
    assert finite_number(value) is None
