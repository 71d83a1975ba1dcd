"""Stores: files of another program and of earlier versions are left as they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from robustcs.database import APPLICATION, transaction
from robustcs.errors import InputError

SCHEMA = "CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY) WITHOUT ROWID;\n"


def made(path: Path, *statements: str) -> bytes:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path.read_bytes()


def mark(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("PRAGMA application_id").fetchone()[0])


def test_a_store_is_marked_when_it_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.sqlite"
    with transaction(path, SCHEMA, looking=True) as database:
        assert database.execute("SELECT * FROM words").fetchall() == []
    assert not path.parent.exists(), "looking makes nothing"
    with transaction(path, SCHEMA) as database:
        database.execute("INSERT INTO words VALUES ('a')")
    assert mark(path) == APPLICATION
    with transaction(path, SCHEMA, looking=True) as database:
        assert database.execute("SELECT * FROM words").fetchall() == [("a",)]


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE passwords (word TEXT)"],
        ["CREATE TABLE words (word TEXT PRIMARY KEY) WITHOUT ROWID"],
        [
            "CREATE TABLE words (word TEXT PRIMARY KEY) WITHOUT ROWID",
            "CREATE TABLE passwords (word TEXT)",
        ],
        ["CREATE TABLE words (word TEXT, more TEXT)"],
        [
            "CREATE TABLE words (word TEXT PRIMARY KEY) WITHOUT ROWID",
            "CREATE VIEW more AS SELECT * FROM words",
        ],
        [
            f"PRAGMA application_id = {APPLICATION + 1}",
            "CREATE TABLE words (word TEXT PRIMARY KEY) WITHOUT ROWID",
        ],
    ],
)
@pytest.mark.parametrize("looking", [False, True])
def test_the_file_of_another_program_is_left_alone(
    tmp_path: Path, statements: list[str], looking: bool
) -> None:
    path = tmp_path / "other.sqlite"
    before = made(path, *statements)
    with (
        pytest.raises(
            InputError,
            match=r"other.sqlite: an SQLite file of another program or .*; name another folder in ROBUSTCS",
        ),
        transaction(path, SCHEMA, looking=looking),
    ):
        pytest.fail("it was opened")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.sqlite"]


def test_an_empty_file_is_nobodys(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.touch()
    with transaction(path, SCHEMA, looking=True) as database:
        assert database.execute("SELECT * FROM words").fetchall() == []
    assert path.stat().st_size == 0
    with transaction(path, SCHEMA) as database:
        database.execute("INSERT INTO words VALUES ('a')")
    assert mark(path) == APPLICATION
