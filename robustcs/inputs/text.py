"""The text of files: lines, JSON, numbers, and the beginning of a file, which shows its kind."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from robustcs.errors import InputError, input_error
from robustcs.inputs.files import MIB, damage_told, open_binary
from robustcs.inputs.paths import StrPath

_BOM = b"\xef\xbb\xbf"
_CHUNK = 8 * 1024 * 1024

#: Longest line in bytes; lines are held in memory, and a few compressed kilobytes can unpack to
#: gigabytes.
LONGEST_LINE = 64 * MIB

#: Largest file that is read as a whole, in bytes. JSON is often one line, and its parser needs all
#: of it.
LONGEST_TEXT = 1024 * MIB

#: Longest id in characters. The longest real ones are web addresses; sorting, aligning and drawing
#: use whole ids.
LONGEST_ID = 8192

#: Most values in one JSON text: each takes some 64 bytes of memory, but an empty list only two
#: bytes of the file.
_MOST_VALUES = 30_000_000

#: An escaped character of JSON text; the group matches half of a surrogate pair without its other
#: half.
_ESCAPED = r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)"


def first_bytes(path: StrPath, size: int) -> bytes:
    """Return the first ``size`` bytes of the file, decompressed. Raises :class:`InputError` as
    :func:`line_chunks` does.
    """
    with open_binary(path) as stream, damage_told(path):
        return stream.read(size)


def line_chunks(path: StrPath, size: int = _CHUNK, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield the file's bytes in pieces of about ``size`` that end at line ends, without a byte
    order mark.

    Raises :class:`InputError` if the compressed data are damaged, the file is UTF-16, its lines end
    only in carriage returns, or a line continues for more than ``longest`` bytes after a piece.
    """
    with open_binary(path) as stream:
        first = True
        before = 0
        while True:
            with damage_told(path):
                # read to the next line end, so that no line is cut
                piece = stream.read(size)
                rest = stream.readline(longest)
            if len(rest) == longest and not rest.endswith(b"\n"):
                line = 1 + _line_feeds(path, before) + piece.count(b"\n")
                raise _too_long(path, line, f"this line is longer than {longest // MIB} MiB")
            piece += rest
            before += len(piece)
            if first:
                first = False
                if piece.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise input_error(path, 1, "the file is UTF-16", "save it as UTF-8", "not-utf8")
                piece = piece.removeprefix(_BOM)
                if b"\n" not in piece and b"\r" in piece.rstrip():
                    found = "lines end in carriage returns only"
                    raise input_error(
                        path, None, found, "save it with LF or CRLF line ends", "old-line-ends"
                    )
            if not piece:
                break
            yield piece


def _line_feeds(path: StrPath, size: int) -> int:
    """Return the number of line feeds in the first ``size`` bytes; used only for messages, because
    counting is slow.
    """
    found = 0
    with open_binary(path) as stream:
        while piece := stream.read(min(_CHUNK, size)):
            found += piece.count(b"\n")
            size -= len(piece)
    return found


def _too_long(path: StrPath, line: int | None, found: str) -> InputError:
    return input_error(path, line, found, "check that this is the right file", "too-long")


