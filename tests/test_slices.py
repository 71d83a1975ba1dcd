"""The simulation of bench/slices.py in short: some hundred trials and wide bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import slices


@pytest.mark.parametrize("how", slices.SHUFFLES)
def test_the_search_finds_what_is_there_and_nothing_else(shared_data: Path, how: str) -> None:
    sliced = slices.read(shared_data, "CAsT 2020")
    generator = np.random.default_rng(5)
    false, trials = slices.false_finds(sliced, "ndcg_cut_3", how, 100, generator)
    assert false / trials <= 0.12
    hits, _, planted = slices.planted(sliced, "ndcg_cut_3", how, 40, generator)
    assert hits / planted >= 0.9


def test_intervals_of_slices_hold_and_their_tests_keep_the_level(shared_data: Path) -> None:
    sliced = slices.read(shared_data, "CAsT 2019")
    generator = np.random.default_rng(6)
    means, with_mean, differences, with_difference = slices.coverage(
        sliced, "ndcg_cut_3", 20, 40, generator
    )
    assert 0.90 <= means / with_mean <= 0.99 and 0.90 <= differences / with_difference <= 0.99
    at_05, at_01, tests, family = slices.level(sliced, "P_1", "turns", 60, generator)
    assert 0.02 <= at_05 / tests <= 0.08 and at_01 / tests <= 0.03 and family / 60 <= 0.2
