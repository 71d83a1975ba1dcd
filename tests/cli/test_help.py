"""``--help`` of every command: it comes quickly and documents every option."""

from __future__ import annotations

import re
import subprocess
import sys

import click
import pytest

from robustcs.cli.commands import GROUPS, MOST_SHOWN, examples_first
from robustcs.cli.main import cli
from robustcs.studies.registry import STUDIES, THEMES
from tests.conftest import COMMANDS, Command, options_of


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
    out = in_demo(f"{name} --help-all").out
    assert out.startswith(f"Usage: robustcs {name} ")
    # examples stand on lines of their own
    assert "\\b" not in out and "Examples: robustcs" not in out
    for option in options_of(name):
        assert option.help, f"{name} {option.opts[0]} has no help"
        assert all(word in out for word in option.opts)
        assert option.help[0].isupper() and option.help.rstrip().endswith((".", ")", "]", "?"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_short_page_has_the_usual_options_and_names_the_long_one(
    in_demo: Command, name: str
) -> None:
    out, every = in_demo(f"{name} --help").out, in_demo(f"{name} --help-all").out
    shown, all_of_them = (
        set(re.findall(r"^  (?:-o, )?(--\S+)", page, re.MULTILINE)) for page in (out, every)
    )
    assert shown <= all_of_them and len(shown) <= MOST_SHOWN
    names_it = re.search(rf"\n[0-9]+ more options?: robustcs {name} --help-all\n$", out) is not None
    assert names_it == (shown != all_of_them)


def test_all_options_together() -> None:
    options = [
        option
        for command in (cli, *COMMANDS.values())
        for option in command.params
        if isinstance(option, click.Option)
    ]
    # those that several commands share are declared once
    assert (
        len(set(options)) <= 350 and len({max(option.opts, key=len) for option in options}) <= 140
    )


def test_rare_options_are_options_like_all_others(in_demo: Command) -> None:
    bins = "sweep --metric ndcg_cut_3 --format json"
    assert in_demo(f"{bins} --step 0.5").out != in_demo(bins).out
    # the short page is full without it
    assert "--step" not in in_demo("sweep --help").out
    assert "\n  --step T " in in_demo("sweep --help-all").out
    # a short page with room shows it
    assert "\n  --majority N " in in_demo("agreement --help").out
    pairs = in_demo("correlate --table pairs").out
    assert in_demo("correlate --stemmer --table pairs").out == pairs
    assert in_demo("correlate --no-stemmer --table pairs").out != pairs
    refused = {
        "augment --off-scale x": "value for '--off-scale': 'x' is not one of",
        "sweep --step .1 --step .2": "--step is given twice: .1, .2; give it once",
        "agreement --majority 0": "value for '--majority': 0 is not in the range",
        "correlate --no-stemmer=x": "Option '--no-stemmer' does not take a value.",
    }
    for line, found in refused.items():
        assert found in in_demo(line, code=2).err


def test_an_unknown_option_is_an_error_with_similar_options(in_demo: Command) -> None:
    err = in_demo("sweep --stepp 0.5", code=2).err
    assert "No such option '--stepp'. (Did you mean one of: " in err and "'--step'" in err
    assert "No such option '--set'" in in_demo("sweep --set step=0.5", code=2).err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_answers(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    short = command.get_short_help_str(100)
    assert short.endswith((".", "?")), f"{name}: {short}"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_shows_examples_first_and_options_in_groups(in_demo: Command, name: str) -> None:
    out = in_demo(f"{name} --help-all").out
    usage, question, examples, *others = re.split(r"\n\s*\n", out)
    assert usage.startswith("Usage: ") and question.startswith("  ")
    assert examples.startswith(f"  Examples:\n    robustcs {name}")
    assert max(map(len, out.splitlines())) <= 80
    titles = re.findall(r"^(\S.*):$", out, re.MULTILINE)
    assert (
        titles == [title for title in ("Options", *GROUPS) if title in titles]
        and titles[-1] == "Running"
    )
    listed = re.findall(r"^  (-\S+)", out[out.index(f"\n{titles[0]}:\n") :], re.MULTILINE)
    assert len(listed) == len(set(listed)) == len(options_of(name)) + 1  # and --help
    for example in examples.split("\n    robustcs ")[1:]:
        # not those of a program in quotes
        used = set(re.findall(r"(?<= )--[a-z-]+", re.sub("'[^']*'", "", example)))
        assert used <= {word for one in options_of(example.split()[0]) for word in one.opts}


def test_the_list_of_commands(in_demo: Command) -> None:
    out = in_demo("--help").out
    places = [out.index(f"\n{theme}\n") for theme in THEMES]
    assert places == sorted(places)
    for study in STUDIES:
        section = out.partition(f"\n{study.theme}\n")[2].partition("\n\n")[0]
        assert f"  {study.name} " in section
    assert re.findall(r"^  ([a-z-]+) +[A-Z]", out.partition(THEMES[0])[2], re.MULTILINE) == list(
        COMMANDS
    )
    assert "Exit codes: 0 done, 1 a gate failed" in out


#: What takes most of the time of a start.
HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "matplotlib", "rich", "nltk", "sacrebleu")


def test_help_comes_without_what_only_the_work_needs() -> None:
    """One process shows the page of every command, and says after each what is imported by then."""
    code = (
        "import sys; from robustcs.cli.main import run\n"
        f"for words in {[[], *([name] for name in COMMANDS)]!r}:\n"
        "    run([*words, '--help']); print('imported by', *words, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("imported by")]
    assert len(lines) == 1 + len(COMMANDS)
    assert {line[2]: set(HEAVY) & set(line) for line in lines if set(HEAVY) & set(line)} == {}


@pytest.mark.parametrize(
    "line",
    [
        "clariq --original x", "diversity --gold nofile", "testsets --qrels x", "passages --metric map", "crowd --human x",
        "agreement --threshold 1", "sweep --threshold 1", "breakdown --run a=x", "unjudged --gold x", "report --format csv",
    ],
)  # fmt: skip
def test_a_command_refuses_what_it_does_not_use(in_demo: Command, line: str) -> None:
    assert f"No such option '{line.split()[1]}'" in in_demo(line, code=2).err
