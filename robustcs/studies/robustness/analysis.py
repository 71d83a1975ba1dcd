"""How far do scores drop when the same is asked in other words? Test sets of paraphrases beside their baseline.

Source: Al-Thani et al. (2023), "ECAsT", stage 5 and Table 11. What its text calls a drop of 12 % is one of 0.12 points
(0.624 to 0.506 on average); here a drop is given in points and, apart from that, in per cent of the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.result import Evaluated, Result
from robustcs.statistics.correction import holm
from robustcs.statistics.intervals import bootstrap_mean
from robustcs.statistics.mean_difference import randomisation_test, t_test
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.risk import risk
from robustcs.studies.robustness.slices import Slices, slice_drops
from robustcs.studies.robustness.variability import spread, turn_variability, variance_shares

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Floats = npt.NDArray[np.float64]

#: Measures of Table 11 of the ECAsT paper.
DEFAULT_METRICS = ("ndcg_cut_3", "recall_1000", "map")
#: How much more than a gain a loss weighs in U_Risk, in the tables that do not say otherwise (TREC Web Track 2013).
ALPHA = 1.0


@dataclass(frozen=True)
class Robustness(Result):
    """A drop is baseline − value, so a positive drop is a loss; drop_percent is in per cent of the baseline (null if 0).

    p is of the paired randomisation test, t_p of the paired t test, both two-sided over turns; ``…_corrected`` by Holm over
    all sets (in ``groups``: all groups) of one measure. ci_low and ci_high: 95 % percentile bootstrap over turns, seeded.

    measures
        group, set, metric, value, baseline, drop, drop_percent, p, p_corrected, t_p, t_p_corrected, ci_low, ci_high (of the
        drop), baseline_run.
    groups
        group, metric, value (mean over the sets), baseline, mean_drop, mean_drop_percent, p, p_corrected, t_p,
        t_p_corrected, ci_low, ci_high, sets; the tests are on every turn's mean drop over the sets.
    risk
        group, set, metric, wins, losses, ties (turns against the baseline), alpha, urisk, trisk.
    variance
        group, metric, component (turn, set, turn_set, and wording = set + turn_set), variance, share, ci_low, ci_high.
    spread
        group, metric, turns, mean_sd, mean_range, max_range, steady (turns with one score in all sets).
    slices
        group, metric, slicing (first, depth, or a column of the user's file), slice, turns, value (mean over the sets),
        baseline, drop, drop_percent, ci_low, ci_high.
    turns
        group, metric, turn, baseline, mean, sd, low, high, range (over the sets), low_set, high_set, drop, text.
    """

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
    seed: int = 0,
) -> Robustness:
    """Compare every set of every group (at least one) with the group's baseline.

    ``scores``: system name → turns × measures, all over the same turns. ``slices``: column → turn → value. ``texts``: turn →
    text, shown with the turns. ``alpha`` weighs losses in the risk summaries.

    Raises :class:`UsageError` for a group that has a system twice.
    """
    import pandas as pd

    for name, group in groups.items():
        if len({group.baseline, *group.sets}) <= len(group.sets):
            raise UsageError("repeated-run", f"group {name!r} has a run twice", "compare different runs")
    tables: dict[str, list[dict[str, object]]] = {name: [] for name in ("measures", "groups", "risk", "variance", "spread")}
    frames: dict[str, list[pd.DataFrame]] = {"slices": [], "turns": []}
    notes: list[str] = []
    for name, group in groups.items():
        baseline = scores[group.baseline]
        for metric in baseline.columns:
            base = baseline[metric].to_numpy()
            sets = np.stack([scores[set_][metric].to_numpy() for set_ in group.sets], axis=1)
            key = {"group": name, "metric": metric}
            for set_, values in zip(group.sets, sets.T, strict=True):
                tables["measures"].append(
                    {"group": name, "set": set_, "metric": metric, **_drop(values, base, seed), "baseline_run": group.baseline}
                )
                tables["risk"].append({"group": name, "set": set_, "metric": metric, **_risk(values - base, alpha)})
            tables["groups"].append(key | _group_drop(sets, base, seed))
            tables["variance"] += [key | part for part in variance_shares(sets, seed)]
            tables["spread"].append(key | spread(sets))
            frames["turns"].append(turn_variability(baseline.index, base, sets, group.sets).assign(**key))
            cut, left_out = slice_drops(baseline.index, base, sets, slices or {}, seed)
            frames["slices"].append(cut.assign(**key))
            notes += left_out
    built = {name: pd.DataFrame(rows) for name, rows in tables.items()}
    if not tables["variance"]:
        built["variance"] = pd.DataFrame(columns=["group", "metric", "component", "variance", "share", "ci_low", "ci_high"])
        notes.append("a variance decomposition needs at least two sets in a group and two turns")
    built |= {name: _keys_first(pd.concat(parts, ignore_index=True)) for name, parts in frames.items()}
    built["turns"]["text"] = [(texts or {}).get(turn) for turn in built["turns"]["turn"]]
    for name in ("measures", "groups"):
        built[name] = _corrected(built[name])
    notes = [*evaluated.notes, *dict.fromkeys(notes), "unjudged passages count as not relevant: see robustcs unjudged"]
    evaluated = Evaluated(evaluated.policy, evaluated.basis, evaluated.turns, evaluated.missing, tuple(notes))
    return Robustness(evaluated, **built)


def _drop(values: Floats, base: Floats, seed: int) -> dict[str, float]:
    # equal scores may differ in their last bits; a test must not read them as a drop
    differences = np.round(base - values, DECIMALS)
    value, baseline = float(values.mean()), float(base.mean())
    low, high = bootstrap_mean(differences, seed)
    return {
        "value": value,
        "baseline": baseline,
        "drop": baseline - value,
        "drop_percent": 100 * (baseline - value) / baseline if baseline else np.nan,
        "p": randomisation_test(differences, seed),
        "t_p": t_test(differences),
        "ci_low": low,
        "ci_high": high,
    }


def _group_drop(sets: Floats, base: Floats, seed: int) -> dict[str, float]:
    """The drop of the sets' mean, which is the mean of their drops, in points and in per cent of the common baseline."""
    drop = _drop(sets.mean(axis=1), base, seed)
    names = {"drop": "mean_drop", "drop_percent": "mean_drop_percent"}
    return {names.get(name, name): value for name, value in drop.items()} | {"sets": sets.shape[1]}


def _risk(gains: Floats, alpha: float) -> dict[str, float]:
    found = risk(gains, alpha)
    return {
        "wins": found.wins, "losses": found.losses, "ties": found.ties,
        "alpha": alpha, "urisk": found.urisk, "trisk": found.trisk,
    }  # fmt: skip


def _corrected(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with Holm's correction beside each p, over all rows of the same measure."""
    for column in ("t_p", "p"):
        corrected = frame.groupby("metric", sort=False)[column].transform(lambda p: holm(p.to_numpy()))
        frame.insert(int(frame.columns.get_loc(column)) + 1, f"{column}_corrected", corrected)
    return frame


def _keys_first(frame: pd.DataFrame) -> pd.DataFrame:
    keys = ["group", "metric"]
    return frame[keys + [column for column in frame.columns if column not in keys]]
