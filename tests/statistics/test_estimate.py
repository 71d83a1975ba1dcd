"""The words for what an estimate cannot say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from robustcs.statistics import estimate
from robustcs.statistics.estimate import (
    alike_note,
    carried_note,
    carried_share,
    counted,
    floor_note,
    joined,
    moving_note,
    p_text,
    sparse_note,
    units_note,
)
from robustcs.statistics.means import mean_estimates


@pytest.mark.parametrize(
    ("p", "bound", "text"),
    [
        (0.0314, 0, "p = 0.031"),
        (0.00052, 0, "p = 0.0005"),
        (2e-5, 2e-5, "p < 0.0001"),
        (2e-9, 0, "p < 0.0001"),
        (0, 0, "p < 0.0001"),
        (66 * 2e-5, 66 * 2e-5, "p < 0.002"),
        (0.04, 0.04, "p < 0.04"),
        (0.0401, 0.04, "p = 0.040"),
        (1, 1, "p = 1.000"),
        (math.nan, 0, "no p"),
        (0.0001, 0, "p = 0.0001"),
        (0.00099, 0, "p = 0.0010"),
        (0.001, 0, "p = 0.001"),
        (0.0123, 0.0123, "p < 0.02"),
        (0.0005, 0.0012, "p < 0.002"),
        (0.2, 0.3, "p < 0.3"),
        (1e-12, 1e-9, "p < 0.0001"),
    ],
)
def test_p_as_it_is_printed(p: float, bound: float, text: str) -> None:
    assert p_text(p, bound) == text


def test_units_that_are_alike_are_named() -> None:
    assert alike_note(1, "turn") == "" and alike_note(0, "turn") == ""
    assert alike_note(2, "turn") == "no interval: both 2 turns are alike"
    assert alike_note(3, "turn") == "no interval: all 3 turns are alike"


def test_one_unit_carries_the_spread_only_above_half_of_it() -> None:
    # 9 / (9 + 9) is half of it
    half = [3.0, *[1.0] * 9]
    assert carried_share(half) == 0.5 and carried_note(0.5, 10, "topic") == ""
    more = carried_share([-3.1, *half[1:]])
    assert (
        carried_note(more, 10, "topic")
        == "one topic accounts for 52% of the spread, so the interval may be too narrow"
    )
    assert (
        carried_note(more, 9, "topic") == "" and carried_share([0.0] * 10) == carried_share([]) == 0
    )
    # 81 / (81 + 9)
    assert carried_note(carried_share([9.0, *[1.0] * 9]), 10, "turn").startswith(
        "one turn accounts for 90% of the spread"
    )


def test_a_floor_names_the_first_level_that_it_cannot_reach() -> None:
    assert floor_note(0.05) == "p cannot be below 0.05 and so cannot reach 0.01"
    assert floor_note(0.0501) == "p cannot be below 0.05 and so cannot reach 0.05"
    assert (
        floor_note(0.01) == ""
        and floor_note(0.5) == "p cannot be below 0.5 and so cannot reach 0.05"
    )


def test_notes() -> None:
    assert units_note(4, "topic") == "no interval: only 4 topics (at least 5 required)"
    assert units_note(5, "topic") == "unstable: only 5 topics"
    # 1 − 0.05^(1/20) = 13.9 %
    assert (
        moving_note(0, 20, 1.0, "topic")
        == "none of 20 topics differs, so with 95% confidence fewer than 13.9% of all topics do"
    )
    assert (
        moving_note(7, 14, 0.0156, "topic")
        == "only 7 of 14 topics differ; p cannot be below 0.016 and so cannot reach 0.01"
    )
    assert units_note(1, "topic") == "no interval: only 1 topic (at least 5 required)"
    assert units_note(9, "turn") == "unstable: only 9 turns" and units_note(10, "turn") == ""
    assert moving_note(8, 16, 0.0078, "conversation") == ""
    assert moving_note(5, 20, 0.0625, "conversation") == (
        "no interval: only 5 of 20 conversations differ; p cannot be below 0.062 and so cannot reach 0.05"
    )
    assert moving_note(5, 10, 0.0625, "conversation").startswith(
        "only 5 of 10 conversations differ; p cannot"
    )
    assert moving_note(0, 0, 1.0, "conversation") == ""
    assert joined("", "a", "", "b") == "a; b" and counted(1, "turn") == "1 turn"


def test_intervals_have_95_percent() -> None:
    values = np.random.default_rng(0).random(12)
    (found,) = mean_estimates(values, np.ones(12))
    assert (found.low, found.high) == pytest.approx(
        tuple(stats.ttest_1samp(values, 0).confidence_interval(0.95))
    )


def test_a_p_without_a_bound_is_its_own() -> None:
    assert (p_text(0.03), p_text(0.9), p_text(2e-5)) == ("p = 0.030", "p = 0.900", "p < 0.0001")


def test_few_units_that_differ_are_counted_in_words() -> None:
    assert moving_note(1, 1, 1.0, "topic").startswith("the only topic differs; p cannot")
    assert moving_note(3, 3, 0.25, "topic").startswith("all 3 topics differ; p cannot")
    assert moving_note(7, 7, 0.0156, "topic").startswith("all 7 topics differ; p cannot")
    assert moving_note(8, 8, 0.0078, "topic") == ""
    assert moving_note(1, 4, 1.0, "topic").startswith("only 1 of 4 topics differs; p cannot")


@pytest.mark.parametrize(
    ("units", "fewest"), [(5, 3), (6, 3), (19, 10), (20, 10), (21, 10), (500, 10)]
)
def test_half_of_the_units_or_ten_must_differ(units: int, fewest: int) -> None:
    assert (
        sparse_note(fewest, units, "turn")
        == sparse_note(units, units, "turn")
        == sparse_note(0, units, "turn")
        == ""
    )
    assert (
        sparse_note(fewest - 1, units, "turn")
        == f"no interval: only {fewest - 1} of {units} turns differ"
    )
    assert (
        sparse_note(1, units, "turn") == f"no interval: only 1 of {units} turns differs"
        and sparse_note(1, 4, "turn") == ""
    )


def test_a_comparison_that_was_not_tested_has_no_p_and_no_unit_that_differs() -> None:
    found = estimate.Tested(0.1, math.nan, math.nan, 3, "")
    assert p_text(found.p) == "no p" and floor_note(found.floor) == "" and not found.moving
    assert carried_note(found.carried, 3, "turn") == ""
