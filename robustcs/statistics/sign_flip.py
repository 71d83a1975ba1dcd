"""Sign-flip test of a difference between two systems, and the interval that inverts it.

If two systems were equal, the difference y_g of every unit g could equally have the opposite sign.
p is the share of sign patterns whose total is at least as far from 0 as the observed one. The same
test of "the difference is θ", on y_g − θ n_g, rejects at α exactly if too few subsets S of units
have a ratio Σ_S y / Σ_S n up to θ. So the limits of the interval are the m-th smallest and largest
of these ratios, m = ⌊α 2^K / 2⌋ (Hartigan 1969, "Using subsample values as typical values"). p ≤ α
if and only if the interval excludes 0. Up to 16 units, all patterns are tried; beyond, ``draws``
random ones, the same for all comparisons, and the observed one counts as one more (Phipson & Smyth
2010). If so few units differ that there is no interval, all patterns of these units are tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

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
#: Random bits per word of the generator: blocks of whole words draw the same bits in any size.
_WORD_BITS = 32
#: Sums below this share of the sum of sizes are only rounding.
_ROUNDING = 1e-12
SIGN_FLIP_METHOD = "sign-flip test by unit and its inversion"
MID_METHOD = "sign-flip test by unit with mid-p and its inversion"


@dataclass(frozen=True)
class Subsets:
    """The subsets of ``units`` units whose signs are flipped.

    All except the empty one up to :data:`EXACT_UNITS` units, else ``draws`` random ones.
    """

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
        """Yield the subsets, uint8[≤ size, K] of 0 and 1 each, independent of ``size``.

        A block has at least 32 subsets, except the last.
        """
        generator = np.random.default_rng(self.seed)
        size = max(_WORD_BITS, size - size % _WORD_BITS)
        for start in range(0, self.total - 1, size):
            count = min(size, self.total - 1 - start)
            if self.exact:
                # the bits of 1, 2, … are the subsets
                numbers = np.arange(start + 1, start + 1 + count)
                yield (numbers[:, None] >> np.arange(self.units) & 1).astype(np.uint8)
            else:
                bits = count * self.units
                random_bytes = generator.bytes(math.ceil(bits / 8))
                drawn = np.frombuffer(random_bytes, dtype=np.uint8)
                yield np.unpackbits(drawn, count=bits).reshape(count, self.units)

    def sums(self, rows: Floats) -> Floats:
        """Return float64[R, total − 1]: the sums of ``rows`` [R, K] over every subset."""
        sums = np.empty((len(rows), self.total - 1))
        start = 0
        for block in self.blocks(_CACHED // max(1, self.units, len(rows) // 4)):
            end = start + len(block)
            np.matmul(rows, block.T.astype(np.float64), out=sums[:, start:end])
            start = end
        return sums


class _Difference(NamedTuple):
    """One difference: y and n of its K units, and their sums over every subset of units.

    ``subset_sums`` is overwritten.
    """

    sums: Floats
    sizes: Floats
    subset_sums: Floats
    subset_sizes: Floats


def paired_tests(
    sums: npt.ArrayLike,
    sizes: npt.ArrayLike,
    seed: int,
    noun: str = "conversation",
    mid_p: bool = False,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> tuple[Tested, ...]:
    """Return M paired differences Σy / Σn with interval and p.

    ``sums``: y [M, K]. ``sizes``: n [K] or [M, K]. For a difference, these are numbers of turns.
    For a drop relative to a baseline, they are the baseline's sums of scores (not negative), and
    the value is a fraction of the baseline's score; p is the same, because no drop is no
    difference. With ``mid_p``, patterns exactly as far as the observed one count half: McNemar's
    test for units, where y is the number of turns that only the first system answers minus those
    that only the second does. If a mid-p interval ends at 0, it excludes 0 if p ≤ α.

    No interval below six units, if few of them differ
    (:func:`~robustcs.statistics.estimate.sparse_note`), or if a limit is infinite. Seeded; all
    comparisons share their patterns.
    """
    table = np.atleast_2d(np.asarray(sums, dtype=np.float64))
    counts = np.atleast_2d(np.asarray(sizes, dtype=np.float64))
    subsets = Subsets(table.shape[1], seed, draws)
    same_sizes = len(counts) == 1
    tests: list[Tested] = []
    step = max(1, _CELLS // subsets.total)
    for start in range(0, len(table), step):
        block = table[start : start + step]
        block_sizes = counts if same_sizes else counts[start : start + step]
        over_subsets = subsets.sums(np.concatenate([block, block_sizes]))
        subset_sums, subset_sizes = np.split(over_subsets, [len(block)])
        for row in range(len(block)):
            size_row = 0 if same_sizes else row
            difference = _Difference(
                block[row], block_sizes[size_row], subset_sums[row], subset_sizes[size_row]
            )
            tests.append(_tested(difference, subsets, noun, mid_p, 1 - confidence))
    return tuple(tests)


def _tested(
    difference: _Difference, subsets: Subsets, noun: str, mid_p: bool, alpha: float
) -> Tested:
    """Return one difference with its interval and p; see :func:`paired_tests`."""
    sums, sizes, subset_sums, subset_sizes = difference
    total = float(sizes.sum())
    rounding = _ROUNDING * float(np.abs(sums).sum())
    if not subset_sizes.all():
        # exact zeros may differ from 0 in their last bits, and would make infinite ratios
        subset_sums[np.abs(subset_sums) <= rounding] = 0.0
    moves = np.abs(sums) > rounding
    moving = int(moves.sum())
    units = int(((sizes > 0) | (sums != 0)).sum())
    halve_ties = mid_p and moving >= MID_P_UNITS
    method = MID_METHOD if halve_ties else SIGN_FLIP_METHOD
    floor = _smallest_p(moving, subsets.total, halve_ties)
    notes = joined(units_note(units, noun), moving_note(moving, units, floor, noun))
    if not moving:
        value, p = (0.0 if total else math.nan), (1.0 if units else math.nan)
        return Tested(value, math.nan, math.nan, units, method, notes, p, floor)

    value = float(sums.sum()) / total if total else math.nan
    low, high, carried = math.nan, math.nan, math.nan
    if total:
        carried = carried_share(sums - value * sizes)
    sparse = units < LEAST_UNITS or bool(sparse_note(moving, units, noun))
    if sparse and not subsets.exact:  # without an interval, p needs only the units that differ
        subsets = Subsets(moving, subsets.seed)
        (subset_sums,) = subsets.sums(sums[None, moves])
    # random patterns may include slightly too few extreme ones
    p = max(floor, _p_value(subset_sums, subsets.total, rounding, halve_ties))
    if total > 0 and not sparse:
        place = math.floor(alpha * subsets.total / 2 + (0.5 if halve_ties else 0.0) + 1e-9)
        low, high = limits(subset_sums, subset_sizes, place)
        low = 0.0 if abs(low) <= rounding else low
        high = 0.0 if abs(high) <= rounding else high
        notes = joined(notes, carried_note(carried, units, noun))
        if math.isnan(low):
            why = f"no interval below 6 {noun}s"
            if place:
                why = "no interval: the limits are infinite"
            notes = joined(why, notes)
    return Tested(
        value,
        low,
        high,
        units,
        method,
        notes,
        p=min(1.0, p),
        floor=floor,
        exact=subsets.exact,
        moving=moving,
        carried=carried,
    )


def _smallest_p(moving: int, patterns: int, halve_ties: bool) -> float:
    """Return the smallest p that a test with ``moving`` units that differ can give."""
    if not moving:
        return 1.0
    one_side = max(2.0**-moving, 1 / patterns)
    return min(1.0, one_side if halve_ties else 2 * one_side)


def _p_value(subset_sums: Floats, patterns: int, rounding: float, halve_ties: bool) -> float:
    """Return the two-sided p, possibly above 1, from the sums over the flipped subsets.

    A pattern is as far as the observed one on a side if the sum that it flips has the other sign.
    """
    at_most = np.count_nonzero(subset_sums <= rounding)
    at_least = np.count_nonzero(subset_sums >= -rounding)
    ties = 0.0
    if halve_ties:
        # a tie is on both sides; the observed pattern is one more
        ties = (at_most + at_least - len(subset_sums)) / 2 + 0.5
    return float(2 * (1 + min(at_most, at_least) - ties) / patterns)


def limits(tops: Floats, bottoms: Floats, place: int) -> tuple[float, float]:
    """Return the ``place``-th smallest and largest of the ratios ``tops`` / ``bottoms``.

    (nan, nan) if one is infinite or ``place`` is 0. ``tops`` is overwritten.
    """
    none = math.nan, math.nan
    if place < 1:
        return none
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.divide(tops, bottoms, out=tops)
    # 0 / 0 counts as below and above every value, because such a subset does not change the total
    if not bottoms.all():
        ratios = ratios[~np.isnan(ratios)]
        place -= len(tops) - len(ratios)
        if place < 1:
            return none
    lower, upper = place - 1, len(ratios) - place
    # adding 0 turns −0.0 into 0.0
    low = float(np.partition(ratios, lower)[lower]) + 0.0
    high = float(np.partition(ratios, upper)[upper]) + 0.0
    return (low, high) if math.isfinite(low) and math.isfinite(high) else none
