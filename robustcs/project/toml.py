"""TOML text with bounds that Python's parser lacks, and the line of every key."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from robustcs.errors import InputError, input_error

#: Tables, lists and parts of a dotted key inside each other; a project file has three at most.
DEEPEST = 20
#: Characters of a project file: tens of thousands of runs.
LONGEST = 1 << 20
#: Python refuses to convert longer numbers.
_MOST_DIGITS = 4300

# Quantifiers are possessive: an open string is read to its end once, not once from each of its quotes.
_QUOTED = r'"(?:[^"\\\n]|\\.)*+"?|' r"'[^'\n]*+'?"
_KEY = rf"(?:[\w-]++|{_QUOTED})"
#: What is passed over whole: texts of several lines, comments, keys and values; and brackets, which count.
_TOKENS = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?|' r"'''(?:[^']|'(?!''))*+(?:''')?|" r"\#[^\n]*+|"
    rf"(?P<dotted>{_KEY}(?:[ \t]*\.[ \t]*{_KEY}){{{DEEPEST},}}+)|(?P<digits>[0-9_]{{{_MOST_DIGITS},}}+)|{_KEY}|"
    r"(?P<opens>[\[{])|(?P<closes>[\]}])",
    re.DOTALL,
)  # fmt: skip


def read_toml(path: str | os.PathLike[str], text: str) -> dict[str, Any]:
    """The tables that ``text`` says; ``path`` is named in errors.

    Raises :class:`InputError` for what is no TOML, keys and values inside each other without end, and text without end.
    """
    if len(text) > LONGEST:
        found = f"more than {LONGEST} characters"
        raise input_error(path, None, found, "check that this is the right file", "too-long")
    if (line := _line_of("dotted", text)) is not None:
        raise too_deep(path, line)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found_line = re.search(r"at line ([0-9]+)", str(error))
        line = int(found_line[1]) if found_line else text.count("\n") + 1  # else at the end of the file
        raise input_error(path, line, f"not TOML ({error})", "check this line", "not-toml") from None
    except ValueError:
        found = "not TOML (a number of thousands of digits)"
        raise input_error(path, _line_of("digits", text), found, "check this line", "not-toml") from None
    except RecursionError:
        raise too_deep(path, deep_line(text)) from None


def too_deep(path: str | os.PathLike[str], line: int | None) -> InputError:
    """The error of tables, lists or dotted keys of more than :data:`DEEPEST` levels."""
    found = f"not TOML of a project (nested too deeply, more than {DEEPEST} levels)"
    return input_error(path, line, found, "check this line", "not-toml")


def _line_of(group: str, text: str) -> int | None:
    """Where a dotted key has too many parts, which takes tomllib an hour for 100,000 of them, or a number too many digits."""
    place = next((match.start() for match in _TOKENS.finditer(text) if match[group]), None)
    return None if place is None else text.count("\n", 0, place) + 1


def deep_line(text: str) -> int | None:
    """The line in which brackets stand inside each other more than :data:`DEEPEST` levels deep; None where in none."""
    depth = 0
    for match in _TOKENS.finditer(text):
        depth += bool(match["opens"]) - bool(match["closes"])
        if depth > DEEPEST:
            return text.count("\n", 0, match.start()) + 1
    return None


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Path of every key and table → its line, which tomllib does not tell."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        head = line.partition("=")[0]
        opens_table = head.lstrip().startswith("[")
        if not (opens_table or "=" in line):
            continue
        said = line if opens_table else f"{head} = 0"
        if _line_of("dotted", said) is not None:
            continue  # inside a text of several lines
        try:
            nested: Any = tomllib.loads(said)
        except (ValueError, RecursionError):
            continue  # inside a value of several lines
        path = () if opens_table else table
        while isinstance(nested, dict) and nested and len(path) < DEEPEST:
            key, nested = next(iter(nested.items()))
            path = (*path, key)
        table = path if opens_table else table
        for length in range(1, len(path) + 1):
            lines.setdefault(path[:length], number)
    return lines


def quoted(text: str) -> str:
    """A text as TOML has it: a JSON string, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A key as TOML has it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def toml_text(values: Mapping[str, Any], table: str = "") -> str:
    """Tables of texts, numbers, truth values and lists of them as TOML; those of ``table`` stand below its header."""
    lines = [f"{toml_key(key)} = {_toml_value(value)}\n" for key, value in values.items() if not isinstance(value, dict)]
    for key, value in values.items():
        if isinstance(value, dict):
            name = f"{table}.{toml_key(key)}" if table else toml_key(key)
            lines.append(f"\n[{name}]\n{toml_text(value, name)}")
    return "".join(lines)


def _toml_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    return quoted(value) if isinstance(value, str) else str(value).lower()
