"""The two-way decomposition: textbook numbers, recovery of known variances, and intervals that hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.errors import UsageError
from robustcs.statistics.variance import COMPONENTS, variance_components


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
    found = {part.name: part for part in variance_components(table, seed=0, resamples=10)}
    assert [found[name].variance for name in COMPONENTS[:3]] == pytest.approx(expected, abs=1e-12)
    assert found["wording"].variance == pytest.approx(expected[1] + expected[2], abs=1e-12)
    assert found["turn"].share + found["wording"].share == pytest.approx(1)


def test_shrout_and_fleiss() -> None:
    # Shrout & Fleiss (1979), Table 2: 6 targets × 4 judges; mean squares 11.24, 32.49, 1.02 and ICC(2,1) = .29
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = {part.name: part for part in variance_components(table, seed=0, resamples=10)}
    assert found["turn"].variance == pytest.approx((11.24 - 1.02) / 4, abs=0.01)
    assert found["set"].variance == pytest.approx((32.49 - 1.02) / 6, abs=0.01)
    assert found["turn"].share == pytest.approx(0.29, abs=0.005)


def test_intervals_cover_the_truth() -> None:
    rng = np.random.default_rng(7)
    turn, wording, covered = 0.06, 0.03, 0
    for _ in range(200):
        table = rng.normal(0, turn**0.5, (150, 1)) + rng.normal(0, wording**0.5, (150, 3))
        part = variance_components(table, seed=1, resamples=300)[3]
        covered += part.ci_low <= wording / (turn + wording) <= part.ci_high
    assert covered / 200 >= 0.89


def test_extremes() -> None:
    only_turns = variance_components(np.repeat(np.arange(5.0)[:, None], 3, axis=1), seed=0)
    assert [part.share for part in only_turns] == pytest.approx([1, 0, 0, 0])
    nothing = variance_components(np.full((5, 3), 0.1), seed=0)
    assert all(np.isnan(part.share) for part in nothing)
    with pytest.raises(UsageError, match="5 turns × 1 sets cannot be decomposed; give at least two turns and two sets"):
        variance_components(np.ones((5, 1)), seed=0)
