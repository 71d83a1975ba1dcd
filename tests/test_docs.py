"""The documentation is true: examples print what it shows, the reference is the program's, links lead somewhere."""

from __future__ import annotations

import json
import pkgutil
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from robustcs.evaluation.groups import Group
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import FORMULATION_FILES, STUDY_TABLES, Project
from robustcs.project.reading import read_project
from robustcs.result import Result
from robustcs.studies.correlate.analysis import Correlate
from robustcs.studies.registry import STUDIES
from robustcs.version import __version__
from tests.conftest import COMMANDS, ROOT, load

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")

TABLES = load(ROOT / "docs" / "tables.py")
UPDATE = load(ROOT / "docs" / "update.py")
NOTEBOOK = load(ROOT / "docs" / "notebook.py")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIAL = UPDATE.TUTORIAL.read_text("utf-8")
EXAMPLES = [
    (page, command, output)
    for page in UPDATE.pages()
    for command, output in UPDATE.examples(page.read_text("utf-8"))
]


def test_every_example_is_found() -> None:
    written = sum(page.read_text("utf-8").count("```console\n") for page in PAGES)
    assert len(EXAMPLES) + len(UPDATE.examples(TUTORIAL)) == written > 10


@pytest.mark.parametrize(
    ("page", "command", "output"),
    EXAMPLES,
    ids=[f"{page.stem}: {command}" for page, command, _ in EXAMPLES],
)
def test_examples_print_what_the_page_shows(page: Path, command: str, output: str) -> None:
    assert UPDATE.shortened(_output_of(command), output) == output, (
        "if this is right, run python docs/update.py"
    )


@cache
def _output_of(command: str) -> str:
    """Several pages show some commands."""
    with UPDATE.demo_copy():
        return str(UPDATE.output_of(command))


def test_the_tutorial_prints_what_it_shows(shared_data: Path) -> None:
    assert UPDATE.refreshed(TUTORIAL, UPDATE.study_of(shared_data)) == TUTORIAL, (
        "if this is right, run python docs/update.py"
    )


def test_the_tutorial_names_the_files_that_it_works_on() -> None:
    layout = TUTORIAL.partition("```text\n")[2].partition("```")[0].split()
    assert layout == ["cast-2019/", *UPDATE._STUDY]


def test_the_notebook_shows_what_its_cells_give() -> None:
    """The cells run here one after the other, without Jupyter: see docs/notebook.py."""
    text = NOTEBOOK.NOTEBOOK.read_text("utf-8")
    shown, given = (NOTEBOOK.without_images(one) for one in (text, UPDATE.refreshed_notebook(text)))
    assert shown == given, "if this is right, run python docs/update.py"


