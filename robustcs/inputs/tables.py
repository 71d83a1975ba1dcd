"""Tables with a line of column names: CSV, TSV, columns separated by spaces, and Parquet.

Columns are recognized by their usual names in any letter case. CSV follows RFC 4180, also with semicolons; TSV has no quoting.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NoReturn

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.files import arrow, open_binary, too_large
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import PARQUET, json_lines, shape_of
from robustcs.inputs.text import delimiter_of, filled_lines, first_bytes, id_text, text_lines
from robustcs.wording import counted

#: The usual names of columns; the first one present counts, in any spelling that :func:`find_column` accepts.
TURN_NAMES = ("query_id", "qid", "q_id", "turn_id", "topic_id", "turn", "topic", "id")

#: Columns of files with conversations, which have places of turns instead of turn ids.
_CONVERSATION_NAMES = frozenset({"conversation_no", "conv_id", "topic_number", "quac_dialog_id"})

DOCUMENT_NAMES = (
    "doc_id", "docno", "docid", "document_id", "passage_id", "corpus_id", "pid", "document", "doc", "passage"
)  # fmt: skip

GRADE_NAMES = ("relevance", "rel", "grade", "label", "judgment", "judgement")
SCORE_NAMES = ("score", "similarity", "sim")
RANK_NAMES = ("rank", "position")
MEASURE_NAMES = ("measure", "metric")
VALUE_NAMES = ("value", "score")

_QUOTED = (",", ";")

#: Longest cell in characters; the limit of the csv module, 131,072, is too small for long passages.
LONGEST_CELL = 16 << 20

csv.field_size_limit(LONGEST_CELL)
_DECIMAL_COMMA = re.compile(r"\A\s*([+-]?[0-9]+),([0-9]+([eE][+-]?[0-9]+)?)\s*\Z")

_COMMENT = re.compile(r'#|"?sep=.?"?\s*\Z')

#: Largest number of Parquet rows; each row becomes Python objects.
_MOST_ROWS = 20_000_000

#: Largest length of the line of names, in bytes.
_HEAD = 1 << 16

#: Rows of Parquet per batch.
_BATCH = 10_000


@dataclass(frozen=True)
class TableFile:
    """A table whose first line names its columns.

    columns
        The names as in the file.
    separator
        The separator of cells: a comma, a semicolon, a tab, or a space for any white space; empty for Parquet.
    line
        The number of the line of names; 0 for Parquet, whose rows count from 1.
    cells
        Function that yields (line number, cells) of every row; rows of another width go to the problems.
    """

    columns: tuple[str, ...]
    separator: str
    line: int
    cells: Callable[[ProblemList], Iterator[tuple[int, Sequence[Any]]]]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in lower case."""
        return tuple(name.lower() for name in self.columns)

    def find(self, names: Sequence[str]) -> int | None:
        """Return the position of the first of ``names`` that is a column."""
        found = find_column(self.columns, names)
        return None if found is None else self.columns.index(found)

    def rows(self, problems: ProblemList) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (line number, value by column name) of every row."""
        for line, cells in self.cells(problems):
            yield line, dict(zip(self.columns, cells, strict=True))

    @property
    def is_named(self) -> bool:
        """Whether the columns have names: there is one of turn ids or of conversations."""
        named = self.turn is not None or not _CONVERSATION_NAMES.isdisjoint(self.names)
        return not self.separator or (len(self.columns) > 1 and named)

    @property
    def turn(self) -> int | None:
        """The column of turn ids."""
        return self.find(TURN_NAMES)

    @property
    def document(self) -> int | None:
        """The column of passage ids."""
        return self.find(DOCUMENT_NAMES)

    def passages(self, problems: ProblemList) -> Iterator[tuple[int, str, str, Sequence[Any]]]:
        """Yield line number, turn, passage and all cells of every row; rows without one of the ids go to the problems."""
        turn, document = self.turn, self.document
        assert turn is not None and document is not None
        for line, cells in self.cells(problems):
            ids = id_text(cells[turn]), id_text(cells[document])
            if all(ids):
                yield line, *ids, cells
            else:
                problems.add(
                    line,
                    "no turn id or no passage id",
                    "complete the row or delete it",
                    "no-turn-id",
                )


def is_parquet(path: StrPath) -> bool:
    """Return whether the file is Parquet, by its first bytes."""
    return first_bytes(path, len(PARQUET)) == PARQUET


def read_table(path: StrPath) -> TableFile | None:
    """Return the table of a file whose first line names a column of turn ids or of conversations; None for any other file.

    Raises :class:`InputError` for two columns with the same name, and for damaged Parquet.
    """
    table = open_table(path)
    return _distinct(path, table) if table.is_named else None


def open_table(path: StrPath) -> TableFile:
    """Return a file as a table; without commas, semicolons and tabs, cells are separated by white space."""
    if is_parquet(path):
        return _parquet(path)
    number, head = _first_line(path)
    delimiter = delimiter_of(head)
    try:
        cells = (
            next(csv.reader([head], delimiter=delimiter), [])
            if delimiter in _QUOTED
            else head.split(delimiter)
        )
    except csv.Error:  # a carriage return inside the line
        cells = head.split(delimiter)
    columns = _names(cells)
    return TableFile(
        columns,
        delimiter or " ",
        number,
        lambda problems: _cells(path, number, columns, delimiter, problems),
    )


def _distinct(path: StrPath, table: TableFile) -> TableFile:
    names = list(filter(None, table.names))  # spreadsheets write empty columns, too
    if len(set(names)) < len(names):
        found, advice = (
            "two columns have the same name",
            "give every column its own name in the first line",
        )
        raise input_error(path, table.line, found, advice, "wrong-columns")
    return table


def _names(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names in a line of names; some programs quote them even where cells are not quoted."""
    return tuple(
        cell.strip('"').strip() if cell.startswith('"') else cell for cell in map(str.strip, cells)
    )


