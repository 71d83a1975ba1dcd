"""Several rewriters in one table, one figure and one sentence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.headline import Cut, at, headline_cut
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import (
    CAUSE_TITLES,
    cut_label,
    measure_label,
    noted,
    number_interval,
    percent,
    percent_interval,
    points,
    points_interval,
    signed,
    signed_interval,
    tested_p,
)
from robustcs.documents.words import number as number_of
from robustcs.result import count, number, text
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.rewriters import ALPHA
from robustcs.wording import counted, some_of

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd


def rewriter_names(result: Breakdown) -> list[str]:
    """The rewriters, as given."""
    return list(dict.fromkeys(result.rewriters["rewriter"]))


def show_rewriters(result: Breakdown) -> tuple[Block, ...]:
    """The figure, the table of all rewriters at every threshold, and at the headline one their tests and what none repairs."""
    cuts = list(dict.fromkeys(zip(result.rewriters["metric"], result.rewriters["threshold"], strict=True)))
    cut = headline_cut(cuts)
    tables = [_rewriters(result, metric) for metric in dict.fromkeys(metric for metric, _ in cuts)]
    pairs = (_tests(result, cut), _scores(result)) if len(result.rewriter_scores) else ()
    return (_figure(result, cut), *tables, *pairs, _repairs(result, cuts), _choice(result))


def _rewriters(result: Breakdown, metric: str) -> Table:
    frame = result.rewriters[result.rewriters["metric"] == metric]
    order = frame.sort_values("mean", ascending=False, kind="stable").index
    frame = frame.loc[order].sort_values(
        "threshold", key=lambda column: column.map(list(frame["threshold"]).index), kind="stable"
    )
    spec = result.spec("rewriters")
    columns: list[Shown] = [
        (text("cut", header="Correct if"), lambda row: cut_label((row.metric, row.threshold))),
        "rewriter",
        (number("qr", group="rewriter error").called("share", "rewriter error"), lambda row: percent(row.qr)),
        (number("95 %", group="rewriter error"), lambda row: percent_interval(row.qr_low, row.qr_high)),
        (number("correct").called("share", "answered"), lambda row: percent(row.correct)),
        (number("95 %", group="answered"), lambda row: percent_interval(row.correct_low, row.correct_high)),
        (spec.field("mean"), lambda row: number_of(row.mean, 3)),
        (spec.field("to_human").called("− Human"), lambda row: signed(row.to_human, 3)),
    ]
    lost = "; ".join(f"{percent(share)} if {cut_label((metric, threshold))}" for threshold, share in _qa(frame).items())
    note = (
        f"QA errors are the same for all: {lost}. 95 %: in per cent, Wilson's interval for other {result.evaluated.unit}s of"
        " this kind."
    )
    if len(result.rewriter_scores):
        columns.append("letters")
        note += (
            f" Rewriters that share a letter are not told apart by their mean scores (p ≤ {ALPHA:g} by Holm over the pairs),"
            " which does not make them equal."
        )
    caption = f"{measure_label(metric)}: the rewriters side by side"
    return result_table(result, "rewriters", caption, columns, note, rows=frame, by="threshold", slug=f"rewriters-{metric}")


def _qa(frame: pd.DataFrame) -> dict[str, float]:
    return dict(zip(frame["threshold"], frame["qa"], strict=True))


def _p(row: Any) -> str:
    return tested_p(row.p, row.p_floor, row.exact)


def _tests(result: Breakdown, cut: Cut) -> Table:
    rows = at(result.rewriter_tests, cut)
    columns: list[Shown] = [
        "first",
        "second",
        (count("turns"), lambda row: f"{row.only_first} : {row.only_second}"),
        (number("points"), lambda row: points(row.difference)),
        (number("95 %"), lambda row: points_interval(row.ci_low, row.ci_high)),
        (number("p"), _p),
        (number("p Holm"), lambda row: tested_p(row.p_corrected, row.comparisons * row.p_floor, row.exact)),
    ]
    comparisons = int(rows["comparisons"].iloc[0]) if len(rows) else 0
    note = (
        f"Turns that only the first or only the second answers, correct if {cut_label(cut)}. 95 % and p: McNemar's test with"
        f" the {result.evaluated.unit} as unit, mid-p; Holm over {counted(comparisons, 'comparison')} (all pairs and thresholds"
        " of the measure)."
    )
    notes = noted((f"{row.first} : {row.second}", row.note) for row in rows.itertuples())
    caption = "Does one rewriter answer more turns than another?"
    hint = "--table rewriter_tests has all thresholds."
    return result_table(result, "rewriter_tests", caption, columns, note + notes, rows=rows, hint=hint)


def _scores(result: Breakdown) -> Table:
    frame = result.rewriter_scores
    columns: list[Shown] = [
        (text("metric", header="Measure"), lambda row: measure_label(row.metric)),
        "first",
        "second",
        (result.spec("rewriter_scores").field("difference"), lambda row: signed(row.difference, 3)),
        (text("interval", header="95 % interval"), lambda row: signed_interval(row.ci_low, row.ci_high)),
        (number("p"), _p),
        (number("p Holm"), lambda row: tested_p(row.p_corrected, _pairs(result) * row.p_floor, row.exact)),
        (number("detectable"), lambda row: number_of(row.detectable, 3)),
    ]
    note = (
        f"First minus second. Interval and p are of one comparison; Holm over the {_pairs(result)} pairs of a measure."
        " Detectable: the true difference that such a design finds in 80 % of trials."
    )
    notes = noted((f"{row.first} : {row.second}", row.note) for row in frame.itertuples())
    caption = "Does one rewriter score higher than another?"
    return result_table(result, "rewriter_scores", caption, columns, note + notes, by="metric")


def _pairs(result: Breakdown) -> int:
    names = len(rewriter_names(result))
    return names * (names - 1) // 2


def _repairs(result: Breakdown, cuts: list[Cut]) -> Table:
    frame = result.repairs
    rows = list(dict.fromkeys(frame["answered_by"]))
    columns: list[Shown] = [
        (text("answered_by", header="Answered by"), lambda row: "no rewriter" if row == "none" else str(row))
    ]
    for cut in cuts:
        cells = {row.answered_by: f"{row.count} ({percent(row.share)})" for row in at(frame, cut).itertuples()}
        columns.append((count(cut_label(cut)), cells.__getitem__))
    note = (
        "Turns that the Human question answers, by the rewriters that answer them too: all of them, some, a single one, or"
        " none."
    )
    hint = "--table repairs has their ids."
    return result_table(result, "repairs", "What does no rewriter repair?", columns, note, rows=rows, hint=hint)


def _choice(result: Breakdown) -> Table:
    columns: list[Shown] = [
        (text("metric", header="Measure"), lambda row: measure_label(row.metric)),
        (text("best", header="best"), lambda row: row.best),
        (number("best_mean", header="its mean"), lambda row: number_of(row.best_mean, 3)),
        (number("chosen"), lambda row: number_of(row.chosen, 3)),
        (number("gain"), lambda row: signed(row.gain, 3)),
        (text("interval", header="95 % interval"), lambda row: number_interval(row.ci_low, row.ci_high)),
        (number("by_chance", header="by chance"), lambda row: signed(row.by_chance, 3)),
    ]
    note = (
        "Chosen: the mean if the best rewriter could be chosen in every turn. By chance: the gain if the scores of every turn"
        " went to the rewriters at random, so that none were better than another and the highest mean fell. A gain below it"
        " says only that the best mean is above what chance gives; no gain here shows that rewriters suit different turns."
    )
    return result_table(result, "best_of", "What would the best rewriter for every turn gain?", columns, note)


def _figure(result: Breakdown, cut: Cut) -> Figure:
    rows = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable")
    words = "; ".join(
        f"{row.rewriter}: {CAUSE_TITLES['qr']} {percent(row.qr)}, answered {percent(row.correct)}" for row in rows.itertuples()
    )
    return Figure(
        "rewriters",
        f"Bins of {counted(len(rows), 'rewriter')} over {counted(result.evaluated.turns, 'turn')}, correct if {cut_label(cut)};"
        " the highest mean score on top.",
        f"{words}. QA error for all: {percent(float(rows['qa'].iloc[0]))}.",
        lambda: draw_rewriters(result, cut),
    )


def draw_rewriters(result: Breakdown, cut: Cut) -> matplotlib.figure.Figure:
    """One stacked bar per rewriter at one (metric, threshold)."""
    from robustcs.studies.breakdown.bars import bars_figure

    order = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable")["rewriter"]
    turns = at(result.turns, cut)
    counts = {name: turns[turns["rewriter"] == name]["bin"].value_counts().to_dict() for name in order}
    return bars_figure(counts, result.evaluated.turns)


def finding_of_rewriters(result: Breakdown) -> str:
    """Who is best, who cannot be told from the best, and what no rewriter repairs."""
    cut = headline_cut(list(dict.fromkeys(zip(result.rewriters["metric"], result.rewriters["threshold"], strict=True))))
    rows = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable")
    best = next(rows.itertuples())
    interval = "" if math.isnan(best.mean_low) else f" ({number_interval(best.mean_low, best.mean_high)})"
    own = set(best.letters.split())
    near = [row.rewriter for row in rows.itertuples() if row.rewriter != best.rewriter and own & set(row.letters.split())]
    apart = [row.rewriter for row in rows.itertuples() if own and row.rewriter not in (*near, best.rewriter)]
    said = f"By {measure_label(cut[0])}, {best.rewriter} is highest of {len(rows)} rewriters"
    said += f" with {number_of(best.mean, 3)}{interval}"
    said += f"; {some_of(near, 3)} cannot be told from it" if near else ""
    said += f"; {some_of(apart, 3)} {'is' if len(apart) == 1 else 'are'} lower" if apart else ""
    said += f" (p ≤ {ALPHA:g}, Holm over {counted(_pairs(result), 'pair')})." if own else "."
    none = next(row for row in at(result.repairs, cut).itertuples() if row.answered_by == "none")
    return (
        f"{said} No rewriter repairs {none.count} of the turns that the Human question answers ({percent(none.share)}),"
        f" correct if {cut_label(cut)}."
    )
