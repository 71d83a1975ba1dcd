"""Methods of results in Python: display in a notebook, draw the figure, and write the tables.

Formats are those of ``--format``; the figure is that of ``--output NAME.png``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import Figure
from robustcs.errors import UsageError
from robustcs.result import Result
from robustcs.studies.registry import study

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.document import Block

StrPath = str | os.PathLike[str]
#: One table of a result, several, or all of them.
Tables = str | Sequence[str] | None


def _blocks(result: Result, names: Sequence[str] = ()) -> Sequence[Block]:
    return study(result.study).blocks(result, names)


def figures(result: Result) -> dict[str, str]:
    """Return the figures of a result: name → caption. :func:`plot` draws the first."""
    return {block.slug: block.caption for block in _blocks(result) if isinstance(block, Figure)}


def plot(result: Result, figure: str | None = None) -> MatplotlibFigure:
    """Draw the result's first figure, or the one of that name, and return it as a matplotlib figure; save nothing.

    Raises :class:`UsageError` if the result has no figures, or none of that name.
    """
    there = {block.slug: block for block in _blocks(result) if isinstance(block, Figure)}
    if not there:
        raise UsageError("no-figure", f"{result.study} has no figure", "see .tables for its tables")
    if figure is not None and figure not in there:
        raise UsageError("no-figure", f"{result.study} has no figure {figure!r}", f"choose from {', '.join(there)}")
    from robustcs.documents.plots import matplotlib_figure

    return matplotlib_figure(there[figure or next(iter(there))].draw())


def to_csv(result: Result, path: StrPath | None = None, *, table: str | None = None, raw: bool = False) -> str | None:
    """Return or write one table (default: the first) as CSV with 12 significant digits.

    An apostrophe precedes texts that a spreadsheet would run as formulas, unless ``raw``.
    """
    return _data(result, "raw-csv" if raw else "csv", path, table)


def to_json(result: Result, path: StrPath | None = None, *, table: Tables = None) -> str | None:
    """Return or write all tables, or those of ``table``, as JSON with 12 significant digits, policy, inputs and notes."""
    return _data(result, "json", path, table)


def to_latex(result: Result, path: StrPath | None = None, *, table: Tables = None) -> str | None:
    """Return or write all displayed tables, or those of ``table``, as LaTeX (booktabs)."""
    return _text(result, "latex", path, table)


def to_markdown(result: Result, path: StrPath | None = None, *, table: Tables = None) -> str | None:
    """Return or write all displayed tables, or those of ``table``, as Markdown."""
    return _text(result, "markdown", path, table)


def to_html(result: Result, path: StrPath | None = None, *, table: Tables = None) -> str | None:
    """Return or write all displayed tables and figures, or the tables of ``table``, as an HTML fragment without styles."""
    return _text(result, "html", path, table)


def _data(result: Result, form: str, path: StrPath | None, table: Tables) -> str | None:
    from robustcs.documents.forms import data_of

    return _given(data_of(form, result.study, result, result.inputs, _names(table)), path)


def _text(result: Result, form: str, path: StrPath | None, table: Tables) -> str | None:
    from robustcs.documents.forms import text_of

    return _given(text_of(form, result, _blocks(result, _names(table)), _names(table)), path)


def _names(table: Tables) -> Sequence[str]:
    return (table,) if isinstance(table, str) else table or ()


def _given(text: str, path: StrPath | None) -> str | None:
    """Return the text, or write it and return None. Raises :class:`UsageError` if the path is an input."""
    if path is None:
        return text
    from robustcs.documents.files import write_text
    from robustcs.overwrite_guard import refuse_protected

    refuse_protected(path)
    write_text(Path(path), text)
    return None


#: Method of results → function.
METHODS: dict[str, Any] = {
    "plot": plot, "figures": figures, "to_csv": to_csv, "to_json": to_json, "to_latex": to_latex,
    "to_markdown": to_markdown, "to_html": to_html, "_repr_html_": to_html,
}  # fmt: skip
