"""What was found about clarifying questions, in plain sentences with their numbers."""

from __future__ import annotations

import math
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.words import p_equals, percent, percent_interval, plain, signed, signed_interval, with_interval
from robustcs.studies.clariq.analysis import Clariq
from robustcs.studies.clariq.tasks import BASELINES
from robustcs.wording import counted, first_of

#: Systems that are told of; the tables have all.
_NAMED = 4


def clariq_findings(result: Clariq) -> tuple[str, ...]:
    """What asking does for the documents compared with not asking, the need for a question, and what people prefer."""
    return (*_documents(result), *_need(result), *_preference(result))


def _documents(result: Clariq) -> list[str]:
    frame = result.document_relevance
    metrics = [name for name in ("NDCG3", *dict.fromkeys(frame["metric"])) if name in set(frame["metric"])]
    if not metrics:
        return []
    metric = metrics[0]
    means = frame[frame["metric"] == metric].set_index("run")["value"]
    compared = result.comparisons[
        (result.comparisons["task"] == "document_relevance") & (result.comparisons["metric"] == metric)
        & (result.comparisons["second"] == "no")
    ].set_index("first")  # fmt: skip
    systems = [name for name in means.index if name not in BASELINES]
    if "no" not in means or not systems:
        return []
    parts = [
        f"{name} {plain(means[name])} (difference {plain(row['difference'])}{_between(row)},"
        f" p {p_equals(row['p_corrected'])} by Holm)"
        for name, row in ((name, compared.loc[name]) for name in systems)
    ]
    best = f", and {plain(means['best'])} with each facet's best question" if "best" in means else ""
    return [f"Without a clarifying question, {metric} of the documents is {plain(means['no'])}{best}; with the question of"
            f" {first_of(parts, _NAMED)}."]  # fmt: skip


def verdicts(result: Clariq) -> tuple[Verdict, ...]:
    """What the question of the best system gains over asking nothing."""
    frame = result.comparisons
    metrics = [name for name in ("NDCG3", *dict.fromkeys(result.document_relevance["metric"])) if name in set(frame["metric"])]
    if not metrics:
        return ()
    asked = (frame["task"] == "document_relevance") & (frame["metric"] == metrics[0]) & (frame["second"] == "no")
    rows = frame[asked & ~frame["first"].isin(BASELINES)]
    if not len(rows):
        return ()
    row = rows.loc[rows["difference"].idxmax()]
    loses = "loses against" if row["difference"] < 0 else "gains over"
    said = f"of {metrics[0]} is what asking {loses} not asking, with the questions of {row['first']}"
    said += f", the best of {len(rows)} systems" if len(rows) > 1 else ""
    return (
        Verdict(
            signed(row["difference"], 3), signed_interval(row["ci_low"], row["ci_high"]).strip("–"), said,
            f"p {p_equals(row['p_corrected'])} by Holm; {result.evaluated.turns} topics", abs(float(row["difference"])),
        ),
    )  # fmt: skip


def _between(row: Any) -> str:
    return "" if math.isnan(row["ci_low"]) else f", 95 % interval {plain(row['ci_low'])} to {plain(row['ci_high'])}"


def _need(result: Clariq) -> list[str]:
    frame = result.clarification_need
    rows = frame[frame["measure"] == "f1"]
    parts = [f"{row['run']} {with_interval(row, 'value', 2)}" for _, row in rows.iterrows()]
    if not parts:
        return []
    topics = counted(rows["topics"].iloc[0], "topic")
    return [f"The need for a question is predicted with a weighted F1 of {first_of(parts, _NAMED)}, over {topics}."]


def _interval(row: Any) -> str:
    return "" if math.isnan(row.ci_low) else f" 95 % interval {percent_interval(row.ci_low, row.ci_high)},"


def _preference(result: Clariq) -> list[str]:
    return [
        f"By {row.criterion}, people prefer {row.first} to {row.second} in {row.wins} of {row.wins + row.losses} decided"
        f" judgments ({percent(row.share)}, 95 % interval {percent_interval(row.ci_low, row.ci_high)},"
        f" p {p_equals(row.p_corrected)} by Holm); {row.ties} are ties."
        for row in result.preference.itertuples()
        if row.wins + row.losses
    ]
