"""One quotient for all statistics: what stands where there is nothing to divide by."""

from __future__ import annotations

import math

import numpy as np

from robustcs.statistics import quotient


def test_there_is_nothing_to_divide_by_where_the_denominator_is_not_above_the_least() -> None:
    assert quotient([1, 2, 3], [2, 0, -1]).tolist() == [0.5, 0.0, 0.0]
    assert quotient([6.0], [1e-9], 7.0, 1e-9).tolist() == [7.0]
    assert quotient([6.0], [2e-9], 7.0, 1e-9)[0] == 6.0 / 2e-9
    assert math.isnan(quotient(0, 0, math.nan)) and quotient(0, 2, math.nan) == 0.0


def test_shapes_are_broadcast_and_whole_numbers_divided_as_numbers() -> None:
    found = quotient(np.array([[1, 2, 3]]), np.array([[2], [4]]))
    assert found.dtype == np.float64 and found.tolist() == [[0.5, 1.0, 1.5], [0.25, 0.5, 0.75]]


def test_nothing_to_divide_by_gives_0_unless_said_otherwise() -> None:
    assert quotient([1, 2, 3], [0, 4, 0.5]).tolist() == [0.0, 0.5, 6.0]
