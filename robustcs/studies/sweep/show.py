"""Figure and tables of a sweep (Figure 1 of the error-analysis paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.documents.bins import CAUSE_TITLES, bin_columns, bin_rules, formulations, marks
from robustcs.documents.document import Block, Figure, TableBlock
from robustcs.documents.headline import Cut
from robustcs.documents.tables import Shown, group_columns, result_table
from robustcs.documents.words import (
    clustered,
    component,
    cut_label,
    limits_first,
    measure_label,
    noted,
    percent,
)
from robustcs.evaluation.bins import BINS, bins_of
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.result import count, text
from robustcs.studies.sweep.analysis import Sweep
from robustcs.studies.sweep.findings import ALPHA, ahead
from robustcs.wording import counted, many_missing

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.style import Width

#: A rewriter and a measure: a panel of the figure.
Panel = tuple[str, str]


def show(result: Sweep, marked: Cut | None = None, names: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the figure, the table of areas and, per measure, the counts at every tenth of the range.

    With several rewriters, the areas and counts have no view of their own.

    marked
        The measure and threshold that the text next to the figure mentions; the figure marks it with a line.
    names
        Tables that are shown (default: all, with the figure); only these are computed.
    """
    labels = panel_labels(result)
    blocks: list[Block] = [] if names else [_figure(result, marked)]
    blocks += [_blame(result)] if not names or "blame" in names else []
    if len({name for name, _ in labels}) == 1:
        blocks += [_areas(result, labels)] if not names or "areas" in names else []
        blocks += [
            _counts(result, panel, label)
            for panel, label in labels.items()
            if not names or "bins" in names
        ]
    return tuple(blocks)


def _figure(result: Sweep, marked: Cut | None) -> Figure:
    answered = CAUSE_TITLES["correct"]
    if _original(result):
        answered = "turns answered only after rewriting, turns answered by Original"
    causes = _parts(result, "causes")
    said = [
        f"{label}: "
        + ", ".join(f"{CAUSE_TITLES[row.cause]} {percent(row.area)}" for row in causes[panel])
        for panel, label in panel_labels(result).items()
    ]
    return Figure(
        "sweep",
        f"{limits_first(result.evaluated)}Shares of the bins at every threshold. From the top: QA errors, rewriter errors,"
        f" {answered}."
        + (
            f" Dashed line: {cut_label(marked)}, as in the text."
            if marked and _line(result, marked)
            else ""
        ),
        f"Stacked shares of the bins by threshold. Averages over all thresholds: {'; '.join(said)}.",
        lambda width: draw_sweep(width, result, marked),
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
    return {
        panel: f"{measure_label(panel[1])}, {panel[0]}" if several else measure_label(panel[1])
        for panel in panels
    }


def _areas(result: Sweep, labels: Mapping[Panel, str]) -> TableBlock:
    names, areas = bins_of(result.rows("bins")), _parts(result, "areas")
    columns: list[Shown] = [*bin_columns(names)]
    for panel, label in labels.items():
        columns += group_columns(
            result, "areas", label, {row.bin: row for row in areas[panel]}, "area"
        )
    told = noted(
        (f"{marks(row.bin)} {label}", row.note)
        for panel, label in labels.items()
        for row in areas[panel]
    )
    return result_table(
        result, "areas", "Threshold-free share of every bin", columns,
        f"Share of the {counted(result.evaluated.turns, 'turn')} in each bin, averaged over all thresholds: the area of its"
        f" band in the figure. {_interval(result)}.{told}",
        rows=names, rules=bin_rules(names),
    )  # fmt: skip


def _interval(result: Sweep) -> str:
    return f"95% CI: t intervals{clustered(result.evaluated.unit)}, not adjusted for multiple comparisons"


def _blame(result: Sweep) -> TableBlock:
    """Return the table of QA and rewriter errors, with the thresholds at which one of them is significantly more frequent."""
    rows = _parts(result, "blame")
    columns: list[Shown] = [
        (text("metric", header="Measure"), lambda panel: measure_label(panel[1]))
    ]
    columns += (
        [(text("rewriter", header="Rewriter"), lambda panel: panel[0])]
        if len({name for name, _ in rows}) > 1
        else []
    )
    for cause in ("qa", "qr"):
        areas = {(row.rewriter, row.metric): row for row in result.rows("causes", cause=cause)}
        columns += group_columns(result, "causes", CAUSE_TITLES[cause], areas, "area")
    first, areas_of = (
        limits_first(result.evaluated),
        f"Areas: shares of {counted(result.evaluated.turns, 'turn')}, averaged",
    )
    if many_missing(result.evaluated.unscored_by):
        note = f"{areas_of} over all thresholds. {_interval(result)}. Not tested: the missing scores could change the order."
        return result_table(
            result, "blame", f"{first}Errors on these turns", columns, note, rows=list(rows)
        )
    group, qa = "fails more often at", component(result.evaluated.basis)
    columns += [
        (text("qa").called(qa, group), lambda panel: ahead(rows[panel], 1) or "no threshold"),
        (
            text("qr").called("rewriter", group),
            lambda panel: ahead(rows[panel], -1) or "no threshold",
        ),
    ]
    told = [row for row in result.rows("causes") if row.cause != "correct"]
    note = (
        f"{areas_of} over all thresholds. {_interval(result)}. Fails"
        f" more often at: thresholds with p adj. ≤ {ALPHA:g} (McNemar's test{clustered(result.evaluated.unit)}; max-T over"
        f" {counted(sum(map(len, rows.values())), 'comparison')}: all thresholds, measures and rewriters)."
        f"{noted((f'{row.rewriter} {measure_label(row.metric)}', row.note) for row in told)}"
    )
    hint = "CSV and JSON contain p and p adj. for every threshold."
    caption = f"{first}At which thresholds does the {qa} or the rewriter fail more often?"
    return result_table(result, "blame", caption, columns, note, rows=list(rows), hint=hint)


def _line(result: Sweep, marked: Cut) -> float | None:
    """Return the threshold of ``marked``; None if its measure is not swept or the threshold is at an end of the range."""
    value = parse_threshold(marked[1]).value
    points = [row.threshold for row in result.rows("bins", metric=marked[0])]
    return value if points and min(points) < value < max(points) else None


def draw_sweep(width: Width, result: Sweep, marked: Cut | None = None) -> MatplotlibFigure:
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
        panels.append(
            SweepPanel(labels[panel], grid, every, result.evaluated.turns, _original(result), line)
        )
    return sweep_figure(width, panels)


def _counts(result: Sweep, panel: Panel, label: str) -> TableBlock:
    part = _parts(result, "bins")[panel]
    rows: dict[float, list[int]] = {}
    for row in part:
        rows.setdefault(row.threshold, []).append(row.count)
    columns: list[Shown] = [
        (text("threshold"), lambda point: "> 0" if point == 0 else f"≥ {point:g}")
    ]
    columns += [
        (count(marks(bin_).replace(" ", "")), lambda point, place=place: str(rows[point][place]))  # type: ignore[misc]
        for place, bin_ in enumerate(bins_of(part))
    ]
    return result_table(
        result, "bins", f"{label}: turns per bin by threshold ({formulations(part)})", columns,
        f"Of {counted(result.evaluated.turns, 'turn')}. CSV and JSON contain all {len(rows)} thresholds.",
        rows=[point for point in rows if round(point * 10, 9) % 1 == 0], slug=f"bins-{'-'.join(panel)}",
    )  # fmt: skip
