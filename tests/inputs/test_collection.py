from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.inputs.collection import read_passage_ids, read_passages


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_the_wanted_passages_of_the_demo(demo: Path) -> None:
    texts = read_passages(demo / "collection.jsonl", {"sourdough_01", "tides_27", "nowhere_1"})
    assert list(texts) == ["sourdough_01", "tides_27"]
    assert texts["sourdough_01"].startswith("A sourdough starter is a mixture of flour and water")


def test_the_same_from_jsonl_and_from_a_table_plain_or_compressed(
    demo: Path, tmp_path: Path
) -> None:
    records = [
        json.loads(line)
        for line in (demo / "collection.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    everything = {record["id"]: record["contents"] for record in records}
    table = "\r\n".join(f"{passage}\t{text}" for passage, text in everything.items())
    assert read_passages(demo / "collection.jsonl", everything) == everything
    assert read_passages(write(tmp_path / "c.tsv", f"\ufeff{table}"), everything) == everything
    (tmp_path / "c.tsv.gz").write_bytes(gzip.compress(table.encode()))
    assert read_passages(tmp_path / "c.tsv.gz", everything) == everything


def test_real_passages(shared_data: Path) -> None:
    file = shared_data / "cast2020" / "passages.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        everything = {record["id"]: record["contents"].strip() for record in map(json.loads, lines)}
    some = dict(list(everything.items())[::100])
    assert len(everything) == 2206
    assert read_passages(file, some) == some


def test_fields_in_any_order_numbers_as_ids_and_other_scripts(tmp_path: Path) -> None:
    file = write(
        tmp_path / "c.jsonl",
        '{"contents": "second", "id": "b\\"1"}\n\n{"title": "x", "id": 7, "contents": " 東京\u2028は "}\n',
    )
    assert read_passages(file, {"7", 'b"1'}) == {'b"1': "second", "7": "東京\u2028は"}


def test_reading_ends_with_the_last_wanted_passage(tmp_path: Path) -> None:
    file = write(tmp_path / "c.tsv", "a\tone\nb\ttwo\nbroken\n")
    assert read_passages(file, {"a", "b"}) == {"a": "one", "b": "two"}
    with pytest.raises(InputError, match="c.tsv:3: no tab between id and text"):
        read_passages(file, {"a", "c"})


def test_every_malformed_line_is_named(tmp_path: Path) -> None:
    file = write(
        tmp_path / "c.jsonl",
        '{"id": "a", "contents": "one"}\n{"id": "b", "contents": "cut\n{"contents": "none"}\n[1]\n'
        '{"id": "d"}\n{"id": "a", "contents": "other"}\n{"id": true, "contents": "x"}\n',
    )
    with pytest.raises(InputError) as error:
        read_passages(file, {"a", "d", "z"})
    advice = 'write JSONL with "id" and "contents" on every line, or id TAB text'
    lines = str(error.value).splitlines()
    assert lines[0].startswith(f"{file}:2: not JSON (")
    assert lines[1:] == [
        f"{file}:3: no passage id; {advice}",
        f"{file}:4: not a JSON object; {advice}",
        f"{file}:5: passage d has no contents; {advice}",
        f"{file}:6: passage a has a different text in an earlier line; keep one of the two lines",
        f"{file}:7: no passage id; {advice}",
    ]


def test_files_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the file is empty"):
        read_passages(write(tmp_path / "empty", "\n\n"), {"a"})
    with pytest.raises(InputError, match="this is a TREC run; use it with --run"):
        read_passages(write(tmp_path / "run", "1_1 Q0 d 1 2.5 tag\n"), {"a"})


def test_half_a_character_is_a_question_mark_as_in_an_index(tmp_path: Path) -> None:
    path = tmp_path / "collection.jsonl"
    path.write_text(
        '{"id": "a", "contents": "x\\ud83d"}\n{"id": "b", "contents": "\\ud83d\\ude00"}\n'
    )
    assert read_passages(path, {"a", "b"}) == {"a": "x?", "b": "\U0001f600"}


def test_ids_of_texts(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "contents": " one "},
        {"id": "b", "contents": "two"},
        {"id": 3, "contents": "one"},
        {"id": "a", "contents": "one"},
    ]
    path = tmp_path / "collection.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert read_passage_ids(path, {"one", "three"}) == {"one": ["a", "3"]}
    table = tmp_path / "collection.tsv"
    table.write_text("a\tone\nb\ttwo\n", encoding="utf-8")
    assert read_passage_ids(table, {"two"}) == {"two": ["b"]}
    path.write_text('{"id": "a"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="passage a has no contents"):
        read_passage_ids(path, {"one"})
