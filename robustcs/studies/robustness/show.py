"""Robustness as Table 11 of the ECAsT paper prints it, with intervals, tests, risk, variance, slices and turns."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.headline import headline_measure
from robustcs.documents.holes import drops_table, later_grades_table, rates_table, unique_table
from robustcs.documents.slices import shown_slices
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import measure_label, number, number_interval, p_value, percent, percent_interval, score, signed
from robustcs.lazy import Drawing, pd
from robustcs.project.retrieved import plan_table
from robustcs.result import Field, count, difference, share, text
from robustcs.statistics.effect import EVEN
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.studies.robustness.analysis import Robustness
from robustcs.studies.robustness.experiment import DEPTH, Experiment
from robustcs.wording import counted

#: Turns shown per group.
_SHOWN = 5
_SLICING_TITLES = {"first": "first turns against later ones", "depth": "the place in the conversation"}
#: Columns of several tables. A drop is read without a plus, unlike other differences.
_MEASURE: Shown = (text("measure"), lambda row: measure_label(row.metric))
_DROP: Shown = (difference("drop"), lambda row: _points(row.drop))
_INTERVAL: Shown = (difference("95 %"), lambda row: number_interval(row.ci_low, row.ci_high))


def show(result: Robustness | Experiment) -> tuple[Block, ...]:
    """Drops with intervals and tests; of the whole experiment also the holes and the plan."""
    if isinstance(result, Robustness):
        return _result(result)
    blocks = [*_result(result.robustness)]
    blocks += [*drops_table(result), *rates_table(result, DEPTH), *unique_table(result, DEPTH)]
    return (*blocks, *later_grades_table(result, DEPTH), plan_table(result))


def _result(result: Robustness) -> tuple[Block, ...]:
    """All tables and both figures; slices and turns for the first measure only."""
    groups = list(dict.fromkeys(result.groups["group"]))
    metrics = list(dict.fromkeys(result.groups["metric"]))
    blocks: list[Block] = [_values(result, group) for group in groups]
    blocks += [_drops(result, metric) for metric in metrics]
    blocks.append(
        Figure("drops", "Drop of every set below its baseline, with 95 % intervals; diamonds are means of a group.",
               _drops_alt(result), lambda: draw_drops(result))
    )  # fmt: skip
    blocks.append(_risk(result))
    if len(result.variance):
        blocks.append(_variance(result))
    blocks.append(_spread(result))
    blocks.append(
        Figure("spread", f"{measure_label(headline_measure(metrics))} of every turn: lowest to highest of the sets, mean and"
               " baseline.", _spread_alt(result), lambda: draw_spread(result))
    )  # fmt: skip
    if len(result.variations):
        blocks += [_variations(result, metrics[0], group) for group in dict.fromkeys(result.variations["group"])]
        blocks.append(_variations_figure(result))
    blocks += [_slices(result, metrics[0], slicing) for slicing in dict.fromkeys(result.slices["slicing"])]
    blocks += [_turns(result, metrics[0], group) for group in groups]
    return tuple(blocks)


def _values(result: Robustness, group: str) -> Table:
    """Table 11: the sets of one group beside the baseline, and below each value the drop."""
    measures = result.measures[result.measures["group"] == group]
    means = result.groups[result.groups["group"] == group].set_index("metric")
    rows: list[tuple[str, ...]] = []
    for metric, part in measures.groupby("metric", sort=False):
        mean = means.loc[metric]
        rows.append((measure_label(str(metric)), *map(score, part["value"]), score(mean["value"]), score(mean["baseline"])))
        rows.append(("  drop", *map(_points, part["drop"]), _points(mean["mean_drop"]), ""))
        rows.append(("  in %", *map(_percent, part["drop_percent"]), _percent(mean["mean_drop_percent"]), ""))
    sets = [*dict.fromkeys(measures["set"]), "mean"]
    heads = [
        text(""), *(Field(name, "number", group=f"sets of {group}") for name in sets),
        Field(measures["baseline_run"].iloc[0], "number", group="baseline"),
    ]  # fmt: skip
    columns = [(field, lambda row, place=place: row[place]) for place, field in enumerate(heads)]
    return result_table(
        result, "measures", f"{group}: test sets beside their baseline", columns,
        "A positive drop is a loss; in % of the baseline.", rows=rows, rules=range(3, len(rows), 3), slug=f"measures-{group}",
    )  # fmt: skip


def _drops(result: Robustness, metric: str) -> Table:
    measures = result.measures[result.measures["metric"] == metric]
    means = result.groups[result.groups["metric"] == metric]
    named = means.rename(columns={"mean_drop": "drop"}).assign(set="mean of " + means["group"])
    rows = pd.concat([part for _, part in pd.concat([measures, named]).groupby("group", sort=False)])
    columns: list[Shown] = ["set", _DROP, _INTERVAL, "p", "p_corrected", "t_p"]
    note = (
        f"Two-sided, paired over {counted(result.evaluated.units, result.evaluated.unit)}. p: signs of whole"
        f" {result.evaluated.unit}s flipped; the interval is its inversion, of one comparison. p adj.: max-T over"
        f" {counted(len(measures), 'set')}; means: over {counted(len(means), 'group')}. p (t): t test of one comparison."
    )
    if result.margin is not None:
        columns.append("equivalent")
        note += (
            f" Within margin: the whole interval lies inside ±{result.margin:g}, and no {result.evaluated.unit} carries more"
            f" than {100 * EVEN:.0f} % of the spread, so there is no drop larger than that; “no” does not say more."
        )
    said = [f"{row.set}: {row.note}." for row in rows.itertuples() if row.note]
    return result_table(
        result, "measures", f"{measure_label(metric)}: are the drops more than chance?", columns, " ".join([note, *said]),
        rows=rows, by="group", rules=[0], slug=f"measures-tests-{metric}",
    )  # fmt: skip


def _risk(result: Robustness) -> Table:
    risk = result.risk
    columns: list[Shown] = [
        _MEASURE, "set", "wins", "losses", "ties", (difference("U_Risk"), lambda row: _points(row.urisk)),
        (difference("if equal"), lambda row: _points(row.expected)),
        (difference("T_Risk"), lambda row: number(row.trisk, 2)), "p",
    ]  # fmt: skip
    return result_table(
        result, "risk", "Turns that win and lose against the baseline", columns,
        f"U_Risk: mean gain where a loss weighs 1 + α = {1 + risk['alpha'].iloc[0]:g} times; if equal: what it would be on"
        " average if set and baseline were swapped at random; T_Risk: U_Risk by its standard error, no test, for equal systems"
        f" often fall below −2. p: U_Risk by sign flips of whole {result.evaluated.unit}s, which is the p of the drop.",
        rows=pd.concat([part for _, part in risk.groupby("metric", sort=False)]), by="metric", rules=[0],
    )  # fmt: skip


def _variance(result: Robustness) -> Table:
    """One row per group and measure, a column per component."""
    keys = ["group", "metric"]
    parts = result.variance.set_index([*keys, "component"])

    def share_of(title: str, component: str, group: str = "wording") -> Shown:
        return share(title, group=group), lambda row: percent(parts.loc[(row.group, row.metric, component), "share"])

    def interval(row: Any) -> str:
        wording = parts.loc[(row.group, row.metric, "wording")]
        return percent_interval(wording["ci_low"], wording["ci_high"])

    columns: list[Shown] = [
        "group", _MEASURE, share_of("turn", "turn", ""), share_of("set", "set"), share_of("turn × set", "turn_set"),
        share_of("together", "wording"), (share("95 %", group="wording"), interval),
    ]  # fmt: skip
    return result_table(
        result, "variance", "Is it the turn or its wording? Shares of the variance over turns and sets", columns,
        "Two-way random effects, analysis-of-variance estimates; 95 %: nested bootstrap-t over"
        f" {counted(result.evaluated.units, result.evaluated.unit)}, for other {result.evaluated.unit}s in the words of these"
        " sets.",
        rows=result.variance.drop_duplicates(keys),
    )  # fmt: skip


def _spread(result: Robustness) -> Table:
    columns: list[Shown] = [
        "group", _MEASURE, "mean_sd", "mean_range", "max_range",
        (count("turns that do not move"), lambda row: f"{row.steady} of {row.turns}"),
    ]  # fmt: skip
    note = "Range: highest less lowest score of a turn."
    return result_table(result, "spread", "How far does a turn's score move over the sets?", columns, note)


def _slices(result: Robustness, metric: str, slicing: str) -> Table:
    frame = result.slices[(result.slices["metric"] == metric) & (result.slices["slicing"] == slicing)]
    rows, note = shown_slices(frame, "drop", "group")
    columns: list[Shown] = [
        "group", "slice", "turns", "baseline", "value", _DROP,
        (difference("95 %"), _few_or_interval),
        (difference("− rest"), lambda row: signed(row.difference, 3)),
        (difference("p adj."), lambda row: "–" if isnan(row.p_corrected) else p_value(row.p_corrected)),
    ]  # fmt: skip
    compared = int(result.slices[result.slices["metric"] == metric]["comparisons"].max())
    return result_table(
        result, "slices", f"{measure_label(metric)} by {_SLICING_TITLES.get(slicing, slicing)}", columns,
        f"Mean over the sets of a group; 95 %: cluster-robust t over the {result.evaluated.unit}s of the slice, none below"
        f" five (K), unstable below ten. − rest: the drop less that of the other turns; p by exchanging the drops of whole"
        f" {result.evaluated.unit}s; p adj.: max-T over the {counted(compared, 'comparison')} of a group.{note}",
        rows=rows, by="group", rules=[0], slug=f"slices-{slicing}",
    )  # fmt: skip


def _few_or_interval(row: Any) -> str:
    return f"K = {row.units}" if row.units < LEAST_UNITS else number_interval(row.ci_low, row.ci_high)


def _variations(result: Robustness, metric: str, group: str) -> Table:
    rows = result.variations
    columns: list[Shown] = [
        "category", "turns", "baseline", "value", _DROP, (share("in %"), lambda row: _percent(row.drop_percent)), _INTERVAL,
        "p_corrected",
    ]  # fmt: skip
    return result_table(
        result, "variations", f"{group}: which variation costs how much {measure_label(metric)}?", columns,
        "Turns that have such a variation, each as the mean of the sets that ask it so. p adj.: max-T over the categories of a"
        " group.",
        rows=rows[(rows["metric"] == metric) & (rows["group"] == group)], slug=f"variations-{group}",
    )  # fmt: skip


def _variations_figure(result: Robustness) -> Figure:
    parts = [f"{row.category} ({row.group}): {_points(row.drop)}" for row in _of_headline(result.variations).itertuples()]
    return Figure(
        "variations", "Drop below the baseline by kind of variation, with 95 % intervals.",
        f"Points with intervals. Drops: {'; '.join(parts)}.", lambda: draw_variations(result),
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
        result, "turns", f"{group}: turns whose {measure_label(metric)} moves most with the wording", columns,
        f"{len(shown)} of {len(part)} turns; CSV and JSON have all.", rows=shown, slug=f"turns-{group}",
    )  # fmt: skip


# ---------------------------------------------------------------- figures


def draw_drops(result: Robustness) -> Drawing:
    """The drops with their intervals, one panel per measure."""
    from robustcs.studies.robustness.figure import Drop, drops_figure

    panels: dict[str, list[list[Drop]]] = {}
    for metric, part in result.measures.groupby("metric", sort=False):
        groups = panels.setdefault(measure_label(str(metric)), [])
        for group, rows in part.groupby("group", sort=False):
            mean = result.groups[(result.groups["group"] == group) & (result.groups["metric"] == metric)].iloc[0]
            drops = [Drop(row["set"], row["drop"], row["ci_low"], row["ci_high"]) for _, row in rows.iterrows()]
            groups.append([*drops, Drop(f"mean of {group}", mean["mean_drop"], mean["ci_low"], mean["ci_high"], mean=True)])
    return drops_figure(panels)


def draw_variations(result: Robustness) -> Drawing:
    """The drops by category with their intervals, one panel per group, in the headline measure."""
    from robustcs.studies.robustness.figure import Drop, drops_figure

    rows = _of_headline(result.variations)
    order = list(dict.fromkeys(rows["category"]))
    panels = {}
    for group, part in rows.groupby("group", sort=False):
        found = {row.category: Drop(row.category, row.drop, row.ci_low, row.ci_high) for row in part.itertuples()}
        panels[str(group)] = [[found.get(name, Drop(name, nan, nan, nan)) for name in order]]
    return drops_figure(panels)


def draw_spread(result: Robustness) -> Drawing:
    """Per-turn spread of the headline measure, one panel per group."""
    from robustcs.studies.robustness.figure import SpreadPanel, spread_figure

    turns = result.turns[result.turns["metric"] == headline_measure(result.turns["metric"])]
    label = measure_label(turns["metric"].iloc[0])
    panels = []
    for group, part in turns.groupby("group", sort=False):
        ordered = part.sort_values(["mean", "turn"], kind="stable")
        low, mean, high, baseline = (ordered[name].to_numpy() for name in ("low", "mean", "high", "baseline"))
        panels.append(SpreadPanel(str(group), low, mean, high, baseline, list(ordered["turn"])))
    return spread_figure(panels, label)


def _drops_alt(result: Robustness) -> str:
    parts = [
        f"{row['group']}, {measure_label(row['metric'])}: {_points(row['mean_drop'])}"
        f" ({number_interval(row['ci_low'], row['ci_high'])})"
        for _, row in result.groups.iterrows()
    ]
    return f"Points with intervals. Mean drops: {'; '.join(parts)}."


def _spread_alt(result: Robustness) -> str:
    first = result.spread[result.spread["metric"] == headline_measure(result.spread["metric"])]
    parts = [f"{row['group']}: mean range {score(row['mean_range'])}" for _, row in first.iterrows()]
    return f"One line per turn from its lowest to its highest score, sorted by mean. {'; '.join(parts)}."


# ---------------------------------------------------------------- numbers


def _of_headline(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["metric"] == headline_measure(rows["metric"])]


def _points(value: float) -> str:
    return number(value, 4)


def _percent(value: float) -> str:
    return number(value, 1)
