"""Estimates of every slice: its mean or share, and the difference from the other turns.

A slice and the rest may contain turns of the same conversations, of different ones, or of both, so their difference is neither
paired nor between independent groups. Its standard error is a jackknife over whole conversations, which is valid in all three
cases. The distribution of its t comes from :func:`rearranged` scores, because slices of few turns do not follow Student's t.
Interval and p come from the same draws (a permutation test of a studentised statistic: Janssen 1997), so they never contradict
each other. The slices of the same scores are one family, adjusted by step-down max-T over these draws. docs/slices.md reports
the coverage and the error rates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robustcs.result import Field, count, difference, number, p_value, text
from robustcs.slicing.table import Slicing
from robustcs.statistics import Codes, Floats, Mask, places_within
from robustcs.statistics.estimate import (
    CONFIDENCE,
    LEAST_UNITS,
    STABLE_UNITS,
    Estimate,
    joined,
    units_note,
)
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.units import Units

#: Draws per block: constant, so that every caller gets the same draws.
BLOCK = 32


def rearranged(
    table: Floats, units: Units, seed: int, draws: int, levels: bool = False
) -> Iterator[Floats]:
    """Yield ``draws`` rearrangements of the rows of ``table`` [M, T] in blocks, float64[M, ≤ BLOCK, T]; the same for every row.

    Units exchange their scores, rotated at random. With ``levels``, each unit keeps its own rotated scores and units exchange
    only their means.
    """
    generator = np.random.default_rng(seed)
    order = np.argsort(units.codes, kind="stable")
    # by turn first: scores of a turn are taken together
    by_unit, means = np.ascontiguousarray(table[:, order].T), (units.sums(table) / units.sizes).T
    sizes = units.sizes.astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    codes, own = units.codes, np.arange(units.count)
    place = np.empty((len(codes), 1), dtype=np.int64)
    place[order, 0] = places_within(sizes)
    for start in range(0, draws, BLOCK):
        number = min(BLOCK, draws - start)
        source = generator.permuted(np.tile(own, (number, 1)), axis=1).T
        taken = np.tile(own[:, None], number) if levels else source
        lengths = sizes[taken]
        first = (generator.random((number, units.count)).T * lengths).astype(np.int64)
        scores = np.take(
            by_unit, starts[taken][codes] + (place + first[codes]) % lengths[codes], axis=0
        )
        if levels:
            scores += (means[source] - means[taken])[codes]
        yield scores.transpose(2, 1, 0)


#: Draws per p-value, without the observed one; fewer if there are many units.
DRAWS = 1_999
_FEWEST_DRAWS = 999
_WORK = 200_000_000
#: Number of rearranged scores in memory.
_CELLS = 4_000_000
#: Numbers that are processed together: few enough for the processor's cache.
_CACHED = 100_000


@dataclass(frozen=True)
class Contrast:
    """The comparison of a slice with the rest: the difference of their means, slice − rest, with interval and p.

    rest
        The mean of the other turns for which the property is known; NaN if there are none.
    p_corrected, comparisons
        p adjusted by max-T over the slices of the same scores, and the number of these comparisons. If two slices are each
        other's rest, they are one comparison.
    """

    rest: float
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    comparisons: int
    note: str


@dataclass(frozen=True)
class Slice:
    """One slice of one row of values.

    turns, weight
        Number of turns, and the divisor of the values: the turns or another weight.
    own
        Its mean or share with an interval.
    """

    slicing: str
    name: str
    turns: int
    weight: float
    own: Estimate
    contrast: Contrast


def keys(says: str = "") -> tuple[Field, ...]:
    """Return the columns that identify a slice."""
    what = "first, depth, conversation, pronoun, ellipsis, length, shift, name, name in rewrite, or a column of your file"
    return text("slicing", joined(what, says)), text("slice"), count("turns", "turns of the slice")


def against_rest(of: str) -> tuple[Field, ...]:
    """Return the columns of :func:`cells`; ``of``: the estimate that is compared, such as ``share``."""
    return (
        number("rest", f"{of} of the other turns for which this property is known"),
        difference("difference", f"{of} − rest"),
        number("difference_low", "95% CI, from the same test as p; null for fewer than five units on either side (see note)"),
        number("difference_high"), p_value(says="two-sided: permutation of the scores of whole units"),
        p_value("p_corrected", "adjusted by max-T over all slices of the same scores", "p adj."),
        count("comparisons", "number of these slices; two that are each other's rest are one comparison"),
        count("units", "conversations (or single turns) with such a turn"),
        text("note", "caveats"),
    )  # fmt: skip


def cells(one: Slice) -> tuple[object, ...]:
    """Return the values of the columns of :func:`against_rest`."""
    found = one.contrast
    return (
        found.rest, found.difference, found.low, found.high, found.p, found.p_corrected, found.comparisons, one.own.units,
        joined(one.own.note, found.note),
    )  # fmt: skip


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
    """Estimate every slice of every slicing, in the given order, for each row of ``values`` [R, T]; rows share their draws.

    shares
        Whether the values are hits, from 0 to the weight of the turn; the intervals are then those of shares.
    bounds
        Lowest and highest possible value of means.
    weights
        float[T]: weight of each turn (default: 1). A mean is Σ values / Σ weights.
    draws
        Largest number of rearrangements per p-value.
    """
    rows = np.asarray(values, dtype=np.float64)
    bottoms = np.ones(rows.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    named = [(one, place) for one in slicings for place in range(len(one.slices))]
    if not named:
        return [[] for _ in rows]
    inside = np.array([one.codes == place for one, place in named])
    known = np.array([one.codes >= 0 for one, _ in named])
    sizes = units.sums(inside * bottoms)
    # two slices that are each other's rest are one comparison
    once = [place == 0 or len(one.slices) != 2 for one, place in named]
    ends = (0.0, 1.0) if shares else bounds
    found = []
    for tops, contrasts in zip(
        rows, contrasts_of(rows, bottoms, inside, known, units, seed, draws), strict=True
    ):
        sums = units.sums(inside * tops)
        own = (
            share_estimates(sums, sizes, units.kind)
            if shares
            else mean_estimates(sums, sizes, units.kind, bounds)
        )
        cut = [_within(one, ends[1] - ends[0]) for one in contrasts] if ends else contrasts
        comparisons = sum(
            first and not math.isnan(one.p) for first, one in zip(once, cut, strict=True)
        )
        found.append([
            Slice(
                one.name, one.slices[place], int(mask.sum()), float(bottoms[mask].sum()), estimate,
                replace(contrast, comparisons=comparisons),
            )
            for (one, place), mask, estimate, contrast in zip(named, inside, own, cut, strict=True)
        ])  # fmt: skip
    return found


def contrasts_of(
    rows: Floats,
    bottoms: Floats,
    inside: Mask,
    known: Mask,
    units: Units,
    seed: int,
    draws: int = DRAWS,
) -> list[list[Contrast]]:
    """Compare, in each of ``rows`` [R, T], M slices ``inside`` [M, T] with the other turns of ``known`` [M, T]."""
    sides = inside, known & ~inside
    sizes = np.array([units.sums(side * bottoms) for side in sides])  # [2, M, K]
    there = (sizes > 0).sum(axis=2)
    tested = np.flatnonzero((there >= LEAST_UNITS).all(axis=0))
    spread, limit, p, adjusted = (np.full((len(rows), len(inside)), math.nan) for _ in range(4))
    if len(tested):
        # slices of the same turns, or each other's rest, have the same |t|
        turns = [b"".join(sorted(side[place].tobytes() for side in sides)) for place in tested]
        _, first, like = np.unique(turns, return_index=True, return_inverse=True)
        once = tested[first]
        jackknife = _Jackknife(sizes[:, once], np.array([side[once] for side in sides]), units)
        draws = int(np.clip(_WORK // (len(tested) * units.count), min(_FEWEST_DRAWS, draws), draws))
        # without the overall mean, turns with a larger weight do not differ merely by their weight
        rest = np.array([tops - bottoms * (tops.sum() / bottoms.sum()) for tops in rows])
        for out, made in zip(
            (spread, limit, p, adjusted), jackknife.test(rest, seed, draws), strict=True
        ):
            out[:, tested] = made[:, like]
    found = []
    for row, tops in enumerate(rows):
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.array([(side @ tops) / (side @ bottoms) for side in sides])
        half = limit[row] * spread[row]
        contrasts = []
        for place, value in enumerate((means[0] - means[1]).tolist()):
            note = _note(
                there[:, place], float(spread[row, place]), float(limit[row, place]), units.kind
            )
            # processors add matrices in different orders; the error of the draws is a million times larger
            low, high = round(value - float(half[place]), 10), round(value + float(half[place]), 10)
            own = float(p[row, place]), float(adjusted[row, place])
            contrasts.append(Contrast(float(means[1, place]), value, low, high, *own, 0, note))
        found.append(contrasts)
    return found


def _within(one: Contrast, most: float) -> Contrast:
    """Return the contrast with its limits cut to possible differences; NaN stays NaN."""
    return (
        replace(one, low=max(one.low, -most), high=min(one.high, most))
        if one.low == one.low
        else one
    )


class _Jackknife:
    """Studentised differences of M slices; ``sizes`` [2, M, K]: slice and rest by unit, ``sides``: bool[2, M, T]."""

    def __init__(self, sizes: Floats, sides: Mask, units: Units):
        self.units = units
        self.whole = sizes.sum(axis=2)[..., None]
        self.count = (sizes > 0).any(axis=0).sum(axis=1)[:, None]
        left = 1 / (self.whole - sizes)
        # if a unit is left out, the weight of all other turns grows [2, M, K], and its own turns lose their weights [M, T]
        grown = left - 1 / self.whole
        self.grown, self.products = (
            grown.sum(axis=2)[..., None],
            np.einsum("imk,jmk->ijm", grown, grown)[..., None],
        )
        lost = np.subtract(*(sides * left[:, :, units.codes]))
        terms = np.concatenate([lost, *sides, *(lost * grown[:, :, units.codes])])
        order = np.argsort(units.codes, kind="stable")
        ends = np.cumsum(units.sizes)
        # the units of each length: turns [U, n] and terms [U, n, 5M]
        self.groups = []
        for length in np.unique(units.sizes):
            turns = order[
                (ends[units.sizes == length, None] - np.arange(length, 0, -1)).astype(np.int64)
            ]
            self.groups.append((turns, np.ascontiguousarray(terms.T[turns])))

    def difference(self, values: Floats) -> tuple[Floats, Floats]:
        """Return difference and standard error of ``values`` [T, B], float64[M, B] each; NaN without variation.

        Without unit k, the difference is larger by slice · grown₀ₖ − rest · grown₁ₖ − lostₖ. The sum of squares is expanded.
        """
        slices, draws = len(self.count), values.shape[1]
        sums, squares = np.zeros((5 * slices, draws)), np.zeros((slices, draws))
        step = max(1, _CACHED // squares.size)
        for turns, terms in self.groups:
            for some in (slice(start, start + step) for start in range(0, len(turns), step)):
                own = values[turns[some]]
                sums += terms[some].reshape(-1, len(sums)).T @ own.reshape(-1, draws)
                by_unit = terms[some, :, :slices].swapaxes(1, 2) @ own
                squares += np.einsum("umb,umb->mb", by_unit, by_unit)
        lost, slice_, rest, *crossed = sums.reshape(5, slices, draws)
        squares += slice_**2 * self.products[0, 0] + rest**2 * self.products[1, 1]
        rounding = 1e-13 * squares
        squares -= 2 * (
            slice_ * crossed[0] - rest * crossed[1] + slice_ * rest * self.products[0, 1]
        )
        squares -= (slice_ * self.grown[0] - rest * self.grown[1] - lost) ** 2 / self.count
        scale = np.maximum(rounding, 1e-20 * max(1.0, values.max() ** 2, values.min() ** 2))
        error = np.sqrt(np.where(squares > scale, squares * (self.count - 1) / self.count, np.nan))
        return slice_ / self.whole[0] - rest / self.whole[1], error

    def test(self, rows: Floats, seed: int, draws: int) -> list[Floats]:
        """Return standard error, critical t at .05, p and adjusted p of the slices of ``rows`` [R, T], [R, M] each."""
        step = max(1, _CELLS // (BLOCK * rows.shape[1]))
        parts = [
            self._test(rows[start : start + step], seed, draws)
            for start in range(0, len(rows), step)
        ]
        return [np.concatenate(some) for some in zip(*parts, strict=True)]

    def _test(self, rows: Floats, seed: int, draws: int) -> tuple[Floats, ...]:
        drawn = np.empty((len(rows), draws, len(self.count)))
        done = 0
        for block in rearranged(rows, self.units, seed, draws):
            differences, errors = self.difference(block.T.reshape(block.shape[2], -1))
            # without a standard error, any difference counts as infinitely large
            without = np.where(np.abs(differences) > 1e-12, np.inf, 0.0)
            t = np.where(np.isnan(errors), without, np.abs(differences) / errors)
            drawn[:, done : done + block.shape[1]] = t.reshape(-1, *block.shape[1::-1]).T
            done += block.shape[1]
        place = draws - math.floor((1 - CONFIDENCE) * (draws + 1) + 1e-9)
        limit = np.partition(drawn, place, axis=1)[:, place]
        errors, p, adjusted = np.full((3, len(rows), len(self.count)), np.nan)
        for row, values in enumerate(rows):
            observed, errors[row] = (one[:, 0] for one in self.difference(values[:, None]))
            known = np.flatnonzero(~np.isnan(errors[row]))
            reached = np.abs(observed[known]) / errors[row, known]
            p[row, known] = _shares(drawn[row][:, known], reached)
            adjusted[row, known] = _stepped(drawn[row][:, known], reached)
        return errors, np.where(np.isfinite(limit), limit, np.nan), p, adjusted


def _shares(drawn: Floats, reached: Floats) -> Floats:
    """Return the p of ``reached`` [M]: the share of ``drawn`` [B, M] that is at least as large, including the observed one."""
    return np.asarray((1 + (drawn >= reached - 1e-9).sum(axis=0)) / (len(drawn) + 1))


def _stepped(drawn: Floats, reached: Floats) -> Floats:
    """Return the step-down max-T p of ``reached`` [M].

    Each t is divided by its 99th percentile in ``drawn`` [B, M], because slices of few turns have such long tails that they
    would otherwise determine all maxima. The observed t is one of the draws.
    """
    rare = np.quantile(np.vstack([drawn, reached]), 0.99, axis=0, method="higher")
    rare[~(np.isfinite(rare) & (rare > 0))] = 1.0
    # the smallest first, so that the running maximum covers all slices not yet rejected
    order = np.argsort(reached / rare, kind="stable")
    shares = _shares(
        np.maximum.accumulate((drawn / rare)[:, order], axis=1), (reached / rare)[order]
    )
    found = np.empty_like(reached)
    found[order] = np.maximum.accumulate(shares[::-1])[::-1]
    return found


def _note(there: Codes, spread: float, limit: float, noun: str) -> str:
    """Return the caveat of a difference; too few units of the slice are reported with its own interval."""
    slice_, rest = (int(one) for one in there)
    if not slice_ or not rest or slice_ < LEAST_UNITS:
        return ""
    if rest < LEAST_UNITS or rest < STABLE_UNITS <= slice_:
        return f"{units_note(rest, noun)} in the rest"
    if math.isnan(spread):
        return f"no interval of the difference: all {noun}s are alike"
    return "no interval of the difference: the limits are infinite" if math.isnan(limit) else ""
