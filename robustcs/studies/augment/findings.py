"""Verdicts and findings on new judgments."""

from __future__ import annotations

import math

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, p_equals, plain, signed, signed_interval
from robustcs.lazy import pd
from robustcs.studies.augment.analysis import Augmentation
from robustcs.wording import counted, system_name, verb


def verdicts(result: Augmentation) -> tuple[Verdict, ...]:
    """Return the largest change of a run's score, with the number of runs that change rank."""
    if not len(result.tables.get("measures", ())):
        return ()
    part = _headline(result.tables["measures"])
    row = part.loc[part["difference"].abs().idxmax()]
    p = "" if math.isnan(row["p_corrected"]) else f"; adjusted p {p_equals(row['p_corrected'])}"
    return (
        Verdict(
            signed(row["difference"], 3), signed_interval(row["ci_low"], row["ci_high"]).strip("–"),
            f"The new judgments change {measure_label(row['metric'])} of {system_name(row['system'])} by"
            f" {signed(row['difference'], 3)}{', the largest change' if len(part) > 1 else ''}; {_moved(part)}",
            f"{counted(int(result.tables['files']['added'].sum()), 'new judgment')},"
            f" {counted(result.evaluated.turns, 'turn')}{p}",
            abs(float(row["difference"]))
        ),
    )  # fmt: skip


def augment_findings(result: Augmentation) -> tuple[str, ...]:
    """Return how much the headline measure changes, how many runs change rank, and how similar the rankings are."""
    if not len(result.tables.get("measures", ())):
        return ()
    part = _headline(result.tables["measures"])
    metric = str(part["metric"].iloc[0])
    ends = [part.loc[part["difference"].idxmin()], part.loc[part["difference"].idxmax()]][
        : len(part)
    ]
    span = " to ".join(
        f"{signed(one['difference'], 3)} ({system_name(one['system'])})" for one in ends
    )
    added = counted(int(result.tables["files"]["added"].sum()), "new judgment")
    sentences = [f"With {added}, {measure_label(metric)} changes by {span}; {_moved(part)}."]
    ranking = result.tables["ranking"]
    tau = ranking[(ranking["metric"] == metric) & (ranking["method"] == "kendall")]
    if len(tau):
        row = tau.iloc[0]
        limit = (
            ""
            if math.isnan(row["ci_low"])
            else f" (one-sided 95% lower limit {plain(row['ci_low'], 2)})"
        )
        sentences.append(
            f"Kendall's τ between the rankings of the runs before and after is {plain(row['value'], 2)}{limit}."
        )
    return tuple(sentences)


def _headline(measures: pd.DataFrame) -> pd.DataFrame:
    return measures[measures["metric"] == headline_measure(measures["metric"])]


def _moved(part: pd.DataFrame) -> str:
    moved = int((part["rank_before"] != part["rank_after"]).sum())
    return f"{moved or 'none'} of {counted(len(part), 'run')} {verb(max(moved, 1), 'changes', 'change')} rank"
