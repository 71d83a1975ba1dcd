"""The words for what an estimate cannot say."""

from __future__ import annotations

import math

import pytest

from robustcs.statistics.estimate import counted, joined, moving_note, p_text, units_note


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
    ],
)
def test_p_as_it_is_printed(p: float, bound: float, text: str) -> None:
    assert p_text(p, bound) == text


def test_notes() -> None:
    assert units_note(1, "topic") == "no interval: 1 topic, 5 are needed"
    assert units_note(9, "turn") == "unstable: 9 turns only" and units_note(10, "turn") == ""
    assert moving_note(8, 20, 0.0078, "conversation") == ""
    assert moving_note(5, 20, 0.0625, "conversation") == (
        "differences in 5 of 20 conversations; p cannot fall below 0.062, so not reach 0.05"
    )
    assert moving_note(0, 0, 1.0, "conversation") == ""
    assert joined("", "a", "", "b") == "a; b" and counted(1, "turn") == "1 turn"
