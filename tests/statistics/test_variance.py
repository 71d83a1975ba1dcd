"""The two-way decomposition: textbook numbers, recovery of known variances, and intervals that hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.errors import UsageError
from robustcs.statistics.agreement import agreement_estimate
from robustcs.statistics.units import Units
from robustcs.statistics.variance import COMPONENTS, share_of, variance_components, variance_sums


def alone(turns: int) -> Units:
    """Every turn a unit of its own."""
    return Units("turn", np.arange(turns), tuple(map(str, range(turns))))


def sums_of_squares(table: np.ndarray) -> tuple[float, float, float]:
    """Variances of turn, set and remainder from the residuals themselves, cell by cell."""
    n, k = table.shape
    turn = table.mean(axis=1) - table.mean()
    sets = table.mean(axis=0) - table.mean()
    rest = table - table.mean() - turn[:, None] - sets[None, :]
    ms_rest = (rest**2).sum() / ((n - 1) * (k - 1))
    return (
        max(0.0, k * (turn**2).sum() / (n - 1) - ms_rest) / k,
        max(0.0, n * (sets**2).sum() / (k - 1) - ms_rest) / n,
        ms_rest,
    )


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_residuals(seed: int) -> None:
    table = np.random.default_rng(seed).random((40, 3 + seed)) + 100
    expected = sums_of_squares(table)
    found = {part.name: part for part in variance_components(table, alone(len(table)), 0, 10)}
    assert [found[name].variance for name in COMPONENTS[:3]] == pytest.approx(expected, abs=1e-12)
    assert found["wording"].variance == pytest.approx(expected[1] + expected[2], abs=1e-12)
    assert found["turn"].share.value + found["wording"].share.value == pytest.approx(1)


def test_shrout_and_fleiss() -> None:
    # Shrout & Fleiss (1979), Table 2: 6 targets × 4 judges; mean squares 11.24, 32.49, 1.02 and ICC(2,1) = .29
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = {part.name: part for part in variance_components(table, alone(len(table)), 0, 10)}
    assert found["turn"].variance == pytest.approx((11.24 - 1.02) / 4, abs=0.01)
    assert found["set"].variance == pytest.approx((32.49 - 1.02) / 6, abs=0.01)
    assert found["turn"].share.value == pytest.approx(0.29, abs=0.005)


@pytest.mark.long
def test_intervals_cover_the_truth() -> None:
    """Turns of a conversation that are hard together, and wordings."""
    rng = np.random.default_rng(7)
    units = Units("conversation", np.repeat(np.arange(15), 8), tuple(map(str, range(15))))
    conversation, turn, wording, covered = 0.03, 0.03, 0.03, 0
    for _ in range(200):
        hard = rng.normal(0, conversation**0.5, 15)[units.codes][:, None]
        table = hard + rng.normal(0, turn**0.5, (120, 1)) + rng.normal(0, wording**0.5, (120, 3))
        share = variance_components(table, units, 1, 200)[3].share
        covered += share.low <= wording / (conversation + turn + wording) <= share.high
    assert 0.9 <= covered / 200 <= 0.99


def test_the_interval_is_the_nested_bootstrap_t_of_sums_over_units() -> None:
    rng = np.random.default_rng(3)
    units = Units(
        "conversation", rng.permutation(np.repeat(np.arange(9), 4)), tuple(map(str, range(9)))
    )
    table = rng.random((36, 1)) + 0.4 * rng.random((36, 3))
    turn, set_, rest, wording = (part.share for part in variance_components(table, units, 5, 100))
    expected = agreement_estimate(
        units.sums(variance_sums(table).T).T, share_of(0), 5, "conversation", 100
    )
    assert (turn.low, turn.high) == pytest.approx((expected.low, expected.high))
    assert (wording.low, wording.high) == pytest.approx((1 - turn.high, 1 - turn.low))
    assert turn.units == 9 and turn.note == "unstable: only 9 conversations"
    assert all(
        0 <= part.low <= part.value <= part.high <= 1 for part in (turn, set_, rest, wording)
    )


def test_extremes() -> None:
    only_turns = variance_components(np.repeat(np.arange(5.0)[:, None], 3, axis=1), alone(5), 0)
    assert [part.share.value for part in only_turns] == pytest.approx([1, 0, 0, 0])
    nothing = variance_components(np.full((5, 3), 0.1), alone(5), 0)
    assert all(np.isnan(part.share.value) and np.isnan(part.share.low) for part in nothing)
    few = variance_components(np.random.default_rng(0).random((4, 3)), alone(4), 0)
    assert all(
        np.isnan(part.share.low) and "only 4 turns (at least 5 required)" in part.share.note
        for part in few
    )
    with pytest.raises(
        UsageError,
        match="cannot decompose the variance of 5 turns × 1 sets; use at least two turns",
    ):
        variance_components(np.ones((5, 1)), alone(5), 0)
    with pytest.raises(UsageError, match="of 1 turns × 5 sets"):
        variance_components(np.ones((1, 5)), alone(1), 0)
    for shape in ((5, 2), (2, 5)):
        table = np.random.default_rng(0).random(shape)
        found = [part.variance for part in variance_components(table, alone(shape[0]), 0, 10)]
        assert found[:3] == pytest.approx(sums_of_squares(table))


def test_shares_of_a_resample_are_those_of_its_turns() -> None:
    table = (
        np.random.default_rng(2).random((9, 3))
        + np.array([0, 0.4, 0.1])
        + np.arange(9)[:, None] / 9
    )
    picked = np.array([0, 0, 3, 8, 8, 8, 5, 1])
    expected = np.array(sums_of_squares(table[picked]))
    assert (expected > 0).all()
    sums = variance_sums(table)[picked].sum(axis=0)
    assert [float(share_of(place)(sums)) for place in range(3)] == pytest.approx(
        (expected / expected.sum()).tolist()
    )
