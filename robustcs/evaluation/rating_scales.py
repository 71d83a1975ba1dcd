"""Human ratings, counted by criterion, and their agreement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robustcs.inputs.ratings import Rating
from robustcs.inputs.text import number_of
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import Grouping
from robustcs.result import count, score, share, table, text
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

_BY_UNIT = "95% CI: nested bootstrap-t over units; null for fewer than five units"
_UNITS = (
    count("units", "number of sampling units: conversations, turns or items"), text("note", "limits of the interval"),
)  # fmt: skip
KAPPA = table(
    "kappa", "Fleiss' kappa of the ratings, their raw agreement, and the items that the agreement filter keeps.",
    text("criterion", header="Criterion"), count("items", "items with at least two ratings"),
    count("raters", "largest number of ratings of an item"),
    *score("value", header="Fleiss' κ").between(says=_BY_UNIT), *_UNITS, count("ratings"),
    share("agreement", "mean share of equal pairs of ratings of an item", "agree"),
    count("kept", "items that reach the agreement filter"), share("kept_share"),
)  # fmt: skip
ALPHA = table(
    "alpha", "Krippendorff's alpha; ratings that are not numbers have only the nominal level.",
    text("criterion", header="Criterion"), text("level", "nominal, ordinal or interval"), count("items"),
    *score("value", header="alpha").between(says=_BY_UNIT), *_UNITS,
)  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """Ratings of one criterion: ``counts`` [items, values]. ``numbers`` is empty if the ratings are not numbers.

    ``turns`` are those of the items, which are in natural order.
    """

    criterion: str
    values: tuple[str, ...]
    numbers: tuple[float, ...]
    counts: Counts
    turns: tuple[str, ...]


def scales_of(ratings: Sequence[Rating]) -> list[Scale]:
    """Return the ratings by criterion, in order of first appearance; values ascend, as numbers if all are numbers."""
    by_criterion: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_criterion.setdefault(rating.criterion, []).append(rating)
    return [_scale(criterion, some) for criterion, some in by_criterion.items()]


def _scale(criterion: str, ratings: Sequence[Rating]) -> Scale:
    values = {rating.value for rating in ratings}
    numbers = {value: number_of(value) for value in values}
    numeric = all(number is not None for number in numbers.values())
    ordered = sorted(values, key=lambda value: (numbers[value] if numeric else 0, value))  # type: ignore[arg-type,return-value]
    # sorted, so that intervals do not depend on the order of the lines
    keys = sorted(
        {(rating.turn, rating.item) for rating in ratings},
        key=lambda key: tuple(map(turn_sort_key, key)),
    )
    items = {key: place for place, key in enumerate(keys)}
    place_of = {value: place for place, value in enumerate(ordered)}
    counts = rating_counts(
        [items[rating.turn, rating.item] for rating in ratings],
        [place_of[rating.value] for rating in ratings],
    )
    numbers_of = tuple(numbers[value] or 0.0 for value in ordered) if numeric else ()
    return Scale(criterion, tuple(ordered), numbers_of, counts, tuple(turn for turn, _ in keys))


def rating_units(scales: Sequence[Scale], by: Grouping) -> dict[str, Units]:
    """Return criterion → the sampling units of its items with at least two ratings."""
    return {
        scale.criterion: units_of_items(
            [
                turn
                for turn, raters in zip(scale.turns, scale.counts.sum(axis=1), strict=True)
                if raters >= 2
            ],
            "item",
            by,
        )
        for scale in scales
    }


def agreement_tables(
    scales: Sequence[Scale], min_agreement: float, units: Mapping[str, Units], seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables :data:`KAPPA` and :data:`ALPHA` with a row for each criterion.

    ``units``: see :func:`rating_units`.
    """
    kappa, alpha = [], []
    for scale in scales:
        name, raters, own = scale.criterion, scale.counts.sum(axis=1), units[scale.criterion]
        counts = scale.counts[raters >= 2]
        items = len(counts)
        pairs = pair_agreement(counts)
        kept, mean = int((pairs >= min_agreement).sum()), float(pairs.mean()) if items else math.nan
        filtered = (int(raters.sum()), mean, kept, kept / items if items else math.nan)
        found = agreement_estimate(own.sums(fleiss_sums(counts).T).T, fleiss_of, seed, own.kind)
        kappa.append((name, items, int(raters.max()), found, found.units, found.note, *filtered))
        by_unit = own.sums(alpha_sums(counts).T).T
        for level in LEVELS if scale.numbers else LEVELS[:1]:
            numbers = scale.numbers or range(len(scale.values))
            found = agreement_estimate(by_unit, alpha_of(numbers, level), seed, own.kind)
            alpha.append((name, level, items, found, found.units, found.note))
    return KAPPA.frame(kappa), ALPHA.frame(alpha)
