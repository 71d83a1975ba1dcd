"""Verdicts and findings on drops under paraphrased questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.holes import expected_drop
from robustcs.documents.words import (
    few_answers,
    in_brackets,
    measure_label,
    number_interval,
    p_equals,
    plain,
)
from robustcs.lazy import pd
from robustcs.records.filter import field_name, term
from robustcs.studies.robustness.analysis import Robustness
from robustcs.wording import counted

#: Largest adjusted p of a significant drop.
_LEVEL = 0.05


def robustness_findings(result: Robustness, drops: pd.DataFrame) -> tuple[str, ...]:
    """Return the mean drop of every group in the headline measure, with the detectable drop if it is not significant.

    The expected drop with unjudged passages filled in follows. ``drops``: the table of that name, empty if passages could not
    be filled in.
    """
    metric = headline_measure(result.groups["metric"])
    rows = result.groups[result.groups["metric"] == metric]
    expected = drops[drops["metric"] == metric].set_index("group")
    return tuple(
        _drop(row, measure_label(metric), len(rows), result)
        + (
            f" {expected_drop(row['mean_drop'], expected.loc[row['group']])}"
            if row["group"] in expected.index
            else ""
        )
        for _, row in rows.iterrows()
    )


def verdicts(result: Robustness, drops: pd.DataFrame) -> tuple[Verdict, ...]:
    """Return the verdict on the group with the largest loss; ``drops``: see :func:`robustness_findings`."""
    metric = headline_measure(result.groups["metric"])
    rows = result.groups[result.groups["metric"] == metric]
    row = rows.loc[rows["mean_drop"].idxmax()]
    label = measure_label(metric)
    moves = "drops" if row["mean_drop"] >= 0 else "rises"
    size = plain(abs(row["mean_drop"]))
    said = f"{label} {moves} by {size} with the paraphrases of {row['group']}"
    limits = [] if row["p_corrected"] <= _LEVEL else ["not significant"]
    if not math.isnan(row["mean_drop_percent"]):
        limits.insert(0, f"{plain(abs(row['mean_drop_percent']), 0)}% of the baseline")
    said += in_brackets(_few(result, row["group"]), *limits)
    expected = drops[(drops["metric"] == metric) & (drops["group"] == row["group"])]
    caveat = ""
    if len(expected):
        filled = plain(expected["expected"].iloc[0])
        caveat = f"If a model grades the unjudged passages, the expected drop is {filled}."
    ends = (
        (row["ci_low"], row["ci_high"])
        if row["mean_drop"] >= 0
        else (-row["ci_high"], -row["ci_low"])
    )
    basis = (
        f"{_adjusted(row, len(rows))}; mean of {counted(row['sets'], 'test set')},"
        f" {counted(row['turns'], 'turn')}, unjudged passages count as not relevant"
    )
    return (
        Verdict(
            size,
            number_interval(*ends).strip("–"),
            said,
            basis,
            abs(float(row["mean_drop"])),
            caveat=caveat,
            **_turns(result, row),
        ),
    )


def _turns(result: Robustness, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a verdict that select the turns of a group, those with the largest loss first.

    Empty if no set of the group covers all its turns: a filter cannot say that some set does.
    """
    every = result.measures[result.measures["metric"] == row["metric"]]
    own = every[(every["group"] == row["group"]) & (every["turns"] == row["turns"])]
    if not len(own):
        return {}
    worst = own.loc[own["drop"].idxmax(), "set"]
    systems = [worst]
    if result.evaluated.missing_rule != "zero":  # then only turns count that all runs answer
        systems = list(dict.fromkeys([*every["set"], *every["baseline_run"]]))
    return {
        "turns": " ".join(term(row["metric"], system=name) for name in systems),
        "count": int(row["turns"]),
        "sort": field_name("loss", worst),
    }


def _drop(row: Mapping[str, Any], label: str, groups: int, result: Robustness) -> str:
    unit, drop, percent = result.evaluated.unit, row["mean_drop"], row["mean_drop_percent"]
    way = "drop" if drop >= 0 else "rise"
    interval = (
        ""
        if math.isnan(row["ci_low"])
        else f"95% CI of the drop {plain(row['ci_low'])} to {plain(row['ci_high'])}, "
    )
    share = "" if math.isnan(percent) else f", {plain(abs(percent), 0)}% of the baseline"
    sets = f"{counted(row['sets'], 'test set')} of {row['group']}{in_brackets(_few(result, row['group']))}"
    said = (
        f"On the {sets}, {label} {way}s by {plain(abs(drop))} on average{share}"
        f" ({interval}{_adjusted(row, groups)}). Unjudged passages count as not relevant."
    )
    if row["equivalent"] is True:
        said += f" A drop larger than {result.margin:g} is ruled out."
    if row["p_corrected"] <= _LEVEL:
        return said
    power = f"with {counted(result.evaluated.units, unit)}, the test has 80% power for a drop of {plain(row['detectable'])}"
    return f"{said} The {way} is not significant{'' if math.isnan(row['detectable']) else f'; {power}'}."


def _few(result: Robustness, group: str) -> str:
    """Return which of the baseline and the sets of a group answer less than half of the turns."""
    own = result.measures[result.measures["group"] == group]
    return few_answers([*own["baseline_run"], *own["set"]], result.evaluated)


def _adjusted(row: Mapping[str, Any], groups: int) -> str:
    """Return ``adjusted p = 0.012, max-T over 2 groups``, or ``p = 0.012`` for a single group."""
    p = f"p {p_equals(row['p_corrected'])}"
    return f"adjusted {p}, max-T over {counted(groups, 'group')}" if groups > 1 else p
