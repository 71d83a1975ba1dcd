"""Where results go: terminal or files, in the form asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustcs.cli.terminal import is_terminal, tell, without_reader
from robustcs.errors import UsageError

if TYPE_CHECKING:
    from robustcs.documents.document import Block
    from robustcs.result import Result

_FORMAT_OF_SUFFIX = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown", ".txt": "table"}
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")


def emit(
    command: str, result: Result, blocks: Sequence[Block], inputs: Sequence[dict[str, Any]],
    *, format: str | None = None, output: Sequence[str] = (), table: Sequence[str] = (),
) -> None:  # fmt: skip
    """Write a result to every ``--output``, or to the terminal, which no text of an input may steer.

    The form is ``--format``, else the one of the output's suffix, else a table. Figures are written where the suffix is one
    of :data:`FIGURE_SUFFIXES`. Raises :class:`UsageError` for a table or figure that the result does not have and for an
    unknown suffix, before anything is written.
    """
    from robustcs.documents.document import Figure
    from robustcs.documents.forms import chosen_tables, data_of, text_of
    from robustcs.documents.text import json_visible, visible
    from robustcs.overwrite_guard import refuse_protected

    first, *others = chosen_tables(result, table)
    figures = [block for block in blocks if isinstance(block, Figure)]
    for target in output:
        if not target:
            raise UsageError("no-output", "an output without a name", "name a file, or - for stdout")
        refuse_protected(target)
    kinds = [(target, _kind(target, format, bool(figures), command)) for target in output or ("-",)]
    for target, kind in kinds:
        if kind == "figure":
            from robustcs.documents.figures import save_figure

            save_figure(figures[0].draw(), target)
            tell(f"wrote {target}")
            continue
        if kind in ("csv", "raw-csv", "json"):
            text = data_of(kind, command, result, inputs, table)
            if others and kind != "json":
                tell(f"csv holds one table, here {first}; the others with --table: {', '.join(others)}")
            if is_terminal(target):
                text = json_visible(text) if kind == "json" else visible(text)
        else:
            text = text_of(kind, result, blocks, table, target == "-" and sys.stdout.isatty())
        if target == "-":
            # a file format has one encoding, whatever that of the pipe
            encoding = sys.stdout.encoding
            encoded = kind != "table" and not sys.stdout.isatty() and not (encoding or "utf").lower().startswith("utf")
            try:
                click.echo(text.encode() if encoded else text, nl=False)
            except BrokenPipeError:  # the command goes on: a gate that fails still says so by its exit code
                without_reader()
        else:
            from robustcs.documents.files import write_text

            write_text(target, text)
            tell(f"wrote {target}")


def _kind(target: str, form: str | None, has_figure: bool, command: str) -> str:
    """The form in which ``target`` is written; told before anything is."""
    suffix = Path(target).suffix.lower()
    if suffix in FIGURE_SUFFIXES:
        if not has_figure:
            raise UsageError("no-figure", f"{command} has no figure for {target}", "write .csv, .json, .tex, .md or .txt")
        return "figure"
    if form is None and suffix and suffix not in _FORMAT_OF_SUFFIX:
        known = ", ".join((*_FORMAT_OF_SUFFIX, *FIGURE_SUFFIXES))
        raise UsageError("bad-suffix", f"{target}: nothing is written as {suffix}", f"choose {known}, or say --format")
    return form or _FORMAT_OF_SUFFIX.get(suffix, "table")
