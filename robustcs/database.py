"""What can be computed again, kept in SQLite files that several programs may use at the same time.

A file of another program is never written to: robustcs marks its own with :data:`APPLICATION`. Those that its first versions
made have no mark, but hold its own tables and nothing else; they get it when they are next written to.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from robustcs.errors import OutputError, input_error, not_written
from robustcs.protected import refuse_protected

#: What SQLite's header says of the program that a file belongs to ("rcs" and a number).
APPLICATION = 0x72637301
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
    path: Path, schema: str, elsewhere: str = OTHER_CACHE, slug: str = "bad-cache", *, looking: bool = False
) -> Iterator[sqlite3.Connection]:
    """The SQLite file, made where it is new, with the tables of ``schema``; committed at the end, or undone on an error.

    ``elsewhere`` says how to name another one. ``looking``: nothing is to be written, so that a file that is not there, or has
    no tables yet, is taken as empty and left as it is.

    Raises :class:`UsageError` where it is an input, :class:`OutputError` where it cannot be used, and :class:`InputError`
    where it belongs to another program or, known as ``slug``, is damaged.
    """
    refuse_protected(path)
    try:
        absent = looking and not path.exists()
        if not absent:
            path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(":memory:")) as empty:
            empty.executescript(schema)
            wanted = _objects(empty)
            with closing(empty if absent else sqlite3.connect(path, timeout=60)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                there, (owner,) = _objects(database), database.execute("PRAGMA application_id").fetchone()
                if owner != APPLICATION and (owner or not there <= wanted):
                    found = "an SQLite file of another program, which robustcs never writes to"
                    raise input_error(path, None, found, elsewhere, "foreign-store")
                if not looking and not (owner and wanted <= there):
                    database.executescript(f"{schema}PRAGMA application_id = {APPLICATION};")
                used = database if wanted <= there or not looking else empty
                with used:
                    yield used
    except (OSError, sqlite3.Error) as error:
        damaged = input_error(path, None, f"the store cannot be used ({error})", f"delete the file, or {elsewhere}", slug)
        raise not_stored(path, error, elsewhere) or damaged from None


def _objects(database: sqlite3.Connection) -> set[tuple[str, ...]]:
    """The tables of a database, and whatever else its schema has."""
    return set(database.execute("SELECT type, name, sql FROM sqlite_master"))


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
