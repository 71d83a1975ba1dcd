"""Agreement of annotators: overlap of selected characters, and chance-corrected coefficients.

Sources: Łajewska and Balog (2023), section 4 (J, J_k, precision, recall and F1 of snippets); Fleiss
(1971); Krippendorff (2011), "Computing Krippendorff's alpha-reliability".

Intervals of chance-corrected agreement, and of other functions of sums, are a nested bootstrap-t
over units.

Every coefficient here is a smooth function of sums, so a unit is the vector of its contributions to
them: float64[K, D]. Each resample draws units with replacement; its value and standard error come
from the jackknife within it. Let θ be the value of all units, c = Kθ − (K − 1)θ̄₍·₎ the jackknife's
bias-corrected value and se its standard error. The quantiles of t* = (c* − θ)/se* replace
Student's, but are never narrower than those (Efron & Tibshirani 1993, section 12.5). From 200 units
on, Student's are used, because the two then hardly differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.statistics import Codes, Floats, Mask, quotient
from robustcs.statistics.estimate import LEAST_UNITS, TAILS, Estimate, joined, units_note
from robustcs.statistics.student import t_quantile
from robustcs.statistics.units import resampled

Chosen = Mask
Counts = Codes
Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
Weighting = Literal["nominal", "linear", "quadratic"]
#: Function from sums, float64[..., D], to the coefficient, float64[...]; nan if undefined.
Statistic = Callable[[Floats], Floats]


#: Least denominator: a smaller one is 0 up to rounding.
_LEAST_DENOMINATOR = 1e-9


def _quotient_or_nan(numerator: Floats | Counts, denominator: Floats | Counts) -> Floats:
    return quotient(numerator, denominator, empty=np.nan, least=_LEAST_DENOMINATOR)


# ---------------------------------------------------------------- snippets


def chosen_characters(annotations: Iterable[Iterable[tuple[int, int]]], length: int) -> Chosen:
    """Return bool[n, length]: the characters that each of n annotators selected.

    An annotation is a list of spans [start, end), which may overlap.
    """
    spans_of_annotators = [list(spans) for spans in annotations]
    chosen = np.zeros((len(spans_of_annotators), length), dtype=bool)
    for annotator, spans in enumerate(spans_of_annotators):
        for start, end in spans:
            chosen[annotator, start:end] = True
    return chosen


def jaccard_at_least(chosen: Chosen) -> Floats:
    """Return J_k, float[n], at index k − 1.

    J_k is the number of characters selected by at least k of n annotators, divided by the number
    selected by any. The last value is J. All are 1 if no annotator selected anything: empty
    annotations agree fully.
    """
    annotators = len(chosen)
    characters_by_votes = np.bincount(chosen.sum(axis=0), minlength=annotators + 1)
    # at index v: the characters with at least v votes; every character has at least 0
    at_least = characters_by_votes[::-1].cumsum()[::-1]
    chosen_by_any = at_least[1]
    if not chosen_by_any:
        return np.ones(annotators)
    return np.asarray(at_least[1:] / chosen_by_any)


def overlap_scores(annotations: Chosen, references: Chosen) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F1, each float[n, m], of every annotation with every reference.

    They count selected characters, and are 0 without overlap.
    """
    common = annotations.astype(np.float64) @ references.T.astype(np.float64)
    annotated = annotations.sum(axis=1)[:, None]
    referenced = references.sum(axis=1)[None, :]
    precision = quotient(common, annotated)
    recall = quotient(common, referenced)
    f1 = quotient(2 * common, annotated + referenced)
    return precision, recall, f1


def most_similar(annotations: Chosen) -> int:
    """Return the index of the annotation with the highest mean F1 to the others.

    The first one if several are tied; 0 if there is only one annotation.
    """
    return int(np.argmax(similarity_to_others(annotations)))


def similarity_to_others(annotations: Chosen) -> Floats:
    """Return float[n]: the mean F1 of each annotation to the others; NaN if there is only one."""
    annotators = len(annotations)
    if annotators < 2:
        return np.full(annotators, np.nan)
    _, _, f1 = overlap_scores(annotations, annotations)
    return np.asarray((f1.sum(axis=1) - np.diag(f1)) / (annotators - 1))


