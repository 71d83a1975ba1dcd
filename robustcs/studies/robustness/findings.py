"""How far scores drop in other words, in plain sentences with their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustcs.documents.headline import headline_measure
from robustcs.documents.holes import expected_drop
from robustcs.documents.words import measure_label, p_equals, plain
from robustcs.studies.robustness.analysis import Robustness
from robustcs.wording import counted

if TYPE_CHECKING:
    import pandas as pd


def robustness_findings(result: Robustness, drops: pd.DataFrame) -> tuple[str, ...]:
    """The mean drop of every group in the headline measure, and what is expected of it once holes are filled.

    ``drops``: the table of that name, empty where the holes could not be filled.
    """
    metric = headline_measure(result.groups["metric"])
    expected = drops[drops["metric"] == metric].set_index("group")
    return tuple(
        f"In other words ({row['group']}, {counted(row['sets'], 'test set')}), {measure_label(metric)} drops by"
        f" {plain(row['mean_drop'])} on average (95 % interval {plain(row['ci_low'])} to {plain(row['ci_high'])}, p"
        f" {p_equals(row['p_corrected'])} by Holm), which is {plain(row['mean_drop_percent'], 0)} % of the baseline, with"
        " unjudged passages as not relevant."
        + (f" {expected_drop(row['mean_drop'], expected.loc[row['group']])}" if row["group"] in expected.index else "")
        for _, row in result.groups[result.groups["metric"] == metric].iterrows()
    )
