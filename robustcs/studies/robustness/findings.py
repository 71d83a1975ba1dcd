"""How far scores drop in other words, in plain sentences with their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.holes import expected_drop
from robustcs.documents.words import measure_label, number_interval, p_equals, plain
from robustcs.lazy import pd
from robustcs.studies.robustness.analysis import Robustness
from robustcs.wording import counted

#: Adjusted p up to which a drop is significant.
_LEVEL = 0.05


def robustness_findings(result: Robustness, drops: pd.DataFrame) -> tuple[str, ...]:
    """The mean drop of every group in the headline measure, and what these units could have shown where it may be chance.

    What is expected of it once holes are filled follows; ``drops``: the table of that name, empty where the holes could not be
    filled.
    """
    metric = headline_measure(result.groups["metric"])
    rows = result.groups[result.groups["metric"] == metric]
    expected = drops[drops["metric"] == metric].set_index("group")
    return tuple(
        _drop(row, measure_label(metric), len(rows), result)
        + (f" {expected_drop(row['mean_drop'], expected.loc[row['group']])}" if row["group"] in expected.index else "")
        for _, row in rows.iterrows()
    )


def verdicts(result: Robustness, drops: pd.DataFrame) -> tuple[Verdict, ...]:
    """The group that loses most, and what is expected of it with unjudged passages filled in; ``drops`` as above."""
    metric = headline_measure(result.groups["metric"])
    rows = result.groups[result.groups["metric"] == metric]
    row = rows.loc[rows["mean_drop"].idxmax()]
    label = measure_label(metric)
    loses = "loses" if row["mean_drop"] >= 0 else "gains"
    said = f"of {label} is what {row['group']} {loses} in other words"
    if not math.isnan(row["mean_drop_percent"]):
        said += f", {plain(abs(row['mean_drop_percent']), 0)} % of the baseline"
    expected = drops[(drops["metric"] == metric) & (drops["group"] == row["group"])]
    if len(expected):
        said += f"; {plain(expected['expected'].iloc[0])} is expected with unjudged passages filled in by the model"
    if not row["p_corrected"] <= _LEVEL:
        said += f"; the {'loss' if row['mean_drop'] >= 0 else 'gain'} is not significant"
    ends = (row["ci_low"], row["ci_high"]) if row["mean_drop"] >= 0 else (-row["ci_high"], -row["ci_low"])
    basis = (
        f"{_adjusted(row, len(rows))}; {counted(row['sets'], 'test set')}, {result.evaluated.turns} turns, unjudged as not"
        " relevant"
    )
    drop = abs(float(row["mean_drop"]))
    return (Verdict(plain(drop), number_interval(*ends).strip("–"), said, basis, drop),)


def _drop(row: Mapping[str, Any], label: str, groups: int, result: Robustness) -> str:
    unit, drop, percent = result.evaluated.unit, row["mean_drop"], row["mean_drop_percent"]
    way = "drop" if drop >= 0 else "rise"
    interval = (
        "" if math.isnan(row["ci_low"]) else f"95 % interval of the drop {plain(row['ci_low'])} to {plain(row['ci_high'])}, "
    )
    share = "" if math.isnan(percent) else f", which is {plain(abs(percent), 0)} % of the baseline"
    said = (
        f"In other words ({row['group']}, {counted(row['sets'], 'test set')}), {label} {way}s by {plain(abs(drop))} on average"
        f" ({interval}{_adjusted(row, groups)}){share}, with unjudged passages as not relevant"
    )
    if row["equivalent"] is True:
        said += f"; there is no drop larger than {result.margin:g}"
    if row["p_corrected"] <= _LEVEL:
        return f"{said}."
    found = counted(result.evaluated.units, unit)
    least = "" if math.isnan(row["detectable"]) else f": {found} detect a drop of {plain(row['detectable'])} in 80 % of trials"
    return f"{said}. The {way} is not significant{least}."


def _adjusted(row: Mapping[str, Any], groups: int) -> str:
    """Return ``adjusted p = 0.012, max-T over 2 groups``, or ``p = 0.012`` where there is one group."""
    p = f"p {p_equals(row['p_corrected'])}"
    return f"adjusted {p}, max-T over {counted(groups, 'group')}" if groups > 1 else p
