"""TOML with limits that Python's parser does not have, and the line of each key."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from robustcs.errors import InputError, input_error
from robustcs.inputs.paths import StrPath

#: Largest nesting depth of tables, lists and dotted keys; project files have three levels at most.
DEEPEST = 20
#: Largest number of characters of a project file, enough for tens of thousands of runs.
LONGEST = 1 << 20
#: Python does not convert longer numbers.
_MOST_DIGITS = 4300

# Possessive quantifiers read an unterminated string once, not once from each of its quotes.
_QUOTED = r'"(?:[^"\\\n]|\\.)*+"?|' r"'[^'\n]*+'?"
_KEY = rf"(?:[\w-]++|{_QUOTED})"
#: Tokens: multi-line strings, comments, keys and values are skipped as a whole; brackets count.
_TOKENS = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?|' r"'''(?:[^']|'(?!''))*+(?:''')?|" r"\#[^\n]*+|"
    rf"(?P<dotted>{_KEY}(?:[ \t]*\.[ \t]*{_KEY}){{{DEEPEST},}}+)|(?P<digits>[0-9_]{{{_MOST_DIGITS},}}+)|{_KEY}|"
    r"(?P<opens>[\[{])|(?P<closes>[\]}])",
    re.DOTALL,
)  # fmt: skip


def read_toml(path: StrPath, text: str) -> dict[str, Any]:
    """Parse ``text``; errors name ``path``.

    Raises :class:`InputError` for invalid TOML, and for text that is nested too deeply or too long.
    """
    if len(text) > LONGEST:
        found = f"the file has more than {LONGEST:,} characters"
        raise input_error(path, None, found, "check that this is the right file", "too-long")
    if (line := _line_of("dotted", text)) is not None:
        raise too_deep(path, line)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found_line = re.search(r"at line ([0-9]+)", str(error))
        line = int(found_line[1]) if found_line else text.count("\n") + 1  # else at the end of the file
        raise input_error(path, line, f"invalid TOML ({error})", "check this line", "not-toml") from None
    except ValueError:
        found = "invalid TOML (a number with thousands of digits)"
        raise input_error(path, _line_of("digits", text), found, "check this line", "not-toml") from None
    except RecursionError:
        raise too_deep(path, deep_line(text)) from None


def too_deep(path: StrPath, line: int | None) -> InputError:
    """Return the error for tables, lists or dotted keys of more than :data:`DEEPEST` levels."""
    found = f"invalid TOML (nested too deeply, more than {DEEPEST} levels)"
    return input_error(path, line, found, "check this line", "not-toml")


def _line_of(group: str, text: str) -> int | None:
    """Return the first line with a dotted key of too many parts (tomllib takes an hour for 100,000), or a number of too many
    digits.
    """
    place = next((match.start() for match in _TOKENS.finditer(text) if match[group]), None)
    return None if place is None else text.count("\n", 0, place) + 1


def deep_line(text: str) -> int | None:
    """Return the first line with brackets nested more than :data:`DEEPEST` levels deep, or None."""
    depth = 0
    for match in _TOKENS.finditer(text):
        depth += bool(match["opens"]) - bool(match["closes"])
        if depth > DEEPEST:
            return text.count("\n", 0, match.start()) + 1
    return None


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Map the path of each key and table to its line, which tomllib does not provide."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        head = line.partition("=")[0]
        opens_table = head.lstrip().startswith("[")
        if not (opens_table or "=" in line):
            continue
        said = line if opens_table else f"{head} = 0"
        if _line_of("dotted", said) is not None:
            continue  # inside a multi-line string
        try:
            nested: Any = tomllib.loads(said)
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


def quoted(text: str) -> str:
    """Return a text as a TOML string: a JSON string, except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """Return a name as a TOML key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def toml_text(values: Mapping[str, Any], table: str = "") -> str:
    """Write nested tables of texts, numbers, booleans and lists of them as TOML; ``table`` is the header of the values."""
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
