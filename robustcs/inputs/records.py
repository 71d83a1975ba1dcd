"""What the readers of texts and of answers share: telling JSON, JSONL and tables apart, and one value per turn."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Generic, Literal, TypeVar

from robustcs.errors import InputError, ProblemList, at_line, input_error
from robustcs.inputs.files import (
    HALF_CHARACTER,
    LONGEST_LINE,
    LONGEST_TEXT,
    first_bytes,
    half_character,
    parse_json,
    read_text,
    text_lines,
)
from robustcs.inputs.ids import LONGEST_ID
from robustcs.inputs.skipped import RowProblems

#: A text, or several of them.
T = TypeVar("T", str, tuple[str, ...])
StrPath = str | os.PathLike[str]

#: Names under which a turn id stands, in a JSON object or in the header of a table; the first that is there counts.
ID_NAMES = ("id", "qid", "query_id", "turn_id", "turn", "_id", "sample_id", "query-id", "q_id")

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

Shape = Literal["json", "jsonl", "table"]

#: Characters of one text. What compares texts takes time by the square of their length, and no question is a book.
LONGEST_OF_TURN = 1_000_000
#: Enough of a file to see with what it begins.
_HEAD = 1 << 16


def filled_lines(path: StrPath, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Line number and text of every line that is not blank."""
    return ((number, line) for number, line in text_lines(path, longest) if line.strip())


def shape_of(path: StrPath) -> Shape:
    """Whether the file is one JSON value, JSON objects line by line, or something else (a table), by its first lines.

    Raises :class:`InputError` for a file without any text.
    """
    begins_as_json = first_bytes(path, _HEAD).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))
    longest = LONGEST_TEXT if begins_as_json else LONGEST_LINE
    head = [line.lstrip() for _, line in islice(filled_lines(path, longest), 2)]
    if not head:
        raise input_error(path, None, "the file is empty", "check the path", "empty")
    if not head[0].startswith(("{", "[")):
        return "table"
    if len(head) == 1:
        return "jsonl" if _is_record(head[0]) else "json"
    # the second line of JSONL may be broken
    return "jsonl" if all(line.startswith("{") for line in head) or _object(head[0]) is not None else "json"


def _is_record(line: str) -> bool:
    """Whether a file's only line is a record with a turn id, and not an object of all turns."""
    fields = _object(line)
    return fields is not None and not fields.keys().isdisjoint((*ID_NAMES, "topic_number"))


def _object(line: str) -> dict[str, Any] | None:
    """The JSON object that a line is; None for any other line."""
    try:
        value = parse_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def add_not_json(problems: ProblemList, number: int, error: Exception) -> None:
    """Note a line of a JSONL file that Python's parser refused with ``error``."""
    problems.skip(number, f"not JSON ({getattr(error, 'msg', error)})", "write one JSON object a line", "not-json")


