"""Comparison of several rewriters, every turn as a square, the table and figure that open a report, and rewriter errors by
slice and by the difference between rewrite and Human text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from robustcs.documents.bins import CAUSE_TITLES, formulations, marks
from robustcs.documents.document import Figure, TableBlock
from robustcs.documents.figures import BIN_COLOURS
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.slices import found_table, slices_table
from robustcs.documents.stacked import share_figure
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import (
    clustered,
    cut_label,
    limits_first,
    measure_label,
    noted,
    number,
    number_interval,
    p_equals,
    percent,
    whole_percent,
)
from robustcs.evaluation.bins import bins_of
from robustcs.evaluation.thresholds import TERMS
from robustcs.lazy import pd
from robustcs.result import count, text
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.rewriters import ALPHA, UNKNOWN
from robustcs.wording import counted, many_missing

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.style import Width

#: More squares are too small to distinguish.
_MOST_TURNS = 800


def rewriter_names(result: Breakdown) -> list[str]:
    """Return the names of the rewriters in the given order."""
    return list(dict.fromkeys(row.rewriter for row in result.rows("bins")))


def best_rewriter(result: Breakdown, cut: Cut) -> str:
    """Return the rewriter with the highest mean of the measure."""
    if len(names := rewriter_names(result)) == 1:
        return names[0]
    rows = at(result.headroom, cut)  # has the means without comparing pairs
    return str(rows["rewriter"][rows["qr"].idxmax()])


def overview(result: Breakdown) -> tuple[TableBlock | Figure, ...]:
    """Return the table of all systems and the figure."""
    cut = headline_cut(shown_cuts(result.table("bins")))
    return systems_table(result, [cut], "overview"), figure(result, cut)


def figure(result: Breakdown, cut: Cut) -> Figure:
    """Return the figure of every turn as a square; of several rewriters or very many turns, that of the bins as bars."""
    squares = len(rewriter_names(result)) == 1 and result.evaluated.turns <= _MOST_TURNS
    return (_squares if squares else _bars)(result, cut)


def systems_table(result: Breakdown, cuts: Sequence[Cut], name: str) -> TableBlock:
    """Return Human, the rewriters by their means, and Original at some thresholds of one measure, as the view of ``name``."""
    rows = pd.concat([at(result.overview, cut).assign(cut=place) for place, cut in enumerate(cuts)])
    ends = rows["system"].map({"human": 0, "original": 2}).fillna(1)
    rows = rows.assign(place=ends, to_human=rows["to_human"].where(ends != 0)).sort_values(
        ["cut", "place", "mean"], ascending=[True, True, False], kind="stable"
    )
    field, label, rewriters = (
        result.spec("overview").field,
        measure_label(cuts[0][0]),
        rewriter_names(result),
    )
    mean = (
        field("mean").called(f"{label} (95% CI)")
        if len(cuts) == 1
        else field("mean").bare.called(label)
    )
    columns: list[Shown] = [
        field("system"),
        field("answered"),
        field("error"),
        mean,
        field("to_human").bare.called("− Human"),
    ]
    if len(cuts) > 1:
        columns.insert(0, (text("Correct if"), lambda row: cut_label((row.metric, row.threshold))))
    qa = (f"{percent(at(result.rewriters, cut)['qa'].iloc[0])} if {cut_label(cut)}" for cut in cuts)
    note = (
        f"Answered: {TERMS['answered']}. Rewriter error: {TERMS['rewriter error']}. QA errors: {'; '.join(qa)}. 95% CI: Wilson"
        f" (shares) and t (means) intervals{clustered(result.evaluated.unit)}."
    )
    if len(rewriters) > 1 and not many_missing(result.evaluated.unscored_by):
        columns.append(field("letters"))
        note += (
            " Rewriters that share a letter do not differ significantly in their means (p adj. >"
            f" {ALPHA:g}, max-T over {_pairs(len(rewriters))})."
        )
    caption = limits_first(result.evaluated)
    caption += f"Turns that each system answers{f', correct if {cut_label(cuts[0])}' if len(cuts) == 1 else ''}"
    return result_table(
        result, name, caption, columns, note, rows=rows, by="cut" if len(cuts) > 1 else "place",
        slug=f"{name}-{cuts[0][0]}" if name == "rewriters" else "",
    )  # fmt: skip


def _pairs(rewriters: int) -> str:
    return counted(rewriters * (rewriters - 1) // 2, "pair")


def show_rewriters(result: Breakdown) -> tuple[TableBlock, ...]:
    """Return the tables that compare the rewriters; answered turns are tested at the headline threshold only."""
    cuts = shown_cuts(result.rewriters)
    cut = headline_cut(cuts)
    by_measure: dict[str, list[Cut]] = {}
    for own in cuts:
        by_measure.setdefault(own[0], []).append(own)
    tables = [systems_table(result, some, "rewriters") for some in by_measure.values()]
    pairs = (
        () if many_missing(result.evaluated.unscored_by) else (_tests(result, cut), _scores(result))
    )
    return (*tables, *pairs, _repairs(result, cuts), _choice(result))


def _tests(result: Breakdown, cut: Cut) -> TableBlock:
    rows = at(result.rewriter_tests, cut)
    turns: Shown = (count("turns"), lambda row: f"{row.only_first} : {row.only_second}")
    comparisons = int(rows["comparisons"].iloc[0])
    note = (
        f"Turns: answered only by the first, only by the second (correct if {cut_label(cut)}). 95% CI and p: McNemar's test"
        f" (mid-p{clustered(result.evaluated.unit)}), not adjusted for multiple comparisons; p adj.: max-T over"
        f" {counted(comparisons, 'comparison')} (all pairs and thresholds of the measure)."
    )
    return result_table(
        result, "rewriter_tests", "Does one rewriter answer more turns than another?",
        ["first", "second", turns, "difference", "p", "p_corrected"],
        note + noted((f"{row.first} : {row.second}", row.note) for row in rows.itertuples()), rows=rows,
        hint="--table rewriter_tests has all thresholds.",
    )  # fmt: skip


def _scores(result: Breakdown) -> TableBlock:
    note = (
        f"Difference: first − second. 95% CI and p: not adjusted for multiple comparisons; p adj.: max-T over the"
        f" {_pairs(len(rewriter_names(result)))} of a measure. Detectable: the smallest true difference that the test finds"
        " with 80% power."
    )
    return result_table(
        result, "rewriter_scores", "Does one rewriter score higher than another?",
        ["metric", "first", "second", "difference", "p", "p_corrected", "detectable"],
        note + noted((f"{row.first} : {row.second}", row.note) for row in result.rewriter_scores.itertuples()), by="metric",
    )  # fmt: skip


def _repairs(result: Breakdown, cuts: list[Cut]) -> TableBlock:
    frame = result.repairs
    columns: list[Shown] = [
        (
            text("answered_by", header="Answered by"),
            lambda row: "no rewriter" if row == "none" else str(row),
        )
    ]
    for cut in cuts:
        cells = {
            row.answered_by: f"{row.count} ({percent(row.share)})"
            for row in at(frame, cut).itertuples()
        }
        columns.append((count(cut_label(cut)), cells.__getitem__))
    note = (
        "Turns that Human answers, by the rewriters that answer them too: all, some (at least two), only the named one, or"
        " none. In brackets: share of the turns that Human answers."
    )
    return result_table(
        result, "repairs", "What does no rewriter repair?", columns, note, rows=list(dict.fromkeys(frame["answered_by"])),
        hint="--table repairs lists the turn ids.",
    )  # fmt: skip


def _choice(result: Breakdown) -> TableBlock:
    note = (
        "Chosen: the mean if the best rewriter could be chosen for every turn. By chance: the gain if the scores of every turn"
        " were assigned to the rewriters at random; then no rewriter is better than another, and the highest mean is lower. A"
        " gain below chance shows only that the best mean is higher than chance gives. No gain in this table shows that"
        " different turns suit different rewriters."
    )
    columns: list[Shown] = ["metric", "best", "best_mean", "chosen", "gain", "by_chance"]
    return result_table(
        result, "best_of", "What would the best rewriter for every turn gain?", columns, note
    )


#: From the left: QR and Human correct, rewriter errors, QA errors; with Original and without.
_ORDER = ("111", "011", "001", "101", "000", "100", "010", "110", "-11", "-01", "-00", "-10")


def _bars(result: Breakdown, cut: Cut) -> Figure:
    """Return the figure of the bins of every rewriter as stacked bars."""
    order = (
        at(result.rewriters, cut)
        .sort_values("mean", ascending=False, kind="stable")["rewriter"]
        .tolist()
    )
    names, rows = bins_of(result.rows("bins")), at(result.bins, cut)
    labels = {bin_: marks(bin_).replace(" ", "") for bin_ in _ORDER if bin_ in names}
    rows = rows.assign(
        bin=[labels[bin_] for bin_ in names * len(order)], share=rows["count"] / result.evaluated.turns,
        place=rows["rewriter"].map(order.index),
    ).sort_values("place", kind="stable")  # fmt: skip
    caption = (
        f"{limits_first(result.evaluated)}Bins of {counted(len(order), 'rewriter')} ({formulations(result.rows('bins'))}) over"
        f" {counted(result.evaluated.turns, 'turn')}, correct if {cut_label(cut)}; the highest mean is on top."
    )
    return share_figure(
        "rewriters",
        caption,
        rows,
        "rewriter",
        "bin",
        {label: BIN_COLOURS[bin_] for bin_, label in labels.items()},
    )


def _squares(result: Breakdown, cut: Cut) -> Figure:
    """Return the figure of all turns of one rewriter."""
    counts = at(result.turns, cut)["bin"].value_counts()
    causes = at(result.attribution, cut).set_index("cause")["count"]
    words = "; ".join(
        f"{marks(bin_)}: {counts.get(bin_, 0)}" for bin_ in bins_of(result.rows("bins"))
    )
    return Figure(
        "every-turn",
        f"{limits_first(result.evaluated)}Each square is a turn in its bin (correct if {cut_label(cut)}). The bins with Human ×"
        f" contain {counted(causes['qa'], CAUSE_TITLES['qa'])}; the bins with QR × and Human ✓ contain"
        f" {counted(causes['qr'], CAUSE_TITLES['qr'])}.",
        f"Turns per bin ({formulations(result.rows('bins'))}): {words}.",
        lambda width: draw_squares(width, result, cut),
    )


def draw_squares(width: Width, result: Breakdown, cut: Cut) -> MatplotlibFigure:
    """Draw every turn of one rewriter at one (metric, threshold)."""
    from robustcs.studies.breakdown.figure import squares_figure

    part = at(result.turns, cut)
    return squares_figure(
        width,
        {bin_: list(part[part["bin"] == bin_]["turn"]) for bin_ in bins_of(result.rows("bins"))},
    )


def show_costs(result: Breakdown, cut: Cut) -> list[TableBlock]:
    """Return the table of the differences between rewrites and Human texts, with their costs, at one threshold."""
    rows = at(result.error_types, cut)
    if not len(rows):
        return []
    several = rows["rewriter"].nunique() > 1
    columns: list[Shown] = ["rewriter", "type"] if several else ["type"]
    note = (
        "Differences between the rewrite and the Human text; a turn may have several. Loss: mean Human − QR in"
        f" {measure_label(cut[0])} over these turns. Errors: rewriter errors (correct if {cut_label(cut)}), as a share of"
        " these turns and of all rewriter errors. 95% CI: sign-flip (loss) and Wilson (shares)"
        f" intervals{clustered(result.evaluated.unit)}."
    )
    told = noted(
        (f"{row.rewriter} {row.type}" if several else row.type, row.note)
        for row in rows.itertuples()
    )
    return [result_table(
        result, "error_types", "What differs in the rewrites, and what does it cost?",
        [*columns, "turns", "loss", "errors", "error_share", "of_errors"], note + told, rows=rows, by="rewriter",
    )]  # fmt: skip


def show_slices(result: Breakdown, cut: Cut) -> list[TableBlock]:
    """Return the table of the best rewriter's errors by slice at one threshold, and that of the slices found."""
    rows = at(result.slices, cut)
    rows = rows[rows["cause"] == "qr"]
    several = len(rewriter_names(result)) > 1
    blocks = []
    if len(rows):
        best = best_rewriter(result, cut)
        caption = f"{f'{best}: rewriter' if several else 'Rewriter'} errors by slice, correct if {cut_label(cut)}"
        note = (
            f"Shown: the rewriter with the highest mean {measure_label(cut[0])}. "
            if several
            else ""
        )
        note += "Errors: share of the slice's turns. CSV and JSON contain the other causes and thresholds."
        field = result.spec("slices").field("share").called("errors")
        own = rows[rows["rewriter"] == best]
        blocks.append(slices_table(result, own, caption, field, note, f"slices-{best}", "share"))
    if cut[0] in result.tried:
        finds = result.found_slices[result.found_slices["metric"] == cut[0]]
        caption = f"On which turns does {'a' if several else 'the'} rewriter lose the most {measure_label(cut[0])}?"
        column: Shown | None = "rewriter" if several else None
        blocks.append(
            found_table(result, finds, caption, column, "Means: QR − Human.", result.tried[cut[0]])
        )
    return blocks


