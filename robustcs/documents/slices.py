"""Tables of slices that several studies show."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from robustcs.documents.document import Table
from robustcs.documents.tables import Shown, ready, result_table
from robustcs.documents.words import noted, points, points_interval, signed_interval
from robustcs.documents.words import signed as signed_number
from robustcs.lazy import pd
from robustcs.result import Field, Result, number, text
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
    result: Result, rows: pd.DataFrame, caption: str, field: Field, note: str, slug: str, mean: str = "means"
) -> Table:
    """Return all slicings of one system as one table; ``field`` is the estimate, a column of ``rows``.

    Of slicings with very many slices, only the highest and lowest are shown. ``note`` precedes the common note; ``mean`` is
    the name of the compared estimate.
    """
    shown, left_out = shown_slices(rows, field.name)
    signed, limits = (points, points_interval) if field.unit == "share" else (_signed, signed_interval)

    def rest(row: Any) -> str:
        told = signed(row.difference)
        return told if math.isnan(row.difference_low) else f"{told} ({limits(row.difference_low, row.difference_high)})"

    compared = int(rows["comparisons"].max()) if len(rows) else 0
    unit = result.evaluated.unit
    told = [(f"{row.slicing}: {row.slice}", row.note if row.units >= LEAST_UNITS else "") for row in shown.itertuples()]
    said = (
        f"{note} No interval: fewer than {LEAST_UNITS} {unit}s. − rest: minus the {mean} of"
        f" the other turns. Its interval and p are for one comparison, by exchanging the scores of whole {unit}s; p adj.: max-T"
        f" over {counted(compared, 'comparison')}.{left_out}{noted(told)}"
    )
    columns: list[Shown] = [
        (text("Slice"), lambda row: f"{row.slicing}: {row.slice}"), "turns", estimate_column(field.rounded(3)),
        (number("− rest (95% CI)"), rest), "p_corrected",
    ]  # fmt: skip
    return result_table(result, "slices", caption, columns, said.strip(), rows=shown, by="slicing", slug=slug)


def _signed(value: float) -> str:
    return signed_number(value, 3)


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
    return shown, f" {counted(left, 'slice')} in between are not shown: CSV and JSON have all." if left else ""


def found_table(result: Result, rows: pd.DataFrame, caption: str, system: Shown | None, note: str, tried: int) -> Table:
    """Return the table of found slices, without those that repeat most turns of an earlier one.

    ``system``: the column with the name of the system. If no slice was found, the table says so.
    """
    unit = result.evaluated.unit
    searched = f"exchanging the scores of whole {unit}s"
    if not len(rows):
        said, nothing = f"{counted(tried, 'rule')} tried; p by {searched}.", [(f"no rule reaches p ≤ {ALPHA:g}",)]
        return result_table(result, "found_slices", caption, ready(text("Turns with")), said, rows=nothing, slug="found-slices")
    shown = rows[rows["like"] == ""]
    fields = {field.name: field for field in result.spec("found_slices").fields}
    columns: list[Shown] = [
        *([] if system is None else [system]), "rule", "turns", "units", fields["value"].called("mean").rounded(3),
        *([fields["rest"].rounded(3)] if system is None else []),
        (number("− rest"), lambda row: _signed(row.difference)), (fields["at_most"], lambda row: _signed(row.at_most)), "p",
    ]  # fmt: skip
    again = len(rows) - len(shown)
    said = (
        f"{note} Units: {unit}s with such a turn. 95% upper limit: of the true difference, one-sided; it and p"
        f" are adjusted for all {tried} rules tried, by {searched}. A search selects extremes, so expect a smaller difference"
        f" on other {unit}s."
    )
    if again:
        said += f" {counted(again, 'further rule')} with mostly the same turns: see CSV or JSON."
    return result_table(result, "found_slices", caption, columns, said.strip(), rows=shown, slug="found-slices")
