"""Clarifying questions as Tables 4 to 8 of the ClariQ paper print them, with intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from robustcs.documents.document import Block, Column, Figure, Table
from robustcs.documents.words import (
    p_value,
    percent,
    percent_interval,
    score,
    signed,
    signed_interval,
)
from robustcs.studies.clariq.analysis import Clariq
from robustcs.studies.clariq.tasks import BASELINES

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

_BASELINE_NAMES = dict(zip(BASELINES, ("Worst question", "No question", "Best question"), strict=True))
_TASKS = {"question_relevance": "questions", "document_relevance": "documents", "clarification_need": "need"}


_SUBJECTS = dict(zip(_TASKS, ("the questions found", "the documents", "the predicted need"), strict=True))
#: The measures of document relevance that the paper's tables have.
SHOWN = ("MRR100", "P1", "NDCG3", "NDCG5")


def present_clariq(result: Clariq, shown: Sequence[str] = SHOWN) -> tuple[Block, ...]:
    """The tables of every task that has rows; ``shown`` names the measures of document relevance for people."""
    blocks: list[Block] = []
    if len(result.question_relevance):
        frame = result.question_relevance.assign(metric="R@" + result.question_relevance["k"].astype(str))
        metrics = list(dict.fromkeys(frame["metric"]))
        blocks += [_questions(frame, metrics), *_compared(result, "question_relevance", metrics)]
    if len(result.document_relevance):
        have = list(dict.fromkeys(result.document_relevance["metric"]))
        metrics = [name for name in shown if name in have] or have[: len(SHOWN)]
        blocks += [_documents(result, metrics), *_compared(result, "document_relevance", metrics)]
        blocks.append(_figure(result, metrics))
        if len(result.by_turn):
            blocks.append(_by_turn(result, metrics))
    if len(result.clarification_need):
        blocks += [_need(result), *_compared(result, "clarification_need", ["recall"])]
        blocks += [_confusion(result, run) for run in dict.fromkeys(result.clarification_need["run"])]
    if len(result.preference):
        blocks.append(_preference(result))
    return tuple(blocks)


def _name(run: str) -> str:
    return _BASELINE_NAMES.get(run, run)


def _wide(
    frame: pd.DataFrame, measures: Sequence[str], column: str, value: str
) -> tuple[tuple[tuple[str, ...], ...], frozenset[int]]:
    """A row of values and one of intervals per run; the rules between runs."""
    rows: list[tuple[str, ...]] = []
    for run, part in frame.groupby("run", sort=False):
        by_measure = part.set_index(column)
        rows.append((_name(str(run)), *(score(by_measure.loc[name, value]) for name in measures)))
        ends = ((by_measure.loc[name, "ci_low"], by_measure.loc[name, "ci_high"]) for name in measures)
        rows.append(("  95 %", *("–" if math.isnan(low) else f"{low:.3f}–{high:.3f}" for low, high in ends)))
    return tuple(rows), frozenset(range(2, len(rows), 2))


def _lacking(frame: pd.DataFrame, what: str) -> str:
    gone = {_name(run): number for run, number in zip(frame["run"], frame["missing"], strict=True) if number}
    counts = ", ".join(f"{run} for {number} {what}{'s' * (number != 1)}" for run, number in gone.items())
    return f" Without output: {counts}." if gone else ""


def _questions(frame: pd.DataFrame, metrics: Sequence[str]) -> Table:
    rows, rules = _wide(frame, metrics, "metric", "recall")
    count = frame["topics"].iloc[0]
    return Table(
        "question_relevance", "How many of the topic's questions are found?",
        (Column("Run", "left"), *(Column(name) for name in metrics)), rows,
        f"Recall@k, mean over {count} topics; 95 %: bootstrap over topics.{_lacking(frame, 'topic')}", rules,
    )  # fmt: skip


def _documents(result: Clariq, metrics: Sequence[str]) -> Table:
    frame = result.document_relevance
    rows, rules = _wide(frame, metrics, "metric", "value")
    first = frame.iloc[0]
    what = "context" if len(result.by_turn) else "facet"
    return Table(
        "document_relevance", "What does the question do for the documents?",
        (Column("Run", "left"), *(Column(name) for name in metrics)), rows,
        f"Documents found after the question and its answer: mean over {first['units']} {what}s of {first['topics']} topics;"
        f" 95 %: bootstrap over topics.{_lacking(frame, what)}", rules,
    )  # fmt: skip


def _figure(result: Clariq, metrics: Sequence[str]) -> Figure:
    frame = result.document_relevance
    shown = frame[frame["metric"] == metrics[-1]]
    words = "; ".join(f"{_name(row.run)} {score(row.value)}" for row in shown.itertuples())
    baselines = "; diamonds are baselines" if shown["baseline"].any() else ""
    line = " The dashed line is the mean of asking nothing." if "no" in set(shown["run"]) else ""
    return Figure(
        "documents", f"Documents found after each system's question: mean (dot{baselines}) with its 95 % interval.{line}",
        f"{metrics[-1]}: {words}.", lambda: draw_relevance(result, metrics),
    )  # fmt: skip


def draw_relevance(result: Clariq, metrics: Sequence[str]) -> matplotlib.figure.Figure:
    """The figure of document relevance: baselines between which systems lie, and the systems."""
    from robustcs.studies.clariq.figure import MeasurePanel, RunMean, relevance_figure

    panels = []
    for metric in metrics:
        rows = result.document_relevance[result.document_relevance["metric"] == metric].set_index("run")
        order = [name for name in BASELINES[:2] if name in rows.index]
        order += [name for name in rows.index if name not in BASELINES]
        order += [name for name in BASELINES[2:] if name in rows.index]
        runs = [
            RunMean(_name(name), row["value"], row["ci_low"], row["ci_high"], bool(row["baseline"]))
            for name, row in ((name, rows.loc[name]) for name in order)
        ]
        nothing = float(rows.loc["no", "value"]) if "no" in rows.index else math.nan
        panels.append(MeasurePanel(metric, runs, nothing))
    return relevance_figure(panels)


def _by_turn(result: Clariq, metrics: Sequence[str]) -> Table:
    rows: list[tuple[str, ...]] = []
    rules = set()
    for asked, part in result.by_turn.groupby("asked"):
        rules.add(len(rows))
        for run, own in part.groupby("run", sort=False):
            values = own.set_index("metric")
            rows.append((str(asked), _name(str(run)), str(own["units"].iloc[0]), *(score(values.loc[name, "value"])
                         for name in metrics)))  # fmt: skip
    return Table(
        "by_turn", "Document relevance by the number of questions asked before",
        (Column("asked"), Column("Run", "left"), Column("contexts"), *(Column(name) for name in metrics)), tuple(rows),
        "Mean over the contexts.", frozenset(rules - {0}),
    )  # fmt: skip


def _compared(result: Clariq, task: str, metrics: Sequence[str]) -> list[Table]:
    frame = result.comparisons[result.comparisons["task"] == task]
    rows: list[tuple[str, ...]] = []
    rules = set()
    for metric in metrics:
        part = frame[frame["metric"] == metric]
        rules.add(len(rows))
        rows += [
            (metric, f"{_name(line.first)} − {_name(line.second)}", signed(line.difference),
             signed_interval(line.ci_low, line.ci_high), p_value(line.p), p_value(line.p_corrected))
            for line in part.itertuples()
        ]  # fmt: skip
    if not rows:
        return []
    columns = (
        Column("Measure", "left"), Column("Runs", "left"), Column("difference"), Column("95 %"), Column("p"), Column("Holm"),
    )  # fmt: skip
    pairs = len(frame) // frame["metric"].nunique()
    return [
        Table(
            f"comparisons-{_TASKS[task]}", f"Are the differences in {_SUBJECTS[task]} real?", columns, tuple(rows),
            f"Paired randomisation test over {frame['topics'].iloc[0]} topics, two-sided; Holm: corrected for {pairs}"
            f" pair{'s' * (pairs != 1)} of runs.", frozenset(rules - {0}),
        )  # fmt: skip
    ]


def _need(result: Clariq) -> Table:
    frame = result.clarification_need
    measures = ("precision", "recall", "f1", "mse")
    rows, rules = _wide(frame, measures, "measure", "value")
    topics = frame[frame["measure"] == "recall"]["topics"].iloc[0]
    note = f"Labels 1 to 4; precision, recall and F1 weighted by label, over {topics} topics; MSE over those predicted."
    if frame["missing"].any():
        note += _lacking(frame, "topic") + " They count as wrong labels."
    return Table(
        "clarification_need", "Is the need for a question predicted?",
        (Column("Run", "left"), Column("precision"), Column("recall"), Column("F1"), Column("MSE")), rows, note, rules,
    )  # fmt: skip


def _confusion(result: Clariq, run: str) -> Table:
    counts = result.need_confusion[result.need_confusion["run"] == run].pivot(
        index="label", columns="predicted", values="topics"
    )
    scores = result.need_labels[result.need_labels["run"] == run].set_index("label")
    rows = tuple(
        (str(label), *(str(own[predicted]) for predicted in (1, 2, 3, 4, 0)),
         *(score(scores.loc[label, name]) for name in ("precision", "recall", "f1")))
        for label, own in counts.iterrows()
    )  # fmt: skip
    columns = (
        Column("need"), *(Column(str(label), group="predicted") for label in (1, 2, 3, 4)), Column("none", group="predicted"),
        Column("precision"), Column("recall"), Column("F1"),
    )  # fmt: skip
    return Table(f"need_confusion-{run}", f"{run}: topics by need and prediction", columns, rows, "1: clear … 4: ambiguous.")


def _preference(result: Clariq) -> Table:
    rows: list[tuple[str, ...]] = []
    rules = set()
    for (first, second), part in result.preference.groupby(["first", "second"], sort=False):
        rules.add(len(rows))
        rows += [
            (line.criterion, f"{first} : {second}", f"{line.wins} : {line.losses}", str(line.ties), percent(line.share),
             percent_interval(line.ci_low, line.ci_high), p_value(line.p), p_value(line.p_corrected))
            for line in part.itertuples()
        ]  # fmt: skip
    columns = (
        Column("Criterion", "left"), Column("Runs", "left"), Column("wins"), Column("ties"), Column("share"),
        Column("95 %"), Column("p"), Column("Holm"),
    )  # fmt: skip
    return Table(
        "preference", "Whom do people prefer?", columns, tuple(rows),
        "Share: wins of the first run, ties left out; 95 %: Wilson, in per cent; p: exact binomial test against one half; Holm:"
        " corrected for the criteria.", frozenset(rules - {0}),
    )  # fmt: skip
