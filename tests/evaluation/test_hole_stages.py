from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.special import expit

from robustcs.evaluation.hole_features import BASIC, RANK, PairFeatures
from robustcs.evaluation.hole_recalibration import recalibration
from robustcs.evaluation.hole_stages import fit_stage


def planted(
    seed: int, turns: int, each: int, correlation: float = 0.0
) -> tuple[PairFeatures, np.ndarray]:
    """Pairs of two shared features and a random level and slope of every turn: variances 2.25 and .64, and a correlation."""
    rng = np.random.default_rng(seed)
    n = turns * each
    x = np.column_stack([np.ones(n), rng.normal(size=n), rng.normal(size=n)])
    z = np.column_stack([np.ones(n), rng.normal(size=n)])
    row = np.repeat(np.arange(turns), each)
    own = rng.normal(size=(turns, 2))
    own[:, 1] = correlation * own[:, 0] + np.sqrt(1 - correlation**2) * own[:, 1]
    own *= [1.5, 0.8]
    logits = x @ [-0.7, 1.2, -0.4] + (z * own[row]).sum(axis=1)
    features = PairFeatures(
        np.arange(n), row, x, np.array([BASIC, BASIC, RANK]), z, np.ones(n, dtype=np.int64)
    )
    return features, rng.random(n) < expit(logits)


def test_planted_parameters_are_recovered() -> None:
    fits = [fit_stage(*planted(seed, 120, 40), turns=120) for seed in range(4)]
    np.testing.assert_allclose(
        np.mean([fit.beta for fit in fits], axis=0), [-0.7, 1.2, -0.4], atol=0.15
    )
    # at the posterior's mode (Laplace) these come out a quarter too small
    np.testing.assert_allclose(
        np.mean([np.diag(fit.spread) for fit in fits], axis=0), [2.25, 0.64], rtol=0.2
    )
    assert abs(np.mean([fit.spread[0, 1] for fit in fits])) < 0.15


@pytest.mark.parametrize("correlation", [-0.6, 0.6])
def test_a_turns_level_and_slope_go_together(correlation: float) -> None:
    fits = [fit_stage(*planted(seed, 150, 60, correlation), turns=150) for seed in range(3)]
    found = [fit.spread[0, 1] / np.sqrt(fit.spread[0, 0] * fit.spread[1, 1]) for fit in fits]
    assert np.mean(found) == pytest.approx(correlation, abs=0.15)


def test_posterior_covers_planted_parameters() -> None:
    inside = []
    for seed in range(40):
        fit = fit_stage(*planted(seed, 60, 15), turns=60)
        deviation = np.sqrt(np.diag(np.linalg.inv(fit.precision @ fit.precision.T)))
        inside.append(np.abs(fit.beta - [-0.7, 1.2, -0.4]) < 1.96 * deviation)
    assert np.mean(inside) > 0.87


def test_without_differences_between_turns_it_is_logistic_regression() -> None:
    statsmodels = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(1)
    n = 4000
    x = np.column_stack([np.ones(n), rng.normal(size=n)])
    went_on = rng.random(n) < expit(x @ [0.3, -0.8])
    features = PairFeatures(
        np.arange(n),
        np.repeat(np.arange(10), 400),
        x,
        np.array([BASIC, BASIC]),
        np.ones((n, 1)),
        np.ones(n, np.int64),
    )
    fit = fit_stage(features, went_on, turns=11)
    expected = statsmodels.Logit(went_on.astype(float), x).fit(disp=0)
    assert fit.beta[1] == pytest.approx(expected.params[1], abs=0.01)
    assert np.linalg.inv(fit.precision @ fit.precision.T)[1, 1] == pytest.approx(
        expected.bse[1] ** 2, rel=0.05
    )
    # a turn without pairs is as the prior has it
    assert fit.turn[10, 0] == 0 and fit.turn_covariance[10, 0, 0] == pytest.approx(fit.spread[0, 0])


def test_schur_complement_is_the_whole_inverse() -> None:
    features, went_on = planted(5, 4, 30)
    fit = fit_stage(features, went_on, turns=4)
    z = np.zeros((len(features), 8))
    for turn in range(4):
        z[features.turns == turn, 2 * turn : 2 * turn + 2] = features.varying[
            features.turns == turn
        ]
    both = np.column_stack([features.fixed, z])
    within = np.einsum(
        "nq,nqr,nr->n", features.varying, fit.turn_covariance[features.turns], features.varying
    )
    flat = 1 / np.sqrt(1 + np.pi / 8 * within)
    turn_part = (features.varying * fit.turn[features.turns]).sum(axis=1)
    mean = expit((features.fixed @ fit.beta + turn_part) * flat)
    weight = mean * (1 - mean) * flat
    prior = block_diag(np.diag(1 / fit.shrinkage), *[np.linalg.inv(fit.spread)] * 4)
    covariance = np.linalg.inv((both * weight[:, None]).T @ both + prior)
    mine = np.linalg.inv(fit.precision @ fit.precision.T)
    np.testing.assert_allclose(mine, covariance[:3, :3], rtol=0.1, atol=0.003)
    variance = np.einsum("np,pq,nq->n", both, covariance, both)
    expected = (features.fixed @ fit.beta + turn_part) / np.sqrt(1 + np.pi / 8 * variance)
    np.testing.assert_allclose(fit.logits(features), expected, atol=0.05)


def test_recalibration_finds_level_and_slope() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, 6000)
    height = np.maximum(0, rng.normal(size=6000))
    went_on = rng.random(6000) < expit(0.5 + 0.7 * logits + 0.2 * height)
    found = recalibration(logits, went_on, height, rng.integers(0, 100, 6000))
    np.testing.assert_allclose(found.mean, [0.5, 0.7, 0.2], atol=0.12)
    nothing = recalibration(logits[:0], went_on[:0], height[:0], np.zeros(0, dtype=np.int64))
    np.testing.assert_allclose(nothing.mean, [0, 1, 0])
