"""The beginning of a file, for telling its kind: its first lines, or the first record of its JSON, however long that is."""

from __future__ import annotations

import os
import re
from typing import Any

from robustcs.errors import InputError
from robustcs.inputs.files import first_bytes, parse_json

#: Enough to see the shape of a table,
_HEAD = 1 << 16
#: and the first fields of a record of JSON, which may list hundreds of passages.
_JSON_HEAD = 1 << 20
#: What matters to nesting: strings (the last one may not end), brackets, commas.
_TOKEN = r'"(?:[^"\\]|\\.?)*"?|[][{},]'
_CLOSING = {"{": "}", "[": "]"}


def first_lines(path: str | os.PathLike[str], size: int = _HEAD) -> list[str]:
    """The lines of the first ``size`` bytes that are neither blank nor comments; none where the file cannot be read.

    A line that goes on is cut; it is left out where there are others.
    """
    text = _text(path, size)
    if len(text) >= size // 4 and "\n" in text:  # four bytes make a character at most
        text = text[: text.rindex("\n")]
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def ir_metadata(path: str | os.PathLike[str]) -> str:
    """``tag bm25, team a`` of a run whose first comment lines are ir_metadata; empty where they say neither."""
    block = re.search(
        r"^#\s*ir_metadata\.start\s*$(.*?)^#\s*ir_metadata\.end\s*$", _text(path, _HEAD), re.MULTILINE | re.DOTALL
    )
    said = re.findall(r"^#\s*(tag|team):[^\S\n]*(\S.*?)\s*$", block[1] if block else "", re.MULTILINE)
    return ", ".join(f"{name} {value.strip(chr(34) + chr(39))}" for name, value in said)


def _text(path: str | os.PathLike[str], size: int) -> str:
    try:
        data = first_bytes(path, size)
    except InputError:
        return ""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ""
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def first_record(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The first object of a JSON list or of JSONL, or the one object that a file is; None where it begins with neither.

    An object that does not end within the first mebibyte has the fields that stand there.
    """
    text = _text(path, _JSON_HEAD).lstrip()
    if text.startswith("["):
        text = text[1:].lstrip()
    if not text.startswith("{"):
        return None
    try:
        value = parse_json(_whole(text))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _whole(text: str) -> str:
    """The object that ``text`` begins with; one that does not end is cut after its last whole value, and closed."""
    stack: list[str] = []
    cut = depth = 1
    for token in re.finditer(_TOKEN, text, re.DOTALL):
        found = token[0]
        if found in _CLOSING:
            stack.append(found)
            continue
        if found in ("}", "]"):
            stack.pop()
            if not stack:
                return text[: token.end()]
        elif found != ",":
            continue
        # what is opened after this is dropped, so these brackets are still the first of the stack at the end
        cut, depth = token.end() if found != "," else token.start(), len(stack)
    return text[:cut] + "".join(_CLOSING[bracket] for bracket in reversed(stack[:depth]))
