"""Variance components of turn and wording: a two-way random-effects model of turns and sets."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.statistics import Floats, quotient
from robustcs.statistics.agreement import RESAMPLES, Statistic, agreement_estimate
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.units import Units

#: ``turn``: turns differ; ``set``: whole sets differ; ``turn_set``: a wording helps one turn and
#: hurts another. ``wording`` is ``set`` and ``turn_set`` together, that is, everything except
#: ``turn``.
COMPONENTS = ("turn", "set", "turn_set", "wording")
#: Number of sums of :func:`variance_sums` before the scores by set.
_TERMS = 3
#: Largest total variance that is only rounding: nothing varies.
_ROUNDING = 1e-24


@dataclass(frozen=True)
class Component:
    """One of :data:`COMPONENTS`.

    variance
        In score units squared.
    share
        The share of the total variance, with its interval.
    """

    name: str
    variance: float
    share: Estimate


def variance_components(
    scores: npt.ArrayLike, units: Units, seed: int, resamples: int = RESAMPLES
) -> tuple[Component, ...]:
    """Split the variance of ``scores`` into :data:`COMPONENTS`.

    ``scores``: turns × sets, one paraphrase of the turn in each set.

    Model: score = mean + turn + set + turn·set, all three random with their own variances. There is
    one score per cell, and retrieval is deterministic, so whatever turn and set do not explain is
    the wording of that turn. Estimator: analysis of variance. With n turns, k sets and the mean
    squares MS of turns, sets and the remainder, turn·set = MS_rest, turn = (MS_turn − MS_rest) / k,
    set = (MS_set − MS_rest) / n; negative estimates are 0 (Searle, Casella & McCulloch 1992,
    chapter 4; in information retrieval Bodoff & Li 2007, "Test theory for assessing IR test
    collections"). Shares are nan if nothing varies.

    The interval of a share is the nested bootstrap-t over ``units`` of the estimate before negative
    values are set to 0. It is for other turns with these sets, because three sets are too few to
    resample. None below five units.

    Raises :class:`UsageError` below two turns or two sets.
    """
    table = np.asarray(scores, dtype=np.float64)
    turns, sets = table.shape
    if turns < 2 or sets < 2:
        raise UsageError(
            "too-few-sets",
            f"cannot decompose the variance of {turns} turns × {sets} sets",
            "use at least two turns and two sets",
        )
    by_unit = units.sums(variance_sums(table).T).T
    variances = np.maximum(_variances(by_unit.sum(axis=0)), 0.0)
    total = float(variances.sum())
    shares = np.full(len(variances), math.nan)
    if total > _ROUNDING:
        shares = variances / total
    *separate, wording = COMPONENTS
    components = []
    for place, name in enumerate(separate):
        share = _share_estimate(float(shares[place]), by_unit, place, units, seed, resamples)
        components.append(Component(name, float(variances[place]), share))
    turn = components[0].share
    rest = replace(turn, value=1 - turn.value, low=1 - turn.high, high=1 - turn.low)
    return (*components, Component(wording, float(variances[1:].sum()), rest))


def variance_sums(scores: npt.ArrayLike) -> Floats:
    """Return float64[T, 3 + k]: the contributions of each turn to the sums of the shares.

    ``scores``: [T, k]. The columns are 1, the square of the turn's mean, the squares of its scores,
    and its scores.
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table - table.mean()  # sums of squares of centered values lose no digits
    squared_means = table.mean(axis=1) ** 2
    squares = (table**2).sum(axis=1)
    return np.column_stack([np.ones(len(table)), squared_means, squares, table])


def share_of(place: int) -> Statistic:
    """Return the share of a component as a function of sums; it may be negative.

    ``place``: its place in :data:`COMPONENTS`, except the last.
    """

    def statistic(sums: Floats) -> Floats:
        variances = _variances(sums)
        total = variances.sum(axis=-1)
        return quotient(variances[..., place], total, np.nan, _ROUNDING)

    return statistic


def _share_estimate(
    share: float, by_unit: Floats, place: int, units: Units, seed: int, resamples: int
) -> Estimate:
    """Return ``share`` with its interval, restricted to 0 to 1."""
    estimate = agreement_estimate(by_unit, share_of(place), seed, units.kind, resamples)
    low, high = np.clip([estimate.low, estimate.high], 0.0, 1.0).tolist()
    # setting a negative component to 0 changes the other shares
    return replace(estimate, value=share, low=min(low, share), high=max(high, share))


def _variances(sums: Floats) -> Floats:
    """Return float64[..., 3]: the variances of turn, set and turn·set, possibly negative.

    ``sums``: [..., 3 + k] of :func:`variance_sums`.
    """
    turns, squared_means, squares = (sums[..., term] for term in range(_TERMS))
    sets = sums.shape[-1] - _TERMS
    with np.errstate(invalid="ignore", divide="ignore"):
        set_means = sums[..., _TERMS:] / turns[..., None]
        mean = set_means.mean(axis=-1)
        of_turns = sets * (squared_means - turns * mean**2)
        of_sets = turns * (set_means**2).sum(axis=-1) - turns * sets * mean**2
        total = squares - turns * sets * mean**2
        # exact zeros may be computed as -1e-17
        rest = np.maximum(total - of_turns - of_sets, 0.0) / ((turns - 1) * (sets - 1))
        of_turn = (of_turns / (turns - 1) - rest) / sets
        of_set = (of_sets / (sets - 1) - rest) / turns
    return np.stack([of_turn, of_set, rest], axis=-1)
