"""The difference between a slice and the other turns, with its interval and p.

A slice and the rest may contain turns of the same conversations, of different ones, or of both, so
their difference is neither paired nor between independent groups. Its standard error is a jackknife
over whole conversations, which is valid in all three cases. The distribution of its t comes from
:func:`~robustcs.slicing.rearrangement.rearranged` scores, because slices of few turns do not follow
Student's t. Interval and p come from the same draws (a permutation test of a studentised statistic:
Janssen 1997), so they never contradict each other. The slices of the same scores are one family,
adjusted by step-down max-T over these draws. docs/slices.md reports the coverage and the error
rates.

Shapes: R rows of values, M slices, T turns, K units, and B draws. The first of two sides is the
slice, the second the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robustcs.slicing.rearrangement import BLOCK, rearranged
from robustcs.statistics import Codes, Floats, Mask
from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, STABLE_UNITS, units_note
from robustcs.statistics.units import Units

#: Draws per p-value, without the observed one.
DRAWS = 1_999
#: Least number of draws, if there are many slices and units.
_FEWEST_DRAWS = 999
#: Number of slices × units × draws from which there are fewer draws.
_WORK = 200_000_000
#: Number of rearranged scores in memory.
_CELLS = 4_000_000
#: Numbers that are processed together: few enough for the processor's cache.
_CACHED = 100_000
#: Decimals of the limits of a difference. Processors add matrices in different orders; the error of
#: the draws is a million times larger.
_DECIMALS = 10
#: Quantile of |t| by which slices are made comparable.
_RARE = 0.99
#: A difference up to the first is that of equal means, and a t that is smaller by up to the second
#: is as large: both differ by rounding.
_ROUNDING, _T_ROUNDING = 1e-12, 1e-9
#: Rounding error of a sum of squares: as a share of its terms, and of the largest square of a
#: value.
_RELATIVE_ROUNDING, _SQUARE_ROUNDING = 1e-13, 1e-20


@dataclass(frozen=True)
class RestContrast:
    """The comparison of a slice with the rest: slice − rest, with interval and p.

    rest
        The mean of the other turns for which the property is known; NaN if there are none.
    difference
        Mean of the slice − ``rest``.
    low, high
        Limits of its 95% interval; NaN if there is none (``note`` states why).
    p
        Two-sided.
    p_corrected, comparisons
        p adjusted by max-T over the slices of the same scores, and the number of these comparisons.
        If two slices are each other's rest, they are one comparison.
    note
        Caveat of the difference; empty if there is none.
    """

    rest: float
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    comparisons: int
    note: str


def contrasts_of(
    rows: Floats,
    weights: Floats,
    inside: Mask,
    known: Mask,
    units: Units,
    seed: int,
    draws: int = DRAWS,
) -> list[list[RestContrast]]:
    """Compare M slices with the other turns in each of R rows, by row; ``comparisons`` are 0.

    rows, weights
        float64[R, T] and [T]: a mean is Σ values / Σ weights.
    inside, known
        bool[M, T]: the turns of a slice, and those for which the property is known.
    draws
        Largest number of rearrangements.
    """
    sides = np.array([inside, known & ~inside])
    sizes = np.array([units.sums(side * weights) for side in sides])
    units_by_side = (sizes > 0).sum(axis=2)
    tests = _tests_of(rows, weights, sides, sizes, units, seed, draws)
    by_row = []
    for row, values in enumerate(rows):
        with np.errstate(invalid="ignore", divide="ignore"):
            means, rest = ((side @ values) / (side @ weights) for side in sides)
        contrasts = []
        for place, difference in enumerate((means - rest).tolist()):
            error, limit = float(tests.error[row, place]), float(tests.limit[row, place])
            contrasts.append(
                RestContrast(
                    rest=float(rest[place]),
                    difference=difference,
                    low=round(difference - limit * error, _DECIMALS),
                    high=round(difference + limit * error, _DECIMALS),
                    p=float(tests.p[row, place]),
                    p_corrected=float(tests.adjusted[row, place]),
                    comparisons=0,
                    note=_note(units_by_side[:, place], error, limit, units.kind),
                )
            )
        by_row.append(contrasts)
    return by_row


class _SliceTests(NamedTuple):
    """Tests of the differences of M slices in R rows, float64[R, M] each; NaN if there is none.

    error
        Standard error of the difference.
    limit
        Critical |t| at .05.
    p, adjusted
        p of no difference, and the same adjusted for all slices of the row.
    """

    error: Floats
    limit: Floats
    p: Floats
    adjusted: Floats


def _tests_of(
    rows: Floats,
    weights: Floats,
    sides: Mask,
    sizes: Floats,
    units: Units,
    seed: int,
    draws: int,
) -> _SliceTests:
    """Test the slices with enough units on both sides.

    ``sides``: bool[2, M, T]. ``sizes``: float64[2, M, K], their weights by unit.
    """
    tests = _SliceTests(*np.full((4, len(rows), sides.shape[1]), math.nan))
    enough_units = ((sizes > 0).sum(axis=2) >= LEAST_UNITS).all(axis=0)
    tested = np.flatnonzero(enough_units)
    if not len(tested):
        return tests
    # slices of the same turns, or each other's rest, have the same |t| and are tested once
    turns = [_same_in_both_orders(sides[:, place]) for place in tested]
    _, first, representative = np.unique(turns, return_index=True, return_inverse=True)
    once = tested[first]
    jackknife = _Jackknife(sizes[:, once], sides[:, once], units)
    affordable = _WORK // (len(tested) * units.count)
    draws = int(np.clip(affordable, min(_FEWEST_DRAWS, draws), draws))
    # without the overall mean, turns with a larger weight do not differ merely by their weight
    centred = np.array([row - weights * (row.sum() / weights.sum()) for row in rows])
    for of_all, of_tested in zip(tests, jackknife.test(centred, seed, draws), strict=True):
        of_all[:, tested] = of_tested[:, representative]
    return tests


def _same_in_both_orders(sides: Mask) -> bytes:
    """Return a key of a slice, bool[2, T], that is the same if slice and rest are exchanged."""
    return b"".join(sorted(side.tobytes() for side in sides))


class _Jackknife:
    """Studentised differences of M slices.

    ``slice`` and ``rest`` are sums of values over the two sides. Without the turns of unit k, the
    weight of the other turns grows from 1 / Σ to 1 / (Σ − size). So the difference slice / Σ₀ −
    rest / Σ₁ changes by slice · grown₀ₖ − rest · grown₁ₖ − lostₖ, where lostₖ is what the values of
    the unit contributed.
    """

    def __init__(self, sizes: Floats, sides: Mask, units: Units) -> None:
        """``sizes``: float64[2, M, K], weights by side and unit; ``sides``: bool[2, M, T]."""
        self.units = units
        #: [2, M, 1]: weight of each side.
        self.whole = sizes.sum(axis=2)[..., None]
        #: [M, 1]: number of units with turns of either side.
        self.count = (sizes > 0).any(axis=0).sum(axis=1)[:, None]
        weight_without = 1 / (self.whole - sizes)
        grown = weight_without - 1 / self.whole
        #: [2, M, 1]: Σₖ grown of each side. [2, 2, M, 1]: Σₖ of their products.
        self.grown = grown.sum(axis=2)[..., None]
        self.products = np.einsum("imk,jmk->ijm", grown, grown)[..., None]
        # [M, T]: factors of the values in lost
        lost = np.subtract(*(sides * weight_without[:, :, units.codes]))
        # [5M, T]: factors of the values in the sums that difference() needs
        terms = np.concatenate([lost, *sides, *(lost * grown[:, :, units.codes])])
        self.by_length = _units_by_length(terms, units)

    def difference(self, values: Floats) -> tuple[Floats, Floats]:
        """Return difference and standard error of ``values`` [T, B], float64[M, B].

        The standard error is NaN without variation. The sum of squares of the changes (see the
        class) is expanded, so that no array has all units and draws.
        """
        slices, draws = len(self.count), values.shape[1]
        sums, squares = np.zeros((5 * slices, draws)), np.zeros((slices, draws))
        step = max(1, _CACHED // squares.size)
        for turns, terms in self.by_length:
            for start in range(0, len(turns), step):
                part = slice(start, start + step)
                values_of_units = values[turns[part]]
                by_turn = terms[part].reshape(-1, len(sums))
                sums += by_turn.T @ values_of_units.reshape(-1, draws)
                lost_by_unit = terms[part, :, :slices].swapaxes(1, 2) @ values_of_units
                squares += np.einsum("umb,umb->mb", lost_by_unit, lost_by_unit)
        lost, slice_, rest, lost_grown, lost_grown_rest = sums.reshape(5, slices, draws)

        squares += slice_**2 * self.products[0, 0] + rest**2 * self.products[1, 1]
        rounding = _RELATIVE_ROUNDING * squares
        squares -= 2 * (
            slice_ * lost_grown - rest * lost_grown_rest + slice_ * rest * self.products[0, 1]
        )
        # around the mean of the changes
        squares -= (slice_ * self.grown[0] - rest * self.grown[1] - lost) ** 2 / self.count

        largest_square = max(1.0, values.max() ** 2, values.min() ** 2)
        varies = squares > np.maximum(rounding, _SQUARE_ROUNDING * largest_square)
        variance = squares * (self.count - 1) / self.count
        error = np.sqrt(np.where(varies, variance, np.nan))
        return slice_ / self.whole[0] - rest / self.whole[1], error

    def test(self, rows: Floats, seed: int, draws: int) -> _SliceTests:
        """Return the tests of the slices of ``rows`` [R, T], some rows at a time."""
        step = max(1, _CELLS // (BLOCK * rows.shape[1]))
        parts = [
            self._test(rows[start : start + step], seed, draws)
            for start in range(0, len(rows), step)
        ]
        return _SliceTests(
            error=np.concatenate([part.error for part in parts]),
            limit=np.concatenate([part.limit for part in parts]),
            p=np.concatenate([part.p for part in parts]),
            adjusted=np.concatenate([part.adjusted for part in parts]),
        )

    def _test(self, rows: Floats, seed: int, draws: int) -> _SliceTests:
        """Return the tests of ``rows`` [R, T], all at once."""
        drawn = self._drawn(rows, seed, draws)
        # an observed |t|, which is one of the draws, has p ≤ .05 above this one
        rejected = math.floor((1 - CONFIDENCE) * (draws + 1) + _T_ROUNDING)
        limit = np.partition(drawn, draws - rejected, axis=1)[:, draws - rejected]
        error, p, adjusted = np.full((3, len(rows), len(self.count)), np.nan)
        for row, values in enumerate(rows):
            differences, errors = self.difference(values[:, None])
            error[row] = errors[:, 0]
            varies = np.flatnonzero(~np.isnan(error[row]))
            reached = np.abs(differences[varies, 0]) / error[row, varies]
            p[row, varies] = _shares(drawn[row][:, varies], reached)
            adjusted[row, varies] = _stepped(drawn[row][:, varies], reached)
        return _SliceTests(error, np.where(np.isfinite(limit), limit, np.nan), p, adjusted)

    def _drawn(self, rows: Floats, seed: int, draws: int) -> Floats:
        """Return float64[R, draws, M]: |t| of rearranged ``rows`` [R, T]."""
        drawn = np.empty((len(rows), draws, len(self.count)))
        done = 0
        for block in rearranged(rows, self.units, seed, draws):
            count = block.shape[1]
            differences, errors = self.difference(block.T.reshape(block.shape[2], -1))
            # without a standard error, any difference counts as infinitely large
            without_error = np.where(np.abs(differences) > _ROUNDING, np.inf, 0.0)
            statistics = np.where(np.isnan(errors), without_error, np.abs(differences) / errors)
            drawn[:, done : done + count] = statistics.reshape(-1, count, len(rows)).T
            done += count
        return drawn


class _UnitsOfLength(NamedTuple):
    """U units of n turns each, which are computed together.

    turns
        int64[U, n].
    terms
        float64[U, n, 5M]: the factors of the values of these turns.
    """

    turns: Codes
    terms: Floats


def _units_by_length(terms: Floats, units: Units) -> list[_UnitsOfLength]:
    """Return ``terms`` [5M, T] by the number of turns of the units."""
    order = np.argsort(units.codes, kind="stable")
    ends = np.cumsum(units.sizes)
    by_length = []
    for length in np.unique(units.sizes):
        ends_of_these = ends[units.sizes == length, None]
        places = (ends_of_these - np.arange(length, 0, -1)).astype(np.int64)
        turns = order[places]
        by_length.append(_UnitsOfLength(turns, np.ascontiguousarray(terms.T[turns])))
    return by_length


def _shares(drawn: Floats, reached: Floats) -> Floats:
    """Return the p of ``reached`` [M]: the share of ``drawn`` [B, M] that is at least as large.

    The observed one is one of the draws.
    """
    as_large = (drawn >= reached - _T_ROUNDING).sum(axis=0)
    return np.asarray((1 + as_large) / (len(drawn) + 1))


def _stepped(drawn: Floats, reached: Floats) -> Floats:
    """Return the step-down max-T p of ``reached`` [M].

    Each t is divided by its 99th percentile in ``drawn`` [B, M], because slices of few turns have
    such long tails that they would otherwise determine all maxima. The observed t is one of the
    draws.
    """
    scale = np.quantile(np.vstack([drawn, reached]), _RARE, axis=0, method="higher")
    scale[~(np.isfinite(scale) & (scale > 0))] = 1.0
    scaled, scaled_reached = drawn / scale, reached / scale
    # the smallest first, so that the running maximum covers all slices not yet rejected
    order = np.argsort(scaled_reached, kind="stable")
    largest = np.maximum.accumulate(scaled[:, order], axis=1)
    shares = _shares(largest, scaled_reached[order])
    # a slice cannot be rejected before those with a larger t
    stepped = np.empty_like(reached)
    stepped[order] = np.maximum.accumulate(shares[::-1])[::-1]
    return stepped


def _note(units_by_side: Sequence[int] | Codes, error: float, limit: float, noun: str) -> str:
    """Return the caveat of a difference.

    Too few units of the slice are reported with its own interval. ``units_by_side``: those of the
    slice and of the rest; ``noun``: the name of a unit.
    """
    of_slice, of_rest = (int(units) for units in units_by_side)
    if of_slice < LEAST_UNITS or not of_rest:
        return ""
    if of_rest < LEAST_UNITS or of_rest < STABLE_UNITS <= of_slice:
        return f"{units_note(of_rest, noun)} in the rest"
    if math.isnan(error):
        return f"no interval of the difference: all {noun}s are alike"
    if math.isnan(limit):
        return "no interval of the difference: the limits are infinite"
    return ""
