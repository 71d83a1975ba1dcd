"""Collections with very many turns: a part of the turns and fewer draws give the same results within their error."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.evaluation import hole_model
from robustcs.evaluation.hole_check import check_hole_model
from robustcs.evaluation.hole_expectation import (
    DRAWS,
    LEAST_DRAWS,
    FilledHoles,
    contrasts,
    fill_holes,
)
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model
from robustcs.evaluation.hole_tipping import tipping
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.statistics.units import units_of
from tests.evaluation.test_hole_model import MEASURES, POLICY, made_pool, made_runs

TURNS, MANY = 100, 40


def filled(pool: RunPool, left: Grades) -> tuple[FilledHoles, HoleModel]:
    every = np.ones(len(pool.turns), dtype=bool)
    found = fill_holes(
        pool, left, MEASURES[:1], POLICY, every, units_of(pool.turns), 0, check=False
    )
    assert found.scoring is not None
    return found, found.scoring.model


def test_results_agree_within_their_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, _, left = made_pool(*made_runs(turns=TURNS))
    full, all_turns = filled(pool, left)
    monkeypatch.setattr(hole_model, "MANY_TURNS", MANY)
    part, sampled = filled(pool, left)
    assert all_turns.sampled.all() and sampled.sampled.sum() == MANY
    assert len(full.sums) == DRAWS and len(part.sums) == LEAST_DRAWS

    # the coefficients of all turns differ by less than their uncertainty
    for one, other in zip(all_turns.stages, sampled.stages, strict=True):
        deviation = np.sqrt(np.diag(np.linalg.inv(one.precision @ one.precision.T)))
        assert (np.abs(one.beta - other.beta) < deviation).all()
    error = np.linalg.norm(sampled.recalibration.root, axis=1)
    assert (np.abs(all_turns.recalibration.mean - sampled.recalibration.mean) < 2 * error).all()

    # expected differences and their intervals
    family = contrasts(pool.names, {}, True)
    weights = np.array([one.weights(len(pool.names)) for one in family])
    means = [one.drawn(weights, 0).sum(axis=-1) / TURNS for one in (full, part)]
    spread = means[0].std(axis=0)
    assert (np.abs(means[0].mean(axis=0) - means[1].mean(axis=0)) < spread / 2).all()
    np.testing.assert_allclose(means[1].std(axis=0), spread, rtol=0.35)
    first, second = (one.differences(weights, 0) for one in (full, part))
    np.testing.assert_allclose(first[:, 1:3], second[:, 1:3], atol=0.01)
    np.testing.assert_allclose(first[:, -1], second[:, -1], atol=0.05)

    # tipping points
    rows = [tipping(one, {MEASURES[0].name: family}, family, ("order",)) for one in (full, part)]
    assert rows[0]["conclusion"].equals(rows[1]["conclusion"])
    for end in ("factor_below", "factor_above"):
        np.testing.assert_allclose(np.log(rows[1][end]), np.log(rows[0][end]), atol=0.5)


def test_the_check_scores_only_the_turns_of_the_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hole_model, "MANY_TURNS", MANY)
    pool, _, left = made_pool(*made_runs(turns=TURNS))
    model = fit_hole_model(pool, left)
    assert model is not None
    scored = RunPool.score
    turns: list[int] = []

    def watched(pool: RunPool, *given: object) -> np.ndarray:
        turns.append(len(pool.turns))
        return scored(pool, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(RunPool, "score", watched)
    check = check_hole_model(
        model, pool, left, MEASURES, POLICY, np.arange(TURNS) % 5 > 0, hidings=3, draws=50
    )
    assert check.warning is None and check.coverage > 0.85
    assert set(turns) == {TURNS, MANY} and turns.count(TURNS) == 1


def test_a_grade_too_rare_for_a_part_takes_all_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, _, left = made_pool(*made_runs())
    whole = np.minimum(left, 1)
    monkeypatch.setattr(hole_model, "MANY_TURNS", 5)
    common = fit_hole_model(pool, whole)
    assert common is not None and common.sampled.sum() == 5
    whole[common.judged.pairs[~common.sampled[common.judged.turns]][0]] = 2
    rare = fit_hole_model(pool, whole)
    assert rare is not None and rare.levels.tolist() == [0, 1, 2] and rare.sampled.all()


def test_only_turns_with_passages_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns that no run answers leave the model and the number of draws as they are."""
    runs, judged = made_runs()
    monkeypatch.setattr(hole_model, "MANY_TURNS", len(runs[0].turns))
    pool, _, left = made_pool(runs, judged | {(f"9_{turn}", "far"): 0 for turn in range(1, 60)})
    model = fit_hole_model(pool, left)
    assert model is not None and len(pool.turns) > 60 and model.sampled.all()
    draws = []
    for limit in (30, 29, 15, 1):
        monkeypatch.setattr(hole_model, "MANY_TURNS", limit)
        draws.append(model.enough_draws(200, 25))
    assert draws == [200, 193, 100, 25]
