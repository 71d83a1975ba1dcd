"""``collection`` with several files: the first that has a passage counts, in every command that reads texts of passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import robustcs
from robustcs.errors import InputError
from robustcs.inputs.collection import read_passage_ids, read_passages, read_text_checksums
from robustcs.inputs.paths import parts_of, pooled
from robustcs.project.reading import read_project
from robustcs.retrieval.index import _dated, checked_passages, write_parts
from tests.conftest import Command


def write(path: Path, texts: dict[str, str]) -> Path:
    lines = [json.dumps({"id": one, "contents": text}) for one, text in texts.items()]
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def two(tmp_path: Path) -> Any:
    """Two files that both have the passage b, with different texts."""
    return pooled([
        write(tmp_path / "one.jsonl", {"a": "first a", "b": "first b"}),
        write(tmp_path / "two.jsonl", {"b": "second b", "c": "second c"}),
    ])  # fmt: skip


def test_the_first_file_that_has_a_passage_counts(two: Any) -> None:
    texts = read_passages(two, ["c", "b", "nowhere"])
    assert texts == {"b": "first b", "c": "second c"} and texts.parts == (1, 1)
    assert read_text_checksums(two, ["b"]) == read_text_checksums(parts_of(two)[0], ["b"])
    assert read_passage_ids(two, ["first a", "second c"]) == {"first a": ["a"], "second c": ["c"]}


def test_later_files_are_read_only_for_what_is_left(two: Any) -> None:
    parts_of(two)[1].write_text("no passages\n")
    assert read_passages(two, ["a", "b"]).parts == (2, 0)
    with pytest.raises(InputError, match=r"two\.jsonl"):
        read_passages(two, ["a", "c"])


def test_an_index_has_each_passage_once(two: Any, tmp_path: Path) -> None:
    assert [(one, text) for _, one, text in checked_passages(two)] == [
        ("a", "first a"), ("b", "first b"), ("c", "second c"),
    ]  # fmt: skip
    parts = tmp_path / "parts"
    parts.mkdir()
    written, _, _ = write_parts(two, parts, lambda items, what, total: items)
    assert written == 3
    before = _dated(two)
    write(parts_of(two)[1], {"c": "another text"})
    assert _dated(two) != before
    write(parts_of(two)[1], {"c": "x", "d": "y"}).open("a").write('{"id": "c", "contents": "z"}\n')
    with pytest.raises(InputError, match=r"two\.jsonl:3: passage c is also in line 1"):
        list(checked_passages(two))


@pytest.fixture
def split(in_copy: Command, tmp_path: Path) -> Path:
    """The demo with its passages in two files; the second repeats some with other texts."""
    folder = tmp_path / "demo"
    lines = (folder / "collection.jsonl").read_text("utf-8").splitlines()
    half = len(lines) // 2
    (folder / "first.jsonl").write_text("\n".join(lines[:half]) + "\n", "utf-8")
    wrong = [json.dumps({**json.loads(line), "contents": "Zzyzx"}) for line in lines[:50]]
    (folder / "second.jsonl").write_text("\n".join([*wrong, *lines[half:]]) + "\n", "utf-8")
    config = folder / "robustcs.toml"
    text = config.read_text("utf-8")
    split = text.replace('"collection.jsonl"', '["first.jsonl", "second.jsonl"]')
    assert split != text
    config.write_text(split, "utf-8")
    return folder


def roles(result: Any) -> list[str]:
    return [Path(one["path"]).name for one in result.inputs if "collection" in one["role"]]


@pytest.mark.parametrize("name", ["evaluate", "passages", "answers", "turns", "check"])
def test_studies_give_what_one_file_gives(name: str, split: Path, demo: Path) -> None:
    ours = getattr(robustcs, name)(split / "robustcs.toml")
    theirs = getattr(robustcs, name)(demo / "robustcs.toml")
    assert roles(ours) == ["first.jsonl", "second.jsonl"] and roles(theirs) == ["collection.jsonl"]
    if name == "turns":
        assert ours.turns_where("Zzyzx") == []
        assert ours.turns_where("sourdough") == theirs.turns_where("sourdough") != []
    elif name != "check":
        main = next(iter(ours.tables))
        assert ours.tables[main].equals(theirs.tables[main])


def test_the_option_can_be_repeated(in_copy: Command, split: Path) -> None:
    line = "turns --turn 1_5 --collection {} --format json --table records"
    whole = json.loads(in_copy(line.format("collection.jsonl")).out)
    both = json.loads(in_copy(line.format("first.jsonl --collection second.jsonl")).out)
    assert whole["tables"] == both["tables"]
    paths = [one["path"] for one in both["inputs"] if one["role"] == "collection"]
    assert paths == ["first.jsonl", "second.jsonl"]
    shown = in_copy("turns --turn 1_5 --collection second.jsonl --collection first.jsonl").out
    assert "Zzyzx" in shown and "Zzyzx" not in in_copy("turns --turn 1_5").out


def test_check_and_report_name_both(in_copy: Command, split: Path) -> None:
    checked = in_copy("check").out
    assert "first.jsonl" in checked and "second.jsonl" in checked
    in_copy("report --output out")
    page = (split / "out" / "report.html").read_text("utf-8")
    assert "first.jsonl" in page and "second.jsonl" in page and "Zzyzx" not in page


def test_a_bundle_keeps_both(in_copy: Command, split: Path, tmp_path: Path) -> None:
    in_copy(f"bundle {tmp_path / 'copy'}")
    project = read_project(tmp_path / "copy" / "robustcs.toml")
    assert project.collection is not None
    wanted = ["sourdough_01", "tides_27"]
    copied = read_passages(project.collection, wanted)
    assert copied == read_passages(split / "collection.jsonl", wanted)
    assert len(parts_of(project.collection)) == 2


def test_objects_in_memory() -> None:
    run = {"1_1": {"a": 1.0, "b": 0.5}}
    frames = [
        pd.DataFrame({"doc_id": ["a"], "text": ["sharks"]}),
        pd.DataFrame({"doc_id": ["a", "b"], "text": ["lions", "teeth"]}),
    ]
    result = robustcs.turns(qrels={"1_1": {"a": 1}}, runs={"x": run}, collection=frames)
    assert result.turns_where("lions") == []
    assert result.turns_where("sharks teeth") == ["1_1"]


def test_init_names_the_files_of_all_domains(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo" / "domains"
    folder.mkdir()
    for name, turns in (("bank", "1"), ("law", "2")):
        ids = [f"{turns}{one}_1" for one in range(9)]
        (folder / f"qrels_{name}.txt").write_text(
            "".join(f"{one} 0 {name}{one} 1\n" for one in ids)
        )
        lines = [f"{one} Q0 {name}{one} 1 1.0 t\n" for one in ids]
        (folder / f"bm25_{name}.trec").write_text("".join(lines))
        write(folder / f"passages_{name}.jsonl", {f"{name}{one}": f"on {one}" for one in ids})
    in_copy(f"init {folder}")
    project = read_project(folder / "robustcs.toml")
    assert project.collection is not None
    names = [path.name for path in parts_of(project.collection)]
    assert names == ["passages_bank.jsonl", "passages_law.jsonl"]
