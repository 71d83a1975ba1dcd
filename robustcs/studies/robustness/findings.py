"""How far scores drop in other words, in plain sentences with their numbers."""

from __future__ import annotations

from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, p_equals, plain
from robustcs.studies.robustness.analysis import Robustness
from robustcs.wording import counted


def robustness_findings(result: Robustness) -> tuple[str, ...]:
    """The mean drop of every group in the headline measure."""
    metric = headline_measure(result.groups["metric"])
    return tuple(
        f"In other words ({row['group']}, {counted(row['sets'], 'test set')}), {measure_label(metric)} drops by"
        f" {plain(row['mean_drop'])} on average (95 % interval {plain(row['ci_low'])} to {plain(row['ci_high'])}, p"
        f" {p_equals(row['p_corrected'])} by Holm), which is {plain(row['mean_drop_percent'], 0)} % of the baseline."
        for _, row in result.groups[result.groups["metric"] == metric].iterrows()
    )
