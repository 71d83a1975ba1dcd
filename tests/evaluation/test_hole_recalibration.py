"""The correction of the hole model's logits against a general optimiser and a covariance written out in loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from robustcs.evaluation.hole_recalibration import Recalibration, recalibration

#: What a, b and c are before data, and how far they may lie from it.
EXPECTED, SPREAD = np.array([0.0, 1.0, 0.0]), np.array([0.3, 0.3, 0.15])


def hidden_pairs(seed: int, number: int, a: float, b: float, c: float) -> tuple[np.ndarray, ...]:
    """Predicted logits, what happened, heights, and the turns of pairs that went on with logit a + b · logit + c · height."""
    random = np.random.default_rng(seed)
    logits, height = random.normal(-0.5, 1.5, number), random.uniform(-1, 2.5, number)
    turns = random.integers(0, max(3, number // 6), number)
    went_on = random.random(number) < expit(a + b * logits + c * height)
    return logits, went_on, height, turns


@pytest.mark.parametrize(("seed", "number"), [(0, 12), (1, 80), (2, 600)])
def test_it_is_the_most_probable_correction(seed: int, number: int) -> None:
    logits, went_on, height, turns = hidden_pairs(seed, number, 0.4, 0.6, -0.2)

    def minus_log_posterior(abc: np.ndarray) -> float:
        z = abc[0] + abc[1] * logits + abc[2] * height
        likelihood = np.sum(np.where(went_on, -np.logaddexp(0, -z), -np.logaddexp(0, z)))
        return float(-likelihood + np.sum((abc - EXPECTED) ** 2 / (2 * SPREAD**2)))

    best = minimize(minus_log_posterior, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    assert recalibration(logits, went_on, height, turns).mean == pytest.approx(best, abs=1e-5)


def test_without_high_ranks_it_is_a_logistic_regression_on_the_logits() -> None:
    """All hidden passages are below rank 12: the coefficient of the height stays as expected, the others do not."""
    logits, went_on, height, turns = hidden_pairs(1, 600, 1.5, 0.3, 0)
    found = recalibration(logits, went_on, 0 * height, turns)
    assert found.mean[2] == EXPECTED[2]
    # at the most probable values, the derivatives of the log posterior are 0
    missed = went_on - expit(found.mean[0] + found.mean[1] * logits)
    derivatives = (
        np.array([missed.sum(), missed @ logits]) - ((found.mean - EXPECTED) / SPREAD**2)[:2]
    )
    assert derivatives == pytest.approx(np.zeros(2), abs=1e-6)


def test_its_covariance_takes_turns_as_units() -> None:
    logits, went_on, height, turns = hidden_pairs(3, 60, 0.2, 1.3, 0.1)
    found = recalibration(logits, went_on, height, turns)
    bread, meat = np.diag(1 / SPREAD**2), np.diag(1 / SPREAD**2)
    scores = {turn: np.zeros(3) for turn in turns.tolist()}
    for logit, went, above, turn in zip(logits, went_on, height, turns.tolist(), strict=True):
        x = np.array([1.0, logit, above])
        chance = expit(found.mean @ x)
        bread = bread + chance * (1 - chance) * np.outer(x, x)
        scores[turn] = scores[turn] + (float(went) - chance) * x
    for score in scores.values():
        meat = meat + np.outer(score, score)
    expected = np.linalg.inv(bread) @ meat @ np.linalg.inv(bread)
    assert found.root @ found.root.T == pytest.approx(expected, rel=1e-6)
    assert np.allclose(found.root, np.tril(found.root))
    # the same pairs as units of their own are another covariance
    apart = recalibration(logits, went_on, height, np.arange(60))
    assert apart.mean == pytest.approx(found.mean) and not np.allclose(
        apart.root, found.root, rtol=0.01
    )


def test_nothing_hidden_leaves_what_was_expected() -> None:
    none = np.zeros(0)
    found = recalibration(none, none.astype(bool), none, none.astype(np.int64))
    assert found.mean == pytest.approx(EXPECTED) and found.root == pytest.approx(np.diag(SPREAD))


def test_draws_have_its_mean_and_covariance_and_correct_logits() -> None:
    found = Recalibration(
        np.array([0.5, 2.0, -1.0]), np.array([[0.3, 0, 0], [0.1, 0.2, 0], [-0.2, 0.1, 0.4]])
    )
    generator = np.random.default_rng(0)
    draws = np.array([found.draw(generator) for _ in range(20_000)])
    assert draws.mean(axis=0) == pytest.approx(found.mean, abs=0.01)
    assert np.cov(draws.T) == pytest.approx(found.root @ found.root.T, abs=0.01)
    corrected = found.apply(
        np.array([[0.5, 2.0, -1.0], [0.0, 1.0, 0.0]]),
        np.array([[1.0, -1], [3, 4]]),
        np.array([0.25, 2]),
    )
    assert corrected == pytest.approx(np.array([[2.25, -3.5], [3, 4]]))
