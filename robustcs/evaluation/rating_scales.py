"""Human ratings, counted by criterion, and their agreement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.inputs.ratings import Rating
from robustcs.inputs.text import number_of
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import Grouping
from robustcs.result import count, score, share, table, text
from robustcs.statistics import Floats
from robustcs.statistics.agreement import (
    LEVELS,
    Counts,
    agreement_estimate,
    alpha_of,
    alpha_sums,
    fleiss_of,
    fleiss_sums,
    pair_agreement,
    rating_counts,
)
from robustcs.statistics.units import Units, units_of_items

#: An item with fewer ratings has no agreement.
_LEAST_RATINGS = 2

_BY_UNIT = "95% CI: nested bootstrap-t over units; null for fewer than five units"
_UNITS = (
    count("units", "number of sampling units: conversations, turns or items"),
    text("note", "limits of the interval"),
)
KAPPA = table(
    "kappa",
    "Fleiss' kappa of the ratings, their raw agreement, and the items that the agreement filter"
    " keeps.",
    text("criterion", header="Criterion"),
    count("items", "items with at least two ratings"),
    count("raters", "largest number of ratings of an item"),
    *score("value", header="Fleiss' κ").between(says=_BY_UNIT),
    *_UNITS,
    count("ratings"),
    share("agreement", "mean share of equal pairs of ratings of an item", "agree"),
    count("kept", "items that reach the agreement filter"),
    share("kept_share"),
)
ALPHA = table(
    "alpha",
    "Krippendorff's alpha; ratings that are not numbers have only the nominal level.",
    text("criterion", header="Criterion"),
    text("level", "nominal, ordinal or interval"),
    count("items"),
    *score("value", header="alpha").between(says=_BY_UNIT),
    *_UNITS,
)


@dataclass(frozen=True)
class RatingScale:
    """The ratings of N items by one criterion, which has V values.

    values
        The different ratings as written: ascending if they are numbers, otherwise in the order of
        their letters.
    numbers
        The same values as numbers; empty if not all of them are numbers.
    counts
        int[N, V]: how often each item got each value.
    turns
        The turn of every item; items are in natural order of turns and names.
    """

    criterion: str
    values: tuple[str, ...]
    numbers: tuple[float, ...]
    counts: Counts
    turns: tuple[str, ...]


def scales_of(ratings: Sequence[Rating]) -> list[RatingScale]:
    """Return the ratings by criterion, in order of first appearance."""
    by_criterion: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_criterion.setdefault(rating.criterion, []).append(rating)
    return [_scale(criterion, of_it) for criterion, of_it in by_criterion.items()]


def _scale(criterion: str, ratings: Sequence[Rating]) -> RatingScale:
    """Return the scale of a criterion from all its ratings."""
    values, numbers = _values_of(ratings)
    # sorted, so that intervals do not depend on the order of the lines
    items = sorted({(rating.turn, rating.item) for rating in ratings}, key=_natural_order)
    row_of = {item: row for row, item in enumerate(items)}
    column_of = {value: column for column, value in enumerate(values)}
    counts = rating_counts(
        [row_of[rating.turn, rating.item] for rating in ratings],
        [column_of[rating.value] for rating in ratings],
    )
    return RatingScale(criterion, values, numbers, counts, tuple(turn for turn, _ in items))


def _values_of(ratings: Sequence[Rating]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the different values, ascending, and the same as numbers (empty if some are none)."""
    number_by_value: dict[str, float] = {}
    values = {rating.value for rating in ratings}
    for value in values:
        number = number_of(value)
        if number is None:
            return tuple(sorted(values)), ()
        number_by_value[value] = number
    # values such as 1 and 1.0 are equal as numbers, so the text decides their order
    ascending = sorted(values, key=lambda value: (number_by_value[value], value))
    return tuple(ascending), tuple(number_by_value[value] for value in ascending)


def _natural_order(item: tuple[str, str]) -> tuple[object, ...]:
    turn, name = item
    return turn_sort_key(turn), turn_sort_key(name)


def rating_units(scales: Sequence[RatingScale], by: Grouping) -> dict[str, Units]:
    """Return criterion → the sampling units of its items with at least two ratings."""
    units = {}
    for scale in scales:
        rated = scale.counts.sum(axis=1) >= _LEAST_RATINGS
        turns = [turn for turn, enough in zip(scale.turns, rated, strict=True) if enough]
        units[scale.criterion] = units_of_items(turns, "item", by)
    return units


def agreement_tables(
    scales: Sequence[RatingScale], min_agreement: float, units: Mapping[str, Units], seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables :data:`KAPPA` and :data:`ALPHA` with a row for each criterion.

    ``min_agreement``: the agreement filter, a share of equal pairs of ratings. ``units``: see
    :func:`rating_units`.
    """
    kappa = [_kappa_row(scale, min_agreement, units[scale.criterion], seed) for scale in scales]
    alpha = []
    for scale in scales:
        alpha += _alpha_rows(scale, units[scale.criterion], seed)
    return KAPPA.frame(kappa), ALPHA.frame(alpha)


def _kappa_row(
    scale: RatingScale, min_agreement: float, units: Units, seed: int
) -> tuple[object, ...]:
    """Return the row of :data:`KAPPA`; ``units``: those of the items with two ratings."""
    ratings = scale.counts.sum(axis=1)
    counts = _rated_twice(scale)
    items = len(counts)
    agreement = pair_agreement(counts)
    kept = int((agreement >= min_agreement).sum())
    kappa = agreement_estimate(_by_unit(fleiss_sums(counts), units), fleiss_of, seed, units.kind)
    return (
        scale.criterion,
        items,
        int(ratings.max()),
        kappa,
        kappa.units,
        kappa.note,
        int(ratings.sum()),
        float(agreement.mean()) if items else math.nan,
        kept,
        kept / items if items else math.nan,
    )


def _alpha_rows(scale: RatingScale, units: Units, seed: int) -> list[tuple[object, ...]]:
    """Return the rows of :data:`ALPHA`; ``units``: those of the items with two ratings."""
    counts = _rated_twice(scale)
    sums = _by_unit(alpha_sums(counts), units)
    levels = LEVELS if scale.numbers else LEVELS[:1]
    # the nominal level only asks whether two values are the same
    numbers = scale.numbers or range(len(scale.values))
    rows: list[tuple[object, ...]] = []
    for level in levels:
        alpha = agreement_estimate(sums, alpha_of(numbers, level), seed, units.kind)
        rows.append((scale.criterion, level, len(counts), alpha, alpha.units, alpha.note))
    return rows


def _rated_twice(scale: RatingScale) -> Counts:
    """Return the counts of the items that have at least two ratings."""
    return np.asarray(scale.counts[scale.counts.sum(axis=1) >= _LEAST_RATINGS])


def _by_unit(contributions: Floats, units: Units) -> Floats:
    """Return float64[K, D]: contributions of items, float64[N, D], summed by sampling unit."""
    return np.asarray(units.sums(contributions.T).T)
