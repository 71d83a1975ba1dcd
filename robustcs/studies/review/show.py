"""Tables of reviewed turns, and a figure of the shares of all turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustcs.documents.bins import marks
from robustcs.documents.document import Block, Figure, TableBlock
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import whole_percent
from robustcs.lazy import pd
from robustcs.result import text
from robustcs.statistics.finite import FINITE_DIFFERENCE_METHOD, FINITE_SHARE_METHOD
from robustcs.studies.review.analysis import NONE, Reviews
from robustcs.wording import counted, system_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.style import Width

#: Rows of a crossing that are printed; JSON and CSV contain all.
_ROWS = 20


def show(result: Reviews) -> tuple[Block, ...]:
    """Return the categories with their figure, crossings, differences between systems, and agreement."""
    return (
        *_figure(result),
        _categories(result),
        *_crossings(result),
        *_differences(result),
        *_coders(result),
    )


def _whose(result: Reviews, *names: str) -> list[str]:
    """Return those of the columns systems and coder that have several values."""
    frame = result.categories
    several = [name for name in ("systems", "coder") if frame[name].nunique() > 1]
    return [name for name in (names or several) if name in several]


def _samples(result: Reviews) -> str:
    """Return the samples in words, and the method of their intervals."""
    frame = result.categories
    samples = "; ".join(dict.fromkeys(frame["sample"]))
    said = f"Sample: {samples}. "
    if frame["random"].any():
        said += f"95% CI for all turns from which it was drawn: {FINITE_SHARE_METHOD}, not adjusted for multiple comparisons."
    for note in dict.fromkeys(frame.loc[~frame["random"].astype(bool), "note"]):
        said += f" {note[0].upper()}{note[1:]}."
    return said.replace(".  ", ". ").replace("  ", " ")


def _categories(result: Reviews) -> TableBlock:
    columns = ["category", *_whose(result), "count", "reviewed", "share"]
    note = f"{_samples(result)} A turn may have several categories; {NONE}: reviewed, but no category fits."
    return result_table(
        result,
        "categories",
        "How frequent is each category?",
        columns,
        note,
        by=next(iter(_whose(result)), None),
    )


def _figure(result: Reviews) -> list[Figure]:
    """Return the shares with intervals, one panel for each system and coder; empty without a random sample."""
    frame = result.categories[
        result.categories["random"].astype(bool) & (result.categories["category"] != NONE)
    ]
    if not len(frame):
        return []
    words = "; ".join(f"{row.category} {whole_percent(row.share)}" for row in frame.itertuples())
    return [
        Figure(
            "categories",
            "Share of all turns by category, with 95% CI",
            f"{words}.",
            lambda width: _drawn(width, frame),
        )
    ]


def _drawn(width: Width, frame: pd.DataFrame) -> MatplotlibFigure:
    from robustcs.documents.forest import MeanPanel, forest

    names = list(dict.fromkeys(frame["category"]))
    panels = []
    for (systems, coder, _), part in frame.groupby(["systems", "coder", "sample"], sort=False):
        rows = part.set_index("category").reindex(names)
        title = " · ".join(filter(None, (system_name(systems), coder)))
        panels.append(
            MeanPanel(
                title,
                *(100 * rows[name].to_numpy(float) for name in ("ci_low", "share", "ci_high")),
            )
        )
    return forest(width, names, panels, "share of all turns in %, 95% CI")


def _crossings(result: Reviews) -> list[TableBlock]:
    tables = []
    for by, part in result.crossings.groupby("by", sort=False):
        shown = part[(part["count"] > 0) & (part["category"] != NONE)]
        of = ["of_system"] if shown["of_system"].nunique() > 1 else []
        value = (
            text(str(by)),
            lambda row: marks(row.value) if set(row.value) <= set("01-") else row.value,
        )
        columns: list[Shown] = [
            *of,
            value,
            "category",
            *_whose(result),
            "count",
            "reviewed",
            "share",
        ]
        note = f"Share of the reviewed turns with this value. {_samples(result)}"
        if len(shown):
            caption = f"Which categories occur with which {by}?"
            tables.append(
                result_table(result, "crossings", caption, columns, note, rows=shown, most=_ROWS)
            )
    return tables


def _differences(result: Reviews) -> list[TableBlock]:
    if not len(result.differences):
        return []
    coder = _whose(result, "coder")
    columns = [
        "category",
        "first",
        "second",
        *coder,
        "turns",
        "both",
        "only_first",
        "only_second",
        "difference",
    ]
    separates: Shown = (
        text("separates"),
        lambda row: {True: "yes", False: "no"}.get(row.separates, "–"),
    )
    last: list[Shown] = [separates] if result.differences["separates"].notna().any() else []
    note = (
        f"Difference in percentage points. 95% CI for all turns: {FINITE_DIFFERENCE_METHOD}; a category separates two systems if the"
        " interval adjusted for all comparisons of the sample (Bonferroni) excludes 0."
        if last else "Difference in percentage points; no interval, because the sample is not random."
    )  # fmt: skip
    return [
        result_table(
            result, "differences", "Which categories separate two systems?", [*columns, *last], note
        )
    ]


def _coders(result: Reviews) -> list[TableBlock]:
    if not len(result.coders):
        return []
    columns = ["first", "second", "category", "kappa", "turns", "both", "only_first", "only_second"]
    units = counted(result.evaluated.units, result.evaluated.unit)
    note = f"Cohen's κ of having the category or not. 95% CI: nested bootstrap-t over {units}."
    return [
        result_table(
            result, "coders", "Do the coders agree?", columns, note + notes_in(result.coders)
        )
    ]


def notes_in(frame: pd.DataFrame) -> str:
    """Return the caveats of the rows, each once, with the categories that have them."""
    said = ""
    for note, part in frame[frame["note"] != ""].groupby("note", sort=False):
        said += f" {str(note)[0].upper()}{str(note)[1:]} ({', '.join(dict.fromkeys(part['category']))})."
    return said
