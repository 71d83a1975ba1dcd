"""Findings on reviewed turns, as sentences."""

from __future__ import annotations

import math
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.words import percent_range, plain, signed, whole_percent
from robustcs.records.filter import term
from robustcs.studies.review.analysis import NONE, Reviews
from robustcs.wording import counted, first_of, system_name

#: Maximum number of items in a sentence; the tables contain all.
_NAMED = 4


def _top(result: Reviews) -> list[Any]:
    """Return the most frequent category of each system, coder and sample."""
    frame = result.categories[result.categories["category"] != NONE]
    return [
        next(part.itertuples())
        for _, part in frame.groupby(["systems", "coder", "sample"], sort=False)
    ]


def _about(row: Any) -> str:
    whose = f" of {system_name(row.systems)}" if row.systems else ""
    return f"{whose} by coder {row.coder}" if row.coder else whose


def verdicts(result: Reviews) -> tuple[Verdict, ...]:
    """Return the most frequent category of each random sample, with its share of all turns from which it was drawn."""
    found = []
    for row in _top(result):
        if row.random:
            number = whole_percent(row.share)
            turns = (
                f"the {counted(row.of, 'turn')} {row.where}"
                if row.where
                else f"all {counted(row.of, 'turn')}"
            )
            text = f"The most frequent category{_about(row)} is {row.category!r}, on {number} of {turns}"
            basis = f"{row.count} of {row.reviewed} randomly sampled turns{_confirmed(result, row)}"
            frame = result.categories
            alike = frame[(frame["category"] == row.category) & (frame["count"] > 0)]
            # a tag of several coders, samples or systems does not show whose it is
            where = term("tag", row.category) if len(alike) == 1 else ""
            found.append(
                Verdict(
                    number,
                    percent_range(row.ci_low, row.ci_high),
                    text,
                    basis,
                    row.share,
                    turns=where,
                    count=row.count if where else 0,
                )
            )
    return tuple(found)


def findings(result: Reviews) -> tuple[str, ...]:
    """Return the categories of samples that are not random, the categories that separate systems, and the agreement."""
    sentences = [
        f"The most frequent category{_about(row)} is {row.category!r}: {row.count} of {counted(row.reviewed, 'reviewed turn')}"
        f" ({whole_percent(row.share)}). The sample is not random, so this is not an estimate for all turns."
        for row in _top(result) if not row.random
    ]  # fmt: skip
    for row in result.differences[result.differences["separates"] == True].itertuples():  # noqa: E712
        limits = f"{signed(100 * row.ci_low, 0)} to {signed(100 * row.ci_high, 0)}"
        first, second = system_name(row.first), system_name(row.second)
        sentences.append(
            f"{row.category!r} separates {first} from {second}: {signed(100 * row.difference, 0)} percentage points (95% CI"
            f" {limits}; {counted(row.only_first, 'turn')} only {first}, {row.only_second} only {second})."
        )
    for (first, second), part in result.coders.groupby(["first", "second"], sort=False):
        parts = [f"{row.category!r} {_kappa(row)}" for row in part.itertuples()]
        turns = counted(int(part["turns"].max()), "turn")
        sentences.append(
            f"Cohen's κ of {first} and {second} on {turns} by category: {first_of(parts, _NAMED)}."
        )
    return tuple(sentences)


def _confirmed(result: Reviews, row: Any) -> str:
    """Return the agreement of the other coders with the coder of the category."""
    found = ""
    for one in result.coders[result.coders["category"] == row.category].itertuples():
        if row.coder in (one.first, one.second):
            found += (
                f"; κ with {one.second if row.coder == one.first else one.first}: {_kappa(one)}"
            )
    return found


def _kappa(row: Any) -> str:
    if math.isnan(row.ci_low):
        return plain(row.kappa, 2)
    return f"{plain(row.kappa, 2)} (95% CI {plain(row.ci_low, 2)} to {plain(row.ci_high, 2)})"
