"""Thresholds: how they are written, and on which side a score falls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import ExitCode, UsageError
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.thresholds import (
    DEFAULT_THRESHOLDS,
    Threshold,
    distinct_thresholds,
    parse_threshold,
    reachable_thresholds,
)


@pytest.mark.parametrize(
    ("text", "operator", "value"),
    [
        (">0", ">", 0.0), ("0", ">", 0.0), ("0.0", ">", 0.0), (">=0.5", ">=", 0.5), ("0.5", ">=", 0.5), (".5", ">=", 0.5),
        ("≥0.5", ">=", 0.5), (" >= 0.5 ", ">=", 0.5), ("=1", "=", 1.0), ("==1", "=", 1.0), ("1", ">=", 1.0),
        ("1e-3", ">=", 0.001), (">=0", ">=", 0.0), (">0.25", ">", 0.25),
    ],
)  # fmt: skip
def test_what_can_be_written(text: str, operator: str, value: float) -> None:
    assert parse_threshold(text) == Threshold(operator, value)


@pytest.mark.parametrize(
    "text", ["", "high", "<0.5", ">", "0,5", "-1", ">=0.5.1", "nan", "inf", "0.5 0.6", "=>1"]
)
def test_what_cannot_be_written(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_threshold(text)
    assert (
        str(error.value) == f"cannot read threshold {text!r}; use '>0', '>=0.5', '=1' or a number"
    )
    assert error.value.exit_code is ExitCode.USAGE


def test_default_thresholds_are_those_of_the_paper() -> None:
    assert [str(threshold) for threshold in DEFAULT_THRESHOLDS] == [">0", ">=0.5", "=1"]
    assert [threshold.label for threshold in DEFAULT_THRESHOLDS] == ["> 0", "≥ 0.5", "= 1"]


@settings(deadline=None)
@given(operator=st.sampled_from([">", ">=", "="]), value=st.decimals(0, 1, places=4).map(float))
def test_prints_as_it_is_parsed(operator: str, value: float) -> None:
    threshold = Threshold(operator, value)
    assert parse_threshold(str(threshold)) == threshold


@settings(deadline=None)
@given(score=st.integers(0, 1000), value=st.integers(0, 1000))
def test_holds_as_whole_numbers_do(score: int, value: int) -> None:
    """Thousandths as floats compare like the whole numbers they stand for."""
    for operator, expected in ((">", score > value), (">=", score >= value), ("=", score == value)):
        assert bool(Threshold(operator, value / 1000).holds(score / 1000)) == expected


def test_the_last_bits_of_a_sum_do_not_decide() -> None:
    almost = 0.1 + 0.2  # 0.30000000000000004
    assert almost != 0.3
    assert Threshold("=", 0.3).holds(almost)
    assert not Threshold(">", 0.3).holds(almost)
    below_one = math.nextafter(1.0, 0.0)
    assert Threshold(">=", 1.0).holds(below_one) and Threshold("=", 1.0).holds(below_one)
    assert not Threshold(">", 0.0).holds(1e-17)
    assert Threshold(">", 0.0).holds(1e-6)


def test_holds_is_elementwise() -> None:
    assert Threshold(">=", 0.5).holds([0.0, 0.5, 1.0]).tolist() == [False, True, True]
    assert Threshold(">=", 0.5).holds(np.array([[0.4999], [0.5]])).shape == (2, 1)


@pytest.mark.parametrize(
    ("measure", "asked", "kept"),
    [
        ("P_1", [">0", ">=0.5", "=1"], ["=1"]),
        ("success_5", [">0", ">=0.5"], [">0"]),
        ("em", [">=0", "=1", ">=2", ">0"], [">=0", "=1", ">=2"]),
        ("ndcg_cut_3", [">0", ">=0.5", "=1"], [">0", ">=0.5", "=1"]),
        ("of my own", [">0", "=1"], [">0", "=1"]),
    ],
)
def test_thresholds_that_say_the_same_of_a_measure_stand_once(
    measure: str, asked: list[str], kept: list[str]
) -> None:
    assert [
        str(one) for one in distinct_thresholds(measure, list(map(parse_threshold, asked)))
    ] == kept


@pytest.mark.parametrize(
    ("threshold", "metric", "reached"),
    [
        (">=1.5", "P_1", False), ("1.5", "P_1", False), ("=2", "map", False), (">1", "ndcg", False), (">1", "nDCG@3", False),
        (">=1.01", "f1", False), ("=1.5", "Rprec", False), (">=2", "set_F", False), (">0.99", "P_1", True), (">=1", "em", True),
        ("=1", "iprec_at_recall_0.10", True), (">=5", "utility", True), (">1", "G", True), ("=1.0000000001", "P_1", True),
    ],
)  # fmt: skip
def test_a_threshold_that_no_score_reaches_is_refused(
    threshold: str, metric: str, reached: bool
) -> None:
    if reached:
        assert reachable_thresholds([parse_threshold(threshold)], [parse_measure(metric)]) == (
            parse_threshold(threshold),
        )
        return
    with pytest.raises(
        UsageError, match="^no score of .* can be .*: the highest is 1; use a threshold such as"
    ):
        reachable_thresholds(
            list(map(parse_threshold, [">0", threshold])),
            list(map(parse_measure, ["utility", metric])),
        )


def test_the_default_measures_end_at_1() -> None:
    assert reachable_thresholds([]) == DEFAULT_THRESHOLDS
    with pytest.raises(UsageError, match="no score of P_1 can be >=1.5: the highest is 1"):
        reachable_thresholds([parse_threshold(">=1.5")])
