"""What goes to a terminal must not steer it: messages, progress, and the last net under errors that nobody foresaw."""

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

#: Nobody's terminal is wider; tables do not get wider than their texts in any case.
_WIDEST = 10_000
#: Characters of an unforeseen error that are told.
_LONGEST = 200

#: What stands for characters that a terminal's or a pipe's encoding lacks, where taking accents off does not help.
_NEAREST = str.maketrans({
    "─": "-", "━": "=", "│": "|", "–": "-", "—": "-", "−": "-", "·": "-", "≥": ">=", "≤": "<=", "×": "x", "✓": "+", "✗": "x",
    "→": "->", "±": "+-",
    "“": '"', "”": '"', "‘": "'", "’": "'", "κ": "kappa", "τ": "tau", "ρ": "rho", "α": "alpha", "ω": "omega", "Δ": "Delta",
})  # fmt: skip


def usable_streams() -> None:
    """Let stdout and stderr write every text: characters that their encoding lacks are replaced by similar ones."""
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
    """Go on after the reader of stdout has seen enough: what else is printed goes nowhere, and the interpreter says nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def usable_width() -> None:
    """Make ``COLUMNS`` and ``LINES``, which several libraries read, numbers that can be used, or unset them."""
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
    """Would a text written to ``target`` (``-`` is stdout) be seen on a terminal?"""
    if target == "-":
        return sys.stdout.isatty()
    try:
        if not stat.S_ISCHR(os.stat(target).st_mode):  # opening and closing a pipe would end it for its reader
            return False
        device = os.open(target, os.O_WRONLY | os.O_NOCTTY)
    except (OSError, ValueError):
        return False
    try:
        return os.isatty(device)
    finally:
        os.close(device)


def tell(message: str) -> None:
    """One line for people, on stderr."""
    click.echo(harmless(message), err=True)


def agreed(question: str) -> bool:
    """Does somebody at a terminal say yes? Without one, nobody does."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        return False


def harmless(message: str) -> str:
    """Texts and names of input files stand in messages: control characters other than line ends are made visible."""
    return "".join(char if char == "\n" or char.isprintable() else _escape(char) for char in message)


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"


def track(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """The same items, on a terminal with a bar that goes away at the end; ``total`` 0: nobody knows how many there are."""
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, description=what, total=total or None, console=Console(stderr=True), transient=True)


def unforeseen(error: Exception, arguments: Sequence[str]) -> str:
    """One line that says what happened and where the whole of it stands: a new file in the temporary folder."""
    said = " ".join(str(error).split())
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    what = f"an error of the program itself ({what if len(what) <= _LONGEST else f'{what[:_LONGEST]}…'})"
    text = (
        f"robustcs {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"robustcs {shlex.join(arguments)}\n\n{''.join(traceback.format_exception(error))}"
    )
    try:
        handle, path = tempfile.mkstemp(prefix="robustcs-error-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return f"{what}; run it again with --traceback and report what it shows to the project's issue tracker"
    return f"{what}; report it to the project's issue tracker with the file {path}"
