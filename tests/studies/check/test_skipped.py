"""Rows that were skipped, as commands name them, and ``--strict``, which refuses their files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.cli.main import run
from robustcs.errors import InputError
from robustcs.project.model import Project, TextSource
from robustcs.project.workspace import Workspace
from robustcs.reporting.contents import section_of
from robustcs.reporting.names import Names
from robustcs.studies.registry import questions

TURNS = [f"{topic}_{depth}" for topic in range(1, 9) for depth in range(1, 6)]
QUESTIONS = "--rewrites original=topics.json:original --rewrites human=topics.json:human --rewrites qr=rewrites.jsonl"
EMPTY = "turn 3_2: empty text"
HUMAN, QR = "human: 1 of 40 texts empty", "qr: 2 of 81 texts unusable"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Topics of 40 turns, one without a manual text; rewrites with two draws each, one of them empty, and a line of no use."""
    monkeypatch.chdir(tmp_path)
    topics = [
        {"number": topic, "turn": [
            {"number": depth, "raw_utterance": f"what {depth}?", "manual_rewritten_utterance": f"what {depth} of {topic}?"}
            for depth in range(1, 6)]} for topic in range(1, 9)
    ]  # fmt: skip
    topics[2]["turn"][1]["manual_rewritten_utterance"] = " "  # type: ignore[index]
    Path("topics.json").write_text(json.dumps(topics))
    rewrites = [
        json.dumps({"sample_id": turn, "predicted_rewrite": [f"what of {turn}?", f"which {turn}?"]})
        for turn in TURNS
    ]
    rewrites[6] = json.dumps({"sample_id": TURNS[6], "predicted_rewrite": ["what?", ""]})
    Path("rewrites.jsonl").write_text("\n".join([*rewrites[:9], '{"sample_id"', *rewrites[9:]]))
    return tmp_path


def _json(command: str, capfd: pytest.CaptureFixture[str], code: int = 0) -> dict[str, Any]:
    capfd.readouterr()
    assert run([*command.split(), "--format", "json"]) == code
    out, _ = capfd.readouterr()
    return json.loads(out) if out else {}