def check_majority(wanted: int | None, most: int, who: str) -> None:
    """Raise :class:`UsageError` if a majority of ``wanted`` cannot be reached.

    ``most``: the largest number of ``who`` (annotators or raters) that any item has.
    """
    if wanted is not None and wanted > most:
        problem = f"a majority of {wanted} is impossible: no item has more than {most} {who}"
        raise UsageError("large-majority", problem, "use a lower number")


def majority_of(annotators: int, wanted: int | None) -> int:
    """Return the number of ``annotators`` that form a majority: ``wanted``, or more than half."""
    return annotators // 2 + 1 if wanted is None else wanted


# ---------------------------------------------------------------- ratings


def rating_counts(items: npt.ArrayLike, values: npt.ArrayLike) -> Counts:
    """Return int64[N, V]: the number of ratings by item and value.

    ``items`` and ``values``: the codes (0 … N − 1 and 0 … V − 1) of every rating.
    """
    rows, columns = np.asarray(items, dtype=np.int64), np.asarray(values, dtype=np.int64)
    item_count = int(rows.max(initial=-1)) + 1
    value_count = int(columns.max(initial=-1)) + 1
    cells = rows * value_count + columns
    counts = np.bincount(cells, minlength=item_count * value_count)
    return counts.reshape(item_count, value_count)


def pair_agreement(counts: Counts) -> Floats:
    """Return float[N]: the share of equal pairs of an item's ratings (Fleiss' P_i).

    ``counts``: see :func:`rating_counts`. NaN below two ratings.
    """
    ratings = counts.sum(axis=1)
    pairs = ratings * (ratings - 1)
    equal_pairs = (counts * (counts - 1)).sum(axis=1)
    return _quotient_or_nan(equal_pairs, pairs)


def fleiss_kappa(counts: Counts) -> float:
    """Return Fleiss' kappa of ``counts`` [N, V]: (P − P_e) / (1 − P_e).

    P is the mean :func:`pair_agreement` of items. P_e is the sum of the squared shares of the
    values among all ratings. Items with fewer than two ratings are excluded. Items may have
    different numbers of ratings (with equal numbers, this is Fleiss 1971). NaN if all ratings are
    equal or no item has two.
    """
    return float(fleiss_of(fleiss_sums(counts).sum(axis=0)))


def krippendorff_alpha(counts: Counts, values: npt.ArrayLike, level: Level) -> float:
    """Return Krippendorff's alpha of ``counts`` [N, V]; ratings may be missing.

    ``values`` [V]: the values of the columns, ascending. ``level`` is the scale: nominal, ordinal
    (the order of the values counts) or interval (their distances count). NaN if all ratings are
    equal or no item has two.
    """
    return float(alpha_of(values, level)(alpha_sums(counts).sum(axis=0)))


# ---------------------------------------------------------------- coefficients of sums
# The contributions of items can be summed over sampling units; see agreement_estimate.


def fleiss_sums(counts: Counts) -> Floats:
    """Return float64[N, V + 2]: what each item of ``counts`` [N, V] adds to the sums of kappa.

    The columns are the item's pair agreement, 1, and its ratings by value. Items with fewer than
    two ratings contribute nothing. Sum the rows of a topic to make it the unit.
    """
    paired = counts.sum(axis=1) >= 2
    agreement = np.where(paired, np.nan_to_num(pair_agreement(counts)), 0.0)
    return np.column_stack([agreement, paired, counts * paired[:, None]]).astype(np.float64)


def alpha_sums(counts: Counts) -> Floats:
    """Return float64[N, V²]: the coincidences of each item of ``counts`` [N, V].

    A coincidence is the number of ordered pairs of two ratings with these two values, divided by
    the item's number of ratings minus one.
    """
    table = np.asarray(counts, dtype=np.float64)
    items, values = table.shape
    pairs = table[:, :, None] * table[:, None, :]
    # a rating makes no pair with itself
    diagonal = np.arange(values)
    pairs[:, diagonal, diagonal] -= table
    partners = np.maximum(table.sum(axis=1) - 1, 1)
    return np.asarray((pairs / partners[:, None, None]).reshape(items, values**2))


