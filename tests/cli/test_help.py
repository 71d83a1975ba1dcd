"""``--help`` of every command: it comes quickly and documents every option."""

from __future__ import annotations

import re
import subprocess
import sys

import click
import pytest

from robustcs.cli.pages import GROUPS, examples_first
from robustcs.studies.registry import STUDIES, THEMES
from tests.conftest import COMMANDS, Command


def test_examples_come_after_the_first_paragraph() -> None:
    text = """What?

    More.

    \b
    Table

    \b
    Examples:
      robustcs x
    """
    assert examples_first(text) == "What?\n\n\b\nExamples:\n  robustcs x\n\nMore.\n\n\b\nTable"


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


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_shows_examples_first_and_options_in_groups(in_demo: Command, name: str) -> None:
    out = in_demo(f"{name} --help").out
    usage, question, examples, *others = re.split(r"\n\s*\n", out)
    assert usage.startswith("Usage: ") and question.startswith("  ")
    assert examples.startswith(f"  Examples:\n    robustcs {name}")
    assert max(map(len, out.splitlines())) <= 80
    titles = re.findall(r"^(\S.*):$", out, re.MULTILINE)
    assert titles == [title for title in ("Options", *GROUPS) if title in titles] and titles[-1] == "Running"
    listed = re.findall(r"^  (-\S+)", out[out.index(f"\n{titles[0]}:\n") :], re.MULTILINE)
    options = [one for one in COMMANDS[name].params if isinstance(one, click.Option)]
    assert len(listed) == len(set(listed)) == len(options) + 1  # and --help
    for example in examples.split("\n    robustcs ")[1:]:
        used = set(re.findall(r"(?<= )--[a-z-]+", example))
        assert used <= {word for one in COMMANDS[example.split()[0]].params for word in one.opts}


def test_the_list_of_commands(in_demo: Command) -> None:
    out = in_demo("--help").out
    places = [out.index(f"\n{theme}\n") for theme in THEMES]
    assert places == sorted(places)
    for study in STUDIES:
        section = out.partition(f"\n{study.theme}\n")[2].partition("\n\n")[0]
        assert f"  {study.name} " in section
    assert re.findall(r"^  ([a-z-]+) +[A-Z]", out.partition(THEMES[0])[2], re.MULTILINE) == list(COMMANDS)
    assert "Exit codes: 0 done, 1 a gate failed" in out


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
