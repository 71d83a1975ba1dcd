"""Comparisons as one frame: what stands in it is what the tests, the families and the effect sizes say."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.statistics.columns import (
    columns_of,
    comparisons,
    detectable_differences,
    effect_sizes,
)
from robustcs.statistics.families import max_t_family
from robustcs.statistics.sign_flip import paired_tests

SUMS = np.random.default_rng(3).normal((0.2, 0.6, -0.1, 1.0), 1.0, (12, 4)).T
SIZES = np.full(12, 5.0)


@pytest.mark.parametrize("mid_p", [False, True])
def test_a_frame_says_what_its_parts_say(mid_p: bool) -> None:
    found = comparisons(SUMS, SIZES, "turn", 0, mid_p=mid_p)
    tests = paired_tests(SUMS, SIZES, 0, "turn", mid_p=mid_p)
    assert (
        found.frame["difference"].tolist() == [test.value for test in tests]
        and tuple(found.tests) == tests
    )
    assert found.frame[["ci_low", "ci_high", "p"]].to_numpy().tolist() == [
        [one.low, one.high, one.p] for one in tests
    ]
    assert found.frame["p_corrected"].tolist() == max_t_family(tests, SUMS, 0).p.tolist()
    assert found.frame["effect"].tolist() == [
        one.value for one in effect_sizes(SUMS, SIZES, "turn")
    ]
    assert found.frame["detectable"].tolist() == detectable_differences(SUMS, SIZES)


def test_rows_of_one_label_are_read_together_and_one_alone_is_not_adjusted() -> None:
    found = comparisons(SUMS, SIZES, "turn", 0, ["a", "b", "a", "a"], mid_p=True, power=False)
    tests = paired_tests(SUMS, SIZES, 0, "turn", mid_p=True)
    rows = [0, 2, 3]
    assert (
        found.frame["p_corrected"][rows].tolist()
        == max_t_family([tests[row] for row in rows], SUMS[rows], 0).p.tolist()
    )
    assert found.frame["p_corrected"][1] == tests[1].p
    assert [len(family.p) for family in found.families] == [3, 1] and "effect" not in found.frame


def test_two_comparisons_are_adjusted_and_p_is_no_mid_p_unless_said_otherwise() -> None:
    found = comparisons(SUMS[:2], SIZES, "turn", 0)
    tests = paired_tests(SUMS[:2], SIZES, 0, "turn")
    assert found.frame["p"].tolist() == [test.p for test in tests]
    assert tests[0].p > paired_tests(SUMS[:1], SIZES, 0, "turn", mid_p=True)[0].p
    assert found.frame["p_corrected"].tolist() == max_t_family(tests, SUMS[:2], 0).p.tolist()
    assert found.frame["p_corrected"][1] > tests[1].p


def test_nothing_compared_is_an_empty_frame() -> None:
    found = comparisons(np.zeros((0, 12)), SIZES, "turn", 0)
    assert len(found.frame) == 0 and {"difference", "p_corrected", "detectable", "note"} <= set(
        found.frame
    )


def test_columns_take_values_limits_and_what_else_is_named() -> None:
    (test,) = paired_tests(SUMS[:1], SIZES, 0, "turn")
    assert columns_of([test], "x", "low", "high", units="units") == {
        "x": [test.value], "low": [test.low], "high": [test.high], "units": [test.units]
    }  # fmt: skip
