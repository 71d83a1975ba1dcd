"""``robustcs review --export``: a random sample of the turns that a filter selects, and its analysis."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from robustcs.studies.review.sheet import sheet
from tests.conftest import Command


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_sheet_is_drawn_completed_and_analysed(in_copy: Command, tmp_path: Path) -> None:
    path = tmp_path / "demo" / "sheet.jsonl"
    in_copy("review --export sheet.jsonl --where 'cause:rewriter' --limit 12 --seed 4")
    lines = lines_of(path)
    listed = in_copy("turns --where cause:rewriter --sort random --seed 4 --limit 12 --format json")
    rows = json.loads(listed.out)["tables"]["records"]
    assert [line["turn"] for line in lines] == [row["turn"] for row in rows]
    assert lines[0]["texts"] == rows[0]["record"]["texts"] and lines[0]["systems"] == ["qr"]
    for place, line in enumerate(lines):
        line["categories"] = None if place > 9 else ["entity missing"][: place % 2]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    out = in_copy("review sheet.jsonl --format json").out
    (missing, none) = sorted(json.loads(out)["tables"]["categories"], key=lambda row: -row["count"])
    assert (missing["count"], missing["reviewed"], missing["of"]) == (5, 10, 18)
    assert missing["random"] and 0.2 < missing["ci_low"] < 0.5 < missing["ci_high"] < 0.8
    assert missing["where"] == "where cause:rewriter" and none["count"] == 5
    assert missing["sample"] == "random, 10 of 18 turns where cause:rewriter, seed 4"


def test_without_a_filter_only_scored_turns_are_drawn(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "cast2019"
    path = tmp_path / "robustcs.toml"
    path.write_text(
        f"""
qrels = "{folder}/qrels.txt.gz"
[policy]
relevance_level = 2
[formulations.qr]
run = "{next((folder / "runs").glob("*cv*.gz"))}"
rewrites = "{folder}/runs/rewrites_cv.jsonl"
[formulations.human]
run = "{next((folder / "runs").glob("*oracle*.gz"))}"
rewrites = "{folder}/topics_resolved.tsv"
""",
        "utf-8",
    )
    workspace = Workspace(read_project(path))
    drawn = [json.loads(line) for line in sheet(workspace, "", 30, ()).splitlines()]
    judged = set(workspace.qrels.turns)
    assert len(drawn) == 30 and {line["turn"] for line in drawn} <= judged
    sample = drawn[0]["sample"]
    assert sample["of"] == len(judged) == 173 and sample["where"] == "with a score in NDCG@3"
    every = [json.loads(line) for line in sheet(workspace, "-turn:x", 30, ()).splitlines()]
    assert every[0]["sample"]["of"] == 479 and not {line["turn"] for line in every} <= judged


def test_answers_without_a_headline(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"1": "yes", "2": "no", "3": "maybe"}')
    (tmp_path / "robustcs.toml").write_text('[answers.responses]\n"Acme: Chat" = "a.json"\n')
    project = read_project(tmp_path / "robustcs.toml")
    lines = sheet(Workspace(project), "", 9, ()).splitlines()
    drawn = [json.loads(line) for line in lines]
    assert {line["answers"]["Acme: Chat"] for line in drawn} == {"yes", "no", "maybe"}
    assert drawn[0]["sample"] == {"kind": "random", "seed": 0, "of": 3, "size": 3, "where": ""}


def test_systems_are_named(in_copy: Command, tmp_path: Path) -> None:
    in_copy("review --export sheet.jsonl --show HUMAN --show qr --limit 1")
    (line,) = lines_of(tmp_path / "demo" / "sheet.jsonl")
    assert line["systems"] == ["human", "qr"] and list(line["answers"]) == ["human", "qr"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("--export review/ada.jsonl", "review/ada.jsonl"),
        ("--export s.jsonl --where cause:nothing", "no turn is selected by cause:nothing"),
        ("--export s.jsonl --where cuase:ranker", "did you mean cause?"),
        (
            "--export s.jsonl --show qrr",
            "there is no system 'qrr'; choose from original, qr, human",
        ),
        ("--export s.jsonl review/ada.jsonl", "--export writes a sheet and reads no reviews"),
        ("--where cause:ranker", "--where has no effect without --export"),
    ],
)
def test_what_is_refused(line: str, found: str, in_copy: Command, tmp_path: Path) -> None:
    assert found in " ".join(in_copy(f"review {line}", code=2).err.split())
    assert not (tmp_path / "demo" / "s.jsonl").exists()


def test_a_sheet_that_nobody_read(in_copy: Command) -> None:
    in_copy("review --export sheet.jsonl --limit 5")
    error = " ".join(in_copy("review sheet.jsonl", code=3).err.split())
    assert "no turn of the sheet is read (5); write a list of categories in place of null" in error
    assert "these are reviewed turns" in in_copy("review --export sheet.jsonl", code=2).err


def test_the_sheet_is_a_file_of_reviews_in_python(in_copy: Command, tmp_path: Path) -> None:
    in_copy("review --export sheet.jsonl --limit 3 --where 'type:\"words dropped\"'")
    path = tmp_path / "demo" / "sheet.jsonl"
    path.write_text(path.read_text("utf-8").replace('"categories": null', '"categories": []'))
    result = robustcs.review(tmp_path / "demo" / "robustcs.toml", files=[path])
    assert result.categories["count"].tolist() == [3]
    assert result.categories["sample"][0].endswith('where type:"words dropped", seed 0')
