"""Judgments of models alone: the reference judge is named, and nothing is called human."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.project.reading import read_project
from robustcs.project.trust import limits_of_sources, model_of_qrels
from tests.case_files import case

JUDGES = """
[judges]
mini = "umbrela_mini-x.qrels"
qwen = "umbrela_qwen-x.qrels"
[runs]
bm25 = "bm25.trec"
dense = "dense.trec"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = case("judges-only", tmp_path)
    monkeypatch.chdir(path)
    return path


def project(folder: Path, qrels: str) -> None:
    (folder / "robustcs.toml").write_text(
        f'name = "judges"\n{qrels}\nmetrics = ["ndcg_cut_3"]\n{JUDGES}'
    )


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_nothing_is_called_human(
    form: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project(folder, 'qrels = "umbrela_gpt-x.qrels"')
    assert run(["audit", "--format", form]) == 0
    printed = " ".join(capfd.readouterr().out.split())
    assert "human" not in printed.lower()
    assert "reference judge umbrela" in printed
    every = [
        f"--table={name}"
        for name in (
            "agreement",
            "confusion",
            "bias",
            "systems",
            "reversals",
            "conclusions",
            "means",
            "conflicts",
        )
    ]
    assert run(["audit", "--format", form, *every]) == 0
    assert "human" not in capfd.readouterr().out.lower()


def test_names_of_columns_stay(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    project(folder, 'qrels = "umbrela_gpt-x.qrels"')
    assert run(["audit", "--format", "json"]) == 0
    result = json.loads(capfd.readouterr().out)
    assert {"human_share", "judge_share"} <= result["tables"]["bias"][0].keys()
    assert [row["pairs"] for row in result["tables"]["agreement"]] == [192, 192]
    assert not any("human" in note.lower() for note in result["notes"])
    assert {row["other"] for row in result["tables"]["conflicts"]} <= {
        "reference judge umbrela_gpt-x",
        "qwen",
    }


def test_a_report_calls_nothing_human(folder: Path) -> None:
    project(folder, 'qrels = "umbrela_gpt-x.qrels"')
    assert run(["report", "--output", "out"]) == 0
    page = (folder / "out/report.html").read_text()
    text = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", page)
    assert "reference judge umbrela_gpt-x" in text
    said = text.lower()
    assert [
        said[max(0, one.start() - 60) : one.end() + 60] for one in re.finditer("human", said)
    ] == []


def test_the_key_source_decides(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "umbrela_gpt-x.qrels").rename(folder / "one.txt")
    project(folder, 'qrels = "one.txt"')
    assert run(["audit"]) == 0
    # the source is unknown
    assert "How well does the judge agree with human judges?" in capfd.readouterr().out
    for source, name in (("model", "one"), ("people", ""), ("mixed", "")):
        project(folder, f'[qrels]\nfile = "one.txt"\nsource = "{source}"\n')
        # metrics stand in [qrels] then; read the project without them
        text = (folder / "robustcs.toml").read_text().replace('metrics = ["ndcg_cut_3"]\n', "")
        (folder / "robustcs.toml").write_text(text)
        found = read_project(folder / "robustcs.toml")
        assert found.qrels_source == source
        assert model_of_qrels(found)[0] == name
        assert bool(limits_of_sources(found)) == bool(name)
        assert run(["audit"]) == 0
        printed = capfd.readouterr().out
        assert ("human" in printed) != bool(name)
        assert ("reference judge one" in " ".join(printed.split())) == bool(name)


def test_people_may_have_a_file_with_the_name_of_a_model(folder: Path) -> None:
    path = folder / "robustcs.toml"
    path.write_text('[qrels]\nfile = "umbrela_gpt-x.qrels"\nsource = "people"\n')
    assert limits_of_sources(read_project(path)) == []
    path.write_text('qrels = "umbrela_gpt-x.qrels"\n')
    assert limits_of_sources(read_project(path))


def test_an_unknown_source(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "robustcs.toml").write_text(
        '[qrels]\nfile = "umbrela_gpt-x.qrels"\nsource = "robot"\n'
    )
    assert run(["check"]) == 3
    found = capfd.readouterr().err
    assert "source is 'robot'; write who made the judgments: people, model or mixed" in found
