"""Where the rewriter fails, and what is wrong with its rewrites, as tables and a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.slices import found_table, slices_table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import (
    cut_label,
    measure_label,
    noted,
    number,
    number_interval,
    p_equals,
    percent,
    signed,
)
from robustcs.lazy import Drawing, pd
from robustcs.similarity.differences import ERROR_TYPES
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.show_rewriters import best_rewriter
from robustcs.studies.breakdown.slices import UNKNOWN
from robustcs.wording import counted, verb

#: Rewriters up to which the slices of all are shown.
SLICED = 2


def show_costs(result: Breakdown, cut: Cut) -> list[Block]:
    """What differs in the rewrites and what that costs, at one threshold, for all rewriters: figure and table."""
    rows = at(result.error_types, cut)
    return [_figure(result, rows, cut), _costs(result, rows, cut)] if len(rows) else []


def show_slices(result: Breakdown, cut: Cut, names: Sequence[str]) -> list[Block]:
    """Rewriter errors by slices at one threshold, of these rewriters, and the slices found."""
    rows = at(result.slices, cut)
    rows = rows[rows["cause"] == "qr"]
    blocks: list[Block] = []
    for name in names if len(rows) else ():
        whose = "Rewriter errors" if name == "qr" else f"{name}: rewriter errors"
        field = result.spec("slices").field("share").called("errors")
        own = rows[rows["rewriter"] == name]
        caption = f"{whose} by slices of the turns, correct if {cut_label(cut)}"
        note = "Errors: of the slice's turns. CSV and JSON have the other causes and thresholds."
        note = _chosen(result, cut, name, names) + note
        blocks.append(slices_table(result, own, caption, field, note, f"slices-{name}", "share"))
    if cut[0] in result.tried:
        finds = result.found_slices[result.found_slices["metric"] == cut[0]]
        several = result.rewriters["rewriter"].nunique() > 1
        caption = f"On which turns does {'a' if several else 'the'} rewriter lose most {measure_label(cut[0])}?"
        column: Shown | None = "rewriter" if several else None
        note = "Means are those of QR − Human."
        blocks.append(found_table(result, finds, caption, column, note, result.tried[cut[0]], "found-slices"))
    return blocks


def _chosen(result: Breakdown, cut: Cut, name: str, names: Sequence[str]) -> str:
    """Why the slices of this rewriter are shown, where those of others are not."""
    means = at(result.rewriters, cut).set_index("rewriter")["mean"]
    if len(names) == len(means):
        return ""
    why = f"The rewriter with the highest mean {measure_label(cut[0])} of" if name == means.idxmax() else "One of"
    return f"{why} {len(means)}; CSV and JSON have all. "


def _costs(result: Breakdown, rows: pd.DataFrame, cut: Cut) -> Table:
    several = rows["rewriter"].nunique() > 1
    columns: list[Shown] = [*(["rewriter"] if several else []), "type", "turns", "loss", "errors", "error_share"]
    whole = "" if several else " and of all errors of the rewriter"
    note = (
        "What differs between the rewrite and the Human text; a turn may have several. Loss: mean Human − mean QR"
        f" {measure_label(cut[0])} of these turns. Errors of the rewriter: correct if {cut_label(cut)}, in % of these"
        f" turns{whole}. 95% CI: for other {result.evaluated.unit}s of this kind."
    )
    told = noted((f"{row.rewriter} {row.type}" if several else row.type, row.note) for row in rows.itertuples())
    return result_table(
        result, "error_types", "What differs in the rewrites, and what does it cost?",
        [*columns, *([] if several else ["of_errors"])], note + told, rows=rows, by="rewriter",
    )  # fmt: skip


def _figure(result: Breakdown, rows: pd.DataFrame, cut: Cut) -> Figure:
    words = "; ".join(
        f"{row.rewriter}, {row.type}: {signed(row.points, 3)} from {row.turns} turns" for row in rows.itertuples()
    )
    return Figure(
        "error-types",
        f"What each kind of difference from the Human text takes off the mean {measure_label(cut[0])} over all turns, with 95 %"
        f" intervals for other {result.evaluated.unit}s. A turn may have several, so the parts do not add up.",
        f"Points with intervals. {words}.",
        lambda: draw_costs(result, cut),
    )


def draw_costs(result: Breakdown, cut: Cut) -> Drawing:
    """One panel per rewriter: the points that every type takes off the mean."""
    from robustcs.documents.forest import MeanPanel, forest

    rows = at(result.error_types, cut)
    types = [kind for kind in (*ERROR_TYPES, UNKNOWN) if kind in set(rows["type"])]
    panels = []
    for name, part in rows.groupby("rewriter", sort=False):
        own = part.set_index("type").reindex(types)
        low, value, high = (own[column].to_numpy() for column in ("points_low", "points", "points_high"))
        panels.append(MeanPanel(str(name), low, value, high))
    return forest(types, panels, f"points of mean {measure_label(cut[0])}, 95 %", zero=True)


def slice_findings(result: Breakdown) -> tuple[str, ...]:
    """Which difference from Human stands in most errors of the best rewriter, how many errors lack a text, and on which turns
    rewriters lose most.
    """
    cut = headline_cut(shown_cuts(result.turns))
    best = best_rewriter(result, cut)
    rows = at(result.error_types, cut)
    rows = rows[(rows["rewriter"] == best) & (rows["errors"] > 0)].sort_values("errors", ascending=False, kind="stable")
    unknown = rows["type"] == UNKNOWN
    sentences = []
    who = "the rewriter" if best == "qr" else f"the rewriter {best}"
    for row in rows[~unknown].head(1).itertuples():
        known = "" if math.isnan(row.loss_low) else f" (95% CI {number_interval(row.loss_low, row.loss_high)})"
        sentences.append(
            f"{percent(row.of_errors)} of the errors of {who} (correct: {cut_label(cut)}) occur in rewrites that differ from"
            f" Human by “{row.type}”: {row.errors} errors in {row.turns} such turns. These turns lose {number(row.loss, 3)}"
            f" {measure_label(cut[0])} on average{known}."
        )
    for row in rows[unknown].itertuples():
        lack = f"{verb(row.errors, 'has', 'have')} no text of the rewrite or of Human"
        sentences.append(f"{counted(row.errors, 'error')} of {who} {lack}: what differs there is unknown.")
    finds = result.found_slices[(result.found_slices["metric"] == cut[0]) & (result.found_slices["like"] == "")]
    for row in finds.head(1).itertuples():
        sentences.append(
            f"{'The rewriter' if row.rewriter == 'qr' else row.rewriter} loses most {measure_label(cut[0])} on turns with"
            f" {row.rule}: {number(-row.value, 3)}, against {number(-row.rest, 3)} elsewhere (adjusted p {p_equals(row.p)},"
            f" {row.rules} rules tried)."
        )
    return tuple(sentences)
