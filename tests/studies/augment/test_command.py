from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from robustcs.evaluation import hole_expectation
from robustcs.evaluation.hole_check import HoleCheck


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    code = run(["augment", *map(str, arguments)])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


def fail(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run(["augment", *map(str, arguments)])
    return code, capsys.readouterr().err


@pytest.fixture
def project(demo: Path) -> tuple[str, ...]:
    """The demo collection with all its runs."""
    return ("--config", str(demo / "robustcs.toml"))


def tables(
    capsys: pytest.CaptureFixture[str], *arguments: object
) -> dict[str, list[dict[str, Any]]]:
    return json.loads(call(capsys, *arguments, "--format", "json"))["tables"]


def test_contract(capsys: pytest.CaptureFixture[str], project: tuple[str, ...]) -> None:
    found = tables(capsys, *project, "--metric", "ndcg_cut_3", "--what-if", 20, "--leave-one-out")
    assert {"system", "metric", "before", "after", "difference"} <= found["measures"][0].keys()
    assert {"metric", "method", "value"} <= found["ranking"][0].keys()
    assert {"turn", "document", "old", "new", "kept"} <= found["conflicts"][0].keys()
    assert {name: len(rows) for name, rows in found.items()} == {
        "measures": 12, "ranking": 3, "conflicts": 3, "turns": len(found["turns"]), "files": 1,
        "what_if": 12, "flips": 66, "leave_one_out": 12, "leave_group_out": 12, "power": 1,
        "sources": 36, "tipping": 24,
    }  # fmt: skip
    assert [(row["old"], row["new"], row["kept"]) for row in found["conflicts"]] == [(1, 2, 1)] * 3
    # as the demo's README says
    assert all(row["after"] < row["before"] for row in found["measures"])


@pytest.mark.parametrize(("rule", "kept"), [("keep", 1), ("replace", 2), ("max", 2)])
def test_written_judgments_are_those_that_were_scored(
    capsys: pytest.CaptureFixture[str],
    project: tuple[str, ...],
    tmp_path: Path,
    rule: str,
    kept: int,
) -> None:
    path = tmp_path / "merged.txt"
    project = (*project, "--metric", "ndcg_cut_3")
    found = tables(capsys, *project, "--conflicts", rule, "--write-qrels", path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 782 + 634 - 3
    assert f"3_1 0 bicycles_28 {kept}" in lines
    again = tables(capsys, *project, "--qrels", path, "--leave-one-out", "--new-judgments", path)
    after = [row["after"] for row in found["measures"]]
    assert (
        [row["before"] for row in again["measures"]]
        == [row["after"] for row in again["measures"]]
        == after
    )
    assert again["files"] == [
        {
            "file": str(path),
            "judgments": 1413,
            "added": 0,
            "added_turns": 0,
            "repeated": 1413,
            "conflicts": 0,
        }
    ]
    assert again["conflicts"] == []


def test_a_conflict_fails_where_asked(
    capsys: pytest.CaptureFixture[str], project: tuple[str, ...], demo: Path, tmp_path: Path
) -> None:
    path = tmp_path / "merged.txt"
    new = demo / "new_judgments.txt"
    code, message = fail(capsys, *project, "--conflicts", "fail", "--write-qrels", path)
    lines = new.read_text(encoding="utf-8").splitlines()
    pairs = (("3_1", "bicycles_28"), ("6_1", "coffee_27"), ("9_2", "compost_03"))
    assert code == 3
    assert message.splitlines() == [
        f"{new}:{lines.index(f'{turn} 0 {document} 2') + 1}: turn {turn} document {document} has grade 2 but grade 1 in"
        " qrels.txt; correct one of the files, or use --conflicts keep, replace or max"
        for turn, document in pairs
    ]
    assert not path.exists()


def test_two_new_files_contradict_each_other(
    capsys: pytest.CaptureFixture[str], project: tuple[str, ...], tmp_path: Path
) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("1_1 0 u1 3\n99_1 0 u1 1\n", encoding="utf-8")
    two.write_text("1_1 0 u1 0\n", encoding="utf-8")
    out = call(capsys, *project, "--new-judgments", one, "--new-judgments", two, "--format", "json")
    result = json.loads(out)
    assert result["tables"]["conflicts"] == [
        {
            "turn": "1_1",
            "document": "u1",
            "old": 3,
            "new": 0,
            "kept": 3,
            "old_file": str(one),
            "new_file": str(two),
        }
    ]
    assert result["notes"][0] == (
        "the new judgments include 1 turn without earlier judgments; these are added to the merged qrels but not to the scores,"
        " which cover the same turns before and after"
    )
    assert [entry["role"] for entry in result["inputs"][:3]] == [
        "qrels",
        "new judgments",
        "new judgments",
    ]


def test_missing_turns_dropped(
    capsys: pytest.CaptureFixture[str], project: tuple[str, ...]
) -> None:
    result = json.loads(
        call(capsys, *project, "--missing", "drop", "--metric", "P_1", "--format", "json")
    )
    assert result["policy"]["turns"] == 69
    assert "raw_2 misses 1 turn: 4_4" in result["notes"]


@pytest.mark.parametrize("options", [(), ("--what-if", 5), ("--leave-one-out",)])
def test_fits_80_columns(
    capsys: pytest.CaptureFixture[str], project: tuple[str, ...], options: tuple[object, ...]
) -> None:
    out = call(capsys, *project, *options)
    assert max(map(len, out.splitlines())) <= 80
    assert out.splitlines()[-1].endswith("relevant ≥ 2 (binary measures)")
    # no table falls apart into two
    assert out.count("before and after\n") == 3


def test_what_if_is_seeded(capsys: pytest.CaptureFixture[str], demo: Path) -> None:
    three = ("--config", demo / "plain.toml")
    draw = [
        tables(capsys, *three, "--what-if", 20, "--metric", "P_10", "--seed", seed)["what_if"]
        for seed in (1, 1, 2)
    ]
    assert draw[0] == draw[1] != draw[2] and all(row["low"] < row["high"] for row in draw[0])


def test_warnings_of_the_hole_model_are_printed(
    capsys: pytest.CaptureFixture[str], project: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = HoleCheck(0.0, 1.0, 0.5, 10, "Do not rely on the predicted grades: …")
    monkeypatch.setattr(hole_expectation, "check_hole_model", lambda *_: failed)
    out = " ".join(call(capsys, *project, "--what-if", 40, "--metric", "P_10").split())
    assert (
        f"Note: {failed.warning} Note: 1358 of 1358 unjudged passages are deeper than nearly all judged ones"
        in out
    )
    assert "95% intervals covered 50.0% of the true means and differences." in out


def test_what_if_without_holes(
    capsys: pytest.CaptureFixture[str], project: tuple[str, ...]
) -> None:
    out = " ".join(
        call(capsys, *project, "--what-if", 40, "--metric", "P_3", "--pool-depth", 3).split()
    )
    assert "Unjudged passages in the top 3 of at least one run: 0. Deeper passages" in out


def test_files_of_every_kind(
    capsys: pytest.CaptureFixture[str], project: tuple[str, ...], tmp_path: Path
) -> None:
    names = [
        tmp_path / f"out.{suffix}" for suffix in ("svg", "png", "tex", "md", "csv", "json", "txt")
    ]
    call(
        capsys,
        *project,
        *(part for name in names for part in ("--output", name)),
        "--metric",
        "map",
    )
    assert all(name.stat().st_size > 500 for name in names)
    assert "before" in (tmp_path / "out.svg").read_text(encoding="utf-8")
    assert (
        (tmp_path / "out.csv")
        .read_text(encoding="utf-8")
        .startswith("system,metric,before,after,difference")
    )


def test_merging_needs_no_runs(
    capsys: pytest.CaptureFixture[str], demo: Path, tmp_path: Path
) -> None:
    files = ("--qrels", demo / "qrels.txt", "--new-judgments", demo / "new_judgments.txt")
    found = tables(capsys, *files, "--write-qrels", tmp_path / "merged.txt")
    assert found["measures"] == [] and len(found["conflicts"]) == 3
    assert (tmp_path / "merged.txt").exists()


def test_wrong_use(capsys: pytest.CaptureFixture[str], demo: Path, tmp_path: Path) -> None:
    qrels, new = ("--qrels", demo / "qrels.txt"), ("--new-judgments", demo / "new_judgments.txt")
    runs = ("--run", f"a={demo / 'runs' / 'stem_qr.trec'}")
    other = tmp_path / "other.trec"
    other.write_text("77_1 Q0 d1 1 1.0 x\n", encoding="utf-8")
    before = (demo / "qrels.txt").read_bytes()
    for arguments, message in (
        ((*qrels, *runs), "no new judgments are given; add --new-judgments FILE, --what-if N or"
         " --leave-one-out"),
        ((*qrels, *new), "no runs are given; add them with --run NAME=FILE"),
        ((*qrels, *runs, *new, "--write-qrels", demo / "qrels.txt"),
         f"{demo / 'qrels.txt'} is an input, which is never overwritten; choose another name for the output"),
    ):  # fmt: skip
        assert fail(capsys, *arguments) == (2, f"robustcs: {message}\n")
    assert (demo / "qrels.txt").read_bytes() == before
    other_passages = tmp_path / "passages.trec"
    other_passages.write_text("1_1 Q0 MARCO_1 1 1.0 x\n", encoding="utf-8")
    for file, found in ((other, "turns is in the qrels: its turn ids look like '77_1', those of the qrels like '1_1'"),
                        (other_passages, "passages is judged: its passage ids look like 'MARCO_1', those of")):  # fmt: skip
        code, err = fail(capsys, *qrels, *new, *runs, "--run", f"b={file}")
        assert code == 3 and err.startswith(f"{file}: none of its {found}")


def test_help_keeps_the_examples_on_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert "  robustcs augment --what-if 1000\n" in call(capsys, "--help")
