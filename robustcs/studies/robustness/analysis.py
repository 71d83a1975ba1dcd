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
from robustcs.result import Evaluated, Field, Result, count, difference, flag, number, p_value, score, share, table, text
from robustcs.statistics.correction import holm
from robustcs.statistics.effect import check_margin, detectable_differences, effect_sizes, within_margin
from robustcs.statistics.estimate import Tested
from robustcs.statistics.families import holm_family
from robustcs.statistics.means import cluster_t_test
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.risk import risk
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units, units_of
from robustcs.studies.robustness.slices import SLICES, Slices, slice_drops
from robustcs.studies.robustness.variability import TURNS, spread, turn_variability, variance_shares

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Floats = npt.NDArray[np.float64]

#: Measures of Table 11 of the ECAsT paper.
DEFAULT_MEASURES = tuple(map(parse_measure, ("ndcg_cut_3", "recall_1000", "map")))
#: Tables of drops, and what each row of them is about.
_SETS_OF = {"measures": "sets", "groups": "means of groups"}
_OF_MEANS = {"drop": "mean_drop", "drop_percent": "mean_drop_percent"}
#: How much more than a gain a loss weighs in U_Risk, in the tables that do not say otherwise (TREC Web Track 2013).
ALPHA = 1.0


def _tests(of: str) -> tuple[Field, ...]:
    """What is said of a drop: p values of two tests, and an interval."""
    return (
        p_value("p", "sign-flip test of whole units, two-sided", group="sign flips"),
        p_value("p_corrected", f"Holm, over all {of} of a measure", "Holm", "sign flips"),
        p_value("t_p", "cluster-robust t test, two-sided", "p", "t test"),
        p_value("t_p_corrected", "", "Holm", "t test"),
        difference("ci_low", "of the drop: 95 %, from the test that gives p; null where none can be given"),
        difference("ci_high"),
        number("p_floor", "the smallest p that this design could have shown"),
        flag("exact", "were all sign patterns tried? else a p at its floor is a bound"),
        number("effect", "standardised mean drop over units"),
        difference("detectable", "the smallest true drop that such a design finds with 80 % power at .05"),
        flag("equivalent", "does the 95 % interval lie inside ± the margin? null without one", "within margin"),
        text("note", "what must be known beside the numbers"),
    )  # fmt: skip