def test_check_lists_them(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    result = _json(f"check {QUESTIONS}", capfd)
    assert [(file["role"], file["rows"], file["skipped"], file["problem"]) for file in result["tables"]["files"]] == [
        ("original texts", 40, 0, None), ("human texts", 39, 1, None), ("qr texts", 40, 2, None),
    ]  # fmt: skip
    assert [tuple(row.values()) for row in result["tables"]["skipped"]] == [
        ("human texts", "topics.json", None, EMPTY),
        ("qr texts", "rewrites.jsonl", 7, "turn 2_2: empty text"),
        ("qr texts", "rewrites.jsonl", 10, "not JSON (Expecting ':' delimiter)"),
    ]
    assert result["policy"]["line"].endswith(f" · {HUMAN} · {QR}") and result["policy"][
        "skipped"
    ] == [HUMAN, QR]
    told = [
        f"{role} texts ({one.removeprefix(f'{role}: ')})"
        for role, one in (("human", HUMAN), ("qr", QR))
    ]
    assert f"More than 1% of rows were skipped: {', '.join(told)}" in result["notes"]
    assert run(["check", *QUESTIONS.split()]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert (
        "human texts topics.json 39 1 skipped" in out
        and f"human texts topics.json – {EMPTY}" in out
    )


def test_a_folder_goes_from_init_to_check(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["init"]) == 0
    assert {file["problem"] for file in _json("check", capfd)["tables"]["files"]} == {None}


def test_results_name_them(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    result = _json(f"diversity {QUESTIONS}", capfd)
    # of 3_2 there is no manual text, and nothing to compare the others with
    assert (
        result["policy"]["line"]
        == f"39 turns in 8 conversations · nothing is scored · {HUMAN} · {QR}"
    )
    assert {entry["path"]: (entry["rows"], entry.get("skipped")) for entry in result["inputs"]} == {
        "topics.json": (40, 1), "rewrites.jsonl": (40, 2),
    }  # fmt: skip
    # of a file that is read once, for what is sound, nothing is said
    sound = _json(
        "diversity --rewrites original=topics.json:original --rewrites human=topics.json:original",
        capfd,
    )
    assert "skipped" not in sound["policy"] and all(
        "skipped" not in entry for entry in sound["inputs"]
    )


def test_an_empty_draw_is_compared_with_nothing(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result = _json(f"samples {QUESTIONS}", capfd)
    (row,) = result["tables"]["samples"]
    assert (row["texts"], row["turns"], row["differing"]) == (2, 39, 39)
    assert "2_2" not in {turn["turn"] for turn in result["tables"]["sample_turns"]}
    assert result["policy"]["skipped"] == [QR] and result["policy"]["turns"] == 40


def test_of_several_targets_the_file_is_named(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("other.jsonl").write_text(Path("rewrites.jsonl").read_text())
    result = _json(
        "diversity --source topics.json --target rewrites.jsonl --target other.jsonl", capfd
    )
    assert result["policy"]["skipped"] == [
        HUMAN.replace("human", "source"), *(QR.replace("qr", f"target {name}.jsonl") for name in ("rewrites", "other"))
    ]  # fmt: skip


@pytest.mark.parametrize("study", ["diversity", "samples"])
def test_strict_refuses_the_file(
    folder: Path, study: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([study, *QUESTIONS.split(), "--strict"]) == 3
    first = {
        "diversity": f"topics.json: {EMPTY}",
        "samples": "rewrites.jsonl:7: turn 2_2: empty text",
    }[study]
    assert capfd.readouterr().err.startswith(f"{first}; write the text or remove the turn\n")
    Path("robustcs.toml").write_text("[policy]\nstrict = true\n")
    assert run([study, *QUESTIONS.split()]) == 3
    assert capfd.readouterr().err.startswith(first)


def test_strict_in_check(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    result = _json(f"check {QUESTIONS} --strict", capfd, 3)
    assert [file["problem"] for file in result["tables"]["files"]] == [
        None, f"topics.json: {EMPTY}; write the text or remove the turn",
        "rewrites.jsonl:7: turn 2_2: empty text; write the text or remove the turn",
    ]  # fmt: skip
    assert result["tables"]["skipped"] == []


def test_python(folder: Path) -> None:
    texts = {"original": "topics.json:original", "human": "topics.json:human"}
    result = robustcs.diversity(rewrites=texts)
    assert (
        result.evaluated.policy_line == f"39 turns in 8 conversations · nothing is scored · {HUMAN}"
    )
    assert [entry["skipped"] for entry in result.inputs] == [1]
    with pytest.raises(InputError, match=EMPTY):
        robustcs.diversity(rewrites=texts, strict=True)


def test_compare(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"ndcg_cut_3 {turn} 0.5\n" for turn in TURNS)
    Path("human.scores").write_text(rows)
    text = '[formulations.human]\nscores = "human.scores"\nrewrites = "topics.json:human"\n'
    for name in ("old.toml", "new.toml"):
        Path(name).write_text(text)
    result = _json("compare old.toml new.toml", capfd)
    assert result["policy"]["skipped"] == [f"old {HUMAN}", f"new {HUMAN}"]
    assert run(["compare", "old.toml", "new.toml", "--strict"]) == 3
    assert EMPTY in capfd.readouterr().err


def test_a_section_of_the_report(folder: Path) -> None:
    project = Project().with_formulation("qr", rewrites=(TextSource(folder / "rewrites.jsonl"),))
    question = next(one for one in questions() if one.key == "samples")
    section = section_of(question, Workspace(project), Names(folder))
    assert section.skipped == (QR,) and section.inputs[0]["skipped"] == 2
    results = [json.loads(text) for name, text in section.files.items() if name.endswith(".json")]
    assert [result["policy"]["skipped"] for result in results] == [[QR]]