def cohen_sums(first: npt.ArrayLike, second: npt.ArrayLike, values: int) -> Floats:
    """Return float64[N, values²]: a one in the cell of each item's pair of codes, else 0.

    ``first`` and ``second``: the codes (0 … values − 1) that the two raters gave to the items.
    """
    cells = np.asarray(first, dtype=np.int64) * values + np.asarray(second, dtype=np.int64)
    return np.asarray(cells[:, None] == np.arange(values**2), dtype=np.float64)


def fleiss_of(sums: Floats) -> Floats:
    """Return Fleiss' kappa from sums of :func:`fleiss_sums`, [..., V + 2]; nan if undefined."""
    agreement, items, ratings = sums[..., 0], sums[..., 1], sums[..., 2:]
    observed = _quotient_or_nan(agreement, items)
    shares = _quotient_or_nan(ratings, ratings.sum(axis=-1, keepdims=True))
    expected = (shares**2).sum(axis=-1)
    return _quotient_or_nan(observed - expected, 1 - expected)


def alpha_of(values: npt.ArrayLike, level: Level) -> Statistic:
    """Return the function of sums of :func:`alpha_sums` that gives Krippendorff's alpha.

    ``values`` and ``level``: see :func:`krippendorff_alpha`.
    """
    scale = np.asarray(values, dtype=np.float64)
    size = len(scale)

    def disagreement(totals: Floats) -> Floats:
        """Return the squared distance of every two values; ``totals``: ratings by value."""
        if level == "nominal":
            return np.asarray(1.0 - np.eye(size))
        if level == "ordinal":
            # the ratings between two values, including half of their own, are the difference of
            # mid-ranks
            positions = totals.cumsum(axis=-1) - totals / 2
        else:
            positions = np.broadcast_to(scale, totals.shape)
        return np.asarray((positions[..., :, None] - positions[..., None, :]) ** 2)

    def statistic(sums: Floats) -> Floats:
        coincidences = sums.reshape(*sums.shape[:-1], size, size)
        totals = coincidences.sum(axis=-1)
        ratings = totals.sum(axis=-1)
        distance = disagreement(totals)
        observed = (coincidences * distance).sum(axis=(-2, -1))
        expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
        return np.asarray(1 - _quotient_or_nan(observed * (ratings - 1), expected))

    return statistic


def cohen_of(values: int, weighting: Weighting = "nominal") -> Statistic:
    """Return the function of sums of :func:`cohen_sums` that gives Cohen's kappa.

    ``weighting`` is the cost of a disagreement: always 1, the distance of the codes (0 …
    ``values`` − 1), or its square.
    """
    codes = np.arange(values)
    distance = np.abs(np.subtract.outer(codes, codes)).astype(np.float64)
    costs = {
        "nominal": np.asarray(distance > 0, dtype=np.float64),
        "linear": distance,
        "quadratic": distance**2,
    }
    cost = costs[weighting]

    def statistic(sums: Floats) -> Floats:
        table = sums.reshape(*sums.shape[:-1], values, values)
        of_first, of_second = table.sum(axis=-1), table.sum(axis=-2)
        items = table.sum(axis=(-2, -1))
        observed = (table * cost).sum(axis=(-2, -1)) * items
        by_chance = of_first[..., :, None] * of_second[..., None, :]
        expected = (by_chance * cost).sum(axis=(-2, -1))
        return np.asarray(1 - _quotient_or_nan(observed, expected))

    return statistic


AGREEMENT_METHOD = "nested bootstrap-t over units"
RESAMPLES = 1000
#: Number of units from which Student's quantiles replace the bootstrap.
MANY_UNITS = 200
#: Least standard error of a resample, as a share of the sample's.
_LEAST_ERROR = 0.2
#: Least share of resamples with a defined value for an interval.
_LEAST_RESAMPLES = 0.5
#: Largest standard error that is only rounding: the units are alike.
_NO_SPREAD = 1e-9
#: Sums in memory at the same time.
_CELLS = 2_000_000


