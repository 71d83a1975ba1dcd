"""Sign-flip test of a difference between two systems, by whole units, and the interval that inverts it.

If two systems were equal, the difference y_g of every unit g could equally have the opposite sign. p is the share of sign
patterns whose total is at least as far from 0 as the observed one. The same test of "the difference is θ", on y_g − θ n_g,
rejects at α exactly if too few subsets S of units have a ratio Σ_S y / Σ_S n up to θ. So the limits of the interval are the
m-th smallest and largest of these ratios, m = ⌊α 2^K / 2⌋ (Hartigan 1969, "Using subsample values as typical values"). p ≤ α
if and only if the interval excludes 0. Up to 16 units, all patterns are tried; beyond, ``draws`` random ones, the same for all
comparisons, and the observed one counts as one more (Phipson & Smyth 2010). If so few units differ that there is no interval,
all patterns of these units are tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Floats
from robustcs.statistics.estimate import (
    CONFIDENCE,
    LEAST_UNITS,
    Tested,
    carried_note,
    carried_share,
    joined,
    moving_note,
    sparse_note,
    units_note,
)

#: Largest number of units for which all sign patterns are tried.
EXACT_UNITS = 16
#: Number of random sign patterns for more units; with the observed one, a round number.
DRAWS = 99_999
#: Fewest units that differ for the mid-p; below, the test stays conservative.
MID_P_UNITS = 6
#: Numbers in memory at the same time, which limits memory to about 100 MB.
_CELLS = 8_000_000
#: Numbers that are processed together: few enough for the processor's cache.
_CACHED = 100_000
METHOD = "sign-flip test by unit and its inversion"
MID_METHOD = "sign-flip test by unit with mid-p and its inversion"


@dataclass(frozen=True)
class Subsets:
    """The subsets of ``units`` units whose signs are flipped: all except the empty one, or ``draws`` random ones."""

    units: int
    seed: int
    draws: int = DRAWS

    @property
    def exact(self) -> bool:
        """Whether all subsets are tried."""
        return self.units <= EXACT_UNITS

    @property
    def total(self) -> int:
        """Number of patterns, including the observed one; the denominator of p."""
        return 2**self.units if self.exact else self.draws + 1

    def blocks(self, size: int) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield the subsets, uint8[≤ size, K] of 0 and 1 each, independent of ``size``."""
        generator = np.random.default_rng(self.seed)
        size = max(
            32, size - size % 32
        )  # whole words of the generator, so that blocks of any size draw the same bits
        for start in range(0, self.total - 1, size):
            count = min(size, self.total - 1 - start)
            if self.exact:
                yield (
                    np.arange(start + 1, start + 1 + count)[:, None] >> np.arange(self.units) & 1
                ).astype(np.uint8)
            else:
                drawn = np.frombuffer(generator.bytes(-(-count * self.units // 8)), dtype=np.uint8)
                yield np.unpackbits(drawn, count=count * self.units).reshape(count, self.units)

    def sums(self, rows: Floats) -> Floats:
        """Return float64[R, total − 1]: the sums of ``rows`` [R, K] over every subset."""
        found, start = np.empty((len(rows), self.total - 1)), 0
        for block in self.blocks(_CACHED // max(1, self.units, len(rows) // 4)):
            np.matmul(rows, block.T.astype(np.float64), out=found[:, start : start + len(block)])
            start += len(block)
        return found


def paired_tests(
    sums: npt.ArrayLike,
    sizes: npt.ArrayLike,
    seed: int,
    noun: str = "conversation",
    mid_p: bool = False,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> tuple[Tested, ...]:
    """Return M paired differences Σy / Σn with interval and p, from ``sums`` y [M, K] and ``sizes`` n [K] or [M, K].

    For a difference, ``sizes`` are numbers of turns. For a drop relative to a baseline, they are the baseline's sums of scores
    (not negative), and the value is a fraction of the baseline's score; p is the same, because no drop is no difference. With
    ``mid_p``, patterns exactly as far as the observed one count half: McNemar's test for units, where y is the number of turns
    that only the first system answers minus those that only the second does. If a mid-p interval ends at 0, it excludes 0 if
    p ≤ α.

    No interval below six units, if few of them differ (:func:`~robustcs.statistics.estimate.sparse_note`), or if a limit is
    infinite. Seeded; all comparisons share their patterns.
    """
    tops = np.atleast_2d(np.asarray(sums, dtype=np.float64))
    counts = np.atleast_2d(np.asarray(sizes, dtype=np.float64))
    units = tops.shape[1]
    subsets = Subsets(units, seed, draws)
    shared = len(counts) == 1
    found: list[Tested] = []
    step = max(1, _CELLS // subsets.total)
    for start in range(0, len(tops), step):
        block = tops[start : start + step]
        own = counts if shared else counts[start : start + step]
        drawn, bottoms = np.split(subsets.sums(np.concatenate([block, own])), [len(block)])
        for row, top in enumerate(block):
            place = 0 if shared else row
            found.append(
                _one(
                    top,
                    drawn[row],
                    own[place],
                    bottoms[place],
                    subsets,
                    noun,
                    mid_p,
                    1 - confidence,
                )
            )
    return tuple(found)


def _one(
    top: Floats,
    drawn: Floats,
    sizes: Floats,
    bottom: Floats,
    subsets: Subsets,
    noun: str,
    mid_p: bool,
    alpha: float,
) -> Tested:
    """Return one comparison; ``drawn`` and ``bottom``: sums of y and n over the subsets (``drawn`` is overwritten)."""
    total, scale = float(sizes.sum()), float(np.abs(top).sum())
    # exact zeros may differ from 0 in their last bits
    tiny = 1e-12 * scale
    if not bottom.all():
        drawn[np.abs(drawn) <= tiny] = 0.0
    moving = int((np.abs(top) > tiny).sum())
    units = int(((sizes > 0) | (top != 0)).sum())
    half = mid_p and moving >= MID_P_UNITS
    method = MID_METHOD if half else METHOD
    value = float(top.sum()) / total if total else math.nan
    floor = max(2.0**-moving, 1 / subsets.total) * (1 if half else 2) if moving else 1.0
    floor = min(floor, 1.0)
    notes = joined(units_note(units, noun), moving_note(moving, units, floor, noun))
    if not moving:
        p = 1.0 if units else math.nan
        return Tested(0.0 if total else value, math.nan, math.nan, units, method, notes, p, floor)
    sparse = units < LEAST_UNITS or bool(sparse_note(moving, units, noun))
    if sparse and not subsets.exact:  # without an interval, p needs only the units that differ
        subsets = Subsets(moving, subsets.seed)
        drawn = subsets.sums(top[None, np.abs(top) > tiny])[0]
    at_most, at_least = np.count_nonzero(drawn <= tiny), np.count_nonzero(drawn >= -tiny)
    ties = (at_most + at_least - len(drawn)) / 2 + 0.5 if half else 0.0
    # random patterns may include slightly too few extreme ones
    p = min(1.0, max(floor, 2 * (1 + min(at_most, at_least) - ties) / subsets.total))
    low, high = math.nan, math.nan
    carried = carried_share(top - value * sizes) if total else math.nan
    if total > 0 and not sparse:
        place = math.floor(alpha * subsets.total / 2 + half / 2 + 1e-9)
        low, high = (0.0 if abs(one) <= tiny else one for one in limits(drawn, bottom, place))
        notes = joined(notes, carried_note(carried, units, noun))
        if math.isnan(low):
            notes = joined(
                "no interval: the limits are infinite" if place else f"no interval below 6 {noun}s",
                notes,
            )
    return Tested(value, low, high, units, method, notes, p, floor, subsets.exact, moving, carried)


def limits(tops: Floats, bottoms: Floats, place: int) -> tuple[float, float]:
    """Return the ``place``-th smallest and largest ratio; (nan, nan) if one is infinite or ``place`` is 0.

    ``tops`` is overwritten.
    """
    if place < 1:
        return math.nan, math.nan
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.divide(tops, bottoms, out=tops)
    # 0 / 0 counts as below and above every value, because such a subset does not change the total
    if not bottoms.all():
        ratios = ratios[~np.isnan(ratios)]
        place -= len(tops) - len(ratios)
        if place < 1:
            return math.nan, math.nan
    low, high = (
        float(np.partition(ratios, at)[at]) + 0.0 for at in (place - 1, len(ratios) - place)
    )
    return (low, high) if math.isfinite(low) and math.isfinite(high) else (math.nan, math.nan)
