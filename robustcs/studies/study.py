"""Parts of each study: an entry in the registry, a command, and its questions in the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from robustcs.errors import UsageError
from robustcs.studies.signature import MOST as MOST
from robustcs.studies.signature import help_of, parameters_of

if TYPE_CHECKING:
    from pathlib import Path

    import click

    from robustcs.documents.document import Block, Figure, TableBlock, TurnSet, Verdict
    from robustcs.project.model import Project
    from robustcs.project.trust import Limit
    from robustcs.project.workspace import Workspace
    from robustcs.result import Result
    from robustcs.statistics.families import Family


Some = TypeVar("Some", bound=Sized)
#: Largest number of systems whose pairs are compared by default; the work grows with the square of this number.
MOST_COMPARED = 50

#: Shared options: inputs of formulations.
FORMULATIONS = ("qrels", "original", "qr", "human", "scores", "rewrites", "answers", "gold")
#: Shared options: inputs of any systems.
SYSTEMS = ("qrels", "original", "qr", "human", "runs", "rewrites")
#: Shared options: scoring of runs.
SCORING = ("metric", "relevance_level", "missing", "order", "depth", "documents", "jobs", "dask")
#: Shared options: tables per collection, sampling unit and conversations, and random seed.
BY = ("by",)
UNIT = ("unit", "conversation")
SEED = ("seed",)


@dataclass(frozen=True)
class Study:
    """One study; its requirements are known without importing it.

    name
        Name of its folder in :mod:`robustcs.studies`, of the command, and of the Python function.
    short
        Summary in one line.
    theme
        The question under which ``robustcs --help`` lists it: one of :data:`robustcs.studies.registry.THEMES`.
    needs
        Required inputs: names of :data:`robustcs.project.requirements.REQUIREMENTS`.
    reads
        Inputs that it opens; broken ones stop it. See :meth:`robustcs.studies.check.readiness.Readiness.files`.
    in_report
        Has questions in the report.
    accepts_unjudged
        Accepts runs without any judged passage.
    own
        Field of the project without which the report does not ask its questions; empty if each question checks its inputs.
    batch_option
        Option without which the command would wait for input on the keyboard.
    gives_fields
        Has fields of turns (``fields.py``).
    input
        What users give in order to ask its question, in words.
    """

    name: str
    short: str
    theme: str
    needs: tuple[str, ...]
    reads: tuple[str, ...]
    in_report: bool = True
    accepts_unjudged: bool = False
    batch_option: str = ""
    own: str = ""
    gives_fields: bool = False
    input: str = ""

    @property
    def command(self) -> Command:
        """The command; the top of ``study.py`` imports only what its help page needs."""
        return cast(Command, self.part("study").COMMAND)

    def part(self, name: str) -> ModuleType:
        """Import and return a module of its folder, such as ``study`` or ``show``."""
        return import_module(f"robustcs.studies.{self.name}.{name}")

    def questions(self, project: Project | None = None) -> Sequence[Question]:
        """Return its questions in the report; none, without importing the study, if ``project`` lacks its own input."""
        if not self.in_report or (
            project is not None and self.own and not getattr(project, self.own)
        ):
            return ()
        return cast("Sequence[Question]", self.part("questions").QUESTIONS)

    def start(self, **own: Any) -> Project:
        """Return the project that keywords change: that of the current folder, unless the study's ``start`` returns another.

        ``own``: values of its own parameters.
        """
        from robustcs.project.reading import find_project

        start = getattr(self.part("study"), "start", None)
        return find_project(None) if start is None else cast("Project", start(**own))

    def prepare(self, workspace: Workspace) -> None:
        """Read and check the inputs; a study without ``prepare`` computes its slow tables only when they are used."""
        part = self.part("study")
        getattr(part, "prepare", part.ask)(workspace)

    def blocks(self, result: Result, names: Sequence[str] = ()) -> tuple[Block, ...]:
        """Return the displayed blocks of a result; only those of the tables ``names`` if ``show`` can select them."""
        show = self.part("show")
        if names and hasattr(show, "VIEWS"):
            return tuple(
                block for name, view in show.VIEWS if name in names for block in view(result)
            )
        return tuple(
            show.show(result, names=names)
            if "names" in show.show.__annotations__
            else show.show(result)
        )


class Call(Protocol):
    """One call of a command, as the command line passes it to a study.

    given
        Shared options by name; absent ones are None or empty.
    """

    given: Mapping[str, Any]

    @property
    def tables(self) -> Sequence[str]:
        """The tables of ``--table`` whose blocks are written; empty if a figure is written, or all."""

    @property
    def project(self) -> Project:
        """The project of ``--config`` or of the current folder; options replace its entries."""

    def on(self, start: Callable[[], Project] | None) -> Project:
        """Return the same with ``start`` in place of the project of the current folder."""

    def workspace(self, project: Project | None = None) -> Workspace:
        """Return a workspace that reads the inputs of ``project`` (default: the project of the call)."""

    def with_runs(
        self, project: Project | None = None, samples: bool = False, cells: bool = False
    ) -> Workspace:
        """Return :meth:`workspace` after retrieving the missing runs, if ``[retrieval]`` names an index.

        ``samples``: also retrieve for further samples of rewriters. ``cells``: also retrieve missing cells of the grid.
        """

    def ask(self, workspace: Workspace, **settings: Any) -> Any:
        """Return the result of the study's ``ask`` with these settings; with ``--by collection`` also per collection."""

    def emit(
        self,
        workspace: Workspace,
        result: Result,
        show: Callable[[], Sequence[Block]] | None = None,
    ) -> None:
        """Write a result to each ``--output``, or to the terminal.

        ``show`` returns the displayed blocks (default: those of the study); CSV and JSON do not need them.
        """

    def write(self, path: str, text: str) -> None:
        """Write a further file, but never over data, and print its name on stderr."""

    def tell(self, message: str) -> None:
        """Print one line on stderr."""


