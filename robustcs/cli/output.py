"""Output of results: to the terminal or to files, in the requested format."""

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
    """Write a result to each ``--output``, or to the terminal; control characters from inputs are made visible there.

    The format is that of ``--format``, else that of the output's suffix, else a table. A suffix in :data:`FIGURE_SUFFIXES`
    writes the figure. Raises :class:`UsageError`, before anything is written, for a table or figure that the result does not
    have and for an unknown suffix.
    """
    from robustcs.documents.document import Figure
    from robustcs.documents.forms import chosen_tables, data_of, text_of
    from robustcs.documents.text import json_visible, visible
    from robustcs.overwrite_guard import refuse_protected

    first, *others = chosen_tables(result, table)
    figures = [block for block in blocks if isinstance(block, Figure)]
    for target in output:
        if not target:
            raise UsageError("no-output", "--output has no file name", "name a file, or - for stdout")
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
                tell(f"csv contains one table, here {first}; write the others with --table: {', '.join(others)}")
            if is_terminal(target):
                text = json_visible(text) if kind == "json" else visible(text)
        else:
            text = text_of(kind, result, blocks, table, target == "-" and sys.stdout.isatty())
        if target == "-":
            # a file format has one encoding, independent of the pipe's
            encoding = sys.stdout.encoding
            encoded = kind != "table" and not sys.stdout.isatty() and not (encoding or "utf").lower().startswith("utf")
            try:
                click.echo(text.encode() if encoded else text, nl=False)
            except BrokenPipeError:  # continue: a gate that fails still sets its exit code
                without_reader()
        else:
            from robustcs.documents.files import write_text

            write_text(target, text)
            tell(f"wrote {target}")


def _kind(target: str, form: str | None, has_figure: bool, command: str) -> str:
    """Return the format of ``target``. Raises :class:`UsageError` for an unknown suffix, or a figure that does not exist."""
    suffix = Path(target).suffix.lower()
    if suffix in FIGURE_SUFFIXES:
        if not has_figure:
            raise UsageError("no-figure", f"{target}: {command} has no figure", "write .csv, .json, .tex, .md or .txt")
        return "figure"
    if form is None and suffix and suffix not in _FORMAT_OF_SUFFIX:
        known = ", ".join((*_FORMAT_OF_SUFFIX, *FIGURE_SUFFIXES))
        raise UsageError("bad-suffix", f"{target}: unknown suffix {suffix}", f"choose {known}, or set --format")
    return form or _FORMAT_OF_SUFFIX.get(suffix, "table")
