"""Commands run in-process, as a user would type them."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from robustcs.cli.main import run


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Answer]


@pytest.fixture
def in_demo(demo: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command line in the folder of the demo collection; it must succeed unless ``code`` says otherwise."""
    return _runner(demo, monkeypatch, capfd)


@pytest.fixture
def in_copy(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The same in a copy of that folder, ``tmp_path / "demo"``, for commands that write."""
    shutil.copytree(demo, tmp_path / "demo")
    return _runner(tmp_path / "demo", monkeypatch, capfd)


def _runner(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)

    def call(command: str, code: int = 0) -> Answer:
        capfd.readouterr()
        assert Path(os.getcwd()) == folder
        returned = run(shlex.split(command))
        out, err = capfd.readouterr()
        assert returned == code, err
        return Answer(int(returned), out, err)

    return call