def agreement_estimate(
    sums: npt.ArrayLike,
    statistic: Statistic,
    seed: int,
    noun: str = "item",
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return the coefficient ``statistic`` of all K units with its 95% CI.

    ``sums`` [K, D]: the units' contributions to the sums of the coefficient. Units without
    contributions are excluded. No interval below five units, if all units are alike, or if most
    resamples have no defined value (almost all ratings equal). Seeded.
    """
    parts = np.asarray(sums, dtype=np.float64)
    parts = parts[parts.any(axis=1)]
    units = len(parts)
    if not units:
        return _without_interval(math.nan, 0, f"no {noun} has two ratings")
    value = float(statistic(parts.sum(axis=0)))
    notes = units_note(units, noun)
    if math.isnan(value):
        return _without_interval(value, units, joined(notes, "all ratings are equal"))
    if units < LEAST_UNITS:
        return _without_interval(value, units, notes)

    every_unit_once = np.ones((1, units))
    centres, errors = _jackknife(every_unit_once, parts, statistic)
    centre, error = float(centres[0]), float(errors[0])
    if math.isnan(error):
        why = f"no interval: without one {noun}, nothing varies"
        return _without_interval(value, units, joined(why, notes))
    if error <= _NO_SPREAD:
        why = f"no interval: all {noun}s are alike"
        return _without_interval(value, units, joined(why, notes))

    student = float(t_quantile(units))
    lowest, highest = -student, student
    if units < MANY_UNITS:
        ratios = _resampled_ratios(parts, statistic, value, error, seed, resamples)
        if len(ratios) < _LEAST_RESAMPLES * resamples:
            why = "no interval: almost all values are equal"
            return _without_interval(value, units, joined(why, notes))
        lowest, highest = np.quantile(ratios, TAILS).tolist()
    # the upper quantile of t* gives the lower limit, and the lower one the upper limit
    low = centre - max(highest, student) * error
    high = centre + max(-lowest, student) * error
    # 1 is full agreement, but there is no lower bound; the interval always contains the value
    return Estimate(
        value, min(low, value), max(min(high, 1.0), value), units, AGREEMENT_METHOD, notes
    )


def _without_interval(value: float, units: int, note: str) -> Estimate:
    return Estimate(value, math.nan, math.nan, units, AGREEMENT_METHOD, note)


def _resampled_ratios(
    parts: Floats, statistic: Statistic, value: float, error: float, seed: int, resamples: int
) -> Floats:
    """Return float64[≤ resamples]: t* = (c* − θ)/se* of every resample with a defined value.

    ``value`` and ``error``: θ and the standard error of all units.
    """
    units, terms = parts.shape
    generator = np.random.default_rng(seed)
    step = max(1, _CELLS // (units * terms))
    blocks = []
    for start in range(0, resamples, step):
        weights = resampled(generator, units, min(step, resamples - start))
        centres, errors = _jackknife(weights, parts, statistic)
        blocks.append((centres - value) / np.maximum(errors, _LEAST_ERROR * error))
    ratios = np.concatenate(blocks)
    return np.asarray(ratios[~np.isnan(ratios)])


def _jackknife(weights: Floats, parts: Floats, statistic: Statistic) -> tuple[Floats, Floats]:
    """Return the bias-corrected value and its standard error for each resample, float64[B] each.

    ``weights`` [B, K]: how often a resample contains each unit; ``parts`` [K, D].
    """
    units = weights.shape[1]
    totals = weights @ parts
    left_out = statistic(totals[:, None, :] - parts[None, :, :])
    # only units in a resample can be left out of it
    left_out = np.where(weights > 0, left_out, 0.0)
    mean = (weights * left_out).sum(axis=1) / units
    squares = (weights * (left_out - mean[:, None]) ** 2).sum(axis=1)
    error = np.sqrt((units - 1) / units * squares)
    centre = units * statistic(totals) - (units - 1) * mean
    return np.asarray(centre), np.asarray(error)
