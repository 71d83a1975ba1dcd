"""A store that cannot be written to: which file, why, and what helps."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from robustcs.database import not_stored
from robustcs.errors import OutputError
from robustcs.programs.outputs import OutputStore
from robustcs.retrieval.store import Ranker, RankingStore

RANKER = Ranker("/index", "00", {"model": "bm25"}, "pyserini 0")


def full(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the file gets no further page, which is what a full disk is to SQLite."""
    connect = sqlite3.connect

    def limited(*arguments: object, **named: object) -> sqlite3.Connection:
        database = connect(*arguments, **named)  # type: ignore[call-overload]
        pages = database.execute("PRAGMA page_count").fetchone()[0]
        database.execute(f"PRAGMA max_page_count = {pages}")
        return database  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", limited)


def test_rankings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.sqlite"
    store = RankingStore(path)
    ids = [f"passage{number}" for number in range(1000)]
    ranking = (ids, np.random.default_rng(0).random(1000))
    store.put(RANKER, {"a": ranking}, 1000)
    full(path, monkeypatch)
    with pytest.raises(OutputError) as error:
        store.put(RANKER, {str(number): ranking for number in range(50)}, 1000)
    assert str(error.value) == (
        f"{path}: not written, the disk is full; free some space, or name another one as store in [retrieval]"
    )
    assert store.known(RANKER, ["a", "1"], 1000) == {"a"}


def test_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = OutputStore(tmp_path / "outputs.sqlite")
    texts = {str(number): str(number) for number in range(50)}
    store.put("m", {"0": "x" * 2000}, texts)
    full(store.path, monkeypatch)
    with pytest.raises(
        OutputError, match="outputs.sqlite: not written, the disk is full; free some space, or name"
    ):
        store.put("m", dict.fromkeys(texts, "y" * 2000), texts)
    assert list(store.get("m", texts)) == ["0"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (sqlite3.SQLITE_FULL, "x: not written, the disk is full; free some space, or E"),
        (
            sqlite3.SQLITE_IOERR | 3 << 8,
            "x: not written, said; check the disk and its free space, or E",
        ),
        (sqlite3.SQLITE_READONLY, "x: not written, said; check the permissions, or E"),
        (
            sqlite3.SQLITE_BUSY,
            "x: not written, another process has been writing to it for a minute; wait for it, or E",
        ),
        (sqlite3.SQLITE_NOTADB, "None"),
        (sqlite3.SQLITE_CORRUPT, "None"),
    ],
)
def test_causes(code: int, message: str) -> None:
    error = sqlite3.OperationalError("said")
    error.sqlite_errorcode = code
    assert str(not_stored(Path("x"), error, "E")) == message
