"""``robustcs testsets``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.inputs.paraphrases import read_paraphrases


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run(["testsets", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_ecast_in_json(capsys: pytest.CaptureFixture[str], shared_data: Path) -> None:
    code, out, _ = call(
        capsys,
        "--paraphrases",
        shared_data / "ECAsT.csv.gz",
        "--format",
        "json",
        "--table",
        "statistics",
    )
    found = json.loads(out)
    assert code == 0 and found["inputs"][0]["rows"] == 9214
    row = found["tables"]["statistics"][0]
    assert row == {
        "paraphrases": 9214, "topics": 131, "turns": 1203, "per_turn": pytest.approx(7.6592, abs=1e-4),
        "per_turn_min": 5, "per_turn_max": 22,
    }  # fmt: skip


def test_a_project_needs_no_argument(
    capsys: pytest.CaptureFixture[str], demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo)
    before = sorted(demo.iterdir())
    code, out, err = call(capsys)
    assert code == 0 and "No text is in two of the 3 sets." in out
    assert max(map(len, out.splitlines())) <= 80
    assert err == "no file written; add --folder DIR to write the sets\n"
    assert sorted(demo.iterdir()) == before


def test_writes_and_refuses(capsys: pytest.CaptureFixture[str], demo: Path, tmp_path: Path) -> None:
    arguments = ("--config", demo / "robustcs.toml", "--sets", 2, "--folder", tmp_path / "sets")
    code, _, err = call(capsys, *arguments)
    assert (code, err) == (
        0,
        f"wrote 8 files to {tmp_path / 'sets'}: manual_1.tsv … history_2.jsonl\n",
    )
    assert call(capsys, *arguments)[0] == 0
    code, _, err = call(capsys, *arguments, "--seed", 9)
    assert code == 2
    taken = f"{tmp_path / 'sets' / 'manual_1.tsv'} and 7 more: exist with other content"
    assert err == f"robustcs: {taken}; name another --folder, or add --overwrite\n"
    assert call(capsys, *arguments, "--seed", 9, "--overwrite")[0] == 0


def test_messages(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = call(capsys)
    assert (code, err) == (2, "robustcs: no paraphrases are given; add --paraphrases FILE\n")
    Path("bad.csv").write_text("TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n1_1,a\n")
    code, _, err = call(capsys, "--paraphrases", "bad.csv")
    assert (code, err) == (
        3,
        "bad.csv:2: 2 columns, but the header has 3; complete the row or delete it\n",
    )


def test_cleaning(capsys: pytest.CaptureFixture[str], demo: Path, tmp_path: Path) -> None:
    arguments = ("--config", demo / "robustcs.toml", "--clean", "--folder", tmp_path / "sets")
    code, out, err = call(capsys, *arguments, "--format", "json")
    found = json.loads(out)
    gone = found["tables"]["dropped"]
    assert code == 0 and gone and f"{len(gone)} of 350 paraphrases skipped" in found["notes"][1]
    assert err.startswith("wrote 13 files to")
    assert max(map(len, call(capsys, *arguments)[1].splitlines())) <= 80
    left = read_paraphrases(tmp_path / "sets" / "paraphrases.csv")
    assert (
        sum(map(len, left.values()))
        == found["tables"]["statistics"][0]["paraphrases"]
        == 350 - len(gone)
    )
    again = json.loads(
        call(
            capsys,
            "--paraphrases",
            tmp_path / "sets" / "paraphrases.csv",
            "--clean",
            "--format",
            "json",
        )[1]
    )
    assert again["tables"]["dropped"] == [] and again["tables"]["similar"][0]["paraphrases"] == 0
