"""The last net: what nobody foresaw ends in one line, exit code 70 and a file with the rest."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from robustcs.cli import main
from robustcs.cli.main import cli, run


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    @click.command("break")
    @click.option("--traceback", is_flag=True)
    @click.option("--with", "text", default="")
    def break_(traceback: bool, text: str) -> None:
        raise KeyError(f"{text}\nü\x1b[31m")

    monkeypatch.setattr(cli, "commands", {**cli.commands, "break": break_})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_one_line_and_a_file(broken: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["break", "--with", "a b"]) == 70
    out, err = capfd.readouterr()
    said = r"robustcs: internal error \(KeyError: .*\); please report it to the project's issue tracker and attach "
    found = re.fullmatch(f"{said}(.*)\n", err)
    assert found and out == "" and "\x1b" not in err
    text = Path(found[1]).read_text("utf-8")
    assert Path(found[1]).parent == broken and "\nTraceback (most recent call last):\n" in text
    assert "robustcs break --with 'a b'\n" in text and text.startswith("robustcs ")


def test_the_traceback_when_asked(broken: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["break", "--traceback"]) == 70
    assert capfd.readouterr().err.startswith("Traceback (most recent call last):\n")


def test_a_long_message_is_cut(broken: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["break", "--with", "x" * 10_000]) == 70
    err = capfd.readouterr().err
    assert (
        err.count("\n") == 1
        and len(err) < 500
        and "x" * 10_000 in next(broken.iterdir()).read_text("utf-8")
    )


def test_without_room_for_the_file(
    broken: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("robustcs.cli.terminal.tempfile", SimpleNamespace(mkstemp=refuse))
    assert run(["break"]) == 70
    advice = "; run the command again with --traceback and send its output to the project's issue tracker\n"
    assert capfd.readouterr().err.endswith(advice)


def test_the_exit_codes_are_told() -> None:
    for code in ("70", "130", "143"):
        assert code in (main.cli.help or "")
