"""One stage of the hole model: a logit with coefficients shared by all turns and others by turn.

``logit P = x·β + z·u_turn``. u is normal around 0, with one variance for the level of a turn and
one for its slopes. β has a variance for each kind of feature. The posterior is approximated by the
normal distribution that minimizes the Kullback-Leibler divergence over the logits of the data
(Gaussian variational approximation, Opper & Archambeau 2009). Newton steps use averages of a
probability and its derivative over the uncertainty of the turn instead of values at the mode. At
the mode (Laplace), variances of turns would be a third too small and predictions too cautious
(slope 1.14 in a regression of hidden grades on them, against .99 with this method). The average is
MacKay's: logit / √(1 + π v / 8). The variances follow the fixed point of MacKay (1992). Turns are
eliminated by a Schur complement.

Shapes: p features with shared coefficients, q with coefficients for every turn, T turns, and U
turns with pairs. The index of u is its place among these U turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robustcs.evaluation.hole_features import ALONE, BASIC, PairFeatures
from robustcs.statistics import Codes, Floats, Mask, logistic


class _PriorVariance(NamedTuple):
    """A prior guess of a variance, and the number of coefficients that it is worth."""

    guess: float
    worth: float


#: Prior variance of a coefficient that is not shrunk.
_VAGUE = 9.0
#: The level and the slopes of turns, and shared coefficients that are shrunk.
_LEVEL = _PriorVariance(1.0, 2.0)
_SLOPE = _PriorVariance(0.25, 2.0)
_SHRUNK = _PriorVariance(0.1, 2.0)
#: Passages that only one group retrieves get more weight: if none of them is judged, the prior is
#: the only information on how different they may be.
_SHRUNK_ALONE = _PriorVariance(1.0, 6.0)
#: Largest number of Newton steps, and largest change of a coefficient in one of them.
_STEPS, _LONGEST_STEP = 40, 3.0
#: Largest change of a coefficient in the last step, a hundredth of most uncertainties; and the same
#: for a refit.
_CLOSE, _CLOSE_REFIT = 0.02, 0.04
#: A change of the log of a variance may be this many times as large.
_LOOSER_VARIANCES = 5
#: Number of turns processed together; turns of similar size are grouped.
_TURNS = 32


@dataclass(frozen=True, eq=False)
class StageFit:
    """The posterior of one stage.

    beta
        float64[p]: means of the shared coefficients.
    precision
        float64[p, p]: lower Cholesky factor of the inverse of their covariance.
    turn
        float64[T, q]: means of the coefficients of turns.
    turn_covariance
        float64[T, q, q]: their covariance, given β.
    pull
        float64[T, q, p]: given β, the mean of the coefficients is ``turn − pull · (β − beta)``.
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
        turns, fixed, varying = features.turns, features.fixed, features.varying
        logits = fixed @ self.beta + (varying * self.turn[turns]).sum(axis=1)
        # the variance of a logit: that of the turn's coefficients, given β, and that due to β
        of_turn = np.einsum("nq,nqr,nr->n", varying, self.turn_covariance[turns], varying)
        moved_by_beta = fixed - np.einsum("nq,nqp->np", varying, self.pull[turns])
        of_beta = ((np.linalg.inv(self.precision) @ moved_by_beta.T) ** 2).sum(axis=0)
        return np.asarray(logits * _flattening(of_turn + of_beta))


class _Block(NamedTuple):
    """The pairs of some of the U turns, padded to the m of the largest of these turns.

    turns
        The t turns.
    fixed, varying
        float64[t, m, p] and [t, m, q]: features.
    went_on, present
        float64[t, m]: 1 for a pair that reached the next level, and for a pair, not padding.
    """

    turns: slice
    fixed: Floats
    varying: Floats
    went_on: Floats
    present: Floats


@dataclass(eq=False)
class _Estimate:
    """The present estimate of a stage; attributes as in :class:`StageFit`, for U turns."""

    beta: Floats
    turn: Floats
    turn_covariance: Floats
    shrinkage: Floats
    spread: Floats


