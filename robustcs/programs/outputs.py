"""The store of outputs of models and programs, by content: one SQLite file that several processes may use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robustcs.database import cache_folder, select, transaction

_SCHEMA = """
CREATE TABLE IF NOT EXISTS outputs (maker TEXT, request TEXT, output TEXT, PRIMARY KEY (maker, request)) WITHOUT ROWID;
"""


class OutputStore:
    """Outputs by maker (model or program with all settings) and request, both identified by their content.

    Writes are atomic. Raises :class:`OutputError` if the file cannot be used, :class:`InputError` if it is damaged.
    """

    def __init__(self, path: Path | None = None):
        self.path = cache_folder() / "outputs.sqlite" if path is None else path

    def get(self, maker: str, requests: Mapping[str, Any]) -> dict[str, Any]:
        """Return key → stored output, for ``requests``: key → request (any JSON value)."""
        of_digest: dict[str, list[str]] = {}
        for key, request in requests.items():
            of_digest.setdefault(_digest(request), []).append(key)
        with transaction(self.path, _SCHEMA, looking=True) as database:
            query = "SELECT request, unseal(output, maker, request) FROM outputs WHERE maker = ? AND request IN ({})"
            rows = select(database, query, (_digest(maker),), list(of_digest))
            return {key: json.loads(output) for digest, output in rows for key in of_digest[digest]}

    def put(self, maker: str, outputs: Mapping[str, Any], requests: Mapping[str, Any]) -> None:
        """Store ``outputs`` (key → output) for ``requests`` (key → request)."""
        if not outputs:
            return
        rows = [
            (_digest(maker), _digest(requests[key]), json.dumps(output))
            for key, output in outputs.items()
        ]
        with transaction(self.path, _SCHEMA) as database:
            database.executemany(
                "INSERT OR REPLACE INTO outputs VALUES (?1, ?2, seal(?3, ?1, ?2))", rows
            )


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8", "replace")).hexdigest()
