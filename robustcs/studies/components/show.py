"""Tables, figures and turns to read of a grid: causes per system, means, effect sizes, swaps, and the best system."""

from __future__ import annotations

import numpy as np

from robustcs.documents.document import Block, Card, Cards, Figure, Table
from robustcs.documents.drawing import COLUMN_WIDTH, INK, Drawing, letters, mixed, page_width, room
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.stacked import share_figure
from robustcs.documents.tables import Shown, notes_of, result_table, wide_table
from robustcs.documents.text import shortened
from robustcs.documents.words import clustered, cut_label, measure_label, noted, number, score
from robustcs.evaluation.grid import CAUSES
from robustcs.lazy import pd
from robustcs.result import count, text
from robustcs.result import score as score_field
from robustcs.studies.components.analysis import Components
from robustcs.wording import counted, some_of

#: One colour per cause; wording and ranker have those of rewriter errors and QA errors.
COLOURS = {"correct": "#2fa585", "wording": "#f2bf62", "ranker": "#2f74b0", "either": "#cf5c0c", "both": "#873a73",
           "none": "#0b3a66"}  # fmt: skip
#: Systems and swaps that tables and figures show; JSON and CSV contain all.
SHOWN = 15
#: Up to this number of rankers, the table of means has intervals.
_WIDE = 4
#: Turns to read per cause.
CARDS = 5
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
    tables: list[Table] = [_systems(result, cut), *_means(result)]
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
                     lambda: _heatmap(result, cut[0]))  # fmt: skip
    return (*tables, _causes(result, cut), heatmap)


def overview(result: Components) -> tuple[Table | Figure, ...]:
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


def _systems(result: Components, cut: Cut) -> Table:
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


def _means(result: Components) -> list[Table]:
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


def _factors(result: Components) -> Table:
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


def _effects(result: Components) -> Table:
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


def _swaps(result: Components, metric: str) -> Table:
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


def _best(result: Components) -> list[Table]:
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


def _missing(result: Components, cut: Cut) -> Table:
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


def to_read(result: Components) -> tuple[Cards, ...]:
    """Return the turns of each cause of the best system; of each, those on which other systems gain most."""
    cut = cut_of(result)
    best = next(ranked(result, cut).itertuples())
    turns = at(result.turns, cut)
    own = turns[(turns["wording"] == best.wording) & (turns["ranker"] == best.ranker)].set_index(
        "turn"
    )
    highest = turns.groupby("turn", sort=False)["value"].max()
    blocks = []
    for cause in CAUSES[1:]:
        names = own.index[own["cause"] == cause]
        gain = (highest[names] - own.loc[names, "value"]).sort_values(
            ascending=False, kind="stable"
        )
        cards = tuple(
            _card(result, turns, str(name), own.loc[name, "value"]) for name in gain.index[:CARDS]
        )
        caption = f"Cause {cause}: {counted(len(names), 'turn')} of {best.wording}/{best.ranker}, which has the highest mean"
        caption += f" {measure_label(cut[0])}; correct if {cut_label(cut)}"
        caption += (
            f"; shown: the {CARDS} on which other systems score highest above it"
            if len(names) > CARDS
            else ""
        )
        blocks.append(Cards(f"turns-{cause}", caption, cards))
    return tuple(block for block in blocks if block.cards)


def _card(result: Components, turns: pd.DataFrame, name: str, value: float) -> Card:
    rows = turns[turns["turn"] == name]
    scores = ", ".join(
        f"{row.wording}/{row.ranker} {number(row.value, 3)}" for row in rows.itertuples()
    )
    right = [f"{row.wording}/{row.ranker}" for row in rows.itertuples() if row.cause == "correct"]
    fields = [(wording, texts[name]) for wording, texts in result.texts.items() if name in texts]
    fields += [("Correct", ", ".join(right) or "no system"), ("Scores", scores)]
    return Card(f"{name} · {score(value)}", tuple(fields))


#: From the lowest to the highest mean; distinguishable in grey.
_RAMP = ("#eef4fa", "#7db0da", "#0b3a66")
_ROW, _TITLE, _EDGE, _WIDEST = 0.32, 0.26, 0.1, 1.1  # inches
_NAME, _SHORT = 24, 14  # characters of a name on a page and in a column
_FEW = 5  # rankers whose means fit a column with three decimals


def _heatmap(result: Components, metric: str) -> Drawing:
    """Draw a row per wording and a column per ranker."""
    grid, means = result.grid, result.rows("means", metric=metric)
    values = np.full((len(grid.wordings), len(grid.rankers)), np.nan)
    values[tuple(zip(*(grid.places[row.wording, row.ranker] for row in means), strict=True))] = [
        row.value for row in means
    ]
    full = page_width()
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    narrow = full <= COLUMN_WIDTH
    rows, columns = (
        [shortened(name, _SHORT if narrow else _NAME) for name in names]
        for names in (grid.wordings, grid.rankers)
    )
    width = full if narrow else min(full, 1.6 + _WIDEST * len(columns))
    digits = 2 if narrow and len(columns) > _FEW else 3
    slanted = len(columns) > (3 if narrow else 6)
    left, top, below = (
        0.1 + room(rows),
        letters(_TITLE),
        letters(0.2) + (room(columns) / 2 if slanted else 0),
    )
    drawing = Drawing(width, top + _ROW * len(rows) + below)
    panel = drawing.panel(
        left, below, width - left - _EDGE, _ROW * len(rows), (-0.5, len(columns) - 0.5), (len(rows) - 0.5, -0.5),
        title=f"Mean {measure_label(metric)}", frame="", marked="", slanted=slanted,
        x_ticks=list(enumerate(columns)), y_ticks=list(enumerate(rows)),
    )  # fmt: skip
    for (row, column), value in np.ndenumerate(values):
        missing = bool(np.isnan(value))
        shade = 0.5 if missing or high == low else float((value - low) / (high - low))
        colour = "none" if missing else mixed(_RAMP, shade)
        panel.box(
            column - 0.485, row + 0.48, column + 0.485, row - 0.48, colour, edge=INK, edge_width=0.3
        )
        letter = INK if missing else "#ffffff" if shade > 0.6 else "#000000"
        panel.write(column, row, "–" if missing else f"{value:.{digits}f}", colour=letter)
    return drawing
