"""TOML with limits that Python's parser does not have, and the line of each key."""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_left
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from robustcs.errors import input_error
from robustcs.inputs.paths import StrPath

#: Largest nesting depth of tables, lists and dotted keys; project files have three levels at most.
DEEPEST = 20
#: Largest number of characters of a project file, enough for tens of thousands of runs.
LONGEST = 1 << 20
#: Largest number of dots in a line: tomllib takes an hour for a dotted key of 100,000 parts.
MOST_DOTS = 1000
TOO_DEEP = f"invalid TOML (nested too deeply, more than {DEEPEST} levels)"


def read_toml(path: StrPath, text: str) -> dict[str, Any]:
    """Parse ``text``; errors name ``path``.

    Raises :class:`InputError` for invalid TOML, and for text that is nested too deeply or too long.
    """
    if len(text) > LONGEST:
        found = f"the file has more than {LONGEST:,} characters"
        raise input_error(path, None, found, "check that this is the right file", "too-long")
    lines = text.split("\n")
    line = next((number for number, one in enumerate(lines, 1) if one.count(".") > MOST_DOTS), 0)
    try:
        if line:
            raise RecursionError
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line ([0-9]+)", str(error))
        line = int(place[1]) if place else len(lines)  # else at the end of the file
        found = f"invalid TOML ({error})"
    except (ValueError, RecursionError) as error:
        found = (
            "invalid TOML (a number with thousands of digits)"
            if isinstance(error, ValueError)
            else TOO_DEEP
        )
        line = line or 1 + bisect_left(
            range(1, len(lines)), True, key=lambda number: _fails("\n".join(lines[:number]))
        )
    raise input_error(path, line, found, "check this line", "not-toml")


def _fails(text: str) -> bool:
    """Return whether the first lines of a file contain what the parser cannot take, whether or not a value ends in them."""
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return not isinstance(error, tomllib.TOMLDecodeError)
    return False


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Map the path of each key and table to its line, which tomllib does not provide."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        head = line.partition("=")[0]
        opens_table = head.lstrip().startswith("[")
        if not (opens_table or "=" in line):
            continue
        try:
            nested: Any = tomllib.loads(line if opens_table else f"{head} = 0")
        except (ValueError, RecursionError):
            continue  # inside a multi-line value
        path = () if opens_table else table
        while isinstance(nested, dict) and nested and len(path) < DEEPEST:
            key, nested = next(iter(nested.items()))
            path = (*path, key)
        table = path if opens_table else table
        for length in range(1, len(path) + 1):
            lines.setdefault(path[:length], number)
    return lines


def quoted(value: Any) -> str:
    """Return a text, a number, a boolean, or a list of them as TOML: as in JSON, except for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(*path: str) -> str:
    """Return a path of names as a TOML key, with dots."""
    return ".".join(
        name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name) for name in path
    )


def toml_text(
    values: Mapping[str, Any],
    *tables: str,
    comments: Mapping[tuple[str, ...], str] = MappingProxyType({}),
) -> str:
    """Write nested tables of texts, numbers, booleans and lists of them as TOML.

    tables
        Names of the table that contains the values.
    comments
        Path of a table or key → the comment above the table, or behind the value; its further lines are below the value.
    """
    text = ""
    for key, value in values.items():
        if not isinstance(value, dict):
            first, *further = comments.get((*tables, key), "").split("\n")
            text += f"{toml_key(key)} = {quoted(value)}" + (f"  # {first}" if first else "") + "\n"
            text += "".join(f"# {line}\n" for line in further)
    for key, value in values.items():
        if isinstance(value, dict):
            path = (*tables, key)
            about = f"# {comments[path]}\n" if path in comments else ""
            # a table of tables needs no head
            needed = about or not value or not all(isinstance(one, dict) for one in value.values())
            text += f"\n{about}[{toml_key(*path)}]\n" if needed else ""
            text += toml_text(value, *path, comments=comments)
    return text
