"""How many pairs differ significantly, against the tests pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from robustcs.evaluation.measure import parse_measure
from robustcs.statistics.families import max_t
from robustcs.statistics.units import units_of
from robustcs.studies.augment.analysis import discriminative_power

MEASURES = [parse_measure("ndcg_cut_3"), parse_measure("map")]
UNITS = units_of([f"{topic}_{place}" for topic in range(12) for place in (1, 2, 3)])


def scores(seed: int, noise: float) -> np.ndarray:
    """Four runs, two measures, 36 turns: runs differ by steps of .05."""
    rng = np.random.default_rng(seed)
    return 0.3 + 0.05 * np.arange(4)[:, None, None] + rng.normal(0, noise, (4, 2, 36))


def test_it_counts_the_tests() -> None:
    before, after = scores(0, 0.25), scores(1, 0.08)
    table = discriminative_power(before, after, MEASURES, UNITS, 3)
    assert table["metric"].tolist() == ["ndcg_cut_3", "map"] and table["pairs"].tolist() == [6, 6]
    for column in range(2):
        for name, values in (("before", before), ("after", after)):
            sums = [
                UNITS.sums(values[a, column] - values[b, column])
                for a, b in combinations(range(4), 2)
            ]
            adjusted = int((max_t(np.array(sums), 3) <= 0.05).sum())
            assert table[f"adjusted_{name}"][column] == adjusted
            assert table[f"adjusted_share_{name}"][column] == pytest.approx(adjusted / 6)
    assert (table["adjusted_after"] > table["adjusted_before"]).all()
    assert table["adjusted_floor"][0] == pytest.approx(2.0**-11)


def test_one_run_has_no_pairs() -> None:
    assert not len(discriminative_power(scores(0, 0.1)[:1], scores(0, 0.1)[:1], MEASURES, UNITS, 0))
