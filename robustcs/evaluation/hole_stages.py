"""One stage of the hole model: a logit with coefficients shared by all turns and others for each turn.

``logit P = x·β + z·u_turn``. u is normal around 0, with one variance for the level of a turn and one for its slopes. β has a
variance for each kind of feature. The posterior is approximated by the normal distribution that minimizes the Kullback-Leibler
divergence over the logits of the data (Gaussian variational approximation, Opper & Archambeau 2009). Newton steps use averages
of a probability and its derivative over the uncertainty of the turn instead of values at the mode. At the mode (Laplace),
variances of turns would be a third too small and predictions too cautious (slope 1.14 in a regression of hidden grades on them,
against .99 with this method). The average is MacKay's: logit / √(1 + π v / 8). The variances follow the fixed point of MacKay
(1992). Turns are eliminated by a Schur complement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robustcs.evaluation.hole_features import ALONE, BASIC, PairFeatures
from robustcs.statistics import Codes, Floats, Mask, logistic

#: Prior variance of a coefficient that is not shrunk.
_VAGUE = 9.0
#: Prior guess of each variance, and its weight in coefficients. Passages that only one group retrieves get more weight: if none
#: of them is judged, the prior is the only information on how different they may be.
_LEVEL, _SLOPE, _SHRUNK, _ALONE = (1.0, 2.0), (0.25, 2.0), (0.1, 2.0), (1.0, 6.0)
_STEPS, _LONGEST_STEP = 40, 3.0
#: Largest change of a coefficient in the last step, a hundredth of most uncertainties; and the same for a refit.
_CLOSE, _CLOSE_REFIT = 0.02, 0.04
#: Number of turns processed together; turns of similar size are grouped.
_TURNS = 32


@dataclass(frozen=True, eq=False)
class StageFit:
    """The posterior of one stage.

    beta
        float64[p]: means of the shared coefficients. ``precision`` (float64[p, p]): lower Cholesky factor of the inverse of
        their covariance.
    turn
        float64[T, q]: means of the coefficients of turns. Given β, their covariance is ``turn_covariance``
        (float64[T, q, q]) and their mean ``turn − pull · (β − beta)``; ``pull`` is float64[T, q, p].
    shrinkage
        float64[p]: prior variances of β.
    spread
        float64[q, q]: prior covariance of the coefficients of turns.
    """

    beta: Floats
    precision: Floats
    turn: Floats
    turn_covariance: Floats
    pull: Floats
    shrinkage: Floats
    spread: Floats

    def logits(self, features: PairFeatures) -> Floats:
        """Return float64[n]: the logit of the expected probability of reaching the next level."""
        turns = features.turns
        logits = features.fixed @ self.beta + (features.varying * self.turn[turns]).sum(axis=1)
        within = np.einsum(
            "nq,nqr,nr->n", features.varying, self.turn_covariance[turns], features.varying
        )
        rest = features.fixed - np.einsum("nq,nqp->np", features.varying, self.pull[turns])
        across = np.linalg.inv(self.precision) @ rest.T
        return np.asarray(logits * _flattening(within + (across**2).sum(axis=0)))


def fit_stage(
    features: PairFeatures, went_on: Mask, turns: int, start: StageFit | None = None
) -> StageFit:
    """Fit one stage to the pairs that reached it; ``went_on``: which of them reached the next level; ``turns``: T.

    ``start``: a fit to nearly the same pairs, whose variances are kept and where the steps start.
    """
    p, q, kinds = features.fixed.shape[1], features.varying.shape[1], features.kinds
    counts = np.bincount(features.turns, minlength=turns)
    seen = np.argsort(counts, kind="stable")[(counts == 0).sum() :]
    blocks = list(_blocks(features, went_on, counts, seen))
    if start is None:
        beta, turn, covariance = np.zeros(p), np.zeros((len(seen), q)), np.zeros((len(seen), q, q))
        shrinkage = np.select([kinds == BASIC, kinds == ALONE], [_VAGUE, _ALONE[0]], _SHRUNK[0])
        spread = np.diag([_LEVEL[0], *[_SLOPE[0]] * (q - 1)])
    else:
        beta, turn, covariance = start.beta, start.turn[seen], start.turn_covariance[seen]
        shrinkage, spread = start.shrinkage, start.spread

    own, cross, slope_turn = (
        np.empty((len(seen), q, q)),
        np.empty((len(seen), q, p)),
        np.empty((len(seen), q)),
    )
    for _ in range(_STEPS):
        schur, slope, tight = np.diag(1 / shrinkage), -beta / shrinkage, np.linalg.inv(spread)
        for some, block_x, block_z, y, there in blocks:
            flat = _flattening(np.einsum("tmq,tmq->tm", block_z @ covariance[some], block_z))
            mean = logistic((block_x @ beta + np.einsum("tmq,tq->tm", block_z, turn[some])) * flat)
            residual, root = (
                (y - mean) * there,
                np.sqrt(mean * (1 - mean) * there * flat)[:, :, None],
            )
            slope_turn[some] = (residual[:, None, :] @ block_z)[:, 0]
            slope += residual.ravel() @ block_x.reshape(-1, p)
            # a product of an array with itself takes half of the time
            x, z = block_x * root, block_z * root
            np.matmul(z.transpose(0, 2, 1), x, out=cross[some])
            np.matmul(z.transpose(0, 2, 1), z, out=own[some])
            x = x.reshape(-1, p)
            schur += x.T @ x
        covariance = np.linalg.inv(own + tight)
        pull = covariance @ cross
        slope_turn -= turn @ tight
        schur -= cross.reshape(-1, p).T @ pull.reshape(-1, p)
        slope -= slope_turn.ravel() @ pull.reshape(-1, p)
        inverse = np.linalg.inv(schur)
        step = inverse @ slope
        step_turn = (covariance @ slope_turn[:, :, None])[:, :, 0] - pull @ step
        change = max(float(np.abs(step).max()), float(np.abs(step_turn).max(initial=0)))
        size = min(1.0, _LONGEST_STEP / max(change, _LONGEST_STEP))
        beta, turn = beta + size * step, turn + size * step_turn
        if start is None:
            left = covariance + (pull.reshape(-1, p) @ inverse).reshape(
                pull.shape
            ) @ pull.transpose(0, 2, 1)
            before = np.append(shrinkage, np.diag(spread))
            spread = _spread(turn, left, spread)
            shrinkage = _shrinkage(beta, np.diag(inverse), shrinkage, kinds)
            change = max(
                change,
                float(np.abs(np.log(np.append(shrinkage, np.diag(spread)) / before)).max()) / 5,
            )
        if change < (_CLOSE if start is None else _CLOSE_REFIT):
            break
    # a turn without pairs has the prior distribution
    turn_all, covariance_all, pull_all = (
        np.zeros((turns, q)),
        np.tile(spread, (turns, 1, 1)),
        np.zeros((turns, q, p)),
    )
    turn_all[seen], covariance_all[seen], pull_all[seen] = turn, covariance, pull
    precision = np.asarray(np.linalg.cholesky(schur), dtype=np.float64)
    return StageFit(beta, precision, turn_all, covariance_all, pull_all, shrinkage, spread)


def _blocks(
    features: PairFeatures, went_on: Mask, counts: Codes, seen: Codes
) -> Iterator[tuple[slice, Floats, Floats, Floats, Floats]]:
    """Yield some turns and their pairs, padded: x float64[t, m, p], z [t, m, q], outcome y and presence [t, m]."""
    starts = np.cumsum(counts) - counts
    for first in range(0, len(seen), _TURNS):
        some = slice(first, first + _TURNS)
        place = np.arange(counts[seen[some]].max())
        there = place < counts[seen[some]][:, None]
        rows = np.where(there, starts[seen[some]][:, None] + place, 0)
        yield (
            some,
            features.fixed[rows],
            features.varying[rows],
            went_on[rows].astype(np.float64),
            there.astype(np.float64),
        )


def _flattening(variance: Floats) -> Floats:
    """What a logit shrinks by when its probability is averaged over a normal error of this variance (MacKay 1992)."""
    return np.asarray(1 / np.sqrt(1 + np.pi / 8 * variance))


def _spread(turn: Floats, left: Floats, now: Floats) -> Floats:
    """Return the covariance of the coefficients of turns.

    It has one variance of levels, one of slopes, one correlation of a level with a slope, and one of two slopes. ``left``:
    float64[T, q, q], posterior covariances.
    """
    variances, before = np.diag(now), np.einsum("tqq->tq", left)
    level = _variance(turn[:, 0], before[:, 0], variances[0], _LEVEL)
    if len(now) == 1:
        return np.array([[level]])
    slope = _variance(turn[:, 1:], before[:, 1:], variances[1], _SLOPE)
    # the mean over all permutations of the slopes is also a covariance matrix
    moments = (turn[:, :, None] * turn[:, None, :] + left).mean(axis=0)
    own = np.diag(moments)[1:].mean()
    slopes = moments[1:, 1:]
    between = (slopes.sum() - np.trace(slopes)) / max(slopes.size - len(slopes), 1) / own
    across = moments[0, 1:].mean() / np.sqrt(moments[0, 0] * own)
    correlation = np.full((len(now), len(now)), between)
    correlation[0], correlation[:, 0] = across, across
    np.fill_diagonal(correlation, 1.0)
    deviation = np.sqrt([level, *[slope] * (len(now) - 1)])
    return np.asarray(correlation * np.outer(deviation, deviation))


def _shrinkage(beta: Floats, left: Floats, now: Floats, kinds: Codes) -> Floats:
    new = now.copy()
    for kind in np.unique(kinds[kinds != BASIC]):
        of = kinds == kind
        new[of] = _variance(beta[of], left[of], now[of][0], _ALONE if kind == ALONE else _SHRUNK)
    return new


def _variance(values: Floats, left: Floats, now: float, before: tuple[float, float]) -> float:
    """Return the mean square per coefficient determined by the data; ``left``: posterior variances; ``before``: the prior."""
    guess, worth = before
    determined = np.clip(1 - left / now, 0, 1).sum()
    return float(((values**2).sum() + worth * guess) / (determined + worth))


#: Prior means and standard deviations of a, b, c.
_EXPECTED, _SPREAD = np.array([0.0, 1.0, 0.0]), np.array([0.3, 0.3, 0.15])


@dataclass(frozen=True, eq=False)
class Recalibration:
    """The correction ``logit → a + b · logit + c · height``; height: distance above rank 12 in log rank.

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
        """Return the corrected ``logits`` (float64[draws, n]); ``drawn``: float64[draws, 3]."""
        return np.asarray(
            drawn[:, 1:2] * logits + drawn[:, [0, 2]] @ np.stack([np.ones_like(height), height])
        )


