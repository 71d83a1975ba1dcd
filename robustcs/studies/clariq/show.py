"""Tables and figure of clarifying questions, in the form of Tables 4 to 8 of the ClariQ paper, with intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from robustcs.documents.document import Block, Figure, TableBlock
from robustcs.documents.forest import told_left_out
from robustcs.documents.tables import notes_of, result_table, wide_table
from robustcs.documents.words import score
from robustcs.lazy import pd
from robustcs.result import text
from robustcs.studies.clariq.analysis import Clariq
from robustcs.studies.clariq.tasks import BASELINES
from robustcs.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.style import Width

_BASELINE_NAMES = dict(
    zip(BASELINES, ("Worst question", "No question", "Best question"), strict=True)
)
#: The measures of document relevance in the paper's tables; JSON and CSV contain all.
SHOWN = ("MRR100", "P1", "NDCG3", "NDCG5")
_NEED = {"precision": "precision", "recall": "recall", "f1": "F1", "mse": "MSE", "kappa": "κ"}
_CLUSTER = "95% CI: cluster-robust t intervals, clustered by topic."


def show(result: Clariq) -> tuple[Block, ...]:
    """Return the tables of every task that has rows, with the measures of the paper."""
    blocks: list[Block] = []
    if len(result.question_relevance):
        heads = {k: f"R@{k}" for k in result.question_relevance["k"]}
        blocks.append(_by_run(
            result, "question_relevance", heads, "k", "recall", "How many of the topic's questions are retrieved?",
            f"R@k: recall in the top k, mean over {counted(result.question_relevance['topics'].iloc[0], 'topic')}. {_CLUSTER}",
        ))  # fmt: skip
        blocks += _compared(
            result, "question_relevance", list(heads.values()), "question retrieval", "questions"
        )
    if len(frame := result.document_relevance):
        have = list(dict.fromkeys(frame["metric"]))
        metrics = [name for name in SHOWN if name in have] or have[: len(SHOWN)]
        first = frame.iloc[0]
        blocks.append(_by_run(
            result, "document_relevance", {name: name for name in metrics}, "metric", "value",
            "Do the documents improve after the question?",
            f"Scores of the documents retrieved after the question and its answer, mean over"
            f" {counted(first['units'], 'facet')} of {counted(first['topics'], 'topic')} (contexts, if multi-turn). {_CLUSTER}",
            "facet",
        ))  # fmt: skip
        blocks += _compared(
            result, "document_relevance", metrics, "document relevance", "documents"
        )
        blocks.append(_figure(result, metrics))
    if len(frame := result.clarification_need):
        topics = frame.loc[frame["measure"] == "recall", "topics"].iloc[0]
        blocks.append(_by_run(
            result, "clarification_need", _NEED, "measure", "value", "Is the need to ask predicted correctly?",
            f"Labels 1 to 4. Precision, recall and F1 are weighted by label, over {counted(topics, 'topic')}; a topic"
            " without a prediction counts as wrong. MSE and κ cover only topics with a prediction. 95% CI by topic: nested"
            " bootstrap-t for precision, F1 and κ; Wilson for recall, the share of correct predictions;"
            " cluster-robust t for MSE.",
        ))  # fmt: skip
        blocks += _compared(
            result, "clarification_need", ["recall"], "the predicted need to ask", "need"
        )
        blocks.append(wide_table(
            result, "need_confusion", "Topics by need and prediction", ["system", "label"], "predicted", ["topics"],
            "Labels: 1 (clear) to 4 (ambiguous).", heads={1: "1", 2: "2", 3: "3", 4: "4", 0: "none"}, group="predicted",
            by="system",
        ))  # fmt: skip
    if len(result.preference):
        blocks.append(_preference(result))
    note = "Words per text, separated by white space: mean and standard deviation over non-empty texts."
    caption = "How many topics, facets, questions and answers are there?"
    return tuple(blocks) or (
        result_table(result, "statistics", caption, ["what", "number", "terms", "terms_sd"], note),
    )


def _name(run: str) -> str:
    return _BASELINE_NAMES.get(run, run)


def _by_run(
    result: Clariq,
    name: str,
    heads: Mapping[str, str],
    across: str,
    value: str,
    caption: str,
    note: str,
    what: str = "topic",
) -> TableBlock:
    """Return a table with one row per run; ``heads`` maps the values of column ``across`` to column heads."""
    frame = result.tables[name]
    rows = frame[frame[across].isin(list(heads))]
    gone = {
        _name(run): number
        for run, number in zip(frame["system"], frame["missing"], strict=True)
        if number
    }
    absent = ", ".join(f"{run} for {counted(number, what)}" for run, number in gone.items())
    note += (f" Missing output: {absent}." if gone else "") + notes_of(rows)
    return wide_table(
        result,
        name,
        caption,
        ["system"],
        across,
        [value],
        note,
        rows=rows.assign(system=rows["system"].map(_name)),
        heads=heads,
    )


def _figure(result: Clariq, metrics: Sequence[str]) -> Figure:
    shown = result.document_relevance[result.document_relevance["metric"] == metrics[-1]]
    words = "; ".join(f"{_name(row.system)} {score(row.value)}" for row in shown.itertuples())
    line = (
        " The dashed line is the mean without a question." if "no" in set(shown["system"]) else ""
    )
    caption = (
        "Mean scores of the documents retrieved after each system's question, with 95% CI."
        f"{line}{told_left_out(_ranked(result, metrics[0]), len(metrics), metrics[0])}"
    )
    return Figure(
        "documents",
        caption,
        f"{metrics[-1]}: {words}.",
        lambda width: draw_relevance(width, result, metrics),
    )


def draw_relevance(width: Width, result: Clariq, metrics: Sequence[str]) -> MatplotlibFigure:
    """Draw document relevance: the systems and, marked, the baselines, the best by the first measure on top."""
    from robustcs.documents.forest import MeanPanel, best_and_worst, forest

    names = best_and_worst(_ranked(result, metrics[0]), len(metrics))
    panels = []
    for metric in metrics:
        frame = result.document_relevance
        rows = frame[frame["metric"] == metric].set_index("system")
        own = rows.reindex(names)
        low, value, high = (own[name].to_numpy(float) for name in ("ci_low", "value", "ci_high"))
        panels.append(MeanPanel(metric, low, value, high, rows["value"].get("no", math.nan)))
    baselines = [_name(name) for name in BASELINES]
    return forest(width, [_name(name) for name in names], panels, marked=baselines)


def _ranked(result: Clariq, metric: str) -> list[str]:
    """Return the systems from the highest to the lowest mean of a measure."""
    frame = result.document_relevance
    rows = frame[frame["metric"] == metric]
    ordered = rows.sort_values("value", ascending=False, kind="stable")
    return list(dict.fromkeys([*ordered["system"], *frame["system"]]))


def _compared(
    result: Clariq, task: str, metrics: Sequence[str], subject: str, slug: str
) -> list[TableBlock]:
    frame = result.comparisons[result.comparisons["task"] == task]
    rows = pd.concat([frame[frame["metric"] == metric] for metric in metrics])
    if not len(rows):
        return []
    pairs = counted(len(frame) // frame["metric"].nunique(), "pair")
    return [
        result_table(
            result, "comparisons", f"Do the runs differ in {subject}?",
            ["metric", text("runs", header="Runs"), "difference", "p", "p_corrected"],
            f"Two-sided sign-flip test over {counted(frame['topics'].iloc[0], 'topic')}. The 95% CI inverts the test, one"
            f" comparison at a time. p adj.: max-T over {pairs} of runs.{notes_of(rows)}",
            rows=_with_runs(rows, " − "), by="metric", slug=f"comparisons-{slug}"
        )
    ]  # fmt: skip


def _with_runs(rows: pd.DataFrame, between: str) -> pd.DataFrame:
    return rows.assign(runs=rows["first"].map(_name) + between + rows["second"].map(_name))


def _preference(result: Clariq) -> TableBlock:
    frame = _with_runs(result.preference, " : ")
    return result_table(
        result, "preference", "Which system do assessors prefer?",
        ["criterion", text("runs", header="Runs"), "wins", "losses", "ties", "share", "p", "p_corrected"],
        "Share: wins of the first run, without ties. p tests whether the share is one half; the 95% CI inverts the test. Test:"
        f" {'; '.join(dict.fromkeys(frame['method']))}. p adj.: Holm over the criteria of the two runs.{notes_of(frame)}",
        rows=frame, by="runs",
    )  # fmt: skip
