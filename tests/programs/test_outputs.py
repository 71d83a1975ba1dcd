"""The store of outputs: by content, and clear where it cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.programs.outputs import OutputStore


def test_by_content(tmp_path: Path) -> None:
    store = OutputStore(tmp_path / "new" / "outputs.sqlite")
    asked = {"a": {"text": "x", "n": 2}, "b": {"n": 2, "text": "x"}, "c": {"text": "x", "n": 3}}
    store.put("maker", {"a": ["1", "é\ud800"[:1]]}, asked)
    assert store.get("maker", asked) == {"a": ["1", "é"], "b": ["1", "é"]}
    assert store.get("other", asked) == {} and store.get("maker", {}) == {}
    store.put("maker", {"b": ["2"]}, asked)
    assert OutputStore(tmp_path / "new" / "outputs.sqlite").get("maker", asked)["a"] == ["2"]


def test_in_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBUSTCS_CACHE", str(tmp_path))
    assert OutputStore().path == tmp_path / "outputs.sqlite"


def test_a_damaged_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "o").write_bytes(b"no database at all, though long enough to be one" * 100)
    with pytest.raises(
        InputError, match="delete the file, or name another folder in ROBUSTCS_CACHE"
    ):
        OutputStore(tmp_path / "o").get("maker", {"a": 1})
