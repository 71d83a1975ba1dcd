"""Figure and tables of a sweep (Figure 1 of the error-analysis paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robustcs.documents.bins import CAUSE_TITLES, bin_columns, bin_rules, formulations, marks
from robustcs.documents.document import Block, Drawing, Figure, Heading, Table
from robustcs.documents.headline import Cut
from robustcs.documents.tables import Shown, group_columns, result_table
from robustcs.documents.words import clustered, component, cut_label, measure_label, noted, percent
from robustcs.errors import refuse_unknown
from robustcs.evaluation.bins import BINS, bins_of
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.result import count, text
from robustcs.studies.sweep.analysis import Sweep
from robustcs.studies.sweep.findings import ALPHA, ahead, finding
from robustcs.wording import counted

#: A rewriter and a measure: a panel of the figure.
Panel = tuple[str, str]


def show(result: Sweep, details: Sequence[str] = (), marked: Cut | None = None, names: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the figure, the tables of areas and, per measure, the counts at every tenth of the range.

    details
        With several rewriters: those whose areas and counts are shown as well.
    marked
        The measure and threshold that the text next to the figure mentions; the figure marks it with a line.
    names
        Tables that are shown (default: all, with the figure); only these are computed.

    Raises :class:`UsageError` for an unknown rewriter.
    """
    rewriters = list(dict.fromkeys(row.rewriter for row in result.rows("bins")))
    refuse_unknown(details, rewriters, "rewriter")
    first: list[Block] = [] if names else [_figure(result, marked)]
    if len(rewriters) > 1 and (not names or "causes" in names):
        first.append(_side_by_side(result))
    if not names or "blame" in names:
        first.append(_blame(result))
    if len(rewriters) == 1:
        return (*first, *_one(result, rewriters[0], "", names))
    shown = (block for name in details for block in (Heading(f"Rewriter {name}", 2), *_one(result, name, f"-{name}", names)))
    return (*first, *shown)


def _figure(result: Sweep, marked: Cut | None) -> Figure:
    answered = CAUSE_TITLES["correct"]
    if _original(result):
        answered = "turns answered only after rewriting, turns answered by Original"
    return Figure(
        "sweep",
        f"Shares of the bins at every threshold. From the top: QA errors, rewriter errors, {answered}."
        + (f" Dashed line: {cut_label(marked)}, as in the text." if marked and _line(result, marked) else ""),
        _alt(result),
        lambda: draw_sweep(result, marked),
    )


def _original(result: Sweep) -> bool:
    """Return whether the result includes Original."""
    return "111" in bins_of(result.rows("bins"))


def _parts(result: Sweep, table: str) -> dict[Panel, list[Any]]:
    found: dict[Panel, list[Any]] = {}
    for row in result.rows(table):
        found.setdefault((row.rewriter, row.metric), []).append(row)
    return found


def panel_labels(result: Sweep) -> dict[Panel, str]:
    """Return the heading of every (rewriter, metric): the measure, and the rewriter if there are several."""
    panels = list(dict.fromkeys((row.rewriter, row.metric) for row in result.rows("bins")))
    several = len(dict(panels)) > 1
    return {panel: f"{measure_label(panel[1])}, {panel[0]}" if several else measure_label(panel[1]) for panel in panels}


def _one(result: Sweep, rewriter: str, slug: str, asked: Sequence[str]) -> list[Block]:
    """Return the table of areas of one rewriter, and its counts by measure; those of ``asked``, or all."""
    labels = {panel: label for panel, label in panel_labels(result).items() if panel[0] == rewriter}
    blocks: list[Block] = [_areas(result, labels, slug)] if not asked or "areas" in asked else []
    return blocks + [_counts(result, panel, label) for panel, label in labels.items() if not asked or "bins" in asked]


def _areas(result: Sweep, labels: Mapping[Panel, str], slug: str) -> Table:
    names, areas = bins_of(result.rows("bins")), _parts(result, "areas")
    columns: list[Shown] = [*bin_columns(names)]
    for panel, label in labels.items():
        columns += group_columns(result, "areas", label, {row.bin: row for row in areas[panel]}, "area")
    told = noted((f"{marks(row.bin)} {label}", row.note) for panel, label in labels.items() for row in areas[panel])
    return result_table(
        result, "areas", "Threshold-free share of every bin", columns,
        f"Share of the {result.evaluated.turns} turns in each bin, averaged over all thresholds: the area of its band in the"
        f" figure. {_interval(result)}.{told}",
        rows=names, rules=bin_rules(names), slug=f"areas{slug}",
    )  # fmt: skip


def _interval(result: Sweep) -> str:
    return f"95% CI: t intervals{clustered(result.evaluated.unit)}, not adjusted for multiple comparisons"


def _by_cause(result: Sweep, cause: str) -> dict[Panel, Any]:
    """Return (rewriter, metric) → the row of a cause."""
    return {(row.rewriter, row.metric): row for row in result.rows("causes", cause=cause)}


def _area_columns(result: Sweep, panels: Sequence[Panel], *causes: str) -> list[Shown]:
    """Return the columns of the measure, the rewriter (if there are several) and the areas of these causes."""
    columns: list[Shown] = [(text("metric", header="Measure"), lambda panel: measure_label(panel[1]))]
    columns += [(text("rewriter", header="Rewriter"), lambda panel: panel[0])] if len(dict(panels)) > 1 else []
    for cause in causes:
        columns += group_columns(result, "causes", CAUSE_TITLES[cause], _by_cause(result, cause), "area")
    return columns


