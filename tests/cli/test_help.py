"""``--help`` of every command: it comes quickly and documents every option."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from tests.conftest import COMMANDS, Command


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_complete(in_demo: Command, name: str) -> None:
    out = in_demo(f"{name} --help").out
    assert out.startswith(f"Usage: robustcs {name} ")
    assert "\\b" not in out and "Examples: robustcs" not in out  # examples stand on lines of their own
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]} has no help"
            assert all(option in out for option in parameter.opts)
            assert parameter.help[0].isupper() and parameter.help.rstrip().endswith((".", ")", "]", "?"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_answers(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    short = command.get_short_help_str(100)
    assert short.endswith((".", "?")), f"{name}: {short}"


def test_the_list_of_commands(in_demo: Command) -> None:
    out = in_demo("--help").out
    for name in COMMANDS:
        assert f"\n  {name} " in out
    assert "Exit codes: 0 done, 2 wrong" in out


#: What takes most of the time of a start.
HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "matplotlib", "rich", "nltk", "sacrebleu")


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)], ids=["", *COMMANDS])
def test_help_comes_without_what_only_the_work_needs(words: list[str]) -> None:
    code = f"import sys; from robustcs.cli.main import run; run({[*words, '--help']!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "line",
    [
        "clariq --original x", "diversity --gold nofile", "testsets --qrels x", "passages --metric map", "crowd --human x",
        "agreement --threshold 1", "sweep --threshold 1", "breakdown --run a=x", "unjudged --gold x", "report --format csv",
    ],
)  # fmt: skip
def test_a_command_refuses_what_it_does_not_use(in_demo: Command, line: str) -> None:
    assert f"No such option '{line.split()[1]}'" in in_demo(line, code=2).err
