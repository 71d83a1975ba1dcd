"""The commands: every study of the registry, and what builds on all of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from robustcs.cli.options import ALWAYS, PROGRAM, RARE, RESULT, SET, load_project, program_first, shared_options
from robustcs.cli.output import FIGURE_SUFFIXES, emit
from robustcs.cli.terminal import tell, track
from robustcs.errors import UsageError
from robustcs.studies.registry import START, STUDIES, THEMES, TOGETHER
from robustcs.studies.signature import MOST, help_of, parameters_of
from robustcs.studies.study import Study

if TYPE_CHECKING:
    from robustcs.documents.document import Block
    from robustcs.project.model import Project
    from robustcs.project.workspace import Workspace
    from robustcs.result import Result

#: What shared options are about, in the order in which a page lists them after the command's own.
GROUPS = ("Inputs", "Scores", "Intervals and tests", "Output", "Running")
#: Options that a help page shows at most, unless all are asked for.
MOST_SHOWN = 20
#: How the metavar of an option ends whose value is a file or a folder.
_FILES = ("FILE", "DIR", "FOLDER")
_EXAMPLES = "\b\nExamples:"
#: Commands that are no study: name → the module that has a function of that name, what it does, and under which question.
_OTHERS = {
    "init": ("whole", "Write a robustcs.toml from the files in a folder.", START),
    "try-program": ("try_program", "Check a program for --with on three requests.", START),
    "report": ("whole", "All analyses that the inputs allow, in one folder.", TOGETHER),
    "bundle": ("whole", "The study in one folder that works elsewhere.", TOGETHER),
    "demo": ("whole", "The report on the demo collection.", TOGETHER),
}
#: Every command: what it does, and under which question.
_LISTED = {name: said for name, (_, *said) in _OTHERS.items()} | {one.name: [one.short, one.theme] for one in STUDIES}


class _Once(click.Command):
    """A command whose options that have one value are given once; of two values click would silently take the last."""

    def make_parser(self, context: click.Context) -> Any:
        """Return click's parser, which refuses a second value of an option that has one."""
        parser = super().make_parser(context)
        options = {id(one): one for one in (*parser._long_opt.values(), *parser._short_opt.values())}
        for option in options.values() if not context.resilient_parsing else ():
            if option.action == "store":
                option.process = partial(_process_once, option, option.process)  # type: ignore[method-assign]
        return parser


def _process_once(option: Any, process: Callable[[Any, Any], None], value: Any, state: Any) -> None:
    """Take the value of an option. Raises :class:`UsageError` where it has one already."""
    if option.dest in state.opts:
        name = max(option.obj.opts, key=len)
        both = (" ".join(one) if isinstance(one, tuple) else one for one in (state.opts[option.dest], value))
        raise UsageError("repeated-option", f"{name} given twice: {', '.join(both)}", "give it once")
    process(value, state)


