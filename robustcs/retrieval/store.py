"""The store of rankings, by content: one SQLite file that several processes may use."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robustcs.database import cache_folder, select, transaction
from robustcs.retrieval.search import Ranking

#: Version of the format; it changes when rankings are computed or stored differently, so that old ones are not found.
FORM = 2
#: Largest ranking in bytes: millions of passages.
_LONGEST = 1 << 28
_SCHEMA = """PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS rankers (ranker TEXT PRIMARY KEY, description TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rankings (
    question TEXT, ranker TEXT, depth INTEGER, passages INTEGER, ranking BLOB, PRIMARY KEY (question, ranker)
) WITHOUT ROWID;
"""
_RANKING = "unseal(ranking, question, ranker, depth)"


def normalised(text: str) -> str:
    """Return the question as it is searched and stored: NFC, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def digest(text: str) -> str:
    """Return the SHA-256 of a normalised question in hexadecimal: its key in the store and in sidecar files."""
    return hashlib.sha256(normalised(text).encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class Ranker:
    """Everything that determines a ranking besides the question and the depth.

    path, checksum
        Of the index, as in :class:`~robustcs.retrieval.index.IndexState`. The path is only shown; it determines nothing.
    parameters
        Model, analyser and their parameters.
    software
        Version of pyserini.
    """

    path: str
    checksum: str
    parameters: Mapping[str, Any]
    software: str

    @property
    def description(self) -> str:
        """The ranker as canonical JSON."""
        values = {"form": FORM, "index": self.path, "checksum": self.checksum, "software": self.software}
        return json.dumps(values | {"parameters": dict(self.parameters)}, sort_keys=True)

    @property
    def key(self) -> str:
        """The SHA-256 of the description without the path."""
        return _key(self.description)


def _key(description: str) -> str:
    values = json.loads(description) | {"index": ""}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode("utf-8", "replace")).hexdigest()


def _is_described(key: str, description: object) -> bool:
    try:
        return isinstance(description, str) and _key(description) == key
    except (ValueError, TypeError, RecursionError):
        return False


class RankingStore:
    """Rankings by question and ranker.

    Writes are atomic; readers do not wait for writers (write-ahead log).

    Raises :class:`OutputError` if the file cannot be used, :class:`InputError` if it is damaged.
    """

    def __init__(self, path: Path | None = None):
        self.path = cache_folder() / "rankings.sqlite" if path is None else path

    def known(self, ranker: Ranker, digests: Sequence[str], depth: int) -> set[str]:
        """Return the questions, by :func:`digest`, with a ranking of at least ``depth`` passages."""
        return set(self.get(ranker, digests, depth))

    def get(self, ranker: Ranker, digests: Sequence[str], depth: int) -> dict[str, Ranking]:
        """Return question → passages and scores of rankings with at least ``depth`` passages, cut at ``depth``."""
        query = f"SELECT question, {_RANKING} FROM rankings WHERE ranker = ? AND depth >= ? AND question IN ({{}})"
        with self._open(looking=True) as database:
            return {row[0]: _unpacked(row[1], depth) for row in select(database, query, (ranker.key, depth), digests)}

    def put(self, ranker: Ranker, rankings: Mapping[str, Ranking], depth: int) -> None:
        """Store rankings that were retrieved to ``depth``; a deeper stored ranking is kept."""
        rows = [(question, ranker.key, depth, len(found[0]), _packed(found)) for question, found in rankings.items()]
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO rankers VALUES (?, ?)", (ranker.key, ranker.description))
            database.executemany(
                "INSERT INTO rankings VALUES (?1, ?2, ?3, ?4, seal(?5, ?1, ?2, ?3))"
                " ON CONFLICT (question, ranker) DO UPDATE SET"
                " depth = excluded.depth, passages = excluded.passages, ranking = excluded.ranking"
                f" WHERE excluded.depth > depth OR {_RANKING} IS NULL",
                rows,
            )

    def others(self, question: str) -> list[tuple[dict[str, Any], int]]:
        """Return (description, depth) of every ranker that answered the question (by digest)."""
        with self._open(looking=True) as database:
            rows = database.execute(
                "SELECT ranker, description, depth FROM rankings JOIN rankers USING (ranker) WHERE question = ? ORDER BY 2",
                (question,),
            )
            return [(json.loads(text), depth) for key, text, depth in rows if _is_described(key, text)]

    def rankers(self) -> list[tuple[str, dict[str, Any], int, int, int]]:
        """Return (key, description, questions, passages, bytes) of every ranker, the largest first."""
        with self._open(looking=True) as database:
            rows = database.execute(
                "SELECT ranker, description, count(*), sum(passages), sum(length(ranking))"
                " FROM rankings JOIN rankers USING (ranker) GROUP BY ranker ORDER BY 5 DESC, 1"
            )
            return [(key, json.loads(text), *rest) for key, text, *rest in rows if _is_described(key, text)]  # type: ignore[misc]

    def prune(self, rankers: Sequence[str]) -> int:
        """Delete all rankings of these rankers (by key) and free the space; return the number of deleted rankings."""
        if not self.path.exists():
            return 0
        with self._open() as database:
            gone = sum(database.execute("DELETE FROM rankings WHERE ranker = ?", (key,)).rowcount for key in rankers)
            database.executemany("DELETE FROM rankers WHERE ranker = ?", [(key,) for key in rankers])
        with self._open() as database:
            database.isolation_level = None  # VACUUM must run outside transactions
            database.execute("VACUUM")
        return gone

    def _open(self, looking: bool = False) -> AbstractContextManager[sqlite3.Connection]:
        """Open a transaction: committed at the end, or undone on an error. ``looking``: as in :func:`transaction`."""
        elsewhere = "name another one as store in [retrieval]"
        return transaction(self.path, _SCHEMA, elsewhere, "bad-store", looking=looking)


def _packed(ranking: Ranking) -> bytes:
    """Return a ranking compressed: the number of passages (4 bytes), their scores (8 bytes each), their ids (one per line)."""
    passages, scores = ranking
    head = len(passages).to_bytes(4, "little")
    return zlib.compress(head + np.asarray(scores, "<f8").tobytes() + "\n".join(passages).encode("utf-8"), 1)


def _unpacked(blob: bytes, depth: int) -> Ranking:
    """Return the first ``depth`` passages of a compressed ranking."""
    data = zlib.decompressobj().decompress(blob, _LONGEST)
    count = int.from_bytes(data[:4], "little")
    scores = np.frombuffer(data, "<f8", count, 4)
    passages = data[4 + 8 * count :].decode("utf-8").split("\n") if count else []
    return passages[:depth], scores[:depth].astype(np.float64)
