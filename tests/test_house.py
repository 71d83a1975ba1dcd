"""The rules of the house (docs/architecture.md): who may import whom, and how large a room may be."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result
from robustcs.studies.registry import STUDIES
from robustcs.table import Table, count, table
from tests.conftest import ROOT

PACKAGE = ROOT / "robustcs"
#: The floors, from the ground up: a room imports only from those before it, and from itself.
FLOORS = (
    "lazy", "version", "wording", "messages", "errors", "conversations", "policy", "table", "overwrite_guard", "result", "tempfiles",
    "database",
    "stored", "inputs", "programs", "statistics", "evaluation", "similarity", "slicing", "retrieval", "records", "documents", "project",
    "studies", "reporting", "cli", "api",
)  # fmt: skip
#: A result is on a low floor, because every study makes one, but its methods draw and write it: ``result.plot()``, ``to_csv``
#: and their kind. They import what draws and writes inside their bodies, so that importing results stays fast and free of
#: circles. This is the one exception to the floors.
RENDERS_ITSELF = "robustcs.result"
#: The parts of a study that the frame and the report load through the registry, and what collects fields of turns through it.
SHARED_BY_STUDIES = ("study", "signature", "registry", "fields")
#: What the top of ``study.py`` may import of the package: what the help page of its command needs.
NEEDED_FOR_HELP = (
    "robustcs.errors", "robustcs.messages", "robustcs.wording", "robustcs.studies.signature",
    "robustcs.studies.study",
)  # fmt: skip
LONGEST = 520
#: Rooms and files that read at first sight: lines of at most 100 columns, all laid out by ruff. Entries are only added.
READ: tuple[str, ...] = (
    "documents/page",
    "evaluation",
    "records",
    "slicing",
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
    "project/turn_scores.py",
    "project/turns.py",
)
FILES = sorted(path for path in PACKAGE.rglob("*.py"))


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import of the package's own modules, wherever in the file it stands.

    Of :data:`RENDERS_ITSELF`, those in methods and those for type checkers are left out.
    """
    tree = ast.parse(path.read_text("utf-8"))
    nodes = tree.body if module_of(path) == RENDERS_ITSELF else ast.walk(tree)
    for node in nodes:
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


def test_no_two_classes_have_the_same_name() -> None:
    """Else a reader has to look at the imports of a file to know what its names mean."""
    files_of: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                files_of.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert len(files_of) > 300
    assert {name: files for name, files in files_of.items() if len(files) > 1} == {}


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
    assert {"__init__", "analysis", "show", "study"} <= there
    assert ("questions" in there) == study.in_report
    assert study.command.help
    assert callable(study.part("study").ask) and callable(study.part("show").show)


