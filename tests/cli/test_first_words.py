"""Cases whose first sentence must state a limit: equal runs, a run with few answers, judgments that do not fit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.documents.document import Cards, Paragraph
from robustcs.project.reading import read_project
from robustcs.reporting.build import make_report
from tests.case_files import CASES, case

Output = pytest.CaptureFixture[str]


def first(capsys: Output, *line: str) -> str:
    """The first paragraph that a command writes."""
    assert run([*line]) == 0
    return " ".join(capsys.readouterr().out.partition("\n\n")[0].split())


def test_a_run_that_answers_one_turn_is_named_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.chdir(case("one-turn", tmp_path))
    line = ["evaluate", "--qrels", "qrels.txt", "--run", "full=full.trec", "--run", "x=one.trec"]
    assert first(capsys, *line).startswith(
        "full scores 0.966 NDCG@3 higher than x, which answers 1 of 18 turns (95% CI"
    )
    assert run([*line, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["letters"] for row in found["tables"]["measures"]} == {""} and found["policy"][
        "few"
    ] == {"x": 1}
    assert run(line) == 0
    assert "ignificantly lower" not in (shown := capsys.readouterr().out) and "group" not in shown


def test_equal_runs_are_named_as_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    folder = case("one-turn", tmp_path)
    monkeypatch.chdir(folder)
    shutil.copy("full.trec", "copy.trec")
    line = ["evaluate", "--qrels", "qrels.txt", "--run", "a=full.trec", "--run", "b=copy.trec"]
    assert (
        first(capsys, *line)
        == "a and b have equal scores on all 18 turns and equal rankings (mean NDCG@3 1.000)."
    )
    # another ranking with the same scores: two relevant passages change places
    lines = [text.split() for text in Path("copy.trec").read_text().splitlines()]
    lines[0][2], lines[1][2] = lines[1][2], lines[0][2]
    Path("copy.trec").write_text("".join(" ".join(text) + "\n" for text in lines))
    assert first(capsys, *line) == "a and b have equal scores on all 18 turns (mean NDCG@3 1.000)."


FACTS = (
    "87% of the judgments (1,200 of 1,380) are for passages missing from the collection, and 97% of the judged texts in the"
    " top 10 of a (180 of 186) are judged only under another id"
)


def test_judgments_that_do_not_fit_open_and_tell_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, undrawn: None
) -> None:
    monkeypatch.chdir(case("twins", tmp_path))
    assert run(["init"]) == 0
    capsys.readouterr()
    assert (
        first(capsys, "evaluate")
        == f"{FACTS}: the judgments cannot order b and a (60 turns, 2 systems)."
    )
    assert run(["evaluate", "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert tables["pairs"] == [] and {row["letters"] for row in tables["measures"]} == {""}
    assert [(row["system"], row["judged"], row["lacking"], row["twins"]) for row in tables["fit"]] == [
        ("", 1380, 1200, None), ("a", 6, None, 180), ("b", 180, None, 7),
    ]  # fmt: skip
    assert run(["check"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"Note: {part}" in shown for part in FACTS.split(", and "))
    opening = make_report(read_project(Path("robustcs.toml"))).document.opening
    assert opening is not None
    [verdict] = opening.verdicts
    assert verdict.text == f"{FACTS}: the judgments cannot order b and a"


def twins(folder: Path) -> None:
    """Write the case of twins into the current folder, with three formulations, a group and a grid."""
    shutil.copytree(CASES / "twins", folder, dirs_exist_ok=True)
    runs = ("original", "a.run"), ("qr", "a.run"), ("human", "b.run")
    text = 'qrels = "qrels.txt"\ncollection = "collection.jsonl"\n'
    text += "".join(f'[formulations.{name}]\nrun = "{file}"\n' for name, file in runs)
    text += '[runs]\nb = "b.run"\na = "a.run"\n[groups.g]\nbaseline = "b"\nsets = ["a"]\n'
    text += '[components]\n"a/x" = "a.run"\n"b/x" = "b.run"\n'
    (folder / "robustcs.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    [["breakdown"], ["robustness"], ["sweep"], ["components"], ["unjudged"], ["compare", ".", "."]],
    ids=" ".join,
)
def test_every_command_on_judgments_notes_first_that_they_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, line: list[str]
) -> None:
    twins(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run([*line, "--format", "json"]) == 0
    first, second, *_ = json.loads(capsys.readouterr().out)["notes"]
    parts = FACTS.split(", and ")
    assert first == parts[0]
    assert second.startswith("97% of the judged texts in the top 10 of ") and second.endswith(
        parts[1].split(" of a ")[1]
    )


@pytest.mark.parametrize(
    ("command", "cannot"),
    [("breakdown", "tell rewriter errors from ranker errors"), ("robustness", "show a drop")],
)
def test_judgments_that_do_not_fit_show_no_cause_and_no_drop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, command: str, cannot: str
) -> None:
    twins(tmp_path)
    monkeypatch.chdir(tmp_path)
    told = first(capsys, command)
    assert told.startswith(FACTS[:80]) and told.endswith(
        f"only under another id: the judgments cannot {cannot}."
    )
    assert run([command]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"The judgments cannot {cannot}. " in shown and "< 0.0001" not in shown
    assert run([command, "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    found = {
        value
        for rows in tables.values()
        for row in rows
        for name, value in row.items()
        if name in ("p", "p_corrected")
    }
    assert found == {None}


def test_a_report_on_judgments_that_do_not_fit_claims_no_cause_and_no_drop(
    tmp_path: Path, undrawn: None
) -> None:
    twins(tmp_path)
    document = make_report(read_project(tmp_path / "robustcs.toml")).document
    assert document.opening is not None
    assert [verdict.text.startswith(FACTS[:80]) for verdict in document.opening.verdicts] == [True]
    assert all(
        "The judgments cannot " in block.caption
        for block in document.opening.blocks
        if not isinstance(block, Cards)
    )
    said = [block.text for block in document.blocks if isinstance(block, Paragraph)]
    assert any(
        text.endswith("the judgments cannot tell rewriter errors from ranker errors.")
        for text in said
    )
    assert any(text.endswith("the judgments cannot show a drop.") for text in said)
    assert not any("p <" in text for text in said)


def test_without_its_collection_the_same_runs_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.chdir(case("twins", tmp_path))
    line = ["evaluate", "--qrels", "qrels.txt", "--run", "a=a.run", "--run", "b=b.run"]
    assert first(capsys, *line).startswith("b scores 1.000 NDCG@3 higher than a (")


def test_a_broken_collection_is_an_error_of_every_command_that_compares_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.chdir(case("twins", tmp_path))
    assert run(["init"]) == 0
    with open("collection.jsonl", "a", encoding="utf-8") as file:
        file.write("{broken\n")
    for command in ("evaluate", "check"):
        capsys.readouterr()
        assert run([command]) == 3
        assert "collection.jsonl:401: " in capsys.readouterr().err
