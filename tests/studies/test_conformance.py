"""What holds for every study of the registry: a new one is tested here before its author writes a test."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.documents.data import to_json
from robustcs.documents.document import Figure, Table
from robustcs.studies.registry import STUDIES
from tests.conftest import COMMANDS, ROOT, Command

NAMES = [study.name for study in STUDIES]
#: What a command line needs beside its name, so that it shows tables and writes nothing.
ASKED = {"judge": "--list", "compare": "plain.toml robustcs.toml"}
#: What a function needs for the same.
KEYWORDS = {"compare": {"old": "plain.toml", "new": "robustcs.toml"}}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Every study in turn."""
    return str(request.param)


@pytest.fixture(params=[name for name in NAMES if name != "retrieve"])
def answered(request: pytest.FixtureRequest) -> str:
    """Every study that the demo answers with tables: nothing is left to retrieve there, and it has no index."""
    return str(request.param)


def result_of(name: str, demo: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the Python function gives in the folder of the demo."""
    monkeypatch.chdir(demo)
    return getattr(robustcs, name)(**KEYWORDS.get(name, {}))


def test_python_gives_what_the_command_gives(
    answered: str, in_demo: Command, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = json.loads(in_demo(f"{answered} {ASKED.get(answered, '')} --format json").out)
    result = result_of(answered, demo, monkeypatch)
    given = json.loads(to_json(name, "", result.evaluated.as_dict(), [], result.tables, result.evaluated.notes))
    assert printed["tables"] == given["tables"] and printed["policy"] == given["policy"]
    assert list(printed["tables"]) == list(result.tables)
    assert sorted(spec.name for spec in result.declared) == sorted(result.tables)
    assert printed["command"] == answered == result.study
    assert len({entry["path"] for entry in printed["inputs"]}) == len(printed["inputs"])


def test_every_table_can_be_asked_for(answered: str, in_demo: Command, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = f"{answered} {ASKED.get(answered, '')}"
    for table in result_of(answered, demo, monkeypatch).tables:
        printed = json.loads(in_demo(f"{line} --format json --table {table}").out)
        assert list(printed["tables"]) == [table]
        assert in_demo(f"{line} --table {table}").out
    assert "no table is named 'nothing'" in in_demo(f"{line} --table nothing", code=2).err


def test_the_policy_closes_what_a_terminal_shows(answered: str, in_demo: Command) -> None:
    line = f"{answered} {ASKED.get(answered, '')}"
    printed = json.loads(in_demo(f"{line} --format json").out)
    shown = " ".join(in_demo(line).out.split())
    assert shown.endswith(printed["policy"]["line"])


def test_blocks_name_their_tables_and_figures_say_what_they_show(
    answered: str, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = result_of(answered, demo, monkeypatch)
    study = next(study for study in STUDIES if study.name == answered)
    for block in study.part("show").show(result):
        if isinstance(block, Table):
            assert block.of in ("", *result.tables)
        if isinstance(block, Figure):
            assert len(block.alt) > 20 and len(block.caption) > 20
    assert result._repr_html_()


def test_a_command_says_what_it_does_and_refuses_the_rest(name: str, in_demo: Command) -> None:
    assert "No such option '--no-such-option'" in in_demo(f"{name} --no-such-option", code=2).err
    function = getattr(robustcs, name)
    assert function.__doc__ and "Inputs by keyword" in function.__doc__
    own = [parameter for parameter in inspect.signature(function).parameters if parameter not in ("project", "inputs", "tell")]
    assert all(word.isidentifier() for word in own)
    assert COMMANDS[name].help


def test_an_unknown_keyword_is_refused(name: str, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo)
    with pytest.raises(robustcs.errors.UsageError, match="^no input is named 'no_such_input'"):
        getattr(robustcs, name)(no_such_input="x")


def test_there_is_a_page_with_an_example(name: str) -> None:
    pages = [path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")]
    assert any(f"\n$ robustcs {name}" in page or f"\nrobustcs {name}" in page for page in pages)
