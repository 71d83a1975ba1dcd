"""What goes to a terminal must not steer it."""

from __future__ import annotations

import os
import stat
import sys

#: Nobody's terminal is wider; tables do not get wider than their texts in any case.
_WIDEST = 10_000


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
