"""Findings on crowd judgments, as sentences."""

from __future__ import annotations

from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, with_interval
from robustcs.studies.crowd.analysis import Crowd
from robustcs.wording import counted, first_of, verb

#: Maximum number of criteria and runs in a sentence; the tables contain all.
_NAMED = 4


def crowd_findings(result: Crowd) -> tuple[str, ...]:
    """Return the number of excluded workers, and the scores of the runs on the judgments."""
    return (*_exclusions(result), *_scores(result))


def _exclusions(result: Crowd) -> list[str]:
    workers = len(set(result.exclusions["worker"]))
    if not workers:
        return []
    grades = int(result.exclusions["grades"].sum())
    return [
        f"{counted(workers, 'worker')} contradicted gold checks; their {counted(grades, 'grade')} for the topics of these"
        f" checks {verb(grades, 'is', 'are')} excluded."
    ]


def _scores(result: Crowd) -> list[str]:
    rows = result.measures[(result.measures["turn_set"] == "all") & (result.measures["turns"] > 0)]
    rows = rows[rows["metric"] == headline_measure(rows["metric"])] if len(rows) else rows
    sentences = []
    for (criterion, turns), part in rows.groupby(["criterion", "turns"], sort=False):
        label = measure_label(part["metric"].iloc[0])
        runs = [
            f"{with_interval(row, 'value')} for {row['system']}"
            + (
                f", which misses {counted(row['turns'] - row['answered'], 'turn')}"
                if row["answered"] < row["turns"]
                else ""
            )
            for _, row in part.iterrows()
        ]
        sentences.append(
            f"Judged by {criterion}, the mean {label} over {counted(turns, 'turn')} is {first_of(runs, _NAMED)}."
        )
    return sentences
