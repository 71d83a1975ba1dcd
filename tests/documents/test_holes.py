"""Sentences about what unjudged passages probably change, on hand-made rows."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from robustcs.documents.holes import expected_drop, is_significant, tipping_row, tipping_sentence
from robustcs.evaluation.hole_tipping import TIPPING

NAN = float("nan")


def row(**values: float) -> dict[str, Any]:
    usual = {
        "expected": 0.17, "expected_low": 0.1, "expected_high": 0.25, "hole_share": 0.13, "hole_share_low": 0.04,
        "hole_share_high": 0.27, "expected_p": 0.01,
    }  # fmt: skip
    return usual | values


def tips(
    *rows: tuple[str, str, float, float], first: str = "human", second: str = "qr"
) -> pd.DataFrame:
    return TIPPING.frame([(first, second, "P_1", *one) for one in rows])


def test_a_share_stands_with_its_interval() -> None:
    assert expected_drop(0.2, row()) == (
        "With the unjudged passages in the top 10 graded by the hole model, the expected drop is 0.170 (95% CI 0.100 to 0.250)."
        " Unjudged passages account for 13% of the measured drop (95% CI 4% to 27%)."
    )


def test_62_percent_of_a_drop_from_minus_8_to_163_is_not_printed() -> None:
    said = expected_drop(0.02, row(expected=0.0093, expected_low=-0.052, expected_high=0.071, hole_share=NAN,
                                   hole_share_low=NAN, hole_share_high=NAN, holes_low=-0.05, holes_high=0.07))  # fmt: skip
    assert "(95% CI −0.052 to 0.071)" in said and said.endswith(
        "too small to estimate the share due to unjudged passages."
    )
    assert "account for" not in said


def test_a_share_whose_interval_just_passes_0_is_no_small_drop() -> None:
    """CAsT 2020: a drop of 0.307 with p < 0.0001, of which −0.1 to 9% is expected to be due to unjudged passages."""
    said = expected_drop(
        0.3074,
        row(
            hole_share=NAN,
            hole_share_low=NAN,
            hole_share_high=NAN,
            holes_low=0.2802,
            holes_high=0.3076,
        ),
    )
    assert said.endswith(
        "This does not show that unjudged passages account for any of the measured drop."
    )


def test_a_gain_has_no_share_and_few_conversations_no_interval() -> None:
    assert "account for" not in expected_drop(-0.01, row()) and "too small" not in expected_drop(
        -0.01, row()
    )
    said = expected_drop(0.2, row(expected_low=NAN, expected_high=NAN))
    assert "0.170 (no interval: too few sampling units, or too few that differ). Unjudged" in said


def test_significance_is_that_of_the_adjusted_p() -> None:
    assert is_significant(row(expected_p=0.05)) and not is_significant(row(expected_p=0.051))
    assert not is_significant(row(expected_p=NAN))


def test_a_row_is_found_in_either_order() -> None:
    table = tips(("order certain", "all", 0.2, NAN), ("first > second expected", "all", 0.3, NAN),
                 ("first > second expected", "unique", 0.1, NAN))  # fmt: skip
    for pair in (("human", "qr"), ("qr", "human")):
        found = tipping_row(table, *pair, "P_1", "order")
        assert found is not None and found["factor_below"] == 0.3
        found = tipping_row(table, *pair, "P_1", "sure")
        assert found is not None and found["factor_below"] == 0.2
    assert tipping_row(table, "human", "qr", "P_1", "differ") is None
    assert tipping_row(table, "human", "qr", "P_3", "order") is None
    assert tipping_row(table, "human", "t5", "P_1", "order") is None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((0.4, NAN, NAN, NAN), "the odds of relevance of unjudged passages are less than 0.4 times as high as predicted."),
        ((NAN, 3.0, NAN, NAN), "are more than 3 times as high as predicted."),
        ((0.4, 3.0, 0.2, NAN), "are less than 0.4 times or more than 3 times as high as predicted (for those that only one of"
                               " the two retrieved: unless less than 0.2 times)."),
        ((NAN, NAN, NAN, NAN), "holds if the odds of relevance of unjudged passages are multiplied by any factor from 1/50 to"
                               " 50."),
        ((NAN, NAN, 0.2, NAN), "from 1/50 to 50 (for those that only one of the two retrieved: unless less than 0.2 times)."),
    ],
)  # fmt: skip
def test_what_would_change_the_order(rows: tuple[float, float, float, float], said: str) -> None:
    table = tips(
        ("first > second expected", "all", *rows[:2]),
        ("first > second expected", "unique", *rows[2:]),
    )
    found = tipping_sentence(table, "qr", "human", "P_1", significant=False)
    assert found.startswith("The sign of the expected difference holds") and found.endswith(said)
    assert tipping_sentence(table, "qr", "human", "P_1", significant=True) == ""
