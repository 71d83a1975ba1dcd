"""The beginning of a file, which shows its kind."""

from __future__ import annotations

import re
from typing import Any

from robustcs.errors import InputError
from robustcs.inputs.paths import StrPath
from robustcs.inputs.text import BYTE_ORDER_MARK, UTF16_MARKS, first_bytes, parse_json

#: Bytes that show the form of a table, and how any other file begins.
HEAD = 1 << 16

#: Bytes that show the first fields of a JSON record, which may list hundreds of passages.
_JSON_HEAD = 1 << 20

#: Most bytes of a character in UTF-8.
_CHARACTER_BYTES = 4

#: Tokens that matter to nesting: strings (the last one may be cut), brackets, commas.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.?)*"?|[][{},]', re.DOTALL)

#: Opening bracket → closing bracket.
_CLOSING = {"{": "}", "[": "]"}

_IR_METADATA = re.compile(
    r"^#\s*ir_metadata\.start\s*$(.*?)^#\s*ir_metadata\.end\s*$", re.MULTILINE | re.DOTALL
)
_TAG_OR_TEAM = re.compile(r"^#\s*(tag|team):[^\S\n]*(\S.*?)\s*$", re.MULTILINE)


def first_lines(path: StrPath) -> list[str]:
    """Return the lines of the first :data:`HEAD` bytes that are neither blank nor comments.

    Empty if the file cannot be read. The last line may be cut; it is dropped if there are others.
    """
    return lines_in(_head(path, HEAD))


def lines_in(data: bytes, size: int = HEAD) -> list[str]:
    """Return the lines of the first ``size`` bytes of ``data`` as :func:`first_lines` does.

    ``data``: the beginning of a file.
    """
    text = _decoded(data[:size])
    may_be_cut = len(text) >= size // _CHARACTER_BYTES
    if may_be_cut and "\n" in text:
        text = text[: text.rindex("\n")]
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def ir_metadata(path: StrPath) -> str:
    """Return ``tag bm25, team a`` from the ir_metadata comments of a run.

    Empty if they contain neither.
    """
    block = _IR_METADATA.search(_decoded(_head(path, HEAD)))
    if block is None:
        return ""
    entries = []
    for name, value in _TAG_OR_TEAM.findall(block[1]):
        unquoted = value.strip("\"'")
        entries.append(f"{name} {unquoted}")
    return ", ".join(entries)


def first_record(path: StrPath) -> dict[str, Any] | None:
    """Return the first object of a JSON list or of JSONL, or the one object of the file.

    None if it begins with neither. An object longer than the first mebibyte has only the fields
    before the cut.
    """
    text = _decoded(_head(path, _JSON_HEAD)).lstrip()
    if text.startswith("["):
        text = text[1:].lstrip()
    if not text.startswith("{"):
        return None
    try:
        value = parse_json(_first_object(text))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _head(path: StrPath, size: int) -> bytes:
    """Return the first ``size`` bytes of a file; empty if it cannot be read."""
    try:
        return first_bytes(path, size)
    except InputError:
        return b""


def _decoded(data: bytes) -> str:
    """Return the text of the beginning of a file; empty for UTF-16, which no reader accepts."""
    if data.startswith(UTF16_MARKS):
        return ""
    return data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")


def _first_object(text: str) -> str:
    """Return the object at the beginning of ``text``.

    A cut object ends after its last complete value.
    """
    unclosed: list[str] = []
    # where the last complete value ends, and how many brackets are open there
    end = depth = 1
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in _CLOSING:
            unclosed.append(mark)
        elif mark in _CLOSING.values():
            unclosed.pop()
            if not unclosed:
                return text[: token.end()]
            end, depth = token.end(), len(unclosed)
        elif mark == ",":
            end, depth = token.start(), len(unclosed)
    # everything opened after that value is dropped, so its brackets are still the first ones
    return text[:end] + "".join(_CLOSING[bracket] for bracket in reversed(unclosed[:depth]))
