"""Corrections of families against statsmodels, and what they cannot reach."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from robustcs.statistics.families import holm_family
from robustcs.statistics.sign_flip import paired_tests


def test_holm_is_statsmodels() -> None:
    sums = np.random.default_rng(0).normal(0.4, 1, (8, 11))
    tests = paired_tests(sums, np.ones(11), 0)
    family = holm_family(tests)
    np.testing.assert_allclose(family.p, multipletests([test.p for test in tests], method="holm")[1])
    assert family.describe() == "Holm over 8 comparisons" and family.note == ""


def test_what_holm_cannot_reach_is_said() -> None:
    tests = paired_tests(np.ones((66, 8)), np.ones(8), 0)
    family = holm_family(tests)
    assert "no p can reach 0.05" in family.note and family.p.min() > 0.05
    assert family.note.endswith("the smallest possible is 0.52; 4 more units could")


@pytest.mark.parametrize(("comparisons", "needed"), [(1, 6), (3, 7), (66, 12), (1770, 17)])
def test_units_that_are_lacking_for_holm(comparisons: int, needed: int) -> None:
    """1 + log2(m / .05) conversations, rounded up."""
    for units in (5, needed - 1, needed):
        (test,) = paired_tests(np.ones(units), np.ones(units), 0)
        note = holm_family([test] * comparisons).note
        assert (f"; {needed - units} more unit" in note) == (units < needed) and bool(note) == (units < needed)
