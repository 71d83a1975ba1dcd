"""``robustcs check``: what fits together and what does not, without changing anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robustcs.cli.main import run
from tests.cli.conftest import Command


def test_the_demo_collection_fits_together(in_demo: Command) -> None:
    result = json.loads(in_demo("check --format json").out)
    tables = result["tables"]
    assert list(tables) == ["files", "runs", "texts"]
    assert [entry["problem"] for entry in tables["files"]] == [None] * 23
    assert {entry["role"]: entry["rows"] for entry in tables["files"]}.items() >= {
        "qrels": 782, "original": 2555, "gold answers": 70, "new judgments": 634, "paraphrases": 350,
    }.items()  # fmt: skip
    runs = {row["run"]: row for row in tables["runs"]}
    assert runs["raw_2"] == {
        "run": "raw_2", "turns": 69, "missing": 1, "extra": 0, "depth_min": 1, "depth_median": 35.0, "depth_max": 100,
        "judged_3": runs["raw_2"]["judged_3"], "judged_10": runs["raw_2"]["judged_10"],
    }  # fmt: skip
    # the pool is the top 5 of the six baseline runs
    assert [name for name, row in runs.items() if row["judged_3"] == 1] == [
        "original", "qr", "human", "plain_original", "plain_qr", "plain_human"
    ]  # fmt: skip
    assert tables["texts"] == [
        {"formulation": "original", "texts": 70, "without": 0, "unchanged": 70},
        {"formulation": "qr", "texts": 70, "without": 0, "unchanged": 7},
        {"formulation": "human", "texts": 70, "without": 0, "unchanged": 19},
    ]
    assert result["notes"] == ["raw_2 lacks 4_4"]
    assert result["policy"]["missing_turns"] == 1


def test_nothing_is_changed(in_copy: Command, tmp_path: Path) -> None:
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}
    in_copy("check")
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()} == before


def test_one_broken_file_does_not_hide_the_rest(in_copy: Command, tmp_path: Path) -> None:
    broken = tmp_path / "demo" / "runs" / "stem_qr.trec"
    lines = broken.read_text().splitlines()
    broken.write_text("\n".join([*lines[:9], lines[9].rsplit(" ", 2)[0], *lines[10:]]) + "\n")
    (tmp_path / "demo" / "runs" / "stem_raw_1.trec").unlink()
    answer = in_copy("check --format json", code=3)
    result = json.loads(answer.out)
    problems = {entry["role"]: entry["problem"] for entry in result["tables"]["files"] if entry["problem"]}
    assert list(problems) == ["qr", "raw_1"]
    assert answer.err.splitlines() == list(problems.values())
    assert problems["qr"].startswith("runs/stem_qr.trec:10: 4 columns where a run has 6")
    assert [row["run"] for row in result["tables"]["runs"]][:3] == ["original", "human", "plain_original"]


def test_texts_alone(in_demo: Command) -> None:
    result = json.loads(in_demo("check --config /dev/null --rewrites original=topics.json --format json").out)
    assert result["tables"]["texts"] == [{"formulation": "original", "texts": 70, "without": 0, "unchanged": 0}]
    assert result["notes"] == ["without readable qrels nothing can be said about turns and judgments"]


def test_ids_cut_at_the_document_are_told(shared_data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = shared_data / "cast2021"
    runs = [f"--run={name}={folder / 'runs' / f'org_convdr.{name}.gz'}" for name in ("passages.trec", "run")]
    assert run(["check", "--qrels", str(folder / "qrels-docs.txt.gz"), *runs, "--format", "json"]) == 0
    notes = " ".join(json.loads(capfd.readouterr().out)["notes"])
    assert "passages.trec has passage ids (DOC-N) and the qrels document ids: robustcs unjudged --documents" in notes
    assert "run has passage ids" not in notes.replace("passages.trec has passage ids", "")
