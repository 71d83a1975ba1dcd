"""Paired tests, against scipy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from robustcs.statistics.preference import mcnemar_exact


@settings(deadline=None)
@given(only_first=st.integers(0, 400), only_second=st.integers(0, 400))
def test_mcnemar_equals_the_binomial_test(only_first: int, only_second: int) -> None:
    p = mcnemar_exact(only_first, only_second)
    assert p == mcnemar_exact(only_second, only_first)
    if only_first + only_second:
        assert p == pytest.approx(binomtest(only_first, only_first + only_second).pvalue, rel=1e-9)


def test_mcnemar_without_a_difference() -> None:
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(7, 7) == 1.0


def test_mcnemar_on_thousands_of_turns() -> None:
    assert mcnemar_exact(2000, 2100) == pytest.approx(binomtest(2000, 4100).pvalue, rel=1e-9)
    assert 0 <= mcnemar_exact(0, 2000) < 1e-300


def test_many_discordant_turns_take_no_time() -> None:
    assert mcnemar_exact(10_000, 10_000) == 1.0
    assert mcnemar_exact(9_800, 10_200) == pytest.approx(
        float(binomtest(9_800, 20_000).pvalue), rel=1e-9
    )
