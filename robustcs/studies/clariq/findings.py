"""Findings and verdicts on clarifying questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.words import (
    p_equals,
    percent,
    percent_range,
    plain,
    signed,
    signed_interval,
    with_interval,
)
from robustcs.lazy import pd
from robustcs.studies.clariq.analysis import Clariq
from robustcs.studies.clariq.tasks import BASELINES
from robustcs.wording import counted, first_of

#: Largest number of systems named in a sentence; the tables list all.
_NAMED = 4


def clariq_findings(result: Clariq) -> tuple[str, ...]:
    """Return the findings on document relevance with and without a question, the need to ask, and human preferences."""
    return (*_documents(result), *_need(result), *_preference(result))


def verdicts(result: Clariq) -> tuple[Verdict, ...]:
    """Return the change that the best system makes compared with not asking."""
    metric = _metric(result)
    rows = _against_nothing(result, metric)
    if not len(rows):
        return ()
    row = rows.loc[rows["difference"].idxmax()]
    best = f", the best of {len(rows)} systems," if len(rows) > 1 else ""
    return (
        Verdict(
            signed(row["difference"], 3), signed_interval(row["ci_low"], row["ci_high"]).strip("–"),
            f"Asking the questions of {row['first']}{best} changes {metric} by {signed(row['difference'], 3)}"
            " compared with not asking",
            f"adjusted p {p_equals(row['p_corrected'])}; {counted(int(row['topics']), 'topic')}",
            abs(float(row["difference"]))
        ),
    )  # fmt: skip


def _metric(result: Clariq) -> str:
    """Return NDCG3, else the first measure of document relevance, or an empty string if there is none."""
    have = list(dict.fromkeys(result.document_relevance["metric"]))
    return "NDCG3" if "NDCG3" in have else next(iter(have), "")


def _against_nothing(result: Clariq, metric: str) -> pd.DataFrame:
    """Return the comparisons of systems with the baseline that does not ask."""
    frame = result.comparisons
    chosen = (
        (frame["task"] == "document_relevance")
        & (frame["metric"] == metric)
        & (frame["second"] == "no")
    )
    return frame[chosen & ~frame["first"].isin(BASELINES)]


def _documents(result: Clariq) -> list[str]:
    metric = _metric(result)
    rows = result.document_relevance[result.document_relevance["metric"] == metric].set_index(
        "system"
    )
    means = rows["value"]
    compared = _against_nothing(result, metric)
    if "no" not in means or not len(compared):
        return []
    best = (
        f"; the best question for each facet reaches {with_interval(rows.loc['best'], 'value')}"
        if "best" in means
        else ""
    )
    parts = [
        f"{row['first']} {plain(means[row['first']])} ({_difference(row)})"
        for _, row in compared.iterrows()
    ]
    return [
        f"Without a clarifying question, {metric} of the documents is {with_interval(rows.loc['no'], 'value')}{best}.",
        f"{metric} with the questions of each system: {first_of(parts, _NAMED)}.",
    ]


def _difference(row: Mapping[str, Any]) -> str:
    between = (
        ""
        if math.isnan(row["ci_low"])
        else f", 95% CI {plain(row['ci_low'])} to {plain(row['ci_high'])}"
    )
    return f"difference {signed(row['difference'], 3)}{between}, adjusted p {p_equals(row['p_corrected'])}"


def _need(result: Clariq) -> list[str]:
    rows = result.clarification_need[result.clarification_need["measure"] == "f1"]
    if not len(rows):
        return []
    parts = [f"{row['system']} {with_interval(row, 'value', 2)}" for _, row in rows.iterrows()]
    topics = counted(rows["topics"].iloc[0], "topic")
    return [f"Weighted F1 of the predicted need to ask, over {topics}: {first_of(parts, _NAMED)}."]


def _preference(result: Clariq) -> list[str]:
    sentences = []
    for row in result.preference.itertuples():
        decided = row.wins + row.losses
        if not decided:
            continue
        between = (
            "" if math.isnan(row.ci_low) else f", 95% CI {percent_range(row.ci_low, row.ci_high)}"
        )
        ties = (
            f" {counted(row.ties, 'more judgment is a tie', 'more judgments are ties')}."
            if row.ties
            else ""
        )
        sentences.append(
            f"For {row.criterion}, {row.wins} of {decided} judgments without a tie prefer {row.first} to {row.second}"
            f" ({percent(row.share)}{between}, adjusted p {p_equals(row.p_corrected)}).{ties}"
        )
    return sentences
