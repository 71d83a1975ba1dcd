"""Agreement of annotators: overlap of selected characters, and chance-corrected agreement of ratings.

Sources: Łajewska and Balog (2023), section 4 (J, J_k, precision, recall and F1 of snippets); Fleiss (1971); Krippendorff
(2011), "Computing Krippendorff's alpha-reliability".

Intervals of chance-corrected agreement, and of other functions of sums, are a nested bootstrap-t over units.

Every coefficient here is a smooth function of sums, so a unit is the vector of its contributions to them: float64[K, D]. Each
resample draws units with replacement; its value and standard error come from the jackknife within it. Let θ be the value of all
units, c = Kθ − (K − 1)θ̄₍·₎ the jackknife's bias-corrected value and se its standard error. The quantiles of t* = (c* − θ)/se*
replace Student's, but are never narrower than those (Efron & Tibshirani 1993, section 12.5). From 200 units on, Student's are
used, because the two then hardly differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.statistics import Codes, Floats, Mask, quotient
from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, Estimate, joined, units_note
from robustcs.statistics.means import t_quantile
from robustcs.statistics.units import resampled

Chosen = Mask
Counts = Codes
Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
Weighting = Literal["nominal", "linear", "quadratic"]
#: Function from sums, float64[..., D], to the coefficient, float64[...]; nan if undefined.
Statistic = Callable[[Floats], Floats]


#: The quotient; NaN if the denominator is 0 (up to rounding).
_defined = partial(quotient, empty=np.nan, least=1e-9)


# ---------------------------------------------------------------- snippets


def chosen_characters(annotations: Iterable[Iterable[tuple[int, int]]], length: int) -> Chosen:
    """Return bool[n, length]: the characters selected by each of n annotators; spans [start, end) may overlap."""
    rows = [list(spans) for spans in annotations]
    covered = np.zeros((len(rows), length), dtype=bool)
    for row, spans in enumerate(rows):
        for start, end in spans:
            covered[row, start:end] = True
    return covered


def jaccard_at_least(chosen: Chosen) -> Floats:
    """Return float[n]: at index k − 1, the characters selected by at least k of n annotators, divided by those selected by any.

    The last value is J. All are 1 if no annotator selected anything: empty annotations agree fully.
    """
    annotators = len(chosen)
    times = np.bincount(chosen.sum(axis=0), minlength=annotators + 1)
    at_least = times[::-1].cumsum()[::-1][1:]
    return np.asarray(at_least / at_least[0]) if at_least[0] else np.ones(annotators)


def overlap_scores(annotations: Chosen, references: Chosen) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F1, each float[n, m], of every annotation against every reference; 0 without overlap."""
    both = annotations.astype(np.float64) @ references.T.astype(np.float64)
    own, other = annotations.sum(axis=1)[:, None], references.sum(axis=1)[None, :]
    return quotient(both, own), quotient(both, other), quotient(2 * both, own + other)


def most_similar(annotations: Chosen) -> int:
    """Return the annotation with the highest mean F1 to the others, the first if tied; 0 if there is only one."""
    return int(np.argmax(similarity_to_others(annotations)))


def similarity_to_others(annotations: Chosen) -> Floats:
    """Return float[n]: the mean F1 of each annotation to the others; NaN if there is only one."""
    annotators = len(annotations)
    if annotators < 2:
        return np.full(annotators, np.nan)
    f1 = overlap_scores(annotations, annotations)[2]
    return np.asarray((f1.sum(axis=1) - np.diag(f1)) / (annotators - 1))


def check_majority(wanted: int | None, most: int, who: str) -> None:
    """Raise :class:`UsageError` for an unreachable majority, if no item has more than ``most`` of ``who``."""
    if wanted is not None and wanted > most:
        found = f"a majority of {wanted} is impossible: no item has more than {most} {who}"
        raise UsageError("large-majority", found, "use a lower number")


def majority_of(annotators: int, wanted: int | None) -> int:
    """Return the number of ``annotators`` that form a majority: ``wanted``, or more than half."""
    return annotators // 2 + 1 if wanted is None else wanted


# ---------------------------------------------------------------- ratings


def rating_counts(items: npt.ArrayLike, values: npt.ArrayLike) -> Counts:
    """Return int64[N, V]: the number of ratings by item and value, from the codes (0 … N − 1, 0 … V − 1) of all ratings."""
    rows, columns = np.asarray(items, dtype=np.int64), np.asarray(values, dtype=np.int64)
    shape = (int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1)
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def pair_agreement(counts: Counts) -> Floats:
    """Return float[N]: the share of equal pairs of an item's ratings (Fleiss' P_i); NaN below two ratings."""
    ratings = counts.sum(axis=1)
    pairs = ratings * (ratings - 1)
    return _defined((counts * (counts - 1)).sum(axis=1), pairs)


