"""The tables of slices that several studies show."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import Table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import noted, number, number_interval, p_value, percent, percent_interval, points, points_interval
from robustcs.documents.words import signed as signed_number
from robustcs.documents.words import signed_interval as signed_limits
from robustcs.lazy import pd
from robustcs.result import Field, count, text
from robustcs.result import number as number_field
from robustcs.slicing.search import ALPHA
from robustcs.statistics.estimate import LEAST_UNITS, STABLE_UNITS
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.result import Result

#: A slicing of more slices shows the ends: so many at each.
_ENDS = 3
_MOST = 14

#: How values are written: (value, its interval, a difference, its interval).
Words = tuple[
    Callable[[float], str],
    Callable[[float, float], str],
    Callable[[float], str],
    Callable[[float, float], str],
]


def _three(value: float) -> str:
    return number(value, 3)


def _signed(value: float) -> str:
    return signed_number(value, 3)


SCORES: Words = (_three, number_interval, _signed, signed_limits)
SHARES: Words = (percent, percent_interval, points, points_interval)


def slices_table(
    result: Result, rows: pd.DataFrame, caption: str, field: Field, words: Words, note: str, slug: str, mean: str = "means"
) -> Table:
    """All slicings of one system in one table; ``field`` is what is estimated, ``rows`` have it in the column of its name.

    The ends of slicings with very many slices alone are shown. ``note`` stands before what all such tables say; ``mean`` is
    what is compared.
    """
    shown, left_out = shown_slices(rows, field.name)
    value, limits, difference, its_limits = words

    def interval(row: Any) -> str:
        return f"K = {row.units}" if math.isnan(row.ci_low) and row.units < LEAST_UNITS else limits(row.ci_low, row.ci_high)

    columns: list[Shown] = [
        (text("Slice"), lambda row: f"{row.slicing}: {row.slice}"),
        count("turns"),
        (field, lambda row: value(getattr(row, field.name))),
        (number_field("95 %", group=field.group), interval),
        (number_field("− rest"), lambda row: difference(row.difference)),
        (number_field("95 %", group="− rest").called("95 %"), lambda row: its_limits(row.difference_low, row.difference_high)),
        (number_field("p adj."), lambda row: "–" if math.isnan(row.p_corrected) else p_value(row.p_corrected)),
    ]  # fmt: skip
    compared = int(rows["comparisons"].max()) if len(rows) else 0
    unit = result.evaluated.unit
    said = (
        f"{note} K: {unit}s of a slice with fewer than {LEAST_UNITS}, which gets no interval. − rest: from the {mean} of the"
        f" other turns; interval and p of one comparison, by exchanging the scores of whole {unit}s; p adj.: max-T over"
        f" {counted(compared, 'comparison')}."
    )
    said += left_out
    told = [
        (f"{row.slicing}: {row.slice}", note)
        for row in shown.itertuples()
        if row.units >= LEAST_UNITS
        for note in _parts(row.note)
    ]
    said += noted(told)
    return result_table(result, "slices", caption, columns, said.strip(), rows=shown, by="slicing", slug=slug)


def shown_slices(rows: pd.DataFrame, value: str, *by: str) -> tuple[pd.DataFrame, str]:
    """The rows that are shown, of very many slices those at the ends of ``value``, and what is said of the others.

    ``by``: columns apart from the slicing whose rows belong together.
    """
    parts = []
    for _, part in rows.groupby([*by, "slicing"], sort=False):
        if len(part) > _MOST:
            ordered = part.sort_values(value, kind="stable")
            part = pd.concat([ordered.head(_ENDS), ordered.tail(_ENDS)])
        parts.append(part)
    shown = pd.concat(parts) if parts else rows
    left = len(rows) - len(shown)
    return shown, f" {counted(left, 'slice')} in between: CSV and JSON have all." if left else ""


def _parts(note: str) -> list[str]:
    """The parts of a note, without the numbers in which those of many slices differ."""
    note = re.sub(r"unstable: \d+ (\w+) only", rf"unstable: fewer than {STABLE_UNITS} \1", note)
    note = re.sub(r"carries \d+ % of the spread", "carries most of the spread", note)
    return [part for part in note.split("; ") if part]


def found_table(
    result: Result, rows: pd.DataFrame, caption: str, system: Shown | None, note: str, tried: int, slug: str
) -> Table:
    """Found slices; those that are mostly the turns of an earlier one are left to CSV and JSON.

    ``system``: the column that names whose scores they are. Where nothing was found that is said.
    """
    if not len(rows):
        nothing: list[Shown] = [(text("Turns with"), str)]
        said = f"{counted(tried, 'rule')} tried, by exchanging the scores of whole {result.evaluated.unit}s."
        return result_table(
            result, "found_slices", caption, nothing, said, rows=[f"no rule reaches p ≤ {ALPHA:g}"], slug=slug
        )  # fmt: skip
    shown = rows[rows["like"] == ""]
    rest: Shown = (number_field("rest"), lambda row: _three(row.rest))
    columns: list[Shown] = [
        *([] if system is None else [system]),
        "rule", "turns", "units",
        (number_field("mean"), lambda row: _three(row.value)),
        *([rest] if system is None else []),
        (number_field("− rest"), lambda row: _signed(row.difference)),
        (number_field("at most"), lambda row: _signed(row.at_most)),
        "p",
    ]  # fmt: skip
    again = len(rows) - len(shown)
    unit = result.evaluated.unit
    said = (
        f"{note} Units: {unit}s with such a turn. At most: at 95 % the true difference is no higher; this and p are corrected"
        f" for all {tried} rules tried, by exchanging the scores of whole {unit}s. A search finds what is extreme, so on other"
        f" {unit}s such turns are lower by less."
    )
    if again:
        said += f" {counted(again, 'further rule')} of mostly the same turns: CSV and JSON have them."
    return result_table(result, "found_slices", caption, columns, said.strip(), rows=shown, slug=slug)
