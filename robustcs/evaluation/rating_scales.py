"""The ratings of people, counted by criterion, and how far they agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robustcs.inputs.ratings import Rating
from robustcs.inputs.records import decimal_number
from robustcs.result import count, number, score, share, table, text
from robustcs.statistics.agreement import (
    LEVELS,
    Counts,
    alpha_interval,
    fleiss_kappa,
    kappa_interval,
    krippendorff_alpha,
    pair_agreement,
    rating_counts,
)

if TYPE_CHECKING:
    import pandas as pd

#: Share of an item's pairs of ratings that must agree for the item to be kept by the agreement filter.
MIN_AGREEMENT = 0.4

_INTERVAL = (number("ci_low", "bootstrap over items"), number("ci_high"))
KAPPA = table(
    "kappa", "Fleiss' kappa of the ratings as given.",
    text("criterion", header="Criterion"), count("items", "with at least two ratings"),
    count("raters", "most ratings of an item"), score("value", header="Fleiss' κ"), *_INTERVAL,
)  # fmt: skip
ALPHA = table(
    "alpha", "Krippendorff's alpha; ratings that are words have only the nominal level.",
    text("criterion", header="Criterion"), text("level", "nominal, ordinal or interval"), count("items"),
    score("value", header="alpha"), *_INTERVAL,
)  # fmt: skip
AGREEMENT = table(
    "agreement", "Raw agreement, and what the agreement filter keeps.",
    text("criterion", header="Criterion"), count("items"), count("ratings"),
    share("agreement", "mean share of an item's pairs of ratings that are the same", "agree"),
    count("kept", "items that reach the agreement filter"), share("kept_share"),
)  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """The ratings of one criterion, counted: ``counts`` [items, values]; ``numbers`` is empty where ratings are words."""

    criterion: str
    values: tuple[str, ...]
    numbers: tuple[float, ...]
    counts: Counts


def scales_of(ratings: Sequence[Rating]) -> list[Scale]:
    """The ratings by criterion, in order of first appearance; values ascend, as numbers where all of them are."""
    by_criterion: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_criterion.setdefault(rating.criterion, []).append(rating)
    return [_scale(criterion, some) for criterion, some in by_criterion.items()]


def _scale(criterion: str, ratings: Sequence[Rating]) -> Scale:
    values = {rating.value for rating in ratings}
    numbers = {value: decimal_number(value.strip()) for value in values}
    numeric = all(number is not None for number in numbers.values())
    ordered = sorted(values, key=lambda value: (numbers[value] if numeric else 0, value))  # type: ignore[arg-type,return-value]
    items = {key: place for place, key in enumerate(dict.fromkeys((rating.turn, rating.item) for rating in ratings))}
    place_of = {value: place for place, value in enumerate(ordered)}
    counts = rating_counts(
        [items[rating.turn, rating.item] for rating in ratings], [place_of[rating.value] for rating in ratings]
    )
    return Scale(criterion, tuple(ordered), tuple(numbers[value] or 0.0 for value in ordered) if numeric else (), counts)


def agreement_tables(
    scales: Sequence[Scale], min_agreement: float, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The tables :data:`KAPPA`, :data:`ALPHA` and :data:`AGREEMENT`, a row for each criterion."""
    kappa, alpha, agreement = [], [], []
    for scale in scales:
        name, counts = scale.criterion, scale.counts
        raters = counts.sum(axis=1)
        items = int((raters >= 2).sum())
        kappa.append((name, items, int(raters.max()), fleiss_kappa(counts), *kappa_interval(counts, seed)))
        for level in LEVELS if scale.numbers else LEVELS[:1]:
            numbers = scale.numbers or range(len(scale.values))
            value = krippendorff_alpha(counts, numbers, level)
            alpha.append((name, level, items, value, *alpha_interval(counts, numbers, level, seed)))
        pairs = pair_agreement(counts[raters >= 2])
        kept = int((pairs >= min_agreement).sum())
        mean = float(pairs.mean()) if items else math.nan
        agreement.append((name, items, int(raters.sum()), mean, kept, kept / items if items else math.nan))
    return KAPPA.frame(kappa), ALPHA.frame(alpha), AGREEMENT.frame(agreement)
