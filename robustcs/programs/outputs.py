"""What models and programs made once, by content: one SQLite file that several programs may use at the same time."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robustcs.database import cache_folder, not_stored, select, transaction
from robustcs.errors import input_error


class OutputStore:
    """Outputs by maker (who made them, with all settings) and request; both are known by their content.

    What is written is written whole, or not at all. Raises :class:`OutputError` where the file cannot be used,
    :class:`InputError` where it is damaged.
    """

    def __init__(self, path: Path | None = None):
        self.path = cache_folder() / "outputs.sqlite" if path is None else path

    def get(self, maker: str, requests: Mapping[str, Any]) -> dict[str, Any]:
        """The known outputs: key → output, for ``requests`` key → what was asked (anything that JSON holds)."""
        of_digest: dict[str, list[str]] = {}
        for key, request in requests.items():
            of_digest.setdefault(_digest(request), []).append(key)
        with self._open() as database:
            query = "SELECT request, output FROM outputs WHERE maker = ? AND request IN ({})"
            rows = list(select(database, query, (_digest(maker),), list(of_digest)))
        return {key: json.loads(output) for digest, output in rows for key in of_digest[digest]}

    def put(self, maker: str, outputs: Mapping[str, Any], requests: Mapping[str, Any]) -> None:
        """Keep ``outputs`` (key → output) of ``requests`` (key → what was asked)."""
        if not outputs:
            return
        rows = [(_digest(maker), _digest(requests[key]), json.dumps(output)) for key, output in outputs.items()]
        with self._open() as database:
            database.executemany("INSERT OR REPLACE INTO outputs VALUES (?, ?, ?)", rows)

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


def _prepare(database: sqlite3.Connection) -> None:
    database.execute(
        "CREATE TABLE IF NOT EXISTS outputs (maker TEXT, request TEXT, output TEXT, PRIMARY KEY (maker, request)) WITHOUT ROWID"
    )


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8", "replace")).hexdigest()
