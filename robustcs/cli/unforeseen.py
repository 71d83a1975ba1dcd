"""The last net: an error that nobody foresaw."""

from __future__ import annotations

import os
import platform
import shlex
import tempfile
import traceback
from collections.abc import Sequence

from robustcs.version import __version__

_LONGEST = 200


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
