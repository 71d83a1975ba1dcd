"""Tables and the figure of robustness: Table 11 of the ECAsT paper, tests, risk, variance, slices and turns."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.document import Block, Drawing, Figure, Table
from robustcs.documents.holes import drops_table, later_grades_table, rates_table, unique_table
from robustcs.documents.slices import estimate_column, shown_slices
from robustcs.documents.tables import Shown, ready, result_table, wide_table
from robustcs.documents.words import measure_label, noted, number, number_interval, score
from robustcs.lazy import pd
from robustcs.project.retrieved import plan_table
from robustcs.result import Field, count, text
from robustcs.statistics.effect import EVEN
from robustcs.studies.robustness.analysis import Robustness
from robustcs.studies.robustness.experiment import DEPTH, Experiment
from robustcs.wording import counted, system_name

#: Number of turns shown per group.
_SHOWN = 5
#: Component of the variance → head of its column.
_PARTS = {"turn": "turn", "set": "set", "turn_set": "turn × set", "wording": "wording"}
_SLICING_TITLES = {"first": "first and later turns", "depth": "position in the conversation"}


def show(result: Robustness | Experiment) -> tuple[Block, ...]:
    """Return drops with intervals and tests; for the whole experiment also unjudged passages and the plan."""
    if isinstance(result, Robustness):
        return _result(result)
    blocks = [*_result(result.robustness)]
    blocks += [*drops_table(result), *rates_table(result, DEPTH), *unique_table(result, DEPTH)]
    return (*blocks, *later_grades_table(result, DEPTH), plan_table(result))


def _result(result: Robustness) -> tuple[Block, ...]:
    """Return all tables and the figure. Slices and turns cover the first measure only."""
    groups = list(dict.fromkeys(result.groups["group"]))
    metrics = list(dict.fromkeys(result.groups["metric"]))
    blocks: list[Block] = [_values(result, group) for group in groups]
    blocks += [_drops(result, metric) for metric in metrics]
    told = "; ".join(
        f"{group}, {measure_label(metric)}: {number(drop, 4)} ({number_interval(low, high)})"
        for group, metric, drop, low, high in zip(
            *(result.groups[name] for name in ("group", "metric", "mean_drop", "ci_low", "ci_high")), strict=True
        )
    )
    blocks.append(Figure(
        "drops", "Drop of every set below its baseline, with 95% CI. Diamonds: group means.",
        f"Points with intervals. Mean drops: {told}.", lambda: draw_drops(result),
    ))  # fmt: skip
    blocks.append(_risk(result))
    if len(result.variance):
        blocks.append(_variance(result))
    blocks.append(_spread(result))
    blocks += [_variations(result, metrics[0], group) for group in dict.fromkeys(result.variations["group"])]
    blocks += [_slices(result, metrics[0], slicing) for slicing in dict.fromkeys(result.slices["slicing"])]
    blocks += [_turns(result, metrics[0], group) for group in groups]
    return tuple(blocks)


def _values(result: Robustness, group: str) -> Table:
    """Return Table 11: the sets of one group and the baseline, with the drop below each value."""
    measures = result.measures[result.measures["group"] == group]
    means = result.groups[result.groups["group"] == group].set_index("metric")
    rows: list[tuple[str, ...]] = []
    for metric, part in measures.groupby("metric", sort=False):
        mean = means.loc[metric]
        rows.append((measure_label(str(metric)), *map(score, part["value"]), score(mean["value"]), score(mean["baseline"])))
        rows.append(("  drop", *(number(one, 4) for one in (*part["drop"], mean["mean_drop"])), ""))
        rows.append(("  in %", *(number(one, 1) for one in (*part["drop_percent"], mean["mean_drop_percent"])), ""))
    sets = [*dict.fromkeys(measures["set"]), "mean"]
    heads = [
        text(""), *(Field(name, "number", group=f"sets of {group}") for name in sets),
        Field(system_name(measures["baseline_run"].iloc[0]), "number", group="baseline"),
    ]  # fmt: skip
    return result_table(
        result, "measures", f"{group}: test sets compared with their baseline", ready(*heads),
        "Positive drops are losses. in %: of the baseline.", rows=rows, rules=range(3, len(rows), 3), slug=f"measures-{group}",
    )  # fmt: skip


def _drops(result: Robustness, metric: str) -> Table:
    measures = result.measures[result.measures["metric"] == metric]
    means = result.groups[result.groups["metric"] == metric]
    unit, named = result.evaluated.unit, means.rename(columns={"mean_drop": "drop"}).assign(set="mean of " + means["group"])
    rows = pd.concat([part for _, part in pd.concat([measures, named]).groupby("group", sort=False)])
    note = (
        f"Two-sided tests, paired over {counted(result.evaluated.units, unit)}. p: sign-flip test by {unit}; the 95% CI inverts"
        f" this test for a single comparison. p adj.: max-T over {counted(len(measures), 'set')}, or for means over"
        f" {counted(len(means), 'group')}. p (t): t test of a single comparison."
    )
    if result.margin is not None:
        note += (
            f" Within margin: the whole interval lies inside ±{result.margin:g}, and no {unit} contributes more than"
            f" {100 * EVEN:.0f}% of the spread, which rules out a larger drop. “no”: a larger drop is not ruled out."
        )
    note += noted((row.set, row.note) for row in rows.itertuples())
    return result_table(
        result, "measures", f"{measure_label(metric)}: are the drops significant?",
        ["set", "drop", "p", "p_corrected", "t_p", *(["equivalent"] if result.margin is not None else [])],
        note, rows=rows, by="group", rules=[0], slug=f"measures-tests-{metric}",
    )  # fmt: skip


def _risk(result: Robustness) -> Table:
    risk = result.risk
    return result_table(
        result, "risk", "How many turns gain and lose compared with the baseline?",
        ["metric", "set", "wins", "losses", "ties", "urisk", "expected"],
        "U_Risk: mean gain, with losses multiplied by 2. If equal: mean U_Risk if set and baseline were swapped at random.",
        rows=pd.concat([part for _, part in risk.groupby("metric", sort=False)]), by="metric", rules=[0],
    )  # fmt: skip


def _variance(result: Robustness) -> Table:
    unit = result.evaluated.unit
    return wide_table(
        result, "variance", "How much of the variance over turns and sets is due to the wording?", ["group", "metric"],
        "component", ["share"],
        f"Two-way random effects, ANOVA estimates. Wording: set and turn × set together. 95% CI: nested bootstrap-t over"
        f" {counted(result.evaluated.units, unit)}; it holds for other {unit}s with the wording of these sets.", heads=_PARTS,
    )  # fmt: skip


def _spread(result: Robustness) -> Table:
    still: Shown = (count("turns with range 0"), lambda row: f"{row.steady} of {row.turns}")
    columns = ["group", "metric", "mean_sd", "mean_range", "max_range", still]
    note = "Range: highest − lowest score of a turn."
    return result_table(result, "spread", "How much does a turn's score vary over the sets?", columns, note)


def _slices(result: Robustness, metric: str, slicing: str) -> Table:
    frame = result.slices[(result.slices["metric"] == metric) & (result.slices["slicing"] == slicing)]
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


def _variations(result: Robustness, metric: str, group: str) -> Table:
    rows = result.variations
    return result_table(
        result, "variations", f"{group}: how much {measure_label(metric)} does each variation cost?",
        ["category", "turns", "baseline", "value", "drop", "drop_percent", "p_corrected"],
        "Turns with such a variation; a turn counts with its mean over these sets. p adj.: max-T over the categories of a"
        " group.",
        rows=rows[(rows["metric"] == metric) & (rows["group"] == group)], slug=f"variations-{group}",
    )  # fmt: skip


def _turns(result: Robustness, metric: str, group: str) -> Table:
    turns = result.turns
    part = turns[(turns["metric"] == metric) & (turns["group"] == group)].sort_values("range", ascending=False, kind="stable")
    shown = part.head(_SHOWN).fillna({"text": ""})
    columns: list[Shown] = [
        "turn", *(["text"] if part["text"].notna().any() else []), "baseline",
        (text("lowest"), lambda row: f"{score(row.low)} {row.low_set}"),
        (text("highest"), lambda row: f"{score(row.high)} {row.high_set}"),
    ]  # fmt: skip
    return result_table(
        result, "turns", f"{group}: turns whose {measure_label(metric)} varies most with the wording", columns,
        f"Shown: {len(shown)} of {counted(len(part), 'turn')}; CSV and JSON have all.", rows=shown, slug=f"turns-{group}",
    )  # fmt: skip


def draw_drops(result: Robustness) -> Drawing:
    """Draw the drops with their intervals, one panel per measure."""
    from robustcs.studies.robustness.figure import Drop, drops_figure

    panels: dict[str, list[list[Drop]]] = {}
    for (metric, group), mean in result.groups.set_index(["metric", "group"], drop=False).iterrows():
        own = result.measures[(result.measures["metric"] == metric) & (result.measures["group"] == group)]
        drops = [Drop(row["set"], row["drop"], row["ci_low"], row["ci_high"]) for _, row in own.iterrows()]
        drops.append(Drop(f"mean of {group}", mean["mean_drop"], mean["ci_low"], mean["ci_high"], mean=True))
        panels.setdefault(measure_label(metric), []).append(drops)
    return drops_figure(panels)
