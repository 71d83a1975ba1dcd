"""Output: results to the terminal or to files, messages without control characters, progress, reports of unexpected errors."""

from __future__ import annotations

import codecs
import os
import platform
import re
import shlex
import sys
import tempfile
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustcs.errors import UsageError
from robustcs.overwrite_guard import refuse_protected
from robustcs.version import __version__

if TYPE_CHECKING:
    from robustcs.documents.document import Block
    from robustcs.result import Result, TableSpec

_FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".json": "json",
    ".tex": "latex",
    ".md": "markdown",
    ".txt": "table",
}
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
#: Formats of tables as data, without displayed blocks.
_DATA = ("csv", "raw-csv", "json")

#: Characters of an unexpected error that its message shows.
_LONGEST = 200

#: Replacements for characters that the encoding of a terminal or pipe does not have, if removing accents does not help.
_NEAREST = str.maketrans({
    "─": "-", "━": "=", "│": "|", "–": "-", "—": "-", "−": "-", "·": "-", "≥": ">=", "≤": "<=", "×": "x", "✓": "+", "✗": "x",
    "→": "->", "±": "+-",
    "“": '"', "”": '"', "‘": "'", "’": "'", "κ": "kappa", "τ": "tau", "ρ": "rho", "α": "alpha", "ω": "omega", "Δ": "Delta",
})  # fmt: skip


def usable_streams() -> None:
    """Let stdout and stderr write every text: replace characters that their encoding does not have by similar ones."""
    codecs.register_error("robustcs.nearest", _nearest)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="robustcs.nearest")


def _nearest(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(_NEAREST)
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "replace").decode("ascii")
    return plain, error.end


def without_reader() -> None:
    """Discard further output after the reader closed stdout, so that the interpreter prints no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def usable_width() -> None:
    """Unset ``COLUMNS`` and ``LINES``, which several libraries read, unless they are numbers up to 9999."""
    for name in ("COLUMNS", "LINES"):
        if not re.fullmatch("[1-9][0-9]{0,3}", os.environ.get(name, "80")):
            del os.environ[name]


def tell(message: str) -> None:
    """Print one line on stderr."""
    click.echo(harmless(message), err=True)


def agreed(question: str) -> bool:
    """Ask a yes/no question on the terminal; return False if there is no terminal."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        return False


def harmless(message: str) -> str:
    """Make control characters other than line ends visible; messages quote texts and names of input files."""
    return "".join(
        char if char == "\n" or char.isprintable() else _escape(char) for char in message
    )


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"


