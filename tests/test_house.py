"""The rules of the house (docs/architecture.md): who may import whom, and how large a room may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from robustcs.studies.registry import STUDIES
from tests.conftest import ROOT

PACKAGE = ROOT / "robustcs"
#: The floors, from the ground up: a room imports only from those before it, and from itself.
FLOORS = (
    "lazy", "version", "wording", "errors", "conversations", "policy", "result", "overwrite_guard", "tempfiles", "database",
    "stored", "inputs", "programs", "statistics", "evaluation", "similarity", "slicing", "retrieval", "documents", "project",
    "studies", "reporting", "cli", "api",
)  # fmt: skip
#: The parts of a study that the frame and the report load through the registry; they are data, read from above.
SHARED_BY_STUDIES = ("study", "signature", "registry")
LONGEST = 520
#: Rooms, or files of them, that were read by somebody who had to change them next: short lines, laid out by ruff. The list only
#: grows.
READ: tuple[str, ...] = (
    "statistics",
    "similarity",
    "inputs/annotation_tasks.py",
    "inputs/annotations.py",
    "inputs/conversations.py",
    "inputs/heads.py",
    "inputs/paraphrases.py",
    "inputs/readings.py",
    "inputs/text.py",
    "inputs/texts.py",
    "inputs/turns.py",
)
FILES = sorted(path for path in PACKAGE.rglob("*.py"))


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import of the package's own modules, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if (
            isinstance(node, ast.ImportFrom)
            and node.level == 0
            and (node.module or "").split(".")[0] == "robustcs"
        ):
            if node.module == "robustcs":
                for name in node.names:
                    yield node.lineno, f"robustcs.{name.name}"
            else:
                yield node.lineno, str(node.module)
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "robustcs":
                    yield node.lineno, name.name


def floor_of(module: str) -> str:
    """``robustcs.studies.sweep.ask`` → ``studies``."""
    return module.split(".")[1] if "." in module else ""


def module_of(path: Path) -> str:
    """The dotted name of a file of the package."""
    return "robustcs." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@pytest.mark.parametrize(
    "path", FILES, ids=[path.relative_to(PACKAGE).as_posix() for path in FILES]
)
def test_a_room_imports_only_from_those_below(path: Path) -> None:
    own = floor_of(module_of(path))
    if own in ("__init__", "__main__"):
        return  # one offers what api has, the other starts the command line
    assert own in FLOORS, f"{own} has no floor: give it one here and in docs/architecture.md"
    for line, module in imports_of(path):
        other = floor_of(module)
        assert FLOORS.index(other) <= FLOORS.index(own), (
            f"line {line} imports {module} from a floor above"
        )


@pytest.mark.parametrize("study", [study.name for study in STUDIES])
def test_no_study_imports_another(study: str) -> None:
    for path in sorted((PACKAGE / "studies" / study).glob("*.py")):
        for line, module in imports_of(path):
            parts = module.split(".")
            if parts[1:2] == ["studies"] and len(parts) > 2:
                allowed = (study, *SHARED_BY_STUDIES)
                assert parts[2] in allowed, (
                    f"{path.name}, line {line}, imports {module}: what two studies share sinks"
                )


@pytest.mark.parametrize("study", [study.name for study in STUDIES])
def test_an_analysis_knows_no_document_no_click_and_no_file(study: str) -> None:
    path = PACKAGE / "studies" / study / "analysis.py"
    text = path.read_text("utf-8")
    for line, module in imports_of(path):
        assert floor_of(module) not in ("documents", "project", "retrieval"), (
            f"line {line} imports {module}"
        )
    for node in ast.walk(ast.parse(text)):
        names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        assert not {"click", "pathlib", "os", "io"} & {name.split(".")[0] for name in names}
        assert not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "open"
        )


def test_a_renderer_knows_no_study() -> None:
    for path in sorted((PACKAGE / "documents").rglob("*.py")):
        names = {floor_of(module) for _, module in imports_of(path)}
        assert not names & {"project", "studies", "reporting", "cli"}, path.name


@pytest.mark.parametrize(
    "path", FILES, ids=[path.relative_to(PACKAGE).as_posix() for path in FILES]
)
def test_no_file_is_longer_than_it_can_be_read(path: Path) -> None:
    assert path.read_text("utf-8").count("\n") <= LONGEST


@pytest.mark.parametrize("room", READ)
def test_a_room_that_was_read_is_laid_out_plainly(room: str) -> None:
    paths = [PACKAGE / room] if room.endswith(".py") else sorted((PACKAGE / room).rglob("*.py"))
    assert paths
    for path in paths:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            assert len(line) <= 100, f"{path.name}, line {number} has {len(line)} columns"
            assert "fmt: " not in line, f"{path.name}, line {number}: ruff lays out this room"


@pytest.mark.parametrize("study", STUDIES, ids=[study.name for study in STUDIES])
def test_studies_have_one_shape(study) -> None:  # type: ignore[no-untyped-def]
    there = {path.stem for path in (PACKAGE / "studies" / study.name).glob("*.py")}
    wanted = {"__init__", "analysis", "show"}
    assert wanted <= there
    assert study.command.help
    assert callable(study.part("study").ask) and callable(study.part("show").show)


def test_every_folder_of_studies_stands_in_the_registry() -> None:
    folders = {
        path.name
        for path in (PACKAGE / "studies").iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == {study.name for study in STUDIES}


def test_there_is_no_circle() -> None:
    modules = {module_of(path).removesuffix(".__init__"): path for path in FILES}
    graph = {
        name: {other for _, other in imports_of(path) for other in [other if other in modules else other.rpartition(".")[0]]
               if other in modules and other not in (name, "robustcs")}
        for name, path in modules.items()
    }  # fmt: skip
    state: dict[str, int] = {}

    def visit(name: str, way: tuple[str, ...]) -> None:
        if state.get(name) == 2:
            return
        assert state.get(name) != 1, " → ".join((*way[way.index(name) :], name))
        state[name] = 1
        for other in sorted(graph[name]):
            visit(other, (*way, name))
        state[name] = 2

    for name in sorted(graph):
        visit(name, ())
