"""Rankings: search with Anserini through pyserini's jar (BM25, query likelihood, RM3), and the store of rankings by content.

The store is one SQLite file that several processes may use.
"""

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
from robustcs.errors import InputError, UsageError, input_error
from robustcs.lazy import npt
from robustcs.retrieval.index import IndexState
from robustcs.retrieval.java import first_line, java_error, said, start
from robustcs.retrieval.settings import RetrievalSettings

#: Passage ids, best first, and their float64 scores.
Ranking = tuple[list[str], "npt.NDArray[np.float64]"]


class Searcher:
    """An open index; ``documents`` is the number of its documents."""

    def __init__(self, index: IndexState, settings: RetrievalSettings, threads: int):
        """Open the index. Raises :class:`InputError` if Lucene cannot, :class:`UsageError` if Java fails."""
        self._threads = threads
        self._heap = settings.heap
        self._path = index.path
        simple_searcher = start(settings.heap)
        import jnius

        self._java_exception: type[Exception] = jnius.JavaException
        try:
            self._searcher = simple_searcher(str(index.path))
            self.documents = int(self._searcher.get_total_num_docs())
            if settings.model == "bm25":
                self._searcher.set_bm25(float(settings.k1), float(settings.b))
            else:
                self._searcher.set_qld(float(settings.mu))
            if settings.rm3:
                self._set_rm3(settings)
        except self._java_exception as error:
            raise self._error(str(error)) from error
        if index.documents is not None and index.documents != self.documents:
            found = (
                f"the index contains {self.documents} passages, but {index.documents} were indexed"
            )
            raise input_error(
                index.path,
                None,
                found,
                "delete the folder to create it again",
                "wrong-document-count",
            )

    def _set_rm3(self, settings: RetrievalSettings) -> None:
        if self.documents and not self._searcher.reader.getTermVectors(0):
            found = "the index has no term vectors, which RM3 needs"
            raise input_error(
                self._path,
                None,
                found,
                "create it with -storeDocvectors, or turn RM3 off",
                "no-term-vectors",
            )
        weight = float(settings.original_query_weight)
        self._searcher.set_rm3(None, settings.fb_terms, settings.fb_docs, weight, False, True)

    def search(self, questions: Mapping[str, str], depth: int) -> dict[str, Ranking]:
        """Return the ranking of every question by key; a question without any word of the index has an empty ranking."""
        from pyserini.pyclass import JArrayList, JString

        texts, keys = JArrayList(), JArrayList()
        for key, text in questions.items():
            # as bytes: pyjnius breaks characters beyond the 16-bit plane
            texts.add(JString(text.encode("utf-8")))
            keys.add(JString(key))
        try:
            found = self._searcher.batch_search(texts, keys, depth, self._threads)
            rankings = {
                str(entry.getKey()): _ranking(entry.getValue())
                for entry in found.entrySet().toArray()
            }
        except self._java_exception as error:
            raise self._error(str(error)) from error
        if rankings.keys() != questions.keys():
            # a thread failed, and Anserini continued with the others
            raise self._error(said())
        return rankings

    def _error(self, told: str) -> InputError | UsageError:
        if "OutOfMemoryError" in told:
            return java_error(told, self._heap)
        found = f"Lucene cannot read this index ({first_line(told)})"
        return input_error(self._path, None, found, "create it again", "bad-index")


def _ranking(hits: Any) -> Ranking:
    return [str(hit.docid) for hit in hits], np.array([hit.score for hit in hits], dtype=np.float64)


# ---------------------------------------------------------------- the store
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
        values = {
            "form": FORM,
            "index": self.path,
            "checksum": self.checksum,
            "software": self.software,
        }
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
            return {
                row[0]: _unpacked(row[1], depth)
                for row in select(database, query, (ranker.key, depth), digests)
            }

    def put(self, ranker: Ranker, rankings: Mapping[str, Ranking], depth: int) -> None:
        """Store rankings that were retrieved to ``depth``; a deeper stored ranking is kept."""
        rows = [
            (question, ranker.key, depth, len(found[0]), _packed(found))
            for question, found in rankings.items()
        ]
        with self._open() as database:
            database.execute(
                "INSERT OR REPLACE INTO rankers VALUES (?, ?)", (ranker.key, ranker.description)
            )
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
            return [
                (json.loads(text), depth) for key, text, depth in rows if _is_described(key, text)
            ]

    def rankers(self) -> list[tuple[str, dict[str, Any], int, int, int]]:
        """Return (key, description, questions, passages, bytes) of every ranker, the largest first."""
        with self._open(looking=True) as database:
            rows = database.execute(
                "SELECT ranker, description, count(*), sum(passages), sum(length(ranking))"
                " FROM rankings JOIN rankers USING (ranker) GROUP BY ranker ORDER BY 5 DESC, 1"
            )
            return [
                (key, json.loads(text), *rest)
                for key, text, *rest in rows
                if _is_described(key, text)
            ]  # type: ignore[misc]

    def prune(self, rankers: Sequence[str]) -> int:
        """Delete all rankings of these rankers (by key) and free the space; return the number of deleted rankings."""
        if not self.path.exists():
            return 0
        with self._open() as database:
            gone = sum(
                database.execute("DELETE FROM rankings WHERE ranker = ?", (key,)).rowcount
                for key in rankers
            )
            database.executemany(
                "DELETE FROM rankers WHERE ranker = ?", [(key,) for key in rankers]
            )
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
    return zlib.compress(
        head + np.asarray(scores, "<f8").tobytes() + "\n".join(passages).encode("utf-8"), 1
    )


def _unpacked(blob: bytes, depth: int) -> Ranking:
    """Return the first ``depth`` passages of a compressed ranking."""
    data = zlib.decompressobj().decompress(blob, _LONGEST)
    count = int.from_bytes(data[:4], "little")
    scores = np.frombuffer(data, "<f8", count, 4)
    passages = data[4 + 8 * count :].decode("utf-8").split("\n") if count else []
    return passages[:depth], scores[:depth].astype(np.float64)
