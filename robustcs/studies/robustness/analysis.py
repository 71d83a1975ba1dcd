"""How far do scores drop when the same is asked in other words? Test sets of paraphrases beside their baseline.

Source: Al-Thani et al. (2023), "ECAsT", stage 5 and Table 11. What its text calls a drop of 12 % is one of 0.12 points
(0.624 to 0.506 on average); here a drop is given in points and, apart from that, in per cent of the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.evaluation.measures import parse_measure
from robustcs.result import Evaluated, Result, count, difference, number, score, share, table, text
from robustcs.statistics.correction import holm
from robustcs.statistics.risk import risk
from robustcs.statistics.units import Units, units_of
from robustcs.studies.robustness.drops import drop_of, tests_of
from robustcs.studies.robustness.slices import SLICES, Slices, slice_drops
from robustcs.studies.robustness.variability import TURNS, spread, turn_variability, variance_shares
from robustcs.studies.robustness.variations import VARIATIONS, Categories, variation_drops

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Floats = npt.NDArray[np.float64]

#: Measures of Table 11 of the ECAsT paper.
DEFAULT_MEASURES = tuple(map(parse_measure, ("ndcg_cut_3", "recall_1000", "map")))
#: How much more than a gain a loss weighs in U_Risk, in the tables that do not say otherwise (TREC Web Track 2013).
ALPHA = 1.0


_TABLES = (
    table(
        "measures", "Every test set beside the baseline of its group. A drop is baseline − value: a positive one is a loss.",
        text("group"), text("set"), text("metric"), score("value"), score("baseline"), difference("drop"),
        number("drop_percent", "of the baseline; null where that is 0", "in %"), *tests_of("sets"), text("baseline_run"),
    ),
    table(
        "groups", "The drop of a group: the mean over its sets, tested on every turn's mean drop.",
        text("group"), text("metric"), score("value", "mean over the sets"), score("baseline"), difference("mean_drop"),
        number("mean_drop_percent", "of the baseline; null where that is 0", "in %"), *tests_of("groups"),
        count("sets", "their number"),
    ),
    table(
        "risk", "Turns that win and lose against the baseline.",
        text("group"), text("set"), text("metric"), count("wins", "", "win", "turns"), count("losses", "", "lose", "turns"),
        count("ties", "", "tie", "turns"), number("alpha", "a loss weighs 1 + alpha times a gain"),
        difference("urisk", "mean gain, losses weighed by alpha", "U_Risk"),
        number("trisk", "U_Risk by its standard error", "T_Risk"),
    ),
    table(
        "variance", "Is it the turn or its wording? No rows for fewer than two sets or turns.",
        text("group"), text("metric"), text("component", "turn, set, turn_set, or wording = set + turn_set"),
        number("variance"), share("share"), share("ci_low", "of the share: 95 % bootstrap over turns"), share("ci_high"),
    ),
    table(
        "spread", "How far a turn's score moves over the sets, averaged over turns.",
        text("group"), text("metric"), count("turns"), score("mean_sd", "", "mean sd"), score("mean_range", "", "mean range"),
        score("max_range", "of the turn that moves most", "largest range"),
        count("steady", "turns with one score in all sets"),
    ),
    table("slices", "Drops of the mean over the sets within slices of the turns.", text("group"), text("metric"), *SLICES),
    table(
        "variations", "Drops by category of variation, where the paraphrases have one and the texts of sets are given: the"
        " turns that have such a variation, each as the mean of the sets that ask it so.",
        text("group"), text("category"), text("metric"), *VARIATIONS, *tests_of("categories of a group"),
    ),
    table("turns", "Every turn over the sets.", text("group"), text("metric"), *TURNS, text("text", "Human", "Human")),
)  # fmt: skip


@dataclass(frozen=True)
class Robustness(Result):
    """Test sets beside their baseline. A drop is baseline − value, so a positive drop is a loss."""

    study = "robustness"
    declared = _TABLES

    measures: pd.DataFrame
    groups: pd.DataFrame
    risk: pd.DataFrame
    variance: pd.DataFrame
    spread: pd.DataFrame
    slices: pd.DataFrame
    variations: pd.DataFrame
    turns: pd.DataFrame


def robustness(
    groups: Mapping[str, Group],
    scores: Mapping[str, pd.DataFrame],
    evaluated: Evaluated,
    slices: Slices | None = None,
    texts: Mapping[str, str] | None = None,
    alpha: float = ALPHA,
    seed: int = 0,
    categories: Categories | None = None,
) -> Robustness:
    """Compare every set of every group (at least one) with the group's baseline.

    ``scores``: system name → turns × measures, all over the same turns. ``slices``: column → turn → value. ``texts``: turn →
    text, shown with the turns. ``alpha`` weighs losses in the risk summaries. ``categories``: set → turn → the kind of
    variation that the set has there.

    Raises :class:`UsageError` for a group that has a system twice.
    """
    import pandas as pd

    for name, group in groups.items():
        if len({group.baseline, *group.sets}) <= len(group.sets):
            raise UsageError("repeated-run", f"group {name!r} has a run twice", "compare different runs")
    units = units_of(list(next(iter(scores.values())).index), evaluated.policy.unit)
    tables: dict[str, list[dict[str, object]]] = {
        name: [] for name in ("measures", "groups", "risk", "variance", "spread", "variations")
    }
    frames: dict[str, list[pd.DataFrame]] = {"slices": [], "turns": []}
    notes: list[str] = []
    for name, group in groups.items():
        baseline = scores[group.baseline]
        for metric in baseline.columns:
            base = baseline[metric].to_numpy()
            sets = np.stack([scores[set_][metric].to_numpy() for set_ in group.sets], axis=1)
            key = {"group": name, "metric": metric}
            for set_, values in zip(group.sets, sets.T, strict=True):
                drop = drop_of(values, base, units, seed)
                tables["measures"].append(
                    {"group": name, "set": set_, "metric": metric, **drop, "baseline_run": group.baseline}
                )
                tables["risk"].append({"group": name, "set": set_, "metric": metric, **_risk(values - base, alpha)})
            tables["groups"].append(key | _group_drop(sets, base, units, seed))
            tables["variance"] += [key | part for part in variance_shares(sets, seed)]
            tables["spread"].append(key | spread(sets))
            kinds = [(categories or {}).get(set_, {}) for set_ in group.sets]
            tables["variations"] += [key | row for row in variation_drops(baseline.index, base, sets, kinds, units, seed)]
            frames["turns"].append(turn_variability(baseline.index, base, sets, group.sets).assign(**key))
            cut, left_out = slice_drops(baseline.index, base, sets, slices or {}, units)
            frames["slices"].append(cut.assign(**key))
            notes += left_out
    built = {spec.name: spec.frame(tables[spec.name]) for spec in _TABLES if spec.name in tables}
    if not tables["variance"]:
        notes.append("a variance decomposition needs at least two sets in a group and two turns")
    built |= {name: _keys_first(pd.concat(parts, ignore_index=True)) for name, parts in frames.items()}
    built["turns"]["text"] = [(texts or {}).get(turn) for turn in built["turns"]["turn"]]
    for name, by in (("measures", ["metric"]), ("groups", ["metric"]), ("variations", ["group", "metric"])):
        built[name] = _corrected(built[name], by)
    notes = [*evaluated.notes, *dict.fromkeys(notes), "unjudged passages count as not relevant: see robustcs unjudged"]
    notes += [units.note] if units.note else []
    return Robustness(replace(evaluated, notes=tuple(notes), unit=units.kind, units=units.count), **built)


def _group_drop(sets: Floats, base: Floats, units: Units, seed: int) -> dict[str, float]:
    """The drop of the sets' mean, which is the mean of their drops, in points and in per cent of the common baseline."""
    drop = drop_of(sets.mean(axis=1), base, units, seed)
    names = {"drop": "mean_drop", "drop_percent": "mean_drop_percent"}
    return {names.get(name, name): value for name, value in drop.items()} | {"sets": sets.shape[1]}


def _risk(gains: Floats, alpha: float) -> dict[str, float]:
    found = risk(gains, alpha)
    return {
        "wins": found.wins, "losses": found.losses, "ties": found.ties,
        "alpha": alpha, "urisk": found.urisk, "trisk": found.trisk,
    }  # fmt: skip


def _corrected(frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The frame with Holm's correction of each p, over all rows that have the same in the columns ``by``."""
    for column in ("p", "t_p"):
        frame[f"{column}_corrected"] = frame.groupby(by, sort=False)[column].transform(lambda p: holm(p.to_numpy()))
    return frame


def _keys_first(frame: pd.DataFrame) -> pd.DataFrame:
    keys = ["group", "metric"]
    return frame[keys + [column for column in frame.columns if column not in keys]]
