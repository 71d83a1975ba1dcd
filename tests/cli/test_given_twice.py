"""An option that has one value is given once: of two values none wins silently."""

from __future__ import annotations

import re

import click
import pytest

from robustcs.errors import UsageError
from robustcs.studies.signature import Option
from tests.conftest import COMMANDS, Command

SINGLE = {
    name: [
        one
        for one in command.params
        if isinstance(one, click.Option) and not (one.multiple or one.is_flag or one.count)
    ]
    for name, command in COMMANDS.items()
}


@pytest.mark.parametrize("name", [name for name, options in SINGLE.items() if options])
def test_every_single_option_is_refused_a_second_value(name: str) -> None:
    command = COMMANDS[name]
    for option in SINGLE[name]:
        word = max(option.opts, key=len)
        parser = command.make_parser(click.Context(command))
        both = "one, other" if option.nargs == 1 else "a b c d, e f g h"
        with pytest.raises(
            UsageError, match=re.escape(f"{word} is given twice: {both}; give it once")
        ):
            parser.parse_args(
                [option.opts[0], "one", f"{word}=other"]
                if option.nargs == 1
                else [word, *"abcd", word, *"efgh"]
            )
        assert parser.parse_args([word, *["one"] * option.nargs])[0][option.name]


def test_every_command_has_options_with_one_value() -> None:
    assert {name for name, options in SINGLE.items() if not options} <= {
        "init",
        "demo",
        "report",
        "bundle",
        "sweep",
        "components",
    }


def test_given_twice(in_demo: Command) -> None:
    err = in_demo("evaluate --depth 3 --metric P_1 --depth 5", code=2).err
    assert err == "robustcs: --depth is given twice: 3, 5; give it once\n"
    assert (
        in_demo("evaluate --margin 0.1 --margin=0.1", code=2).err
        == "robustcs: --margin is given twice: 0.1, 0.1; give it once\n"
    )
    # a flag says the same twice, and repeatable options stay repeatable
    in_demo("evaluate --traceback --traceback --metric P_1 --metric ndcg_cut_3 --format json")


NEEDING = [
    pytest.param(name, option, id=f"{name} {option.name}")
    for name, command in COMMANDS.items()
    for option in command.get_params(click.Context(command))
    if getattr(option, "needs", ())
]


@pytest.mark.parametrize(("name", "option"), NEEDING)
def test_an_option_without_the_one_that_it_needs_is_refused(name: str, option: Option) -> None:
    command, word = COMMANDS[name], max(option.opts, key=len)
    value = (
        []
        if option.is_flag
        else [str(option.type.choices[0] if isinstance(option.type, click.Choice) else 3)]
    )
    words = [word, *value]
    with pytest.raises(
        UsageError,
        match=f"^{word} has no effect without {' or '.join(option.needs)}; add {option.needs[0]}",
    ):
        command.make_context(name, list(words))
    for other in option.needs:
        needed = next(one for one in command.params if other in one.opts)
        given = [other] if isinstance(needed, click.Option) and needed.is_flag else [other, "3"]
        command.make_context(name, [*words, *given])


def test_some_options_need_another() -> None:
    assert len(NEEDING) > 10


def test_options_that_a_figure_or_a_mode_ignores(in_copy: Command) -> None:
    for name, value in (("table", "measures"), ("format", "csv")):
        err = in_copy(f"evaluate --output never.svg --{name} {value}", code=2).err
        assert (
            err
            == f"robustcs: --{name} has no effect on a figure; leave it out, or add an --output for the table\n"
        )
    assert (
        in_copy("evaluate --output ''", code=2).err
        == "robustcs: --output has no file name; name a file; - is stdout\n"
    )
    assert "--all has no effect on a list" in in_copy("judge --list --all", code=2).err
    assert (
        in_copy("evaluate --output a.svg --output - --table measures").out
        == in_copy("evaluate --table measures").out
    )
    assert "How much do the selections" in in_copy("agreement --html a.html --table jaccard").out
