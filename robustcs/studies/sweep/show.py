"""A sweep as Figure 1 of the error-analysis paper, with its areas as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.documents.bins import bin_columns, bin_rules
from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import formulations, marks, measure_label, noted, percent, percent_interval
from robustcs.evaluation.bins import BINS, CAUSE_OF_BIN, CAUSES, bins_of
from robustcs.result import count, share, text
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.studies.sweep.analysis import Sweep

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd


def show(result: Sweep) -> tuple[Block, ...]:
    """The figure, one table of areas, and per rewriter and measure the counts at every tenth of the range."""
    panels = list(dict.fromkeys(zip(result.bins["rewriter"], result.bins["metric"], strict=True)))
    labels = panel_labels(result)
    names = bins_of(result.bins)
    areas = {panel: {row.bin: row for row in _part(result, "areas", panel).itertuples()} for panel in panels}
    table = result_table(
        result, "areas", "Threshold-free share of every bin",
        [
            *bin_columns(names),
            *(column for panel in panels for column in _area(labels[panel], areas[panel], result.evaluated.units)),
        ],
        f"Area of each band of the figure: the share of {result.evaluated.turns} turns, averaged over all thresholds. 95 %: in"
        f" per cent, for other {result.evaluated.unit}s of this kind, one bin at a time."
        + noted((f"{marks(row.bin)} {labels[row.rewriter, row.metric]}", row.note) for row in result.areas.itertuples()),
        rows=names, rules=bin_rules(names),
    )  # fmt: skip
    figure = Figure(
        "sweep",
        "Bins at every threshold: errors of the QA component on top, then of the rewriter, then what is answered"
        + (" only after rewriting; at the bottom what the Original question answers alone." if "111" in names else "."),
        _alt(result),
        lambda: draw_sweep(result),
    )
    return (figure, table, *(_counts(result, panel, labels[panel]) for panel in panels))


def _area(label: str, rows: Mapping[str, Any], units: int) -> list[Shown]:
    """The area of a bin and its interval, under the panel's label; ``K = 3`` where units are too few for one."""

    def between(bin_: str) -> str:
        row = rows[bin_]
        return f"K = {units}" if units < LEAST_UNITS else percent_interval(row.ci_low, row.ci_high)

    return [(share("area", group=label), lambda bin_: percent(rows[bin_].area)), (share("95 %", group=label), between)]


def panel_labels(result: Sweep) -> dict[tuple[str, str], str]:
    """Heading of every (rewriter, metric): the measure, with the rewriter where there are several."""
    several = result.bins["rewriter"].nunique() > 1
    return {
        (rewriter, metric): f"{measure_label(metric)}, {rewriter}" if several else measure_label(metric)
        for rewriter, metric in dict.fromkeys(zip(result.bins["rewriter"], result.bins["metric"], strict=True))
    }


def draw_sweep(result: Sweep) -> matplotlib.figure.Figure:
    """The stacked figure, one panel per rewriter and measure."""
    from robustcs.studies.sweep.figure import SweepPanel, sweep_figure

    panels = []
    for panel, label in panel_labels(result).items():
        part = _part(result, "bins", panel)
        marked = [part[role].astype("string").fillna("-") for role in ("original", "qr", "human")]
        known = bool(part["original"].notna().any())
        wide = part.assign(bin=(marked[0] if known else "0") + marked[1] + marked[2]).pivot(
            index="threshold", columns="bin", values="share"
        )
        panels.append(
            SweepPanel(
                title=label,
                thresholds=wide.index.to_numpy(),
                shares={bin_: wide[bin_].to_numpy() if bin_ in wide else np.zeros(len(wide)) for bin_ in BINS},
                turns=result.evaluated.turns,
                original=known,
            )
        )
    return sweep_figure(panels)


def _part(result: Sweep, table: str, panel: tuple[str, str]) -> pd.DataFrame:
    frame = result.tables[table]
    return frame[(frame["rewriter"] == panel[0]) & (frame["metric"] == panel[1])]


def _counts(result: Sweep, panel: tuple[str, str], label: str) -> Table:
    part = _part(result, "bins", panel)
    grid = list(dict.fromkeys(part["threshold"]))
    shown = [point for point in grid if round(point * 10, 9) % 1 == 0]
    counts = {point: list(part[part["threshold"] == point]["count"]) for point in shown}
    columns = [
        (count(marks(bin_).replace(" ", "")), lambda point, place=place: str(counts[point][place]))
        for place, bin_ in enumerate(bins_of(result.bins))
    ]
    return result_table(
        result, "bins", f"{label}: turns per bin at a threshold ({formulations(result.bins)})",
        [(text("threshold"), lambda point: "> 0" if point == 0 else f"≥ {point:g}"), *columns],
        f"Of {result.evaluated.turns} turns. {len(grid)} thresholds were counted; CSV and JSON have all of them.",
        rows=shown, slug=f"bins-{'-'.join(panel)}",
    )  # fmt: skip


def _alt(result: Sweep) -> str:
    parts = []
    for panel, label in panel_labels(result).items():
        area = _part(result, "areas", panel).set_index("bin")["area"]
        cause = {name: percent(area[[CAUSE_OF_BIN[bin_] == name for bin_ in area.index]].sum()) for name in CAUSES}
        answered = f"answered {cause['correct']}"
        if "111" in area:
            answered = f"answered only after rewriting {percent(area['011'])}, by the Original already {percent(area['111'])}"
        parts.append(f"{label}: errors of the QA component {cause['qa']}, of the rewriter {cause['qr']}, {answered}")
    return "Stacked shares of the bins over the threshold. Averaged over thresholds, " + "; ".join(parts) + "."
