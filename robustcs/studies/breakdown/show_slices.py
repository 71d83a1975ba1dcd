"""Tables and a figure of rewriter errors by slice and by the difference between rewrite and Human text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robustcs.documents.document import Block, Drawing, Figure, Table
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.slices import found_table, slices_table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import (
    clustered,
    cut_label,
    measure_label,
    noted,
    number,
    number_interval,
    p_equals,
    signed,
    whole_percent,
)
from robustcs.lazy import pd
from robustcs.similarity.differences import ERROR_TYPES
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.show_rewriters import best_rewriter, rewriter_names
from robustcs.studies.breakdown.slices import UNKNOWN
from robustcs.wording import counted, verb

#: Up to this number of rewriters, the slices of all are shown.
SLICED = 2


def show_costs(result: Breakdown, cut: Cut) -> list[Block]:
    """Return the figure and table of the differences between rewrites and Human texts, with their costs, at one threshold."""
    rows = at(result.error_types, cut)
    return [_figure(result, rows, cut), _costs(result, rows, cut)] if len(rows) else []


def show_slices(result: Breakdown, cut: Cut, names: Sequence[str]) -> list[Block]:
    """Return the tables of these rewriters' errors by slice at one threshold, and of the slices found."""
    rows = at(result.slices, cut)
    rows = rows[rows["cause"] == "qr"]
    blocks: list[Block] = []
    for name in names if len(rows) else ():
        whose = "Rewriter errors" if name == "qr" else f"{name}: rewriter errors"
        field = result.spec("slices").field("share").called("errors")
        own = rows[rows["rewriter"] == name]
        caption = f"{whose} by slice, correct if {cut_label(cut)}"
        note = "Errors: share of the slice's turns. CSV and JSON contain the other causes and thresholds."
        note = _chosen(result, cut, name, names) + note
        blocks.append(slices_table(result, own, caption, field, note, f"slices-{name}", "share"))
    if cut[0] in result.tried:
        finds = result.found_slices[result.found_slices["metric"] == cut[0]]
        several = len(rewriter_names(result)) > 1
        caption = f"On which turns does {'a' if several else 'the'} rewriter lose the most {measure_label(cut[0])}?"
        column: Shown | None = "rewriter" if several else None
        note = "Means: QR − Human."
        blocks.append(found_table(result, finds, caption, column, note, result.tried[cut[0]], "found-slices"))
    return blocks


def _chosen(result: Breakdown, cut: Cut, name: str, names: Sequence[str]) -> str:
    """Return why the slices of this rewriter are shown and those of others are not; empty if all are shown."""
    if len(names) == len(rewriter_names(result)):
        return ""
    means = at(result.rewriters, cut).set_index("rewriter")["mean"]
    why = f"the rewriter with the highest mean {measure_label(cut[0])} of" if name == means.idxmax() else "one of"
    return f"Shown: {why} {len(means)}; CSV and JSON contain all. "


def _costs(result: Breakdown, rows: pd.DataFrame, cut: Cut) -> Table:
    several = rows["rewriter"].nunique() > 1
    columns: list[Shown] = [*(["rewriter"] if several else []), "type", "turns", "loss", "errors", "error_share"]
    whole = "" if several else " and of all rewriter errors"
    note = (
        "Differences between the rewrite and the Human text; a turn may have several. Loss: mean Human − QR in"
        f" {measure_label(cut[0])} over these turns. Errors: rewriter errors (correct if {cut_label(cut)}), as a share of"
        f" these turns{whole}. 95% CI: sign-flip (loss) and Wilson (shares) intervals{clustered(result.evaluated.unit)}."
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
        f"Loss of mean {measure_label(cut[0])} over all turns, by type of difference from the Human text (95% CI"
        f"{clustered(result.evaluated.unit)}). A turn may have several types, so the losses do not add up.",
        f"Losses with intervals. {words}.",
        lambda: draw_costs(result, cut),
    )


def draw_costs(result: Breakdown, cut: Cut) -> Drawing:
    """Draw one panel per rewriter: the loss of the mean by type of difference."""
    from robustcs.documents.forest import MeanPanel, forest

    rows = at(result.error_types, cut)
    types = [kind for kind in (*ERROR_TYPES, UNKNOWN) if kind in set(rows["type"])]
    panels = []
    for name, part in rows.groupby("rewriter", sort=False):
        own = part.set_index("type").reindex(types)
        low, value, high = (own[column].to_numpy() for column in ("points_low", "points", "points_high"))
        panels.append(MeanPanel(str(name), low, value, high))
    return forest(types, panels, f"loss of mean {measure_label(cut[0])}, 95% CI", zero=True)


def slice_findings(result: Breakdown) -> tuple[str, ...]:
    """Return the most frequent difference in the best rewriter's errors, and the slice on which rewriters lose the most.

    Errors without a text are reported as well.
    """
    cut = headline_cut(shown_cuts(result.rows("bins")))
    best = best_rewriter(result, cut)
    rows = at(result.error_types, cut)
    rows = rows[(rows["rewriter"] == best) & (rows["errors"] > 0)].sort_values("errors", ascending=False, kind="stable")
    unknown = rows["type"] == UNKNOWN
    sentences = []
    errors = "rewriter errors" if best == "qr" else f"errors of {best}"
    for row in rows[~unknown].head(1).itertuples():
        known = "" if math.isnan(row.loss_low) else f" (95% CI {number_interval(row.loss_low, row.loss_high)})"
        sentences.append(
            f"{whole_percent(row.of_errors)} of the {errors} (correct if {cut_label(cut)}) occur in rewrites that differ from"
            f" Human by “{row.type}”: {counted(row.errors, 'error')} on {counted(row.turns, 'such turn')}. On these turns, the"
            f" mean loss to Human is {number(row.loss, 3)} {measure_label(cut[0])}{known}."
        )
    for row in rows[unknown].itertuples():
        who = "the rewriter" if best == "qr" else best
        lack = f"{verb(row.errors, 'has', 'have')} no rewrite or no Human text, so the difference is unknown"
        sentences.append(f"{counted(row.errors, 'error')} of {who} {lack}.")
    finds = result.found_slices[(result.found_slices["metric"] == cut[0]) & (result.found_slices["like"] == "")]
    for row in finds.head(1).itertuples():
        sentences.append(
            f"{'The rewriter' if row.rewriter == 'qr' else row.rewriter} loses the most {measure_label(cut[0])} on turns with"
            f" {row.rule}: {number(-row.value, 3)} to Human on these {counted(row.turns, 'turn')}, {number(-row.rest, 3)} on"
            f" the others (adjusted p {p_equals(row.p)}, {counted(row.rules, 'rule')} tried)."
        )
    return tuple(sentences)
