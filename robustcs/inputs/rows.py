"""Rows with named columns: CSV with a header line, or JSONL with one object a line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.files import text_lines
from robustcs.inputs.records import StrPath, json_lines, shape_of

#: Line number, and the row's value by column name; values of CSV are texts.
Row = tuple[int, dict[str, Any]]
#: Characters of one cell; the csv module's own limit of 131,072 is less than a long passage has.
LONGEST_CELL = 16 << 20
csv.field_size_limit(LONGEST_CELL)


def read_rows(path: StrPath, problems: ProblemList) -> tuple[list[str], Iterator[Row]]:
    """The column names of the file (those of its first row, where it is JSONL), and its rows one after the other.

    Commas separate (RFC 4180), or tabs where the header line has tabs and no comma. Rows that are no CSV, have another
    number of columns than the header, or are no JSON objects go to ``problems``.

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
    return header or list(first[1]), _chained(first, rows)


def columns_of(path: StrPath) -> list[str]:
    """The column names of the file. Raises :class:`InputError` for a file without rows."""
    return read_rows(path, ProblemList(path))[0]


def _chained(first: Row, rows: Iterator[Row]) -> Iterator[Row]:
    yield first
    yield from rows


def _csv_rows(path: StrPath, problems: ProblemList) -> tuple[list[str], Iterator[Row]]:
    head = next(line for _, line in text_lines(path) if line.strip())
    delimiter = "\t" if "\t" in head and "," not in head else ","
    cells = csv_rows(path, delimiter, problems)
    first = next(cells, None)
    if first is None:
        problems.raise_if_any()
        raise input_error(path, None, "the file has no rows", "check the path", "empty")
    header = [name.strip() for name in first[1]]
    if len(set(header)) < len(header):
        raise input_error(
            path, first[0], "two columns have the same name", "name every column in the first line", "wrong-columns"
        )
    return header, _named(header, cells, problems)


def csv_rows(path: StrPath, delimiter: str, problems: ProblemList) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank; rows that are no CSV go to ``problems``."""
    reader = csv.reader((f"{line}\n" for _, line in text_lines(path)), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # a quote that is not closed may have swallowed sound rows
            note = problems.skip if reader.line_num == line else problems.add
            note(line, f"not CSV ({error})", "double the quotes inside a quoted text and close it", "not-csv")
            continue
        if any(cell.strip() for cell in cells):
            yield line, cells


def _named(header: list[str], rows: Iterable[tuple[int, list[str]]], problems: ProblemList) -> Iterator[Row]:
    for line, cells in rows:
        if len(cells) == len(header):
            yield line, dict(zip(header, cells, strict=True))
            continue
        problems.skip(
            line, f"{len(cells)} column{'s' * (len(cells) != 1)} where the header has {len(header)}",
            "put a text with commas in quotes" if len(cells) > len(header) else "complete the row or leave it out",
            "wrong-columns",
        )  # fmt: skip


def find_column(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """The first of ``columns`` that is one of ``names``, whose order counts; letter case does not."""
    lower = {column.lower(): column for column in reversed(columns)}
    return next((lower[name.lower()] for name in names if name.lower() in lower), None)


def need_column(path: StrPath, columns: Sequence[str], names: Sequence[str]) -> str:
    """:func:`find_column`, or :class:`InputError` that lists the columns which are there."""
    found = find_column(columns, names)
    if found is None:
        there = ", ".join(" ".join(name.split())[:40] for name in columns[:12])
        raise input_error(
            path, 1, f"no column {names[0]!r}; the columns are: {there}", f"name one of them {' or '.join(names)}",
            "no-such-column",
        )  # fmt: skip
    return found
