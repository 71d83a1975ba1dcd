"""How well do raters agree, and what do they say? Fleiss' kappa, Krippendorff's alpha, raw agreement, majority labels.

Source: Al-Thani et al. (2023), "ECAsT", stage 3: items on which at least 40 % of raters agree are kept, ratings are grouped to
poor, undecided and good, and an item's label is the rating of three or more of five raters. The agreement of an item is taken
as the share of its pairs of ratings that are the same, the raw agreement of Fleiss' kappa: with five raters every item that
reaches 40 % then has such a label.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.rating_scales import (
    AGREEMENT,
    ALPHA,
    KAPPA,
    MIN_AGREEMENT,
    Scale,
    agreement_tables,
    rating_units,
    scales_of,
)
from robustcs.inputs.ratings import Rating
from robustcs.lazy import pd
from robustcs.result import Evaluated, Result, count, score, share, table, text
from robustcs.statistics.agreement import (
    Counts,
    check_majority,
    fleiss_kappa,
    krippendorff_alpha,
    pair_agreement,
)
from robustcs.studies.agreement.sources import GROUPED, MEANS, NO_MAJORITY, SOURCE_KAPPA, label_places, source_tables

#: Group → its ratings; the paper's, for a scale of 1 to 5.
Groups = Mapping[str, Sequence[str]]
GROUPS: Groups = {"poor": ("1", "2"), "undecided": ("3",), "good": ("4", "5")}
_CRITERION = text("criterion", header="Criterion")
_STAGES = table(
    "stages", "What filtering and grouping do.",
    _CRITERION, text("items", "all or kept", "Items"), text("ratings", "given or grouped", "Ratings"),
    count("count", "of items", "items"), score("kappa", header="κ"), score("alpha", "nominal"),
)  # fmt: skip
_DISTRIBUTION = table(
    "distribution", "Single ratings.",
    _CRITERION, text("rating", header="Rating"), count("count", header="ratings"), share("share", "of all ratings"),
)  # fmt: skip
_LABELS = table(
    "labels", "The rating that a majority of an item's raters gave.",
    _CRITERION, text("items", "all or kept"), text("label", f"or {NO_MAJORITY!r}", "Label"),
    text("group", "empty where the ratings are not grouped", "Group"), count("count", "of items"), share("share"),
)  # fmt: skip


@dataclass(frozen=True)
class RatingAgreement(Result):
    """Intervals are by conversation, turn or item; items with a single rating count in no measure of agreement.

    min_agreement
        The share of an item's pairs of ratings from which the item is kept.
    """

    study = "agreement"
    declared = (KAPPA, ALPHA, AGREEMENT, _STAGES, _DISTRIBUTION, _LABELS, MEANS, GROUPED, SOURCE_KAPPA)

    min_agreement: float
    kappa: pd.DataFrame
    alpha: pd.DataFrame
    agreement: pd.DataFrame
    stages: pd.DataFrame
    distribution: pd.DataFrame
    labels: pd.DataFrame
    means: pd.DataFrame
    grouped: pd.DataFrame
    source_kappa: pd.DataFrame


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
    scales = scales_of(ratings)
    check_majority(majority, max((int(scale.counts.sum(axis=1).max(initial=0)) for scale in scales), default=0), "raters")
    stages: list[tuple[Any, ...]] = []
    distribution: list[tuple[Any, ...]] = []
    labels: list[tuple[Any, ...]] = []
    groups_of = {scale.criterion: _group_of(scale, groups) for scale in scales}
    for scale in scales:
        group_of = groups_of[scale.criterion]
        kept = np.nan_to_num(pair_agreement(scale.counts), nan=-1) >= min_agreement
        for items, counts in (("all", scale.counts), ("kept", scale.counts[kept])):
            grouped = [("given", counts), *([("grouped", _grouped(counts, scale, group_of))] if group_of else [])]
            for kind, some in grouped:
                alpha = krippendorff_alpha(some, np.arange(some.shape[1]), "nominal")
                stages.append((scale.criterion, items, kind, len(some), fleiss_kappa(some), alpha))
            labels += _labels(scale, items, counts, group_of, majority)
        totals = scale.counts.sum(axis=0)
        shares = zip(scale.values, totals.tolist(), (totals / totals.sum()).tolist(), strict=True)
        distribution += [(scale.criterion, *row) for row in shares]
    units = rating_units(scales, evaluated.policy.unit)
    notes = dict.fromkeys([*evaluated.notes, *(own.note for own in units.values() if own.note)])
    most = max(units.values(), key=lambda own: own.count)
    evaluated = replace(evaluated, notes=tuple(notes), unit=most.kind, units=most.count)
    return RatingAgreement(
        evaluated, min_agreement, *agreement_tables(scales, min_agreement, units, seed), _STAGES.frame(stages),
        _DISTRIBUTION.frame(distribution), _LABELS.frame(labels),
        *source_tables(ratings, groups_of, majority, evaluated.policy.unit, seed),
    )  # fmt: skip


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
    label = label_places(counts, majority)
    rows = []
    for place, name in [*enumerate(scale.values), (-1, NO_MAJORITY)]:
        count = int((label == place).sum())
        share = count / len(counts) if len(counts) else math.nan
        rows.append((scale.criterion, items, name, group_of.get(name, ""), count, share))
    return rows
