"""Reading a collection for indexing: what Anserini would drop in silence is told."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.retrieval import index as collection
from robustcs.retrieval.index import write_parts


def untracked(items, what, total):  # type: ignore[no-untyped-def]
    return items


def written(path: Path, folder: Path) -> list[dict[str, str]]:
    folder.mkdir()
    write_parts(path, folder, untracked)
    return [
        json.loads(line)
        for part in sorted(folder.iterdir())
        for line in part.read_text().splitlines()
    ]


@pytest.mark.parametrize("compressed", [False, True])
def test_jsonl(tmp_path: Path, compressed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "PART", 2)
    path = tmp_path / "c"
    passages = [
        {"id": "a", "contents": "One"},
        {"id": 2, "contents": "zwei ✓ 😀", "more": 1},
        {"id": "b", "contents": " x "},
    ]
    data = "\n".join(json.dumps(passage) for passage in passages).encode()
    path.write_bytes(gzip.compress(data) if compressed else data)
    assert written(path, tmp_path / "parts") == [
        {"id": "a", "contents": "One"}, {"id": "2", "contents": "zwei ✓ 😀"}, {"id": "b", "contents": " x "},
    ]  # fmt: skip
    assert len(list((tmp_path / "parts").iterdir())) == 2


def test_table(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    path.write_text('1\tsaid "so"\n2\tback\\slash\ttab\n')
    assert written(path, tmp_path / "parts") == [
        {"id": "1", "contents": 'said "so"'}, {"id": "2", "contents": "back\\slash\ttab"},
    ]  # fmt: skip


def test_every_bad_line_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(
        '{"id": "a", "contents": "x"}\n{"id": "b", "contents": "x"\n{"id": "a", "contents": "y"}\n{"contents": "x"}\n'
        '{"id": "c"}\n{"id": "d", "contents": " "}\n{"id": "e f", "contents": "x"}\n[1]\n{"id": "a", "contents": "x"}\n'
    )
    (tmp_path / "parts").mkdir()
    with pytest.raises(InputError) as error:
        write_parts(path, tmp_path / "parts", untracked)
    form = 'write JSONL with "id" and "contents" on every line, or id TAB text'
    assert str(error.value).split("\n") == [
        f"{path}:2: not JSON (Expecting ',' delimiter); write one JSON object per line",
        f"{path}:4: no passage id; {form}",
        f"{path}:5: passage c has no contents; {form}",
        f"{path}:6: passage d is empty; write its text or delete the line",
        f"{path}:7: passage id 'e f' contains white space; change the id, because run files separate columns by white space",
        f"{path}:8: not a JSON object; {form}",
        f"{path}:3: passage a is also in line 1; keep one of the two lines",
        f"{path}:9: passage a is also in line 1; keep one of the two lines",
    ]


def test_the_list_of_problems_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    path.write_text("1\tx\n" * 1000)
    (tmp_path / "parts").mkdir()
    with pytest.raises(InputError) as error:
        write_parts(path, tmp_path / "parts", untracked)
    assert error.value.total == 999 and str(error.value).endswith("… and 979 more problems")


def test_not_a_collection(tmp_path: Path) -> None:
    path = tmp_path / "c"
    path.write_text("hello\n")
    with pytest.raises(InputError, match=":1: not a collection of passages; "):
        write_parts(path, tmp_path, untracked)
    path.write_text("")
    with pytest.raises(InputError):
        write_parts(path, tmp_path, untracked)


def test_an_id_with_half_a_character_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(
        '{"id": "\\ud800", "contents": "x"}\n{"id": "a", "contents": ' + "[" * 100_000 + "}\n"
    )
    (tmp_path / "parts").mkdir()
    with pytest.raises(InputError) as error:
        write_parts(path, tmp_path / "parts", untracked)
    assert str(error.value).split("\n") == [
        f"{path}:1: passage id '\\ud800' has half a character; save the file as UTF-8",
        f"{path}:2: not JSON (nested too deeply); write one JSON object per line",
    ]