class _Derivatives:
    """Derivatives of the log posterior of a stage at an estimate.

    beta_gradient, turn_gradient
        float64[p] and [U, q].
    beta_curvature, turn_curvature, cross_curvature
        float64[p, p], [U, q, q] and [U, q, p]: second derivatives, with the opposite sign.
    """

    def __init__(self, turns: int, p: int, q: int) -> None:
        self.beta_gradient = np.zeros(p)
        self.beta_curvature = np.zeros((p, p))
        self.turn_gradient = np.empty((turns, q))
        self.turn_curvature = np.empty((turns, q, q))
        self.cross_curvature = np.empty((turns, q, p))

    def update(self, estimate: _Estimate, blocks: Sequence[_Block]) -> None:
        """Compute the derivatives at another estimate."""
        self.beta_curvature = np.diag(1 / estimate.shrinkage)
        self.beta_gradient = -estimate.beta / estimate.shrinkage
        for block in blocks:
            self._add(estimate, block)
        prior = np.linalg.inv(estimate.spread)
        self.turn_curvature += prior
        self.turn_gradient -= estimate.turn @ prior

    def _add(self, estimate: _Estimate, block: _Block) -> None:
        """Add the log likelihood of the pairs of a block."""
        turns, fixed, varying, went_on, present = block
        covariance, turn = estimate.turn_covariance[turns], estimate.turn[turns]
        flattening = _flattening(np.einsum("tmq,tmq->tm", varying @ covariance, varying))
        logits = fixed @ estimate.beta + np.einsum("tmq,tq->tm", varying, turn)
        expected = logistic(logits * flattening)

        residual = (went_on - expected) * present
        p = fixed.shape[-1]
        self.beta_gradient += residual.ravel() @ fixed.reshape(-1, p)
        self.turn_gradient[turns] = (residual[:, None, :] @ varying)[:, 0]

        # a product of an array with itself takes half of the time
        root = np.sqrt(expected * (1 - expected) * present * flattening)[:, :, None]
        fixed, varying = fixed * root, varying * root
        np.matmul(varying.transpose(0, 2, 1), fixed, out=self.cross_curvature[turns])
        np.matmul(varying.transpose(0, 2, 1), varying, out=self.turn_curvature[turns])
        fixed = fixed.reshape(-1, p)
        self.beta_curvature += fixed.T @ fixed


class _Step(NamedTuple):
    """A Newton step, and the posterior that belongs to the derivatives.

    beta, turn
        float64[p] and [U, q]: changes of the means.
    beta_precision, beta_covariance
        float64[p, p]: precision of β, with the turns eliminated, and its inverse.
    turn_covariance, pull
        As in :class:`StageFit`.
    """

    beta: Floats
    turn: Floats
    beta_precision: Floats
    beta_covariance: Floats
    turn_covariance: Floats
    pull: Floats

    @property
    def change(self) -> float:
        """The largest change of a coefficient."""
        of_turns = float(np.abs(self.turn).max(initial=0))
        return max(float(np.abs(self.beta).max()), of_turns)


def fit_stage(
    features: PairFeatures, went_on: Mask, turns: int, start: StageFit | None = None
) -> StageFit:
    """Fit one stage to the pairs that reached it.

    went_on
        bool[n]: which of them reached the next level.
    turns
        T.
    start
        A fit to nearly the same pairs, whose variances are kept and where the steps start.
    """
    counts = np.bincount(features.turns, minlength=turns)
    # the U turns with pairs, those with the fewest first
    seen = np.argsort(counts, kind="stable")[(counts == 0).sum() :]
    blocks = list(_blocks(features, went_on, counts, seen))
    estimate = _first_estimate(features, seen, start)
    p, q = features.fixed.shape[1], features.varying.shape[1]
    derivatives = _Derivatives(len(seen), p, q)
    for _ in range(_STEPS):
        derivatives.update(estimate, blocks)
        step = _newton_step(derivatives)
        change = step.change
        size = min(1.0, _LONGEST_STEP / max(change, _LONGEST_STEP))
        estimate.beta = estimate.beta + size * step.beta
        estimate.turn = estimate.turn + size * step.turn
        estimate.turn_covariance = step.turn_covariance
        if start is None:
            of_variances = _update_variances(estimate, step, features.kinds)
            change = max(change, of_variances / _LOOSER_VARIANCES)
        if change < (_CLOSE if start is None else _CLOSE_REFIT):
            break
    return _posterior(estimate, step, seen, turns)


