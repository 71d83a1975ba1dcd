"""Where results go: terminal or files, in the form asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustcs.cli.terminal import is_terminal, tell, without_reader
from robustcs.errors import UsageError
from robustcs.lazy import Drawing

if TYPE_CHECKING:
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
    from robustcs.documents.forms import chosen_tables

    chosen_tables(result, options.table)
    check_outputs(options.output)
    from robustcs.documents.text import json_visible, visible

    kinds = [(target, _kind(target, options.format, blocks, command)) for target in options.output or ("-",)]
    for target, kind in kinds:
        if kind == "figure":
            _write_figure(target, blocks)
            continue
        text = _render(kind, command, result, blocks, inputs, options, target)
        if kind in ("csv", "raw-csv", "json") and is_terminal(target):
            text = json_visible(text) if kind == "json" else visible(text)
        if target == "-":
            # a file format has one encoding, whatever that of the pipe
            encoded = kind != "table" and not sys.stdout.isatty() and not _in_unicode(sys.stdout.encoding)
            try:
                click.echo(text.encode() if encoded else text, nl=False)
            except BrokenPipeError:  # the command goes on: a gate that fails still says so by its exit code
                without_reader()
        else:
            from robustcs.documents.files import write_text

            write_text(target, text)
            tell(f"wrote {target}")


def _in_unicode(encoding: str | None) -> bool:
    return encoding is None or encoding.lower().startswith("utf")


def check_outputs(targets: Sequence[str]) -> None:
    """Raise :class:`UsageError` for an output without a name, or that is an input, before anything is written."""
    from robustcs.overwrite_guard import refuse_protected

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


def _render(
    kind: str,
    command: str,
    result: Result,
    blocks: Sequence[Block],
    inputs: Sequence[dict[str, Any]],
    options: Output,
    target: str,
) -> str:
    from robustcs.documents.forms import chosen_tables, data_of, text_of

    if kind in ("csv", "raw-csv", "json"):
        first, *others = chosen_tables(result, options.table)
        if others and kind != "json":
            tell(f"csv holds one table, here {first}; the others with --table: {', '.join(others)}")
        return data_of(kind, command, result, inputs, options.table)
    terminal = target == "-" and sys.stdout.isatty()
    return text_of(kind, result, blocks, options.table, terminal)


def _write_figure(target: str, blocks: Sequence[Block]) -> None:
    from robustcs.documents.document import Figure
    from robustcs.documents.figures import save_figure

    figures: list[Figure] = [block for block in blocks if isinstance(block, Figure)]
    figure: Drawing = figures[0].draw()
    save_figure(figure, target)
    tell(f"wrote {target}")