def _first_line(path: StrPath) -> tuple[int, str]:
    """Return the number and text of the first line that is neither blank nor a comment; a very long line is cut.

    Excel's ``sep=;`` before the names is a comment, too.
    """
    text = first_bytes(path, _HEAD).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = enumerate(text.split("\n"), 1)
    return next(
        ((number, line) for number, line in lines if line.strip() and not _COMMENT.match(line)),
        (0, ""),
    )


def _cells(
    path: StrPath, header: int, names: tuple[str, ...], delimiter: str | None, problems: ProblemList
) -> Iterator[tuple[int, Sequence[str]]]:
    lines = ((number, line.split(delimiter)) for number, line in filled_lines(path))
    for number, cells in csv_rows(path, delimiter, problems) if delimiter in _QUOTED else lines:
        comment = (
            delimiter not in _QUOTED
            and cells[0].startswith("#")
            and (delimiter is None or len(cells) != len(names))
        )
        if (
            comment
            or number <= header
            or not fits(number, cells, len(names), problems, delimiter or " ")
        ):
            continue
        if _names(cells) != names:  # concatenated files repeat the header
            yield number, cells


def csv_rows(
    path: StrPath, delimiter: str, problems: ProblemList
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and cells of every row that is not blank; rows that are not CSV go to ``problems``.

    Between semicolons, a number with a decimal comma gets a decimal point: spreadsheets write both where the comma is decimal.
    """
    reader = csv.reader(
        (f"{line}\n" for _, line in text_lines(path)), delimiter=delimiter, strict=True
    )
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # a quote that is not closed may have swallowed valid rows
            note = problems.skip if reader.line_num == line else problems.add
            note(
                line,
                f"not CSV ({error})",
                "double the quotes inside a quoted text, and close the text",
                "not-csv",
            )
            continue
        if any(cell.strip() for cell in cells):
            yield (
                line,
                cells
                if delimiter != ";"
                else [_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in cells],
            )


def fits(
    line: int,
    cells: Sequence[Any],
    width: int,
    problems: ProblemList,
    separator: str = ",",
    expected: str = "",
) -> bool:
    """Return whether a row has ``width`` cells; a row of another width is skipped."""
    if len(cells) == width:
        return True
    separated = {",": "put texts with commas in quotes", "\t": "is there a tab inside a text?"}
    many = separated.get(separator, "is there a separator inside a cell?")
    advice = many if len(cells) > width else "complete the row or delete it"
    found = f"{counted(len(cells), 'column')}, but {expected or f'the header has {width}'}"
    problems.skip(line, found, advice, "wrong-columns")
    return False


def _parquet(path: StrPath) -> TableFile:
    pa = arrow(path, "Parquet")
    import pyarrow.parquet as pq

    def refuse(error: Exception) -> NoReturn:
        found = f"the Parquet file cannot be read ({str(error).splitlines()[0][:100]})"
        raise input_error(path, None, found, "write the file again", "bad-parquet") from None

    def open_file() -> Any:
        return pq.ParquetFile(pa.PythonFile(open_binary(path), "r"))

    def cells(problems: ProblemList) -> Iterator[tuple[int, Sequence[Any]]]:
        row = 0
        try:
            for batch in open_file().iter_batches(_BATCH):
                for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    row += 1
                    yield row, values
        except (pa.ArrowException, OSError) as error:
            refuse(error)

    try:
        opened = open_file()
        columns = tuple(opened.schema_arrow.names)
        # a few bytes can encode a billion repeated rows
        if opened.metadata.num_rows > _MOST_ROWS:
            raise too_large(path, f"more than {_MOST_ROWS:,} rows")
    except (pa.ArrowException, OSError) as error:
        refuse(error)
    return TableFile(columns, "", 0, cells)


# ---------------------------------------------------------------- rows by column name
#: Line number, and the values of the row by column name; values of CSV and TSV are texts.
Row = tuple[int, dict[str, Any]]

#: Field of a reader → the names that its column may have; the first one present counts.
Fields = Mapping[str, Sequence[str]]


def read_rows(path: StrPath, problems: ProblemList) -> tuple[list[str], Iterator[Row]]:
    """Return the column names of a table or of JSONL (of its first row), and an iterator over its rows.

    Rows that are not CSV, have another number of columns than the header, or are not JSON objects go to ``problems``.

    Raises :class:`InputError` for a file without rows, and for one JSON value in several lines or a list.
    """
    shape = shape_of(path)
    if shape == "json" and not next(filled_lines(path))[1].rstrip().endswith("}"):
        raise input_error(
            path,
            None,
            "JSON, but not an object per line",
            "write one JSON object per line",
            "not-json",
        )
    if shape == "table":
        table = _distinct(path, open_table(path))
        header, rows = list(table.columns), table.rows(problems)
    else:
        header, rows = [], json_lines(path, problems)
    first = next(rows, None)
    if first is None:
        problems.raise_if_any()
        raise input_error(path, None, "the file has no rows", "check the path", "empty")
    return header or list(first[1]), chain((first,), rows)


def columns_of(path: StrPath) -> list[str]:
    """Return the column names of the file. Raises :class:`InputError` for a file without rows."""
    return read_rows(path, ProblemList(path))[0]


def rows_by_field(
    path: StrPath, problems: ProblemList, needed: Fields, optional: Fields | None = None
) -> Iterator[Row]:
    """Yield line number and value by field of every row; a row has a field of ``optional`` only if the file has its column.

    Raises :class:`InputError` as :func:`read_rows` does, and if there is no column for a field of ``needed``.
    """
    return by_field(path, *read_rows(path, problems), needed, optional)


def by_field(
    path: StrPath,
    columns: Sequence[str],
    rows: Iterable[Row],
    needed: Fields,
    optional: Fields | None = None,
) -> Iterator[Row]:
    """Yield the fields of rows as :func:`rows_by_field` does."""
    places = {field: need_column(path, columns, names) for field, names in needed.items()}
    more = optional or {}
    places |= {
        field: column
        for field, names in more.items()
        if (column := find_column(columns, names)) is not None
    }
    # a later record of JSONL may have more fields than the first one
    later = [(field, names[0]) for field, names in more.items() if field not in places]
    for line, row in rows:
        values = {field: row.get(column) for field, column in places.items()}
        yield line, values | {field: row[name] for field, name in later if name in row}


def named(*fields: str) -> Fields:
    """Return fields whose columns have the same names."""
    return {field: (field,) for field in fields}


def text_of(value: object) -> str:
    """Return a cell as text without white space around it; a missing value is empty."""
    return "" if value is None else str(value).strip()


def find_column(columns: Iterable[str], names: Sequence[str]) -> str | None:
    """Return the column that matches the earliest of ``names``; letter case, ``_``, ``-`` and spaces do not matter."""
    known = {_plain(column): column for column in reversed(list(columns))}
    return next((known[plain] for plain in map(_plain, names) if plain in known), None)


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("-", " ").lower().split())


def need_column(
    path: StrPath, columns: Sequence[str], names: Sequence[str], line: int | None = 1
) -> str:
    """Return :func:`find_column`, or raise :class:`InputError` that lists the existing columns."""
    found = find_column(columns, names)
    if found is None:
        there = ", ".join(" ".join(name.split())[:40] for name in columns[:12])
        told = f"no column {names[0]!r}; the columns are: {there}"
        raise input_error(
            path, line, told, f"rename one of them to {' or '.join(names)}", "no-such-column"
        )
    return found
