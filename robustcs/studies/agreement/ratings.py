"""Agreement and results of raters: Fleiss' kappa, Krippendorff's alpha, raw agreement, majority labels.

Source: Al-Thani et al. (2023), "ECAsT", stage 3 and Figure 7 (by the source of the rated items). The paper keeps items on which
at least 40% of the raters agree, groups ratings into poor, undecided and good, and labels an item with the rating of at least
three of five raters. Here, the agreement of an item is the share of equal pairs among its ratings (the raw agreement of
Fleiss' kappa). With five raters, every item that reaches 40% then has a label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.rating_scales import (
    ALPHA,
    KAPPA,
    RatingScale,
    agreement_tables,
    rating_units,
    scales_of,
)
from robustcs.inputs.ratings import Rating
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import Grouping
from robustcs.result import (
    Evaluated,
    Result,
    computes,
    count,
    number,
    score,
    share,
    table,
    text,
)
from robustcs.statistics import agreement
from robustcs.statistics.agreement import Counts
from robustcs.statistics.estimate import MIN_AGREEMENT
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.units import Units, units_of

#: Group → its ratings. The default is that of the paper, for a scale of 1 to 5.
Groups = Mapping[str, Sequence[str]]
GROUPS: Groups = {"poor": ("1", "2"), "undecided": ("3",), "good": ("4", "5")}
#: The name for all sources together.
ALL = "all"
NO_MAJORITY = "no majority"
_CRITERION = text("criterion", header="Criterion")
_KEYS = (_CRITERION, text("source", f"of the rated items, or {ALL}", "Source"), count("items"))
_LEAST = "95% CI; null for fewer than five units"
_UNITS = (count("units"), text("unit", "conversation, topic, turn or item"))


@dataclass(frozen=True)
class Rated:
    """What the slow tables are computed from.

    ratings, majority, seed
        As in :func:`rating_agreement`.
    scales
        The ratings by criterion.
    groups_of
        Criterion → rating → group.
    units
        Criterion → the sampling units of its items.
    """

    ratings: Sequence[Rating]
    scales: Sequence[RatingScale]
    groups_of: Mapping[str, Mapping[str, str]]
    majority: int | None
    units: Mapping[str, Units]
    seed: int


@dataclass(frozen=True)
class RatingAgreement(Result):
    """Agreement on ratings. Intervals are by conversation, turn or item. Agreement excludes items with a single rating.

    min_agreement
        An item is kept if at least this share of its pairs of ratings is equal.
    rated
        What the slow tables are computed from.
    """

    study = "agreement"

    kappa = KAPPA
    alpha = ALPHA
    stages = table(
        "stages", "Agreement before and after filtering and grouping.",
        _CRITERION, text("items", "all or kept", "Items"), text("ratings", "given or grouped", "Ratings"),
        count("count", "of items", "items"), score("kappa", header="κ"), score("alpha", "nominal"),
    )  # fmt: skip
    distribution = table(
        "distribution", "Single ratings.",
        _CRITERION, text("rating", header="Rating"), count("count", header="ratings"), share("share", "of all ratings"),
    )  # fmt: skip
    means = table(
        "means", "Mean ratings and their Fleiss' kappa by criterion and source.",
        *_KEYS,
        *number("value", "mean over items of the item's mean rating; null if ratings are not numbers", "mean").rounded(2)
        .between(says=_LEAST), *score("kappa", header="Fleiss' κ").rounded(2).between("kappa_low", "kappa_high", _LEAST),
        *_UNITS,
    )  # fmt: skip
    grouped = table(
        "grouped", "Items by label, by criterion and source (Figure 7): the rating that a majority of an item's raters gave.",
        *_KEYS, text("group", f"of the label; the label itself if the ratings are not grouped; or {NO_MAJORITY!r}"),
        count("count", "of items"), *share("share").between(says=_LEAST), *_UNITS,
    )  # fmt: skip

    min_agreement: float
    rated: Rated

    @cached_property
    def _of_all(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The tables ``kappa`` and ``alpha``."""
        own = self.rated
        return agreement_tables(own.scales, self.min_agreement, own.units, own.seed)

    @cached_property
    def _of_sources(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """The rows of the tables ``means`` and ``grouped``."""
        own, by = self.rated, self.evaluated.grouping
        return source_tables(own.ratings, own.groups_of, own.majority, by, own.seed)

    @computes(kappa)
    def _kappa(self) -> pd.DataFrame:
        return self._of_all[0]

    @computes(alpha)
    def _alpha(self) -> pd.DataFrame:
        return self._of_all[1]

    @computes(means)
    def _means(self) -> list[tuple[Any, ...]]:
        return self._of_sources[0]

    @computes(grouped)
    def _grouped(self) -> list[tuple[Any, ...]]:
        return self._of_sources[1]


def rating_agreement(
    ratings: Sequence[Rating],
    evaluated: Evaluated,
    groups: Groups | None = None,
    min_agreement: float = MIN_AGREEMENT,
    majority: int | None = None,
    seed: int = 0,
) -> RatingAgreement:
    """Compute the agreement by criterion.

    groups
        Must contain every rating. None: :data:`GROUPS` if they contain every rating, else no grouping.
    majority
        Number of raters that make a label; None: more than half of the raters of the item.

    Raises :class:`UsageError` for a rating in no group or in two, or if no item has ``majority`` raters.
    """
    scales = scales_of(ratings)
    raters = max((int(scale.counts.sum(axis=1).max(initial=0)) for scale in scales), default=0)
    agreement.check_majority(majority, raters, "raters")
    groups_of = {scale.criterion: _group_of(scale, groups) for scale in scales}
    stages: list[tuple[Any, ...]] = []
    distribution: list[tuple[Any, ...]] = []
    for scale in scales:
        group_of = groups_of[scale.criterion]
        kept = np.nan_to_num(agreement.pair_agreement(scale.counts), nan=-1) >= min_agreement
        for items, counts in (("all", scale.counts), ("kept", scale.counts[kept])):
            grouped = [
                ("given", counts),
                *([("grouped", _grouped(counts, scale, group_of))] if group_of else []),
            ]
            for kind, some in grouped:
                alpha = agreement.krippendorff_alpha(some, np.arange(some.shape[1]), "nominal")
                stages.append(
                    (scale.criterion, items, kind, len(some), agreement.fleiss_kappa(some), alpha)
                )
        totals = scale.counts.sum(axis=0)
        shares = zip(scale.values, totals.tolist(), (totals / totals.sum()).tolist(), strict=True)
        distribution += [(scale.criterion, *row) for row in shares]
    units = rating_units(scales, evaluated.grouping)
    notes = dict.fromkeys([*evaluated.notes, *(own.note for own in units.values() if own.note)])
    most = max(units.values(), key=lambda own: own.count)
    evaluated = replace(evaluated, notes=tuple(notes), unit=most.kind, units=most.count)
    rated = Rated(ratings, scales, groups_of, majority, units, seed)
    content = RatingAgreement.built(stages=stages, distribution=distribution)
    return RatingAgreement(evaluated, min_agreement, rated, content=content)


def _group_of(scale: RatingScale, groups: Groups | None) -> dict[str, str]:
    """Return rating → group; empty if the ratings are not grouped."""
    chosen = GROUPS if groups is None else groups
    pairs = [(value, name) for name, values in chosen.items() for value in values]
    group_of = dict(pairs)
    if len(group_of) < len(pairs):
        raise UsageError(
            "rating-in-two-groups", "a rating is in two groups", "list every rating once"
        )
    missing = [value for value in scale.values if value not in group_of]
    if missing and groups is not None:
        advice = f"add it to a group; the groups contain {', '.join(group_of)}"
        raise UsageError(
            "rating-without-group",
            f"rating {missing[0]!r} of {scale.criterion} is in no group",
            advice,
        )
    return {} if missing else group_of


def _grouped(counts: Counts, scale: RatingScale, group_of: Mapping[str, str]) -> Counts:
    """Return ``counts`` by group instead of rating."""
    names = list(dict.fromkeys(group_of.values()))
    member = np.array(
        [[group_of[value] == name for name in names] for value in scale.values], dtype=np.int64
    )
    return np.asarray(counts @ member)


def label_places(counts: Counts, majority: int | None) -> np.ndarray:
    """Return int[items], the column of the rating that a majority of an item's raters gave, or −1.

    ``counts``: int[items, ratings]; ``majority``: number of raters that make a label; None: more than half of the item's.
    """
    needed = np.array(
        [agreement.majority_of(int(raters), majority) for raters in counts.sum(axis=1)],
        dtype=np.int64,
    )
    top = counts.max(axis=1, initial=0)
    # if the majority is at most half, two ratings may reach it
    clear = (top >= needed) & ((counts == top[:, None]).sum(axis=1) == 1)
    return np.where(clear, counts.argmax(axis=1) if len(counts) else 0, -1)


def source_tables(
    ratings: Sequence[Rating],
    groups_of: Mapping[str, Mapping[str, str]],
    majority: int | None,
    by: Grouping,
    seed: int,
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return the rows of ``means`` and of ``grouped``.

    ``groups_of``: criterion → rating → group; empty for criteria whose ratings are not grouped.
    """
    means: list[tuple[object, ...]] = []
    grouped: list[tuple[object, ...]] = []
    for source, scale, units in _parts(ratings, by):
        key = (scale.criterion, source, len(scale.counts))
        labels = label_places(scale.counts, majority)
        mean: Sequence[object] = (math.nan,) * 3
        if scale.numbers:
            values = scale.counts @ np.array(scale.numbers) / scale.counts.sum(axis=1)
            mean = mean_estimates(units.sums(values), units.sizes, units.kind)
        kappa = agreement.agreement_estimate(
            units.sums(agreement.fleiss_sums(scale.counts).T).T,
            agreement.fleiss_of,
            seed,
            units.kind,
        )
        means.append((*key, *mean, kappa, units.count, units.kind))
        group_of = groups_of.get(scale.criterion) or dict(
            zip(scale.values, scale.values, strict=True)
        )
        own = np.array(
            [group_of[scale.values[place]] if place >= 0 else NO_MAJORITY for place in labels],
            dtype=object,
        )
        for group in [*dict.fromkeys(group_of.values()), NO_MAJORITY]:
            hits = own == group
            (part,) = share_estimates(units.sums(hits), units.sizes, units.kind)
            grouped.append((*key, group, int(hits.sum()), part, units.count, units.kind))
    return means, grouped


def _parts(ratings: Sequence[Rating], by: Grouping) -> Iterator[tuple[str, RatingScale, Units]]:
    """Yield (source, counted ratings, sampling units of the items) for each criterion: all sources together, then each."""
    source_of: dict[tuple[str, str], str] = {}
    for rating in ratings:
        if rating.source:
            source_of.setdefault((rating.turn, rating.item), rating.source)
    sources = sorted(set(source_of.values()))
    # random draws must not depend on the order of the file
    ordered = sorted(
        ratings, key=lambda rating: (turn_sort_key(rating.turn), rating.item, rating.worker)
    )
    for criterion in dict.fromkeys(rating.criterion for rating in ratings):
        mine = [rating for rating in ordered if rating.criterion == criterion]
        for source in [ALL, *sources]:
            some = [
                rating
                for rating in mine
                if source in (ALL, source_of.get((rating.turn, rating.item)))
            ]
            if some:
                (scale,) = scales_of(some)
                yield (
                    source,
                    scale,
                    _units(list(dict.fromkeys((rating.turn, rating.item) for rating in some)), by),
                )


def _units(items: Sequence[tuple[str, str]], by: Grouping) -> Units:
    """Return the sampling unit of each (turn, item), at least its turn: items of one turn are never independent."""
    turns = [turn or item for turn, item in items]
    units = units_of(turns, by)
    if units.kind != "turn":
        return units
    places = {turn: place for place, turn in enumerate(dict.fromkeys(turns))}
    kind = "turn" if any(turn for turn, _ in items) else "item"
    return Units(
        kind, np.array([places[turn] for turn in turns], dtype=np.int64), tuple(places), units.note
    )