def track(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """Return the same items; on a terminal show a transient progress bar. ``total`` 0 means an unknown number."""
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(
        items, description=what, total=total or None, console=Console(stderr=True), transient=True
    )


def unforeseen(error: Exception, arguments: Sequence[str]) -> str:
    """Return one line about an unexpected error; write the traceback to a new file in the temporary folder."""
    said = " ".join(str(error).split())
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    what = f"internal error ({what if len(what) <= _LONGEST else f'{what[:_LONGEST]}…'})"
    text = (
        f"robustcs {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"robustcs {shlex.join(arguments)}\n\n{''.join(traceback.format_exception(error))}"
    )
    try:
        handle, path = tempfile.mkstemp(prefix="robustcs-error-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return f"{what}; run the command again with --traceback and send its output to the project's issue tracker"
    return f"{what}; please report it to the project's issue tracker and attach {path}"


def emit(
    command: str, result: Result, show: Callable[[], Sequence[Block]], inputs: Callable[[], Sequence[dict[str, Any]]],
    *, format: str | None = None, output: Sequence[str] = (), table: Sequence[str] = (),
) -> None:  # fmt: skip
    """Write a result to each ``--output``, or to the terminal; control characters from inputs are made visible there.

    The format is that of ``--format``, else that of the output's suffix, else a table. A suffix in :data:`FIGURE_SUFFIXES`
    writes the figure. Raises :class:`UsageError`, before anything is written, for a table or figure that the result does not
    have, for an unknown suffix, and for an existing file of data. ``show`` returns the displayed blocks, and is not called for
    CSV and JSON; ``inputs`` is called only for JSON, which alone contains checksums.
    """
    from robustcs.documents.document import Figure
    from robustcs.documents.forms import chosen_tables, data_of, text_of
    from robustcs.documents.text import json_visible, visible

    first, *others = chosen_tables(result, table)
    on_terminal = sys.stdout.isatty()
    for target in output:
        if target != "-":
            refuse_data(target, result.declared)
    kinds = [(target, _kind(target, format)) for target in output or ("-",)]
    blocks = show() if any(kind not in _DATA for _, kind in kinds) else ()
    figures = [block for block in blocks if isinstance(block, Figure)]
    for target, kind in kinds:
        if kind == "figure" and not figures:
            raise UsageError(
                "no-figure",
                f"{target}: {command} has no figure",
                "write .csv, .json, .tex, .md or .txt",
            )
    for target, kind in kinds:
        if kind == "figure":
            from robustcs.documents.figures import save_figure

            save_figure(figures[0], target)
            tell(f"wrote {target}")
            continue
        if kind in _DATA:
            text = data_of(kind, command, result, inputs() if kind == "json" else (), table)
            if others and kind != "json":
                tell(
                    f"csv contains one table, here {first}; write the others with --table: {', '.join(others)}"
                )
            if target == "-" and on_terminal:
                text = json_visible(text) if kind == "json" else visible(text)
        else:
            text = text_of(kind, result, blocks, table, target == "-" and on_terminal)
        if target == "-":
            # a file format has one encoding, independent of the pipe's
            encoded = (
                kind != "table"
                and not on_terminal
                and not (sys.stdout.encoding or "utf").lower().startswith("utf")
            )
            try:
                click.echo(text.encode() if encoded else text, nl=False)
            except BrokenPipeError:  # continue: a gate that fails still sets its exit code
                without_reader()
        else:
            from robustcs.documents.files import write_text

            write_text(target, text)
            tell(f"wrote {target}")


def refuse_data(target: str, tables: Sequence[TableSpec] = ()) -> None:
    """Raise :class:`UsageError` if ``target`` is an input, or a file of data and not an earlier output of ``tables``."""
    from robustcs.inputs.sniff import identify

    refuse_protected(target)
    found = identify(target) if os.path.isfile(target) else None
    if found is None or not found.certain:
        return
    with open(target, encoding="utf-8", errors="replace") as file:
        start = file.read(4096).removeprefix("collection,")
    heads = tuple(",".join(field.name for field in spec.fields) for spec in tables)
    if not (start.startswith(heads) or "───" in start):
        advice = "remove it, or choose another name for the output"
        raise UsageError("overwrites-data", f"{target} exists, and {found.says}", advice)


def check_output(given: Mapping[str, Any]) -> None:
    """Check ``--output`` before anything is computed, with ``--format`` and ``--table``.

    Raises :class:`UsageError` for an input or unknown suffix, and if only figures are written, which have no table or format.
    """
    for target in given["output"]:
        if not target:
            raise UsageError("no-name", "--output has no file name", "name a file; - is stdout")
        refuse_protected(target)
    kinds = {_kind(target, given["format"]) for target in given["output"]}
    for name in ("format", "table"):
        if given[name] and kinds == {"figure"}:
            advice = "leave it out, or add an --output for the table"
            raise UsageError("idle-option", f"--{name} has no effect on a figure", advice)


def _kind(target: str, form: str | None) -> str:
    """Return the format of ``target``. Raises :class:`UsageError` for an unknown suffix."""
    suffix = Path(target).suffix.lower()
    if suffix in FIGURE_SUFFIXES:
        return "figure"
    if form is None and suffix and suffix not in _FORMAT_OF_SUFFIX:
        known = ", ".join((*_FORMAT_OF_SUFFIX, *FIGURE_SUFFIXES))
        raise UsageError(
            "bad-suffix", f"{target}: unknown suffix {suffix}", f"choose {known}, or set --format"
        )
    return form or _FORMAT_OF_SUFFIX.get(suffix, "table")
