"""The list of commands: every study of the registry, and what builds on all of them."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

import click

from robustcs.cli.frame import study_command
from robustcs.studies.registry import STUDIES

#: Commands that are no study: name → what they do. Each is a function of its name in a module of :mod:`robustcs.cli`.
_OTHERS = {
    "report": "All analyses that the inputs allow, in one folder.",
    "demo": "The report on the demo collection.",
    "init": "Write a robustcs.toml from the files in a folder.",
}
_LAST = "check"


class Commands(click.Group):
    """Loads a command when it is called; lists them in the order of the questions that they answer."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Studies in the order of the registry, then what builds on them, then ``check``."""
        return [*(study.name for study in STUDIES if study.name != _LAST), *_OTHERS, _LAST]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name in self.commands:
            return self.commands[name]
        for study in STUDIES:
            if study.name == name:
                return study_command(study)
        if name in _OTHERS:
            command: click.Command = getattr(import_module(f"robustcs.cli.{name}"), name)
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
        shorts = {study.name: study.short for study in STUDIES} | _OTHERS
        with formatter.section("Commands"):
            formatter.write_dl([(name, shorts[name]) for name in self.list_commands(context)])
