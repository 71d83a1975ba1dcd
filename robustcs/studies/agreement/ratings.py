"""How well do raters agree, and what do they say? Fleiss' kappa, Krippendorff's alpha, raw agreement, majority labels.

Source: Al-Thani et al. (2023), "ECAsT", stage 3: items on which at least 40 % of raters agree are kept, ratings are grouped to
poor, undecided and good, and an item's label is the rating of three or more of five raters. The agreement of an item is taken
as the share of its pairs of ratings that are the same, the raw agreement of Fleiss' kappa: with five raters every item that
reaches 40 % then has such a label.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.ratings import Rating
from robustcs.inputs.records import decimal_number
from robustcs.result import Evaluated, Result
from robustcs.statistics.agreement import (
    LEVELS,
    Counts,
    alpha_interval,
    check_majority,
    fleiss_kappa,
    kappa_interval,
    krippendorff_alpha,
    majority_of,
    pair_agreement,
    rating_counts,
)

if TYPE_CHECKING:
    import pandas as pd

#: Group → its ratings; the paper's, for a scale of 1 to 5.
Groups = Mapping[str, Sequence[str]]
GROUPS: Groups = {"poor": ("1", "2"), "undecided": ("3",), "good": ("4", "5")}
#: Share of an item's pairs of ratings that must agree for the item to be kept by the agreement filter.
MIN_AGREEMENT = 0.4
NO_MAJORITY = "no majority"


@dataclass(frozen=True)
class Scale:
    """The ratings of one criterion, counted: ``counts`` [items, values]; ``numbers`` is empty where ratings are words."""

    criterion: str
    values: tuple[str, ...]
    numbers: tuple[float, ...]
    counts: Counts


@dataclass(frozen=True)
class RatingAgreement(Result):
    """Intervals are bootstrap intervals over items; items with a single rating count in no measure of agreement.

    min_agreement
        The share of an item's pairs of ratings from which the item is kept.
    kappa
        criterion, items, raters (most ratings of an item), value, ci_low, ci_high: Fleiss' kappa of the ratings as given.
    alpha
        criterion, level [nominal, ordinal, interval], items, value, ci_low, ci_high: Krippendorff's alpha; ratings that are
        words have only the nominal level.
    agreement
        criterion, items, ratings, agreement (mean share of an item's pairs of ratings that are the same), kept (items that
        reach the agreement filter), kept_share.
    stages
        criterion, items [all, kept], ratings [given, grouped], count, kappa, alpha: what filtering and grouping do; alpha is
        nominal.
    distribution
        criterion, rating, count, share: of all single ratings.
    labels
        criterion, items [all, kept], label, group, count, share: the rating that a majority of an item's raters gave, or
        ``no majority``; group is empty where the ratings are not grouped.
    """

    min_agreement: float
    kappa: pd.DataFrame
    alpha: pd.DataFrame
    agreement: pd.DataFrame
    stages: pd.DataFrame
    distribution: pd.DataFrame
    labels: pd.DataFrame


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


def rating_agreement(
    ratings: Sequence[Rating],
    evaluated: Evaluated,
    groups: Groups | None = None,
    min_agreement: float = MIN_AGREEMENT,
    majority: int | None = None,
    seed: int = 0,
) -> RatingAgreement:
    """Agreement by criterion.

    ``groups`` must hold every rating; None is :data:`GROUPS` where they do and no grouping elsewhere. ``majority``: how many
    raters make a label; None is more than half of those of the item.

    Raises :class:`UsageError` for a rating that stands in no group or in two, or where no item has as many raters as the
    majority.
    """
    import pandas as pd

    scales = scales_of(ratings)
    check_majority(majority, max((int(scale.counts.sum(axis=1).max(initial=0)) for scale in scales), default=0), "raters")
    tables: dict[str, list[Any]] = {name: [] for name in ("stages", "distribution", "labels")}
    for scale in scales:
        group_of = _group_of(scale, groups)
        kept = np.nan_to_num(pair_agreement(scale.counts), nan=-1) >= min_agreement
        for items, counts in (("all", scale.counts), ("kept", scale.counts[kept])):
            grouped = [("given", counts), *([("grouped", _grouped(counts, scale, group_of))] if group_of else [])]
            for kind, some in grouped:
                alpha = krippendorff_alpha(some, np.arange(some.shape[1]), "nominal")
                tables["stages"].append((scale.criterion, items, kind, len(some), fleiss_kappa(some), alpha))
            tables["labels"] += _labels(scale, items, counts, group_of, majority)
        totals = scale.counts.sum(axis=0)
        shares = zip(scale.values, totals.tolist(), (totals / totals.sum()).tolist(), strict=True)
        tables["distribution"] += [(scale.criterion, *row) for row in shares]
    columns = {
        "stages": ["criterion", "items", "ratings", "count", "kappa", "alpha"],
        "distribution": ["criterion", "rating", "count", "share"],
        "labels": ["criterion", "items", "label", "group", "count", "share"],
    }
    frames = {name: pd.DataFrame(rows, columns=columns[name]) for name, rows in tables.items()}
    return RatingAgreement(evaluated, min_agreement, *agreement_tables(scales, min_agreement, seed), **frames)


def agreement_tables(
    scales: Sequence[Scale], min_agreement: float, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The tables kappa, alpha and agreement of :class:`RatingAgreement`."""
    import pandas as pd

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
    return (
        pd.DataFrame(kappa, columns=["criterion", "items", "raters", "value", "ci_low", "ci_high"]),
        pd.DataFrame(alpha, columns=["criterion", "level", "items", "value", "ci_low", "ci_high"]),
        pd.DataFrame(agreement, columns=["criterion", "items", "ratings", "agreement", "kept", "kept_share"]),
    )


def _group_of(scale: Scale, groups: Groups | None) -> dict[str, str]:
    """Rating → group; empty where the ratings are not grouped."""
    chosen = GROUPS if groups is None else groups
    pairs = [(value, name) for name, values in chosen.items() for value in values]
    group_of = dict(pairs)
    if len(group_of) < len(pairs):
        raise UsageError("rating-in-two-groups", "a rating stands in two groups", "name every rating once")
    lacking = [value for value in scale.values if value not in group_of]
    if lacking and groups is not None:
        raise UsageError(
            "rating-without-group", f"rating {lacking[0]!r} of {scale.criterion} stands in no group",
            f"the groups have {', '.join(group_of)}",
        )  # fmt: skip
    return {} if lacking else group_of


def _grouped(counts: Counts, scale: Scale, group_of: Mapping[str, str]) -> Counts:
    """``counts`` by group in place of value."""
    names = list(dict.fromkeys(group_of.values()))
    member = np.array([[group_of[value] == name for name in names] for value in scale.values], dtype=np.int64)
    return np.asarray(counts @ member)


def _labels(
    scale: Scale, items: str, counts: Counts, group_of: Mapping[str, str], majority: int | None
) -> list[tuple[str, str, str, str, int, float]]:
    raters = counts.sum(axis=1)
    needed = np.array([majority_of(int(number), majority) for number in raters], dtype=np.int64)
    top = counts.max(axis=1, initial=0)
    # two ratings may both reach a majority that is no more than half
    clear = (top >= needed) & ((counts == top[:, None]).sum(axis=1) == 1)
    label = np.where(clear, counts.argmax(axis=1) if len(counts) else 0, -1)
    rows = []
    for place, name in [*enumerate(scale.values), (-1, NO_MAJORITY)]:
        count = int((label == place).sum())
        share = count / len(counts) if len(counts) else math.nan
        rows.append((scale.criterion, items, name, group_of.get(name, ""), count, share))
    return rows