_TABLES = (
    table(
        "measures", "Every test set beside the baseline of its group. A drop is baseline − value: a positive one is a loss.",
        text("group"), text("set"), text("metric"), score("value"), score("baseline"), difference("drop"),
        number("drop_percent", "of the baseline; null where that is 0", "in %"), *_tests("sets"), text("baseline_run"),
    ),
    table(
        "groups", "The drop of a group: the mean over its sets, tested on every turn's mean drop.",
        text("group"), text("metric"), score("value", "mean over the sets"), score("baseline"), difference("mean_drop"),
        number("mean_drop_percent", "of the baseline; null where that is 0", "in %"), *_tests("groups"),
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
    table("turns", "Every turn over the sets.", text("group"), text("metric"), *TURNS, text("text", "Human", "Human")),
)  # fmt: skip


@dataclass(frozen=True)
class Robustness(Result):
    """Test sets beside their baseline. A drop is baseline − value, so a positive drop is a loss.

    margin
        Drops up to this count as none; None where nothing is said about equivalence.
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
    turns: pd.DataFrame


def robustness(
    groups: Mapping[str, Group],
    scores: Mapping[str, pd.DataFrame],
    evaluated: Evaluated,
    slices: Slices | None = None,
    texts: Mapping[str, str] | None = None,
    alpha: float = ALPHA,
    margin: float | None = None,
    seed: int = 0,
) -> Robustness:
    """Compare every set of every group (at least one) with the group's baseline.

    ``scores``: system name → turns × measures, all over the same turns. ``slices``: column → turn → value. ``texts``: turn →
    text, shown with the turns. ``alpha`` weighs losses in the risk summaries. ``margin`` is the largest drop that
    counts as none.

    Raises :class:`UsageError` for a group that has a system twice, and for a margin that is not above 0.
    """
    import pandas as pd

    check_margin(margin)
    for name, group in groups.items():
        if len({group.baseline, *group.sets}) <= len(group.sets):
            raise UsageError("repeated-run", f"group {name!r} has a run twice", "compare different runs")
    units = units_of(list(next(iter(scores.values())).index), evaluated.policy.unit)
    tables: dict[str, list[dict[str, object]]] = {name: [] for name in ("measures", "groups", "risk", "variance", "spread")}
    frames: dict[str, list[pd.DataFrame]] = {"slices": [], "turns": []}
    tests: dict[tuple[str, str], list[Tested]] = {}
    notes: list[str] = []
    for name, group in groups.items():
        baseline = scores[group.baseline]
        for metric in baseline.columns:
            base = baseline[metric].to_numpy()
            sets = np.stack([scores[set_][metric].to_numpy() for set_ in group.sets], axis=1)
            key = {"group": name, "metric": metric}
            # the drop of the sets' mean is the mean of their drops
            *drops, mean = _drops(np.vstack([sets.T, sets.mean(axis=1)]), base, units, margin, seed)
            for set_, values, (drop, test) in zip(group.sets, sets.T, drops, strict=True):
                of_set = {"group": name, "set": set_, "metric": metric}
                tables["measures"].append(of_set | drop | {"baseline_run": group.baseline})
                tables["risk"].append(of_set | _risk(values - base, alpha) | {"p": test.p})
                tests.setdefault(("measures", metric), []).append(test)
            tables["groups"].append(key | {_OF_MEANS.get(column, column): value for column, value in mean[0].items()})
            tables["groups"][-1]["sets"] = len(group.sets)
            tests.setdefault(("groups", metric), []).append(mean[1])
            tables["variance"] += [key | part for part in variance_shares(sets, units, seed)]
            tables["spread"].append(key | spread(sets))
            frames["turns"].append(turn_variability(baseline.index, base, sets, group.sets).assign(**key))
            cut, left_out = slice_drops(baseline.index, base, sets, slices or {}, units)
            frames["slices"].append(cut.assign(**key))
            notes += left_out
    built = {spec.name: spec.frame(tables[spec.name]) for spec in _TABLES if spec.name in tables}
    if not tables["variance"]:
        notes.append("a variance decomposition needs at least two sets in a group and two turns")
    built |= {name: _keys_first(pd.concat(parts, ignore_index=True)) for name, parts in frames.items()}
    built["turns"]["text"] = [(texts or {}).get(turn) for turn in built["turns"]["turn"]]
    for (name, metric), some in tests.items():
        family = holm_family(some)
        rows = built[name]["metric"] == metric
        built[name].loc[rows, "p_corrected"] = family.p
        built[name].loc[rows, "t_p_corrected"] = holm(built[name].loc[rows, "t_p"])
        notes += [f"{_SETS_OF[name]}: {family.note}"] if family.note else []
    for name in _SETS_OF:
        built[name] = built[name].astype({"equivalent": "boolean"})
    notes = [*evaluated.notes, *dict.fromkeys(notes), "unjudged passages count as not relevant: see robustcs unjudged"]
    return Robustness(units.stated(replace(evaluated, notes=tuple(notes))), margin, **built)


def _drops(
    values: Floats, base: Floats, units: Units, margin: float | None, seed: int
) -> list[tuple[dict[str, object], Tested]]:
    """Every row of ``values`` (systems × turns) beside ``base``: the columns of its drop, and the test."""
    # equal scores may differ in their last bits; a test must not read them as a drop
    sums = units.sums(np.round(base - values, DECIMALS))
    tests = paired_tests(sums, units.sizes, seed, units.kind)
    more = zip(
        values.mean(axis=1).tolist(), tests, cluster_t_test(sums, units.sizes).tolist(),
        effect_sizes(sums, units.sizes, units.kind), detectable_differences(sums, units.sizes, units.kind), strict=True,
    )  # fmt: skip
    baseline = float(base.mean())
    return [
        (
            {
                "value": value, "baseline": baseline, "drop": baseline - value,
                "drop_percent": 100 * (baseline - value) / baseline if baseline else np.nan,
                "p": test.p, "t_p": t_p, "ci_low": test.low, "ci_high": test.high, "p_floor": test.floor, "exact": test.exact,
                "effect": effect.value, "detectable": least.value,
                "equivalent": None if margin is None else within_margin(test, margin) == "inside", "note": test.note,
            },
            test,
        )
        for value, test, t_p, effect, least in more
    ]  # fmt: skip


def _risk(gains: Floats, alpha: float) -> dict[str, object]:
    found = risk(gains, alpha)
    return {
        "wins": found.wins, "losses": found.losses, "ties": found.ties,
        "alpha": alpha, "urisk": found.urisk, "trisk": found.trisk, "expected": found.expected,
    }  # fmt: skip


def _keys_first(frame: pd.DataFrame) -> pd.DataFrame:
    keys = ["group", "metric"]
    return frame[keys + [column for column in frame.columns if column not in keys]]
