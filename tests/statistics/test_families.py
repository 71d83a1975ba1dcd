"""Families of comparisons: max-T against brute force, Holm against statsmodels, and what neither can reach."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from robustcs.statistics.families import holm_family, max_t, max_t_family
from robustcs.statistics.sign_flip import paired_tests


def brute_force(sums: npt.NDArray[np.float64], one_sided: bool) -> list[float]:
    """Step-down max-T, written from the definition: every sign pattern, one comparison at a time."""
    patterns = np.array(list(product((1, -1), repeat=sums.shape[1])))
    statistic = (sums @ patterns.T) / np.sqrt((sums**2).sum(axis=1))[:, None]
    observed = sums.sum(axis=1) / np.sqrt((sums**2).sum(axis=1))
    if not one_sided:
        statistic, observed = abs(statistic), abs(observed)
    found = [0.0] * len(sums)
    order = sorted(range(len(sums)), key=lambda place: -observed[place])
    least = 0.0
    for step, place in enumerate(order):
        largest = statistic[order[step:]].max(axis=0)
        least = found[place] = max(least, float((largest >= observed[place] - 1e-9).mean()))
    return found


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(2, 8), st.booleans())
def test_max_t_is_brute_force(seed: int, comparisons: int, units: int, one_sided: bool) -> None:
    sums = np.random.default_rng(seed).normal(0.3, 1, (comparisons, units)).round(1) + 0.01
    np.testing.assert_allclose(max_t(sums, 0, one_sided), brute_force(sums, one_sided))


def test_one_comparison_keeps_its_p() -> None:
    sums = np.random.default_rng(3).normal(0.4, 1, (1, 12))
    tests = paired_tests(sums, np.ones(12), 0)
    assert max_t_family(tests, sums, 0).p == pytest.approx([tests[0].p])


def test_copies_of_a_comparison_cost_nothing() -> None:
    """What Holm multiplies by their number: a family of the same comparison has its p."""
    sums = np.repeat(np.random.default_rng(3).normal(2.0, 1, (1, 12)), 20, axis=0)
    tests = paired_tests(sums, np.ones(12), 0)
    assert max_t_family(tests, sums, 0).p == pytest.approx([tests[0].p] * 20)
    assert holm_family(tests).p == pytest.approx([20 * tests[0].p] * 20)


def test_comparisons_without_a_difference_have_p_1() -> None:
    sums = np.vstack([np.zeros(8), np.ones(8)])
    family = max_t_family(paired_tests(sums, np.ones(8), 0), sums, 0)
    assert (
        family.p == pytest.approx([1.0, 2 / 2**8])
        and family.describe() == "max-T over 2 comparisons"
    )


def test_a_family_that_cannot_reach_the_level_says_so() -> None:
    sums = np.ones((3, 5))
    family = max_t_family(paired_tests(sums, np.ones(5), 0), sums, 0)
    assert (
        family.note == "no adjusted p can reach 0.05; the smallest possible is 0.062"
        and family.floor == 2 / 2**5
    )


def test_a_family_that_reaches_the_first_level_needs_no_note() -> None:
    sums = np.ones((3, 6))  # at least 2 / 2^6 = 0.031, which reaches 0.05 and not 0.01
    assert max_t_family(paired_tests(sums, np.ones(6), 0), sums, 0).note == ""


def test_random_patterns_come_close_to_all_of_them() -> None:
    """18 units: 99,999 random patterns against all 262,144."""
    sums = np.random.default_rng(5).normal(0.25, 1, (4, 18))
    np.testing.assert_allclose(max_t(sums, 0), brute_force(sums, False), atol=0.006)


@pytest.mark.parametrize("one_sided", [False, True])
def test_family_wise_error(one_sided: bool) -> None:
    """Eight systems without a difference, 10 units, all 28 pairs: any false rejection in at most 7.5% of 400 trials."""
    generator = np.random.default_rng(11)
    first, second = np.triu_indices(8, 1)
    false = 0
    for _ in range(400):
        scores = generator.normal(0, 1, (8, 10)) * generator.uniform(0.2, 2, 10)
        false += bool((max_t(scores[first] - scores[second], 0, one_sided) <= 0.05).any())
    assert false <= 30


def test_holm_is_statsmodels() -> None:
    sums = np.random.default_rng(0).normal(0.4, 1, (8, 11))
    tests = paired_tests(sums, np.ones(11), 0)
    family = holm_family(tests)
    np.testing.assert_allclose(
        family.p, multipletests([test.p for test in tests], method="holm")[1]
    )
    assert family.describe() == "Holm over 8 comparisons" and family.note == ""


def test_what_holm_cannot_reach_is_said() -> None:
    tests = paired_tests(np.ones((66, 8)), np.ones(8), 0)
    family = holm_family(tests)
    assert "no p can reach 0.05" in family.note and family.p.min() > 0.05
    assert family.note.endswith("the smallest possible is 0.52; 4 more units would suffice")


def test_the_smallest_p_of_holm_is_at_most_1() -> None:
    (test,) = paired_tests(np.ones(5), np.ones(5), 0)
    assert [holm_family([test] * comparisons).floor for comparisons in (1, 3, 16, 17)] == [
        1 / 16,
        3 / 16,
        1,
        1,
    ]


@pytest.mark.parametrize(("comparisons", "needed"), [(1, 6), (3, 7), (66, 12), (1770, 17)])
def test_units_that_are_lacking_for_holm(comparisons: int, needed: int) -> None:
    """1 + log2(m / .05) conversations, rounded up."""
    for units in (5, needed - 1, needed):
        (test,) = paired_tests(np.ones(units), np.ones(units), 0)
        note = holm_family([test] * comparisons).note
        assert (f"; {needed - units} more unit" in note) == (units < needed) and bool(note) == (
            units < needed
        )


def test_an_adjusted_p_is_never_below_the_raw_one() -> None:
    sums = np.random.default_rng(5).normal(0.4, 1, (4, 12))
    tests = paired_tests(sums, np.ones(12), 0)
    adjusted = max_t(sums, 0)
    assert (
        max_t_family(tests, sums, 0).p == pytest.approx(adjusted)
        and (adjusted > [test.p for test in tests]).any()
    )
    # a raw p of other draws may lie above what max-T finds
    above = [replace(tests[0], p=1.0), *tests[1:]]
    assert max_t_family(above, sums, 0).p == pytest.approx([1.0, *adjusted[1:]])


def test_units_would_suffice_only_if_all_patterns_of_all_tests_were_tried() -> None:
    (test,) = paired_tests(np.ones(5), np.ones(5), 0)
    assert holm_family([test, test]).note.endswith("0.12; 2 more units would suffice")
    assert holm_family([test, replace(test, exact=False)]).note.endswith(
        "the smallest possible is 0.12"
    )
    assert "the smallest possible is 1;" in holm_family([test] * 20).note
