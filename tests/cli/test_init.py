"""``robustcs init``: from a folder of files to a project that works."""

from __future__ import annotations

import json
import os
import socket
import tomllib
from pathlib import Path

import pytest

from robustcs.cli.main import run
from tests.conftest import Command


def test_init_then_check_then_breakdown(in_copy: Command, tmp_path: Path) -> None:
    (tmp_path / "demo" / "robustcs.toml").unlink()
    answer = in_copy("init")
    assert answer.out == "wrote robustcs.toml: look through it, then try robustcs check\n"
    notes = json.loads(in_copy("check --format json").out)["notes"]
    assert notes[0] == "stem_raw_2 lacks 1 turn: 4_4"
    assert notes[1].startswith("[clariq]: nothing to evaluate; ") and len(notes) == 2  # topics alone
    result = json.loads(in_copy("breakdown --format json").out)
    assert result["policy"]["basis"] == "runs"
    assert [entry["path"] for entry in result["inputs"]] == [
        "qrels.txt", "runs/plain_original.trec", "runs/plain_qr.trec", "runs/plain_human.trec",
        "topics.json",
    ]  # fmt: skip
    assert sum(row["unchanged"] for row in result["tables"]["bins"][:8]) == 19
    in_copy("sweep")
    in_copy("breakdown --metric f1")


def test_the_config_explains_itself(in_copy: Command, tmp_path: Path) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    config.unlink()
    in_copy("init .")
    text = config.read_text()
    assert tomllib.loads(text)["policy"] == {"relevance_level": 1, "missing": "zero", "order": "score"}
    for comment in ("# Paths are relative", "# also judgments, by their looks: grades.txt", "CAsT uses 2"):
        assert comment.removeprefix("# ") in text
    assert max(map(len, text.splitlines())) <= 120


def test_an_existing_config_is_left_alone(in_copy: Command, tmp_path: Path) -> None:
    before = (tmp_path / "demo" / "robustcs.toml").read_bytes()
    assert in_copy("init", code=2).err == "robustcs: robustcs.toml is there already; edit it, or move it away first\n"
    assert (tmp_path / "demo" / "robustcs.toml").read_bytes() == before


@pytest.mark.parametrize("year", ["cast2019", "cast2020"])
def test_folders_of_public_data(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], year: str
) -> None:
    link = tmp_path / year
    link.mkdir()
    for path in (shared_data / year).iterdir():
        (link / path.name).symlink_to(path)
    for path in [entry for entry in link.iterdir() if entry.is_dir()]:
        target = path.resolve()
        path.unlink()
        path.mkdir()
        for file in target.iterdir():
            (path / file.name).symlink_to(file)
    monkeypatch.chdir(link)
    assert run(["init"]) == 0
    assert run(["breakdown", "--format", "json", "--relevance-level", "2"]) == 0
    out = capfd.readouterr().out
    result = json.loads(out[out.index("{") :])
    assert result["policy"]["turns"] == {"cast2019": 173, "cast2020": 208}[year]


def test_pipes_sockets_and_endless_brackets_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("qrels.fifo")
    Path("raw.trec").symlink_to("qrels.fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("human.trec")
        for number, opening in enumerate(("[", '{"a":', '[{"turn":[', '[{"utterance":[', '{"id":"1_1","text":[')):
            Path(f"deep{number}.json").write_text(opening * 100_000)
            Path(f"line{number}.jsonl").write_text(f"{opening * 20_000}\n" * 2)
        Path("qrels.txt").write_text("1_1 0 d1 2\n1_2 0 d1 1\n")
        assert run(["init"]) == 0
    assert capfd.readouterr().err == ""
    config = tomllib.loads(Path("robustcs.toml").read_text())
    assert config["qrels"] == "qrels.txt"
    assert config["formulations"] == {"original": {}, "qr": {}, "human": {}}


def test_human_texts_of_all_judged_turns_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("1_1 0 d1 2\n1_2 0 d1 1\n")
    line = '{"topic_number": 1, "query_number": 2, "input": ["a", "b"], "target": "c", "output": "d"}'
    Path("rewrites_t5.jsonl").write_text(line + "\n")
    Path("human.tsv").write_text("1_1\ta\n1_2\tc\n")
    Path("other_human.tsv").write_text("".join(f"9_{turn}\ttext\n" for turn in range(50)))
    assert run(["init"]) == 0
    parts = tomllib.loads(Path("robustcs.toml").read_text())["formulations"]
    assert {role: part["rewrites"] for role, part in parts.items()} == {
        "original": "rewrites_t5.jsonl:raw", "qr": "rewrites_t5.jsonl:automatic", "human": "human.tsv",
    }  # fmt: skip