def json_lines(path: StrPath, problems: ProblemList, halves: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of every line of a JSONL file; other lines go to ``problems``.

    ``halves`` is as in :func:`~robustcs.inputs.files.read_json`.
    """
    for number, line in filled_lines(path):
        try:
            record = parse_json(line)
        except ValueError as error:
            add_not_json(problems, number, error)
            continue
        if not isinstance(record, dict):
            problems.skip(number, "not a JSON object", "write one JSON object a line", "not-an-object")
        elif not halves and half_character(line) is not None:
            problems.skip(number, *HALF_CHARACTER)
        else:
            yield number, record


def json_pairs(path: StrPath) -> list[tuple[str, Any]]:
    """The entries of a file that ``read_json`` gives as an object, also those whose key is repeated."""
    pairs: list[tuple[str, Any]] = []

    def keep(found: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal pairs
        pairs = found  # the outermost object comes last
        return dict(found)

    try:
        parse_json(read_text(path, LONGEST_TEXT), keep)
    except ValueError as error:  # the hook takes a level of nesting more than read_json
        raise input_error(path, None, f"not JSON ({error})", "check the file", "not-json") from None
    return pairs


def is_whole(text: str) -> bool:
    """Whether every character of ``text`` is a whole one, and not half of a pair (a lone surrogate)."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def is_turn_id(value: object) -> bool:
    """A non-empty text of whole characters, not longer than an id can be, or a whole number."""
    if isinstance(value, str):
        return len(value) <= LONGEST_ID and bool(value.strip()) and is_whole(value)
    return isinstance(value, int) and not isinstance(value, bool)


def record_id(record: dict[str, Any]) -> object:
    """What stands under the first of :data:`ID_NAMES`; None where there is none."""
    return next((record[name] for name in ID_NAMES if name in record), None)


def looks_like(line: str) -> str:
    """Advice for a line of another kind of TREC file, naming the option that takes it; empty for any other line."""
    cells = line.split()
    if len(cells) >= 6 and cells[1] in ("Q0", "q0", "0") and _is_number(cells[3]) and _is_number(cells[4]):
        return "it looks like a run, which --run, --original, --qr or --human takes"
    if len(cells) == 4 and cells[1] in ("Q0", "q0", "0") and _is_number(cells[3]):
        return "it looks like qrels, which --qrels takes"
    if len(cells) == 3 and line.count("\t") == 2 and (_is_number(cells[2]) or cells[1] == "all"):
        return "it looks like per-turn scores, which --scores takes"
    return ""


def _is_number(cell: str) -> bool:
    return decimal_number(cell) is not None


def decimal_number(cell: str) -> float | None:
    """The finite number that the text writes in ASCII; None for all else that Python would read: ``nan``, ``inf``, ``1_0``."""
    value = float(cell) if _DECIMAL.fullmatch(cell) else math.nan
    return value if math.isfinite(value) else None


class ByTurn(Generic[T]):
    """Collects one value per turn of a file; the same value again is fine, another one is a problem. ``what`` values are."""

    def __init__(self, path: StrPath, what: str = "texts"):
        self.path = path
        self.problems = RowProblems(path, what)
        self.values: dict[str, T] = {}
        self._lines: dict[str, int | None] = {}

    def add(self, turn: object, value: T, line: int | None) -> None:
        """Keep ``value`` for the id ``turn``."""
        if not is_turn_id(turn):
            there = turn is not None and str(turn).strip()
            long = isinstance(turn, str) and len(turn) > LONGEST_ID
            found = f"turn id {turn!r} is {'too long' if long else 'not a text'}" if there else "no turn id"
            self.problems.skip(line, found, "give every entry its turn id, such as 31_4", "no-turn-id")
            return
        key = str(turn).strip()
        earlier = self.values.setdefault(key, value)
        first_line = self._lines.setdefault(key, line)
        if earlier != value:
            where = "earlier" if first_line is None else f"in {at_line(self.path, first_line)}"
            self.problems.add(
                line, f"turn {key} has {_show(value)} here but {_show(earlier)} {where}",
                "keep one of the two", "contradicting-entries",
            )  # fmt: skip

    def text(self, turn: object, value: object, line: int | None, empty: bool = False) -> str | None:
        """``value`` without white space around it if it is a text, else None and a problem; ``empty`` allows ''."""
        name = f"turn {turn}: " if is_turn_id(turn) else ""
        if not isinstance(value, str):
            slug = "empty-text" if value is None else "not-a-text"
            self.problems.skip(line, f"{name}{_as_json(value)} is not a text", "write a text in quotes", slug)
            return None
        if not is_whole(value):
            found, advice, slug = HALF_CHARACTER
            self.problems.skip(line, f"{name}{found}", advice, slug)
            return None
        if len(value) > LONGEST_OF_TURN:
            found = f"{name}a text of {len(value):,} characters"
            self.problems.skip(line, found, f"it may have {LONGEST_OF_TURN:,}; is this the right column?", "too-long")
            return None
        value = value.strip()
        if not value and not empty:
            self.problems.skip(line, f"{name}empty text", "write the text or leave out the turn", "empty-text")
            return None
        return value

    def result(self) -> dict[str, T]:
        """The values in file order. Raises :class:`InputError` with all problems, or when there is no value."""
        self.problems.raise_if_any(sum(map(_texts, self.values.values())))
        if not self.values:
            raise input_error(self.path, None, "the file has no turns", "check the path", "empty")
        return self.values


def _texts(value: str | tuple[str, ...]) -> int:
    """How many texts these are; of several a skipped one is empty."""
    return 1 if isinstance(value, str) else len(list(filter(None, value)))


def _as_json(value: object) -> str:
    """The beginning of ``value`` as JSON has it, for a message."""
    try:
        return json.dumps(value)[:60]
    except RecursionError:
        return "a list in a list in a list …"


def _show(value: str | tuple[str, ...], limit: int = 60) -> str:
    """The value in quotes for a message, cut where it is long."""
    text = value if isinstance(value, str) else " | ".join(value)
    return repr(text if len(text) <= limit else f"{text[: limit - 1]}…")


def no_column(path: StrPath, line: int | None, column: str, columns: Iterable[str]) -> InputError:
    """The error for a column (or JSON field) that the file lacks; it lists those that are there."""
    return input_error(
        path, line, f"no column {column!r}; the columns are: {', '.join(columns)}",
        "name one of them, as FILE:COLUMN", "no-such-column",
    )  # fmt: skip
