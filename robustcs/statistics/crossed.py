"""Effect sizes of a crossed analysis of variance: turns × wordings × rankers, one score per cell.

Source: Ferro and Silvello (2018), "Toward an anatomy of IR system component performances". With one score per cell, the mean
square of the three-way residual is the error of every effect. ω² = (SS − df · MSE) / (SS + (N − df) · MSE) is the share of the
variance due to the effect in the sum of that variance and the error.

The interval is that of other conversations with these wordings and rankers. It joins two intervals: the nested bootstrap-t of
:func:`~robustcs.statistics.agreement.agreement_estimate`, and the percentile interval of the same kind of resamples. The first
is too short for effects near zero, the second for large ones (docs/components.md shows the coverage).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Floats
from robustcs.statistics.agreement import RESAMPLES, agreement_estimate
from robustcs.statistics.estimate import CONFIDENCE, Estimate
from robustcs.statistics.units import Units

#: The effects of the model, in the order of :func:`effect_sizes`.
EFFECTS = ("turn", "wording", "ranker", "wording*ranker", "turn*wording", "turn*ranker")
METHOD = "nested bootstrap-t over units, joined with the percentile bootstrap"


def effect_sizes(scores: npt.ArrayLike, units: Units, seed: int, resamples: int = RESAMPLES) -> tuple[Estimate, ...]:
    """Return ω² of each of :data:`EFFECTS` from ``scores``, float[T, W, R]: turns × wordings × rankers, each at least two.

    An estimate is slightly negative if an effect explains less than chance would. nan if nothing varies within turns.
    No interval below five units.
    """
    table = np.asarray(scores, dtype=np.float64)
    levels = table.shape[1:]
    by_unit = units.sums(crossed_sums(table).T).T
    generator = np.random.default_rng(seed)
    weights = generator.multinomial(units.count, np.full(units.count, 1 / units.count), size=resamples)
    drawn = omega_squared(weights @ by_unit, levels)
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    found = []
    for place in range(len(EFFECTS)):
        one = agreement_estimate(by_unit, _effect(place, levels), seed, units.kind, resamples)
        one = replace(one, method=METHOD, note=one.note.replace("all ratings are equal", "no effect varies"))
        if not math.isnan(one.low) and len(drawn):
            low, high = np.quantile(drawn[:, place], [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2]).tolist()
            # ω² of a population is not negative, but an estimate may be
            one = replace(one, low=min(one.value, max(0.0, min(one.low, low))), high=max(one.high, high))
        found.append(one)
    return tuple(found)


def crossed_sums(scores: npt.ArrayLike) -> Floats:
    """Return float64[T, W·R + 5]: the contributions of each turn of ``scores`` [T, W, R] to the sums of squares."""
    table = np.asarray(scores, dtype=np.float64)
    table = table - table.mean()  # sums of squares of centered values lose no digits
    turns, wordings, rankers = table.shape
    squares = [
        np.ones(turns), wordings * rankers * table.mean(axis=(1, 2)) ** 2,
        rankers * (table.mean(axis=2) ** 2).sum(axis=1), wordings * (table.mean(axis=1) ** 2).sum(axis=1),
        (table**2).sum(axis=(1, 2)),
    ]  # fmt: skip
    return np.column_stack([*squares, table.reshape(turns, -1)])


def omega_squared(sums: Floats, levels: tuple[int, ...]) -> Floats:
    """Return float64[..., 6]: ω² of :data:`EFFECTS` from sums [..., W·R + 5] of :func:`crossed_sums`."""
    wordings, rankers = levels
    count = sums[..., 0]
    means = (sums[..., 5:] / count[..., None]).reshape(*sums.shape[:-1], wordings, rankers)
    middle = count * wordings * rankers * means.mean(axis=(-2, -1)) ** 2
    turn = sums[..., 1] - middle
    wording = count * rankers * (means.mean(axis=-1) ** 2).sum(axis=-1) - middle
    ranker = count * wordings * (means.mean(axis=-2) ** 2).sum(axis=-1) - middle
    both = count * (means**2).sum(axis=(-2, -1)) - middle - wording - ranker
    turn_wording, turn_ranker = sums[..., 2] - middle - turn - wording, sums[..., 3] - middle - turn - ranker
    squares = np.stack([turn, wording, ranker, both, turn_wording, turn_ranker], axis=-1)
    # exact zeros may be computed as -1e-17
    rest = np.maximum(sums[..., 4] - middle - squares.sum(axis=-1), 0.0)
    one = np.ones_like(count)
    freedom = np.stack([
        count - 1, (wordings - 1) * one, (rankers - 1) * one, (wordings - 1) * (rankers - 1) * one,
        (count - 1) * (wordings - 1), (count - 1) * (rankers - 1),
    ], axis=-1)  # fmt: skip
    with np.errstate(invalid="ignore", divide="ignore"):
        error = (rest / ((count - 1) * (wordings - 1) * (rankers - 1)))[..., None]
        below = squares + ((count * wordings * rankers)[..., None] - freedom) * error
        return np.asarray(np.where(below > 1e-12, (squares - freedom * error) / below, np.nan))


def _effect(place: int, levels: tuple[int, ...]) -> Callable[[Floats], Floats]:
    return lambda sums: omega_squared(sums, levels)[..., place]
