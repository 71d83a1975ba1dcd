"""Clarifying questions as Tables 4 to 8 of the ClariQ paper print them, with intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.tables import Shown, notes_of, ready, result_table
from robustcs.documents.words import interval, percent_interval, score, signed_interval
from robustcs.errors import UsageError
from robustcs.evaluation.clarification import DOCUMENT_MEASURES, clariq_name
from robustcs.evaluation.measure import Measure
from robustcs.lazy import Drawing, pd
from robustcs.result import count, difference, share, text
from robustcs.studies.clariq.analysis import Clariq
from robustcs.studies.clariq.tasks import BASELINES
from robustcs.wording import counted

_BASELINE_NAMES = dict(zip(BASELINES, ("Worst question", "No question", "Best question"), strict=True))
_TASKS = {"question_relevance": "questions", "document_relevance": "documents", "clarification_need": "need"}
_SUBJECTS = dict(zip(_TASKS, ("the questions found", "the documents", "the predicted need"), strict=True))
#: The measures of document relevance that the paper's tables have.
SHOWN = ("MRR100", "P1", "NDCG3", "NDCG5")


def show(result: Clariq, shown: Sequence[str] = SHOWN) -> tuple[Block, ...]:
    """The tables of every task that has rows; ``shown`` names the measures of document relevance for people."""
    blocks: list[Block] = []
    if len(result.question_relevance):
        heads = {k: f"R@{k}" for k in result.question_relevance["k"]}
        blocks += [_questions(result, heads), *_compared(result, "question_relevance", list(heads.values()))]
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
    return tuple(blocks) or (_statistics(result),)


def _statistics(result: Clariq) -> Table:
    spec = result.spec("statistics")
    columns: list[Shown] = [
        (spec.field("what").called("Texts"), lambda row: row.what), "number",
        (spec.field("terms").called("words"), lambda row: score(row.terms)),
        (spec.field("terms_sd").called("SD"), lambda row: score(row.terms_sd)),
    ]  # fmt: skip
    note = "Words per text, separated by white space: mean and standard deviation over texts that are not empty."
    return result_table(result, "statistics", "How many topics, facets, questions and answers do the data have?", columns, note)


def _name(run: str) -> str:
    return _BASELINE_NAMES.get(run, run)


def _wide(
    result: Clariq, name: str, frame: pd.DataFrame, heads: Mapping[str, str], measure: str, value: str, caption: str, note: str
) -> Table:
    """A row of values and one of intervals per run, with a rule between runs; ``heads``: values of ``measure`` → head."""
    rows: list[tuple[str, ...]] = []
    for run, part in frame.groupby("run", sort=False):
        lines = [part[part[measure] == one].iloc[0] for one in heads]
        rows.append((_name(str(run)), *(score(line[value]) for line in lines)))
        rows.append(("  95 %", *(interval(line["ci_low"], line["ci_high"]) for line in lines)))
    spec = result.spec(name)
    columns = ready(spec.field("run"), *(spec.field(value).called(head) for head in heads.values()))
    return result_table(result, name, caption, columns, note, rows=rows, rules=range(2, len(rows), 2))


#: How the intervals of means are made.
_CLUSTER = "95 %: cluster-robust t over topics, for other topics of this kind."


def _lacking(frame: pd.DataFrame, what: str) -> str:
    gone = {_name(run): number for run, number in zip(frame["run"], frame["missing"], strict=True) if number}
    counts = ", ".join(f"{run} for {counted(number, what)}" for run, number in gone.items())
    return f" Without output: {counts}." if gone else ""


def _questions(result: Clariq, heads: Mapping[str, str]) -> Table:
    frame = result.question_relevance
    count = frame["topics"].iloc[0]
    return _wide(
        result, "question_relevance", frame, heads, "k", "recall", "How many of the topic's questions are found?",
        f"Recall@k, mean over {count} topics. {_CLUSTER}{_lacking(frame, 'topic')}{notes_of(frame)}",
    )  # fmt: skip


def _documents(result: Clariq, metrics: Sequence[str]) -> Table:
    frame = result.document_relevance
    first = frame.iloc[0]
    what = "context" if len(result.by_turn) else "facet"
    return _wide(
        result, "document_relevance", frame, {name: name for name in metrics}, "metric", "value",
        "What does the question do for the documents?",
        f"Documents found after the question and its answer: mean over {first['units']} {what}s of {first['topics']} topics."
        f" {_CLUSTER}{_lacking(frame, what)}{notes_of(frame[frame['metric'].isin(metrics)])}",
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


def draw_relevance(result: Clariq, metrics: Sequence[str]) -> Drawing:
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
    spec = result.spec("by_turn")
    rows: list[tuple[str, ...]] = []
    rules = []
    for asked, part in result.by_turn.groupby("asked"):
        rules.append(len(rows))
        for run, own in part.groupby("run", sort=False):
            values = own.set_index("metric")["value"]
            scores = (score(values[name]) for name in metrics)
            rows.append((str(asked), _name(str(run)), str(own["units"].iloc[0]), *scores))
    columns = ready(*map(spec.field, ("asked", "run", "units")), *(spec.field("value").called(name) for name in metrics))
    return result_table(
        result, "by_turn", "Document relevance by the number of questions asked before", columns, "Mean over the contexts.",
        rows=rows, rules=rules[1:],
    )  # fmt: skip


def _compared(result: Clariq, task: str, metrics: Sequence[str]) -> list[Table]:
    frame = result.comparisons[result.comparisons["task"] == task]
    order = {name: place for place, name in enumerate(metrics)}
    rows = frame[frame["metric"].isin(metrics)].sort_values("metric", key=lambda names: names.map(order), kind="stable")
    if not len(rows):
        return []
    pairs = counted(len(frame) // frame["metric"].nunique(), "pair")
    return [
        result_table(
            result, "comparisons", f"Are the differences in {_SUBJECTS[task]} more than chance?",
            [
                "metric", (text("Runs"), lambda line: f"{_name(line.first)} − {_name(line.second)}"), "difference",
                (difference("95 %"), lambda line: signed_interval(line.ci_low, line.ci_high)), "p", "p_corrected",
            ],
            f"p: signs of whole topics flipped, {frame['topics'].iloc[0]} of them, two-sided; the interval is its inversion, of"
            f" one comparison. p adj.: max-T over {pairs} of runs.{notes_of(rows)}",
            rows=rows, by="metric", slug=f"comparisons-{_TASKS[task]}",
        )
    ]  # fmt: skip


def _need(result: Clariq) -> Table:
    frame = result.clarification_need
    topics = frame[frame["measure"] == "recall"]["topics"].iloc[0]
    note = f"Labels 1 to 4; precision, recall and F1 weighted by label, over {topics} topics; MSE and κ over those predicted."
    if frame["missing"].any():
        note += _lacking(frame, "topic") + " They count as wrong labels."
    note += (
        " 95 %: for other topics of this kind: nested bootstrap-t; recall, the share of topics predicted right: Wilson's; MSE:"
        f" cluster-robust t.{notes_of(frame)}"
    )
    heads = {"precision": "precision", "recall": "recall", "f1": "F1", "mse": "MSE", "kappa": "κ"}
    caption = "Is the need for a question predicted?"
    return _wide(result, "clarification_need", frame, heads, "measure", "value", caption, note)


def _confusion(result: Clariq, run: str) -> Table:
    own = result.need_confusion[result.need_confusion["run"] == run]
    topics = own.pivot(index="label", columns="predicted", values="topics")
    labels = result.spec("need_labels")
    columns: list[Shown] = [
        result.spec("need_confusion").field("label"),
        *(
            (count(head, group="predicted"), lambda line, label=label: str(topics.loc[line.label, label]))
            for label, head in ((1, "1"), (2, "2"), (3, "3"), (4, "4"), (0, "none"))
        ),
        *map(labels.field, ("precision", "recall", "f1")),
    ]
    return result_table(
        result, "need_confusion", f"{run}: topics by need and prediction", columns, "1: clear … 4: ambiguous.",
        rows=result.need_labels[result.need_labels["run"] == run], slug=f"need_confusion-{run}",
    )  # fmt: skip


def _preference(result: Clariq) -> Table:
    frame = result.preference.assign(runs=result.preference["first"] + " : " + result.preference["second"])
    order = {runs: place for place, runs in enumerate(dict.fromkeys(frame["runs"]))}
    rows = frame.sort_values("runs", key=lambda names: names.map(order), kind="stable")
    return result_table(
        result, "preference", "Whom do people prefer?",
        [
            "criterion", text("runs", header="Runs"),
            (count("wins"), lambda line: f"{line.wins} : {line.losses}"), "ties", "share",
            (share("95 %"), lambda line: percent_interval(line.ci_low, line.ci_high)), "p", "p_corrected",
        ],
        "Share: wins of the first run, ties left out; p: against one half; 95 %: its inversion, in per cent. Method:"
        f" {'; '.join(dict.fromkeys(frame['method']))}. p adj.: Holm over the criteria of the two runs.{notes_of(rows)}",
        rows=rows, by="runs",
    )  # fmt: skip


def document_measures(measures: Sequence[Measure]) -> tuple[str, ...]:
    """ClariQ's names of measures; those of its tables where none is given.

    Raises :class:`UsageError` for a measure that ClariQ does not have.
    """
    names = [clariq_name(measure) for measure in measures]
    for measure, name in zip(measures, names, strict=True):
        if name not in DOCUMENT_MEASURES:
            have = "there are ndcg_cut_K and P_K for K = 1, 3, 5, 10, 20, and recip_rank_cut_100"
            raise UsageError("no-such-measure", f"ClariQ has no {measure}", have)
    return tuple(names) or SHOWN
