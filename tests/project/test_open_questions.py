"""Texts without runs, and runs that were made for other texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import UsageError
from robustcs.inputs.files import sha256
from robustcs.inputs.paths import sidecar_path
from robustcs.project.model import Project
from robustcs.project.open_questions import changed_texts, import_runs, systems_of
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from robustcs.wording import turns_in_words


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.trec").write_text("1_1 Q0 d 1 2.0 x\n# comment\n1_2 Q0 d 1 2.0 x\n")
    (tmp_path / "a.tsv").write_text("1_1\tone\n1_2\ttwo\n1_3\tthree\n")
    (tmp_path / "robustcs.toml").write_text(
        '[formulations.human]\nrun = "a.trec"\nrewrites = "a.tsv"\n'
        '[texts]\nb = "a.tsv"\n[raw_texts]\nc = "a.tsv"\n[runs]\nc = "a.trec"\n'
    )
    return tmp_path


def test_what_is_open(folder: Path) -> None:
    project = read_project(folder / "robustcs.toml")
    systems = {system.name: system for system in systems_of(Workspace(project))}
    assert list(systems) == ["human", "b", "c"]
    assert systems["human"].open == systems["c"].open == () and systems["b"].open == (
        "1_1",
        "1_2",
        "1_3",
    )
    assert systems["c"].raw and not systems["b"].raw


def test_an_imported_run_answers_the_texts_it_was_made_for(folder: Path) -> None:
    project = read_project(folder / "robustcs.toml")
    run = folder / "a.trec"
    before = sha256(run)
    assert import_runs(Workspace(project))[0] == ("human", sidecar_path(run), 2)
    assert sha256(run) == before
    # the turn that the run lacks is open, and so is one whose text changes; white space is no change
    (folder / "a.tsv").write_text("1_1\t one \n1_2\tTwo\n1_3\tthree\n")
    workspace = Workspace(project)
    assert systems_of(workspace)[0].open == ("1_2", "1_3")
    assert changed_texts(project.systems, workspace.texts) == [
        "the run of human was made for other texts of 2 turns (1_2, 1_3); retrieve them with robustcs retrieve"
    ]
    run.write_text("1_1 Q0 e 1 2.0 x\n")
    assert systems_of(Workspace(project))[0].open == ()
    assert changed_texts(project.systems, workspace.texts) == [
        f"{sidecar_path(run)} describes other content of a.trec; update it with robustcs retrieve --record"
    ]
    sidecar_path(run).write_text("[]")
    assert changed_texts(project.systems, workspace.texts) == [
        f"{sidecar_path(run)}: not a file that robustcs writes next to a run; delete it"
    ]


def test_each_file_of_a_joined_run_has_its_own_texts(folder: Path) -> None:
    (folder / "b.trec").write_text("2_1 Q0 d 1 2.0 x\n")
    (folder / "b.tsv").write_text("2_1\tfour\n")
    (folder / "robustcs.toml").write_text(
        '[formulations.human]\nrun = ["a.trec", "b.trec"]\nrewrites = ["a.tsv", "b.tsv"]\n'
    )
    project = read_project(folder / "robustcs.toml")
    files = [folder / "a.trec", folder / "b.trec"]
    assert import_runs(Workspace(project)) == [
        ("human", sidecar_path(file), 3 - place) for place, file in enumerate(files, 1)
    ]
    (folder / "b.tsv").write_text("2_1\tfive\n")
    workspace = Workspace(project)
    assert systems_of(workspace)[0].open == ("1_3", "2_1")
    assert changed_texts(project.systems, workspace.texts) == [
        "the run of human was made for other texts of 2 turns (1_3, 2_1); retrieve them with robustcs retrieve"
    ]
    # without the record of one file, nobody knows which file should have had 1_3
    sidecar_path(files[0]).unlink()
    assert systems_of(Workspace(project))[0].open == ("2_1",)
    files[1].write_text("2_1 Q0 e 1 2.0 x\n")
    assert systems_of(Workspace(project))[0].open == ()
    assert changed_texts(project.systems, workspace.texts) == [
        f"{sidecar_path(files[1])} describes other content of b.trec; update it with robustcs retrieve --record"
    ]


def test_nothing_to_import() -> None:
    with pytest.raises(UsageError, match="no system has both a run and texts"):
        import_runs(Workspace(Project()))


def test_few_turns_by_name() -> None:
    assert turns_in_words(["1_1"]) == "1 turn (1_1)"
    assert turns_in_words([f"1_{n}" for n in range(1, 8)]) == "7 turns (1_1, 1_2, 1_3, 1_4, 1_5 …)"
