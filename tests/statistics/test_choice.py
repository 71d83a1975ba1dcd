"""The best of several, in every turn: against every subset, and against chance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robustcs.statistics.choice import best_choice, expected_best
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import units_of

TURNS = [f"{conversation}_{turn}" for conversation in range(10) for turn in range(6)]


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 4), st.integers(1, 5)),
        elements=st.integers(0, 8).map(float),
    )
)
def test_best_of_n_is_the_mean_over_all_subsets(scores: np.ndarray) -> None:
    found = expected_best(scores)
    for n in range(1, scores.shape[1] + 1):
        every = [
            scores[:, list(some)].max(axis=1) for some in combinations(range(scores.shape[1]), n)
        ]
        assert found[:, n - 1] == pytest.approx(np.mean(every, axis=0))
    assert found[:, 0] == pytest.approx(scores.mean(axis=1)) and found[:, -1] == pytest.approx(
        scores.max(axis=1)
    )


def test_a_choice_among_exchangeable_samples_gains_what_chance_gains() -> None:
    table = np.random.default_rng(3).random((4, len(TURNS)))
    found = best_choice(table, units_of(TURNS), 0)
    assert found.chosen == pytest.approx(table.max(axis=0).mean())
    assert found.gain.value == pytest.approx(found.chosen - table.mean(axis=1).max())
    assert found.gain.value == pytest.approx(found.by_chance, abs=0.05)
    assert found.gain.low < found.gain.value < found.gain.high


def test_one_that_is_always_best_leaves_nothing_to_choose() -> None:
    table = np.stack([np.linspace(0, 0.5, len(TURNS)), np.linspace(0.5, 1, len(TURNS))])
    found = best_choice(table, units_of(TURNS), 0)
    assert (found.best, found.gain.value) == (1, 0.0)
    assert found.by_chance > 0.2


@pytest.mark.parametrize("highest", [1, 3])
def test_the_gain_on_a_scale_from_0_to_1_stays_inside(highest: int) -> None:
    table = np.random.default_rng(1).integers(0, 2, (2, len(TURNS))) * float(highest)
    units, gain = units_of(TURNS), table.max(axis=0) - table[table.mean(axis=1).argmax()]
    assert gain.max() == highest
    (expected,) = mean_estimates(
        units.sums(gain), units.sizes, units.kind, (0.0, 1.0) if highest == 1 else None
    )
    assert best_choice(table, units, 0).gain == expected
