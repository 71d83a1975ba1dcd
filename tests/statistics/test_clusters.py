"""The bootstrap of means over units in groups."""

from __future__ import annotations

import numpy as np

from robustcs.statistics.clusters import bootstrap_grouped_mean
from robustcs.statistics.intervals import bootstrap_mean


def test_single_units_are_the_plain_bootstrap() -> None:
    values = np.random.default_rng(1).random(40)
    assert np.allclose(bootstrap_grouped_mean(values, np.ones(40), 3), bootstrap_mean(values, 3), atol=1e-12)


def test_groups_are_drawn_whole() -> None:
    values = np.random.default_rng(2).random(5)
    # ten equal units in a group tell no more than one
    assert np.allclose(bootstrap_grouped_mean(values * 10, np.full(5, 10), 0), bootstrap_mean(values, 0), atol=1e-12)


def test_large_groups_weigh_more_and_nothing_is_nan() -> None:
    low, high = bootstrap_grouped_mean([0.0, 9.0], [1, 9], 0)
    assert (low, high) == (0.0, 1.0)
    assert bootstrap_grouped_mean([0.0, 3.0], [0, 4], 0) == (0.75, 0.75)
    assert np.isnan(bootstrap_grouped_mean([0.0], [0], 0)).all()
