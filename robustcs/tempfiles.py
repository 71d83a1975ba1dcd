"""Temporary files and folders whose names identify their owner, and removal of those that killed programs left.

A name is ``.robustcs-HOST-PID-TIME-RANDOM.tmp``: the machine and process that own it, and the time of its creation in seconds
since 1970. Before robustcs writes into a folder, it removes temporary files there whose owner has ended.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import platform
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

#: Seconds after which a temporary file is no longer in use, also by a process on another machine.
TOO_OLD = 7 * 24 * 60 * 60
_NAME = re.compile(r"\.robustcs-([^-]*)-([0-9]{1,10})-([0-9]{1,12})-[0-9a-f]+\.tmp")
#: Temporary paths in use by this process.
_mine: set[Path] = set()
_looked_through: set[Path] = set()


@contextmanager
def temporary(folder: Path) -> Iterator[Path]:
    """Yield a path in ``folder`` for a temporary file or folder, which is removed at the end if it still exists.

    First remove what killed programs left in ``folder``. The name is registered before anything is created, so an interruption
    at any time leaves nothing: a path that could not be removed is removed when the program ends.
    """
    remove_stale(folder)
    path = _named(folder)
    _mine.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _mine.discard(path)


def remove_stale(folder: Path) -> None:
    """Remove what killed programs left in ``folder``, once per process and folder. Ignore files that cannot be removed."""
    if folder in _looked_through:
        return
    _looked_through.add(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in list(entries):
            if _is_stale(entry.name):
                stale = Path(entry.path)
                if stale.is_dir():
                    # a process that still writes into it, such as a Java whose parent was killed, must not find it
                    with contextlib.suppress(OSError):
                        stale = stale.rename(_named(folder))
                _remove(stale)


def _named(folder: Path) -> Path:
    return (
        folder / f".robustcs-{_host()}-{os.getpid()}-{int(time.time())}-{secrets.token_hex(8)}.tmp"
    )


def _is_stale(name: str) -> bool:
    """Return whether a name is a temporary file whose owner has ended, or, on another machine, which is too old."""
    found = _NAME.fullmatch(name)
    if found is None or any(name == path.name for path in _mine):
        return False
    if time.time() - int(found[3]) > TOO_OLD:
        return True
    return found[1] == _host() and not _alive(int(found[2]))


def _alive(pid: int) -> bool:
    """Return whether another process has this number; this process only uses the paths in ``_mine``."""
    if os.name != "posix":
        return True  # on Windows, signal 0 would end the process
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


@cache
def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "", platform.node())[:60]


@atexit.register
def _remove_mine() -> None:
    for path in list(_mine):
        _remove(path)
