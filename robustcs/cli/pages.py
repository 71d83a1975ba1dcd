"""Help pages: the question, examples, what must be known, and the command's options by what they are about."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click
from click.shell_completion import CompletionItem

from robustcs.errors import UsageError
from robustcs.studies.study import MOST

#: What shared options are about, in the order in which a page lists them after the command's own.
GROUPS = ("Inputs", "Scores", "Intervals and tests", "Output", "Running")
_LAST = GROUPS[-1]
#: How the metavar of an option ends whose value is a file or a folder.
_FILES = ("FILE", "DIR", "FOLDER")
_EXAMPLES = "\b\nExamples:"


class SharedOption(click.Option):
    """An option that several commands take; ``group`` is one of :data:`GROUPS`."""

    def __init__(self, *args: Any, group: str, **settings: Any):
        super().__init__(*args, **settings)
        self.group = group


class FileName(click.types.StringParamType):
    """Text that a shell completes with names of files."""

    def shell_complete(self, context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave it to the shell, which knows how to."""
        return [CompletionItem(incomplete, type="file")]


class PagedCommand(click.Command):
    """A command whose page shows examples first and its options in groups, and whose files a shell completes.

    An option that has one value can be given once; of two values click would silently take the last.
    """

    def __init__(self, name: str, *, help: str, **settings: Any):
        super().__init__(name, help=examples_first(help), **settings)
        for parameter in self.params:
            if isinstance(parameter, click.Argument) or (parameter.metavar or "").partition("[:")[0].endswith(_FILES):
                parameter.type = FileName() if parameter.type is click.STRING else parameter.type

    def make_parser(self, context: click.Context) -> Any:
        """Return click's parser, which refuses a second value of an option that has one."""
        parser = super().make_parser(context)
        options = {id(one): one for one in (*parser._long_opt.values(), *parser._short_opt.values())}
        for option in options.values() if not context.resilient_parsing else ():
            if option.action == "store":
                option.process = partial(_process_once, option, option.process)  # type: ignore[method-assign]
        return parser

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Options; where none begins, files: of NAME=FILE the shell has cut off the name."""
        return super().shell_complete(context, incomplete) or [CompletionItem(incomplete, type="file")]

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options, then the shared ones by what they are about."""
        for title, options in option_groups(self.get_params(context)):
            records = [record for option in options if (record := help_record(option, context))]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _process_once(option: Any, process: Callable[[Any, Any], None], value: Any, state: Any) -> None:
    """Take the value of an option. Raises :class:`UsageError` where it has one already."""
    if option.dest in state.opts:
        name = max(option.obj.opts, key=len)
        both = (" ".join(one) if isinstance(one, tuple) else one for one in (state.opts[option.dest], value))
        found = f"{name} given twice: {', '.join(both)}"
        raise UsageError("repeated-option", found, "give it once")
    process(value, state)


def help_record(option: click.Option, context: click.Context) -> tuple[str, str] | None:
    """An option's names and text; a range that ends where numbers end is open to people."""
    record = option.get_help_record(context)
    return record and (record[0], re.sub(rf"(\d+)<=x<={MOST}", r"x>=\1", record[1]))


def examples_first(text: str) -> str:
    """A help text with its examples after the first paragraph; indentation as of a docstring."""
    first, *others = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join([first, *sorted(others, key=lambda part: not part.startswith(_EXAMPLES))])


def option_groups(parameters: Sequence[click.Parameter]) -> list[tuple[str, list[click.Option]]]:
    """(title, options) in the order of a page; ``--help`` stands among the last."""
    options = [one for one in parameters if isinstance(one, click.Option)]
    about = {option.opts[0]: getattr(option, "group", _LAST if "--help" in option.opts else "Options") for option in options}
    return [(title, [option for option in options if about[option.opts[0]] == title]) for title in ("Options", *GROUPS)]
