"""The tables of unjudged passages that several studies show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import Table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import measure_label, number_interval, percent, plain
from robustcs.documents.words import number as number_of
from robustcs.evaluation.hole_expectation import FILLED_DEPTH
from robustcs.result import count, difference, number, share, text
from robustcs.wording import counted

if TYPE_CHECKING:
    import pandas as pd

    from robustcs.result import Result

#: How to read :func:`expected_columns`.
EXPECTED_NOTE = (
    f"Expected: had the top {FILLED_DEPTH} of all runs here been judged, by grades that the hole model draws; 95 %: for other"
    " conversations, sampling and unjudged passages together. Holes: share of the measured difference that is expected to be"
    " due to unjudged passages, on these turns."
)
#: A share of a drop is not told where its interval is wider: the drop is too small to be divided.
_READABLE = 2.0


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


def expected_columns() -> list[Shown]:
    """What a difference probably is, for tables: the columns ``EXPECTED`` as people read them."""
    return [
        "expected", (number("95 %"), lambda row: number_interval(row.expected_low, row.expected_high)),
        (share("holes"), lambda row: f"{_whole(row.hole_share)} %" if _readable(row) else "–"),
    ]  # fmt: skip


def drops_table(result: Result, drops: pd.DataFrame) -> Table:
    """The table ``drops``: what drops probably are, and how much of them is holes."""
    columns: list[Shown] = [
        (text("Measure"), lambda row: measure_label(row.metric)), "group", "baseline",
        (difference("drop"), lambda row: number_of(row.drop, 4)), *expected_columns(),
        (share("95 %"), lambda row: _ends(row.hole_share_low, row.hole_share_high) if _readable(row) else "–"),
    ]  # fmt: skip
    note = f"{EXPECTED_NOTE} The last 95 %: of that share."
    return result_table(result, "drops", "How much of the drops is holes?", columns, note, rows=drops, by="metric")


def _readable(row: Any) -> bool:
    return bool(row.hole_share_high - row.hole_share_low <= _READABLE)


def expected_drop(drop: float, expected: Mapping[str, Any]) -> str:
    """What a measured ``drop`` probably is, and how much of it is holes; ``expected``: the columns ``EXPECTED`` as a row."""
    text = (
        f"Had the top {FILLED_DEPTH} of all runs here been judged, a drop of {plain(expected['expected'])} is expected on other"
        " conversations"
    )
    if math.isnan(expected["expected_low"]):
        text += ", for which too few conversations are here to give an interval"
    else:
        low, high = plain(expected["expected_low"]), plain(expected["expected_high"])
        text += f" (95 % interval {low} to {high}, sampling and unjudged passages together)"
    share, low, high = (expected[f"hole_share{end}"] for end in ("", "_low", "_high"))
    if drop <= 0 or not high - low <= _READABLE:
        return f"{text}."
    if high == low:
        return f"{text}; no grade was drawn that changes it."
    return (
        f"{text}; on these turns {_whole(share)} % of the measured drop is due to unjudged passages (95 % interval"
        f" {_ends(low, high)} %)."
    )


def _ends(low: float, high: float) -> str:
    return f"{_whole(low)} to {_whole(high)}"


def _whole(share: float) -> str:
    return plain(round(100 * share) + 0.0, 0)