def recalibration(logits: Floats, went_on: Mask, height: Floats, turns: Codes) -> Recalibration:
    """Fit a logistic regression of the outcomes of n hidden pairs on their predictions.

    The covariance is a sandwich estimate clustered by turn, because errors within a turn are correlated. A pair may occur more
    than once.
    """
    x = np.column_stack([np.ones_like(logits), logits, height])
    prior = np.diag(1 / _SPREAD**2)
    mean: Floats = _EXPECTED.copy()
    for _ in range(50):
        chance = logistic(x @ mean)
        curvature = (x * (chance * (1 - chance))[:, None]).T @ x + prior
        step = np.linalg.solve(curvature, x.T @ (went_on - chance) - prior @ (mean - _EXPECTED))
        mean = mean + step
        if np.abs(step).max() < 1e-9:
            break
    units, unit = np.unique(turns, return_inverse=True)
    sums = np.zeros((len(units), 3))
    np.add.at(sums, unit, x * (went_on - logistic(x @ mean))[:, None])
    inverse = np.linalg.inv(curvature)
    covariance = inverse @ (sums.T @ sums + prior) @ inverse
    return Recalibration(
        np.asarray(mean),
        np.asarray(np.linalg.cholesky((covariance + covariance.T) / 2), dtype=np.float64),
    )
