"""Shares of a finite population: against scipy's hypergeometric distribution, and how often the intervals hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from robustcs.statistics.finite import finite_difference, finite_share
from tests.conftest import ROOT, load

#: Drawn and all turns of the bench: bench/coverage_review.py.
DESIGNS = ((30, 70), (30, 173), (50, 500))


def accepted(drawn: int, population: int) -> np.ndarray:
    """bool[population + 1, drawn + 1]: whether Blaker's test of that many hits accepts that many hits in the sample."""
    hits, seen = np.arange(population + 1)[:, None], np.arange(drawn + 1)[None, :]
    p = hypergeom.pmf(seen, population, hits, drawn)
    below, above = (
        hypergeom.cdf(seen, population, hits, drawn),
        hypergeom.sf(seen - 1, population, hits, drawn),
    )
    tails = np.minimum(below, above)
    found = np.zeros(p.shape, dtype=bool)
    for x in range(drawn + 1):
        found[:, x] = (p * (tails <= tails[:, [x]] * (1 + 1e-9))).sum(axis=1) > 0.05 + 1e-9
    return found & (p > 0)


@pytest.mark.parametrize(("drawn", "population"), [*DESIGNS[:2], (12, 12), (3, 9), (1, 40)])
def test_the_limits_are_the_extreme_accepted_numbers(drawn: int, population: int) -> None:
    inside = accepted(drawn, population)
    for seen in range(drawn + 1):
        hits = np.flatnonzero(inside[:, seen])
        found = finite_share(seen, drawn, population)
        assert found.value == seen / drawn
        assert (found.low * population, found.high * population) == pytest.approx(
            (hits.min(), hits.max()), abs=1e-9
        )


@pytest.mark.parametrize(("drawn", "population"), DESIGNS)
def test_the_interval_holds_for_any_number_of_hits(drawn: int, population: int) -> None:
    limits = [finite_share(seen, drawn, population) for seen in range(drawn + 1)]
    low, high = (
        np.array([getattr(one, end) for one in limits]) * population for end in ("low", "high")
    )
    hits = np.arange(population + 1)[:, None]
    inside = (low <= hits + 1e-9) & (hits - 1e-9 <= high)
    coverage = (hypergeom.pmf(np.arange(drawn + 1), population, hits, drawn) * inside).sum(axis=1)
    assert coverage.min() >= 0.95 - 1e-9
    assert coverage[1:-1].mean() <= 0.97


def test_the_interval_contains_the_share_of_a_sample_that_lacks_one_turn() -> None:
    """Of 40 turns, 1 or 2 are hits if the 39 drawn have one; 2 are rejected, and 1 of 39 is more than 1 of 40."""
    one = finite_share(1, 39, 40)
    assert (one.low, one.high) == (0.025, 1 / 39)


@given(st.integers(1, 60), st.data())
def test_swapping_hits_and_misses_mirrors_the_interval(drawn: int, data: st.DataObject) -> None:
    population = data.draw(st.integers(drawn, 300))
    seen = data.draw(st.integers(0, drawn))
    one, other = (
        finite_share(seen, drawn, population),
        finite_share(drawn - seen, drawn, population),
    )
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)
    assert one.low <= one.value <= one.high
    # the limits are possible numbers of hits, and what was seen is certain
    assert (
        one.low * population >= seen - 1e-9
        and one.high * population <= population - drawn + seen + 1e-9
    )


def test_a_whole_population_leaves_nothing_open() -> None:
    found = finite_share(3, 12, 12)
    assert (found.low, found.value, found.high) == (0.25, 0.25, 0.25)
    both = finite_difference(4, 1, 12, 12)
    assert (both.low, both.value, both.high) == (0.25, 0.25, 0.25)
    for nothing in (finite_share(0, 0, 5), finite_difference(0, 0, 0, 5)):
        assert (
            math.isnan(nothing.value)
            and nothing.units == 0
            and nothing.note == "no turn was reviewed"
        )
    with pytest.raises(ValueError, match="3 hits, 2 turns drawn from 5"):
        finite_share(3, 2, 5)


def test_the_difference_is_that_of_the_paper_without_a_finite_population() -> None:
    # Bonett and Price (2012), equation 1, written out
    b, c, n, z = 12, 5, 80, 1.959963984540054
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = z * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    found = finite_difference(b, c, n, 10**9)
    assert (found.value, found.low, found.high) == pytest.approx(
        ((b - c) / n, p - q - half, p - q + half), abs=1e-6
    )
    # 7 of 10 turns: the variance is that of a sample of a finite population
    known = finite_difference(3, 1, 7, 10)
    p, q = 4 / 9, 2 / 9
    half = z * math.sqrt((p + q - (p - q) ** 2) / 9 * 3 / 9)
    assert (known.low, known.high) == pytest.approx((p - q - half, p - q + half))
    assert (finite_difference(3, 0, 3, 1000).high, finite_difference(0, 3, 3, 1000).low) == (
        1.0,
        -1.0,
    )
    smaller, larger = (
        finite_difference(b, c, n, 100),
        finite_difference(b, c, n, 10**9, comparisons=3),
    )
    assert (
        found.low < smaller.low < smaller.high < found.high
        and larger.low < found.low < found.high < larger.high
    )


@pytest.mark.long
def test_1000_samples_of_simulated_coders() -> None:
    """The proof of docs/review.md: 93 to 97% on average, and no cell below 92%."""
    held = [row.coverage for row in load(ROOT / "bench" / "coverage_review.py").shares()]
    assert len(held) == 18 and min(held) >= 0.92 and 0.93 <= np.mean(held) <= 0.97


@pytest.mark.long
def test_1000_samples_of_two_systems() -> None:
    held = [row.coverage for row in load(ROOT / "bench" / "coverage_review.py").differences()]
    assert min(held) >= 0.92 and 0.93 <= np.mean(held) <= 0.985
