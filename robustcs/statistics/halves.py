"""The best of several systems on one half of the units, measured on the other half: how much of its lead is luck."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robustcs.statistics import Codes, Floats
from robustcs.statistics.estimate import LEAST_UNITS, Estimate
from robustcs.statistics.means import t_quantile
from robustcs.statistics.units import Units

#: Random halves.
SPLITS = 1_000
#: Largest number of groups of the jackknife, and smallest number of splits in each.
_GROUPS, _LEAST_SPLITS = 50, 200
METHOD = "jackknife over units, Student's t"


@dataclass(frozen=True)
class Halves:
    """The best of M systems on random halves of the units, and the same system on the other half.

    chosen, second
        int64[S]: the systems with the highest and second highest mean on the half of each split.
    half, half_lead
        Means over splits, on the half that chose the systems: the mean of the best, and its lead over the second best.
    other, other_lead
        The same on the other half, with intervals for other units.
    """

    chosen: Codes
    second: Codes
    half: float
    half_lead: float
    other: Estimate
    other_lead: Estimate


def halves_of(table: Floats, units: Units, seed: int, splits: int = SPLITS) -> Halves:
    """Choose the best of M ≥ 2 systems on random halves of at least two units; ``table``: scores, float[M, turns].

    The interval is a jackknife over units (over 50 groups of units, if there are more) with Student's t. Only half of the units
    choose, so half of them count for its degrees of freedom; docs/components.md shows the coverage.
    """
    by_unit, sizes = units.sums(table), units.sizes
    generator = np.random.default_rng(seed)
    order, half, other = _split(by_unit, sizes, generator, splits)
    value = other.mean(axis=0)
    limits = np.full((2, 2), math.nan)
    if units.count >= LEAST_UNITS:
        count = min(units.count, _GROUPS)
        groups = np.arange(units.count) % count
        fewer = max(_LEAST_SPLITS, splits // 4)
        rest = (groups != group for group in range(count))
        left = np.array([_split(by_unit[:, own], sizes[own], generator, fewer)[2].mean(axis=0) for own in rest])
        error = np.sqrt((count - 1) / count * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
        reach = t_quantile(max(2, count // 2)) * error
        limits = np.array([value - reach, value + reach])
    found = [
        Estimate(float(value[place]), float(limits[0, place]), float(limits[1, place]), units.count, METHOD) for place in (0, 1)
    ]
    return Halves(order[:, 0], order[:, 1], float(half[:, 0].mean()), float(half[:, 1].mean()), *found)


def _split(by_unit: Floats, sizes: Floats, generator: np.random.Generator, splits: int) -> tuple[Codes, Floats, Floats]:
    """Return the two best systems of S random halves, int[S, 2], and mean and lead on both halves, float[S, 2] each."""
    inside = generator.permuted(np.tile(np.arange(len(sizes)) < len(sizes) // 2, (splits, 1)), axis=1)
    means = [(part @ by_unit.T) / (part @ sizes)[:, None] for part in (inside, ~inside)]
    order = np.argsort(-means[0], axis=1, kind="stable")[:, :2]
    best = [np.take_along_axis(part, order, axis=1) for part in means]
    half, other = (np.column_stack([part[:, 0], part[:, 0] - part[:, 1]]) for part in best)
    return order, half, other
