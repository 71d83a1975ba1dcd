"""What can be computed again, kept in SQLite files that several programs may use at the same time.

Every value carries a checksum of itself and of its keys, which the SQL functions ``seal(value, key, …)`` and
``unseal(value, key, …)`` write and verify. What does not match is taken as absent, and so is computed again.

A file of another program is never written to: robustcs marks its own with :data:`APPLICATION`. Those that its first versions
made have no mark, but hold its own tables and nothing else; they get it when they are next written to.
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

#: What SQLite's header says of the program that a file belongs to ("rcs" and a number).
APPLICATION = 0x72637301
#: SQLite's ``user_version`` of files whose values have checksums; those that robustcs 0.1.0 made have 0.
VERSION = 1
_DIGEST = 16
#: What a cell holds.
Value = str | float | bytes | None
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
    path: Path, schema: str, elsewhere: str = OTHER_CACHE, slug: str = "bad-cache", *, looking: bool = False, upgrade: str = ""
) -> Iterator[sqlite3.Connection]:
    """The SQLite file, made where it is new, with the tables of ``schema``; committed at the end, or undone on an error.

    ``elsewhere`` says how to name another one. ``looking``: nothing is to be written, so that a file that is not there, or has
    no tables yet, is taken as empty and left as it is. ``upgrade`` seals the values of a file without checksums when it is next
    written; until then they are taken as they are.

    Raises :class:`UsageError` where it is an input, :class:`OutputError` where it cannot be used, and :class:`InputError`
    where it belongs to another program or, known as ``slug``, is damaged or made by a later version.
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
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if owner != APPLICATION and (owner or not there <= wanted):
                    found = "an SQLite file of another program, which robustcs never writes to"
                    raise input_error(path, None, found, elsewhere, "foreign-store")
                if not 0 <= version <= VERSION:
                    found = f"a store of version {version}, and this robustcs knows versions up to {VERSION}"
                    raise input_error(path, None, found, f"use a later robustcs, or {elsewhere}", slug)
                database.create_function("seal", -1, _seal, deterministic=True)
                database.create_function("unseal", -1, _unseal if version else _unseal_old, deterministic=True)
                if not looking and not (owner and version and wanted <= there):
                    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
                    database.executescript(f"{schema}BEGIN IMMEDIATE; {'' if version else upgrade}{marks} COMMIT;")
                used = database if wanted <= there or not looking else empty
                with used:
                    yield used
    except (OSError, sqlite3.Error, ValueError, TypeError, zlib.error) as error:  # what stands there is not what was kept
        damaged = input_error(path, None, f"the store cannot be used ({error})", f"delete the file, or {elsewhere}", slug)
        raise not_stored(path, error, elsewhere) or damaged from None


def _seal(value: Value, *keys: Value) -> Value:
    if _unseal(value, *keys) is not None:
        return value  # another process has upgraded the file meanwhile
    data = b"b" + value if isinstance(value, bytes) else b"j" + json.dumps(value).encode()
    return _digest(data, keys) + data


def _unseal(value: Value, *keys: Value) -> Value:
    """Return what was sealed under these keys; None for anything else."""
    if not isinstance(value, bytes) or value[:_DIGEST] != _digest(value[_DIGEST:], keys):
        return None
    kind, data = value[_DIGEST : _DIGEST + 1], value[_DIGEST + 1 :]
    return data if kind == b"b" else json.loads(data)  # type: ignore[no-any-return]


def _unseal_old(value: Value, *keys: Value) -> Value:
    found = _unseal(value, *keys)
    return value if found is None else found


def _digest(data: bytes, keys: tuple[Value, ...]) -> bytes:
    return hashlib.sha256(repr(keys).encode("utf-8", "replace") + data).digest()[:_DIGEST]


def _objects(database: sqlite3.Connection) -> set[tuple[str, ...]]:
    """The tables of a database, and whatever else its schema has."""
    return set(database.execute("SELECT type, name, sql FROM sqlite_master"))


def not_stored(path: Path, error: Exception, elsewhere: str) -> OutputError | None:
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
    """The rows of ``query``, whose ``{}`` stands for as many of ``keys`` as SQLite takes at a time.

    Rows whose last value does not match its checksum are left out.
    """
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        rows = database.execute(query.format(",".join("?" * len(some))), (*first, *some))
        yield from (row for row in rows if row[-1] is not None)