def slice_findings(result: Breakdown) -> tuple[str, ...]:
    """Return the most frequent difference in the best rewriter's errors, and the slice on which rewriters lose the most."""
    cut = headline_cut(shown_cuts(result.table("bins")))
    best = best_rewriter(result, cut)
    rows = at(result.error_types, cut)
    rows = rows[(rows["rewriter"] == best) & (rows["errors"] > 0)].sort_values(
        "errors", ascending=False, kind="stable"
    )
    sentences = []
    errors = "rewriter errors" if best == "qr" else f"errors of {best}"
    for row in rows[rows["type"] != UNKNOWN].head(1).itertuples():
        known = (
            ""
            if math.isnan(row.loss_low)
            else f" (95% CI {number_interval(row.loss_low, row.loss_high)})"
        )
        sentences.append(
            f"{whole_percent(row.of_errors)} of the {errors} (correct if {cut_label(cut)}) occur in rewrites that differ from"
            f" Human by “{row.type}”: {counted(row.errors, 'error')} on {counted(row.turns, 'such turn')}. On these turns, the"
            f" mean loss to Human is {number(row.loss, 3)} {measure_label(cut[0])}{known}."
        )
    finds = result.found_slices[
        (result.found_slices["metric"] == cut[0]) & (result.found_slices["like"] == "")
    ]
    for row in finds.head(1).itertuples():
        sentences.append(
            f"{'The rewriter' if row.rewriter == 'qr' else row.rewriter} loses the most {measure_label(cut[0])} on turns with"
            f" {row.rule}: {number(-row.value, 3)} to Human on these {counted(row.turns, 'turn')}, {number(-row.rest, 3)} on"
            f" the others (adjusted p {p_equals(row.p)}, {counted(row.rules, 'rule')} tried)."
        )
    return tuple(sentences)
