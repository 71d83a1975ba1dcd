"""``robustcs robustness``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robustcs.cli.main import run


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run(["robustness", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_a_project_needs_no_argument(
    capsys: pytest.CaptureFixture[str], demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo)
    code, out, err = call(capsys)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for text in (
        "sets of manual",
        "R@1000",
        "mean of raw",
        "70 turns in 10 conversations",
        "U_Risk",
        "together",
    ):
        assert text in out


def test_json(capsys: pytest.CaptureFixture[str], demo: Path, tmp_path: Path) -> None:
    slices = tmp_path / "slices.tsv"
    slices.write_text("turn\tkind\n" + "".join(f"{topic}_1\topening\n" for topic in range(1, 11)))
    options = (
        "--config",
        demo / "robustcs.toml",
        "--metric",
        "nDCG@3",
        "--format",
        "json",
        "--slices",
        slices,
    )
    code, out, _ = call(capsys, *options, "--missing", "drop")
    found = json.loads(out)
    assert code == 0 and found["policy"]["turns"] == 69
    tables = [
        "measures",
        "groups",
        "risk",
        "variance",
        "spread",
        "slices",
        "variations",
        "turns",
        "drops",
    ]
    assert list(found["tables"]) == tables and not found["tables"]["variations"]
    mine = [row for row in found["tables"]["slices"] if row["slicing"] == "kind"]
    assert [(row["group"], row["slice"], row["turns"]) for row in mine] == [
        ("manual", "opening", 10),
        ("raw", "opening", 10),
    ]
    assert any(entry["role"] == "slices" and entry["rows"] == 10 for entry in found["inputs"])
    assert "slices: column kind has no value for 59 of the 69 turns" in found["notes"]


def test_groups_by_option(capsys: pytest.CaptureFixture[str], demo: Path) -> None:
    runs = demo / "runs"
    code, out, _ = call(
        capsys, "--qrels", demo / "qrels.txt", "--run", f"base={runs / 'stem_human.trec'}",
        "--run", f"one={runs / 'stem_manual_1.trec'}", "--group", "mine=base, one", "--metric", "P_1", "--format", "csv",
    )  # fmt: skip
    assert code == 0
    header, row = out.splitlines()
    assert header.startswith("group,set,metric,value,baseline,drop,drop_percent,p,p_corrected")
    assert row.startswith("mine,one,P_1,")


def test_figure(capsys: pytest.CaptureFixture[str], demo: Path, tmp_path: Path) -> None:
    target = tmp_path / "figure.svg"
    code, _, err = call(capsys, "--config", demo / "robustcs.toml", "--output", target)
    assert (code, err) == (0, f"wrote {target}\n")
    assert "mean of manual" in target.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--group", "g=human"], "--group g=human; write --group NAME=BASELINE,SET,SET"),
        (["--group", "g=human,"], "--group g=human,; write --group NAME=BASELINE,SET,SET"),
        (["--group", "g=human,qr", "--group", "g=human,raw_1"],
         "two groups have the same name; use a different NAME in each --group"),
        (["--group", "g=human,nobody"],
         "no run is named 'nobody'; choose from original, qr, human, plain_original, plain_qr, plain_human, manual_1, manual_2,"
         " manual_3, raw_1, raw_2, raw_3"),
        (["--group", "g=human,human"], "group 'g' contains a run twice; name each run once"),
        (["--metric", "f1"], "f1 measures answers, but these systems have runs; use a measure such as ndcg_cut_3"),
    ],
)  # fmt: skip
def test_messages(
    capsys: pytest.CaptureFixture[str], demo: Path, arguments: list[str], message: str
) -> None:
    code, _, err = call(capsys, "--config", demo / "robustcs.toml", *arguments)
    assert (code, err) == (2, f"robustcs: {message}\n")


def test_without_groups(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = call(capsys)
    assert (code, err) == (
        2, "robustcs: no groups of runs are given; add --group NAME=BASELINE,SET,SET, or [groups] in robustcs.toml\n",
    )  # fmt: skip


def test_groups_to_add_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ['[texts]\nmanual_1 = "a.tsv"\nmanual_2 = "b.tsv"\n[raw_texts]\nraw_1 = "c.tsv"\n']
    (tmp_path / "robustcs.toml").write_text("".join(lines))
    code, _, err = call(capsys)
    assert code == 2
    assert (
        "; add --group manual=human,manual_1,manual_2 --group raw=original,raw_1, or [groups] in robustcs.toml"
        in err
    )


def test_margin(capsys: pytest.CaptureFixture[str], demo: Path) -> None:
    options = ("--config", demo / "robustcs.toml", "--metric", "ndcg_cut_3")
    code, out, _ = call(capsys, *options, "--margin", "0.1", "--table", "measures")
    said = " ".join(out.split())
    assert (
        code == 0
        and "inside ±0.1, and no conversation contributes more than 30% of the spread, which rules out a larger drop"
        in said
    )
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = call(capsys, *options, "--margin", "0.1", "--format", "json")
    rows = json.loads(out)["tables"]["measures"]
    inside = [row["set"] for row in rows if row["ci_low"] > -0.1 and row["ci_high"] < 0.1]
    # one of ten conversations carries more than 30% of the spread: no claim
    assert inside == ["raw_3"] and not any(row["equivalent"] for row in rows)
    code, _, err = call(capsys, *options, "--margin", "0")
    assert code == 2 and err == "robustcs: margin 0; use a difference above 0, such as 0.02\n"
