"""The list of commands: every study of the registry, and what builds on all of them."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

import click

from robustcs.cli.frame import study_command
from robustcs.studies.registry import START, STUDIES, THEMES, TOGETHER

#: Commands that are no study: name → what they do, and under which question. Each is a function of its name (with _ for -) in a
#: module of :mod:`robustcs.cli`.
_OTHERS = {
    "init": ("Write a robustcs.toml from the files in a folder.", START),
    "try-program": ("Check a program for --with on three requests.", START),
    "report": ("All analyses that the inputs allow, in one folder.", TOGETHER),
    "bundle": ("The study in one folder that works elsewhere.", TOGETHER),
    "demo": ("The report on the demo collection.", TOGETHER),
}
#: Every command: what it does, and under which question.
_LISTED = {**_OTHERS, **{study.name: (study.short, study.theme) for study in STUDIES}}


class Commands(click.Group):
    """Loads a command when it is called; lists them in the order of the questions that they answer."""

    def list_commands(self, context: click.Context) -> list[str]:
        """By the questions that they answer; within one, studies in the order of the registry."""
        return sorted(_LISTED, key=lambda name: THEMES.index(_LISTED[name][1]))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name in self.commands:
            return self.commands[name]
        for study in STUDIES:
            if study.name == name:
                return study_command(study)
        if name in _OTHERS:
            module = name.replace("-", "_")
            command: click.Command = getattr(import_module(f"robustcs.cli.{module}"), module)
            return command
        return None

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the commands that are not loaded among those that a misspelt one may mean."""
        name = arguments[0]
        if not name.startswith("-") and self.get_command(context, name) is None:
            close = get_close_matches(name, self.list_commands(context), 1)
            context.fail(f"No such command {name!r}." + (f" Did you mean {close[0]!r}?" if close else ""))
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in ``--help``, without loading any command."""
        width = max(map(len, _LISTED))
        for theme in THEMES:
            formatter.write(f"\n{theme}\n")
            with formatter.indentation():
                formatter.write_dl([(name.ljust(width), short) for name, (short, about) in _LISTED.items() if about == theme])
