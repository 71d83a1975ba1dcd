"""The store of embeddings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robustcs.database import cache_folder
from robustcs.errors import InputError
from robustcs.similarity.store import EmbeddingStore


def test_vectors_come_back_for_their_model_only(tmp_path: Path) -> None:
    store = EmbeddingStore(tmp_path / "new" / "folder")
    texts = [f"text {n} ✓" for n in range(2000)]
    vectors = np.random.default_rng(0).random((2000, 3), dtype=np.float32)
    store.put("model", texts, vectors)
    found = EmbeddingStore(tmp_path / "new" / "folder").get("model", [*texts, "unknown"])
    assert list(found) != [] and set(found) == set(texts)
    assert all(np.array_equal(found[text], vector) for text, vector in zip(texts, vectors, strict=True))
    assert store.get("other model", texts) == {}
    store.put("model", texts[:1], vectors[1:2])
    assert np.array_equal(store.get("model", texts[:1])[texts[0]], vectors[1])


def test_looking_makes_nothing(tmp_path: Path) -> None:
    store = EmbeddingStore(tmp_path / "new")
    assert store.get("model", ["a", "b"]) == {} and not any(tmp_path.iterdir())


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.sqlite"
    path.write_bytes(b"not a database " * 100)
    with pytest.raises(InputError) as error:
        EmbeddingStore(tmp_path).get("model", ["text"])
    damage = "the store cannot be used (file is not a database); delete the file, or name another folder in ROBUSTCS_CACHE"
    assert str(error.value) == f"{path}: {damage}"


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("ROBUSTCS_CACHE", raising=False)
    assert cache_folder() == tmp_path / "xdg" / "robustcs"
    monkeypatch.setenv("ROBUSTCS_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
