"""Estimates of every slice: its mean or share, and the difference from the other turns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.result import Field, count, difference, number, p_value, text
from robustcs.slicing.contrasts import DRAWS, RestContrast, contrasts_of
from robustcs.slicing.table import Slicing
from robustcs.statistics import Floats, Mask
from robustcs.statistics.estimate import Estimate, joined
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.units import Units


@dataclass(frozen=True)
class Slice:
    """One slice of one row of values.

    slicing, name
        Names of the slicing and of the slice.
    turns, weight
        Number of turns, and the divisor of the values: the turns or another weight.
    own
        Its mean or share with an interval.
    contrast
        Its comparison with the other turns.
    """

    slicing: str
    name: str
    turns: int
    weight: float
    estimate: Estimate
    contrast: RestContrast


def keys(says: str = "") -> tuple[Field, ...]:
    """Return the columns that identify a slice; ``says``: a remark on the slicings."""
    slicings = (
        "first, depth, conversation, pronoun, ellipsis, length, shift, name, name in rewrite, or a"
        " column of your file"
    )
    return (
        text("slicing", joined(slicings, says)),
        text("slice"),
        count("turns", "turns of the slice"),
    )


def against_rest(of: str) -> tuple[Field, ...]:
    """Return the columns of :func:`cells`; ``of``: the estimate that is compared, as ``share``."""
    return (
        number("rest", f"{of} of the other turns for which this property is known"),
        difference("difference", f"{of} − rest"),
        number(
            "difference_low",
            "95% CI, from the same test as p; null for fewer than five units on either side (see"
            " note)",
        ),
        number("difference_high"),
        p_value(says="two-sided: permutation of the scores of whole units"),
        p_value("p_corrected", "adjusted by max-T over all slices of the same scores", "p adj."),
        count(
            "comparisons",
            "number of these slices; two that are each other's rest are one comparison",
        ),
        count("units", "conversations (or single turns) with such a turn"),
        text("note", "caveats"),
    )


def cells(slice_: Slice) -> tuple[object, ...]:
    """Return the values of the columns of :func:`against_rest`."""
    contrast = slice_.contrast
    return (
        contrast.rest,
        contrast.difference,
        contrast.low,
        contrast.high,
        contrast.p,
        contrast.p_corrected,
        contrast.comparisons,
        slice_.estimate.units,
        joined(slice_.estimate.note, contrast.note),
    )


class _Member(NamedTuple):
    """A slice of a slicing, by its code."""

    slicing: Slicing
    code: int

    @property
    def mask(self) -> Mask:
        """bool[T]: its turns."""
        return np.asarray(self.slicing.codes == self.code)

    @property
    def is_counted(self) -> bool:
        """Whether it counts as a comparison: two that are each other's rest are one."""
        return self.code == 0 or len(self.slicing.slices) != 2


def slices_of(
    values: npt.ArrayLike,
    slicings: Sequence[Slicing],
    units: Units,
    seed: int,
    *,
    shares: bool = False,
    bounds: tuple[float, float] | None = None,
    weights: npt.ArrayLike | None = None,
    draws: int = DRAWS,
) -> list[list[Slice]]:
    """Estimate every slice of every slicing, in the given order, for each row of ``values`` [R, T].

    Rows share their draws.

    shares
        Whether the values are hits, from 0 to the weight of the turn; the intervals are then those
        of shares.
    bounds
        Lowest and highest possible value of means.
    weights
        float[T]: weight of each turn (default: 1). A mean is Σ values / Σ weights.
    draws
        Largest number of rearrangements per p-value.
    """
    rows = np.asarray(values, dtype=np.float64)
    if weights is None:
        turn_weights = np.ones(rows.shape[1])
    else:
        turn_weights = np.asarray(weights, dtype=np.float64)
    members = [_Member(cut, code) for cut in slicings for code in range(len(cut.slices))]
    if not members:
        return [[] for _ in rows]
    inside = np.array([member.mask for member in members])
    known = np.array([member.slicing.codes >= 0 for member in members])
    unit_weights = units.sums(inside * turn_weights)
    limits = (0.0, 1.0) if shares else bounds

    by_row = []
    contrasts_by_row = contrasts_of(rows, turn_weights, inside, known, units, seed, draws)
    for row, contrasts in zip(rows, contrasts_by_row, strict=True):
        sums = units.sums(inside * row)
        if shares:
            estimates = share_estimates(sums, unit_weights, units.kind)
        else:
            estimates = mean_estimates(sums, unit_weights, units.kind, bounds)
        if limits is not None:
            largest = limits[1] - limits[0]
            contrasts = [_within(contrast, largest) for contrast in contrasts]
        by_row.append(_slices_of_row(members, turn_weights, estimates, contrasts))
    return by_row


def _slices_of_row(
    members: Sequence[_Member],
    turn_weights: Floats,
    estimates: Sequence[Estimate],
    contrasts: Sequence[RestContrast],
) -> list[Slice]:
    """Return the slices of a row with their estimates and contrasts, which are in the same order.

    ``turn_weights``: float64[T]. The number of comparisons is added to the contrasts.
    """
    comparisons = sum(
        member.is_counted and not math.isnan(contrast.p)
        for member, contrast in zip(members, contrasts, strict=True)
    )
    slices = []
    for member, estimate, contrast in zip(members, estimates, contrasts, strict=True):
        mask = member.mask
        slices.append(
            Slice(
                slicing=member.slicing.name,
                name=member.slicing.slices[member.code],
                turns=int(mask.sum()),
                weight=float(turn_weights[mask].sum()),
                estimate=estimate,
                contrast=replace(contrast, comparisons=comparisons),
            )
        )
    return slices


def _within(contrast: RestContrast, largest: float) -> RestContrast:
    """Return the contrast with its limits cut to the ``largest`` possible difference."""
    if math.isnan(contrast.low):
        return contrast
    return replace(contrast, low=max(contrast.low, -largest), high=min(contrast.high, largest))
