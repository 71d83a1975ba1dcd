"""SQLite files with values that can be recomputed; several processes may use them at the same time.

Each value has a checksum of itself and of its keys; the SQL functions ``seal(value, key, …)`` and ``unseal(value, key, …)``
write and verify it. A value that does not match its checksum counts as absent and is recomputed.

Files of other programs are never written to: robustcs marks its own files with :data:`APPLICATION`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from robustcs.errors import OutputError, input_error, not_written
from robustcs.overwrite_guard import refuse_protected

#: Application id of robustcs in SQLite's header ("rcs" and a number).
APPLICATION = 0x72637301
#: SQLite's ``user_version`` of the files.
VERSION = 1
_DIGEST = 16
#: Value of a cell.
Value = str | float | bytes | None
#: Number of parameters that all versions of SQLite accept.
_AT_ONCE = 900


def cache_folder() -> Path:
    """Return the cache folder: ``$ROBUSTCS_CACHE``, else ``robustcs`` in the user's cache folder."""
    own = os.environ.get("ROBUSTCS_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "robustcs"


#: Advice about a store in :func:`cache_folder`.
OTHER_CACHE = "name another folder in ROBUSTCS_CACHE"


@contextmanager
def transaction(
    path: Path,
    schema: str,
    elsewhere: str = OTHER_CACHE,
    slug: str = "bad-cache",
    *,
    looking: bool = False,
) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file with the tables of ``schema``, created if new; commit at the end, or roll back on an error.

    ``elsewhere`` is the advice for using another file. ``looking``: read only, so that a file that does not exist or has no
    tables counts as empty and is not changed.

    Raises :class:`UsageError` if the file is an input, :class:`OutputError` if it cannot be used, and :class:`InputError` if it
    belongs to another program or (with ``slug``) is damaged or made by a later version.
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
                there, (owner,) = (
                    _objects(database),
                    database.execute("PRAGMA application_id").fetchone(),
                )
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if not absent and owner != APPLICATION and (owner or there):
                    found = "an SQLite file of another program or of robustcs 0.1.0, to which robustcs does not write"
                    raise input_error(path, None, found, elsewhere, "foreign-store")
                if not 0 <= version <= VERSION:
                    found = f"a store of version {version}, but this robustcs supports versions up to {VERSION}"
                    raise input_error(
                        path, None, found, f"use a later robustcs, or {elsewhere}", slug
                    )
                database.create_function("seal", -1, _seal, deterministic=True)
                database.create_function("unseal", -1, _unseal, deterministic=True)
                if not looking and not (owner and wanted <= there):
                    # marked first: another process that opens it now sees whose it is
                    marks = (
                        f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
                    )
                    database.executescript(f"{marks} {schema}")
                used = database if wanted <= there or not looking else empty
                with used:
                    yield used
    except (
        OSError,
        sqlite3.Error,
        ValueError,
        TypeError,
        zlib.error,
    ) as error:  # the last three: the content is damaged
        damaged = input_error(
            path,
            None,
            f"the store cannot be used ({error})",
            f"delete the file, or {elsewhere}",
            slug,
        )
        raise not_stored(path, error, elsewhere) or damaged from None


def _seal(value: Value, *keys: Value) -> Value:
    data = b"b" + value if isinstance(value, bytes) else b"j" + json.dumps(value).encode()
    return _digest(data, keys) + data


def _unseal(value: Value, *keys: Value) -> Value:
    """Return the value that was sealed under these keys; None for anything else."""
    if not isinstance(value, bytes) or value[:_DIGEST] != _digest(value[_DIGEST:], keys):
        return None
    kind, data = value[_DIGEST : _DIGEST + 1], value[_DIGEST + 1 :]
    return data if kind == b"b" else json.loads(data)  # type: ignore[no-any-return]


def _digest(data: bytes, keys: tuple[Value, ...]) -> bytes:
    return hashlib.sha256(repr(keys).encode("utf-8", "replace") + data).digest()[:_DIGEST]


def _objects(database: sqlite3.Connection) -> set[tuple[str, ...]]:
    """Return all objects of a database's schema."""
    return set(database.execute("SELECT type, name, sql FROM sqlite_master"))


#: Kind of SQLite's error with an intact store → problem (empty: that of SQLite) and advice.
_FAILURES = {
    sqlite3.SQLITE_FULL: ("the disk is full", "free some space"),
    sqlite3.SQLITE_IOERR: ("", "check the disk and its free space"),
    **dict.fromkeys(
        (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM),
        ("", "check the permissions"),
    ),
    **dict.fromkeys(
        (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
        ("another process has been writing to it for a minute", "wait for it"),
    ),
}


def not_stored(path: Path, error: Exception, elsewhere: str) -> OutputError | None:
    """Return the error for an intact store that cannot be written to, with advice for its cause; None for a damaged one.

    ``elsewhere`` is the advice for using another file.
    """
    if isinstance(error, OSError):
        return not_written(path, error)
    # the low byte is the kind; Python's own errors have no code
    found, advice = _FAILURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, (None, ""))
    return (
        None
        if found is None
        else OutputError(path, found or str(error), f"{advice}, or {elsewhere}")
    )


def select(
    database: sqlite3.Connection, query: str, first: tuple[Any, ...], keys: Sequence[str]
) -> Iterable[tuple[Any, ...]]:
    """Yield the rows of ``query`` for all ``keys``, which replace its ``{}`` in batches that SQLite accepts.

    Rows whose last value does not match its checksum are skipped.
    """
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        rows = database.execute(query.format(",".join("?" * len(some))), (*first, *some))
        yield from (row for row in rows if row[-1] is not None)
