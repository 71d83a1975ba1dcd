"""Temporary files and folders that tell whose they are, and what killed programs left of them.

A name is ``.robustcs-HOST-PID-TIME-RANDOM.tmp``: the machine and process that own it, and when it was made, in seconds since
1970. Whoever is about to write into a folder removes what nobody can be working on there any more.
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

#: After so many seconds nobody is working on a temporary file any more, wherever its owner runs.
TOO_OLD = 7 * 24 * 60 * 60
_NAME = re.compile(r"\.robustcs-([^-]*)-([0-9]{1,10})-([0-9]{1,12})-[0-9a-f]+\.tmp")
#: What this process is working on.
_mine: set[Path] = set()
_looked_through: set[Path] = set()


@contextmanager
def temporary(folder: Path) -> Iterator[Path]:
    """A path in ``folder`` for a file or folder of the caller's, which is removed at the end if it is still there.

    Leftovers of killed programs in ``folder`` are removed first. The name is known before anything stands there, so that an
    interruption at any moment leaves nothing: what could not be removed at once is removed when the program ends.
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
    """Remove what killed programs left in ``folder``; a process does so once per folder. What cannot be removed stays."""
    if folder in _looked_through:
        return
    _looked_through.add(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in list(entries):
            if _is_stale(entry.name):
                stale = Path(entry.path)
                if stale.is_dir():
                    # whoever still writes into it, such as a Java that outlived its parent, must not find it any more
                    with contextlib.suppress(OSError):
                        stale = stale.rename(_named(folder))
                _remove(stale)


def _named(folder: Path) -> Path:
    return folder / f".robustcs-{_host()}-{os.getpid()}-{int(time.time())}-{secrets.token_hex(8)}.tmp"


def _is_stale(name: str) -> bool:
    """Is it a temporary of ours, whose owner is gone or which is too old? Of other machines only the age tells."""
    found = _NAME.fullmatch(name)
    if found is None or any(name == path.name for path in _mine):
        return False
    if time.time() - int(found[3]) > TOO_OLD:
        return True
    return found[1] == _host() and not _alive(int(found[2]))


def _alive(pid: int) -> bool:
    """Is there another process of this number? (Ours is known to be working only on what is in ``_mine``.)"""
    if os.name != "posix":
        return True  # signal 0 would end the process there
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
