"""What new judgments change, in plain sentences with their numbers."""

from __future__ import annotations

import math

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, plain, signed, signed_interval
from robustcs.studies.augment.analysis import Augmentation
from robustcs.wording import verb


def verdicts(result: Augmentation) -> tuple[Verdict, ...]:
    """The largest change of a run's score, and how many runs change places."""
    change = result.change
    if change is None or not len(change.measures):
        return ()
    metric = headline_measure(change.measures["metric"])
    part = change.measures[change.measures["metric"] == metric]
    row = part.loc[part["difference"].abs().idxmax()]
    moved = int((part["rank_before"] != part["rank_after"]).sum())
    places = f"{moved or 'none'} of {len(part)} runs {verb(moved, 'changes', 'change')} places"
    return (
        Verdict(
            signed(row["difference"], 3), signed_interval(row["ci_low"], row["ci_high"]).strip("–"),
            f"is the largest change of {measure_label(metric)} that the new judgments make, that of {row['run']}; {places}",
            f"{int(change.files['added'].sum()):,} new judgments, {result.evaluated.turns} turns",
            abs(float(row["difference"])),
        ),
    )  # fmt: skip


def augment_findings(result: Augmentation) -> tuple[str, ...]:
    """What the new judgments change in the headline measure, and whether runs change places."""
    change = result.change
    if change is None or not len(change.measures):
        return ()
    added = int(change.files["added"].sum())
    metric = headline_measure(change.measures["metric"])
    part = change.measures[change.measures["metric"] == metric]
    least, most = (part.loc[part["difference"].idxmin()], part.loc[part["difference"].idxmax()])
    moved = part[part["rank_before"] != part["rank_after"]]
    places = f"{len(moved) or 'none'} of the {len(part)} runs {verb(len(moved), 'changes', 'change')} places"
    sentence = (
        f"{added:,} new judgments change {measure_label(metric)} by {plain(least['difference'])} ({least['run']}) to"
        f" {plain(most['difference'])} ({most['run']}); {places}"
    )
    tau = change.ranking[(change.ranking["metric"] == metric) & (change.ranking["method"] == "kendall")]
    if len(tau):
        row = tau.iloc[0]
        least = (
            ""
            if math.isnan(row["ci_low"])
            else f", at least {plain(row['ci_low'], 2)} for as many other {result.evaluated.unit}s"
        )
        sentence += f" (Kendall's τ {plain(row['value'], 2)} on these turns{least})"
    return (sentence + ".",)
