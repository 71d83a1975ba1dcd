"""Embeddings that were computed once: a small database keyed by the model's content and the text's content."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robustcs.database import cache_folder, select, transaction

Vectors = npt.NDArray[np.float32]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS embeddings (model TEXT, text TEXT, vector BLOB, PRIMARY KEY (model, text)) WITHOUT ROWID;
"""
_UPGRADE = "UPDATE embeddings SET vector = seal(vector, model, text);"


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
        with transaction(self.path, _SCHEMA, looking=True) as database:
            query = "SELECT text, unseal(vector, model, text) FROM embeddings WHERE model = ? AND text IN ({})"
            for digest, vector in select(database, query, (model,), list(text_of)):
                found[text_of[digest]] = np.frombuffer(vector, dtype="<f4").astype(np.float32)
        return found

    def put(self, model: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep the vector, float32[n, d], of each of the n texts."""
        rows = [(model, _digest(text), vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        with transaction(self.path, _SCHEMA, upgrade=_UPGRADE) as database:
            database.executemany("INSERT OR REPLACE INTO embeddings VALUES (?1, ?2, seal(?3, ?1, ?2))", rows)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