#: See :class:`Command`.
Retrieves = Literal[True, False, "samples", "cells"]


@dataclass(frozen=True)
class Command:
    """The command of a study, made from ``ask``; its help page is the docstring of ``ask``.

    uses
        Names of its shared options: see :mod:`robustcs.cli.options`.
    on_request
        Tables that grow with the square of the number of runs; ``--table`` turns on the keyword of ``ask`` with that name.
    retrieves
        Retrieve missing runs first, if the project has an index: all, or also those of further samples or of the grid's cells.
    run
        Function that is called with the :class:`Call` and the values of ``parameters``. By default, the study's ``ask`` is
        called with the workspace and these values, and the blocks of ``show`` are written.
    """

    ask: Callable[..., Result]
    uses: tuple[str, ...]
    on_request: tuple[str, ...] = ()
    retrieves: Retrieves = True
    run: Callable[..., None] | None = None

    @cached_property
    def help(self) -> str:
        """Text of ``--help``."""
        return help_of(self.ask)

    @cached_property
    def parameters(self) -> tuple[click.Parameter, ...]:
        """Its own options and arguments: those of ``ask`` and ``run``; a parameter of both is that of ``run``."""
        own = parameters_of(self.run) if self.run else ()
        names = {*self.on_request, *(one.name for one in own)}
        return (*(one for one in parameters_of(self.ask) if one.name not in names), *own)


def check_common_turns(first: str, one: Iterable[str], second: str, other: Iterable[str]) -> None:
    """Raise :class:`UsageError` unless two inputs, named ``first`` and ``second``, have a turn in common."""
    if not set(one) & set(other):
        advice = f"check their turn ids: {next(iter(one))!r} and {next(iter(other))!r}"
        raise UsageError("no-common-turns", f"{first} and {second} have no turn in common", advice)


def read_given(
    workspace: Workspace, role: str, path: Path | None, read: Callable[[Path], Some]
) -> Some | None:
    """Read a file of a study's own and add it to the inputs of the workspace; None if it is not given."""
    if path is None:
        return None
    found = read(path)
    workspace.remember(role, path, len(found))
    return found


@dataclass(frozen=True)
class SectionContent:
    """The content of a section of the report: the answer to its question.

    result
        Result of the study; its tables are written as CSV and JSON.
    blocks
        The displayed blocks.
    findings
        Sentences with numbers. Without a verdict, the first opens the section; the others are folded.
    reading
        How to read the figures and tables.
    turns
        Turns to read: sets of them, to which the section links.
    verdicts
        Verdicts at the start of the section; :mod:`robustcs.reporting.headlines` chooses those that open the report.
    overview
        Table and figure that open the report, unless an earlier question has some.
    family
        Family of the tests on which verdicts about systems and differences rest.
    limits
        Limits on the verdicts of all other questions that rest on judgments.
    """

    result: Result
    blocks: tuple[Block, ...]
    findings: tuple[str, ...] = ()
    reading: str = ""
    turns: tuple[TurnSet, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    overview: tuple[TableBlock | Figure, ...] = ()
    family: Family | None = None
    limits: Sequence[Limit] = ()


@dataclass(frozen=True)
class Question:
    """A question of the report.

    key
        Lower-case name; the names of its files and anchors start with it.
    title
        The question in words, the heading of its section. Empty: its content continues the section of the same key.
    tables
        Main tables, in this order: the first opens the section; the others are folded in the page and in the appendix of the
        PDF. All other tables are only in the page, folded.
    inputs
        Returns the project with the inputs that the section uses only. Raises :class:`UsageError` if some are missing.
    content
        Computes the content of the section from these inputs. Raises :class:`UsageError` if the files do not contain the required
        data.
    given
        Returns whether some of its inputs are given (default: True, as :attr:`Study.own` is given); then the report names those
        that are missing.
    """

    key: str
    title: str
    tables: tuple[str, ...]
    inputs: Callable[[Project], Project]
    content: Callable[[Workspace], SectionContent]
    given: Callable[[Project], bool] = lambda project: True
