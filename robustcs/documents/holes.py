"""The tables of unjudged passages that several studies show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustcs.documents.document import Table
from robustcs.documents.tables import result_table
from robustcs.documents.words import percent
from robustcs.result import count, share, text
from robustcs.wording import counted

if TYPE_CHECKING:
    import pandas as pd

    from robustcs.result import Result


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
