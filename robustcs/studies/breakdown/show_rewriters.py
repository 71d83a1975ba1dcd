"""Several rewriters in one table, one figure and one sentence."""

from __future__ import annotations

from typing import Any

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
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
from robustcs.lazy import Drawing, pd
from robustcs.result import count, number, text
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.rewriters import ALPHA
from robustcs.wording import counted


def rewriter_names(result: Breakdown) -> list[str]:
    """The rewriters, as given."""
    return list(dict.fromkeys(result.rewriters["rewriter"]))


def best_rewriter(result: Breakdown, cut: Cut) -> str:
    """The rewriter with the highest mean of the measure."""
    rows = at(result.rewriters, cut)
    return str(rows["rewriter"][rows["mean"].idxmax()])


def alike_note(rewriters: int) -> str:
    """What letters say of so many rewriters."""
    pairs = counted(rewriters * (rewriters - 1) // 2, "pair")
    return f" Rewriters that share a letter do not differ by their mean scores (p adj. > {ALPHA:g}, max-T over {pairs})."


def show_rewriters(result: Breakdown) -> tuple[Block, ...]:
    """The figure, the table of all rewriters at every threshold, and at the headline one their tests and what none repairs."""
    cuts = shown_cuts(result.rewriters)
    cut = headline_cut(cuts)
    tables = [_rewriters(result, metric) for metric in dict.fromkeys(metric for metric, _ in cuts)]
    pairs = (_tests(result, cut), _scores(result)) if len(result.rewriter_scores) else ()
    return (rewriters_figure(result, cut), *tables, *pairs, _repairs(result, cuts), _choice(result))


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
        (number("answered").called("share", "answered"), lambda row: percent(row.answered)),
        (number("95 %", group="answered"), lambda row: percent_interval(row.answered_low, row.answered_high)),
        (spec.field("mean"), lambda row: number_of(row.mean, 3)),
        (spec.field("to_human").called("− Human"), lambda row: signed(row.to_human, 3)),
    ]
    lost = "; ".join(f"{percent(share)} if {cut_label((metric, threshold))}" for threshold, share in _qa(frame).items())
    note = (
        f"Answered: the rewriter's own score passes the threshold. Rewriter error: Human is correct and the rewriter is not. QA"
        f" errors are the same for all: {lost}. 95 %: in per cent, Wilson's interval for other {result.evaluated.unit}s of this"
        " kind."
    )
    if len(result.rewriter_scores):
        columns.append("letters")
        note += alike_note(frame["rewriter"].nunique())
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
        (number("p adj."), lambda row: tested_p(row.p_corrected, row.p_floor, row.exact)),
    ]
    comparisons = int(rows["comparisons"].iloc[0]) if len(rows) else 0
    note = (
        f"Turns that only the first or only the second answers, correct if {cut_label(cut)}. 95 % and p: McNemar's test with"
        f" the {result.evaluated.unit} as unit, mid-p; p adj.: adjusted by max-T over {counted(comparisons, 'comparison')} (all"
        " pairs and thresholds of the measure)."
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
        (number("p adj."), lambda row: tested_p(row.p_corrected, row.p_floor, row.exact)),
        (number("detectable"), lambda row: number_of(row.detectable, 3)),
    ]
    note = (
        "First minus second. Interval and p are of one comparison; p adj.: adjusted by max-T over the"
        f" {counted(_pairs(result), 'pair')} of a measure."
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
    names = list(dict.fromkeys(frame["answered_by"]))
    fails = {"some rewriter, not Human": frame["answered_by"] != "none", "no system": frame["answered_by"] == "none"}
    columns: list[Shown] = [
        (text("answered_by", header="Answered by"), lambda row: "no rewriter" if row == "none" else str(row))
    ]
    for cut in cuts:
        cells = {row.answered_by: f"{row.count} ({percent(row.share)})" for row in at(frame, cut).itertuples()}
        cells |= {said: str(at(frame[rows], cut)["human_fails"].sum()) for said, rows in fails.items()}
        columns.append((count(cut_label(cut)), cells.__getitem__))
    note = (
        "Turns that Human answers, by the rewriters that answer them too: all of them, some, a single one, or none; in brackets"
        " the share of the turns that Human answers. Below the rule: turns that Human does not answer."
    )
    hint = "--table repairs has their ids."
    caption = "What does no rewriter repair?"
    return result_table(result, "repairs", caption, columns, note, rows=[*names, *fails], rules=[len(names)], hint=hint)


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


def rewriters_figure(result: Breakdown, cut: Cut) -> Figure:
    """The bins of every rewriter as stacked bars."""
    rows = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable")
    words = "; ".join(
        f"{row.rewriter}: {CAUSE_TITLES['qr']} {percent(row.qr)}, answered {percent(row.answered)}" for row in rows.itertuples()
    )
    return Figure(
        "rewriters",
        f"Bins of {counted(len(rows), 'rewriter')} over {counted(result.evaluated.turns, 'turn')}, correct if {cut_label(cut)};"
        " the highest mean score on top.",
        f"{words}. QA error for all: {percent(float(rows['qa'].iloc[0]))}.",
        lambda: draw_rewriters(result, cut),
    )


def draw_rewriters(result: Breakdown, cut: Cut) -> Drawing:
    """One stacked bar per rewriter at one (metric, threshold)."""
    from robustcs.studies.breakdown.bars import bars_figure

    order = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable")["rewriter"]
    turns = at(result.turns, cut)
    counts = {name: turns[turns["rewriter"] == name]["bin"].value_counts().to_dict() for name in order}
    return bars_figure(counts, result.evaluated.turns)
