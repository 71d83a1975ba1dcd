"""Correction of the hole model's logits, fitted to judged passages that were hidden from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustcs.statistics import Codes, Floats, Mask, logistic

#: Prior means and standard deviations of a, b and c.
_PRIOR_MEAN, _PRIOR_DEVIATION = np.array([0.0, 1.0, 0.0]), np.array([0.3, 0.3, 0.15])
#: Largest number of Newton steps, and the change of a, b and c at which they end.
_STEPS, _CLOSE = 50, 1e-9


@dataclass(frozen=True, eq=False)
class Recalibration:
    """The correction ``logit → a + b · logit + c · height``.

    The height of a passage is the distance of its best rank above rank 12, in logs.

    mean
        float64[3]: a, b, c. A calibrated model has 0, 1, 0.
    root
        float64[3, 3]: lower Cholesky factor of their covariance.
    """

    mean: Floats
    root: Floats

    def draw(self, generator: np.random.Generator) -> Floats:
        """Return float64[3]: a draw of a, b and c."""
        return np.asarray(self.mean + self.root @ generator.standard_normal(len(self.mean)))

    def apply(self, drawn: Floats, logits: Floats, height: Floats) -> Floats:
        """Return the corrected ``logits`` (float64[draws, n]).

        ``drawn``: float64[draws, 3], from :meth:`draw`. ``height``: float64[n].
        """
        slope, intercept_and_height = drawn[:, 1:2], drawn[:, [0, 2]]
        features = np.stack([np.ones_like(height), height])
        return np.asarray(slope * logits + intercept_and_height @ features)


def recalibration(logits: Floats, went_on: Mask, height: Floats, turns: Codes) -> Recalibration:
    """Fit a logistic regression of the outcomes of n hidden pairs on their predictions.

    logits
        float64[n]: predictions.
    went_on
        bool[n]: outcomes, whether the pair reached the next level.
    height
        float64[n]: see :class:`Recalibration`.
    turns
        int64[n]: the turns of the pairs. The covariance is a sandwich estimate clustered by turn,
        because errors within a turn are correlated. A pair may occur more than once.
    """
    features = np.column_stack([np.ones_like(logits), logits, height])
    prior = np.diag(1 / _PRIOR_DEVIATION**2)
    mean: Floats = _PRIOR_MEAN.copy()
    for _ in range(_STEPS):
        expected = logistic(features @ mean)
        weights = expected * (1 - expected)
        curvature = (features * weights[:, None]).T @ features + prior
        gradient = features.T @ (went_on - expected) - prior @ (mean - _PRIOR_MEAN)
        step = np.linalg.solve(curvature, gradient)
        mean = mean + step
        if np.abs(step).max() < _CLOSE:
            break

    clusters, cluster = np.unique(turns, return_inverse=True)
    scores = np.zeros((len(clusters), len(mean)))
    np.add.at(scores, cluster, features * (went_on - logistic(features @ mean))[:, None])
    inverse = np.linalg.inv(curvature)
    covariance = inverse @ (scores.T @ scores + prior) @ inverse
    # rounding may make it slightly asymmetric
    root = np.linalg.cholesky((covariance + covariance.T) / 2)
    return Recalibration(np.asarray(mean), np.asarray(root, dtype=np.float64))
