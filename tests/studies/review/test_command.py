"""``robustcs review``, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.evaluation.outcomes import OUTCOMES
from robustcs.inputs.scores import read_slices
from tests.conftest import Command

SAMPLE = {"kind": "random", "seed": 7, "of": 70, "size": 14}


def lines(coder: str, systems: list[str], step: int) -> list[dict[str, Any]]:
    turns = [f"{topic}_{turn}" for topic in range(1, 8) for turn in (2, 5)]
    return [
        {"turn": turn, "systems": systems, "categories": ["lost entity"] * (place % step == 0), "note": "", "coder": coder,
         "sample": SAMPLE}
        for place, turn in enumerate(turns)
    ]  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    paths = tmp_path / "ada.jsonl", tmp_path / "ben.jsonl"
    rows = [*lines("ada", ["qr"], 2), *lines("ada", ["human"], 7)], lines("ben", ["qr"], 3)
    for path, some in zip(paths, rows, strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in some))
    return str(paths[0]), str(paths[1])


def test_categories_crossings_differences_and_coders(
    in_demo: Command, files: tuple[str, str]
) -> None:
    out = in_demo(f"review {files[0]} {files[1]}").out
    assert max(map(len, out.splitlines())) <= 80
    for part in (
        "How frequent is each category?",
        "with which bin at NDCG@3",
        "separate two systems?",
        "Do the coders agree?",
    ):
        assert part in " ".join(out.split())
    found = json.loads(in_demo(f"review {files[0]} {files[1]} --format json").out)["tables"]
    row = next(
        row
        for row in found["categories"]
        if (row["category"], row["systems"], row["coder"]) == ("lost entity", "qr", "ada")
    )
    assert (row["count"], row["reviewed"], row["of"], row["share"]) == (7, 14, 70, 0.5) and row[
        "ci_low"
    ] < 0.5 < row["ci_high"]
    bins = {row["value"] for row in found["crossings"] if row["by"].startswith("bin")}
    outcomes = {row["value"] for row in found["crossings"] if row["by"] == "outcome"}
    assert (
        bins
        and bins <= {f"{bin_:03b}" for bin_ in range(8)}
        and outcomes
        and outcomes <= set(OUTCOMES)
    )
    assert [row["turns"] for row in found["coders"]] == [14]
    assert "95% CI: nested bootstrap-t over 7 conversations." in " ".join(out.split())


def test_the_slices_go_to_other_commands(
    in_demo: Command, files: tuple[str, str], tmp_path: Path
) -> None:
    slices = tmp_path / "reviewed.tsv"
    in_demo(f"review {files[1]} --write-slices {slices}")
    assert set(read_slices(slices)["lost entity"].values()) == {"yes", "no"}
    assert (
        "lost entity: yes"
        in in_demo(f"breakdown --slices {slices} --table slices --metric ndcg_cut_3").out
    )


def test_without_files_and_with_others(in_demo: Command, files: tuple[str, str]) -> None:
    assert "no reviews are given" in in_demo("review --config plain.toml", code=2).err
    assert "the page of a report" in in_demo("review --config plain.toml", code=2).err
    assert (
        in_demo("review qrels.txt", code=3).err
        == "qrels.txt: these are TREC qrels; use them with --qrels\n"
    )


def test_in_python_and_without_any_other_file(files: tuple[str, str]) -> None:
    result = robustcs.review(files=files)
    assert not len(result.crossings) and len(result.coders) == 1
    assert set(result.categories["coder"]) == {"ada", "ben"}


def test_causes_are_those_of_the_cell_with_the_run_of_the_system(
    in_demo: Command, files: tuple[str, str]
) -> None:
    cells = {
        "qr/stem": "runs/stem_qr.trec",
        "qr/plain": "runs/plain_qr.trec",
        "raw/stem": "runs/stem_original.trec",
    }
    rows = robustcs.review(files=files[1:], components=cells).crossings
    assert set(rows.loc[rows["by"].str.startswith("component"), "of_system"]) == {"qr/stem"}
