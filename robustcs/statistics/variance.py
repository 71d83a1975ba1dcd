"""How much of the variance comes from the turn, and how much from its wording? A two-way random-effects decomposition."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.statistics.agreement import Statistic
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.unit_agreement import RESAMPLES, agreement_estimate
from robustcs.statistics.units import Units

Floats = npt.NDArray[np.float64]

#: ``turn``: turns differ; ``set``: whole sets differ; ``turn_set``: a wording helps one turn and hurts another.
#: ``wording`` is ``set`` and ``turn_set`` together, all that is not ``turn``.
COMPONENTS = ("turn", "set", "turn_set", "wording")


@dataclass(frozen=True)
class Component:
    """One of :data:`COMPONENTS`: its variance (score units squared), and its share of the total with the share's interval."""

    name: str
    variance: float
    share: Estimate


def variance_components(scores: npt.ArrayLike, units: Units, seed: int, resamples: int = RESAMPLES) -> tuple[Component, ...]:
    """Split the variance of ``scores`` (turns × sets, one paraphrase of the turn in each set) into :data:`COMPONENTS`.

    Model: score = mean + turn + set + turn·set, all three drawn at random with variances of their own. There is one score
    per cell and retrieval repeats itself exactly, so what turn and set do not explain is the wording of that turn.
    Estimator: analysis of variance. With n turns, k sets and the mean squares MS of turns, sets and the remainder,
    turn·set = MS_rest, turn = (MS_turn − MS_rest) / k, set = (MS_set − MS_rest) / n, negative estimates are 0 (Searle,
    Casella & McCulloch 1992, chapter 4; in information retrieval Bodoff & Li 2007, "Test theory for assessing IR test
    collections"). Shares are nan where nothing varies.

    The interval of a share is the nested bootstrap-t over ``units`` of the estimate before it is cut at 0: it speaks of other
    turns with these sets, as three sets are too few to resample. None below five units.

    Raises :class:`UsageError` for fewer than two turns or two sets.
    """
    table = np.asarray(scores, dtype=np.float64)
    count, sets = table.shape
    if count < 2 or sets < 2:
        raise UsageError(
            "too-few-sets", f"{count} turns × {sets} sets cannot be decomposed", "give at least two turns and two sets"
        )
    by_unit = units.sums(variance_sums(table).T).T
    variances = np.maximum(_variances(by_unit.sum(axis=0)), 0.0)
    total = float(variances.sum())
    shares = variances / total if total > 1e-24 else np.full(3, math.nan)
    found = [
        Component(name, float(variance), _bounded(float(share), by_unit, place, units, seed, resamples))
        for place, (name, variance, share) in enumerate(zip(COMPONENTS, variances, shares, strict=False))
    ]
    turn = found[0].share
    rest = Estimate(1 - turn.value, 1 - turn.high, 1 - turn.low, turn.units, turn.method, turn.note)
    return (*found, Component("wording", float(variances[1:].sum()), rest))


def variance_sums(scores: npt.ArrayLike) -> Floats:
    """float64[T, k + 3]: what each turn of ``scores`` [T, k] adds to the sums that the shares are functions of."""
    table = np.asarray(scores, dtype=np.float64)
    table = table - table.mean()  # sums of squares of centred values lose no digits
    return np.column_stack([np.ones(len(table)), table.mean(axis=1) ** 2, (table**2).sum(axis=1), table])


def share_of(place: int) -> Statistic:
    """The share of a component of :data:`COMPONENTS` but the last, as a function of sums; it may be below 0."""

    def statistic(sums: Floats) -> Floats:
        variances = _variances(sums)
        total = variances.sum(axis=-1)
        return np.asarray(np.divide(variances[..., place], total, out=np.full(total.shape, np.nan), where=total > 1e-24))

    return statistic


def _bounded(share: float, by_unit: Floats, place: int, units: Units, seed: int, resamples: int) -> Estimate:
    """The share with its interval, cut to what a share can be."""
    found = agreement_estimate(by_unit, share_of(place), seed, units.kind, resamples)
    low, high = (float(np.clip(limit, 0.0, 1.0)) for limit in (found.low, found.high))
    # cutting a negative part at 0 takes from the others
    return Estimate(share, min(low, share), max(high, share), found.units, found.method, found.note)


def _variances(sums: Floats) -> Floats:
    """float64[..., 3]: turn, set and turn·set from sums [..., k + 3] of :func:`variance_sums`, not cut at 0."""
    sets = sums.shape[-1] - 3
    count = sums[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        set_means = sums[..., 3:] / count[..., None]
        mean = set_means.mean(axis=-1)
        of_turns = sets * (sums[..., 1] - count * mean**2)
        of_sets = count * (set_means**2).sum(axis=-1) - count * sets * mean**2
        whole = sums[..., 2] - count * sets * mean**2
        # what is 0 on paper may come out as -1e-17
        rest = np.maximum(whole - of_turns - of_sets, 0.0) / ((count - 1) * (sets - 1))
        turn = (of_turns / (count - 1) - rest) / sets
        set_ = (of_sets / (sets - 1) - rest) / count
    return np.stack([turn, set_, rest], axis=-1)
