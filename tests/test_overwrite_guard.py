"""Inputs are known by every name that they have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robustcs import overwrite_guard as guard
from robustcs.documents.files import write_text
from robustcs.errors import UsageError
from robustcs.overwrite_guard import is_protected, protect, protection, refuse_protected


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("data").mkdir()
    Path("qrels.txt").write_text("1_1 0 a 1\n")
    with protection():
        protect(["qrels.txt", tmp_path / "absent.txt", "data"])
        yield tmp_path


def test_other_names_of_an_input(folder: Path) -> None:
    Path("link").symlink_to("qrels.txt")
    Path("sub/link").symlink_to(Path("..") / "link")
    os.link("qrels.txt", "hard")
    Path("elsewhere").symlink_to("data")
    names = ["qrels.txt", "./sub/../qrels.txt", str(folder / "qrels.txt"), "link", "sub/link", "hard", "absent.txt",
             "sub/../absent.txt", "data/new.txt", "elsewhere/deep/new.txt"]  # fmt: skip
    for name in names:
        with pytest.raises(UsageError) as error:
            refuse_protected(name)
        assert (
            str(error.value)
            == f"{name} is an input, which is never overwritten; choose another name for the output"
        )
    for name in ("other.txt", "qrels.txt/below", "sub", "sub/qrels.txt", "/dev/null", ""):
        refuse_protected(name)


def test_links_to_folders_are_resolved_before_dots(folder: Path, tmp_path: Path) -> None:
    """``link/../qrels.txt`` is next to the folder that the link leads to, not next to the link."""
    (tmp_path / "elsewhere" / "inner").mkdir(parents=True)
    (tmp_path / "elsewhere" / "qrels.txt").write_text("1_1 0 a 1\n")
    (folder / "link").symlink_to(tmp_path / "elsewhere" / "inner")
    protect([folder / "qrels.txt"])
    protect([os.path.join(folder, "link", "..", "qrels.txt")])
    assert is_protected(tmp_path / "elsewhere" / "qrels.txt")


@pytest.mark.parametrize("name", [
    "runs/a.trec", "./runs/a.trec", "runs/../runs/a.trec", "linked/a.trec", "alias.trec", "linked/../runs/a.trec",
    "runs", "runs/", "runs/.", "linked/..", "new/b.trec", "broken",
])  # fmt: skip
def test_protected_is_the_file_that_the_system_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.trec").write_text("")
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "far" / "runs").symlink_to(tmp_path / "runs")
    (tmp_path / "linked").symlink_to(tmp_path / "far" / "deep")
    (tmp_path / "far" / "deep" / "a.trec").symlink_to(tmp_path / "runs" / "a.trec")
    (tmp_path / "alias.trec").symlink_to("runs/a.trec")
    (tmp_path / "broken").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path)
    with protection():
        protect([name])
        assert guard._known.read == {os.path.realpath(name)}


def test_a_write_protected_file_is_not_replaced_even_by_the_superuser(folder: Path) -> None:
    locked = Path("locked.csv")
    locked.write_text("mine")
    locked.chmod(0o444)
    with pytest.raises(
        UsageError, match=r"^locked\.csv is write-protected; choose another name for the output$"
    ):
        write_text(locked, "other")
    assert locked.read_text() == "mine"
    locked.chmod(0o644)
    write_text(locked, "other")
    assert locked.read_text() == "other"


def test_an_input_that_another_program_replaced_stays_one(folder: Path) -> None:
    Path("new").write_text("")
    os.replace("new", "qrels.txt")
    assert is_protected("qrels.txt") and not is_protected("new")


def test_a_project_file_is_known_by_its_name(folder: Path) -> None:
    assert not is_protected("sub/robustcs.toml")
    Path("sub/robustcs.toml").write_text("")
    Path("config").symlink_to("sub/robustcs.toml")
    assert is_protected("sub/robustcs.toml") and is_protected("config")


def test_judgments_that_grow_are_added_to_and_not_overwritten(folder: Path) -> None:
    protect(["judgments.txt"], growing=True)
    refuse_protected("judgments.txt", adds=True)
    for name, adds in (("judgments.txt", False), ("qrels.txt", True)):
        with pytest.raises(UsageError):
            refuse_protected(name, adds)
    protect(["judgments.txt"])  # also the qrels
    assert is_protected("judgments.txt", adds=True)


def test_a_terminal_that_is_read_and_written_is_no_input(folder: Path) -> None:
    protect(["/dev/null"])
    assert not is_protected("/dev/null")


def test_every_command_starts_anew(folder: Path) -> None:
    with protection():
        assert not is_protected("qrels.txt")
    assert is_protected("qrels.txt")
