"""How the hole model's logits are corrected by judged passages that were hidden from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from robustcs.evaluation.hole_features import Floats, Numbers
from robustcs.evaluation.hole_stages import Mask

#: a, b, c before data, and their standard deviations.
_EXPECTED, _SPREAD = np.array([0.0, 1.0, 0.0]), np.array([0.3, 0.3, 0.15])


@dataclass(frozen=True, eq=False)
class Recalibration:
    """``logit → a + b · logit + c · height``, height being the logs of rank above rank 12.

    mean
        float64[3]: a, b, c. A model that is calibrated has 0, 1, 0.
    root
        float64[3, 3]: lower Cholesky factor of their covariance.
    """

    mean: Floats
    root: Floats

    def draw(self, generator: np.random.Generator) -> Floats:
        """float64[3]: a, b and c as they may be."""
        return np.asarray(self.mean + self.root @ generator.standard_normal(len(self.mean)))

    def apply(self, drawn: Floats, logits: Floats, height: Floats) -> Floats:
        """The corrected ``logits`` (float64[draws, n]) under ``drawn`` (float64[draws, 3])."""
        return np.asarray(drawn[:, :1] + drawn[:, 1:2] * logits + drawn[:, 2:] * height)


def recalibration(logits: Floats, went_on: Mask, height: Floats, turns: Numbers) -> Recalibration:
    """Logistic regression of what hidden pairs did on what was predicted, n of them.

    Its covariance takes the turns as units (sandwich), since errors within a turn go together. A pair
    may occur more than once.
    """
    x = np.column_stack([np.ones_like(logits), logits, height])
    prior = np.diag(1 / _SPREAD**2)
    mean: Floats = _EXPECTED.copy()
    for _ in range(50):
        chance = expit(x @ mean)
        curvature = (x * (chance * (1 - chance))[:, None]).T @ x + prior
        step = np.linalg.solve(curvature, x.T @ (went_on - chance) - prior @ (mean - _EXPECTED))
        mean = mean + step
        if np.abs(step).max() < 1e-9:
            break
    units, unit = np.unique(turns, return_inverse=True)
    sums = np.zeros((len(units), 3))
    np.add.at(sums, unit, x * (went_on - expit(x @ mean))[:, None])
    inverse = np.linalg.inv(curvature)
    covariance = inverse @ (sums.T @ sums + prior) @ inverse
    return Recalibration(np.asarray(mean), np.asarray(np.linalg.cholesky((covariance + covariance.T) / 2), dtype=np.float64))
