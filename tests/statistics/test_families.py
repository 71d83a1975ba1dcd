"""Corrections of families against statsmodels, enumeration and a short simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from robustcs.statistics.families import holm_family, max_t_family, units_for_holm
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
    assert [units_for_holm(m) for m in (1, 66, 1770)] == [6, 12, 17]
    for comparisons in (1, 3, 66):
        units = units_for_holm(comparisons)
        assert comparisons * 2 / 2**units <= 0.05 < comparisons * 2 / 2 ** (units - 1)


def step_down_by_hand(sums: np.ndarray) -> list[float]:
    comparisons, units = sums.shape
    norms = np.sqrt((sums**2).sum(axis=1))
    observed = np.abs(sums.sum(axis=1)) / norms
    left, last, out = set(range(comparisons)), 0.0, [0.0] * comparisons
    for place in np.argsort(-observed):
        rows = sorted(left)
        patterns = np.array(list(itertools.product((-1, 1), repeat=units)))
        largest = [(np.abs(sums[rows] @ signs) / norms[rows]).max() for signs in patterns]
        last = max(last, float(np.mean(np.array(largest) >= observed[place] - 1e-12)))
        out[place] = last
        left.remove(int(place))
    return out


def test_max_t_is_the_step_down_written_out() -> None:
    sums = np.random.default_rng(1).normal(0.5, 1, (5, 7))
    family = max_t_family(sums, 0)
    np.testing.assert_allclose(family.p, step_down_by_hand(sums))
    assert family.floor == 2 / 2**7 and family.describe() == "step-down max-T over sign flips over 5 comparisons"


def test_max_t_of_one_is_the_test_and_never_below_it() -> None:
    random = np.random.default_rng(2)
    sums = random.normal(0.4, 1, (1, 12))
    (test,) = paired_tests(sums, np.ones(12), 0)
    assert max_t_family(sums, 0).p[0] == pytest.approx(test.p)
    many = np.vstack([random.normal(0.5, 1, (30, 20)), np.zeros((1, 20))])
    tests = paired_tests(many, np.ones(20), 0, draws=9_999)
    family = max_t_family(many, 0, tests, draws=9_999)
    assert all(p >= test.p for p, test in zip(family.p, tests, strict=True)) and family.p[-1] == 1
    assert family.p_text(int(family.p.argmin())).startswith("p ")
    # equal comparisons cost nothing: they are one
    same = np.repeat(many[:1], 30, axis=0)
    assert max_t_family(same, 0).p == pytest.approx(max_t_family(same[:1], 0).p[0])
    assert math.isclose(max_t_family(same * np.arange(1, 31)[:, None], 0).p[3], max_t_family(same, 0).p[3])


def test_family_wise_error() -> None:
    random = np.random.default_rng(3)
    false = 0
    for _ in range(150):
        systems = random.normal(size=(5, 10)) + random.normal(size=10)
        pairs = np.array([systems[i] - systems[j] for i in range(5) for j in range(i + 1, 5)])
        false += max_t_family(pairs, 0).p.min() <= 0.05
    assert false / 150 <= 0.1
