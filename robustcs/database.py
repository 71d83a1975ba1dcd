"""What can be computed again, kept in SQLite files that several programs may use at the same time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robustcs.errors import OutputError, input_error, not_written
from robustcs.protected import refuse_protected

#: SQLite takes this many parameters in every version.
_AT_ONCE = 900


def cache_folder() -> Path:
    """Where robustcs keeps what it can compute again: ``$ROBUSTCS_CACHE``, else ``robustcs`` in the user's cache folder."""
    own = os.environ.get("ROBUSTCS_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "robustcs"


#: What to do about a store in :func:`cache_folder`.
OTHER_CACHE = "name another folder in ROBUSTCS_CACHE"


@contextmanager
def transaction(
    path: Path,
    prepare: Callable[[sqlite3.Connection], object],
    elsewhere: str = OTHER_CACHE,
    slug: str = "bad-cache",
    *,
    looking: bool = False,
) -> Iterator[sqlite3.Connection]:
    """The SQLite file, made and prepared where it is new; committed at the end, or undone on an error.

    ``elsewhere`` says how to name another one. ``looking``: nothing is to be written, so that a file that is not there is taken
    as empty and not made.

    Raises :class:`UsageError` where it is an input, :class:`OutputError` where it cannot be used, and :class:`InputError`,
    known as ``slug``, where it is damaged.
    """
    refuse_protected(path)
    try:
        absent = looking and not path.exists()
        if not absent:
            path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(":memory:" if absent else path, timeout=60)
        try:
            prepare(database)
            with database:
                yield database
        finally:
            database.close()
    except (OSError, sqlite3.Error) as error:
        damaged = input_error(path, None, f"the store cannot be used ({error})", f"delete the file, or {elsewhere}", slug)
        raise not_stored(path, error, elsewhere) or damaged from None


def not_stored(path: Path, error: OSError | sqlite3.Error, elsewhere: str) -> OutputError | None:
    """The error of a store that is sound but cannot be written to, with what to do by its cause; None for a damaged one.

    ``elsewhere`` says how to name another one.
    """
    if isinstance(error, OSError):
        return not_written(path, error)
    # the low byte is the kind; errors of Python's own have no code
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if kind == sqlite3.SQLITE_FULL:
        return OutputError(path, "the disk is full", f"make room, or {elsewhere}")
    if kind == sqlite3.SQLITE_IOERR:
        return OutputError(path, str(error), f"check the disk and its free space, or {elsewhere}")
    if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return OutputError(path, str(error), f"check the permissions, or {elsewhere}")
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return OutputError(path, "another program has been writing to it for a minute", f"wait for that one, or {elsewhere}")
    return None


def select(database: sqlite3.Connection, query: str, first: tuple[Any, ...], keys: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """The rows of ``query``, whose ``{}`` stands for as many of ``keys`` as SQLite takes at a time."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        yield from database.execute(query.format(",".join("?" * len(some))), (*first, *some))
