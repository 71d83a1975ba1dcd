"""The commands: every study of the registry, and the commands for a whole project."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from robustcs.cli.options import (
    ALWAYS,
    RESULT,
    SHARED,
    WHOLE,
    load_project,
)
from robustcs.cli.terminal import FIGURE_SUFFIXES, check_output, emit, refuse_data, tell, track
from robustcs.errors import InputError, UsageError
from robustcs.messages import CommandLine
from robustcs.project.sources import OTHER_NAMES
from robustcs.studies.registry import START, STUDIES, THEMES, TOGETHER
from robustcs.studies.signature import MOST, help_of, parameters_of
from robustcs.studies.study import Study
from robustcs.wording import nearest

if TYPE_CHECKING:
    from robustcs.documents.document import Block
    from robustcs.project.model import Project
    from robustcs.project.workspace import Workspace
    from robustcs.result import Result

#: Groups of shared options, in the order in which a page lists them after the command's own options.
GROUPS = ("Inputs", "Scores", "Intervals and tests", "Output", "Running")
#: Largest number of options on a help page without --help-all.
MOST_SHOWN = 20
#: Ends of the metavar of options that accept a file or a folder.
_FILES = ("FILE", "DIR", "FOLDER")
_GIVEN = click.core.ParameterSource.COMMANDLINE
_EXAMPLES = "\b\nExamples:"
#: Commands that are not studies: name → the module with its function, its summary, and its theme.
_OTHERS = {
    "init": ("whole", "Write a robustcs.toml for the files in a folder.", START),
    "try-program": ("try_program", "Test a program for --with with three requests.", START),
    "report": ("whole", "Run all analyses that the inputs allow; write one report.", TOGETHER),
    "bundle": ("whole", "Copy a study into one folder that works elsewhere.", TOGETHER),
    "demo": ("whole", "Write the report on the demo collection.", TOGETHER),
}
#: Every command: its summary and its theme.
_LISTED = {name: said for name, (_, *said) in _OTHERS.items()} | {
    one.name: [one.short, one.theme] for one in STUDIES
}


def _process_once(option: Any, process: Callable[[Any, Any], None], value: Any, state: Any) -> None:
    """Set the value of an option. Raises :class:`UsageError` if it already has one."""
    if option.dest in state.opts:
        name = max(option.obj.opts, key=len)
        both = (
            " ".join(one) if isinstance(one, tuple) else one
            for one in (state.opts[option.dest], value)
        )
        raise UsageError(
            "repeated-option", f"{name} is given twice: {', '.join(both)}", "give it once"
        )
    process(value, state)


class PagedCommand(click.Command):
    """A command with examples first and grouped options on its help page, and with completion of file names.

    It rejects a second value of a single-valued option; click alone would silently use the last.
    """

    def __init__(self, name: str, uses: Sequence[str], *, help: str, **settings: Any):
        super().__init__(name, help=examples_first(help), short_help=_LISTED[name][0], **settings)
        self.params += [SHARED[one] for one in dict.fromkeys((*uses, *ALWAYS))]
        for parameter in self.params:
            if isinstance(parameter, click.Argument) or (parameter.metavar or "").partition("[:")[
                0
            ].endswith(_FILES):
                # a shell completes file names; the reader of a file checks it
                parameter.type = (
                    click.Path(readable=False) if parameter.type is click.STRING else parameter.type
                )

    def make_parser(self, context: click.Context) -> Any:
        """Return click's parser, changed to reject a second value of a single-valued option."""
        parser = super().make_parser(context)
        options = {
            id(one): one for one in (*parser._long_opt.values(), *parser._short_opt.values())
        }
        for option in options.values() if not context.resilient_parsing else ():
            if option.action == "store":
                option.process = partial(_process_once, option, option.process)  # type: ignore[method-assign]
        return parser

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Parse as click does. Raises :class:`UsageError` for an option that has no effect without another one."""
        left = super().parse_args(context, arguments)
        if context.resilient_parsing:
            return left
        given = [
            one
            for one in self.get_params(context)
            if context.get_parameter_source(str(one.name)) is _GIVEN
        ]
        names = {name for one in given for name in one.opts}
        for option in given:
            if (needs := getattr(option, "needs", ())) and names.isdisjoint(needs):
                found = f"{max(option.opts, key=len)} has no effect without {' or '.join(needs)}"
                raise UsageError("idle-option", found, f"add {needs[0]}, or leave it out")
        return left

    def invoke(self, context: click.Context) -> Any:
        """Run the command; errors name its own options for the files that they are about."""
        try:
            return super().invoke(context)
        except InputError as error:
            error.word(CommandLine(OTHER_NAMES.get(str(self.name), {})))
            raise

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete options, and file names where no option matches: of NAME=FILE the shell has cut off the name."""
        return super().shell_complete(context, incomplete) or [
            CompletionItem(incomplete, type="file")
        ]

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then the shared ones by group; rarely used ones only with --help-all."""
        every = [one for one in self.get_params(context) if isinstance(one, click.Option)]
        whole = WHOLE in context.meta
        shown = every if whole else _shown(every)
        for title in ("Options", *GROUPS):
            records = [help_record(option, context) for option in shown if _group(option) == title]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if more := len(every) - len(shown):
            formatter.write(
                f"\n{more} more option{'s' * (more > 1)}: {context.command_path} --help-all\n"
            )


def _group(option: click.Option) -> str:
    return getattr(option, "group", GROUPS[-1] if "--help" in option.opts else "Options")


def _shown(every: Sequence[click.Option]) -> list[click.Option]:
    """Return the options of a short page: the command's own, in order, and the shared ones that fit; no rare ones."""
    if len(every) <= MOST_SHOWN:
        return list(every)
    frequent = [option for option in every if not getattr(option, "rare", False)]
    own = [option for option in frequent if _group(option) == "Options"]
    usual = [option for option in frequent if option not in own]
    own = own[: max(MOST_SHOWN - len(usual), MOST_SHOWN // 2)]
    usual = (
        [*usual[: MOST_SHOWN - len(own) - 3], *usual[-3:]]
        if len(own) + len(usual) > MOST_SHOWN
        else usual
    )
    return [option for option in every if option in own or option in usual]


def help_record(option: click.Option, context: click.Context) -> tuple[str, str]:
    """Return an option's names and help text; a range that ends at :data:`MOST` is shown without its end."""
    names, text = option.get_help_record(context) or ("", "")
    return names, re.sub(rf"(\d+)<=x<={MOST}", r"x>=\1", text)


def examples_first(text: str) -> str:
    """Return a help text, dedented like a docstring, with its examples moved after the first paragraph."""
    first, *others = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join([first, *sorted(others, key=lambda part: not part.startswith(_EXAMPLES))])


class Commands(click.Group):
    """All commands, listed by theme; each is loaded when it is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of the commands by theme; within a theme, studies are in the order of the registry."""
        return sorted(_LISTED, key=lambda name: THEMES.index(_LISTED[name][1]))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        if name in _OTHERS:
            return whole_command(name)
        return next(
            (study_command(study) for study in STUDIES if study.name == name),
            self.commands.get(name),
        )

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve as click does; suggestions for a misspelled command include those that are not loaded."""
        name = arguments[0]
        if not name.startswith("-") and name not in (*_LISTED, *self.commands):
            near = nearest(name, _LISTED)
            meant = f" Did you mean {near!r}?" if near else ""
            context.fail(f"No such command {name!r}.{meant}")
        return super().resolve_command(context, arguments)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write --version and --help, then the commands, without loading them."""
        with formatter.section("Options"):
            formatter.write_dl([help_record(one, context) for one in self.get_params(context)])  # type: ignore[arg-type]
        width = max(map(len, _LISTED))
        for theme in THEMES:
            formatter.write(f"\n{theme}\n")
            with formatter.indentation():
                formatter.write_dl(
                    [
                        (name.ljust(width), short)
                        for name, (short, about) in _LISTED.items()
                        if about == theme
                    ]
                )


def whole_command(name: str) -> click.Command:
    """Return the command of a function that is not a study; the function accepts a call and its own options."""
    module = import_module(f"robustcs.cli.{_OTHERS[name][0]}")
    function, uses = (
        getattr(module, name.replace("-", "_")),
        getattr(module, "USES", {}).get(name, ()),
    )
    return _command(
        name,
        uses,
        parameters_of(function),
        help_of(function),
        lambda given, own: function(CommandCall(uses, given), **own),
    )


def study_command(study: Study) -> click.Command:
    """Return the command of a study: its own parameters, its shared options, and the output options."""
    command = study.command
    uses = (*command.uses, *(["no_retrieve"] if command.retrieves else []), *RESULT)

    def run(given: Mapping[str, Any], own: dict[str, Any]) -> None:
        call, kind = CommandCall(uses, given, study), command.retrieves
        if command.run is not None:
            command.run(call, **own)
            return
        workspace = (
            call.with_runs(samples=kind == "samples", cells=kind == "cells")
            if kind
            else call.workspace()
        )
        own |= {name: True for name in command.on_request if name in given["table"]}
        result = call.ask(workspace, **own)
        call.emit(workspace, result)

    return _command(study.name, uses, command.parameters, command.help, run)


def _command(
    name: str,
    uses: Sequence[str],
    parameters: Sequence[click.Parameter],
    help: str,
    run: Callable[[Any, Any], Any],
) -> click.Command:
    """Return a command that calls ``run`` with its shared options and the values of its ``parameters``."""

    def callback(**values: Any) -> Any:
        own = {str(parameter.name): values.pop(str(parameter.name)) for parameter in parameters}
        return run(values, own)

    return PagedCommand(name, uses, params=list(parameters), callback=callback, help=help)


class CommandCall:
    """One call of a command: see :class:`robustcs.studies.study.Call`."""

    def __init__(self, uses: Sequence[str], given: Mapping[str, Any], study: Study | None = None):
        self.uses, self.given, self._study = uses, given, study

    @property
    def study(self) -> Study:
        """The study of the command."""
        assert self._study
        return self._study

    @property
    def tables(self) -> Sequence[str]:
        """The tables of ``--table`` whose blocks are written; empty if a figure is written, or all."""
        return (
            ()
            if any(name.endswith(FIGURE_SUFFIXES) for name in self.given["output"])
            else self.given["table"]
        )

    @cached_property
    def project(self) -> Project:
        """The project of ``--config`` or of the current folder; options replace its entries.

        Raises :class:`UsageError`, before any work is done, if the output of a study would replace an input.
        """
        return self.on(None)

    def on(self, start: Callable[[], Project] | None) -> Project:
        """Return the same with ``start`` in place of the project of the current folder."""
        project = load_project(self.uses, self.given, start)
        if self._study:
            check_output(self.given)
        return project

    def workspace(self, project: Project | None = None) -> Workspace:
        """Return a workspace that reads the inputs of ``project`` (default: the project of the call)."""
        from robustcs.project.parallel_io import jobs_of
        from robustcs.project.workspace import Workspace

        return Workspace(
            project or self.project, jobs_of(self.given), track, not self.given.get("no_retrieve")
        )

    def with_runs(
        self, project: Project | None = None, samples: bool = False, cells: bool = False
    ) -> Workspace:
        """Return :meth:`workspace` after retrieving the missing runs, if ``[retrieval]`` names an index.

        ``samples``: also retrieve for further samples of rewriters. ``cells``: also retrieve missing cells of the grid.
        """
        workspace = self.workspace(project)
        if workspace.project.retrieval is None:
            return workspace
        from robustcs.project.retrieved import with_runs

        return workspace.of(with_runs(workspace, self.tell, samples, cells))

    def ask(self, workspace: Workspace, **settings: Any) -> Any:
        """Return the result of the study; with ``--by`` also per collection."""
        ask, by = self.study.part("study").ask, self.given.get("by")
        if by is None:
            return ask(workspace, **settings)
        from robustcs.project.collections import ask_by

        return ask_by(ask, workspace, by, **settings)

    def emit(
        self,
        workspace: Workspace,
        result: Result,
        show: Callable[[], Sequence[Block]] | None = None,
    ) -> None:
        """Write a result to each ``--output``, or to the terminal; ``show``: see :class:`robustcs.studies.study.Call`."""
        options = {name: self.given[name] for name in RESULT}
        show = show or (lambda: self.study.blocks(result, self.tables))
        emit(self.study.name, workspace.stated(result), show, lambda: workspace.inputs, **options)

    def write(self, path: str, text: str) -> None:
        """Write a further file, but never over data, and print its name on stderr."""
        from robustcs.documents.files import write_text

        refuse_data(path)
        write_text(path, text)
        tell(f"wrote {path}")

    def tell(self, message: str) -> None:
        """Print one line on stderr."""
        tell(message)
