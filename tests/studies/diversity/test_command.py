"""``robustcs diversity``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robustcs.cli.main import run
from tests.conftest import Command


def test_cast_2020_manual_against_raw_turns(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2020")
    files = ["--source", "topics_manual.json:raw_utterance", "--target", "topics_manual.json:manual_rewritten_utterance"]
    assert run(["diversity", *files, "--format", "json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["tables"]["bleu"]
    assert (round(row["value"], 2), row["sentences"]) == (44.72, 216)
    assert (row["source"], row["target"]) == (files[1], files[3])
    # a source is the raw turn and a target the manual one where no field is named
    assert run(["diversity", "--source", files[1].split(":")[0], "--target", files[3].split(":")[0], "--format", "csv"]) == 0
    assert "44.72" in capfd.readouterr().out


def test_a_project_compares_its_formulations_and_paraphrases(in_demo: Command) -> None:
    result = json.loads(in_demo("diversity --format json").out)
    bleu = {(row["source"], row["target"]): row["sentences"] for row in result["tables"]["bleu"]}
    assert bleu == {
        ("original", "human"): 70, ("human", "qr"): 70, ("human", "manual paraphrases"): 350,
        ("original", "raw paraphrases"): 350,
    }  # fmt: skip
    assert result["policy"]["line"] == "70 turns · texts only, nothing is scored"
    out = in_demo("diversity").out
    assert max(map(len, out.splitlines())) <= 80
    assert "How close are the texts to their source?" in out and "Which texts are nearly the same?" in out


def test_before_and_after(in_copy: Command, tmp_path: Path) -> None:
    rows = ["TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE"]
    before = [*rows, "1_1,What is a sourdough starter made of?,a", "1_2,How do I make a sourdough starter at home?,b"]
    after = [*rows, "1_1,Explain starter dough,a", "1_2,Any way to begin sourdough from scratch?,b"]
    for name, lines in (("before", before), ("after", after)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    targets = f"--target {tmp_path}/before.csv --target {tmp_path}/after.csv:MANUAL_PARAPHRASE"
    answer = in_copy(f"diversity --source topics.json:manual {targets}")
    assert "−100.0 %" in answer.out
    assert "68 turns of topics.json:manual left out: not in before.csv" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("--source topics.json", 2, "no --target; name the other texts with --target FILE[:FIELD]"),
        ("--target topics.json", 2, "no --source; name the other texts"),
        ("--source topics.json --target paraphrases.csv:both", 2, "paraphrases have no field 'both'; write manual or raw"),
        ("--source topics.json --target nowhere.tsv", 3, "nowhere.tsv: no such file; check the path"),
    ],
)
def test_wrong_use(in_demo: Command, options: str, code: int, message: str) -> None:
    assert message in in_demo(f"diversity {options}", code=code).err


def test_nothing_to_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["diversity"]) == 2
    assert "no texts are given; name them with --source FILE[:FIELD]" in capfd.readouterr().err
    (tmp_path / "a.json").write_text('{"1_1": "a"}')
    (tmp_path / "b.json").write_text('{"2_1": "a"}')
    assert run(["diversity", "--source", "a.json", "--target", "b.json"]) == 2
    assert "a.json and b.json have no turn in common; check their turn ids: '1_1' and '2_1'" in capfd.readouterr().err
