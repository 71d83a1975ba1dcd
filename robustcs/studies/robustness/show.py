"""Robustness as Table 11 of the ECAsT paper prints it, with intervals, tests, risk, variance, slices and turns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustcs.documents.document import Block, Column, Figure, Table
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import (
    measure_label,
    number,
    number_interval,
    p_value,
    percent,
    percent_interval,
    score,
)
from robustcs.studies.robustness.analysis import Robustness

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

#: Turns shown per group.
_SHOWN = 5
_SLICING_TITLES = {"first": "first turns against later ones", "depth": "the place in the conversation"}


def present_robustness(result: Robustness) -> tuple[Block, ...]:
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
    blocks += [_slices(result, metrics[0], slicing) for slicing in dict.fromkeys(result.slices["slicing"])]
    blocks += [_turns(result, metrics[0], group) for group in groups]
    return tuple(blocks)


def _values(result: Robustness, group: str) -> Table:
    """Table 11: the sets of one group beside the baseline, and below each value the drop."""
    measures = result.measures[result.measures["group"] == group]
    means = result.groups[result.groups["group"] == group].set_index("metric")
    sets = list(dict.fromkeys(measures["set"]))
    rows: list[tuple[str, ...]] = []
    for metric, part in measures.groupby("metric", sort=False):
        mean = means.loc[metric]
        rows.append((measure_label(str(metric)), *map(score, part["value"]), score(mean["value"]), score(mean["baseline"])))
        rows.append(("  drop", *map(_points, part["drop"]), _points(mean["mean_drop"]), ""))
        rows.append(("  in %", *map(_percent, part["drop_percent"]), _percent(mean["mean_drop_percent"]), ""))
    columns = (
        Column("", "left"), *(Column(name, group=f"sets of {group}") for name in sets),
        Column("mean", group=f"sets of {group}"), Column(measures["baseline_run"].iloc[0], group="baseline"),
    )  # fmt: skip
    return Table(
        f"measures-{group}", f"{group}: test sets beside their baseline", columns, tuple(rows),
        "A positive drop is a loss; in % of the baseline.", frozenset(range(3, len(rows), 3)),
    )  # fmt: skip


def _drops(result: Robustness, metric: str) -> Table:
    rows: list[tuple[str, ...]] = []
    rules = set()
    measures = result.measures[result.measures["metric"] == metric]
    means = result.groups[result.groups["metric"] == metric]
    for group, part in measures.groupby("group", sort=False):
        rules.add(len(rows))
        rows += [(row["set"], *_tested(row["drop"], row)) for _, row in part.iterrows()]
        rows += [(f"mean of {group}", *_tested(row["mean_drop"], row)) for _, row in means[means["group"] == group].iterrows()]
    columns = (
        Column("set", "left"), Column("drop"), Column("95 %"), Column("p", group="randomisation"),
        Column("Holm", group="randomisation"), Column("p", group="t test"), Column("Holm", group="t test"),
    )  # fmt: skip
    return Table(
        f"measures-tests-{metric}", f"{measure_label(metric)}: are the drops real?", columns, tuple(rows),
        f"Paired over {result.evaluated.turns} turns, two-sided. 95 %: bootstrap over turns. Holm: corrected for"
        f" {len(measures)} sets; means for {len(means)} group{'s' * (len(means) != 1)}.",
        frozenset(rules),
    )  # fmt: skip


def _tested(drop: float, row: pd.Series) -> tuple[str, ...]:
    tests = (row["p"], row["p_corrected"], row["t_p"], row["t_p_corrected"])
    return _points(drop), number_interval(row["ci_low"], row["ci_high"]), *map(_p, tests)


def _risk(result: Robustness) -> Table:
    rows: list[tuple[str, ...]] = []
    rules = set()
    for metric, part in result.risk.groupby("metric", sort=False):
        rules.add(len(rows))
        for _, row in part.iterrows():
            counts = (str(row[name]) for name in ("wins", "losses", "ties"))
            trisk = number(row["trisk"], 2)
            rows.append((measure_label(str(metric)), row["set"], *counts, _points(row["urisk"]), trisk))
    columns = (
        Column("measure", "left"), Column("set", "left"), *(Column(name, group="turns") for name in ("win", "lose", "tie")),
        Column("U_Risk"), Column("T_Risk"),
    )  # fmt: skip
    alpha = result.risk["alpha"].iloc[0]
    return Table(
        "risk", "Turns that win and lose against the baseline", columns, tuple(rows),
        f"U_Risk: mean gain where a loss weighs 1 + α = {1 + alpha:g} times; T_Risk: U_Risk by its standard error, a risk"
        " below −2.", frozenset(rules),
    )  # fmt: skip


def _variance(result: Robustness) -> Table:
    rows = []
    for (group, metric), part in result.variance.groupby(["group", "metric"], sort=False):
        by_name = part.set_index("component")
        shares = (percent(by_name.loc[name, "share"]) for name in ("turn", "set", "turn_set", "wording"))
        wording = by_name.loc["wording"]
        rows.append((str(group), measure_label(str(metric)), *shares, percent_interval(wording["ci_low"], wording["ci_high"])))
    columns = (
        Column("group", "left"), Column("measure", "left"), Column("turn"), Column("set", group="wording"),
        Column("turn × set", group="wording"), Column("together", group="wording"), Column("95 %", group="wording"),
    )  # fmt: skip
    return Table(
        "variance", "Is it the turn or its wording? Shares of the variance over turns and sets", columns, tuple(rows),
        "Two-way random effects, analysis-of-variance estimates; 95 %: bootstrap over turns.",
    )  # fmt: skip


def _spread(result: Robustness) -> Table:
    rows = tuple(
        (row["group"], measure_label(row["metric"]), *(score(row[name]) for name in ("mean_sd", "mean_range", "max_range")),
         f"{row['steady']} of {row['turns']}")
        for _, row in result.spread.iterrows()
    )  # fmt: skip
    columns = (
        Column("group", "left"), Column("measure", "left"), Column("mean sd"), Column("mean range"), Column("largest range"),
        Column("turns that do not move"),
    )  # fmt: skip
    return Table(
        "spread", "How far does a turn's score move over the sets?", columns, rows,
        "Range: highest less lowest score of a turn.",
    )  # fmt: skip


def _slices(result: Robustness, metric: str, slicing: str) -> Table:
    part = result.slices[(result.slices["metric"] == metric) & (result.slices["slicing"] == slicing)]
    rows: list[tuple[str, ...]] = []
    rules = set()
    for group, lines in part.groupby("group", sort=False):
        rules.add(len(rows))
        for _, line in lines.iterrows():
            numbers = (score(line["baseline"]), score(line["value"]), _points(line["drop"]), _percent(line["drop_percent"]))
            interval = number_interval(line["ci_low"], line["ci_high"])
            rows.append((str(group), line["slice"], str(line["turns"]), *numbers, interval))
    columns = (
        Column("group", "left"), Column("slice", "left"),
        *(Column(title) for title in ("turns", "baseline", "mean", "drop", "in %", "95 %")),
    )  # fmt: skip
    return Table(
        f"slices-{slicing}", f"{measure_label(metric)} by {_SLICING_TITLES.get(slicing, slicing)}", columns, tuple(rows),
        "Mean over the sets of a group; 95 %: bootstrap over the turns of the slice, too narrow for few turns.",
        frozenset(rules),
    )  # fmt: skip


def _turns(result: Robustness, metric: str, group: str) -> Table:
    turns = result.turns
    part = turns[(turns["metric"] == metric) & (turns["group"] == group)].sort_values("range", ascending=False, kind="stable")
    known = part["text"].notna().any()
    rows = tuple(
        (row["turn"], *([row["text"] or ""] if known else []), score(row["baseline"]),
         f"{score(row['low'])} {row['low_set']}", f"{score(row['high'])} {row['high_set']}")
        for _, row in part.head(_SHOWN).iterrows()
    )  # fmt: skip
    texts = [Column("Human", "left")] if known else []
    columns = (Column("turn", "left"), *texts, Column("baseline"), Column("lowest", "left"), Column("highest", "left"))
    return Table(
        f"turns-{group}", f"{group}: turns whose {measure_label(metric)} moves most with the wording", columns, rows,
        f"{len(rows)} of {len(part)} turns; CSV and JSON have all.",
    )  # fmt: skip


# ---------------------------------------------------------------- figures


def draw_drops(result: Robustness) -> matplotlib.figure.Figure:
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


def draw_spread(result: Robustness) -> matplotlib.figure.Figure:
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


def _points(value: float) -> str:
    return number(value, 4)


def _percent(value: float) -> str:
    return number(value, 1)


def _p(value: float) -> str:
    return "–" if math.isnan(value) else p_value(value)
