"""Shared parts of the readers of texts and answers: the shape of a file, one value per turn, and skipped rows."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Generic, Literal, TypeVar

from robustcs.errors import InputError, Problem, ProblemList, at_line, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.readings import SKIPPED, Skipped
from robustcs.inputs.text import (
    HALF_CHARACTER,
    HEAD,
    LONGEST_ID,
    LONGEST_LINE,
    LONGEST_TEXT,
    delimiter_of,
    filled_lines,
    first_bytes,
    half_character,
    is_turn_id,
    is_whole,
    parse_json,
    text_lines,
)
from robustcs.wording import counted

#: A text, or several of them.
T = TypeVar("T", str, tuple[str, ...])

#: Names of turn ids in a JSON object or the header of a table; the first one present counts.
ID_NAMES = ("id", "qid", "query_id", "turn_id", "turn", "_id", "sample_id", "query-id", "q_id")

Shape = Literal["json", "jsonl", "table"]

#: Longest text in characters. Comparing texts takes time quadratic in their length.
LONGEST_OF_TURN = 1_000_000


def shape_of(path: StrPath) -> Shape:
    """Return whether the file is one JSON value, JSONL, or a table (anything else), by its first lines.

    Raises :class:`InputError` for a file without text.
    """
    begins_as_json = first_bytes(path, HEAD).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))
    longest = LONGEST_TEXT if begins_as_json else LONGEST_LINE
    head = [line.lstrip() for _, line in islice(filled_lines(path, longest), 2)]
    if not head:
        raise input_error(path, None, "the file is empty", "check the path", "empty")
    if not head[0].startswith(("{", "[")):
        return "table"
    if len(head) == 1:
        fields = _object(head[0])
        # the only line is a record with a turn id, or an object of all turns
        return "jsonl" if fields and not fields.keys().isdisjoint((*ID_NAMES, "topic_number")) else "json"
    # the second line of JSONL may be malformed
    return "jsonl" if all(line.startswith("{") for line in head) or _object(head[0]) is not None else "json"


def _object(line: str) -> dict[str, Any] | None:
    """Return the JSON object on a line; None for any other line."""
    try:
        value = parse_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def add_not_json(problems: ProblemList, number: int, error: Exception) -> None:
    """Note a line of a JSONL file that Python's parser rejected with ``error``."""
    problems.skip(number, f"not JSON ({getattr(error, 'msg', error)})", "write one JSON object per line", "not-json")


