"""Tables about unjudged passages that several studies show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import TableBlock
from robustcs.documents.tables import Shown, result_table, wide_table
from robustcs.documents.words import percent_range, plain, whole_percent
from robustcs.evaluation.hole_expectation import FILLED_DEPTH
from robustcs.evaluation.hole_tipping import LARGEST, Kind, kind_of
from robustcs.evaluation.holes import UNIQUE
from robustcs.lazy import pd
from robustcs.result import number, text
from robustcs.statistics.estimate import LEVELS
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.result import Result


def rates_table(result: Result, depth: int) -> list[TableBlock]:
    """Return the table of judged and unjudged passages in the top ``depth`` of every run."""
    columns = ["system", "retrieved", "judged", "unjudged", "share", "short", "missing"]
    if any(row.judged_later is not None for row in result.rows("rates")):
        columns.append("judged_later")
    note = f"Passages in the top {depth} of {counted(result.evaluated.turns, 'turn')}. Share: unjudged out of retrieved passages."
    if depth > 1:
        note += f" Short lists: turns with fewer than {depth} passages."
    return [
        result_table(
            result, "rates", f"How many of the top {depth} passages are unjudged?", columns, note
        )
    ]


def sources_table(result: Result, depth: int) -> list[TableBlock]:
    """Return the table of the sources of grades (people, judges) in the top ``depth``, if there are several."""
    if result.tables["sources"]["source"].nunique() < 2:
        return []
    return [result_table(
        result, "sources", f"Who graded the top {depth} passages?",
        ["system", "source", "graded", "share", "relevant", "mean_grade"],
        "Each human grade is listed under the file whose grade is used. Grades of a judge are listed only for passages without"
        " a human grade. Share: out of the retrieved passages; relevant: out of the graded ones, grade ≥"
        f" {result.evaluated.policy.relevance_level}.",
        by="system",
    )]  # fmt: skip


def unique_table(result: Result, depth: int) -> list[TableBlock]:
    """Return the table of unjudged passages that only one run of a group retrieves."""
    if len(result.tables["rates"]) < 2:
        return []
    return [result_table(
        result, "unique", "How many unjudged passages does only one run retrieve?", UNIQUE.fields,
        f"Top {depth}; a passage counts once per turn. Runs are compared with the others of their group.",
    )]  # fmt: skip


def later_grades_table(result: Result, depth: int) -> list[TableBlock]:
    """Return the table of grades that unjudged passages got later, if there are any."""
    if not len(result.tables["grades"]):
        return []
    return [wide_table(
        result, "grades", "Which grades did unjudged passages get later?", ["system"], "grade", ["count"],
        f"Number of passages in the top {depth} that were unjudged.", group="grade",
    )]  # fmt: skip


def expected_columns(tipping: pd.DataFrame | None) -> list[Shown]:
    """Return the columns of an expected difference and, with ``tipping``, of the factors at which its order holds."""
    held: Shown = (text("holds for"), lambda row: _held(tipping, row))
    return ["expected", "hole_share", *([] if tipping is None or not len(tipping) else [held])]


def _held(tipping: pd.DataFrame | None, row: Any) -> str:
    """Return ``0.4 to 3``: the factors between which the order in a row of pairs or drops is the same."""
    first, second = (
        (row.baseline, row.group) if hasattr(row, "baseline") else (row.first, row.second)
    )
    found = None if tipping is None else tipping_row(tipping, first, second, row.metric, "order")
    if found is None:
        return "–"
    below, above = found["factor_below"], found["factor_above"]
    return f"{f'1/{LARGEST:.0f}' if math.isnan(below) else f'{below:.2g}'} to {LARGEST if math.isnan(above) else above:.2g}"


def expected_note(result: Result) -> str:
    """Return how to read :func:`expected_columns`."""
    return (
        f"Expected: the difference after the hole model fills in the unjudged passages in the top {FILLED_DEPTH} of all runs"
        f" here. Its interval covers both the unknown grades and the sampling of {result.evaluated.unit}s. Unjudged: share of"
        " the measured difference expected to be due to unjudged passages, on these turns; –: the interval of this share"
        " extends beyond 0 to 100%. Holds for: the same system remains ahead if the predicted odds of relevance are multiplied"
        " by any factor in this range."
    )


def drops_table(result: Result) -> list[TableBlock]:
    """Return the table of expected drops and the share due to unjudged passages, if it has rows."""
    if not len(result.tables["drops"]):
        return []
    columns = [
        "metric",
        "group",
        "baseline",
        "drop",
        *expected_columns(result.tables.get("tipping")),
    ]
    caption = "How much of each drop is due to unjudged passages?"
    return [result_table(result, "drops", caption, columns, expected_note(result), by="metric")]


def tipping_table(result: Result, rows: pd.DataFrame) -> list[TableBlock]:
    """Return ``rows`` of the table ``tipping``: how wrong the hole model may be before a conclusion changes."""

    def factor(end: str) -> Shown:
        return number(end, group="changes at odds ×"), lambda row: _factor(
            getattr(row, f"factor_{end}")
        )

    cut, every = "", len(result.tables["tipping"])
    if len(rows) < every:
        cut = f" Shown: the {len(rows)} of {every} conclusions nearest to a change; CSV and JSON have all."
    return [result_table(
        result, "tipping", "How wrong may the hole model be before a conclusion changes?",
        ["first", "second", "metric", "conclusion", "scope", factor("below"), factor("above")],
        "The factor multiplies the odds that an unjudged passage reaches the next grade. Scope all: every unjudged passage;"
        " unique: only passages that one of the two retrieved and the other did not."
        f" –: no factor between 1/{LARGEST:.0f} and {LARGEST:.0f} changes the conclusion.{cut}",
        rows=rows, by="metric",
    )] if len(rows) else []  # fmt: skip


def _factor(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2g}"


def tipping_row(
    tipping: pd.DataFrame, first: str, second: str, metric: str, kind: Kind, scope: str = "all"
) -> Mapping[str, Any] | None:
    """Return the row of two sides in either order; None where there is none."""
    rows = tipping[
        (tipping["metric"] == metric)
        & (tipping["scope"] == scope)
        & tipping["conclusion"].map(kind_of).eq(kind)
    ]
    rows = rows[
        [{*pair} == {first, second} for pair in zip(rows["first"], rows["second"], strict=True)]
    ]
    return rows.iloc[0].to_dict() if len(rows) else None  # type: ignore[no-any-return]


def tipping_sentence(
    tipping: pd.DataFrame, first: str, second: str, metric: str, significant: bool
) -> str:
    """Return a sentence with the factors at which the conclusion changes; empty if they were not computed.

    ``significant``: the difference is significant; otherwise the conclusion is only which side is expected ahead.
    """
    kind: Kind = "differ" if significant else "order"
    found = [
        tipping_row(tipping, first, second, metric, kind, scope) for scope in ("all", "unique")
    ]
    if found[0] is None:
        return ""
    every, alone = ("" if row is None else _unless(row) for row in found)
    holds = (
        "The difference stays significant"
        if significant
        else "The sign of the expected difference holds"
    )
    holds += f" unless the odds of relevance of unjudged passages are {every} as high as predicted" if every else (
        f" if the odds of relevance of unjudged passages are multiplied by any factor from 1/{LARGEST:.0f} to {LARGEST:.0f}"
    )  # fmt: skip
    return f"{holds}{f' (for those that only one of the two retrieved: unless {alone})' if alone else ''}."


def _unless(row: Mapping[str, Any]) -> str:
    """Return ``less than 0.4 times or more than 3 times``; empty if no factor changes the conclusion."""
    ends = (("less", row["factor_below"]), ("more", row["factor_above"]))
    return " or ".join(
        f"{word} than {factor:.2g} times" for word, factor in ends if not math.isnan(factor)
    )


def expected_drop(drop: float, expected: Mapping[str, Any]) -> str:
    """Return sentences on the expected drop and the share due to unjudged passages; ``expected``: a row of ``drops``."""
    interval = f"95% CI {plain(expected['expected_low'])} to {plain(expected['expected_high'])}"
    if math.isnan(expected["expected_low"]):
        interval = "no interval: too few sampling units, or too few that differ"
    said = (
        f"With the unjudged passages in the top {FILLED_DEPTH} graded by the hole model, the expected drop is"
        f" {plain(expected['expected'])} ({interval})."
    )
    if drop <= 0:
        return said
    share, low, high = (expected[f"hole_share{end}"] for end in ("", "_low", "_high"))
    if math.isnan(share) and expected["holes_high"] - expected["holes_low"] > drop:
        return (
            f"{said} The measured drop is too small to estimate the share due to unjudged passages."
        )
    if math.isnan(share):  # the interval of the share contains 0
        return f"{said} This does not show that unjudged passages account for any of the measured drop."
    between = percent_range(low, high)
    return f"{said} Unjudged passages account for {whole_percent(share)} of the measured drop (95% CI {between})."


def is_significant(expected: Mapping[str, Any]) -> bool:
    """Return whether an expected difference is significant, adjusted for its family."""
    return bool(expected["expected_p"] <= LEVELS[0])