def _first_estimate(features: PairFeatures, seen: Codes, start: StageFit | None) -> _Estimate:
    """Return where the steps start: at ``start``, or at 0 with the guessed variances."""
    if start is not None:
        return _Estimate(
            start.beta,
            start.turn[seen],
            start.turn_covariance[seen],
            start.shrinkage,
            start.spread,
        )
    p, q = features.fixed.shape[1], features.varying.shape[1]
    shrinkage = np.full(p, _SHRUNK.guess)
    shrinkage[features.kinds == BASIC] = _VAGUE
    shrinkage[features.kinds == ALONE] = _SHRUNK_ALONE.guess
    return _Estimate(
        beta=np.zeros(p),
        turn=np.zeros((len(seen), q)),
        turn_covariance=np.zeros((len(seen), q, q)),
        shrinkage=shrinkage,
        spread=np.diag([_LEVEL.guess, *[_SLOPE.guess] * (q - 1)]),
    )


def _newton_step(derivatives: _Derivatives) -> _Step:
    """Solve for the step; the coefficients of turns are eliminated by a Schur complement."""
    p = len(derivatives.beta_gradient)
    covariance = np.asarray(np.linalg.inv(derivatives.turn_curvature), dtype=np.float64)
    pull = covariance @ derivatives.cross_curvature
    pull_rows = pull.reshape(-1, p)
    schur = derivatives.beta_curvature - derivatives.cross_curvature.reshape(-1, p).T @ pull_rows
    gradient = derivatives.beta_gradient - derivatives.turn_gradient.ravel() @ pull_rows
    inverse = np.asarray(np.linalg.inv(schur), dtype=np.float64)
    beta = inverse @ gradient
    turn = (covariance @ derivatives.turn_gradient[:, :, None])[:, :, 0] - pull @ beta
    return _Step(beta, turn, schur, inverse, covariance, pull)


def _update_variances(estimate: _Estimate, step: _Step, kinds: Codes) -> float:
    """Set the prior variances to those of the coefficients; return the largest change, in logs."""
    pull = step.pull
    due_to_beta = (pull.reshape(-1, pull.shape[2]) @ step.beta_covariance).reshape(pull.shape)
    turn_posterior = step.turn_covariance + due_to_beta @ pull.transpose(0, 2, 1)
    before = np.append(estimate.shrinkage, np.diag(estimate.spread))
    estimate.spread = _spread(estimate.turn, turn_posterior, estimate.spread)
    estimate.shrinkage = _shrinkage(
        estimate.beta, np.diag(step.beta_covariance), estimate.shrinkage, kinds
    )
    after = np.append(estimate.shrinkage, np.diag(estimate.spread))
    return float(np.abs(np.log(after / before)).max())


def _posterior(estimate: _Estimate, step: _Step, seen: Codes, turns: int) -> StageFit:
    """Return the fit for all ``turns``; one without pairs has the prior distribution."""
    q, p = step.pull.shape[1:]
    turn = np.zeros((turns, q))
    covariance = np.tile(estimate.spread, (turns, 1, 1))
    pull = np.zeros((turns, q, p))
    turn[seen], covariance[seen], pull[seen] = estimate.turn, step.turn_covariance, step.pull
    precision = np.asarray(np.linalg.cholesky(step.beta_precision), dtype=np.float64)
    return StageFit(
        estimate.beta, precision, turn, covariance, pull, estimate.shrinkage, estimate.spread
    )


