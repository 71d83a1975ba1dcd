"""The text of files: lines, JSON, and the numbers and ids in them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from robustcs.errors import InputError, input_error
from robustcs.inputs.files import MIB, damage_told, open_binary
from robustcs.inputs.paths import StrPath

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: The byte order marks of UTF-16.
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
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
_ESCAPED = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)


def first_bytes(path: StrPath, size: int) -> bytes:
    """Return the first ``size`` bytes of the file, decompressed.

    Raises :class:`InputError` as :func:`line_chunks` does.
    """
    with open_binary(path) as stream, damage_told(path):
        return stream.read(size)


def line_chunks(path: StrPath, size: int = _CHUNK, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield the file's bytes in pieces of about ``size`` that end at line ends.

    They have no byte order mark. Raises :class:`InputError` if the compressed data are damaged, the
    file is UTF-16, its lines end only in carriage returns, or a line continues for more than
    ``longest`` bytes after a piece.
    """
    with open_binary(path) as stream:
        bytes_before = 0
        while True:
            with damage_told(path):
                piece = stream.read(size)
                # read to the next line end, so that no line is cut
                rest_of_line = stream.readline(longest)
            if len(rest_of_line) == longest and not rest_of_line.endswith(b"\n"):
                line = 1 + _line_feeds(path, bytes_before) + piece.count(b"\n")
                raise _too_long(path, line, f"this line is longer than {longest // MIB} MiB")
            piece += rest_of_line
            size_of_piece = len(piece)
            if not bytes_before:
                piece = _checked_beginning(path, piece)
            if not piece:
                break
            bytes_before += size_of_piece
            yield piece


def _checked_beginning(path: StrPath, piece: bytes) -> bytes:
    """Return the first piece of a file without its byte order mark.

    Raises :class:`InputError` for UTF-16, and for lines that end only in carriage returns.
    """
    if piece.startswith(UTF16_MARKS):
        raise input_error(path, 1, "the file is UTF-16", "save it as UTF-8", "not-utf8")
    piece = piece.removeprefix(BYTE_ORDER_MARK)
    if b"\n" not in piece and b"\r" in piece.rstrip():
        problem = "lines end in carriage returns only"
        advice = "save it with LF or CRLF line ends"
        raise input_error(path, None, problem, advice, "old-line-ends")
    return piece


def _line_feeds(path: StrPath, size: int) -> int:
    """Return the number of line feeds in the first ``size`` bytes.

    It is used only for messages, because counting is slow.
    """
    line_feeds = 0
    with open_binary(path) as stream:
        while piece := stream.read(min(_CHUNK, size)):
            line_feeds += piece.count(b"\n")
            size -= len(piece)
    return line_feeds


def _too_long(path: StrPath, line: int | None, problem: str) -> InputError:
    return input_error(path, line, problem, "check that this is the right file", "too-long")


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
    """Return the whole file as text with plain line ends; for files that are not read by line.

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


#: Errors of ``parse_json`` for what Python's parser does not word plainly.
_TOO_MANY_DIGITS = "a number with thousands of digits"
_TOO_DEEP = "nested too deeply"


def parse_json(text: str, pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the value of JSON text; ``pairs_hook`` is the ``object_pairs_hook`` of ``json.loads``.

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
        raise ValueError(_TOO_MANY_DIGITS) from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def half_character(text: str) -> int | None:
    """Return where JSON text escapes half a character; None if nowhere.

    UTF-8 cannot encode such a lone surrogate.
    """
    if "\\ud" not in text and "\\uD" not in text:
        return None
    for escaped in _ESCAPED.finditer(text):
        if escaped[1]:
            return escaped.start()
    return None


def delimiter_of(head: str) -> str | None:
    """Return the delimiter of a table by its first line, ``head``; None if it has none.

    It is a tab, else the more frequent of comma and semicolon.
    """
    for delimiter in ("\t", max(",;", key=head.count)):
        if delimiter in head:
            return delimiter
    return None


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
        # a json.JSONDecodeError has a message without the place, and the line
        problem = f"not JSON ({getattr(error, 'msg', error)})"
        line = getattr(error, "lineno", None)
        raise input_error(path, line, problem, "check the file", "not-json") from None
    if not halves:
        place = half_character(text)
        if place is not None:
            line = text.count("\n", 0, place) + 1
            raise input_error(path, line, *HALF_CHARACTER)
    return value


_WHOLE = re.compile(r"([+-]?)0*([0-9]+)")


def whole_number(text: str, most: int) -> int | None:
    """Return the whole number in ASCII digits.

    None for any other text, and for a number beyond ±``most``.
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


_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def filled_lines(path: StrPath, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Yield line number and text of every line that is not blank."""
    return ((number, line) for number, line in text_lines(path, longest) if line.strip())


def json_pairs(path: StrPath) -> list[tuple[str, Any]]:
    """Return the entries of a file that ``read_json`` returns as an object.

    They include repeated keys, of which an object keeps only the last.
    """
    outermost: list[tuple[str, Any]] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal outermost
        outermost = pairs  # the outermost object is parsed last
        return dict(pairs)

    try:
        parse_json(read_text(path, LONGEST_TEXT), keep)
    except ValueError as error:  # the hook needs one more level of nesting than read_json
        raise input_error(path, None, f"not JSON ({error})", "check the file", "not-json") from None
    return outermost


def is_whole(text: str) -> bool:
    """Return whether ``text`` contains no half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def is_turn_id(value: object) -> bool:
    """Return whether a value can be a turn id.

    It is a whole number, or a non-empty text of whole characters, not longer than an id may be.
    """
    if isinstance(value, str):
        return len(value) <= LONGEST_ID and bool(value.strip()) and is_whole(value)
    return isinstance(value, int) and not isinstance(value, bool)


def id_text(value: object) -> str:
    """Return an id without surrounding white space; empty if it is none."""
    return str(value).strip() if is_turn_id(value) else ""


def number_of(cell: object) -> float | None:
    """Return a finite number, or the one in a text in ASCII.

    None for what else Python would read: ``nan``, ``1_0``.
    """
    if isinstance(cell, str):
        return finite_number(float(cell)) if _DECIMAL.fullmatch(cell.strip()) else None
    return finite_number(cell)


def whole_of(cell: object, most: int) -> int | None:
    """Return a whole number up to ±``most``, or the one in a text, even if written as ``1.0``."""
    if isinstance(cell, str):
        text = cell.strip()
        whole, _, decimals = text.partition(".")
        has_fraction = bool(decimals.strip("0"))
        return whole_number(text if has_fraction else whole, most)
    number = finite_number(cell)
    if number is None or number != int(number) or abs(number) > most:
        return None
    return int(number)