def _blame(result: Sweep) -> Table:
    """Return the table of QA and rewriter errors, with the thresholds at which one of them is significantly more frequent."""
    rows = _parts(result, "blame")
    group = "fails more often at"
    columns = [
        *_area_columns(result, list(rows), "qa", "qr"),
        (text("qa").called(component(result.evaluated.basis), group), lambda panel: ahead(rows[panel], 1) or "no threshold"),
        (text("qr").called("rewriter", group), lambda panel: ahead(rows[panel], -1) or "no threshold"),
    ]
    note = (
        f"Areas: shares of {result.evaluated.turns} turns, averaged over all thresholds. {_interval(result)}. Fails more often"
        f" at: thresholds with p adj. ≤ {ALPHA:g} (McNemar's test{clustered(result.evaluated.unit)}; max-T over"
        f" {counted(sum(map(len, rows.values())), 'comparison')}: all thresholds, measures and rewriters)."
        f" {' '.join(finding(result))}"
    )
    hint = "CSV and JSON contain p and p adj. for every threshold."
    caption = f"At which thresholds does the {component(result.evaluated.basis)} or the rewriter fail more often?"
    return result_table(result, "blame", caption, columns, note, rows=list(rows), hint=hint)


def _side_by_side(result: Sweep) -> Table:
    """Return a table with a row per rewriter: rewriter errors and correct turns over all thresholds."""
    correct = _by_cause(result, "correct")
    measures = list(dict.fromkeys(metric for _, metric in correct))
    keys = sorted(correct, key=lambda key: (measures.index(key[1]), -correct[key].area))
    lost = {row.metric: f"{percent(row.area)} ({measure_label(row.metric)})" for row in _by_cause(result, "qa").values()}
    note = (
        f"Shares of {result.evaluated.turns} turns, averaged over all thresholds. {_interval(result)}; robustcs breakdown tests"
        f" the differences. QA errors are the same for all rewriters: {', '.join(lost.values())}. --details NAME shows the bins"
        " of one rewriter."
    )
    told = [row for row in result.rows("causes") if row.cause != "qa"]
    return result_table(
        result, "causes", "Threshold-free shares: the rewriters side by side",
        _area_columns(result, keys, "qr", "correct"),
        note + noted((f"{row.rewriter} {measure_label(row.metric)}", row.note) for row in told),
        rows=keys, rules=[place for place in range(1, len(keys)) if keys[place][1] != keys[place - 1][1]],
    )  # fmt: skip


def _line(result: Sweep, marked: Cut) -> float | None:
    """Return the threshold of ``marked``; None if its measure is not swept or the threshold is at an end of the range."""
    value = parse_threshold(marked[1]).value
    points = [row.threshold for row in result.rows("bins", metric=marked[0])]
    return value if points and min(points) < value < max(points) else None


def draw_sweep(result: Sweep, marked: Cut | None = None) -> Drawing:
    """Draw the stacked figure, one panel per rewriter and measure; ``marked`` as for :func:`show`."""
    from robustcs.studies.sweep.figure import SweepPanel, sweep_figure

    labels, names = panel_labels(result), bins_of(result.rows("bins"))
    panels = []
    for panel, part in _parts(result, "bins").items():
        own = np.array([row.share for row in part]).reshape(-1, len(names))
        shares = {name.replace("-", "0"): own[:, place] for place, name in enumerate(names)}
        grid = np.array(list(dict.fromkeys(row.threshold for row in part)))
        line = _line(result, marked) if marked and marked[0] == panel[1] else None
        every = {name: shares.get(name, np.zeros(len(grid))) for name in BINS}
        panels.append(SweepPanel(labels[panel], grid, every, result.evaluated.turns, _original(result), line))
    return sweep_figure(panels)


def _counts(result: Sweep, panel: Panel, label: str) -> Table:
    part = _parts(result, "bins")[panel]
    rows: dict[float, list[int]] = {}
    for row in part:
        rows.setdefault(row.threshold, []).append(row.count)
    columns: list[Shown] = [(text("threshold"), lambda point: "> 0" if point == 0 else f"≥ {point:g}")]
    columns += [
        (count(marks(bin_).replace(" ", "")), lambda point, place=place: str(rows[point][place]))  # type: ignore[misc]
        for place, bin_ in enumerate(bins_of(part))
    ]
    return result_table(
        result, "bins", f"{label}: turns per bin by threshold ({formulations(part)})", columns,
        f"Of {result.evaluated.turns} turns. CSV and JSON contain all {len(rows)} thresholds.",
        rows=[point for point in rows if round(point * 10, 9) % 1 == 0], slug=f"bins-{'-'.join(panel)}",
    )  # fmt: skip


def _alt(result: Sweep) -> str:
    areas, causes, said = _parts(result, "areas"), _parts(result, "causes"), []
    for panel, label in panel_labels(result).items():
        area = {row.bin: percent(row.area) for row in areas[panel]}
        cause = {row.cause: percent(row.area) for row in causes[panel]}
        answered = f"{CAUSE_TITLES['correct']} {cause['correct']}"
        if _original(result):
            answered = f"answered only after rewriting {area['011']}, answered by Original {area['111']}"
        said.append(f"{label}: QA errors {cause['qa']}, rewriter errors {cause['qr']}, {answered}")
    return "Stacked shares of the bins by threshold. Averages over all thresholds: " + "; ".join(said) + "."
