"""``--help`` of every command: it comes quickly and documents every option."""

from __future__ import annotations

import time

import click
import pytest

from robustcs.cli.main import cli
from tests.conftest import Command


def commands(group: click.Group = cli, name: str = "") -> dict[str, click.Command]:
    """Every command by its words, those of groups included."""
    found: dict[str, click.Command] = {}
    for word, command in group.commands.items():
        words = f"{name} {word}".strip()
        if isinstance(command, click.Group):
            found.update(commands(command, words))
        else:
            found[words] = command
    return found


@pytest.mark.parametrize("name", commands())
def test_help_is_quick_and_complete(in_demo: Command, name: str) -> None:
    started = time.process_time()  # of this process alone, whatever else the machine does
    out = in_demo(f"{name} --help").out
    assert time.process_time() - started < 0.5
    assert out.startswith(f"Usage: robustcs {name} ")
    assert "\\b" not in out and "Examples: robustcs" not in out  # examples stand on lines of their own
    for parameter in commands()[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]} has no help"
            assert all(option in out for option in parameter.opts)
            assert parameter.help[0].isupper() and parameter.help.rstrip().endswith((".", ")", "]", "?"))


@pytest.mark.parametrize("name", commands())
def test_every_command_says_what_it_answers(name: str) -> None:
    command = commands()[name]
    assert command.help
    short = command.get_short_help_str(100)
    assert short.endswith((".", "?")), f"{name}: {short}"


def test_the_list_of_commands(in_demo: Command) -> None:
    out = in_demo("--help").out
    for name in cli.commands:
        assert f"\n  {name} " in out
    assert "Exit codes: 0 done, 2 wrong" in out