def fleiss_kappa(counts: Counts) -> float:
    """Return Fleiss' kappa of ``counts`` [N, V]: (P − P_e) / (1 − P_e), where P is the mean :func:`pair_agreement` of items.

    P_e is the sum of the squared shares of the values among all ratings. Items with fewer than two ratings are excluded. Items
    may have different numbers of ratings (with equal numbers, this is Fleiss 1971). NaN if all ratings are equal or no item has
    two.
    """
    return float(fleiss_of(fleiss_sums(counts).sum(axis=0)))


def krippendorff_alpha(counts: Counts, values: npt.ArrayLike, level: Level) -> float:
    """Return Krippendorff's alpha of ``counts`` [N, V], whose columns are the ascending ``values`` [V]; ratings may be missing.

    ``level`` is the scale: nominal, ordinal (the order of the values counts) or interval (their distances count). NaN if all
    ratings are equal or no item has two.
    """
    return float(alpha_of(values, level)(alpha_sums(counts).sum(axis=0)))


# ---------------------------------------------------------------- coefficients, as functions of sums
# The contributions of items can be summed over sampling units; see agreement_estimate.


def fleiss_sums(counts: Counts) -> Floats:
    """Return float64[N, V + 2] from ``counts``: the pair agreement of each item, 1, and its ratings by value.

    Items with fewer than two ratings contribute nothing. Sum the rows of a topic to make it the unit.
    """
    paired = counts.sum(axis=1) >= 2
    agreement = np.where(paired, np.nan_to_num(pair_agreement(counts)), 0.0)
    return np.column_stack([agreement, paired, counts * paired[:, None]]).astype(np.float64)


def alpha_sums(counts: Counts) -> Floats:
    """Return float64[N, V²]: the coincidences of two ratings of each item: ordered pairs divided by its ratings minus one."""
    table = np.asarray(counts, dtype=np.float64)
    ratings = table.sum(axis=1)
    pairs = table[:, :, None] * table[:, None, :]
    pairs[:, np.arange(table.shape[1]), np.arange(table.shape[1])] -= table
    return np.asarray(
        (pairs / np.maximum(ratings - 1, 1)[:, None, None]).reshape(len(table), table.shape[1] ** 2)
    )


def cohen_sums(first: npt.ArrayLike, second: npt.ArrayLike, values: int) -> Floats:
    """Return float64[N, values²]: a one in the cell of the two raters' codes (0 … values − 1) of each item."""
    cells = np.asarray(first, dtype=np.int64) * values + np.asarray(second, dtype=np.int64)
    return np.asarray(cells[:, None] == np.arange(values**2), dtype=np.float64)


def fleiss_of(sums: Floats) -> Floats:
    """Return Fleiss' kappa (:func:`fleiss_kappa`) from sums of :func:`fleiss_sums`; nan if undefined."""
    observed = _defined(sums[..., 0], sums[..., 1])
    shares = _defined(sums[..., 2:], sums[..., 2:].sum(axis=-1, keepdims=True))
    expected = (shares**2).sum(axis=-1)
    return _defined(observed - expected, 1 - expected)


def alpha_of(values: npt.ArrayLike, level: Level) -> Statistic:
    """Return the function of :func:`alpha_sums` that gives Krippendorff's alpha (:func:`krippendorff_alpha`) of ``values``."""
    scale = np.asarray(values, dtype=np.float64)
    size = len(scale)

    def statistic(sums: Floats) -> Floats:
        coincidences = sums.reshape(*sums.shape[:-1], size, size)
        totals = coincidences.sum(axis=-1)
        number = totals.sum(axis=-1)
        if level == "nominal":
            distance = np.asarray(1.0 - np.eye(size))
        else:
            # ordinal: the ratings between two values, including half of their own, are the difference of mid-ranks
            place = (
                totals.cumsum(axis=-1) - totals / 2
                if level == "ordinal"
                else np.broadcast_to(scale, totals.shape)
            )
            distance = (place[..., :, None] - place[..., None, :]) ** 2
        observed = (coincidences * distance).sum(axis=(-2, -1))
        expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
        return np.asarray(1 - _defined(observed * (number - 1), expected))

    return statistic


