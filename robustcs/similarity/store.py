"""Embeddings that were computed once: a small database keyed by the model's content and the text's content."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.errors import OutputError, input_error, not_written
from robustcs.protected import refuse_protected

Vectors = npt.NDArray[np.float32]

#: SQLite takes this many parameters in every version.
_AT_ONCE = 900


def cache_folder() -> Path:
    """Where robustcs keeps what it can compute again: ``$ROBUSTCS_CACHE``, else ``robustcs`` in the user's cache folder."""
    own = os.environ.get("ROBUSTCS_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "robustcs"


class EmbeddingStore:
    """Vectors by model and text, in one SQLite file of ``folder``; several programs may use it at the same time.

    A model is known by its fingerprint and a text by the SHA-256 of its UTF-8 bytes, so another version of a model under the
    same name gets vectors of its own. What is written is written whole, or not at all.

    Raises :class:`OutputError` where the folder cannot be used, :class:`InputError` where the file is damaged.
    """

    def __init__(self, folder: Path | None = None):
        self.path = (cache_folder() if folder is None else folder) / "embeddings.sqlite"

    def get(self, model: str, texts: Sequence[str]) -> dict[str, Vectors]:
        """The known vectors: text → float32[d]."""
        text_of = {_digest(text): text for text in texts}
        found: dict[str, Vectors] = {}
        with self._open() as database:
            query = "SELECT text, vector FROM embeddings WHERE model = ? AND text IN ({})"
            for digest, vector in select(database, query, (model,), list(text_of)):
                found[text_of[digest]] = np.frombuffer(vector, dtype="<f4").astype(np.float32)
        return found

    def put(self, model: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep the vector, float32[n, d], of each of the n texts."""
        rows = [
            (model, _digest(text), vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)
        ]
        with self._open() as database:
            database.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed at the end, or undone on an error."""
        try:
            with transaction(self.path, _prepare) as database:
                yield database
        except (OSError, sqlite3.Error) as error:
            elsewhere = "name another folder in ROBUSTCS_CACHE"
            damaged = input_error(self.path, None, str(error), f"delete the file, or {elsewhere}", "bad-cache")
            raise not_stored(self.path, error, elsewhere) or damaged from None


@contextmanager
def transaction(path: Path, prepare: Callable[[sqlite3.Connection], object]) -> Iterator[sqlite3.Connection]:
    """The SQLite file, made and prepared where it is new; committed at the end, or undone on an error.

    Raises ``OSError`` and ``sqlite3.Error``, of which :func:`not_stored` tells, and :class:`UsageError` where it is an input.
    """
    refuse_protected(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=60)
    try:
        prepare(database)
        with database:
            yield database
    finally:
        database.close()


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


def select(
    database: sqlite3.Connection, query: str, first: tuple[Any, ...], keys: Sequence[str]
) -> Iterable[tuple[Any, ...]]:
    """The rows of ``query``, whose ``{}`` stands for as many of ``keys`` as SQLite takes at a time."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        yield from database.execute(query.format(",".join("?" * len(some))), (*first, *some))


def _prepare(database: sqlite3.Connection) -> None:
    database.execute(
        "CREATE TABLE IF NOT EXISTS embeddings"
        " (model TEXT, text TEXT, vector BLOB, PRIMARY KEY (model, text)) WITHOUT ROWID"
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