def _blocks(features: PairFeatures, went_on: Mask, counts: Codes, seen: Codes) -> Iterator[_Block]:
    """Yield the pairs of the turns ``seen``, some turns at a time; ``counts``: pairs by turn."""
    starts = np.cumsum(counts) - counts
    for first in range(0, len(seen), _TURNS):
        turns = slice(first, first + _TURNS)
        sizes = counts[seen[turns]][:, None]
        place = np.arange(sizes.max())
        present = place < sizes
        rows = np.where(present, starts[seen[turns]][:, None] + place, 0)
        yield _Block(
            turns,
            features.fixed[rows],
            features.varying[rows],
            went_on[rows].astype(np.float64),
            present.astype(np.float64),
        )


def _flattening(variance: Floats) -> Floats:
    """Return the factor of a logit whose probability is averaged over a normal error.

    ``variance``: that of the error (MacKay 1992).
    """
    return np.asarray(1 / np.sqrt(1 + np.pi / 8 * variance))


def _spread(turn: Floats, posterior: Floats, prior: Floats) -> Floats:
    """Return the prior covariance, float64[q, q], that fits the coefficients of turns.

    It has one variance of levels, one of slopes, one correlation of a level with a slope, and one
    of two slopes.

    turn
        float64[U, q]: means of the coefficients.
    posterior
        float64[U, q, q]: their posterior covariances.
    prior
        float64[q, q]: the present prior covariance.
    """
    q = len(prior)
    variances, posterior_variances = np.diag(prior), np.einsum("tqq->tq", posterior)
    level = _variance(turn[:, 0], posterior_variances[:, 0], variances[0], _LEVEL)
    if q == 1:
        return np.array([[level]])
    slope = _variance(turn[:, 1:], posterior_variances[:, 1:], variances[1], _SLOPE)

    # the mean over all permutations of the slopes is also a covariance matrix
    moments = (turn[:, :, None] * turn[:, None, :] + posterior).mean(axis=0)
    slopes = moments[1:, 1:]
    slope_moment = np.diag(slopes).mean()
    of_two_slopes = (slopes.sum() - np.trace(slopes)) / max(slopes.size - len(slopes), 1)
    of_level_and_slope = moments[0, 1:].mean()

    correlation = np.full((q, q), of_two_slopes / slope_moment)
    level_with_slope = of_level_and_slope / np.sqrt(moments[0, 0] * slope_moment)
    correlation[0], correlation[:, 0] = level_with_slope, level_with_slope
    np.fill_diagonal(correlation, 1.0)
    deviation = np.sqrt([level, *[slope] * (q - 1)])
    return np.asarray(correlation * np.outer(deviation, deviation))


def _shrinkage(beta: Floats, posterior: Floats, prior: Floats, kinds: Codes) -> Floats:
    """Return the prior variances, float64[p], that fit the shared coefficients: one for each kind.

    ``posterior``, ``prior``: float64[p], posterior variances and present prior variances.
    """
    shrinkage = prior.copy()
    for kind in np.unique(kinds[kinds != BASIC]):
        guess = _SHRUNK_ALONE if kind == ALONE else _SHRUNK
        of_kind = kinds == kind
        shrinkage[of_kind] = _variance(beta[of_kind], posterior[of_kind], prior[of_kind][0], guess)
    return shrinkage


def _variance(values: Floats, posterior: Floats, prior: float, guess: _PriorVariance) -> float:
    """Return the mean square per coefficient determined by the data.

    ``posterior``: posterior variances of ``values``. ``prior``: their present prior variance.
    """
    determined = np.clip(1 - posterior / prior, 0, 1).sum()
    squares = (values**2).sum() + guess.worth * guess.guess
    return float(squares / (determined + guess.worth))
