"""Tables and the figure of robustness: Table 11 of the ECAsT paper, tests, risk, variance, slices and turns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.document import Block, Figure, TableBlock, begun
from robustcs.documents.forest import LEFT_OUT, MeanPanel, best_and_worst, forest
from robustcs.documents.holes import drops_table, later_grades_table, rates_table, unique_table
from robustcs.documents.slices import estimate_column, shown_slices
from robustcs.documents.tables import Shown, ready, result_table, wide_table
from robustcs.documents.words import measure_label, noted, number, number_interval, score
from robustcs.lazy import pd
from robustcs.project.retrieved import plan_table
from robustcs.result import Field, count, text
from robustcs.statistics.columns import EVEN
from robustcs.studies.robustness.analysis import Robustness
from robustcs.studies.robustness.experiment import DEPTH, Experiment
from robustcs.wording import counted, system_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.style import Width

#: Rows of a group in the figure besides its sets.
_MEAN_AND_GAP = 2
#: Number of turns shown per group.
_SHOWN = 5
#: Component of the variance → head of its column.
_PARTS = {"turn": "turn", "set": "set", "turn_set": "turn × set", "wording": "wording"}
_SLICING_TITLES = {"first": "first and later turns", "depth": "position in the conversation"}


def show(result: Robustness) -> tuple[Block, ...]:
    """Return all tables and the figure; slices and turns cover the first measure only.

    For the whole experiment also unjudged passages and the plan.
    """
    groups = list(dict.fromkeys(result.groups["group"]))
    metrics = list(dict.fromkeys(result.groups["metric"]))
    blocks: list[Block] = [_values(result, group) for group in groups]
    blocks += [_drops(result, metric) for metric in metrics]
    told = "; ".join(
        f"{row.group}, {measure_label(row.metric)}: {number(row.mean_drop, 4)} ({number_interval(row.ci_low, row.ci_high)})"
        for row in result.groups.itertuples()
    )
    left_out = ""
    if any(LEFT_OUT in sets for sets in _shown_sets(result).values()):
        left_out = f" Shown: the sets with the smallest and the largest drops in {measure_label(metrics[0])}."
    blocks.append(Figure(
        "drops", f"Drop of every set below its baseline, with 95% CI. Diamonds: group means.{left_out}",
        f"Points with intervals. Mean drops: {told}.", lambda width: draw_drops(width, result),
    ))  # fmt: skip
    blocks.append(_risk(result))
    if len(result.variance):
        blocks.append(_variance(result))
    blocks.append(_spread(result))
    blocks += [
        _variations(result, metrics[0], group)
        for group in dict.fromkeys(result.variations["group"])
    ]
    blocks += [
        _slices(result, metrics[0], slicing) for slicing in dict.fromkeys(result.slices["slicing"])
    ]
    blocks += [_turns(result, metrics[0], group) for group in groups]
    if isinstance(result, Experiment):
        blocks += [*drops_table(result), *rates_table(result, DEPTH), *unique_table(result, DEPTH)]
        blocks += [*later_grades_table(result, DEPTH), plan_table(result)]
    return begun(blocks, result.misfit, result.unordered)


def _values(result: Robustness, group: str) -> TableBlock:
    """Return Table 11: the sets of one group and the baseline, with the drop below each value."""
    measures = result.measures[result.measures["group"] == group]
    means = result.groups[result.groups["group"] == group].set_index("metric")
    rows: list[tuple[str, ...]] = []
    for metric, part in measures.groupby("metric", sort=False):
        mean = means.loc[metric]
        rows.append(
            (
                measure_label(str(metric)),
                *map(score, part["value"]),
                score(mean["value"]),
                score(mean["baseline"]),
            )
        )
        rows.append(("  drop", *(number(one, 4) for one in (*part["drop"], mean["mean_drop"])), ""))
        rows.append(
            (
                "  in %",
                *(number(one, 1) for one in (*part["drop_percent"], mean["mean_drop_percent"])),
                "",
            )
        )
    sets = [*dict.fromkeys(measures["set"]), "mean"]
    heads = [
        text(""), *(Field(name, "number", group=f"sets of {group}") for name in sets),
        Field(system_name(measures["baseline_run"].iloc[0]), "number", group="baseline"),
    ]  # fmt: skip
    return result_table(
        result, "measures", f"{group}: test sets compared with their baseline", ready(*heads),
        "Positive drops are losses. in %: of the baseline.", rows=rows, rules=range(3, len(rows), 3), slug=f"measures-{group}",
    )  # fmt: skip


def _drops(result: Robustness, metric: str) -> TableBlock:
    measures = result.measures[result.measures["metric"] == metric]
    means = result.groups[result.groups["metric"] == metric]
    unit, named = (
        result.evaluated.unit,
        means.rename(columns={"mean_drop": "drop"}).assign(set="mean of " + means["group"]),
    )
    rows = pd.concat([measures, named])
    note = (
        f"Two-sided tests, paired over {counted(result.evaluated.units, unit)}. p: sign-flip test by {unit}; the 95% CI inverts"
        f" this test for a single comparison. p adj.: max-T over {counted(len(measures), 'set')}, or for means over"
        f" {counted(len(means), 'group')}. p (t): t test of a single comparison."
    )
    if result.margin is not None:
        note += (
            f" Within margin: the whole interval lies inside ±{result.margin:g}, and no {unit} contributes more than"
            f" {100 * EVEN:.0f}% of the spread, which rules out a larger drop. “no”: a larger drop remains possible."
        )
    note += noted((row.set, row.note) for row in rows.itertuples())
    return result_table(
        result, "measures", f"{measure_label(metric)}: are the drops significant?",
        ["set", "drop", "p", "p_corrected", "t_p", *(["equivalent"] if result.margin is not None else [])],
        note, rows=rows, by="group", rules=[0], slug=f"measures-tests-{metric}",
    )  # fmt: skip


def _risk(result: Robustness) -> TableBlock:
    return result_table(
        result, "risk", "How many turns gain and lose compared with the baseline?",
        ["metric", "set", "wins", "losses", "ties", "urisk", "expected"],
        "U_Risk: mean gain, with losses multiplied by 2. If equal: mean U_Risk if set and baseline were swapped at random.",
        by="metric", rules=[0],
    )  # fmt: skip


def _variance(result: Robustness) -> TableBlock:
    unit = result.evaluated.unit
    return wide_table(
        result, "variance", "How much of the variance over turns and sets is due to the wording?", ["group", "metric"],
        "component", ["share"],
        f"Two-way random effects, ANOVA estimates. Wording: set and turn × set together. 95% CI: nested bootstrap-t over"
        f" {counted(result.evaluated.units, unit)}; it holds for other {unit}s with the wording of these sets.", heads=_PARTS,
    )  # fmt: skip


def _spread(result: Robustness) -> TableBlock:
    still: Shown = (count("turns with range 0"), lambda row: f"{row.steady} of {row.turns}")
    columns = ["group", "metric", "mean_sd", "mean_range", "max_range", still]
    note = "Range: highest − lowest score of a turn."
    return result_table(
        result, "spread", "How much does a turn's score vary over the sets?", columns, note
    )


def _slices(result: Robustness, metric: str, slicing: str) -> TableBlock:
    frame = result.slices[
        (result.slices["metric"] == metric) & (result.slices["slicing"] == slicing)
    ]
    rows, note = shown_slices(frame, "drop", "group")
    spec, unit = result.spec("slices"), result.evaluated.unit
    compared = int(result.slices[result.slices["metric"] == metric]["comparisons"].max())
    rest = replace(spec.field("difference").called("− rest").rounded(3), limits=())
    return result_table(
        result, "slices", f"{measure_label(metric)} by {_SLICING_TITLES.get(slicing, slicing)}",
        ["group", "slice", "turns", "baseline", "value", estimate_column(spec.field("drop")), rest, "p_corrected"],
        f"Mean over the sets of a group. 95% CI: cluster-robust t over the {unit}s of the slice; not shown for fewer than five,"
        f" unstable for fewer than ten. − rest: the drop minus the drop of the other turns. p adj.: permutation test that"
        f" exchanges the drops of whole {unit}s, max-T over the"
        f" {counted(compared, 'comparison')} of a group.{note}",
        rows=rows, by="group", rules=[0], slug=f"slices-{slicing}",
    )  # fmt: skip


def _variations(result: Robustness, metric: str, group: str) -> TableBlock:
    rows = result.variations
    return result_table(
        result, "variations", f"{group}: how much {measure_label(metric)} does each variation cost?",
        ["category", "turns", "baseline", "value", "drop", "drop_percent", "p_corrected"],
        "Turns with such a variation; a turn counts with its mean over these sets. p adj.: max-T over the categories of a"
        " group.",
        rows=rows[(rows["metric"] == metric) & (rows["group"] == group)], slug=f"variations-{group}",
    )  # fmt: skip


def _turns(result: Robustness, metric: str, group: str) -> TableBlock:
    turns = result.turns
    part = turns[(turns["metric"] == metric) & (turns["group"] == group)].sort_values(
        "range", ascending=False, kind="stable"
    )
    columns: list[Shown] = [
        "turn", *(["text"] if part["text"].notna().any() else []), "baseline",
        (text("lowest"), lambda row: f"{score(row.low)} {row.low_set}"),
        (text("highest"), lambda row: f"{score(row.high)} {row.high_set}"),
    ]  # fmt: skip
    return result_table(
        result, "turns", f"{group}: turns whose {measure_label(metric)} varies most with the wording", columns,
        rows=part.fillna({"text": ""}), most=_SHOWN, slug=f"turns-{group}",
    )  # fmt: skip


def _shown_sets(result: Robustness) -> dict[str, list[str]]:
    """Return group → the sets that the figure shows, in their order.

    Of more than fit on a page, those with the smallest and the largest drops in the first measure, sorted.
    """
    metric = result.measures["metric"].iloc[0]
    of_group: dict[str, list[tuple[str, float]]] = {}
    for row in result.rows("measures", metric=metric):
        of_group.setdefault(row.group, []).append((row.set, row.drop))
    panels, shown = result.measures["metric"].nunique(), {}
    for group, drops in of_group.items():
        ordered = [name for name, _ in sorted(drops, key=lambda one: one[1])]
        few = best_and_worst(ordered, panels, len(of_group), _MEAN_AND_GAP)
        shown[group] = few if LEFT_OUT in few else [name for name, _ in drops]
    return shown


def draw_drops(width: Width, result: Robustness) -> MatplotlibFigure:
    """Draw the drops with their intervals, one panel per measure; groups are separated, with their mean below."""
    sets = _shown_sets(result)
    means = {group: f"mean of {group}" for group in sets}
    names: list[str] = []
    for group, own in sets.items():
        names += [*([""] if names else []), *own, means[group]]
    # (group, set or "" for the mean of the group, measure) → lower limit, drop and upper limit
    drops = {
        (row.group, row.set, row.metric): (row.ci_low, row.drop, row.ci_high)
        for row in result.rows("measures")
    }
    drops |= {
        (row.group, "", row.metric): (row.ci_low, row.mean_drop, row.ci_high)
        for row in result.rows("groups")
    }
    unknown = (np.nan, np.nan, np.nan)
    panels = []
    for metric in dict.fromkeys(result.groups["metric"]):
        rows: list[tuple[float, float, float]] = []
        for group, own in sets.items():
            rows += [unknown] if rows else []
            rows += [drops.get((group, name, metric), unknown) for name in [*own, ""]]
        panels.append(MeanPanel(measure_label(metric), *np.array(rows, dtype=float).T))
    return forest(
        width, names, panels, "drop below the baseline", zero=True, marked=set(means.values()), diamonds=True
    )  # fmt: skip
