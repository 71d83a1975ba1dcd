"""Tables, figures and turns to read of a grid: causes per system, means, effect sizes, swaps, and the best system."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.document import Block, Figure, TableBlock, TurnSet
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.panels import add_panel, new_figure, panel_title, rectangles
from robustcs.documents.stacked import share_figure
from robustcs.documents.style import INK, MAX_HEIGHT, Width, mixed, room, scaled, text_width
from robustcs.documents.tables import Shown, notes_of, result_table, wide_table
from robustcs.documents.text import one_line, shortened_names
from robustcs.documents.words import clustered, cut_label, measure_label, noted, number
from robustcs.evaluation.grid import CAUSES
from robustcs.lazy import pd
from robustcs.records.filter import term
from robustcs.records.table import DISAGREEMENT
from robustcs.result import count, text
from robustcs.result import score as score_field
from robustcs.studies.components.analysis import Components
from robustcs.wording import counted, some_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

#: One colour per cause; wording and ranker have those of rewriter errors and QA errors.
COLOURS = {"correct": "#2fa585", "wording": "#f2bf62", "ranker": "#2f74b0", "either": "#cf5c0c", "both": "#873a73",
           "none": "#0b3a66"}  # fmt: skip
#: Systems and swaps that tables and figures show; JSON and CSV contain all.
SHOWN = 15
#: Up to this number of rankers, the table of means has intervals.
_WIDE = 4
#: Cause → what loses the turn, in links.
_SAYS = {
    "wording": "lost by the wording",
    "ranker": "lost by the ranker",
    "either": "corrected by another wording or another ranker",
    "both": "corrected only by another wording and ranker",
    "none": "answered by no system",
}
#: Why the results of a grid are partly luck, and how to measure it.
LUCK = (
    "A grid has one run per cell, so part of a difference may be luck; robustcs samples measures luck from repeated samples of"
    " a rewriter."
)
_CORRECT_IF: Shown = (text("Correct if"), lambda row: cut_label((row.metric, row.threshold)))
_SYSTEM: Shown = (text("System"), lambda row: f"{row.wording}/{row.ranker}")


def show(result: Components) -> tuple[Block, ...]:
    """Return the tables and the figures."""
    cut = cut_of(result)
    tables: list[TableBlock] = [_systems(result, cut), *_means(result)]
    tables += [_factors(result)] if len(result.factors) else []
    tables += [_effects(result)] if result.effects["omega2"].notna().any() else []
    tables += [_swaps(result, cut[0])] if len(result.swaps) else []
    tables += _best(result) if len(result.choice) else []
    tables += [_missing(result, cut)] if len(result.missing) else []
    means = [
        f"{row.wording}/{row.ranker} {number(row.value, 3)}"
        for row in ranked(result, cut).itertuples()
    ]
    said = f"Mean {measure_label(cut[0])}"
    heatmap = Figure("means", f"{said} of every wording with every ranker.", f"{said}: {', '.join(means)}.",
                     lambda width: _heatmap(width, result, cut[0]))  # fmt: skip
    return (*tables, _causes(result, cut), heatmap)


def overview(result: Components) -> tuple[TableBlock | Figure, ...]:
    """Return the table of all systems and the figure of their causes."""
    cut = cut_of(result)
    return _systems(result, cut), _causes(result, cut)


def cut_of(result: Components) -> Cut:
    """Return the measure and threshold of findings, figures and turns to read."""
    return headline_cut(shown_cuts(result.blame))


def ranked(result: Components, cut: Cut) -> pd.DataFrame:
    """Return a row for every cell, with its mean and the turns of each cause, the highest mean first."""
    means = result.means[result.means["metric"] == cut[0]]
    own = at(result.blame, cut)
    rows = own.assign(cause="by_" + own["cause"]).pivot(
        index=["wording", "ranker"], columns="cause", values="count"
    )
    share = own[own["cause"] == "correct"][["wording", "ranker", "share", "ci_low", "ci_high"]]
    every = means[["wording", "ranker", "value"]].merge(rows.reset_index()).merge(share)
    return every.sort_values("value", ascending=False, kind="stable", ignore_index=True)


def _cells(result: Components) -> str:
    grid = result.grid
    size = f"{counted(len(grid.wordings), 'wording')} × {counted(len(grid.rankers), 'ranker')}"
    if not grid.missing:
        return size
    missing = some_of(["/".join(cell) for cell in grid.missing], 3)
    return f"{size}, {len(grid.cells)} of {len(grid.wordings) * len(grid.rankers)} cells (missing: {missing})"


def _systems(result: Components, cut: Cut) -> TableBlock:
    rows = ranked(result, cut)
    spec = result.spec("blame")
    correct = spec.field("share").called("correct (95% CI)")
    mean = result.spec("means").field("value").bare.called(measure_label(cut[0]))
    turns = [count(f"by_{cause}", header=cause, group="turns by cause") for cause in CAUSES[1:-1]]
    columns: list[Shown] = [_SYSTEM, mean, correct, *turns]
    note = (
        f"Counts of {counted(result.evaluated.turns, 'turn')}, on {rows['by_none'].iloc[0]} of which no system is correct."
        " Wording: another wording with the same ranker is correct, but no other ranker with the same wording. Ranker: the"
        " reverse. Either: each change alone is enough. Both: only both changes together help."
        f" Grid: {_cells(result)}. {LUCK} 95% CI: Wilson intervals{clustered(result.evaluated.unit)}."
    )
    caption = f"Which component loses the answer? Correct if {cut_label(cut)}"
    return result_table(result, "blame", caption, columns, note, rows=rows, most=SHOWN, slug="systems",
                        hint="CSV and JSON contain every threshold, with intervals and averages.")  # fmt: skip


def _means(result: Components) -> list[TableBlock]:
    tables, value = [], result.spec("means").field("value")
    if wide := len(result.grid.rankers) > _WIDE:
        value = value.bare
    for metric in dict.fromkeys((cut_of(result)[0], *result.means["metric"])):
        rows, label = result.means[result.means["metric"] == metric], measure_label(metric)
        note = f"95% CI: t intervals{clustered(result.evaluated.unit)}, not adjusted for multiple comparisons.{notes_of(rows)}"
        tables.append(wide_table(
            result, "means", f"Mean {label} by wording and ranker", ["wording"], "ranker", [value],
            "CSV and JSON contain the intervals." if wide else note, rows=rows, group=label * wide, slug=f"means-{metric}",
        ))  # fmt: skip
    return tables


def _factors(result: Components) -> TableBlock:
    rows = result.factors
    columns: list[Shown] = [_CORRECT_IF, "wording", "ranker", "difference", "p_corrected"]
    note = (
        f"Shares of turns, averaged over {counted(int(rows['systems'].iloc[0]), 'system')}; turns that either change would"
        f" answer count for neither. Difference: wording − ranker, in percentage points. p: sign-flip test"
        f"{clustered(result.evaluated.unit)}, adjusted by max-T over {counted(len(rows), 'comparison')} (all measures and"
        f" thresholds).{notes_of(rows)}"
    )
    return result_table(
        result, "factors", "Does the wording or the ranker lose more turns?", columns, note
    )


def _effects(result: Components) -> TableBlock:
    rows = result.effects
    heads = {name: measure_label(name) for name in dict.fromkeys(rows["metric"])}
    wordings, rankers = (rows[name].iloc[0].replace("|", ", ") for name in ("wordings", "rankers"))
    used = (
        f" Complete subgrid: {wordings} with {rankers}; other cells are not used."
        if result.grid.missing and wordings
        else ""
    )
    note = (
        "ω²: variance due to the effect, divided by this variance plus the error variance of the analysis of variance turn ×"
        " wording × ranker. Interactions: the effect of one depends on the other; turn × wording means that different turns"
        f" need different wordings. 95% CI for other {result.evaluated.unit}s with these wordings and rankers.{used}"
        f"{notes_of(rows)}"
    )
    rows = rows.assign(factor=rows["factor"].str.replace("*", " × "))
    return wide_table(result, "effects", "How much does each component matter?", ["factor"], "metric", ["omega2"], note,
                      rows=rows, heads=heads, group="ω² (95% CI)")  # fmt: skip


def _swaps(result: Components, metric: str) -> TableBlock:
    rows = result.swaps[result.swaps["metric"] == metric].sort_values(
        "difference", ascending=False, kind="stable"
    )
    gains = rows[rows["difference"] > 0]
    columns: list[Shown] = [_SYSTEM, "changed", "to", "difference", "p_corrected", "effect"]
    told = noted(
        (f"{row.wording}/{row.ranker} to {row.to}", row.note)
        for row in gains.head(SHOWN).itertuples()
    )
    note = (
        "Every change of one component that raises the mean; the opposite changes lose as much. 95% CI and p: sign-flip"
        f" test{clustered(result.evaluated.unit)}; the interval is not adjusted; p adj.:"
        f" {result.families[metric].describe('pair')} of systems. Effect: mean difference divided by its standard deviation"
        f" over {result.evaluated.unit}s.{told}"
    )
    caption = f"What would changing one component gain? {measure_label(metric)}"
    hint = "--table swaps --format csv lists every change and measure."
    return result_table(result, "swaps", caption, columns, note, rows=gains, most=SHOWN, hint=hint)


def _best(result: Components) -> list[TableBlock]:
    field = result.spec("choice").field
    lead: Shown = (
        score_field("half_lead", header="lead, same half"),
        lambda row: number(row.half_lead, 3),
    )
    first: list[Shown] = [
        "metric",
        _SYSTEM,
        "value",
        "chosen",
        lead,
        field("other_lead").called("lead, other half (95% CI)"),
    ]
    note = (
        "Halves: the best and the second best system are chosen on a random half of the"
        f" {result.evaluated.unit}s and compared on the other half; means over"
        f" {counted(int(result.choice['splits'].iloc[0]), 'random split')}. Chosen: share of the halves in which the system is"
        f" best. 95% CI for other {result.evaluated.unit}s: jackknife.{notes_of(result.choice)}"
    )
    second: list[Shown] = ["metric", _SYSTEM, "value", "upper", "gain", "by_chance"]
    upper = (
        "Upper: mean over turns of the highest score of all systems. No choice can exceed it, and part of the gain is luck."
        " Chance: the gain if systems were exchanged at random in every turn, so that none is better than another."
    )
    caption = f"Does the lead of the best system hold on other {result.evaluated.unit}s?"
    halves = (
        [result_table(result, "choice", caption, first, note)]
        if result.choice["splits"].any()
        else []
    )
    caption = "What would choosing the best system of every turn gain?"
    return [*halves, result_table(result, "choice", caption, second, upper, slug="upper")]


def _missing(result: Components, cut: Cut) -> TableBlock:
    rows = at(result.missing, cut).sort_values("turns", ascending=False, kind="stable")
    note = "Turns: on these, the cause of at least one system would change if the missing cell were correct."
    caption = f"What could a missing cell show? Correct if {cut_label(cut)}"
    return result_table(result, "missing", caption, [_SYSTEM, "turns", "share"], note, rows=rows)


def _causes(result: Components, cut: Cut) -> Figure:
    best = ranked(result, cut)
    own = at(result.blame, cut)
    order = {
        (row.wording, row.ranker): place for place, row in enumerate(best.head(SHOWN).itertuples())
    }
    places = [order.get(key) for key in zip(own["wording"], own["ranker"], strict=True)]
    own = own.assign(system=own["wording"] + "/" + own["ranker"], place=places)
    own = own[own["place"].notna()].sort_values("place", kind="stable")
    caption = f"Share of the turns by cause for each system, correct if {cut_label(cut)}."
    caption += (
        f" Shown: the {SHOWN} best of {counted(len(best), 'system')}." if len(best) > SHOWN else ""
    )
    return share_figure("causes", caption, own, "system", "cause", COLOURS)


def turns_to_read(result: Components) -> tuple[TurnSet, ...]:
    """Return the turns of each cause of the best system, those on which systems differ most first."""
    cut = cut_of(result)
    best = next(ranked(result, cut).itertuples())
    system = f"{best.wording}/{best.ranker}"
    own = at(result.blame, cut)
    own = own[(own["wording"] == best.wording) & (own["ranker"] == best.ranker)]
    counts = own.set_index("cause")["count"]
    return tuple(
        TurnSet(
            f"{system}: {_SAYS[cause]}",
            term("blame", cause, system=system),
            int(counts[cause]),
            DISAGREEMENT,
        )
        for cause in CAUSES[1:]
    )


#: From the lowest to the highest mean; distinguishable in grey.
_RAMP = ("#eef4fa", "#7db0da", "#0b3a66")
_ROW, _TITLE, _EDGE, _WIDEST = 0.32, 0.26, 0.1, 1.1  # inches
_NAME, _SHORT = 24, 14  # characters of a name on a page and in a column
_SLANT = math.radians(30)  # of the names of rankers that would meet
_DARK = 0.6  # shade above which letters are white


def _heatmap(width: Width, result: Components, metric: str) -> MatplotlibFigure:
    """Draw a row per wording and a column per ranker, each cell with its mean if there is room for it."""
    grid = result.grid
    means = np.full((len(grid.wordings), len(grid.rankers)), np.nan)
    for row in result.rows("means", metric=metric):
        means[grid.places[row.wording, row.ranker]] = row.value
    most = _SHORT if width.narrow else _NAME
    wordings = shortened_names(grid.wordings, most)
    rankers = shortened_names(grid.rankers, most)
    full = width.inches if width.narrow else min(width.inches, 1.6 + _WIDEST * len(rankers))
    left = 0.1 + room(wordings)
    inside = full - left - _EDGE
    # names that would meet are written upwards
    slanted = room(rankers) + 0.05 > inside / len(rankers)
    below = scaled(0.2) + (room(rankers) * math.sin(_SLANT) if slanted else 0)
    top = scaled(_TITLE)
    row_height = min(_ROW, (MAX_HEIGHT - top - below) / len(wordings))
    figure = new_figure(full, top + row_height * len(wordings) + below)
    axes = add_panel(figure, left, below, inside, row_height * len(wordings))
    axes.set(xlim=(-0.5, len(rankers) - 0.5), ylim=(len(wordings) - 0.5, -0.5))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_yticks(range(len(wordings)), [one_line(name) for name in wordings])
    axes.set_xticks(range(len(rankers)), [one_line(name) for name in rankers])
    if slanted:
        for label in axes.get_xticklabels():
            label.set(
                rotation=math.degrees(_SLANT), ha="right", va="center", rotation_mode="anchor"
            )
    panel_title(axes, f"Mean {measure_label(metric)}", left - _EDGE)
    _draw_cells(axes, means, inside / len(rankers))
    return figure


def _draw_cells(axes: Axes, means: np.ndarray, cell_width: float) -> None:
    """Draw the cells of a heatmap; ``means`` is NaN for a missing cell, ``cell_width`` in inches."""
    rows, columns = (places.ravel() for places in np.indices(means.shape))
    values = means.ravel()
    low, high = float(np.nanmin(means)), float(np.nanmax(means))
    shades = np.full(len(values), 0.5) if high == low else (values - low) / (high - low)
    missing = np.isnan(values)
    colours = [
        "none" if gone else mixed(_RAMP, float(shade))
        for gone, shade in zip(missing, shades, strict=True)
    ]
    sides = columns - 0.485, rows + 0.48, columns + 0.485, rows - 0.48
    rectangles(axes, *sides, colours, edgecolors=INK, linewidths=0.3)
    digits = next((some for some in (3, 2) if text_width("0." + "0" * some) + 0.04 < cell_width), 0)
    for row, column, value, shade in zip(
        *map(np.ndarray.tolist, (rows, columns, values, shades)), strict=True
    ):
        if math.isnan(value):
            axes.text(column, row, "–", ha="center", va="center")
        elif digits:
            letters = "#ffffff" if shade > _DARK else "#000000"
            shown = f"{value:.{digits}f}"
            axes.text(column, row, shown, color=letters, ha="center", va="center")
