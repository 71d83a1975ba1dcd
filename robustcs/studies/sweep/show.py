"""A sweep as Figure 1 of the error-analysis paper, with its areas as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robustcs.documents.bins import bin_columns, bin_rules
from robustcs.documents.document import Block, Figure, Heading, Table
from robustcs.documents.headline import Cut
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import (
    CAUSE_TITLES,
    component,
    cut_label,
    formulations,
    marks,
    measure_label,
    noted,
    percent,
    percent_interval,
)
from robustcs.errors import UsageError
from robustcs.evaluation.bins import BINS, bins_of
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.lazy import Drawing, pd
from robustcs.result import count, share, text
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.studies.sweep.analysis import Sweep
from robustcs.studies.sweep.findings import ALPHA, ahead, finding
from robustcs.wording import counted


def show(result: Sweep, details: Sequence[str] = (), marked: Cut | None = None) -> tuple[Block, ...]:
    """The figure, one table of areas, and per measure the counts at every tenth of the range.

    Of several rewriters one figure and one table of all, then those tables for the ones in ``details``. ``marked`` is the
    measure and threshold of which a text beside the figure speaks: a line marks it.

    Raises :class:`UsageError` for a rewriter that there is not.
    """
    rewriters = list(dict.fromkeys(result.bins["rewriter"]))
    for name in details:
        if name not in rewriters:
            raise UsageError("no-such-rewriter", f"no rewriter is named {name!r}", f"there are {', '.join(rewriters)}")
    figure = Figure(
        "sweep",
        "Bins at every threshold: errors of the QA component on top, then of the rewriter, then what is answered"
        + (" only after rewriting; at the bottom what the Original question answers alone." if _original(result) else ".")
        + (f" Dashed: {cut_label(marked)}, as in the text." if marked and _line(result, marked) else ""),
        _alt(result),
        lambda: draw_sweep(result, marked),
    )
    if len(rewriters) == 1:
        return (figure, _blame(result), *_one(result, rewriters[0], ""))
    shown = (block for name in details for block in (Heading(f"Rewriter {name}", 2), *_one(result, name, f"-{name}")))
    return (figure, _side_by_side(result), _blame(result), *shown)


def _original(result: Sweep) -> bool:
    """Is Original known?"""
    return "111" in bins_of(result.bins)


def _one(result: Sweep, rewriter: str, slug: str) -> tuple[Block, ...]:
    """The areas of one rewriter, and its counts by measure."""
    labels = {panel: label for panel, label in panel_labels(result).items() if panel[0] == rewriter}
    names = bins_of(result.bins)
    areas = {panel: {row.bin: row for row in _part(result, "areas", panel).itertuples()} for panel in labels}
    notes = result.areas[result.areas["rewriter"] == rewriter]
    table = result_table(
        result, "areas", "Threshold-free share of every bin",
        [
            *bin_columns(names),
            *(column for panel, label in labels.items() for column in _area(label, areas[panel], result.evaluated.units)),
        ],
        f"Area of each band of the figure: the share of {result.evaluated.turns} turns, averaged over all thresholds."
        f" {_of_conversations(result)}, one bin at a time."
        + noted((f"{marks(row.bin)} {labels[row.rewriter, row.metric]}", row.note) for row in notes.itertuples()),
        rows=names, rules=bin_rules(names), slug=f"areas{slug}",
    )  # fmt: skip
    return (table, *(_counts(result, panel, label) for panel, label in labels.items()))


def _of_conversations(result: Sweep) -> str:
    return f"95 %: in per cent, for other {result.evaluated.unit}s of this kind"


def _blame(result: Sweep) -> Table:
    """Both areas of every measure and rewriter, and the thresholds at which one of the two fails more often."""
    part = component(result.evaluated.basis)
    rows = {panel: _part(result, "blame", panel) for panel in panel_labels(result)}
    lines = _causes(result)
    units = result.evaluated.units
    columns: list[Shown] = [(text("metric", header="Measure"), lambda panel: measure_label(panel[1]))]
    columns += [(text("rewriter", header="Rewriter"), lambda panel: panel[0])] if len({name for name, _ in rows}) > 1 else []
    columns += [*_area("QA error", lines["qa"], units), *_area("rewriter error", lines["qr"], units)]
    group = "fails more often at"
    columns += [
        (text("qa").called(part, group), lambda panel: ahead(rows[panel], 1) or "no threshold"),
        (text("qr").called("rewriter", group), lambda panel: ahead(rows[panel], -1) or "no threshold"),
    ]
    note = (
        f"Areas: shares of {result.evaluated.turns} turns, averaged over all thresholds. {_of_conversations(result)}."
        f" Thresholds: with p adj. ≤ {ALPHA:g}; McNemar's test with the {result.evaluated.unit} as unit, adjusted by max-T over"
        f" {counted(len(result.blame), 'comparison')} (all thresholds, measures and rewriters). {' '.join(finding(result))}"
    )
    hint = "CSV and JSON have p and p adj. at every threshold."
    caption = "Which of the two fails more often, at every threshold?"
    return result_table(result, "blame", caption, columns, note, rows=list(rows), hint=hint)


def _side_by_side(result: Sweep) -> Table:
    """Every rewriter in a line: what it spoils and what it answers over all thresholds; what Human fails stands once."""
    frame = result.causes
    units = result.evaluated.units
    lines = _causes(result)
    measures = list(dict.fromkeys(frame["metric"]))
    keys = [
        (row.rewriter, metric)
        for metric in measures
        for row in frame[(frame["metric"] == metric) & (frame["cause"] == "correct")]
        .sort_values("area", ascending=False, kind="stable").itertuples()
    ]  # fmt: skip
    columns: list[Shown] = [
        (text("metric", header="Measure"), lambda key: measure_label(key[1])),
        (text("rewriter", header="Rewriter"), lambda key: key[0]),
        *_area("rewriter error", lines["qr"], units), *_area(CAUSE_TITLES["correct"], lines["correct"], units),
    ]  # fmt: skip
    lost = []
    for metric in measures:
        row = next(row for key, row in lines["qa"].items() if key[1] == metric)
        between = "" if units < LEAST_UNITS else f" ({percent_interval(row.ci_low, row.ci_high)})"
        lost.append(f"{percent(row.area)}{between} by {measure_label(metric)}")
    note = (
        f"Shares of {result.evaluated.turns} turns, averaged over all thresholds. {_of_conversations(result)}, one rewriter at"
        f" a time: robustcs breakdown tests them. QA errors are the same for all: {', '.join(lost)}. --details NAME shows the"
        " bins of a rewriter."
    )
    notes = noted((f"{row.rewriter} {measure_label(row.metric)}", row.note) for row in frame.itertuples() if row.cause != "qa")
    return result_table(
        result, "causes", "Threshold-free shares: the rewriters side by side", columns, note + notes,
        rows=keys, rules=[place for place in range(1, len(keys)) if keys[place][1] != keys[place - 1][1]],
    )  # fmt: skip


def _causes(result: Sweep) -> dict[str, dict[tuple[str, str], Any]]:
    """Cause → (rewriter, metric) → its row."""
    by_cause = result.causes.groupby("cause")
    return {str(cause): {(row.rewriter, row.metric): row for row in part.itertuples()} for cause, part in by_cause}


def _area(label: str, rows: Mapping[Any, Any], units: int) -> list[Shown]:
    """The area of a line of ``rows`` and its interval, under ``label``; ``K = 3`` where units are too few for one."""

    def between(key: Any) -> str:
        row = rows[key]
        return f"K = {units}" if units < LEAST_UNITS else percent_interval(row.ci_low, row.ci_high)

    return [(share("area", group=label), lambda key: percent(rows[key].area)), (share("95 %", group=label), between)]


def panel_labels(result: Sweep) -> dict[tuple[str, str], str]:
    """Heading of every (rewriter, metric): the measure, with the rewriter where there are several."""
    several = result.bins["rewriter"].nunique() > 1
    return {
        (rewriter, metric): f"{measure_label(metric)}, {rewriter}" if several else measure_label(metric)
        for rewriter, metric in dict.fromkeys(zip(result.bins["rewriter"], result.bins["metric"], strict=True))
    }


def _line(result: Sweep, marked: Cut) -> float | None:
    """Where the line of ``marked`` stands; None for a measure that is not swept and at the ends of the range."""
    value = parse_threshold(marked[1]).value
    points = result.bins[result.bins["metric"] == marked[0]]["threshold"]
    return value if points.min() < value < points.max() else None


def draw_sweep(result: Sweep, marked: Cut | None = None) -> Drawing:
    """The stacked figure, one panel per rewriter and measure; ``marked`` as for :func:`show`."""
    from robustcs.studies.sweep.figure import SweepPanel, sweep_figure

    panels = []
    for panel, label in panel_labels(result).items():
        part = _part(result, "bins", panel)
        right = [part[role].astype("string").fillna("-") for role in ("original", "qr", "human")]
        known = bool(part["original"].notna().any())
        wide = part.assign(bin=(right[0] if known else "0") + right[1] + right[2]).pivot(
            index="threshold", columns="bin", values="share"
        )
        panels.append(
            SweepPanel(
                title=label,
                thresholds=wide.index.to_numpy(),
                shares={bin_: wide[bin_].to_numpy() if bin_ in wide else np.zeros(len(wide)) for bin_ in BINS},
                turns=result.evaluated.turns,
                original=known,
                marked=_line(result, marked) if marked and marked[0] == panel[1] else None,
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
        cause = {row.cause: percent(row.area) for row in _part(result, "causes", panel).itertuples()}
        answered = f"{CAUSE_TITLES['correct']} {cause['correct']}"
        if _original(result):
            answered = f"answered only after rewriting {percent(area['011'])}, by the Original already {percent(area['111'])}"
        parts.append(f"{label}: errors of the QA component {cause['qa']}, of the rewriter {cause['qr']}, {answered}")
    return "Stacked shares of the bins over the threshold. Averaged over thresholds, " + "; ".join(parts) + "."
