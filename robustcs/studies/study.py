"""What every study has: a line in the registry, a command, and its questions in the report."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from robustcs.studies.signature import MOST as MOST
from robustcs.studies.signature import help_of, parameters_of

if TYPE_CHECKING:
    import click

    from robustcs.documents.document import Block, Figure, Table, Verdict
    from robustcs.project.model import Project
    from robustcs.project.workspace import Workspace
    from robustcs.result import Evaluated, Result


#: Systems whose pairs are compared without being asked for: what is done with them grows with the square of their number.
MOST_COMPARED = 50

#: Shared options that several commands take: what Original, QR and Human are and got,
FORMULATIONS = ("qrels", "original", "qr", "human", "scores", "rewrites", "answers", "gold")
#: any systems,
SYSTEMS = ("qrels", "original", "qr", "human", "runs", "rewrites")
#: how runs are scored,
SCORING = ("metric", "relevance_level", "missing", "order", "depth", "documents", "jobs", "dask")
#: the same for each collection alone,
BY = ("by",)
#: what is independent, and the seed, where something is drawn.
UNIT = ("unit",)
SEED = ("seed",)


@dataclass(frozen=True)
class Study:
    """One question that users ask; what it needs is known without importing it.

    name
        The folder of :mod:`robustcs.studies`, the command, and the Python function.
    short
        What it answers, in one line.
    theme
        The question behind it, under which ``robustcs --help`` lists it: one of :data:`robustcs.studies.registry.THEMES`.
    needs
        What it cannot do without: names of :data:`robustcs.project.requirements.REQUIREMENTS`.
    reads
        The inputs that it opens, so that a broken one stops it: see :meth:`robustcs.studies.check.readiness.Readiness.files`.
    in_report
        Does it have questions in the report?
    holes
        Does a run of which no passage is judged mean something to it?
    asked
        An option without which it would wait for somebody at the keyboard.
    """

    name: str
    short: str
    theme: str
    needs: tuple[str, ...]
    reads: tuple[str, ...]
    in_report: bool = True
    holes: bool = False
    asked: str = ""

    @property
    def command(self) -> Command:
        """Its command, for which nothing is imported that the work needs: ``--help`` is there at once.

        What its ``study.py`` says of the command (its imports from the modules below, the heads of ``ask`` and ``_run`` with
        their docstrings, ``COMMAND``) is executed without the rest of that file.
        """
        path = Path(__file__).parent / self.name / "study.py"
        tree = ast.parse(path.read_text("utf-8"))
        tree.body = [node for node in tree.body if _of_command(node)]
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                node.body = node.body[:1]
        scope: dict[str, Any] = {"__name__": f"{__name__}.{self.name}"}
        exec(compile(tree, path, "exec"), scope)
        return cast(Command, scope["COMMAND"])

    def part(self, name: str) -> ModuleType:
        """One of the modules of its folder, such as ``study`` and ``show``; imported when it is needed."""
        return import_module(f"robustcs.studies.{self.name}.{name}")

    def blocks(self, result: Result, names: Sequence[str] = ()) -> tuple[Block, ...]:
        """What people see of a result; of the tables ``names`` alone, where its ``show`` has ``VIEWS``: table → its blocks."""
        show = self.part("show")
        if not names or not hasattr(show, "VIEWS"):
            return tuple(show.show(result))
        return tuple(block for name, view in show.VIEWS if name in names for block in view(result))


def _of_command(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module in ("__future__", "typing", "collections.abc", "robustcs.studies.signature", __name__)
    if isinstance(node, ast.FunctionDef):
        return node.name in ("ask", "_run")
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "COMMAND"


class Call(Protocol):
    """One call of a command, as the command line hands it to a study.

    given
        The shared options that the user gave, by name; absent ones are None or empty.
    """

    given: Mapping[str, Any]

    @property
    def project(self) -> Project:
        """The project of this folder or of ``--config``, with the options in place of what it says."""

    def workspace(self, project: Project | None = None) -> Workspace:
        """What ``project`` (default: that of the call) names, ready to be read."""

    def answered(self, project: Project | None = None, samples: bool = False) -> Workspace:
        """As :meth:`workspace`, with a run for every text that waits for one, where ``[retrieval]`` names an index.

        ``samples``: also for further samples of rewriters.
        """

    def ask(self, workspace: Workspace, **settings: Any) -> Any:
        """What the study's ``ask`` finds with these settings; with ``--by collection`` also for each collection alone."""

    def emit(self, workspace: Workspace, result: Result, blocks: Sequence[Block]) -> None:
        """Write a result to every ``--output``, or to the terminal."""

    def tell(self, message: str) -> None:
        """One line for people, on stderr."""


