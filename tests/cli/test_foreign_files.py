"""A file that belongs to something else is refused alike by every command; ``check`` tells of all such files at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command

#: Commands that score the run which is called ``human`` in the demo collection.
COMMANDS = (
    "breakdown", "sweep", "correlate", "unjudged", "judge --list", "augment", "augment --what-if 5", "augment --leave-one-out",
    "robustness --group g=human,qr", "report",
)  # fmt: skip
HOLES = ("unjudged", "judge --list")
TURNS = (
    "none of its turns is in the qrels: its turn ids look like 'F7_1', those of the qrels like '1_1'; check that the files"
    " belong together"
)
PASSAGES = (
    "none of its passages is judged: its passage ids look like 'MARCO_1', those of the qrels like"
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_of_other_turns(in_copy: Command, tmp_path: Path, command: str) -> None:
    (tmp_path / "demo" / "other.trec").write_text("F7_1 Q0 d1 1 9 t\nF7_1 Q0 d2 2 8 t\n")
    assert (
        in_copy(f"{command} --human other.trec", code=3).err.splitlines()[-1]
        == f"other.trec: {TURNS}"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_none_of_whose_passages_is_judged(
    in_copy: Command, tmp_path: Path, command: str
) -> None:
    (tmp_path / "demo" / "other.trec").write_text("1_1 Q0 MARCO_1 1 9 t\n1_2 Q0 MARCO_2 2 8 t\n")
    if command not in HOLES:
        assert (
            in_copy(f"{command} --human other.trec", code=3)
            .err.splitlines()[-1]
            .startswith(f"other.trec: {PASSAGES}")
        )
        return
    notes = json.loads(in_copy(f"{command} --human other.trec --format json").out)["notes"]
    assert sum(note.startswith(f"human: {PASSAGES}") for note in notes) == 1


@pytest.mark.parametrize(
    "command", ["breakdown", "correlate", "robustness", "report", "judge --export sheet.csv"]
)
def test_texts_of_other_turns(in_copy: Command, tmp_path: Path, command: str) -> None:
    (tmp_path / "demo" / "other.tsv").write_text("F7_1\tWhat is it?\nF7_2\tWhy?\n")
    answer = in_copy(f"{command} --rewrites human=other.tsv", code=3)
    assert answer.err.splitlines()[-1] == f"other.tsv: {TURNS}"
    assert not (tmp_path / "demo" / "sheet.csv").exists()


def test_check_tells_all_of_it(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "turns.trec").write_text("F7_1 Q0 d1 1 9 t\n")
    (folder / "passages.trec").write_text("1_1 Q0 MARCO_1 1 9 t\n")
    (folder / "other.tsv").write_text("F7_1\tWhat is it?\n")
    options = "--run turns=turns.trec --run passages=passages.trec --rewrites human=other.tsv"
    answer = in_copy(f"check {options} --format json", code=3)
    assert answer.err.splitlines()[-2:] == [f"turns.trec: {TURNS}", f"other.tsv: {TURNS}"]
    result = json.loads(answer.out)
    assert [file["role"] for file in result["tables"]["files"] if file["problem"]] == [
        "turns",
        "human texts",
    ]
    assert any(note.startswith(f"passages: {PASSAGES}") for note in result["notes"])
    assert result["policy"]["missing_turns"] == 70


def test_crowd(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "other.trec").write_text("F7_1 Q0 q1 1 9 t\n")
    config = folder / "robustcs.toml"
    config.write_text(config.read_text().replace('ids = "crowd/ids.json"', 'ids = "other.trec"'))
    err = in_copy("crowd", code=3).err.splitlines()[-1]
    assert err == (
        "other.trec: none of its turns is in the judgments: its turn ids look like 'F7_1', those of the judgments like '1_1';"
        " check that the files belong together"
    )


def test_runs_of_different_turns_without_qrels(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    config = folder / "robustcs.toml"
    config.write_text(config.read_text().replace('qrels = "qrels.txt"\n', "", 1))
    (folder / "other.trec").write_text("F7_1 Q0 d1 1 9 t\n")
    assert in_copy("correlate --qr other.trec --y overlap_10", code=3).err == (
        "other.trec: none of its turns is in runs/stem_human.trec: its turn ids look like 'F7_1', those of"
        " runs/stem_human.trec like '1_1'; check that the files belong together\n"
    )
    (folder / "other.tsv").write_text("F7_1\tWhat is it?\n")
    assert in_copy("correlate --rewrites human=other.tsv --y overlap_10", code=3).err == (
        "other.tsv: none of its turns is in the runs: its turn ids look like 'F7_1', those of the runs like '1_1'; check that"
        " the files belong together\n"
    )
