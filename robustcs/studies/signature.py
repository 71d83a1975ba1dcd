"""Commands made from typed functions: parameters become options, and the docstring becomes the help page.

The first paragraphs of the docstring describe the command. An indented text after NAME describes each parameter, and
``Examples:`` shows calls of the command. Python, ``--help`` and the reference use the same text.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import click

#: Largest rank or count of an option; some programs, such as Java, store them in 32 bits.
MOST = 2**31 - 1


@dataclass(frozen=True)
class Opt:
    """Properties of an option that do not follow from the parameter's type.

    metavar
        Placeholder for the value on the help page: ``FILE``, ``N``; two words for an option with several values.
    low, high
        Smallest and largest number.
    flag
        Name of the option, if it differs from the parameter's name.
    argument
        Make it a positional argument.
    many
        Make it repeatable although its type is not a tuple, because Python accepts more types.
    needs
        Options, separated by a space, without all of which this one has no effect.
    rare
        Only --help-all shows it, unless all options of the command fit on the page of --help.
    """

    metavar: str = ""
    low: float | None = None
    high: float | None = None
    flag: str = ""
    argument: bool = False
    many: bool = False
    needs: str = ""
    rare: bool = False


def at_least(
    low: int, high: int = MOST, metavar: str = "N", needs: str = "", rare: bool = False
) -> Opt:
    """Return the properties of an option with a whole number of at least ``low``."""
    return Opt(metavar, low, high, needs=needs, rare=rare)


class Option(click.Option):
    """An option of a function; ``needs`` and ``rare``: see :class:`Opt`."""

    def __init__(self, *args: Any, needs: str, rare: bool, **settings: Any):
        super().__init__(*args, **settings)
        self.needs = needs.split()
        self.rare = rare


#: Types that several studies use.
Count = Annotated[int, at_least(1)]
File = Annotated[str, Opt("FILE")]
Folder = Annotated[str, Opt("DIR")]
Names = Annotated[tuple[str, ...], Opt("NAME")]
#: Splits of turns: words, a table of columns, or a Python object in place of a table.
Slices = Annotated[Any, Opt("WHAT", many=True)]

_ENTRY = re.compile(r"(\w+)\n((?:    .*(?:\n|\Z)|\n(?=    ))+)")


def parameters_of(function: Callable[..., Any]) -> tuple[click.Parameter, ...]:
    """Return the options and arguments of a function: positional arguments, and parameters that its docstring describes."""
    says = dict(_ENTRY.findall(inspect.getdoc(function) or ""))
    hints = hints_of(function)
    _, *own = inspect.signature(function).parameters.values()
    made = (
        _parameter(one, hints[one.name], says) for one in own if one.kind is not one.VAR_KEYWORD
    )
    return tuple(filter(None, made))


def help_of(function: Callable[..., Any]) -> str:
    """Return the help page: the docstring without the descriptions of parameters and without ``Raises``."""
    text = inspect.getdoc(function) or ""
    names = list(inspect.signature(function).parameters)[1:]
    kept = _ENTRY.sub(lambda found: "" if found[1] in names else found[0], text)
    kept = re.sub(r"\nRaises (?:.+\n)+", "", kept)
    return re.sub(r"\n{3,}", "\n\n", kept).replace("\nExamples:", "\n\b\nExamples:").strip()


def types_of(function: Callable[..., Any]) -> dict[str, tuple[Any, bool, Opt]]:
    """Map each parameter except the first to its type, whether it may be None, and its other properties."""
    found = {}
    for name, kind in hints_of(function).items():
        inner, opt = _unwrapped(kind, Opt())
        found[name] = inner, NoneType in get_args(kind), opt
    return found


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Map each parameter except the first to its annotation.

    The first parameter (a workspace or a call) and the result are no options. ``study.py`` imports
    their types, which are slow to import, only for type checkers, so they are left out here.
    """
    first, *_ = inspect.signature(function).parameters
    options = {
        name: kind
        for name, kind in function.__annotations__.items()
        if name not in (first, "return")
    }
    return get_type_hints(
        SimpleNamespace(__annotations__=options), function.__globals__, include_extras=True
    )


def _parameter(
    one: inspect.Parameter, annotation: Any, says: dict[str, str]
) -> click.Parameter | None:
    kind, opt = _unwrapped(annotation, Opt())
    if one.name not in says and not opt.argument:
        return None
    if opt.argument:
        count = -1 if get_origin(kind) is tuple else 1
        default = {} if count < 0 or one.default is one.empty else {"default": one.default}
        required = not opt.metavar.startswith("[")
        return click.Argument(
            [one.name], nargs=count, required=required, metavar=opt.metavar, **default
        )
    flag = opt.flag or f"--{one.name.rstrip('_').replace('_', '-')}"
    settings: dict[str, Any] = {
        "help": " ".join(says[one.name].split()).replace("``", ""),
        "needs": opt.needs,
        "rare": opt.rare,
    }
    if kind is bool:
        return Option([flag, one.name], is_flag=True, default=one.default is True, **settings)
    parts = get_args(kind)
    if get_origin(kind) is tuple and parts[-1] is Ellipsis:
        kind, inner = _unwrapped(parts[0], opt)
        opt = replace(inner, metavar=opt.metavar or inner.metavar)
        settings["multiple"] = True
    elif get_origin(kind) is tuple:
        kind, settings["nargs"] = parts[0], len(parts)
    elif opt.many:
        settings["multiple"] = True
    if one.default not in (None, one.empty) and not settings.get("multiple"):
        settings |= {"default": one.default, "show_default": True}
    return Option([flag, one.name], type=_type(kind, opt), metavar=opt.metavar or None, **settings)


def _unwrapped(annotation: Any, opt: Opt) -> tuple[Any, Opt]:
    """Return the type without ``None`` and ``Annotated``, and the annotation."""
    if get_origin(annotation) is Annotated:
        kind, *more = get_args(annotation)
        return _unwrapped(kind, next((one for one in more if isinstance(one, Opt)), opt))
    if get_origin(annotation) in (Union, UnionType):
        kinds = [one for one in get_args(annotation) if one is not NoneType]
        return _unwrapped(kinds[0], opt) if len(kinds) == 1 else (annotation, opt)
    return annotation, opt


def _type(kind: Any, opt: Opt) -> click.ParamType | type:
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is int and opt.low is not None:
        return click.IntRange(int(opt.low), None if opt.high is None else int(opt.high))
    if kind is float and opt.low is not None:
        return click.FloatRange(opt.low, opt.high)
    return kind if kind in (int, float) else str