@pytest.mark.parametrize("study", [study.name for study in STUDIES])
def test_the_help_page_of_a_study_imports_nothing_heavy(study: str) -> None:
    """The other imports of ``study.py`` are in its functions, or for type checkers only."""
    tree = ast.parse((PACKAGE / "studies" / study / "study.py").read_text("utf-8"))
    for node in tree.body:
        modules = [name.name for name in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [str(node.module)]
        for module in modules:
            standard = module.partition(".")[0] in sys.stdlib_module_names
            assert standard or module in NEEDED_FOR_HELP, f"line {node.lineno} imports {module}"


def test_every_folder_of_studies_stands_in_the_registry() -> None:
    folders = {
        path.name
        for path in (PACKAGE / "studies").iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == {study.name for study in STUDIES}


def test_only_methods_of_results_import_from_above() -> None:
    """The exception is no loophole: the imports that it allows are those of renderers and of the registry, in methods."""
    [kind] = [
        node
        for node in ast.parse((PACKAGE / "result.py").read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == "Result"
    ]
    inside = {
        str(node.module)
        for method in kind.body
        for node in ast.walk(method)
        if isinstance(node, ast.ImportFrom)
    }
    assert {floor_of(module) for module in inside} == {"documents", "studies"}
    assert {module for module in inside if floor_of(module) == "studies"} == {
        "robustcs.studies.registry"
    }


def test_a_result_contains_tables_only() -> None:
    """Content of another kind is refused, so all content of all results is of this one kind."""
    assert get_type_hints(Result)["content"] == Mapping[str, Table]

    @dataclass(frozen=True)
    class One(Result):
        numbers = table("numbers", "", count("number"))

    evaluated = Evaluated(EvaluationPolicy(), "runs", 1, 0)
    made = One.numbers.of([(1,)])
    assert One(evaluated, content={"numbers": made}).content["numbers"] is made
    for other in ([(1,)], made.frame(), lambda: made, {"number": [1]}, list(made)):
        with pytest.raises(TypeError, match="table numbers is of type"):
            One(evaluated, content={"numbers": other})
    with pytest.raises(TypeError, match="table numbers has columns"):
        One(evaluated, content={"numbers": table("n", "", count("other")).of([(1,)])})


@pytest.mark.parametrize("study", [study.name for study in STUDIES])
def test_every_slow_table_is_a_method_of_its_result(study: str) -> None:
    module = import_module(f"robustcs.studies.{study}.analysis")
    kinds = [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Result)
    ]
    for kind in kinds:
        if isinstance(kind.declared, tuple):  # else it depends on what was asked
            assert kind._slow.keys() <= {spec.name for spec in kind.declared}
        for method in kind._slow.values():
            assert callable(getattr(kind, method))


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


# ---------------------------------------------------------------- code that changes code


def tricks_of(text: str) -> list[str]:
    """What makes a program do other things than its files say, with lines.

    That is text which is run as code, syntax trees, and changes of loaded modules or of the
    attributes of what is imported.
    """
    tree = ast.parse(text)
    names = imported_names(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and runs_text(node.func):
            found.append(f"line {node.lineno} runs text as code")
        if takes_a_syntax_tree(node):
            found.append(f"line {node.lineno} imports ast")
        if changes_modules(node):
            found.append(f"line {node.lineno} changes sys.modules")
        if sets_an_attribute(node, names):
            found.append(f"line {node.lineno} sets an attribute of an import")
    return found


def imported_names(tree: ast.Module) -> set[str]:
    """The names that imports bind, wherever they stand."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(one.asname or one.name).partition(".")[0] for one in node.names}
    return names


def runs_text(called: ast.expr) -> bool:
    """``exec``, ``eval`` or ``compile``, but not ``re.compile`` or the method ``eval`` of a model."""
    return ast.unparse(called).removeprefix("builtins.") in ("exec", "eval", "compile")


def takes_a_syntax_tree(node: ast.AST) -> bool:
    """An import of ``ast``, but not of ``literal_eval``, which reads data and runs nothing."""
    if isinstance(node, ast.Import):
        return "ast" in [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return node.module == "ast" and [one.name for one in node.names] != ["literal_eval"]
    return False


def changes_modules(node: ast.AST) -> bool:
    """A change of ``sys.modules``, or a second name under which it could be changed."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "sys" and "modules" in [one.name for one in node.names]
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return ast.unparse(node.value) == "sys.modules"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.func.value) == "sys.modules" and node.func.attr != "get"
    if isinstance(node, ast.Assign):
        return ast.unparse(node.value) == "sys.modules"
    return False


def sets_an_attribute(node: ast.AST, imported: set[str]) -> bool:
    """A change of an attribute of what is imported; the streams of ``sys`` are made to be replaced."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
        streams = ("sys.stdin", "sys.stdout", "sys.stderr")
        return root_of(node) in imported and ast.unparse(node) not in streams
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        setters = ("setattr", "delattr", "type.__setattr__", "type.__delattr__")
        return called in setters and root_of(node.args[0]) in imported
    return False


def root_of(node: ast.expr) -> str:
    """``Result`` of ``Result.tables.content``; empty if the attribute is not of a name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize(
    "path", FILES, ids=[path.relative_to(PACKAGE).as_posix() for path in FILES]
)
def test_no_code_changes_code(path: Path) -> None:
    assert tricks_of(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exec('1')", "runs text as code"),
        ("def f(text):\n    return eval(text)", "runs text as code"),
        ("import builtins\nbuiltins.exec(compile('1', '', 'exec'))", "runs text as code"),
        ("import ast", "imports ast"),
        ("def f():\n    import os, ast as tree", "imports ast"),
        ("from ast import literal_eval, parse", "imports ast"),
        ("import sys\nsys.modules['a'] = sys", "changes sys.modules"),
        ("import sys\ndel sys.modules['a']", "changes sys.modules"),
        ("import sys\nsys.modules.setdefault('a', sys)", "changes sys.modules"),
        ("import sys\nloaded = sys.modules", "changes sys.modules"),
        ("from sys import modules", "changes sys.modules"),
        ("from a import Result\nResult.plot = print", "sets an attribute"),
        ("from a import Result\nResult.plot, x = 1, 2", "sets an attribute"),
        (
            "from a import Result as R\nfor f in (len,):\n    setattr(R, 'f', f)",
            "sets an attribute",
        ),
        ("def f():\n    from a import Result\n    del Result.plot", "sets an attribute"),
        ("import a.b\na.b.Result.plot = print", "sets an attribute"),
        ("import a\nsetattr(a.Result, 'plot', print)", "sets an attribute"),
        ("import json\njson.dumps = repr", "sets an attribute"),
    ],
)
def test_code_that_changes_code_is_found(text: str, said: str) -> None:
    assert any(said in one for one in tricks_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "import re\nre.compile('a')",
        "def f(model):\n    return model.eval()",
        "from ast import literal_eval\nliteral_eval('1')",
        "import sys\nsys.modules.get('pandas')\nsys.stdout = open('a', 'w')",
        "class A:\n    def f(self):\n        self.a = 1\n        setattr(self, 'b', 2)",
        "from a import Result\nresult = Result()\nresult.a = 1",
    ],
)
def test_other_code_is_not(text: str) -> None:
    assert tricks_of(text) == []
