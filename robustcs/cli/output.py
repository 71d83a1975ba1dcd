"""Where results go: terminal or files, in the form asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustcs import __version__
from robustcs.errors import UsageError

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

    from robustcs.analyses.result import Result
    from robustcs.cli.options import Options
    from robustcs.reports.document import Block, Figure

_FORMAT_OF_SUFFIX = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown", ".txt": "table"}
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")


def emit(
    command: str,
    result: Result,
    blocks: Sequence[Block],
    inputs: Sequence[dict[str, Any]],
    options: Options,
) -> None:
    """Write a result to every ``--output``, or to the terminal.

    The form is ``--format``, else the one of the output's suffix, else a table. Figures are written where the suffix is one
    of :data:`FIGURE_SUFFIXES`. Raises :class:`UsageError` for a table or figure that the result does not have.
    """
    tables = _chosen(result.tables, options.table)
    if options.table:
        from robustcs.reports.document import Table

        slugs = tuple(options.table)
        blocks = [block for block in blocks if not isinstance(block, Table) or block.slug.startswith(slugs)]
    for target in options.output or ("-",):
        suffix = Path(target).suffix.lower()
        if suffix in FIGURE_SUFFIXES:
            _write_figure(target, blocks, command)
            continue
        kind = options.format or _FORMAT_OF_SUFFIX.get(suffix, "table")
        text = _render(kind, command, result, tables, blocks, inputs, target)
        if target == "-":
            click.echo(text, nl=False)
        elif text is not None:
            from robustcs.reports.files import write_text

            write_text(target, text)
            _tell(f"wrote {target}")


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
        from robustcs.reports.data import to_json

        policy = {**evaluated.policy.as_dict(), "basis": evaluated.basis, "turns": evaluated.turns,
                  "missing_turns": evaluated.missing, "line": evaluated.policy_line}  # fmt: skip
        return to_json(command, __version__, policy, inputs, tables, evaluated.notes)
    if kind == "csv":
        from robustcs.reports.data import to_csv

        first, *others = tables
        if others:
            _tell(f"csv holds one table, here {first}; the others with --table: {', '.join(others)}")
        return to_csv(tables[first])
    if kind == "latex":
        from robustcs.reports.latex import render_latex

        return render_latex(blocks, evaluated.policy_line, evaluated.notes)
    if kind == "markdown":
        from robustcs.reports.markdown import render_markdown

        return render_markdown(blocks, evaluated.policy_line, evaluated.notes)
    return _terminal_text(blocks, evaluated.policy_line, evaluated.notes, target)


def _terminal_text(blocks: Sequence[Block], policy: str, notes: Sequence[str], target: str) -> str:
    import io

    from rich.console import Console

    from robustcs.reports.terminal import render_terminal

    terminal = target == "-" and sys.stdout.isatty()
    text = io.StringIO()
    width = None if terminal else int(os.environ.get("COLUMNS", "80") or 80)
    console = Console(file=text, force_terminal=terminal, width=width, no_color=not terminal or "NO_COLOR" in os.environ)
    render_terminal(blocks, policy, notes, console)
    return text.getvalue()


def _write_figure(target: str, blocks: Sequence[Block], command: str) -> None:
    from robustcs.reports.document import Figure
    from robustcs.reports.figures import save_figure

    figures: list[Figure] = [block for block in blocks if isinstance(block, Figure)]
    if not figures:
        raise UsageError("no-figure", f"{command} has no figure for {target}", "write .csv, .json, .tex, .md or .txt")
    figure: matplotlib.figure.Figure = figures[0].draw()
    save_figure(figure, target)
    _tell(f"wrote {target}")


def _tell(message: str) -> None:
    click.echo(message, err=True)