def cohen_of(values: int, weighting: Weighting = "nominal") -> Statistic:
    """Return the function of :func:`cohen_sums` for Cohen's kappa; weights are 0/1, the distance in codes, or its square."""
    apart = np.abs(np.subtract.outer(np.arange(values), np.arange(values))).astype(np.float64)
    cost = {
        "nominal": np.asarray(apart > 0, dtype=np.float64),
        "linear": apart,
        "quadratic": apart**2,
    }[weighting]

    def statistic(sums: Floats) -> Floats:
        table = sums.reshape(*sums.shape[:-1], values, values)
        number = table.sum(axis=(-2, -1))
        observed = (table * cost).sum(axis=(-2, -1)) * number
        expected = (table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :] * cost).sum(
            axis=(-2, -1)
        )
        return np.asarray(1 - _defined(observed, expected))

    return statistic


METHOD = "nested bootstrap-t over units"
RESAMPLES = 1000
#: Number of units from which Student's quantiles replace the bootstrap.
MANY_UNITS = 200
#: Least standard error of a resample, as a share of the sample's.
_LEAST_ERROR = 0.2
#: Least share of resamples with a defined value for an interval.
_LEAST_RESAMPLES = 0.5
#: Sums in memory at the same time.
_CELLS = 2_000_000


def agreement_estimate(
    sums: npt.ArrayLike,
    statistic: Statistic,
    seed: int,
    noun: str = "item",
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return the coefficient ``statistic`` of all K units with its 95% CI, from their contributions ``sums`` [K, D].

    Units without contributions are excluded. No interval below five units, if all units are alike, or if most resamples have no
    defined value (almost all ratings equal). Seeded.
    """
    parts = np.asarray(sums, dtype=np.float64)
    parts = parts[parts.any(axis=1)]
    units = len(parts)
    if not units:
        return Estimate(math.nan, math.nan, math.nan, 0, METHOD, f"no {noun} has two ratings")
    value = float(statistic(parts.sum(axis=0)))
    notes = units_note(units, noun)
    if units < LEAST_UNITS or math.isnan(value):
        alike = "all ratings are equal" if math.isnan(value) else ""
        return Estimate(value, math.nan, math.nan, units, METHOD, joined(notes, alike))
    centre, error = (float(part[0]) for part in _jackknife(np.ones((1, units)), parts, statistic))
    if not error > 1e-9:
        why = (
            f"no interval: all {noun}s are alike"
            if error <= 1e-9
            else f"no interval: without one {noun}, nothing varies"
        )
        return Estimate(value, math.nan, math.nan, units, METHOD, joined(why, notes))
    student = float(t_quantile(units))
    lowest, highest = -student, student
    if units < MANY_UNITS:
        ratios = _resampled(parts, statistic, value, error, seed, resamples)
        if len(ratios) < _LEAST_RESAMPLES * resamples:
            return Estimate(
                value,
                math.nan,
                math.nan,
                units,
                METHOD,
                joined("no interval: almost all values are equal", notes),
            )
        lowest, highest = np.quantile(ratios, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2]).tolist()
    low, high = centre - max(highest, student) * error, centre + max(-lowest, student) * error
    # 1 is full agreement, but there is no lower bound; the interval always contains the value
    return Estimate(value, min(low, value), max(min(high, 1.0), value), units, METHOD, notes)


def _resampled(
    parts: Floats, statistic: Statistic, value: float, error: float, seed: int, resamples: int
) -> Floats:
    """Return float64[≤ resamples]: (c* − θ)/se* of every resample with a defined value."""
    units = len(parts)
    generator = np.random.default_rng(seed)
    step = max(1, _CELLS // (units * parts.shape[1]))
    drawn = []
    for start in range(0, resamples, step):
        centres, errors = _jackknife(
            resampled(generator, units, min(step, resamples - start)), parts, statistic
        )
        drawn.append((centres - value) / np.maximum(errors, _LEAST_ERROR * error))
    ratios = np.concatenate(drawn)
    return np.asarray(ratios[~np.isnan(ratios)])


def _jackknife(weights: Floats, parts: Floats, statistic: Statistic) -> tuple[Floats, Floats]:
    """Return the bias-corrected value and its standard error for each resample; ``weights`` [B, K]: the counts of units."""
    units = weights.shape[1]
    totals = weights @ parts
    left_out = statistic(totals[:, None, :] - parts[None, :, :])
    # only units in a resample can be left out of it
    left_out = np.where(weights > 0, left_out, 0.0)
    mean = (weights * left_out).sum(axis=1) / units
    error = np.sqrt((units - 1) / units * (weights * (left_out - mean[:, None]) ** 2).sum(axis=1))
    return np.asarray(units * statistic(totals) - (units - 1) * mean), np.asarray(error)