def json_lines(path: StrPath, problems: ProblemList, halves: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of every line of a JSONL file; other lines go to ``problems``.

    ``halves`` is as in :func:`~robustcs.inputs.text.read_json`.
    """
    for number, line in filled_lines(path):
        try:
            record = parse_json(line)
        except ValueError as error:
            add_not_json(problems, number, error)
            continue
        if not isinstance(record, dict):
            problems.skip(number, "not a JSON object", "write one JSON object per line", "not-an-object")
        elif not halves and half_character(line) is not None:
            problems.skip(number, *HALF_CHARACTER)
        else:
            yield number, record


class ByTurn(Generic[T]):
    """Collects one value per turn. The same value twice is fine, another value is a problem. ``what`` names the values."""

    def __init__(self, path: StrPath, what: str = "texts"):
        self.path = path
        self.problems = RowProblems(path, what)
        self.values: dict[str, T] = {}
        self._lines: dict[str, int | None] = {}

    def add(self, turn: object, value: T, line: int | None) -> None:
        """Keep ``value`` for the turn id ``turn``."""
        if not is_turn_id(turn):
            there = turn is not None and str(turn).strip()
            long = isinstance(turn, str) and len(turn) > LONGEST_ID
            found = f"turn id {turn!r} is {'too long' if long else 'not a text'}" if there else "no turn id"
            self.problems.skip(line, found, "add a turn id such as 31_4 to every entry", "no-turn-id")
            return
        key = str(turn).strip()
        earlier = self.values.setdefault(key, value)
        first_line = self._lines.setdefault(key, line)
        if earlier != value:
            where = "earlier" if first_line is None else f"in {at_line(self.path, first_line)}"
            found = f"turn {key} has {_show(value)} here but {_show(earlier)} {where}"
            self.problems.add(line, found, "keep one of the two", "contradicting-entries")

    def text(self, turn: object, value: object, line: int | None, empty: bool = False) -> str | None:
        """Return ``value`` without surrounding white space if it is a text; else note a problem. ``empty`` allows ''."""
        name = f"turn {turn}: " if is_turn_id(turn) else ""
        if not isinstance(value, str):
            slug = "empty-text" if value is None else "not-a-text"
            found, *more = f"{_as_json(value)} is not a text", "write a text in quotes", slug
        elif not is_whole(value):
            found, *more = HALF_CHARACTER
        elif len(value) > LONGEST_OF_TURN:
            advice = f"the limit is {LONGEST_OF_TURN:,}; check that this is the right column"
            found, *more = f"the text has {len(value):,} characters", advice, "too-long"
        elif not value.strip() and not empty:
            found, *more = "empty text", "write the text or remove the turn", "empty-text"
        else:
            return value.strip()
        self.problems.skip(line, f"{name}{found}", *more)
        return None

    def result(self) -> dict[str, T]:
        """Return the values in file order. Raises :class:`InputError` with all problems, or if there are no values."""
        self.problems.finish(self.values, "turns", sum(map(_texts, self.values.values())))
        return self.values


def _texts(value: str | tuple[str, ...]) -> int:
    """Return the number of texts; a skipped one of several is empty."""
    return 1 if isinstance(value, str) else len(list(filter(None, value)))


def _as_json(value: object) -> str:
    """Return the beginning of ``value`` as JSON, for a message."""
    try:
        return json.dumps(value)[:60]
    except RecursionError:
        return "a list in a list in a list …"


def _show(value: str | tuple[str, ...]) -> str:
    """Return the value in quotes for a message, shortened if it is long."""
    text = value if isinstance(value, str) else " | ".join(value)
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def no_column(path: StrPath, line: int | None, column: str, columns: Iterable[str]) -> InputError:
    """Return the error for a column or JSON field that the file does not have; it lists the existing ones."""
    found = f"no column {column!r}; the columns are: {', '.join(columns)}"
    return input_error(path, line, found, "choose one of them as FILE:COLUMN", "no-such-column")


#: Largest percentage of a file's rows that may be skipped.
MOST = 5

#: Skipped rows per file that are listed.
_LISTED = 1_000


class RowProblems(ProblemList):
    """The problems of a file that may skip some rows; ``what`` names its rows."""

    def __init__(self, path: StrPath, what: str = "rows"):
        super().__init__(path)
        self.what = what
        self.skipped = ProblemList(path, _LISTED)

    def skip(self, line: int | None, found: str, advice: str, slug: str) -> None:
        """Note a skipped row."""
        self.skipped.add(line, found, advice, slug)

    def take(self, other: ProblemList) -> None:
        """Add the problems of another list for the same file."""
        super().take(other)
        if isinstance(other, RowProblems):
            self.skipped.take(other.skipped)

    def raise_if_any(self, rows: int = 0) -> None:
        """Raise for problems other than single rows, or if more than :data:`MOST` percent are skipped; ``rows`` are usable."""
        path, count, every = os.fspath(self.path), self.skipped.total, self.skipped.total + rows
        SKIPPED.pop(path, None)
        listed = sorted(self.skipped.problems, key=_line)
        if 100 * count > MOST * every:
            listed = sorted([*listed, *self.problems], key=_line)
            if rows:
                found = f"{count:,} of {every:,} {self.what} cannot be used"
                advice = f"correct them: at most {MOST}% of a file may be skipped"
                listed.insert(0, Problem(self.path, None, found, advice, "unusable-rows"))
            raise InputError(listed, self.total + count + bool(rows))
        super().raise_if_any()
        if count:
            SKIPPED[path] = Skipped(count, every, self.what, tuple(listed))


def _line(problem: Problem) -> int:
    return problem.line or 0


#: Line number, and the values of the row by column name; values of CSV are texts.
Row = tuple[int, dict[str, Any]]

#: Longest cell in characters; the limit of the csv module, 131,072, is too small for long passages.
LONGEST_CELL = 16 << 20

csv.field_size_limit(LONGEST_CELL)
_DECIMAL_COMMA = re.compile(r"\A\s*([+-]?[0-9]+),([0-9]+([eE][+-]?[0-9]+)?)\s*\Z")


def read_rows(path: StrPath, problems: ProblemList) -> tuple[list[str], Iterator[Row]]:
    """Return the column names of the file (for JSONL, of its first row) and an iterator over its rows.

    The separator is that of :func:`~robustcs.inputs.text.delimiter_of`. Rows that are not CSV, have another number of columns
    than the header, or are not JSON objects go to ``problems``.

    Raises :class:`InputError` for a file without rows.
    """
    if shape_of(path) == "table":
        header, rows = _csv_rows(path, problems)
    else:
        rows = json_lines(path, problems)
        header = []
    first = next(rows, None)
    if first is None:
        problems.raise_if_any()
        raise input_error(path, None, "the file has no rows", "check the path", "empty")
    return header or list(first[1]), chain((first,), rows)


def columns_of(path: StrPath) -> list[str]:
    """Return the column names of the file. Raises :class:`InputError` for a file without rows."""
    return read_rows(path, ProblemList(path))[0]


def _csv_rows(path: StrPath, problems: ProblemList) -> tuple[list[str], Iterator[Row]]:
    head = next(line for _, line in text_lines(path) if line.strip())
    cells = csv_rows(path, delimiter_of(head) or ",", problems)
    line, names = next(cells, (1, []))  # the caller reports a file without rows
    header = [name.strip() for name in names]
    if len(set(header)) < len(header):
        advice = "give every column its own name in the first line"
        raise input_error(path, line, "two columns have the same name", advice, "wrong-columns")
    return header, named_rows(header, cells, problems)


def csv_rows(path: StrPath, delimiter: str, problems: ProblemList) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and cells of every row that is not blank; rows that are not CSV go to ``problems``.

    Between semicolons, a number with a decimal comma gets a decimal point: spreadsheets write both where the comma is decimal.
    """
    reader = csv.reader((f"{line}\n" for _, line in text_lines(path)), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # a quote that is not closed may have swallowed valid rows
            note = problems.skip if reader.line_num == line else problems.add
            note(line, f"not CSV ({error})", "double the quotes inside a quoted text, and close the text", "not-csv")
            continue
        if any(cell.strip() for cell in cells):
            yield line, cells if delimiter != ";" else [_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in cells]


def named_rows(
    header: Sequence[str], rows: Iterable[tuple[int, list[str]]], problems: ProblemList, separator: str = ","
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells by column name of every row; rows of another width than the header go to ``problems``."""
    for line, cells in rows:
        if fits(line, cells, len(header), problems, separator):
            yield line, dict(zip(header, cells, strict=True))


def fits(line: int, cells: Sequence[Any], width: int, problems: ProblemList, separator: str = ",", expected: str = "") -> bool:
    """Return whether a row has ``width`` cells; a row of another width is skipped."""
    if len(cells) == width:
        return True
    separated = {",": "put texts with commas in quotes", "\t": "is there a tab inside a text?"}
    many = separated.get(separator, "is there a separator inside a cell?")
    advice = many if len(cells) > width else "complete the row or delete it"
    found = f"{counted(len(cells), 'column')}, but {expected or f'the header has {width}'}"
    problems.skip(line, found, advice, "wrong-columns")
    return False


def tsv_header(path: StrPath) -> tuple[int, list[str], Iterator[tuple[int, list[str]]]]:
    """Return the number and the cells of the first line of a TSV without quoting, and the cells of its further lines."""
    rows = ((line, [cell.strip() for cell in text.split("\t")]) for line, text in filled_lines(path))
    line, header = next(rows, (1, [""]))
    return line, header, rows


def table_rows(path: StrPath, required: Sequence[str], problems: ProblemList) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells by column name of every row of a TSV; rows of another width go to ``problems``.

    Raises :class:`InputError` if the header does not contain all ``required`` columns.
    """
    line, header, rows = tsv_header(path)
    for name in required:
        if name not in header:
            found = f"no column {name!r}; the columns are: {', '.join(cell[:40] for cell in header[:10])}"
            raise input_error(path, line, found, "write TSV whose first line names its columns", "no-such-column")
    yield from named_rows(header, rows, problems, "\t")


def find_column(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the column that matches the earliest of ``names``, ignoring letter case."""
    lower = {column.lower(): column for column in reversed(columns)}
    return next((lower[name.lower()] for name in names if name.lower() in lower), None)


def need_column(path: StrPath, columns: Sequence[str], names: Sequence[str]) -> str:
    """Return :func:`find_column`, or raise :class:`InputError` that lists the existing columns."""
    found = find_column(columns, names)
    if found is None:
        there = ", ".join(" ".join(name.split())[:40] for name in columns[:12])
        told = f"no column {names[0]!r}; the columns are: {there}"
        raise input_error(path, 1, told, f"rename one of them to {' or '.join(names)}", "no-such-column")
    return found
