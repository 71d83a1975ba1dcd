"""What editors and type checkers know of ``import robustcs``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jedi
import pytest

from docs.stub import STUB, stub
from robustcs.studies.registry import STUDIES
from tests.conftest import ROOT
from tests.typed.calls import calls

HERE = ROOT / "tests" / "typed"
#: The lines of wrong.py that must be refused.
WRONG = {
    place
    for place, line in enumerate((HERE / "wrong.py").read_text("utf-8").split("\n"), 1)
    if line.startswith("robustcs.")
}


def test_the_stub_says_what_the_signatures_say() -> None:
    assert STUB.read_text("utf-8") == stub(), "run python docs/update.py"


def test_the_calls_work(demo: Path) -> None:
    assert all(len(frame) for frame in calls(demo))


def _lines(output: str, name: str) -> set[int]:
    return {int(found) for found in re.findall(rf"{name}:(\d+)", output)}


def test_mypy_accepts_the_calls_and_refuses_the_wrong_ones() -> None:
    files = [str(HERE / "calls.py"), str(HERE / "wrong.py")]
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *files]
    output = subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout
    assert _lines(output, "wrong.py") == WRONG, output
    assert not _lines(output, "calls.py"), output


def test_pyright_accepts_the_calls_and_refuses_the_wrong_ones() -> None:
    command = [
        sys.executable,
        "-m",
        "basedpyright",
        "--outputjson",
        "--level",
        "error",
        "--pythonpath",
        sys.executable,
        str(HERE),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE)
    found = json.loads(done.stdout)["generalDiagnostics"]
    lines = {
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1)
        for one in found
        if one["severity"] == "error"
    }
    assert lines == {("wrong.py", line) for line in WRONG}, found


@pytest.mark.parametrize("study", [one.name for one in STUDIES])
def test_jedi_completes_every_study(study: str) -> None:
    source = f"import robustcs\nrobustcs.{study[:-1]}"
    assert study in {one.name for one in jedi.Script(source).complete()}


def test_jedi_completes_keywords_and_tables() -> None:
    source = "import robustcs\nrobustcs.evaluate(bas"
    assert "baseline=" in {one.name_with_symbols for one in jedi.Script(source).complete()}
    source = "import robustcs\nrobustcs.evaluate({}, {}).mea"
    assert "measures" in {one.name for one in jedi.Script(source).complete()}
