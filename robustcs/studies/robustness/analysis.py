"""How far do scores drop when the same is asked in other words? Test sets of paraphrases beside their baseline.

Source: Al-Thani et al. (2023), "ECAsT", stage 5 and Table 11. What its text calls a drop of 12 % is one of 0.12 points
(0.624 to 0.506 on average); here a drop is given in points and, apart from that, in per cent of the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.hole_expectation import DROPS
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.state import Group
from robustcs.lazy import npt, pd
from robustcs.result import Evaluated, Result, count, difference, number, p_value, score, share, table, text
from robustcs.slicing.table import Slicing, turn_slicings
from robustcs.statistics.effect import check_margin
from robustcs.statistics.estimate import Tested
from robustcs.statistics.families import max_t_family
from robustcs.statistics.means import risk
from robustcs.statistics.units import units_of
from robustcs.studies.robustness.drops import drops_of, tests_of
from robustcs.studies.robustness.slices import SLICES, slice_drops
from robustcs.studies.robustness.variability import TURNS, spread, turn_variability, variance_shares
from robustcs.studies.robustness.variations import VARIATIONS, Categories, variation_drops

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]

#: Measures of Table 11 of the ECAsT paper.
DEFAULT_MEASURES = tuple(map(parse_measure, ("ndcg_cut_3", "recall_1000", "map")))
#: Tables of drops, and what each row of them is about.
_SETS_OF = {"measures": "sets", "groups": "means of groups"}
_OF_MEANS = {"drop": "mean_drop", "drop_percent": "mean_drop_percent"}
#: What turns are split by in any case.
ALWAYS = ("first", "depth")


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
        number("trisk", "U_Risk by its standard error; no test statistic", "T_Risk"),
        difference("expected", "U_Risk that swapping the two systems at random would give on average", "if equal"),
        p_value("p", "of U_Risk by sign flips of whole units: it is that of the drop"),
    ),
    table(
        "variance", "Is it the turn or its wording? No rows for fewer than two sets or turns.",
        text("group"), text("metric"), text("component", "turn, set, turn_set, or wording = set + turn_set"),
        number("variance"), share("share"), share("ci_low", "of the share: 95 %, nested bootstrap-t over units"),
        share("ci_high"), text("note", "what must be known beside the interval"),
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
    DROPS,
)  # fmt: skip


@dataclass(frozen=True)
class Robustness(Result):
    """Test sets beside their baseline. A drop is baseline − value, so a positive drop is a loss.

    margin
        Drops up to this count as none; None where nothing is said about equivalence.
    drops
        What the mean drops probably are with unjudged passages filled in: of a report, which asks for them.
    """

    study = "robustness"
    declared = _TABLES

    margin: float | None
    measures: pd.DataFrame
    groups: pd.DataFrame
    risk: pd.DataFrame
    variance: pd.DataFrame
    spread: pd.DataFrame
    slices: pd.DataFrame
    variations: pd.DataFrame
    turns: pd.DataFrame
    drops: pd.DataFrame = field(default_factory=lambda: DROPS.frame([]))


def robustness(
    groups: Mapping[str, Group],
    scores: Mapping[str, pd.DataFrame],
    evaluated: Evaluated,
    slicings: Sequence[Slicing] | None = None,
    texts: Mapping[str, str] | None = None,
    alpha: float = 1.0,
    margin: float | None = None,
    seed: int = 0,
    categories: Categories | None = None,
) -> Robustness:
    """Compare every set of every group (at least one) with the group's baseline.

    ``scores``: system name → turns × measures, all over the same turns. ``slicings``: how the turns are split, by default by
    first and depth. ``texts``: turn → text, shown with the turns. ``alpha`` weighs losses in the risk summaries. ``margin`` is
    the largest drop that counts as none. ``categories``: set → turn → the kind of variation that the set has there.

    Raises :class:`UsageError` for a group that has a system twice, and for a margin that is not above 0.
    """
    check_margin(margin)
    for name, group in groups.items():
        if len({group.baseline, *group.sets}) <= len(group.sets):
            raise UsageError("repeated-run", f"group {name!r} has a run twice", "compare different runs")
    turns = list(next(iter(scores.values())).index)
    units = units_of(turns, evaluated.policy.unit)
    if slicings is None:
        slicings, _ = turn_slicings(ALWAYS, turns, {}, {})
    tables: dict[str, list[dict[str, object]]] = {
        name: [] for name in ("measures", "groups", "risk", "variance", "spread", "variations")
    }
    frames: dict[str, list[pd.DataFrame]] = {"slices": [], "turns": []}
    tests: dict[tuple[str, str], list[tuple[Tested, Floats]]] = {}
    notes: list[str] = []
    for name, group in groups.items():
        baseline = scores[group.baseline]
        for metric in baseline.columns:
            base = baseline[metric].to_numpy()
            sets = np.stack([scores[set_][metric].to_numpy() for set_ in group.sets], axis=1)
            key = {"group": name, "metric": metric}
            # the drop of the sets' mean is the mean of their drops
            *drops, mean = drops_of(np.vstack([sets.T, sets.mean(axis=1)]), base, units, margin, seed)
            for set_, values, (drop, test, sums) in zip(group.sets, sets.T, drops, strict=True):
                of_set = {"group": name, "set": set_, "metric": metric}
                tables["measures"].append(of_set | drop | {"baseline_run": group.baseline})
                tables["risk"].append(of_set | _risk(values - base, alpha) | {"p": test.p})
                tests.setdefault(("measures", metric), []).append((test, sums))
            tables["groups"].append(key | {_OF_MEANS.get(column, column): value for column, value in mean[0].items()})
            tables["groups"][-1]["sets"] = len(group.sets)
            tests.setdefault(("groups", metric), []).append(mean[1:])
            tables["variance"] += [key | part for part in variance_shares(sets, units, seed)]
            tables["spread"].append(key | spread(sets))
            kinds = [(categories or {}).get(set_, {}) for set_ in group.sets]
            by_kind = variation_drops(baseline.index, base, sets, kinds, units, margin, seed)
            tables["variations"] += [key | row for row in by_kind]
            frames["turns"].append(turn_variability(baseline.index, base, sets, group.sets).assign(**key))
            frames["slices"].append(slice_drops(base, sets, slicings, units, seed).assign(**key))
    built = {spec.name: spec.frame(tables[spec.name]) for spec in _TABLES if spec.name in tables}
    if not tables["variance"]:
        notes.append("a variance decomposition needs at least two sets in a group and two turns")
    built |= {name: _keys_first(pd.concat(parts, ignore_index=True)) for name, parts in frames.items()}
    built["turns"]["text"] = [(texts or {}).get(turn) for turn in built["turns"]["turn"]]
    for (name, metric), some in tests.items():
        family = max_t_family([test for test, _ in some], [sums for _, sums in some], seed)
        built[name].loc[built[name]["metric"] == metric, "p_corrected"] = family.p
        notes += [f"{_SETS_OF[name]}: {family.note}"] if family.note else []
    for name in (*_SETS_OF, "variations"):
        built[name] = built[name].astype({"equivalent": "boolean"})
    notes = [*evaluated.notes, *dict.fromkeys(notes), "unjudged passages count as not relevant: see robustcs unjudged"]
    return Robustness(units.stated(replace(evaluated, notes=tuple(notes))), margin, **built)


def _risk(gains: Floats, alpha: float) -> dict[str, object]:
    found = risk(gains, alpha)
    return {
        "wins": found.wins, "losses": found.losses, "ties": found.ties,
        "alpha": alpha, "urisk": found.urisk, "trisk": found.trisk, "expected": found.expected,
    }  # fmt: skip


def _keys_first(frame: pd.DataFrame) -> pd.DataFrame:
    keys = ["group", "metric"]
    return frame[keys + [column for column in frame.columns if column not in keys]]
