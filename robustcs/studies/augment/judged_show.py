"""Scores that people and a model gave together, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustcs.documents.document import Block, Heading, Paragraph, Table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import measure_label, number, number_interval, p_value, signed, signed_interval
from robustcs.lazy import pd
from robustcs.result import Field, text
from robustcs.studies.augment.judged import Estimated
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.studies.augment.analysis import Augmentation

#: Pairs of systems that are shown; JSON and CSV have all.
_SHOWN = 10


def judged_blocks(result: Augmentation, found: Estimated) -> list[Block]:
    """For every judge the sample, the estimates, their pairs, and the plan where one is asked for."""
    blocks: list[Block] = [Heading("What would people say of all of it?", 2)]
    for judge, part in found.estimates.groupby("judge", sort=False):
        blocks.append(Paragraph(_gist(str(judge), part.iloc[0], found.unit)))
        for metric, rows in part.groupby("metric", sort=False):
            blocks.append(_scores(result, str(judge), str(metric), rows, found.unit))
            pairs = found.estimate_pairs
            pairs = pairs[(pairs["judge"] == judge) & (pairs["metric"] == metric)]
            if len(pairs):
                blocks.append(_pairs(result, str(judge), str(metric), pairs))
    if len(found.sample):
        blocks.append(_sample(result, found.unit))
    if found.plan is not None:
        blocks += [
            _plan(result, str(judge), str(metric), rows, found.unit)
            for (judge, metric), rows in found.plan.groupby(["judge", "metric"], sort=False)
        ]
    return blocks


def _gist(judge: str, row: pd.Series, unit: str) -> str:
    return (
        f"People judged {row['judged_units']} of {counted(int(row['units']), unit)}, {judge} all of them. Corrected is what"
        f" people would say of all {row['units']}, had they judged them, if those that they judged were drawn at random."
    )


def _head(title: str, group: str = "") -> Field:
    return Field(title, "number", group=group)


def _scores(result: Augmentation, judge: str, metric: str, rows: pd.DataFrame, unit: str) -> Table:
    columns: list[Shown] = [
        "run", (_head("score", "corrected"), lambda row: number(row.corrected, 3)),
        (_head("95 %", "corrected"), lambda row: number_interval(row.ci_low, row.ci_high)),
        (_head("score", "people alone"), lambda row: number(row.human_only, 3)),
        (_head("95 %", "people alone"), lambda row: number_interval(row.human_ci_low, row.human_ci_high)),
        (_head("judge alone"), lambda row: number(row.judge_only, 3)),
        (_head("worth"), lambda row: number(row.worth, 1)),
    ]  # fmt: skip
    first = rows.iloc[0]
    note = (
        f"Judge alone: not an estimate. Worth: how many judged {unit}s would tell people alone as much; they judged"
        f" {first['judged_units']}. Weight of the judge: {number(first['weight'], 2)}. JSON and CSV have the wider intervals"
        f" for other {unit}s like these."
    )
    if first["note"]:
        note += f" {first['note'][0].upper()}{first['note'][1:]}."
    return result_table(
        result,
        "estimates",
        f"{measure_label(metric)} with {judge}",
        columns,
        note,
        rows=rows,
        slug=f"estimates-{judge}-{metric}",
    )


def _pairs(result: Augmentation, judge: str, metric: str, pairs: pd.DataFrame) -> Table:
    columns: list[Shown] = [
        "first", "second", (_head("corrected"), lambda row: signed(row.corrected, 3)),
        (_head("95 %"), lambda row: signed_interval(row.ci_low, row.ci_high)),
        (_head("people alone"), lambda row: signed(row.human_only, 3)),
        (_head("p"), lambda row: p_value(row.p)), (_head("p adj."), lambda row: p_value(row.p_corrected)),
    ]  # fmt: skip
    nearest = pairs.sort_values("p", kind="stable")
    note = f"First minus second. Interval and p are of one comparison; p adj.: Holm over {counted(len(pairs), 'pair')}."
    if len(pairs) > _SHOWN:
        note += f" The {_SHOWN} of the smallest p; JSON and CSV have all."
    return result_table(
        result, "estimate_pairs", f"{measure_label(metric)} with {judge}: which systems differ?", columns, note,
        rows=nearest.head(_SHOWN), slug=f"estimate_pairs-{judge}-{metric}",
    )  # fmt: skip


def _sample(result: Augmentation, unit: str) -> Table:
    columns: list[Shown] = [
        "judge", (text("Measure"), lambda row: measure_label(row.metric)), "judged_mean", "other_mean",
        (_head("p"), lambda row: p_value(row.p)),
    ]  # fmt: skip
    note = (
        f"Mean scores under the judge of the {unit}s that people judged and of the others; p by permutation. A large p proves"
        " nothing: what was chosen by people's scores hardly shows here."
    )
    return result_table(result, "sample", f"Were the judged {unit}s a random sample?", columns, note)


def _plan(result: Augmentation, judge: str, metric: str, rows: pd.DataFrame, unit: str) -> Table:
    first = rows.iloc[0]
    note = (
        f"{unit.capitalize()}s that people must judge, of {first['units']}, those {first['judged_units']} that they judged"
        " included; that many suffice in 80 % of studies like this."
    )
    if rows["with_judge"].isna().any():
        note += (
            " Before a pilot nobody knows what the judge is worth: these are numbers without it, as if people's scores varied"
            " like the judge's."
        )
    return result_table(
        result, "plan", f"How many for {measure_label(metric)} within ±{first['within']:g} ({judge})?",
        ["run", "with_judge", "people_alone"], note, rows=rows, slug=f"plan-{judge}-{metric}",
    )  # fmt: skip
