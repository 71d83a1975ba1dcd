"""Nothing that stands in an input steers a terminal, and files get it as it is."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tty
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.cli.terminal import usable_width
from tests.cli.terminal_support import everything
from tests.conftest import ROOT

HOSTILE = "d\x1b]0;x\x07\x9b31m\u202e\u200bz"
RUN = f"1_1 Q0 {HOSTILE} 1 3.5 t\n1_2 Q0 b 1 3.5 t\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("1_1 0 a 1\n1_2 0 b 1\n")
    for name in ("o", "q", "h"):
        Path(name).write_text(RUN)
    Path("t").write_text(f"id\tquery\n1_1\t{HOSTILE}\n1_2\tx\n")
    return tmp_path


COMMAND = [
    "breakdown",
    "--qrels",
    "qrels",
    "--original",
    "o",
    "--qr",
    "q",
    "--human",
    "h",
    "--rewrites",
    "human=t",
]


def on_terminal(*arguments: str) -> bytes:
    """What the program writes to a terminal that changes nothing."""
    primary, secondary = pty.openpty()
    tty.setraw(secondary)
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), *arguments], stdout=secondary, stderr=subprocess.DEVNULL,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    os.close(secondary)
    shown = everything(primary)
    assert process.wait(60) == 0
    return shown


@pytest.mark.parametrize("form", ["csv", pytest.param("raw-csv", marks=pytest.mark.long), "json"])
def test_data_on_a_terminal_and_in_a_file(folder: Path, form: str) -> None:
    arguments = [*COMMAND, "--table", "turns", "--format", form]
    assert run([*arguments, "--output", "out"]) == 0
    whole = Path("out").read_text("utf-8")
    shown = on_terminal(*arguments).decode("utf-8")
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u200b"} & set(shown)
    if form == "json":
        assert json.loads(shown) == json.loads(whole)
        assert "\u202e" in whole
    else:
        assert HOSTILE in whole and "d␛]0;x␇⟨U+009B⟩31m⟨U+202E⟩⟨U+200B⟩z" in shown


def test_names_in_messages(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*COMMAND, "--output", "a\x1b[31m\u202e.json"]) == 0
    assert capfd.readouterr().err == "wrote a\\x1b[31m\\u202e.json\n"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("9" * 5000, None),
        ("²", None),
        ("wide", None),
        ("0", None),
        ("-5", None),
        ("120", "120"),
        ("٣", None),
        ("", None),
    ],
)
def test_widths_from_outside(monkeypatch: pytest.MonkeyPatch, given: str, used: str | None) -> None:
    for name in ("COLUMNS", "LINES"):
        monkeypatch.setenv(name, given)
    usable_width()
    assert os.environ.get("COLUMNS") == os.environ.get("LINES") == used


def test_a_width_of_5000_digits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "9" * 5000)
    assert run(COMMAND) == 0
    assert b"What" in on_terminal(*COMMAND)


@pytest.mark.parametrize("option", ["--top", "--depth", "--relevance-level"])
def test_a_number_beyond_all_ranks(
    folder: Path, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    assert run(["judge" if option == "--top" else "breakdown", option, "9" * 20]) == 2
    last = capfd.readouterr().err.splitlines()[-1]
    assert (
        last
        == f"Error: Invalid value for '{option}': {'9' * 20} is not in the range 1<=x<=2147483647."
    )
