"""``--help`` of every command: it comes quickly and documents every option."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields

import click
import pytest

from robustcs.cli.commands import GROUPS, MOST_SHOWN, PagedCommand, examples_first
from robustcs.cli.main import cli
from robustcs.cli.options import RENAMED, SET
from robustcs.project.sources import settings_of
from robustcs.retrieval.settings import RetrievalSettings
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
    assert (
        "\\b" not in out and "Examples: robustcs" not in out
    )  # examples stand on lines of their own
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
    assert names_it == (shown != all_of_them or "Settings (" in every)


def test_all_options_together() -> None:
    options = [
        option
        for command in (cli, *COMMANDS.values())
        for option in command.params
        if isinstance(option, click.Option)
    ]
    # those that several commands share are declared once; the last two names are --conversation, which the command line needs
    # where there is no project file, and check --accept, which no other option replaces
    assert (
        len(set(options)) <= 350 and len({max(option.opts, key=len) for option in options}) <= 112
    )


def test_settings_are_changed_by_set(in_demo: Command) -> None:
    new, old = (
        in_demo("sweep --table areas --set step=0.5"),
        in_demo("sweep --table areas --step 0.5"),
    )
    assert (new.out, new.err) == (old.out, "")
    assert old.err == "--step is now --set step=VALUE; the next release removes the old form\n"
    assert "Settings (--set KEY=VALUE):\n  step  " in in_demo("sweep --help-all").out
    assert "sweep has no such setting; choose from step" in in_demo("sweep --set x=1", code=2).err
    assert (
        "--set stemmer=no; write stemmer=true or stemmer=false"
        in in_demo("correlate --set stemmer=no", code=2).err
    )
    refused = {
        "paraphrase --set turns=x": "value for '--set turns': 'x' is",
        "sweep --set step=.1 --set step=.2": "--set step is given twice",
    }
    for line, found in refused.items():
        assert found in in_demo(line, code=2).err
    assert (
        in_demo("correlate --set stemmer=false --table pairs").out
        != in_demo("correlate --table pairs").out
    )
    for name, keys in SET.items():
        command = COMMANDS[name]
        assert isinstance(command, PagedCommand) and list(command.settings) == list(keys)
    # the value of another option may be the name of a setting
    assert in_demo("augment --metric P_1 --table conflicts").err == ""
    assert {name for name in COMMANDS if "--set " in in_demo(f"{name} --help-all").out} == set(SET)
    assert "No such option '--set'" in in_demo("diversity --set step=1", code=2).err


def test_an_old_name_works_and_says_the_new_one(in_demo: Command) -> None:
    new, old = (
        in_demo("unjudged --table rates --top 2"),
        in_demo("unjudged --table rates --depth 2"),
    )
    assert (old.out, new.err) == (new.out, "")
    assert old.err == "--depth is now called --top; the next release removes the old name\n"
    for command, names in RENAMED.items():
        words = {word for option in options_of(command) for word in option.opts} | {
            f"--{key}" for key in SET.get(command, ())
        }
        assert {new for new in names.values() if " under [" not in new} <= words and not set(
            names
        ) & words - {"--depth"}
    err = in_demo("retrieve --ir-metadata", code=2).err
    assert (
        err
        == "robustcs: --ir-metadata is no longer an option; write ir_metadata under [retrieval] in robustcs.toml\n"
    )


def test_a_renamed_option_names_a_key_of_the_project_file() -> None:
    moved = [
        new.split(" under ")
        for names in RENAMED.values()
        for new in names.values()
        if " under [" in new
    ]
    known = {field.name for field in fields(RetrievalSettings)}
    assert moved and all(
        key in (known if table == "[retrieval]" else settings_of(table.strip("[]")))
        for key, table in moved
    )


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
    titles = re.findall(r"^(\S.*):$", out.partition("\nSettings (--set")[0], re.MULTILINE)
    assert (
        titles == [title for title in ("Options", *GROUPS) if title in titles]
        and titles[-1] == "Running"
    )
    listed = re.findall(r"^  (-\S+)", out[out.index(f"\n{titles[0]}:\n") :], re.MULTILINE)
    assert len(listed) == len(set(listed)) == len(options_of(name)) + 1  # and --help
    for example in examples.split("\n    robustcs ")[1:]:
        used = set(
            re.findall(r"(?<= )--[a-z-]+", re.sub("'[^']*'", "", example))
        )  # not those of a program in quotes
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
