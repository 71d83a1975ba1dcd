"""How much of the lead of the best system is luck?

The best system is chosen on one half of the units and measured on the other half.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robustcs.statistics import Codes, Floats, Mask
from robustcs.statistics.estimate import LEAST_UNITS, Estimate
from robustcs.statistics.student import t_quantile
from robustcs.statistics.units import Units

#: Random halves.
SPLITS = 1_000
#: Largest number of groups of the jackknife.
_GROUPS = 50
#: Smallest number of splits in each group.
_LEAST_SPLITS = 200
HALVES_METHOD = "jackknife over units, Student's t"


@dataclass(frozen=True)
class Halves:
    """The best of M systems on random halves of the units, and the same system on the other half.

    chosen, second
        int64[S]: the systems with the highest and second highest mean on the half of each split.
    half, half_lead
        Means over splits, on the half that chose the systems: the mean of the best, and its lead
        over the second best.
    other, other_lead
        The same on the other half, with intervals for other units.
    """

    chosen: Codes
    second: Codes
    half: float
    half_lead: float
    other: Estimate
    other_lead: Estimate


class _Splits(NamedTuple):
    """The two best systems of S random halves, int64[S, 2], and their means on both halves.

    on_half, on_other
        float64[S, 2]: the mean of the best system, and its lead over the second best.
    """

    best_two: Codes
    on_half: Floats
    on_other: Floats


def halves_of(table: Floats, units: Units, seed: int, splits: int = SPLITS) -> Halves:
    """Choose the best of M ≥ 2 systems on random halves of at least two units.

    ``table``: scores, float[M, turns]. The interval is a jackknife over units (over 50 groups of
    units, if there are more) with Student's t. Only half of the units choose, so half of them count
    for its degrees of freedom; docs/components.md shows the coverage. No interval below five units.
    """
    sums, sizes = units.sums(table), units.sizes
    generator = np.random.default_rng(seed)
    split = _split(sums, sizes, generator, splits)
    value = split.on_other.mean(axis=0)
    low = high = np.full(2, math.nan)
    if units.count >= LEAST_UNITS:
        half_width = _half_widths(sums, sizes, generator, max(_LEAST_SPLITS, splits // 4))
        low, high = value - half_width, value + half_width
    other, other_lead = (
        Estimate(*limits, units.count, HALVES_METHOD)
        for limits in zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
    )
    return Halves(
        chosen=split.best_two[:, 0],
        second=split.best_two[:, 1],
        half=float(split.on_half[:, 0].mean()),
        half_lead=float(split.on_half[:, 1].mean()),
        other=other,
        other_lead=other_lead,
    )


def _half_widths(
    sums: Floats, sizes: Floats, generator: np.random.Generator, splits: int
) -> Floats:
    """Return float64[2]: half of the 95% CI of mean and lead on the other half."""
    units = len(sizes)
    group_count = min(units, _GROUPS)
    groups = np.arange(units) % group_count
    left_out = []
    for group in range(group_count):
        kept = groups != group
        split = _split(sums[:, kept], sizes[kept], generator, splits)
        left_out.append(split.on_other.mean(axis=0))
    deviations = np.array(left_out) - np.mean(left_out, axis=0)
    error = np.sqrt((group_count - 1) / group_count * (deviations**2).sum(axis=0))
    return np.asarray(t_quantile(max(2, group_count // 2)) * error)


def _split(sums: Floats, sizes: Floats, generator: np.random.Generator, splits: int) -> _Splits:
    """Split the units at random; ``sums``: float64[M, K], ``sizes``: float64[K]."""
    units = len(sizes)
    first_half = np.arange(units) < units // 2
    in_half = generator.permuted(np.tile(first_half, (splits, 1)), axis=1)
    means = _means_of_splits(in_half, sums, sizes)
    other_means = _means_of_splits(~in_half, sums, sizes)
    best_two = np.argsort(-means, axis=1, kind="stable")[:, :2]
    return _Splits(best_two, _mean_and_lead(means, best_two), _mean_and_lead(other_means, best_two))


def _means_of_splits(inside: Mask, sums: Floats, sizes: Floats) -> Floats:
    """Return float64[S, M]: the means of the systems over the units ``inside`` [S, K]."""
    return np.asarray((inside @ sums.T) / (inside @ sizes)[:, None])


def _mean_and_lead(means: Floats, best_two: Codes) -> Floats:
    best = np.take_along_axis(means, best_two, axis=1)
    return np.column_stack([best[:, 0], best[:, 0] - best[:, 1]])