@dataclass(frozen=True)
class Command:
    """The command of a study.

    help
        What ``--help`` says.
    uses
        The shared options that it takes, by name: see :mod:`robustcs.cli.options`.
    parameters
        Its own options and arguments.
    on_request
        Tables that grow with the square of the runs: ``ask`` has a keyword of that name, which ``--table`` turns on.
    retrieves
        Are texts that wait for a run answered first, where the project has an index?
    run
        Called with the :class:`Call` and the values of ``parameters``. Without it the study's ``ask`` is called with the
        workspace (runs retrieved where that is configured) and these values, and what ``show`` makes of its result is written.
    """

    help: str
    uses: tuple[str, ...]
    parameters: tuple[click.Parameter, ...] = ()
    on_request: tuple[str, ...] = ()
    retrieves: bool = True
    run: Callable[..., None] | None = None


def command(
    ask: Callable[..., Result],
    uses: tuple[str, ...],
    *,
    on_request: tuple[str, ...] = (),
    retrieves: bool = True,
    run: Callable[..., None] | None = None,
) -> Command:
    """The command of a typed function: ``ask`` of a study, with the further parameters of ``run`` where there is one.

    A parameter that both have is that of ``run``; those of ``on_request`` are turned on by ``--table``. The help page is the
    docstring of ``ask``.
    """
    own = parameters_of(run) if run else ()
    names = {*on_request, *(one.name for one in own)}
    shared = tuple(one for one in parameters_of(ask) if one.name not in names)
    return Command(help_of(ask), uses, (*shared, *own), on_request, retrieves, run)


@dataclass(frozen=True)
class Answer:
    """What a question of the report found.

    findings
        Plain sentences with their numbers: the first opens the section where there is no verdict, the others stand folded.
    verdicts
        What the section opens with; :mod:`robustcs.reporting.headlines` chooses those that open the report.
    reading
        How to read the figures and tables.
    results
        Command → result; its tables are written as CSV and JSON.
    to_read
        Turns worth reading, after all tables.
    overview
        The table and the figure that open the report, where no earlier question has any.
    """

    findings: tuple[str, ...]
    reading: str
    blocks: tuple[Block, ...]
    evaluated: Evaluated
    results: Mapping[str, Result]
    to_read: tuple[Block, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    overview: tuple[Table | Figure, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question of the report.

    key
        Lower-case name; the names of its files and anchors start with it.
    joins
        Is it a part of the section that another study's question of the same key opens? Then that question says which part of
        the project is looked at.
    tables
        The tables that everybody should see, in this order: the first opens the section, the others stand folded in the page
        and in the appendix of the PDF. All other tables stand in the page alone, folded.
    part
        The part of a project that the answer may look at. Raises :class:`UsageError` where that does not suffice.
        An answer is computed from this part alone, so it can be kept until something in the part changes.
    given
        Was something given that it could be asked of? Then the report says what else it needs.
    answer
        Raises :class:`UsageError` where the files do not have what is needed.
    """

    key: str
    title: str
    tables: tuple[str, ...]
    part: Callable[[Project], Project] = lambda project: project
    given: Callable[[Project], bool] = field(kw_only=True, default=lambda project: False)
    answer: Callable[[Workspace], Answer] = field(kw_only=True)
    joins: bool = False
