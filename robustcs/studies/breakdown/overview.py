"""One table of all formulations with one figure: what a breakdown opens a report with."""

from __future__ import annotations

from typing import Any

from robustcs.documents.document import Figure, Table
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import (
    FORMULATION_NAMES,
    cut_label,
    interval,
    measure_label,
    number,
    percent,
    percent_interval,
    signed,
)
from robustcs.evaluation.terms import TERMS
from robustcs.result import number as number_field
from robustcs.result import share, text
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.show_rewriters import alike_note, rewriters_figure
from robustcs.studies.breakdown.squares import show_squares


def overview(result: Breakdown) -> tuple[Table | Figure, ...]:
    """One line per formulation, Human on top and the rewriters by their means; as a figure every turn, or every rewriter."""
    cut = headline_cut(shown_cuts(result.turns))
    figures = show_squares(result) or [rewriters_figure(result, cut)]
    return overview_table(result, cut), figures[0]


def overview_table(result: Breakdown, cut: Cut) -> Table:
    """The rows of the table ``overview`` at one measure and threshold."""
    rows = at(result.overview, cut)
    ends = rows["system"].map({"human": 0, "original": 2}).fillna(1)
    rows = rows.assign(place=ends).sort_values(["place", "mean"], ascending=[True, False], kind="stable")
    columns: list[Shown] = [
        (text("System"), lambda row: FORMULATION_NAMES.get(row.system, row.system)),
        (share("answered"), lambda row: f"{percent(row.answered)}{_bracketed(row.answered_low, row.answered_high)}"),
        (share("rewriter error"), lambda row: f"{percent(row.error)}{_bracketed(row.error_low, row.error_high)}"),
        (number_field(measure_label(cut[0])), _mean),
        (number_field("− Human"), lambda row: "" if row.system == "human" else signed(row.to_human, 3)),
    ]
    qa = at(result.rewriters, cut)["qa"].iloc[0]
    note = (
        f"Answered: {TERMS['answered']}. Rewriter error: {TERMS['rewriter error']}. QA errors: {percent(qa)}. In brackets: 95%"
        f" CI for other {result.evaluated.unit}s of this kind."
    )
    if len(rewriters := at(result.rewriters, cut)) > 1:
        columns.append((text("group"), lambda row: row.letters))
        note += alike_note(len(rewriters))
    return result_table(
        result, "overview", f"Turns that each system answers, correct if {cut_label(cut)}", columns, note, rows=rows, by="place"
    )


def _bracketed(low: float, high: float) -> str:
    between = percent_interval(low, high).strip("–")
    return f" ({between})" if between else ""


def _mean(row: Any) -> str:
    between = interval(row.mean_low, row.mean_high, 2).strip("–")
    return number(row.mean, 3) + (f" ({between})" if between else "")
