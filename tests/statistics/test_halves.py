"""The best system of one half on the other half: the splits written out in plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from robustcs.statistics.halves import halves_of
from robustcs.statistics.units import units_of

TURNS = [f"{conversation}_{turn}" for conversation in range(8) for turn in range(3)]


def scores() -> np.ndarray:
    generator = np.random.default_rng(5)
    return (
        generator.random((3, 24))
        + np.array([[0.0], [0.1], [0.3]])
        + np.repeat(generator.random(8), 3)
    )


def test_a_system_that_is_always_best_has_its_own_mean() -> None:
    table = np.array([np.arange(24.0), np.arange(24.0) + 5, np.arange(24.0) + 1])
    found = halves_of(table, units_of(TURNS), 0, 50)
    assert set(found.chosen.tolist()) == {1} and set(found.second.tolist()) == {2}
    assert found.half_lead == pytest.approx(4) and found.other_lead.value == pytest.approx(4)
    assert found.other_lead.low == pytest.approx(4) and found.other_lead.high == pytest.approx(4)
    # both halves together have the mean of all turns
    assert (found.half + found.other.value) / 2 == pytest.approx(table[1].mean())


def test_the_interval_is_a_jackknife_over_units() -> None:
    table, units = scores(), units_of(TURNS)
    found = halves_of(table, units, 3, 400)
    # the same draws in the same order: all units, then without each unit
    generator = np.random.default_rng(3)

    def others(kept: np.ndarray, splits: int) -> tuple[float, float]:
        inside = generator.permuted(
            np.tile(np.arange(len(kept)) < len(kept) // 2, (splits, 1)), axis=1
        )
        best, lead = [], []
        for mask in inside:
            half, rest = (
                table[:, np.isin(units.codes, kept[part])].mean(axis=1) for part in (mask, ~mask)
            )
            first, second = np.argsort(-half, kind="stable")[:2]
            best.append(rest[first])
            lead.append(rest[first] - rest[second])
        return float(np.mean(best)), float(np.mean(lead))

    whole = others(np.arange(8), 400)
    left = np.array([others(np.delete(np.arange(8), unit), 200) for unit in range(8)])
    error = np.sqrt(7 / 8 * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    reach = stats.t.ppf(0.975, 3) * error
    for one, value, width in zip((found.other, found.other_lead), whole, reach, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx(
            (value, value - width, value + width)
        )


def test_more_than_fifty_units_are_left_out_in_fifty_groups() -> None:
    """Two systems in 52 units: the first two groups are two units each."""
    table, generator = np.random.default_rng(6).random((2, 52)), np.random.default_rng(2)

    def lead(kept: np.ndarray, splits: int) -> float:
        inside = generator.permuted(
            np.tile(np.arange(len(kept)) < len(kept) // 2, (splits, 1)), axis=1
        )
        ahead = table[0, kept] - table[1, kept]
        own, rest = ((part * ahead).sum(axis=1) / part.sum(axis=1) for part in (inside, ~inside))
        return float((np.sign(own) * rest).mean())

    value = lead(np.arange(52), 100)
    left = np.array([lead(np.flatnonzero(np.arange(52) % 50 != group), 200) for group in range(50)])
    reach = stats.t.ppf(0.975, 24) * math.sqrt(49 / 50 * ((left - left.mean()) ** 2).sum())
    found = halves_of(table, units_of([f"q{unit}" for unit in range(52)]), 2, 100).other_lead
    assert (found.value, found.low, found.high) == pytest.approx(
        (value, value - reach, value + reach)
    )


def test_few_units_have_no_interval() -> None:
    found = halves_of(scores()[:, :4], units_of(TURNS[:12:3]), 0, 20)
    assert (
        math.isnan(found.other.low) and math.isnan(found.other_lead.high) and found.other.units == 4
    )
    five = halves_of(scores()[:, :15], units_of(TURNS[:15]), 0, 20)
    assert five.other.units == 5 and five.other.low <= five.other.value <= five.other.high
