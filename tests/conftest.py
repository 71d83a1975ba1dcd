"""Fixtures that all tests share: the public data, the demo collection, and commands run in-process as a user types them."""

from __future__ import annotations

import gc
import importlib.util
import os
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import pytest
from hypothesis import settings

from robustcs.cli.commands import PagedCommand
from robustcs.cli.main import cli, run
from robustcs.retrieval.java import memory_options

if TYPE_CHECKING:
    from tests.browsing import Watched

# a suite started in the background ignores Ctrl-C, and so would the programs whose Ctrl-C it tests
signal.signal(signal.SIGINT, signal.default_int_handler)

# as the command line has it; here numpy, which reads it once, is imported by the tests first
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# how long an example takes says nothing on a busy machine
settings.register_profile("suite", deadline=None, max_examples=40)
settings.load_profile("suite")

ROOT = Path(__file__).resolve().parent.parent

#: Files that take longest, longest first: what starts last should be short, or the other processes wait for it.
SLOWEST = tuple(
    f"tests/{name}.py"
    for name in (
        "studies/check/test_readiness", "reporting/test_browser", "studies/test_conformance", "studies/retrieve/test_command",
        "test_report", "cli/test_init", "test_metamorphic", "test_docs", "cli/test_process", "retrieval/test_index",
        "studies/compare/test_command", "test_broken_files", "test_collections", "test_work", "test_kills", "cli/test_pipes",
        "test_typed", "studies/judge/test_program", "studies/judge/test_command", "test_coverage", "cli/test_overwrite",
        "studies/breakdown/test_command", "test_hostile_input", "studies/unjudged/test_command", "project/test_parallel_io",
        "project/test_cluster", "fuzz/test_fuzz", "evaluation/test_measures", "studies/audit/test_command",
        "test_hostile_projects", "test_packaging",
    )
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    # xdist would start the files with most tests first
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))


def pytest_collection_finish() -> None:
    # modules and tests stay until the end: the collector of cycles need not look at them again and again
    gc.collect()
    gc.freeze()


#: Every command by its name, in the order of ``--help``.
COMMANDS: dict[str, click.Command] = {
    name: command
    for name in cli.list_commands(click.Context(cli))
    if (command := cli.get_command(click.Context(cli), name))
}


def options_of(name: str) -> list[click.Option]:
    """Every option that a command takes: its own, and those of the program that it heeds."""
    command = COMMANDS[name]
    assert isinstance(command, PagedCommand)
    return [one for one in command.params if isinstance(one, click.Option)]


def parsed(line: str) -> dict[str, object]:
    """The values that a command line gives the command, by name."""
    context = cli.make_context("robustcs", shlex.split(line))
    name, command, rest = cli.resolve_command(context, [*context._protected_args, *context.args])
    assert command
    return command.make_context(name, rest, parent=context).params


def load(path: Path) -> ModuleType:
    """A script that is in no package, as a module."""
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session", autouse=True)
def _quick_java() -> Iterator[None]:
    """Indexes of a few passages take Java as long as its start: it compiles less and cleans up in one thread."""
    with pytest.MonkeyPatch.context() as patch:
        quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        patch.setattr(
            "robustcs.retrieval.index.memory_options", lambda heap: [*memory_options(heap), *quick]
        )
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The public data (``$ROBUSTCS_DATA`` or ``../shared/data``); tests that need it skip only where it is absent."""
    folder = Path(os.environ.get("ROBUSTCS_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the public data are not on this machine (set ROBUSTCS_DATA to their folder)")
    return folder


@pytest.fixture(scope="session")
def demo() -> Path:
    """The demo collection."""
    return ROOT / "fixtures"


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Answer]


@pytest.fixture
def in_demo(
    demo: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Runs a command line in the folder of the demo collection; it must succeed unless ``code`` says otherwise."""
    return _runner(demo, monkeypatch, capfd)


@pytest.fixture
def in_copy(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """The same in a copy of that folder, ``tmp_path / "demo"``, for commands that write."""
    shutil.copytree(demo, tmp_path / "demo")
    return _runner(tmp_path / "demo", monkeypatch, capfd)


def _runner(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)

    def call(command: str, code: int = 0) -> Answer:
        capfd.readouterr()
        assert Path(os.getcwd()) == folder.resolve()
        returned = run(shlex.split(command))
        out, err = capfd.readouterr()
        assert returned == code, err
        return Answer(int(returned), out, err)

    return call


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures and pages take most of the time and are the same whether an answer was kept."""
    from robustcs.documents.document import Picture

    monkeypatch.setattr(
        "robustcs.reporting.contents._draw",
        lambda figure: (Picture(figure.slug, "", "", "<svg></svg>", 1), {}),
    )
    monkeypatch.setattr("robustcs.reporting.build.render_html", lambda document: "")
    monkeypatch.setattr("robustcs.reporting.build.render_pdf", lambda document: b"")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium; tests skip where it is not installed."""
    from tests.browsing import started

    yield from started()


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    """A page that must not say anything or load anything."""
    from tests.browsing import Watched

    one = Watched(browser)
    yield one
    one.check()
    one.page.close()