def text_lines(path: StrPath, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Yield line number (from 1) and text of every line, without its line end.

    Raises :class:`InputError` for a line that is not UTF-8 or is longer than about
    :data:`LONGEST_LINE`.
    """
    number = 0
    for chunk in line_chunks(path, longest=longest):
        # not splitlines(): U+2028 and form feeds occur inside real texts
        lines = chunk.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            number += 1
            try:
                yield number, line.removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError:
                raise _not_utf8(path, number) from None


def read_text(path: StrPath, longest: int = LONGEST_LINE) -> str:
    """Return the whole file as text with plain line ends; for small files that are not read by
    line.

    Raises :class:`InputError` for a line of more than ``longest`` bytes and a file of more than
    :data:`LONGEST_TEXT`.
    """
    data = bytearray()
    for piece in line_chunks(path, longest=longest):
        data += piece
        if len(data) > LONGEST_TEXT:
            raise _too_long(path, None, f"more than {LONGEST_TEXT // MIB} MiB of text")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, data.count(b"\n", 0, error.start) + 1) from None
    return text.removesuffix("\n").removesuffix("\r").replace("\r\n", "\n")


def _not_utf8(path: StrPath, line: int) -> InputError:
    return input_error(path, line, "this line is not UTF-8", "save the file as UTF-8", "not-utf8")


def parse_json(text: str, pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the value of JSON text; ``pairs_hook`` is the ``object_pairs_hook`` of
    :func:`json.loads`.

    Raises ``ValueError`` in plain words for everything that Python's parser rejects, including too
    deep nesting and too long numbers; a syntax error is a ``json.JSONDecodeError`` with its line.
    """
    import json

    if len(text) > _MOST_VALUES and sum(map(text.count, ",[{")) > _MOST_VALUES:
        raise ValueError(f"more than {_MOST_VALUES:,} values")
    try:
        return json.loads(text, object_pairs_hook=pairs_hook)
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise ValueError("a number with thousands of digits") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def half_character(text: str) -> int | None:
    """Return where JSON text escapes half a character (a lone surrogate), which UTF-8 cannot
    encode; None if nowhere.
    """
    if "\\ud" not in text and "\\uD" not in text:
        return None
    return next(
        (match.start() for match in re.finditer(_ESCAPED, text, re.DOTALL) if match[1]), None
    )


def delimiter_of(head: str) -> str | None:
    """Return the delimiter of a table by its first line: a tab, else the more frequent of comma and
    semicolon; else None.
    """
    return next((one for one in ("\t", max(",;", key=head.count)) if one in head), None)


#: Message and advice for half a character.
HALF_CHARACTER = ("half a character (a lone surrogate)", "save the file as UTF-8", "not-utf8")


def read_json(path: StrPath, halves: bool = False) -> Any:
    """Return the JSON value of the file.

    ``halves`` accepts halves of characters, for readers that check the texts that they use
    themselves. Raises :class:`InputError` with the line of a syntax error or of half a character.
    """
    text = read_text(path, LONGEST_TEXT)
    try:
        value = parse_json(text)
    except ValueError as error:
        found = f"not JSON ({getattr(error, 'msg', error)})"
        raise input_error(
            path, getattr(error, "lineno", None), found, "check the file", "not-json"
        ) from None
    place = None if halves else half_character(text)
    if place is not None:
        raise input_error(path, text.count("\n", 0, place) + 1, *HALF_CHARACTER)
    return value


_WHOLE = re.compile(r"([+-]?)0*([0-9]+)")


def whole_number(text: str, most: int) -> int | None:
    """Return the whole number in ASCII digits; None for any other text, and for a number beyond
    ±``most``.
    """
    match = _WHOLE.fullmatch(text)
    if match is None or len(match[2]) > len(str(most)):
        return None
    number = int(match[1] + match[2])
    return number if abs(number) <= most else None


def finite_number(value: object) -> float | None:
    """Return a JSON or TOML value as a finite float; None if it is not a number or is too large."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


#: Bytes that show the form of a table, and how any other file begins.
HEAD = 1 << 16

#: Bytes that show the first fields of a JSON record, which may list hundreds of passages.
_JSON_HEAD = 1 << 20

#: Tokens that matter to nesting: strings (the last one may be cut), brackets, commas.
_TOKEN = r'"(?:[^"\\]|\\.?)*"?|[][{},]'

_CLOSING = {"{": "}", "[": "]"}


def first_lines(path: StrPath) -> list[str]:
    """Return the lines of the first :data:`HEAD` bytes that are neither blank nor comments; none if
    the file cannot be read.

    The last line may be cut; it is dropped if there are others.
    """
    return lines_in(_head(path, HEAD))


def lines_in(data: bytes, size: int = HEAD) -> list[str]:
    """Return the lines of the first ``size`` bytes of ``data``, the beginning of a file, as
    :func:`first_lines` does.
    """
    text = _decoded(data[:size])
    if len(text) >= size // 4 and "\n" in text:  # four bytes make a character at most
        text = text[: text.rindex("\n")]
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def ir_metadata(path: StrPath) -> str:
    """Return ``tag bm25, team a`` from the ir_metadata comments of a run; empty if they contain
    neither.
    """
    block = re.search(
        r"^#\s*ir_metadata\.start\s*$(.*?)^#\s*ir_metadata\.end\s*$",
        _text(path, HEAD),
        re.MULTILINE | re.DOTALL,
    )
    said = re.findall(
        r"^#\s*(tag|team):[^\S\n]*(\S.*?)\s*$", block[1] if block else "", re.MULTILINE
    )
    return ", ".join(f"{name} {value.strip(chr(34) + chr(39))}" for name, value in said)


def _text(path: StrPath, size: int) -> str:
    return _decoded(_head(path, size))


def _head(path: StrPath, size: int) -> bytes:
    try:
        return first_bytes(path, size)
    except InputError:
        return b""


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ""
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def first_record(path: StrPath) -> dict[str, Any] | None:
    """Return the first object of a JSON list or of JSONL, or the one object of the file; None if it
    begins with neither.

    An object longer than the first mebibyte has only the fields before the cut.
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
    """Return the object at the beginning of ``text``; a cut object ends after its last complete
    value.
    """
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
        # everything opened after this is dropped, so these brackets are still the first of the
        # stack at the end
        cut, depth = token.end() if found != "," else token.start(), len(stack)
    return text[:cut] + "".join(_CLOSING[bracket] for bracket in reversed(stack[:depth]))


_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def filled_lines(path: StrPath, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Yield line number and text of every line that is not blank."""
    return ((number, line) for number, line in text_lines(path, longest) if line.strip())


def json_pairs(path: StrPath) -> list[tuple[str, Any]]:
    """Return the entries of a file that ``read_json`` returns as an object, including repeated
    keys.
    """
    pairs: list[tuple[str, Any]] = []

    def keep(found: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal pairs
        pairs = found  # the outermost object is parsed last
        return dict(found)

    try:
        parse_json(read_text(path, LONGEST_TEXT), keep)
    except ValueError as error:  # the hook needs one more level of nesting than read_json
        raise input_error(path, None, f"not JSON ({error})", "check the file", "not-json") from None
    return pairs


def is_whole(text: str) -> bool:
    """Return whether ``text`` contains no half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def is_turn_id(value: object) -> bool:
    """Return whether a value is a whole number, or a non-empty text of whole characters, not longer
    than an id may be.
    """
    if isinstance(value, str):
        return len(value) <= LONGEST_ID and bool(value.strip()) and is_whole(value)
    return isinstance(value, int) and not isinstance(value, bool)


def id_text(value: object) -> str:
    """Return an id without surrounding white space; empty if it is none."""
    return str(value).strip() if is_turn_id(value) else ""


def number_of(cell: object) -> float | None:
    """Return a finite number, or the one in a text in ASCII; None for what else Python would read:
    ``nan``, ``1_0``.
    """
    if isinstance(cell, str):
        return finite_number(float(cell)) if _DECIMAL.fullmatch(cell.strip()) else None
    return finite_number(cell)


def whole_of(cell: object, most: int) -> int | None:
    """Return a whole number up to ±``most``, or the one in a text, even if it is written as
    ``1.0``.
    """
    if isinstance(cell, str):
        text = cell.strip()
        whole, _, rest = text.partition(".")
        return whole_number(text if rest.strip("0") else whole, most)
    number = finite_number(cell)
    return (
        int(number)
        if number is not None and number == int(number) and abs(number) <= most
        else None
    )
