"""What raters say, by criterion and by the source of what they rated: means, groups and kappa.

Source: Al-Thani et al. (2023), "ECAsT", stage 3 and Figure 7. The unit of all intervals is the conversation of the rated turn,
or the turn where there are fewer than five conversations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from robustcs.evaluation.rating_scales import Scale, scales_of
from robustcs.inputs.ratings import Rating
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import Unit
from robustcs.result import count, number, score, share, table, text
from robustcs.statistics.agreement import Counts, agreement_estimate, fleiss_of, fleiss_sums, majority_of
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.units import Units, units_of

#: The source of everything together.
ALL = "all"
NO_MAJORITY = "no majority"
_KEYS = (text("criterion", header="Criterion"), text("source", f"of what was rated, or {ALL}", "Source"), count("items"))
_INTERVAL = (
    number("ci_low", "95 %; null for fewer than five units"), number("ci_high"), count("units"),
    text("unit", "conversation or turn"),
)  # fmt: skip
MEANS = table(
    "means", "Mean ratings by criterion and source, where ratings are numbers.",
    *_KEYS, number("value", "mean over items of the mean of an item's ratings", "mean"), *_INTERVAL,
    number("label_mean", "mean of the ratings that a majority of an item's raters gave", "of labels"),
    count("labelled", "items with such a rating"),
)  # fmt: skip
GROUPED = table(
    "grouped", "Items by the group of their label, by criterion and source, where ratings are grouped (Figure 7).",
    *_KEYS, text("group", f"or {NO_MAJORITY!r}"), count("count", "of items"), share("share"), *_INTERVAL,
)  # fmt: skip
SOURCE_KAPPA = table(
    "source_kappa", "Fleiss' kappa of the ratings as given, by criterion and source.",
    *_KEYS, score("value", header="Fleiss' κ"), *_INTERVAL,
)  # fmt: skip


def label_places(counts: Counts, majority: int | None) -> np.ndarray:
    """int[items]: the place of the rating that a majority of an item's raters gave, −1 where there is none.

    ``counts`` [items, values]; ``majority``: how many raters make a label, None is more than half of those of the item.
    """
    needed = np.array([majority_of(int(raters), majority) for raters in counts.sum(axis=1)], dtype=np.int64)
    top = counts.max(axis=1, initial=0)
    # two ratings may both reach a majority that is no more than half
    clear = (top >= needed) & ((counts == top[:, None]).sum(axis=1) == 1)
    return np.where(clear, counts.argmax(axis=1) if len(counts) else 0, -1)


def source_tables(
    ratings: Sequence[Rating], groups_of: Mapping[str, Mapping[str, str]], majority: int | None, unit: Unit, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The tables :data:`MEANS`, :data:`GROUPED` and :data:`SOURCE_KAPPA`.

    ``groups_of``: criterion → rating → group; empty where the ratings of a criterion are not grouped.
    """
    means: list[tuple[object, ...]] = []
    grouped: list[tuple[object, ...]] = []
    kappas: list[tuple[object, ...]] = []
    for source, scale, units in _parts(ratings, unit):
        key = (scale.criterion, source, len(scale.counts))
        labels = label_places(scale.counts, majority)
        if scale.numbers:
            values = scale.counts @ np.array(scale.numbers) / scale.counts.sum(axis=1)
            (mean,) = mean_estimates(units.sums(values), units.sizes, units.kind)
            chosen = np.array(scale.numbers)[labels[labels >= 0]]
            label_mean = float(chosen.mean()) if len(chosen) else math.nan
            means.append((*key, mean.value, mean.low, mean.high, units.count, units.kind, label_mean, len(chosen)))
        group_of = groups_of.get(scale.criterion, {})
        if group_of:
            own = np.array([group_of[scale.values[place]] if place >= 0 else NO_MAJORITY for place in labels], dtype=object)
            for group in [*dict.fromkeys(group_of.values()), NO_MAJORITY]:
                hits = own == group
                (part,) = share_estimates(units.sums(hits), units.sizes, units.kind)
                grouped.append((*key, group, int(hits.sum()), part.value, part.low, part.high, units.count, units.kind))
        kappa = agreement_estimate(units.sums(fleiss_sums(scale.counts).T).T, fleiss_of, seed, units.kind)
        kappas.append((*key, kappa.value, kappa.low, kappa.high, kappa.units, units.kind))
    return MEANS.frame(means), GROUPED.frame(grouped), SOURCE_KAPPA.frame(kappas)


def _parts(ratings: Sequence[Rating], unit: Unit) -> Iterator[tuple[str, Scale, Units]]:
    """(source, ratings counted, units of their items) for every criterion: all together, then each source if there are any."""
    source_of: dict[tuple[str, str], str] = {}
    for rating in ratings:
        if rating.source:
            source_of.setdefault((rating.turn, rating.item), rating.source)
    sources = sorted(set(source_of.values()))
    # in an order of their own: what is drawn must not depend on that of the file
    ordered = sorted(ratings, key=lambda rating: (turn_sort_key(rating.turn), rating.item, rating.worker))
    for criterion in dict.fromkeys(rating.criterion for rating in ratings):
        mine = [rating for rating in ordered if rating.criterion == criterion]
        for source in [ALL, *sources]:
            some = [rating for rating in mine if source in (ALL, source_of.get((rating.turn, rating.item)))]
            if some:
                (scale,) = scales_of(some)
                turns = [turn or item for turn, item in dict.fromkeys((rating.turn, rating.item) for rating in some)]
                yield source, scale, _units(turns, unit)


def _units(turns: Sequence[str], unit: Unit) -> Units:
    """The unit of every item, by its turn: items of one turn are never independent."""
    units = units_of(turns, unit)
    if units.kind == "conversation":
        return units
    places = {turn: place for place, turn in enumerate(dict.fromkeys(turns))}
    return Units("turn", np.array([places[turn] for turn in turns], dtype=np.int64), tuple(places), units.note)
