"""How far do scores drop when the same is asked in other words? Test sets of paraphrases beside their baseline.

Source: Al-Thani et al. (2023), "ECAsT", stage 5 and Table 11. What its text calls a drop of 12 % is one of 0.12 points
(0.624 to 0.506 on average); here a drop is given in points and, apart from that, in per cent of the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.hole_expectation import DROPS
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.state import Group
from robustcs.lazy import npt, pd
from robustcs.result import Evaluated, Result, count, measure, number, p_value, score, share, table, text
from robustcs.slicing.table import Slicing, turn_slicings
from robustcs.statistics.effect import check_margin
from robustcs.statistics.estimate import Tested
from robustcs.statistics.families import max_t_family
from robustcs.statistics.means import TIE, risk
from robustcs.statistics.units import Units, units_of
from robustcs.statistics.variance import variance_components
from robustcs.studies.robustness.drops import (
    DROP,
    PERCENT,
    SLICES,
    VARIATIONS,
    Categories,
    drops_of,
    slice_drops,
    tests_of,
    variation_drops,
)

#: Measures of Table 11 of the ECAsT paper.
DEFAULT_MEASURES = tuple(map(parse_measure, ("ndcg_cut_3", "recall_1000", "map")))
#: Tables of drops, and what each row of them is about.
_SETS_OF = {"measures": "sets", "groups": "means of groups"}
_OF_MEANS = {"drop": "mean_drop", "drop_percent": "mean_drop_percent"}
#: What turns are split by in any case.
ALWAYS = ("first", "depth")


#: Columns of the turns over the sets.
TURNS = (
    text("turn"), score("baseline"), score("mean", "over the sets, as are the next four"),
    score("sd", "of the formulations at hand (divided by their number less one); null for a single set"), score("low"),
    score("high"), score("range", "high − low"), text("low_set", "the first set with the lowest score"),
    text("high_set", "the first set with the highest score"), number("drop", "baseline − mean").rounded(4),
)  # fmt: skip
_TABLES = (
    table(
        "measures", "Every test set beside the baseline of its group. A drop is baseline − value: a positive one is a loss.",
        text("group"), text("set"), measure(), score("value"), score("baseline"), DROP, PERCENT,
        *tests_of("sets"), text("baseline_run"),
    ),
    table(
        "groups", "The drop of a group: the mean over its sets, tested on every turn's mean drop.",
        text("group"), measure(), score("value", "mean over the sets"), score("baseline"), replace(DROP, name="mean_drop"),
        replace(PERCENT, name="mean_drop_percent"), *tests_of("groups"),
        count("sets", "their number"),
    ),
    table(
        "risk", "Turns that win and lose against the baseline.",
        text("group"), text("set"), measure(), count("wins", "", "win", "turns"), count("losses", "", "lose", "turns"),
        count("ties", "", "tie", "turns"), number("alpha", "a loss weighs 1 + alpha times a gain"),
        number("urisk", "mean gain, losses weighed by alpha", "U_Risk").rounded(4),
        number("trisk", "U_Risk by its standard error; no test statistic", "T_Risk").rounded(2),
        number("expected", "U_Risk that swapping the two systems at random would give on average", "if equal").rounded(4),
        p_value("p", "of U_Risk by sign flips of whole units: it is that of the drop"),
    ),
    table(
        "variance", "Is it the turn or its wording? No rows for fewer than two sets or turns.",
        text("group"), measure(), text("component", "turn, set, turn_set, or wording = set + turn_set"),
        number("variance"), *share("share").between(says="of the share: 95 %, nested bootstrap-t over units"),
        text("note", "what must be known beside the interval"),
    ),
    table(
        "spread", "How far a turn's score moves over the sets, averaged over turns.",
        text("group"), measure(), count("turns"), score("mean_sd", "", "mean sd"), score("mean_range", "", "mean range"),
        score("max_range", "of the turn that moves most", "largest range"),
        count("steady", "turns with one score in all sets"),
    ),
    table("slices", "Drops of the mean over the sets within slices of the turns.", text("group"), measure(), *SLICES),
    table(
        "variations", "Drops by category of variation, where the paraphrases have one and the texts of sets are given: the"
        " turns that have such a variation, each as the mean of the sets that ask it so.",
        text("group"), text("category"), measure(), *VARIATIONS,
    ),
    table("turns", "Every turn over the sets.", text("group"), measure(), *TURNS, text("text", "Human", "Human")),
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
    tables: dict[str, list[Any]] = {
        name: [] for name in ("measures", "groups", "risk", "variance", "spread", "variations", "slices")
    }
    turns_: list[pd.DataFrame] = []
    tests: dict[tuple[str, str], list[tuple[Tested, npt.NDArray[np.float64]]]] = {}
    notes: list[str] = []
    for (name, group), metric in product(groups.items(), next(iter(scores.values())).columns):
        base = scores[group.baseline][metric].to_numpy()
        sets = np.stack([scores[set_][metric].to_numpy() for set_ in group.sets], axis=1)
        key = {"group": name, "metric": metric}
        # the drop of the sets' mean is the mean of their drops
        *drops, (mean, mean_test, mean_sums) = drops_of(np.vstack([sets.T, sets.mean(axis=1)]), base, units, margin, seed)
        for set_, values, (drop, test, sums) in zip(group.sets, sets.T, drops, strict=True):
            tables["measures"].append(key | {"set": set_} | drop | {"baseline_run": group.baseline})
            tables["risk"].append(key | {"set": set_, "alpha": alpha, "p": test.p} | vars(risk(values - base, alpha)))
            tests.setdefault(("measures", metric), []).append((test, sums))
        tables["groups"].append(key | {_OF_MEANS.get(at, at): value for at, value in mean.items()} | {"sets": sets.shape[1]})
        tests.setdefault(("groups", metric), []).append((mean_test, mean_sums))
        tables["variance"] += [key | part for part in variance_shares(sets, units, seed)]
        tables["spread"].append(key | spread(sets))
        kinds = [(categories or {}).get(set_, {}) for set_ in group.sets]
        by_kind = variation_drops(pd.Index(turns), base, sets, kinds, units, margin, seed)
        tables["variations"] += [key | row for row in by_kind]
        tables["slices"] += [(name, metric, *row) for row in slice_drops(base, sets, slicings, units, seed)]
        turns_.append(turn_variability(pd.Index(turns), base, sets, group.sets).assign(**key))
    built = {spec.name: spec.frame(tables[spec.name]) for spec in _TABLES if spec.name in tables}
    if not tables["variance"]:
        notes.append("a variance decomposition needs at least two sets in a group and two turns")
    all_turns = pd.concat(turns_, ignore_index=True)
    all_turns["text"] = [(texts or {}).get(turn) for turn in all_turns["turn"]]
    built["turns"] = all_turns[["group", "metric", *all_turns.columns.drop(["group", "metric"])]]
    for (name, metric), some in tests.items():
        family = max_t_family([test for test, _ in some], [sums for _, sums in some], seed)
        built[name].loc[built[name]["metric"] == metric, "p_corrected"] = family.p
        notes += [f"{_SETS_OF[name]}: {family.note}"] if family.note else []
    for name in (*_SETS_OF, "variations"):
        built[name] = built[name].astype({"equivalent": "boolean"})
    notes = [*evaluated.notes, *dict.fromkeys(notes), "unjudged passages count as not relevant: see robustcs unjudged"]
    return Robustness(units.stated(replace(evaluated, notes=tuple(notes))), margin, **built)


def turn_variability(
    turns: pd.Index, baseline: npt.NDArray[np.float64], scores: npt.NDArray[np.float64], sets: Sequence[str]
) -> pd.DataFrame:
    """Every turn over the sets (``scores``: turns × sets), in the columns of :data:`TURNS`."""
    low, high, names = scores.min(axis=1), scores.max(axis=1), np.array(sets, dtype=object)
    sd = scores.std(axis=1, ddof=1) if len(sets) > 1 else np.nan
    return pd.DataFrame({
        "turn": turns, "baseline": baseline, "mean": scores.mean(axis=1), "sd": sd, "low": low, "high": high,
        "range": high - low, "low_set": names[scores.argmin(axis=1)], "high_set": names[scores.argmax(axis=1)],
        "drop": baseline - scores.mean(axis=1),
    })  # fmt: skip


def spread(scores: npt.NDArray[np.float64]) -> dict[str, float]:
    """Spread over the sets, averaged over turns: turns, mean_sd, mean_range, max_range, steady (turns that do not move)."""
    ranges = scores.max(axis=1) - scores.min(axis=1)
    sd = scores.std(axis=1, ddof=1).mean() if scores.shape[1] > 1 else np.nan
    return {
        "turns": len(scores),
        "mean_sd": float(sd),
        "mean_range": float(ranges.mean()),
        "max_range": float(ranges.max()),
        "steady": int((ranges < TIE).sum()),
    }


def variance_shares(scores: npt.NDArray[np.float64], units: Units, seed: int) -> list[dict[str, object]]:
    """Rows component, variance, share, ci_low, ci_high, note of the decomposition; none for fewer than two sets or turns."""
    if min(scores.shape) < 2:
        return []
    return [
        {"component": part.name, "variance": part.variance, "share": part.share.value, "ci_low": part.share.low,
         "ci_high": part.share.high, "note": part.share.note}
        for part in variance_components(scores, units, seed)
    ]  # fmt: skip
