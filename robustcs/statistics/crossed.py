"""Effect sizes of a crossed analysis of variance: turns × wordings × rankers, one score per cell.

Source: Ferro and Silvello (2018), "Toward an anatomy of IR system component performances". With one
score per cell, the mean square of the three-way residual is the error of every effect.
ω² = (SS − df · MSE) / (SS + (N − df) · MSE) is the share of the variance due to the effect in the
sum of that variance and the error.

The interval is that of other conversations with these wordings and rankers. It joins two intervals:
the nested bootstrap-t of :func:`~robustcs.statistics.agreement.agreement_estimate`, and the
percentile interval of the same kind of resamples. The first is too short for effects near zero, the
second for large ones (docs/components.md shows the coverage).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Floats
from robustcs.statistics.agreement import RESAMPLES, Statistic, agreement_estimate
from robustcs.statistics.estimate import TAILS, Estimate
from robustcs.statistics.units import Units, resampled

#: The effects of the model, in the order of :func:`omega_squared_estimates`.
EFFECTS = ("turn", "wording", "ranker", "wording*ranker", "turn*wording", "turn*ranker")
CROSSED_METHOD = "nested bootstrap-t over units, joined with the percentile bootstrap"
#: Number of sums of :func:`crossed_sums` before the scores by cell.
_TERMS = 5
#: Largest denominator of ω² that is only rounding: nothing varies.
_ROUNDING = 1e-12


def omega_squared_estimates(
    scores: npt.ArrayLike, units: Units, seed: int, resamples: int = RESAMPLES
) -> tuple[Estimate, ...]:
    """Return ω² of each of :data:`EFFECTS`.

    ``scores``: float[T, W, R], turns × wordings × rankers, each at least two. An estimate is
    slightly negative if an effect explains less than chance would. nan if nothing varies within
    turns. No interval below five units.
    """
    table = np.asarray(scores, dtype=np.float64)
    levels = table.shape[1:]
    by_unit = units.sums(crossed_sums(table).T).T
    weights = resampled(np.random.default_rng(seed), units.count, resamples)
    resamples_of_effects = omega_squared(weights @ by_unit, levels)
    defined = ~np.isnan(resamples_of_effects).any(axis=1)
    resamples_of_effects = resamples_of_effects[defined]
    estimates = []
    for place in range(len(EFFECTS)):
        effect = agreement_estimate(by_unit, _effect(place, levels), seed, units.kind, resamples)
        note = effect.note.replace("all ratings are equal", "no effect varies")
        effect = replace(effect, method=CROSSED_METHOD, note=note)
        estimates.append(_joined_interval(effect, resamples_of_effects[:, place]))
    return tuple(estimates)


def _joined_interval(effect: Estimate, resamples: Floats) -> Estimate:
    """Return ``effect`` with its interval joined with the percentile interval of ``resamples``."""
    if math.isnan(effect.low) or not len(resamples):
        return effect
    low, high = np.quantile(resamples, TAILS).tolist()
    # ω² of a population is not negative, but an estimate may be
    low = max(0.0, min(effect.low, low))
    return replace(effect, low=min(effect.value, low), high=max(effect.high, high))


def crossed_sums(scores: npt.ArrayLike) -> Floats:
    """Return float64[T, 5 + W·R]: the contributions of each turn to the sums of squares.

    ``scores``: [T, W, R]. The columns are 1, the squares of the turn's mean, of its means by
    wording, of its means by ranker, and of its scores; and its scores.
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table - table.mean()  # sums of squares of centered values lose no digits
    turns, wordings, rankers = table.shape
    of_turn = wordings * rankers * table.mean(axis=(1, 2)) ** 2
    of_wordings = rankers * (table.mean(axis=2) ** 2).sum(axis=1)
    of_rankers = wordings * (table.mean(axis=1) ** 2).sum(axis=1)
    of_scores = (table**2).sum(axis=(1, 2))
    cells = table.reshape(turns, -1)
    return np.column_stack([np.ones(turns), of_turn, of_wordings, of_rankers, of_scores, cells])


def omega_squared(sums: Floats, levels: tuple[int, ...]) -> Floats:
    """Return float64[..., 6]: ω² of :data:`EFFECTS` from sums of :func:`crossed_sums`.

    ``sums``: [..., 5 + W·R]. ``levels``: W and R.
    """
    wordings, rankers = levels
    turns = sums[..., 0]
    of_turns, of_wordings, of_rankers, of_scores = (sums[..., term] for term in range(1, _TERMS))
    means = sums[..., _TERMS:] / turns[..., None]
    means = means.reshape(*sums.shape[:-1], wordings, rankers)
    of_mean = turns * wordings * rankers * means.mean(axis=(-2, -1)) ** 2
    turn = of_turns - of_mean
    wording = turns * rankers * (means.mean(axis=-1) ** 2).sum(axis=-1) - of_mean
    ranker = turns * wordings * (means.mean(axis=-2) ** 2).sum(axis=-1) - of_mean
    wording_ranker = turns * (means**2).sum(axis=(-2, -1)) - of_mean - wording - ranker
    turn_wording = of_wordings - of_mean - turn - wording
    turn_ranker = of_rankers - of_mean - turn - ranker
    squares = np.stack([turn, wording, ranker, wording_ranker, turn_wording, turn_ranker], axis=-1)
    # exact zeros may be computed as -1e-17
    rest = np.maximum(of_scores - of_mean - squares.sum(axis=-1), 0.0)

    same = np.ones_like(turns)
    degrees = [
        turns - 1,
        (wordings - 1) * same,
        (rankers - 1) * same,
        (wordings - 1) * (rankers - 1) * same,
        (turns - 1) * (wordings - 1),
        (turns - 1) * (rankers - 1),
    ]
    freedom = np.stack(degrees, axis=-1)
    cells = (turns * wordings * rankers)[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):
        error = (rest / ((turns - 1) * (wordings - 1) * (rankers - 1)))[..., None]
        denominator = squares + (cells - freedom) * error
        omega = (squares - freedom * error) / denominator
        return np.asarray(np.where(denominator > _ROUNDING, omega, np.nan))


def _effect(place: int, levels: tuple[int, ...]) -> Statistic:
    """Return ω² of one of :data:`EFFECTS` as a function of sums."""
    return lambda sums: omega_squared(sums, levels)[..., place]
