"""The tables of unjudged passages that several studies show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import Table
from robustcs.documents.tables import Shown, ready, result_table
from robustcs.documents.words import percent_range, plain, whole_percent
from robustcs.evaluation.hole_expectation import FILLED_DEPTH
from robustcs.evaluation.hole_tipping import LARGEST, Kind, kind_of
from robustcs.evaluation.holes import UNIQUE_RUNS
from robustcs.lazy import pd
from robustcs.result import count, number, text
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


def rates_table(result: Result, depth: int) -> list[Table]:
    """Judged and unjudged passages of the top ``depth`` of every run."""
    columns = ["run", "retrieved", "judged", "unjudged", "share", "short", "missing"]
    if result.tables["rates"]["judged_later"].notna().any():
        columns.append("judged_later")
    note = f"Passages retrieved in the top {depth} of {counted(result.evaluated.turns, 'turn')}; share: unjudged of retrieved."
    if depth > 1:
        note += f" Short lists: turns with fewer than {depth} passages."
    return [result_table(result, "rates", f"How much of the top {depth} did nobody judge?", columns, note)]


def sources_table(result: Result, depth: int) -> list[Table]:
    """Whose grades, of people or of a judge, the top ``depth`` of every run has, where there are several sources."""
    if result.tables["sources"]["source"].nunique() < 2:
        return []
    return [result_table(
        result, "sources", f"Whose grades does the top {depth} have?",
        ["run", "source", "graded", "share", "relevant", "mean_grade"],
        "Of people by the file whose grade stands; of each judge, what it says of passages that people did not grade. Share: of"
        f" the passages retrieved; relevant: of the graded, grade ≥ {result.evaluated.policy.relevance_level}.",
        by="run",
    )]  # fmt: skip


def unique_table(result: Result, depth: int) -> list[Table]:
    """Unjudged passages that one of several runs of a group alone finds, run by run and together."""
    if len(result.tables["rates"]) < 2:
        return []
    both = pd.concat([result.tables["unique_runs"], result.tables["unique"].assign(run="together")])
    return [result_table(
        result, "unique", "How many of the unjudged passages does one run alone find?", UNIQUE_RUNS.fields,
        f"Top {depth}; a passage counts once for a turn. Runs of a group are compared with one another.",
        rows=pd.concat([part for _, part in both.groupby("group", sort=False)]), by="group",
    )]  # fmt: skip


def later_grades_table(result: Result, depth: int) -> list[Table]:
    """The grades that the unjudged passages got since, where any did."""
    grades, rates = result.tables["grades"], result.tables["rates"].set_index("run")
    if not len(grades):
        return []
    counts = grades.pivot(index="run", columns="grade", values="count").loc[rates.index]
    rows = [
        (run, *(f"{one} ({100 * one / sum(own):.0f}%)" if sum(own) else "–" for one in own), f"{sum(own)} of {unjudged}")
        for run, own, unjudged in zip(rates.index, counts.to_numpy().tolist(), rates["unjudged"], strict=True)
    ]
    columns = (text("Run"), *(count(str(grade), group="grade") for grade in counts.columns), count("judged since"))
    return [result_table(
        result, "grades", "Which grades did the unjudged passages get?", ready(*columns),
        f"Unjudged passages of the top {depth}; shares of those judged since.", rows=rows,
    )]  # fmt: skip


def expected_columns(tipping: pd.DataFrame | None) -> list[Shown]:
    """What a difference probably is, for tables with the columns of ``EXPECTED``, and how far the model may err."""
    held: Shown = (text("holds for"), lambda row: _held(tipping, row))
    return ["expected", "hole_share", *([] if tipping is None or not len(tipping) else [held])]


def _held(tipping: pd.DataFrame | None, row: Any) -> str:
    """``× 0.4 to 3``: the factors between which the order of a row of pairs or drops is the same."""
    first, second = (row.baseline, row.group) if hasattr(row, "baseline") else (row.first, row.second)
    found = None if tipping is None else tipping_row(tipping, first, second, row.metric, "order")
    if found is None:
        return "–"
    below, above = found["factor_below"], found["factor_above"]
    return f"{f'1/{LARGEST:.0f}' if math.isnan(below) else f'{below:.2g}'} to {LARGEST if math.isnan(above) else above:.2g}"


def drops_table(result: Result) -> list[Table]:
    """The table ``drops``, where it has rows: what drops probably are, and how much of them is due to unjudged passages."""
    if not len(result.tables["drops"]):
        return []
    columns = ["metric", "group", "baseline", "drop", *expected_columns(result.tables.get("tipping"))]
    caption = "How much of the drops is due to unjudged passages?"
    return [result_table(result, "drops", caption, columns, EXPECTED_NOTE, by="metric")]


def tipping_table(result: Result, rows: pd.DataFrame) -> list[Table]:
    """``rows`` of the table ``tipping``: how far the model may err before a conclusion is another one."""

    def factor(end: str) -> Shown:
        return number(end, group="changes at odds ×"), lambda row: _factor(getattr(row, f"factor_{end}"))

    return [result_table(
        result, "tipping", "How far may the model be off before a conclusion changes?",
        ["first", "second", "metric", "conclusion", "scope", factor("below"), factor("above")],
        "The odds that an unjudged passage reaches the next grade, times a factor, for all unjudged passages or for those that"
        f" only one of the two found. –: no factor between 1/{LARGEST:.0f} and {LARGEST:.0f} changes the conclusion.",
        rows=rows, by="metric",
    )] if len(rows) else []  # fmt: skip


def _factor(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2g}"


def tipping_row(
    tipping: pd.DataFrame, first: str, second: str, metric: str, kind: Kind, scope: str = "all"
) -> Mapping[str, Any] | None:
    """Return the row of two sides in either order; None where there is none."""
    rows = tipping[(tipping["metric"] == metric) & (tipping["scope"] == scope) & tipping["conclusion"].map(kind_of).eq(kind)]
    rows = rows[[{*pair} == {first, second} for pair in zip(rows["first"], rows["second"], strict=True)]]
    return rows.iloc[0].to_dict() if len(rows) else None  # type: ignore[no-any-return]


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
    ends = (("less", row["factor_below"]), ("more", row["factor_above"]))
    return " or ".join(f"{word} than {factor:.2g} times" for word, factor in ends if not math.isnan(factor))


def expected_drop(drop: float, expected: Mapping[str, Any]) -> str:
    """What a measured ``drop`` probably is, and which share is due to unjudged passages; ``expected``: a row of ``drops``."""
    interval = f"95% CI {plain(expected['expected_low'])} to {plain(expected['expected_high'])}"
    if math.isnan(expected["expected_low"]):
        interval = "too few conversations, or too few that differ, for an interval"
    said = (
        f"With the unjudged passages in the top {FILLED_DEPTH} filled in by the model, the expected drop is"
        f" {plain(expected['expected'])} ({interval})."
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
