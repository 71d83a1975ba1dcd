"""A judge's agreement, bias and reversals as tables and one figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.headline import headline_measure
from robustcs.documents.tables import Shown, ready, result_table
from robustcs.documents.words import measure_label, number, number_interval, percent, signed
from robustcs.lazy import Drawing, pd
from robustcs.result import Field, count, share, text
from robustcs.result import number as number_field
from robustcs.studies.audit.analysis import FOUND, Audit
from robustcs.studies.audit.findings import verdict
from robustcs.studies.audit.labels import ALL
from robustcs.studies.audit.systems import ALPHA
from robustcs.wording import counted, verb

if TYPE_CHECKING:
    from robustcs.studies.audit.figure import JudgePanel


#: Judges that are shown one by one, and rows of tables that grow with the pairs of systems; JSON and CSV have all.
_JUDGES = 3
_SHOWN = 10
_METHODS = {"kendall": "Kendall's τ", "tau_ap": "τ AP", "rbo": "RBO"}


def _head(title: str, group: str = "") -> Field:
    """The head of a column of numbers."""
    return Field(title, "number", group=group)


def show(result: Audit) -> tuple[Block, ...]:
    """All judges in one table each of agreement, bias and rankings; for a few judges what lies behind them."""
    blocks: list[Block] = [_agreement(result)]
    judges = list(result.bias["judge"].unique())
    if judges:
        blocks += [_bias(result, None), _figure(result, judges[:_JUDGES])]
    if len(judges) <= _JUDGES:
        for judge in judges:
            blocks.append(_confusion(result, judge))
            if (result.bias["judge"] == judge).sum() > 1:
                blocks.append(_bias(result, judge))
    if len(result.systems):
        blocks += [_systems(result), _conclusions(result)]
    if len(result.reversals):
        blocks.append(_reversals(result))
    if len(result.conflicts):
        blocks.append(_conflicts(result))
    if len(result.judge_conflicts):
        blocks.append(_between(result))
    if len(result.off_scale):
        blocks.append(
            result_table(result, "off_scale", "Grades off the scale", ["judge", "grade", "count", "kept"], by="judge")
        )
    return tuple(blocks)


def _agreement(result: Audit) -> Table:
    columns: list[Shown] = [
        "judge", "pairs", "agree", (_head("κ"), lambda row: number(row.kappa, 3)),
        (_head("95 %"), lambda row: number_interval(row.ci_low, row.ci_high, 2)),
        (_head("κ weighted"), lambda row: number(row.kappa_weighted, 3)),
        (_head("κ level"), lambda row: number(row.kappa_level, 3)), (_head("α"), lambda row: number(row.alpha, 3)),
    ]  # fmt: skip
    notes = [
        f"κ: Cohen's, on all grades, with its interval for other {result.evaluated.unit}s of this kind; weighted: by squared"
        f" distance; level: relevant (≥ {result.evaluated.policy.relevance_level}) or not. α: Krippendorff's, ordinal."
    ]
    for row in result.agreement.itertuples():
        if row.human_only or row.judge_only:
            notes.append(f"{row.judge}: {row.human_only:,} more pairs judged by people alone, {row.judge_only:,} by the judge.")
        if row.note:
            notes.append(f"{row.judge}: {row.note}.")
    return result_table(result, "agreement", "How far does the judge agree with people?", columns, " ".join(notes))


def _bias(result: Audit, judge: str | None) -> Table:
    """All pairs of every judge, or all slices of one."""
    rows = result.bias[result.bias["slice"] == ALL] if judge is None else result.bias[result.bias["judge"] == judge]
    shares: list[Shown] = ["human_share", "judge_share", (_head("ratio"), lambda row: number(row.ratio, 2))]
    ratio: Shown = (_head("95 %"), lambda row: number_interval(row.ratio_low, row.ratio_high, 2))
    apart: list[Shown] = [
        (_head("mean", "judge − people"), lambda row: signed(row.mean_difference, 2)),
        (_head("95 %", "judge − people"), lambda row: number_interval(row.ci_low, row.ci_high, 2)),
    ]
    if judge is None:
        told = [verdict(row) for _, row in rows.iterrows()]
        over, under = (told.count(which) for which in ("overrates", "underrates"))
        note = (
            f"Relevant: grade ≥ {result.evaluated.policy.relevance_level}; ratio: judge over people. Judge − people: of the"
            f" grades. Beyond chance, {over} of {counted(len(rows), 'judge')} {verb(over, 'overrates', 'overrate')} and"
            f" {under} {verb(under, 'underrates', 'underrate')}."
        )
        columns = ["judge", *shares, ratio, *apart]
        return result_table(result, "bias", "In which direction does the judge err?", columns, note, rows=rows)
    columns = [(text("Pairs"), lambda row: row.slice.removeprefix("found by ")), "pairs", *shares, *apart]
    note = f"By the depth of the turn, and by the runs that have the passage in their top {FOUND}."
    places = [
        place for place, name in enumerate(rows["slice"]) if place and _kind(name) != _kind(rows["slice"].iloc[place - 1])
    ]
    return result_table(
        result, "bias", f"{judge}: where does it err?", columns, note, rows=rows, rules=places, slug=f"bias-{judge}"
    )


def _kind(name: str) -> str:
    return name.split(" ")[0]


def _confusion(result: Audit, judge: str) -> Table:
    rows = result.confusion[result.confusion["judge"] == judge]
    wide = rows.pivot(index="human", columns="model", values="count")
    columns = ready(text("People"), *(count(str(grade), group="grade of the judge") for grade in wide), _head("same"))
    lines = [(str(grade), *(f"{pairs:,}" for pairs in wide.loc[grade]), percent(_share(wide, grade))) for grade in wide.index]
    return result_table(
        result, "confusion", f"{judge}: which grades does it give?", columns, "Pairs; same: of the row.", rows=lines,
        slug=f"confusion-{judge}",
    )  # fmt: skip


def _share(wide: pd.DataFrame, human: int) -> float:
    total = wide.loc[human].sum()
    return wide.loc[human].get(human, 0) / total if total else math.nan


def _systems(result: Audit) -> Table:
    frame = result.systems
    heads = [_head(title, label) for label in _METHODS.values() for title in ("value", "at least")]
    rows = [
        (
            judge,
            measure_label(metric),
            *(number(end, 3) for pair in zip(part["value"], part["ci_low"], strict=True) for end in pair),
        )
        for (judge, metric), part in frame.groupby(["judge", "metric"], sort=False)
    ]
    note = (
        "On these topics; at least: one-sided 95 % limit for as many other ones. No upper limit is given: noise pulls the"
        " correlation of two rankings down, so that no interval holds what it says."
    )
    apart = [row.judge for row in frame.drop_duplicates("judge").itertuples() if row.note.startswith("people and")]
    if apart:
        first = frame[frame["judge"] == apart[0]].iloc[0]
        note += f" {', '.join(apart)}: different topics, {first['turns']} of people and {first['judge_turns']} of the judge."
    columns = ready(text("Judge"), text("Measure"), *heads)
    return result_table(result, "systems", "Do the systems stand in the same order?", columns, note, rows=rows)


def _conclusions(result: Audit) -> Table:
    columns: list[Shown] = [
        "judge", (text("Measure"), lambda row: measure_label(row.metric)), "pairs", "human_apart", "judge_apart",
        (count("significant", group="opposite order"), lambda row: str(row.reversed)),
        (count("neither", group="opposite order"), lambda row: str(row.swapped)),
        (count("people", group="under one alone"), lambda row: str(row.lost)),
        (count("judge", group="under one alone"), lambda row: str(row.gained)),
    ]  # fmt: skip
    note = (
        f"Significant: adjusted p ≤ {ALPHA:g} by a sign-flip test of whole {result.evaluated.unit}s, max-T over all pairs of"
        " systems of a measure, for people and for each judge. Opposite order: significant under at least one, or neither."
    )
    note += " ".join(["", *dict.fromkeys(f"{found[0].upper()}{found[1:]}." for found in result.conclusions["note"] if found)])
    return result_table(result, "conclusions", "Which conclusions survive?", columns, note)


def _reversals(result: Audit) -> Table:
    rows = result.reversals
    several = result.conclusions["judge"].nunique() > 1
    columns: list[Shown] = ["judge"] if several else []
    columns += [
        (text("Measure"), lambda row: measure_label(row.metric)), "first", "second",
        (_head("people"), lambda row: signed(row.human_difference, 3)),
        (_head("judge"), lambda row: signed(row.judge_difference, 3)), "change",
    ]  # fmt: skip
    note = (
        "First minus second. Reversed: opposite order, significant under at least one; swapped: under neither; lost:"
        " significant under people alone; gained: under the judge alone."
    )
    if len(rows) > _SHOWN:
        note += f" The first {_SHOWN} of {len(rows)}; JSON and CSV have all."
    return result_table(result, "reversals", "Where does the judge say something else?", columns, note, rows=rows.head(_SHOWN))


def _conflicts(result: Audit) -> Table:
    rows = result.conflicts
    note = f"Grades at least two apart, the furthest first: {counted(len(rows), 'pair')}."
    if len(rows) > _SHOWN:
        note += f" The first {_SHOWN}; JSON and CSV have all."
    return result_table(
        result, "conflicts", "Which passages do judge and people see otherwise?",
        ["judge", "turn", "document", "human", "model"], note, rows=rows.head(_SHOWN),
    )  # fmt: skip


def _between(result: Audit) -> Table:
    rows = result.judge_conflicts
    return result_table(
        result, "judge_conflicts", "Which passages do two judges see otherwise?",
        ["first", "second", "turn", "document", "first_grade", "second_grade"],
        f"Grades at least two apart, the furthest first: {counted(len(rows), 'pair')}. JSON and CSV have all.",
        rows=rows.sort_values("difference", key=abs, ascending=False, kind="stable").head(_SHOWN),
    )  # fmt: skip


# ---------------------------------------------------------------- the figure


def _figure(result: Audit, judges: list[str]) -> Figure:
    words = []
    for judge in judges:
        row = result.bias[(result.bias["judge"] == judge) & (result.bias["slice"] == ALL)].iloc[0]
        words.append(
            f"{judge}: {number(100 * row['judge_share'], 0)} % relevant, people {number(100 * row['human_share'], 0)} %; mean"
            f" grade {signed(row['mean_difference'], 2)}"
        )
    more = result.bias["judge"].nunique() - len(judges)
    left_out = f" {counted(more, 'further judge')} in the tables." if more else ""
    caption = (
        "Judge beside people. Left: pairs by both grades, shaded by the share of a row. Middle: mean difference of grades with"
        f" 95 % intervals, over all pairs, by depth of the turn, and by the runs that found the passage in their top {FOUND}."
    )
    if len(result.means):
        caption += " Right: mean scores of the systems; lines join pairs that turn round."
    return Figure("audit", caption + left_out, "Judges beside people. " + "; ".join(words) + ".", lambda: draw(result, judges))


def draw(result: Audit, judges: list[str] | None = None) -> Drawing:
    """The figure of some judges, the first three by default."""
    from robustcs.studies.audit.figure import audit_figure

    return audit_figure([_panel(result, judge) for judge in judges or list(result.bias["judge"].unique())[:_JUDGES]])


def _panel(result: Audit, judge: str) -> JudgePanel:
    from robustcs.studies.audit.figure import JudgePanel

    confusion = result.confusion[result.confusion["judge"] == judge]
    wide = confusion.pivot(index="human", columns="model", values="count")
    bias = result.bias[result.bias["judge"] == judge]
    slices = {row.slice.removeprefix("found by "): (row.mean_difference, row.ci_low, row.ci_high) for row in bias.itertuples()}
    means, metric = result.means[result.means["judge"] == judge], ""
    turned: list[tuple[int, int]] = []
    if len(means):
        metric = headline_measure(means["metric"])
        means = means[means["metric"] == metric]
        place = {run: row for row, run in enumerate(means["run"])}
        pairs = result.reversals[(result.reversals["judge"] == judge) & (result.reversals["metric"] == metric)]
        turned = [(place[row.first], place[row.second]) for row in pairs.itertuples() if row.change in ("reversed", "swapped")]
    return JudgePanel(
        judge, tuple(map(int, wide.index)), wide.to_numpy(dtype=np.float64), slices,
        measure_label(metric) if metric else "", tuple(means["human"]), tuple(means["model"]), tuple(turned),
    )  # fmt: skip


#: Judges that are shown; the tables have all.
_BEST = 10


def overview(result: Audit) -> tuple[Table | Figure, ...]:
    """Agreement beyond chance and bias of the judges, the closest first."""
    found = result.agreement[result.agreement["kappa"].notna()].sort_values("kappa", ascending=False, kind="stable")
    if not len(found):
        return ()
    cut = f" The {_BEST} closest of {counted(len(found), 'judge')}." if len(found) > _BEST else ""
    best = found.head(_BEST)
    bias = result.bias[result.bias["slice"] == ALL].set_index("judge")
    columns: list[Shown] = [
        "judge",
        (number_field("κ"), lambda row: f"{number(row.kappa, 2)} ({number_interval(row.ci_low, row.ci_high, 2)})"),
        (share("calls relevant"), lambda row: percent(bias["judge_share"].get(row.judge, float("nan")))),
        (share("people"), lambda row: percent(bias["human_share"].get(row.judge, float("nan")))),
        (number_field("ratio"), lambda row: number(bias["ratio"].get(row.judge, float("nan")), 2)),
    ]
    note = (
        f"Cohen's κ: 1 is full agreement, 0 that of chance; in brackets its 95 % interval for other {result.evaluated.unit}s."
        " Ratio: passages that the judge calls relevant for each that people do."
    )
    table = result_table(
        result, "agreement", f"How close is each judge to people?{cut}", columns, note, rows=best, slug="overview"
    )
    words = "; ".join(f"{row.judge} {number(row.kappa, 2)}" for row in best.itertuples())
    caption = f"Agreement of judges with people beyond chance (Cohen's κ) with 95 % intervals.{cut}"
    return table, Figure("closest", caption, f"Cohen's κ: {words}.", lambda: _draw(best))


def _draw(rows: pd.DataFrame) -> Drawing:
    from robustcs.documents.forest import MeanPanel, forest

    low, value, high = (rows[name].to_numpy() for name in ("ci_low", "kappa", "ci_high"))
    return forest(
        [str(name) for name in rows["judge"]], [MeanPanel("Agreement with people", low, value, high)], "κ, 95 % interval"
    )
