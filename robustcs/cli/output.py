"""Where results go: terminal or files, in the form asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustcs import __version__
from robustcs.cli.terminal import is_terminal, tell
from robustcs.errors import UsageError

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

    from robustcs.documents.document import Block, Figure
    from robustcs.result import Result

_FORMAT_OF_SUFFIX = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown", ".txt": "table"}
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Output:
    """Where a result goes: ``--format``, ``--output`` and ``--table`` as the user gave them."""

    format: str | None = None
    output: tuple[str, ...] = ()
    table: tuple[str, ...] = ()


def emit(
    command: str,
    result: Result,
    blocks: Sequence[Block],
    inputs: Sequence[dict[str, Any]],
    options: Output,
) -> None:
    """Write a result to every ``--output``, or to the terminal, which no text of an input may steer.

    The form is ``--format``, else the one of the output's suffix, else a table. Figures are written where the suffix is one
    of :data:`FIGURE_SUFFIXES`. Raises :class:`UsageError` for a table or figure that the result does not have and for an
    unknown suffix, before anything is written.
    """
    tables = _chosen(result.tables, options.table)
    check_outputs(options.output)
    from robustcs.documents.text import json_visible, visible

    kinds = [(target, _kind(target, options.format, blocks, command)) for target in options.output or ("-",)]
    for target, kind in kinds:
        if kind == "figure":
            _write_figure(target, blocks)
            continue
        text = _render(kind, command, result, tables, _shown(result, blocks, options.table), inputs, target)
        if kind in ("csv", "raw-csv", "json") and is_terminal(target):
            text = json_visible(text) if kind == "json" else visible(text)
        if target == "-":
            click.echo(text, nl=False)
        else:
            from robustcs.documents.files import write_text

            write_text(target, text)
            tell(f"wrote {target}")


def check_outputs(targets: Sequence[str]) -> None:
    """Raise :class:`UsageError` for an output without a name, or that is an input, before anything is written."""
    from robustcs.protected import refuse_protected

    for target in targets:
        if not target:
            raise UsageError("no-output", "an output without a name", "name a file, or - for stdout")
        refuse_protected(target)


def _kind(target: str, form: str | None, blocks: Sequence[Block], command: str) -> str:
    """The form in which ``target`` is written; told before anything is."""
    from robustcs.documents.document import Figure

    suffix = Path(target).suffix.lower()
    if suffix in FIGURE_SUFFIXES:
        if not any(isinstance(block, Figure) for block in blocks):
            raise UsageError("no-figure", f"{command} has no figure for {target}", "write .csv, .json, .tex, .md or .txt")
        return "figure"
    if form is None and suffix and suffix not in _FORMAT_OF_SUFFIX:
        known = ", ".join((*_FORMAT_OF_SUFFIX, *FIGURE_SUFFIXES))
        raise UsageError("bad-suffix", f"{target}: nothing is written as {suffix}", f"choose {known}, or say --format")
    return form or _FORMAT_OF_SUFFIX.get(suffix, "table")


def _shown(result: Result, blocks: Sequence[Block], names: Sequence[str]) -> list[Block]:
    """The blocks that show the tables of ``names`` (none: all blocks); a table that has no block is shown as it is."""
    from robustcs.documents.document import Figure, Heading, Table
    from robustcs.documents.tables import plain_tables

    if not names:
        return list(blocks)
    shown: list[Block] = []
    missing = set(names)
    for block in blocks:
        if isinstance(block, Table):
            if block.of not in names:
                continue
            missing.discard(block.of)
        if not isinstance(block, Figure):
            shown.append(block)
    if len(missing) == len(names):
        shown = [block for block in shown if not isinstance(block, Heading)]
    return [*shown, *plain_tables(result, (name for name in names if name in missing))]


def _chosen(tables: dict[str, pd.DataFrame], names: Sequence[str]) -> dict[str, pd.DataFrame]:
    for name in names:
        if name not in tables:
            raise UsageError("no-such-table", f"no table is named {name!r}", f"there are {', '.join(tables)}")
    return {name: frame for name, frame in tables.items() if not names or name in names}


def _render(
    kind: str,
    command: str,
    result: Result,
    tables: dict[str, pd.DataFrame],
    blocks: Sequence[Block],
    inputs: Sequence[dict[str, Any]],
    target: str,
) -> str:
    evaluated = result.evaluated
    if kind == "json":
        from robustcs.documents.data import to_json

        return to_json(command, __version__, evaluated.as_dict(), inputs, tables, evaluated.notes)
    if kind in ("csv", "raw-csv"):
        from robustcs.documents.data import to_csv

        first, *others = tables
        if others:
            tell(f"csv holds one table, here {first}; the others with --table: {', '.join(others)}")
        return to_csv(tables[first], raw=kind == "raw-csv")
    if kind == "latex":
        from robustcs.documents.latex import render_latex

        return render_latex(blocks, evaluated.policy_line, evaluated.notes)
    if kind == "markdown":
        from robustcs.documents.markdown import render_markdown

        return render_markdown(blocks, evaluated.policy_line, evaluated.notes)
    return _terminal_text(blocks, evaluated.policy_line, evaluated.notes, target)


def _terminal_text(blocks: Sequence[Block], policy: str, notes: Sequence[str], target: str) -> str:
    import io

    from rich.console import Console

    from robustcs.documents.terminal import render_terminal

    terminal = target == "-" and sys.stdout.isatty()
    text = io.StringIO()
    columns = os.environ.get("COLUMNS", "")
    width = None if terminal else int(columns) if columns.isdecimal() and int(columns) else 80
    console = Console(file=text, force_terminal=terminal, width=width, no_color=not terminal or "NO_COLOR" in os.environ)
    render_terminal(blocks, policy, notes, console)
    return text.getvalue()


def _write_figure(target: str, blocks: Sequence[Block]) -> None:
    from robustcs.documents.document import Figure
    from robustcs.documents.figures import save_figure

    figures: list[Figure] = [block for block in blocks if isinstance(block, Figure)]
    figure: matplotlib.figure.Figure = figures[0].draw()
    save_figure(figure, target)
    tell(f"wrote {target}")
