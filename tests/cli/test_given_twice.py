"""An option that has one value is given once: of two values none wins silently."""

from __future__ import annotations

import re

import click
import pytest

from robustcs.errors import UsageError
from tests.conftest import COMMANDS, Command

SINGLE = {
    name: [one for one in command.params if isinstance(one, click.Option) and not (one.multiple or one.is_flag or one.count)]
    for name, command in COMMANDS.items()
}


@pytest.mark.parametrize("name", [name for name, options in SINGLE.items() if options])
def test_every_single_option_is_refused_a_second_value(name: str) -> None:
    command = COMMANDS[name]
    for option in SINGLE[name]:
        word = max(option.opts, key=len)
        parser = command.make_parser(click.Context(command))
        both = "one, other" if option.nargs == 1 else "a b c d, e f g h"
        with pytest.raises(UsageError, match=re.escape(f"{word} is given twice: {both}; give it once")):
            parser.parse_args([option.opts[0], "one", f"{word}=other"] if option.nargs == 1 else [word, *"abcd", word, *"efgh"])
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
