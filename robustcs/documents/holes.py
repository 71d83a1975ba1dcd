"""The tables of unjudged passages that several studies show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import Table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import measure_label, number_interval, percent, percent_range, plain, whole_percent
from robustcs.documents.words import number as number_of
from robustcs.evaluation.hole_expectation import FILLED_DEPTH
from robustcs.evaluation.hole_tipping import LARGEST, Kind, kind_of
from robustcs.lazy import pd
from robustcs.result import count, difference, number, share, text
from robustcs.statistics.estimate import LEVELS
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.result import Result

#: How to read :func:`expected_columns`.
EXPECTED_NOTE = (
    f"Expected: with the unjudged passages in the top {FILLED_DEPTH} of all runs here filled in by the model; 95 %: for other"
    " conversations, sampling and unjudged passages together. Holes: share of the measured difference that is expected to be"
    " due to unjudged passages, on these turns; – where the interval of this share leaves 0 to 100%. Holds for: factors on the"
    " odds of relevance of unjudged passages at which the same side is expected ahead."
)


def rates_table(result: Result, rates: pd.DataFrame, depth: int) -> Table:
    """Judged and unjudged passages of the top ``depth`` of every run."""
    columns = ["run", "retrieved", "judged", "unjudged", "share", "short", "missing"]
    if rates["judged_later"].notna().any():
        columns.append("judged_later")
    turns = counted(result.evaluated.turns, "turn")
    note = f"Passages retrieved in the top {depth} of {turns}; share: unjudged of retrieved."
    if depth > 1:
        note += f" Short lists: turns with fewer than {depth} passages."
    return result_table(result, "rates", f"How much of the top {depth} did nobody judge?", columns, note)


def sources_table(result: Result, depth: int) -> Table:
    """Whose grades, of people or of a judge, the top ``depth`` of every run has."""
    return result_table(
        result, "sources", f"Whose grades does the top {depth} have?",
        ["run", "source", "graded", "share", "relevant", "mean_grade"],
        "Of people by the file whose grade stands; of each judge, what it says of passages that people did not grade. Share: of"
        f" the passages retrieved; relevant: of the graded, grade ≥ {result.evaluated.policy.relevance_level}.",
        by="run",
    )  # fmt: skip


def unique_table(result: Result, unique: pd.DataFrame, unique_runs: pd.DataFrame, depth: int) -> Table:
    """Unjudged passages that one run of a group alone finds, run by run and together."""
    rows: list[tuple[str, str, int, int, float]] = []
    rules = []
    for line in unique.itertuples():
        rules.append(len(rows))
        own = unique_runs[unique_runs["group"] == line.group]
        rows += [(line.group, one.run, one.unjudged, one.unique, one.share) for one in own.itertuples()]
        rows.append((line.group, "together", line.unjudged, line.unique, line.share))
    return result_table(
        result, "unique", "How many of the unjudged passages does one run alone find?",
        [
            (text("Group"), lambda row: row[0]), (text("Run"), lambda row: row[1]),
            (count("unjudged"), lambda row: str(row[2])), (count("found by one run only"), lambda row: str(row[3])),
            (share("share"), lambda row: percent(row[4])),
        ],
        f"Top {depth}; a passage counts once for a turn. Runs of a group are compared with one another.",
        rows=rows, rules=rules[1:],
    )  # fmt: skip


def later_grades_table(result: Result, rates: pd.DataFrame, grades: pd.DataFrame, depth: int) -> Table:
    """The grades that the unjudged passages got since."""
    counts = grades.pivot(index="run", columns="grade", values="count")
    totals = counts.sum(axis=1)

    def cell(run: str, grade: int) -> str:
        number, total = counts.loc[run, grade], totals[run]
        return f"{number} ({100 * number / total:.0f} %)" if total else "–"

    columns = [(count(str(grade), group="grade"), lambda row, grade=grade: cell(row.run, grade)) for grade in counts.columns]
    return result_table(
        result, "grades", "Which grades did the unjudged passages get?",
        [(text("Run"), lambda row: row.run), *columns,
         (count("judged since"), lambda row: f"{int(totals[row.run])} of {row.unjudged}")],
        f"Unjudged passages of the top {depth}; shares of those judged since.", rows=rates,
    )  # fmt: skip


def expected_columns(tipping: pd.DataFrame) -> list[Shown]:
    """What a difference probably is, for tables: columns of ``EXPECTED`` as people read them, and how far the model may err."""
    columns: list[Shown] = [
        "expected", (number("95 %"), lambda row: number_interval(row.expected_low, row.expected_high)),
        (share("holes"), lambda row: "–" if math.isnan(row.hole_share) else whole_percent(row.hole_share)),
    ]  # fmt: skip
    return [*columns, (text("holds for"), lambda row: _held(tipping, row))] if len(tipping) else columns


def _held(tipping: pd.DataFrame, row: Any) -> str:
    """``× 0.4 to 3``: the factors between which the order of a row of pairs or drops is the same."""
    first, second = (row.baseline, row.group) if hasattr(row, "baseline") else (row.first, row.second)
    found = tipping_row(tipping, first, second, row.metric, "order")
    if found is None:
        return "–"
    below, above = found["factor_below"], found["factor_above"]
    return f"{f'1/{LARGEST:.0f}' if math.isnan(below) else f'{below:.2g}'} to {LARGEST if math.isnan(above) else above:.2g}"


def drops_table(result: Result, drops: pd.DataFrame, tipping: pd.DataFrame | None = None) -> Table:
    """The table ``drops``: what drops probably are, and how much of them is due to unjudged passages."""
    columns: list[Shown] = [
        (text("Measure"), lambda row: measure_label(row.metric)), "group", "baseline",
        (difference("drop"), lambda row: number_of(row.drop, 4)), *expected_columns(drops[:0] if tipping is None else tipping),
        (share("95 %"), lambda row: percent_range(row.hole_share_low, row.hole_share_high) or "–"),
    ]  # fmt: skip
    note = f"{EXPECTED_NOTE} The last 95 %: of the share of holes."
    return result_table(
        result, "drops", "How much of the drops is due to unjudged passages?", columns, note, rows=drops, by="metric"
    )


def tipping_table(result: Result, tipping: pd.DataFrame) -> Table:
    """The table ``tipping``: how far the model may err before a conclusion is another one."""
    factors: list[Shown] = [
        (number("below", group="changes at odds ×"), lambda row: _factor(row.factor_below)),
        (number("above", group="changes at odds ×"), lambda row: _factor(row.factor_above)),
    ]
    return result_table(
        result, "tipping", "How far may the model be off before a conclusion changes?",
        ["first", "second", (text("Measure"), lambda row: measure_label(row.metric)), "conclusion", "scope", *factors],
        "The odds that an unjudged passage reaches the next grade, times a factor, for all unjudged passages or for those that"
        f" only one of the two found. –: no factor between 1/{LARGEST:.0f} and {LARGEST:.0f} changes the conclusion.",
        rows=tipping, by="metric",
    )  # fmt: skip


def _factor(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2g}"


def tipping_row(
    tipping: pd.DataFrame, first: str, second: str, metric: str, kind: Kind, scope: str = "all"
) -> Mapping[str, Any] | None:
    """Return the row of two sides in either order; None where there is none."""
    rows = tipping[(tipping["metric"] == metric) & (tipping["scope"] == scope)]
    rows = rows[
        ((rows["first"] == first) & (rows["second"] == second)) | ((rows["first"] == second) & (rows["second"] == first))
    ]
    rows = rows[[kind_of(conclusion) == kind for conclusion in rows["conclusion"]]]
    return None if not len(rows) else rows.iloc[0].to_dict()  # type: ignore[no-any-return]


def tipping_sentence(tipping: pd.DataFrame, first: str, second: str, metric: str, significant: bool) -> str:
    """Return what would have to be true for the conclusion to change, as a sentence; empty where nobody looked.

    ``significant``: the difference is; else only which side is expected ahead is in question.
    """
    kind: Kind = "differ" if significant else "order"
    found = [tipping_row(tipping, first, second, metric, kind, scope) for scope in ("all", "unique")]
    if found[0] is None:
        return ""
    ends = [None if row is None else _unless(row) for row in found]
    holds = "The difference stays significant" if significant else "The sign of the expected difference holds"
    if not ends[0]:
        said = f"{holds} for all factors from 1/{LARGEST:.0f} to {LARGEST:.0f} on the odds of relevance of unjudged passages"
        return f"{said}." if not ends[1] else f"{said}, but not if {ends[1]} as high for those that only one of the two found."
    alone = f" (for those that only one of the two found: {ends[1]})" if ends[1] else ""
    return f"{holds} unless the odds of relevance of unjudged passages are {ends[0]} as high as predicted{alone}."


def _unless(row: Mapping[str, Any]) -> str:
    """``less than 0.4 times or more than 3 times``; empty where no factor changes the conclusion."""
    below, above = row["factor_below"], row["factor_above"]
    parts = [] if math.isnan(below) else [f"less than {below:.2g} times"]
    return " or ".join(parts + ([] if math.isnan(above) else [f"more than {above:.2g} times"]))


def expected_drop(drop: float, expected: Mapping[str, Any]) -> str:
    """What a measured ``drop`` probably is, and which share is due to unjudged passages; ``expected``: a row of ``drops``."""
    said = f"With the unjudged passages in the top {FILLED_DEPTH} filled in by the model, the expected drop is"
    if math.isnan(expected["expected_low"]):
        said += f" {plain(expected['expected'])} (too few conversations, or too few that differ, for an interval)."
    else:
        said += (
            f" {plain(expected['expected'])} (95% CI {plain(expected['expected_low'])} to {plain(expected['expected_high'])})."
        )
    if drop <= 0:
        return said
    share, low, high = (expected[f"hole_share{end}"] for end in ("", "_low", "_high"))
    if math.isnan(share) and expected["holes_high"] - expected["holes_low"] > drop:
        return f"{said} The measured drop is too small to tell which share of it is due to unjudged passages."
    if math.isnan(share):  # the interval of the share passes 0
        return f"{said} This does not show that unjudged passages account for any of the measured drop."
    if high == low == 0:
        return f"{said} No drawn grade changes it."
    between = percent_range(low, high)
    return f"{said} Unjudged passages account for {whole_percent(share)} of the measured drop (95% CI {between})."


def is_significant(expected: Mapping[str, Any]) -> bool:
    """Whether an expected difference is other than 0 on other conversations, adjusted over its family."""
    return bool(expected["expected_p"] <= LEVELS[0])