def test_the_notebook_is_one() -> None:
    notebook = json.loads(NOTEBOOK.NOTEBOOK.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    kinds = [
        set(output["data"])
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if "data" in output
    ]
    assert {"text/plain", "text/html"} in kinds and {"text/plain", "image/png"} in kinds


def test_the_reference_is_the_programs() -> None:
    assert UPDATE.REFERENCE.read_text("utf-8") == UPDATE.reference(), "run python docs/update.py"


def test_the_reference_of_tables_is_the_programs() -> None:
    assert TABLES.TABLES.read_text("utf-8") == TABLES.tables_reference(), (
        "run python docs/update.py"
    )


def test_the_reference_of_tables_has_those_of_every_study() -> None:
    text = TABLES.tables_reference()
    for study in STUDIES:
        for result in TABLES.results_of(study):
            section = text.partition(f"## robustcs {study.name}\n")[2].partition("\n## ")[0]
            for spec in TABLES.declared_by(result):
                assert f"### {spec.name}\n" in section
                assert all(f"| `{field.name}` | " in section for field in spec.fields)
    # tables that depend on what is asked
    assert {"pairs", "encoders"} <= {spec.name for spec in TABLES.declared_by(Correlate)}


def test_a_result_without_tables_is_told() -> None:
    class Nothing(Result):
        """Declares nothing."""

    with pytest.raises(TypeError, match="declares no tables for Nothing"):
        TABLES.declared_by(Nothing)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_stands_in_the_index_and_links_to_its_page(name: str) -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    links = re.findall(rf"\[robustcs {re.escape(name)}\]\(([^)]+)\)", index)
    assert links, f"add robustcs {name} to the table of commands in docs/index.md"
    for link in links:
        text = (ROOT / "docs" / link.partition("#")[0]).read_text("utf-8")
        assert re.search(rf"^#+ .*\b{re.escape(name)}\b", text, re.MULTILINE)


#: The parts of a command's page, in their order; further sections follow.
PARTS = ["When to use it", "Example", "How to read the output", "Options", "Method and sources"]
#: Lines of two screens.
SCREENS = 100
_INDEX = (ROOT / "docs" / "index.md").read_text("utf-8")
COMMAND_PAGES = sorted(
    {link.partition("#")[0] for link in re.findall(r"\[robustcs [^]]+\]\(([^)]+)\)", _INDEX)}
)


def sections(text: str) -> list[tuple[str, int]]:
    """Return (title, line) of every section of level 2, outside fenced blocks."""
    plain = re.sub(
        r"^```.*?^```$",
        lambda block: "\n" * block[0].count("\n"),
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    return [
        (line[3:], number)
        for number, line in enumerate(plain.split("\n"), 1)
        if line.startswith("## ")
    ]


@pytest.mark.parametrize("name", COMMAND_PAGES)
def test_pages_of_commands_have_their_parts_in_order_within_two_screens(name: str) -> None:
    found = sections((ROOT / "docs" / name).read_text("utf-8"))
    assert [title for title, _ in found[: len(PARTS)]] == PARTS
    assert found[0][1] > 2, "the page starts with what the command does"
    assert dict(found)["Method and sources"] - 1 <= SCREENS


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in _LINK.findall(text):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert file.is_relative_to(ROOT), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.MULTILINE)
            anchors = {
                re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings
            }
            assert anchor in anchors, target


def test_the_project_file_of_the_page_is_read_and_complete(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "project-file.md").read_text("utf-8")
    example = text.partition("```toml\n")[2].partition("```")[0]
    path = tmp_path / "robustcs.toml"
    path.write_text(example, encoding="utf-8")
    assert read_project(path).name == "My system on CAsT 2020"
    parts = (Project, EvaluationPolicy, Group, *STUDY_TABLES.values())
    keys = [*FORMULATION_FILES, *(field.name for part in parts for field in fields(part))]
    keys.remove("marks")  # comments after other keys
    for key in keys:
        # keys of a table that stands in place of the key qrels
        key = {"qrels_selection": "# selection", "qrels_source": "# source"}.get(key, key)
        assert re.search(rf"^(\[([\w]+\.)?|){key}\b", example, re.MULTILINE), (
            f"docs/project-file.md does not show {key}"
        )


def test_what_to_cite_is_this_version_and_the_work_that_the_readme_names() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {__version__}\n" in citation
    readme = (ROOT / "README.md").read_text("utf-8").partition("## Cite")[2]
    assert citation.count("\n  - type: ") == 5
    for name, year in re.findall(
        r"family-names: ([^,]+).*?\n    year: (\d{4})",
        citation.partition("references:")[2],
        re.DOTALL,
    ):
        assert name in readme and year in readme, name


def test_shortening_keeps_as_much_as_before() -> None:
    output = "a\nb\nc\nd\ne\n"
    assert UPDATE.shortened(output, "1\n2\n…\n3\n") == "a\nb\n…\ne\n"
    assert UPDATE.shortened(output, "1\n") == output


#: Pages for contributors, whose code marks name files, modules, functions and targets of the repository.
GUIDES = ("CONTRIBUTING.md", "docs/architecture.md", "README.md")
#: What stands for a name: ``read_KIND`` is any function whose name begins in this way.
_PLACEHOLDER = re.compile(r"KIND|NAME|FORM(?!\w)")
_CODE = re.compile(r"^```(?:text|sh|python)\n(.*?)^```|^( {4}.*)$|`([^`\n]+)`", re.M | re.S)
_PATH = re.compile(
    r"(?<![\w./-])(?:(?:\.?[\w-]+/)+(?:[\w-]+(?:\.\w+)?)?|[\w-]+\.(?:py|md|cff|cfg|txt)\b)"
)
_MODULE = re.compile(r"(?<![\w./])robustcs(?:\.[A-Za-z_]\w*)+")
_TARGET = re.compile(r"\bmake ([a-z][a-z-]*)")
_NAME = re.compile(r"(\w*[A-Z_]\w*)(\(.*\))?|(\w+)\(.*\)")
_FOLDERS = ("robustcs", "tests", "docs", "bench", "fixtures", "requirements", "reports", ".ci")
#: Folders that commands make, and the file of a user's project.
_MADE = {"dist/", "site/", "build/"}
_PROJECT_FILE = "robustcs.toml"


def code_of(text: str) -> list[str]:
    """The code of a page, without the output of its examples: marked words, indented and fenced lines."""
    without_output = re.sub(r"^```console\n.*?^```$", "", text, flags=re.M | re.S)
    return ["".join(part or "" for part in groups) for groups in _CODE.findall(without_output)]


@cache
def _files() -> list[str]:
    """Every file and folder of the repository, as a path from its root; a folder ends with a slash."""
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in _FOLDERS:
        found += [ROOT / folder, *(ROOT / folder).rglob("*")]
    return ["/" + path.relative_to(ROOT).as_posix() + "/" * path.is_dir() for path in found]


@cache
def _definitions() -> str:
    """Every function, class, annotated field and constant of the package, one a line."""
    defined = re.compile(r"^ *(?:def|class) (\w+)|^(?: {4})?(\w+):|^(\w+) *=", re.M)
    found = []
    for path in sorted((ROOT / "robustcs").rglob("*.py")):
        found += ["".join(groups) for groups in defined.findall(path.read_text("utf-8"))]
    return "\n".join(found)


def _is_file(name: str) -> bool:
    """Is it a path from the root or from the package, or a file name of any folder?"""
    start = "^(?:/robustcs)?/" if "/" in name else "/"
    pattern = re.compile(start + _PLACEHOLDER.sub(r"[\\w-]+", re.escape(name)) + "/?$")
    return any(pattern.search(path) for path in _files())


def _is_module(name: str) -> bool:
    """Is it a module, or an attribute of one?"""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def _is_defined(name: str) -> bool:
    pattern = _PLACEHOLDER.sub(r"\\w+", name)
    return re.search(rf"^{pattern}$", _definitions(), re.M) is not None


def _is_target(name: str) -> bool:
    return re.search(rf"^{name}:", (ROOT / "Makefile").read_text("utf-8"), re.M) is not None


def names_without_a_thing(text: str, functions: bool) -> list[str]:
    """The names in the code of a page that the repository does not have.

    functions
        Also check names of functions, classes and constants of the package.
    """
    missing = []
    for code in code_of(text):
        missing += [f"make {name}" for name in _TARGET.findall(code) if not _is_target(name)]
        modules = [name for name in _MODULE.findall(code) if name != _PROJECT_FILE]
        missing += [name for name in modules if not _is_module(name)]
        paths = [name for name in _PATH.findall(code) if name not in _MADE]
        missing += [name for name in paths if not _is_file(name)]
        name = _NAME.fullmatch(code)
        if functions and name and not _is_defined(name[1] or name[3]):
            missing.append(code)
    return missing


@pytest.mark.parametrize("page", GUIDES)
def test_what_the_guides_name_exists(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    # the README is for users, and marks names of measures and keys
    assert names_without_a_thing(text, functions=page != "README.md") == []


def test_a_name_without_a_thing_is_found() -> None:
    there = """`robustcs/cli/options.py` `tests/test_docs.py` `documents/tables.py` `registry.py` `.ci/run` `docs/NAME.md`
`robustcs.evaluation.measures` `robustcs.report` `robustcs.toml` `make test-long` `result_table` `read_KIND(path)` `Workspace`
"""
    assert names_without_a_thing(there, functions=True) == []
    gone = ["robustcs/cli/output.py", "tests/test_nothing.py", "documents/nothing.py", "nothing.py",
            "robustcs/nowhere/", ".ci/nothing", "robustcs.evaluation.nothing", "robustcs.nothing",
            "make nothing", "make_nothing", "nowhere_read(path)", "Nothing"]  # fmt: skip
    assert names_without_a_thing("".join(f"`{name}`\n" for name in gone), functions=True) == gone
    assert names_without_a_thing("    make nothing  # see docs/nothing.md\n", functions=True) == [
        "make nothing",
        "docs/nothing.md",
    ]


def test_the_page_of_records_is_the_programs() -> None:
    page = UPDATE.record_page()
    assert UPDATE.RECORD.read_text("utf-8") == page, "run python docs/update.py"
    for name in ("`first_relevant`", "`blame`", "`unsupported`", "`dropped`", "`tag`", "`lost`"):
        assert f"| {name} |" in page
