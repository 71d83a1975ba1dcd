"""Output to the terminal: messages without control characters, progress bars, and reports of unexpected errors."""

from __future__ import annotations

import codecs
import os
import platform
import shlex
import stat
import sys
import tempfile
import traceback
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import click

from robustcs.version import __version__

#: Larger values of COLUMNS are reduced to this; tables never become wider than their texts.
_WIDEST = 10_000
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
    """Make ``COLUMNS`` and ``LINES``, which several libraries read, usable numbers, or unset them."""
    for name in ("COLUMNS", "LINES"):
        text = os.environ.get(name)
        if text is None:
            continue
        digits = text.lstrip("0") if text.isascii() and text.isdigit() else ""
        if not digits:
            del os.environ[name]
        elif len(digits) > 4:
            os.environ[name] = str(_WIDEST)


def is_terminal(target: str) -> bool:
    """Return whether ``target`` (``-`` is stdout) is a terminal."""
    if target == "-":
        return sys.stdout.isatty()
    try:
        if not stat.S_ISCHR(os.stat(target).st_mode):  # do not open a pipe: closing it would end its reader
            return False
        device = os.open(target, os.O_WRONLY | os.O_NOCTTY)
    except (OSError, ValueError):
        return False
    try:
        return os.isatty(device)
    finally:
        os.close(device)


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
    return "".join(char if char == "\n" or char.isprintable() else _escape(char) for char in message)


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"


def track(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """Return the same items; on a terminal show a transient progress bar. ``total`` 0 means an unknown number."""
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, description=what, total=total or None, console=Console(stderr=True), transient=True)


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
