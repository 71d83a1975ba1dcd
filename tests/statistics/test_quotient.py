"""One quotient for all statistics: what stands where there is nothing to divide by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robustcs.statistics import logistic, places_within, quotient, settled


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


def test_differences_of_equal_scores_are_0_and_others_keep_their_digits() -> None:
    found = settled([0.1 + 0.2 - 0.3, -1e-10, 1e-9, -1e-9, 2 / 3, -1 / 3])
    assert found.tolist() == [0, 0, 1e-9, -1e-9, 2 / 3, -1 / 3]


def test_the_logistic_function_from_end_to_end() -> None:
    some = np.array([-30.0, -2.5, -0.1, 0, 0.7, 4, 30])
    assert logistic(some) == pytest.approx(1 / (1 + np.exp(-some)), abs=1e-15)
    assert logistic(np.array([-1e4, 1e4])).tolist() == [0, 1]


def test_places_start_anew_in_every_group() -> None:
    assert places_within(np.array([2, 0, 3, 1])).tolist() == [0, 1, 0, 1, 2, 0]
    assert places_within(np.array([], dtype=np.int64)).tolist() == []
