"""Tables of slices that several studies show."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.document import TableBlock
from robustcs.documents.tables import Shown, ready, result_table
from robustcs.documents.words import noted
from robustcs.lazy import pd
from robustcs.result import Field, Result, text
from robustcs.slicing.search import ALPHA
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.wording import counted

#: Slices shown at each end of a slicing with more than ``_MOST`` slices.
_ENDS = 3
_MOST = 14


def estimate_column(field: Field) -> Field:
    """Return the field of an estimate with its interval, which a slice of few units does not have."""
    return replace(field, limits=("ci_low", "ci_high")).called(
        f"{(field.header or field.name).removesuffix(' (95% CI)')} (95% CI)"
    )


def slices_table(
    result: Result,
    rows: pd.DataFrame,
    caption: str,
    field: Field,
    note: str,
    slug: str,
    mean: str = "means",
) -> TableBlock:
    """Return all slicings of one system as one table; ``field`` is the estimate, a column of ``rows``.

    Of slicings with very many slices, only the highest and lowest are shown. ``note`` precedes the common note; ``mean`` is
    the name of the compared estimate.
    """
    shown, left_out = shown_slices(rows, field.name)
    rest = replace(
        result.spec("slices").field("difference").called("− rest (95% CI)").rounded(3),
        unit="points" if field.unit == "share" else "difference", limits=("difference_low", "difference_high"),
    )  # fmt: skip
    compared = int(rows["comparisons"].max()) if len(rows) else 0
    unit = result.evaluated.unit
    told = [
        (f"{row.slicing}: {row.slice}", row.note if row.units >= LEAST_UNITS else "")
        for row in shown.itertuples()
    ]
    said = (
        f"{note} No interval: fewer than {LEAST_UNITS} {unit}s. − rest: minus the {mean} of"
        f" the other turns. Its interval and p are for one comparison, by exchanging the scores of whole {unit}s; p adj.: max-T"
        f" over {counted(compared, 'comparison')}.{left_out}{noted(told)}"
    )
    columns: list[Shown] = [
        (text("Slice"), lambda row: f"{row.slicing}: {row.slice}"), "turns", estimate_column(field.rounded(3)),
        rest, "p_corrected",
    ]  # fmt: skip
    return result_table(
        result, "slices", caption, columns, said.strip(), rows=shown, by="slicing", slug=slug
    )


def shown_slices(rows: pd.DataFrame, value: str, *by: str) -> tuple[pd.DataFrame, str]:
    """Return the rows to show and a sentence about the others; of very many slices, those at the ends of ``value``.

    ``by``: columns, in addition to the slicing, by which rows are grouped.
    """
    parts = []
    for _, part in rows.groupby([*by, "slicing"], sort=False):
        if len(part) > _MOST:
            ordered = part.sort_values(value, kind="stable")
            part = pd.concat([ordered.head(_ENDS), ordered.tail(_ENDS)])
        parts.append(part)
    shown = pd.concat(parts) if parts else rows
    left = len(rows) - len(shown)
    return (
        shown,
        f" {counted(left, 'slice')} in between are not shown: CSV and JSON have all."
        if left
        else "",
    )


def found_table(
    result: Result, rows: pd.DataFrame, caption: str, system: Shown | None, note: str, tried: int
) -> TableBlock:
    """Return the table of found slices, without those that repeat most turns of an earlier one.

    ``system``: the column with the name of the system. If no slice was found, the table says so.
    """
    unit = result.evaluated.unit
    searched = f"exchanging the scores of whole {unit}s"
    if not len(rows):
        said, nothing = (
            f"{counted(tried, 'rule')} tried; p by {searched}.",
            [(f"no rule reaches p ≤ {ALPHA:g}",)],
        )
        return result_table(
            result,
            "found_slices",
            caption,
            ready(text("Turns with")),
            said,
            rows=nothing,
            slug="found-slices",
        )
    shown = rows[rows["like"] == ""]
    named, rest = ([], ["rest"]) if system is None else ([system], [])
    columns: list[Shown] = [
        *named,
        "rule",
        "turns",
        "units",
        "value",
        *rest,
        "difference",
        "at_most",
        "p",
    ]
    again = len(rows) - len(shown)
    said = (
        f"{note} Units: {unit}s with such a turn. 95% upper limit: of the true difference, one-sided; it and p"
        f" are adjusted for all {tried} rules tried, by {searched}. A search selects extremes, so expect a smaller difference"
        f" on other {unit}s."
    )
    if again:
        said += f" {counted(again, 'further rule')} with mostly the same turns: see CSV or JSON."
    return result_table(
        result, "found_slices", caption, columns, said.strip(), rows=shown, slug="found-slices"
    )