class FileName(click.types.StringParamType):
    """Text that a shell completes with names of files."""

    def shell_complete(self, context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave it to the shell, which knows how to."""
        return [CompletionItem(incomplete, type="file")]


class PagedCommand(_Once):
    """A command whose page shows examples first and its options in groups, and whose files a shell completes.

    ``shared`` are the options of the program that it heeds; any other is refused. ``settings`` are what --set changes.
    """

    def __init__(self, name: str, uses: Sequence[str], *, help: str, **settings: Any):
        super().__init__(name, help=examples_first(help), short_help=_LISTED[name][0], **settings)
        own = {max(one.opts, key=len).removeprefix("--"): one for one in self.params}
        self.settings = {key: own.pop(key) for key in SET.get(name, ()) if key in own}
        for setting in self.settings.values():
            setting.hidden = True  # type: ignore[attr-defined]
        self.params = [*own.values(), *shared_options(uses)]
        self.shared = [option for key, option in PROGRAM.items() if key in (*uses, *ALWAYS)]
        for parameter in (*self.params, *self.shared):
            if isinstance(parameter, click.Argument) or (parameter.metavar or "").partition("[:")[0].endswith(_FILES):
                parameter.type = FileName() if parameter.type is click.STRING else parameter.type

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """As click does, with the program's options among the values. Raises for those that the command does not heed."""
        program = context.find_root()
        given = {name for name in PROGRAM if program.get_parameter_source(name) == ParameterSource.COMMANDLINE}
        for name in given - {option.name for option in self.shared}:
            raise click.NoSuchOption(PROGRAM[name].opts[0], ctx=context)
        if "help_all" in given:
            click.echo(self.get_help(context))
            context.exit()
        changed = [word for item in program.params.get("set") or () for word in self._words(item)]
        try:
            rest = super().parse_args(context, [*changed, *arguments])
        except click.NoSuchOption as error:
            words = [word for option in (*self.params, *self.shared) for word in option.opts]
            raise click.NoSuchOption(error.option_name, possibilities=words, ctx=context) from None
        context.params |= {str(one.name): program.params.get(str(one.name)) for one in self.shared if one.expose_value}
        return rest

    def _words(self, item: str) -> list[str]:
        """``KEY=VALUE`` as an option is written; several values have commas between. Raises :class:`UsageError`."""
        key, _, value = item.partition("=")
        option = self.settings.get(key)
        if option is None:
            known = f"there is {', '.join(self.settings)}" if self.settings else "it has none"
            raise UsageError("no-setting", f"--set {item}: {self.name} has no such setting", known)
        if getattr(option, "is_flag", False):
            return [f"--{key}"] if value != "false" else option.secondary_opts[:1]
        return [f"--{key}", *(value.split(",") if option.nargs > 1 else [value])]

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        """The command's own options and settings; for completion also the options of the program that it heeds."""
        return [*super().get_params(context), *self.settings.values(), *(self.shared if context.resilient_parsing else ())]

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Options; where none begins, files: of NAME=FILE the shell has cut off the name."""
        return super().shell_complete(context, incomplete) or [CompletionItem(incomplete, type="file")]

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options, then the shared ones by what they are about; the rarer ones with --help-all."""
        every = [one for one in (*super().get_params(context), *self.shared) if isinstance(one, click.Option)]
        whole = context.find_root().get_parameter_source("help_all") == ParameterSource.COMMANDLINE
        shown = every if whole else _shown(every)
        for title in ("Options", *GROUPS):
            records = [help_record(option, context) for option in shown if _group(option) == title]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if whole and self.settings:
            with formatter.section("Settings (--set KEY=VALUE)"):
                formatter.write_dl([(key, str(getattr(option, "help", ""))) for key, option in self.settings.items()])
        if more := len(every) - len(shown) + (0 if whole else len(self.settings)):
            formatter.write(f"\n{more} more options: {context.command_path} --help-all\n")


def _group(option: click.Option) -> str:
    return getattr(option, "group", GROUPS[-1] if "--help" in option.opts else "Options")


def _shown(every: Sequence[click.Option]) -> list[click.Option]:
    """The options of a short page: the command's own in their order, and the usual shared ones as far as there is room."""
    if len(every) <= MOST_SHOWN:
        return list(every)
    own = [option for option in every if _group(option) == "Options"]
    usual = [option for option in every if option not in own and option.name not in RARE]
    own = own[: max(MOST_SHOWN - len(usual), MOST_SHOWN // 2)]
    usual = [*usual[: MOST_SHOWN - len(own) - 3], *usual[-3:]] if len(own) + len(usual) > MOST_SHOWN else usual
    return [option for option in every if option in own or option in usual]


def help_record(option: click.Option, context: click.Context) -> tuple[str, str]:
    """An option's names and text; a range that ends where numbers end is open to people."""
    names, text = option.get_help_record(context) or ("", "")
    return names, re.sub(rf"(\d+)<=x<={MOST}", r"x>=\1", text)


def examples_first(text: str) -> str:
    """A help text with its examples after the first paragraph; indentation as of a docstring."""
    first, *others = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join([first, *sorted(others, key=lambda part: not part.startswith(_EXAMPLES))])


class Commands(_Once, click.Group):
    """Loads a command when it is called; lists them in the order of the questions that they answer."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """As click does, with the program's options wherever they stand."""
        return super().parse_args(context, program_first(arguments, context.resilient_parsing))

    def list_commands(self, context: click.Context) -> list[str]:
        """By the questions that they answer; within one, studies in the order of the registry."""
        return sorted(_LISTED, key=lambda name: THEMES.index(_LISTED[name][1]))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name in _OTHERS:
            return whole_command(name)
        return next((study_command(study) for study in STUDIES if study.name == name), self.commands.get(name))

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the commands that are not loaded among those that a misspelt one may mean."""
        name = arguments[0]
        if not name.startswith("-") and name not in (*_LISTED, *self.commands):
            close = get_close_matches(name, _LISTED, 1)
            context.fail(f"No such command {name!r}." + (f" Did you mean {close[0]!r}?" if close else ""))
        return super().resolve_command(context, arguments)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of the program that stand alone, then the commands, none of which is loaded."""
        with formatter.section("Options"):
            formatter.write_dl([help_record(one, context) for one in self.get_params(context) if one.name not in PROGRAM])  # type: ignore[arg-type]
        width = max(map(len, _LISTED))
        for theme in THEMES:
            formatter.write(f"\n{theme}\n")
            with formatter.indentation():
                formatter.write_dl([(name.ljust(width), short) for name, (short, about) in _LISTED.items() if about == theme])


def whole_command(name: str) -> click.Command:
    """The command of a function that takes a call and its own options: what is no study."""
    module = import_module(f"robustcs.cli.{_OTHERS[name][0]}")
    function, uses = getattr(module, name.replace("-", "_")), getattr(module, "USES", {}).get(name, ())
    parameters = list(parameters_of(function))

    def callback(**values: Any) -> Any:
        own = {str(parameter.name): values.pop(str(parameter.name)) for parameter in parameters}
        return function(Call(uses, values), **own)

    return PagedCommand(name, uses, params=parameters, callback=callback, help=help_of(function))


def study_command(study: Study) -> click.Command:
    """The command of a study: its own parameters, the shared options that it uses, and those of every result."""
    command = study.command
    uses = (*command.uses, *(["no_retrieve"] if command.retrieves else []), *RESULT, *ALWAYS)

    def callback(**values: Any) -> None:
        own = {parameter.name: values.pop(parameter.name) for parameter in command.parameters}
        call = Call(uses, values, study)
        if command.run is not None:
            study.part("study").COMMAND.run(call, **own)
            return
        workspace = call.answered() if command.retrieves else call.workspace()
        own |= {name: True for name in command.on_request if name in values["table"]}
        result = call.ask(workspace, **own)
        figure = any(name.endswith(FIGURE_SUFFIXES) for name in values["output"])
        call.emit(workspace, result, study.blocks(result, () if figure else values["table"]))

    return PagedCommand(study.name, uses, params=list(command.parameters), callback=callback, help=command.help)


class Call:
    """One call of a command: see :class:`robustcs.studies.study.Call`."""

    def __init__(self, uses: Sequence[str], given: Mapping[str, Any], study: Study | None = None):
        self.uses, self.given, self._study = uses, given, study

    @property
    def study(self) -> Study:
        """The study that is called."""
        assert self._study
        return self._study

    @cached_property
    def project(self) -> Project:
        """The project of this folder or of ``--config``, with the options in place of what it says."""
        return load_project(self.uses, self.given)

    def workspace(self, project: Project | None = None) -> Workspace:
        """What ``project`` (default: that of the call) names, ready to be read."""
        from robustcs.project.parallel_io import jobs_of
        from robustcs.project.workspace import Workspace

        return Workspace(project or self.project, jobs_of(self.given), track, not self.given.get("no_retrieve"))

    def answered(self, project: Project | None = None, samples: bool = False) -> Workspace:
        """As :meth:`workspace`, with a run for every text that waits for one, where ``[retrieval]`` names an index.

        ``samples``: also for further samples of rewriters.
        """
        workspace = self.workspace(project)
        if workspace.project.retrieval is None:
            return workspace
        from robustcs.project.retrieved import with_runs

        return workspace.of(with_runs(workspace, self.tell, samples))

    def ask(self, workspace: Workspace, **settings: Any) -> Any:
        """What the study finds, also by ``--by``."""
        from robustcs.project.collections import asked

        return asked(self.study.part("study").ask, workspace, self.given.get("by"), **settings)

    def emit(self, workspace: Workspace, result: Result, blocks: Sequence[Block]) -> None:
        """Write a result to every ``--output``, or to the terminal."""
        from robustcs.project.collections import stated

        emit(
            self.study.name, stated(workspace, result), blocks, workspace.inputs, **{name: self.given[name] for name in RESULT}
        )

    def tell(self, message: str) -> None:
        """One line for people, on stderr."""
        tell(message)
