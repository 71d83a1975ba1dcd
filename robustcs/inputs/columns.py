"""Files of white-space separated columns (runs, qrels, per-turn scores) as Arrow tables.

Arrow's CSV reader does the work where a file is regular; any line that is not sends its piece of the file through
:func:`_read_lines`, which is slower and says exactly what is wrong. Both give the same table.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.files import line_chunks

Kind = Literal["label", "real", "integer"]

_ARROW_TYPES: dict[Kind, pa.DataType] = {
    "label": pa.string(),
    "real": pa.float64(),
    "integer": pa.int64(),
}
#: First cells that make the first line a header and not a row.
_HEADER_WORDS = {"query_id", "qid", "q_id", "query-id", "query", "topic", "topic_id", "turn_id", "turn", "measure"}
_SPACES = re.compile(rb"[ \t]+")
_COMMENT = re.compile(rb"^#[^\n]*\n?", re.MULTILINE)
_EDGES = re.compile(rb"^ | (?=\r?$)", re.MULTILINE)


@dataclass(frozen=True)
class Field:
    """One column that is wanted: ``label`` is text, returned as a dictionary of its distinct values."""

    name: str
    position: int
    kind: Kind


@dataclass(frozen=True)
class Layout:
    """The shape of a kind of file: ``columns`` are its column names as a user knows them.

    ``more`` allows further columns after the last (a run's tag may hold spaces). ``advise`` turns a wrong number of
    columns into advice, such as the option that does take such a file.
    """

    what: str
    columns: tuple[str, ...]
    fields: tuple[Field, ...]
    more: bool
    advise: Callable[[int], str]


@dataclass(frozen=True)
class Columns:
    """What was read: one Arrow column per wanted field, and what was passed over."""

    table: pa.Table
    comments: int
    header: bool


def read_columns(path: str | os.PathLike[str], layout: Layout) -> Columns:
    """Read the wanted columns of ``path``; tabs and runs of spaces separate, ``#`` lines and blank lines are skipped.

    Raises :class:`InputError` with every malformed line (bounded), or when no row is left.
    """
    schema = pa.schema([(field.name, _ARROW_TYPES[field.kind]) for field in layout.fields])
    problems = ProblemList(path)
    tables: list[pa.Table] = []
    comments, header, line = 0, False, 1
    for chunk in line_chunks(path):
        if line == 1:
            header = _starts_with_header(chunk)
        skip = header and line == 1
        found = len(_COMMENT.findall(chunk)) if b"#" in chunk else 0
        comments += found
        table = _read_regular(chunk, layout, schema, skip, bool(found)) if not problems.total else None
        if table is None:
            table = _read_lines(chunk, layout, schema, skip, line, problems)
        tables.append(table)
        line += chunk.count(b"\n")
    problems.raise_if_any()
    whole = pa.concat_tables(tables) if tables else schema.empty_table()
    if not whole.num_rows:
        found_text = "the file is empty" if not tables else "the file has no rows"
        raise input_error(path, None, found_text, f"a {layout.what} has lines of: {' '.join(layout.columns)}", "empty")
    tables.clear()
    for i, field in enumerate(layout.fields):
        if field.kind == "label":
            whole = whole.set_column(i, field.name, whole[field.name].dictionary_encode())
    return Columns(whole.combine_chunks(), comments, header)


def _starts_with_header(chunk: bytes) -> bool:
    for line in chunk.split(b"\n", 200):
        cells = line.split()
        if cells and not line.startswith(b"#"):
            return cells[0].decode("utf-8", "replace").lower() in _HEADER_WORDS
    return False


def _read_regular(chunk: bytes, layout: Layout, schema: pa.Schema, header: bool, comments: bool) -> pa.Table | None:
    """The rows of a piece in which every line has the same columns; None where Arrow cannot vouch for that."""
    octets = np.frombuffer(chunk, dtype=np.uint8)
    if not octets.all():
        return None
    blank = octets <= ord(" ")
    if comments or bool((blank[1:] & blank[:-1]).any()) or blank[0]:
        # two separators side by side, indented or blank lines, CRLF, comments
        chunk = _COMMENT.sub(b"", chunk)
        chunk = _EDGES.sub(b"", _SPACES.sub(b" ", chunk))
    elif b"\t" in chunk:
        chunk = chunk.replace(b"\t", b" ")
    del octets, blank
    first = chunk.lstrip().split(b"\n", 1)[0].split()
    width = len(first)
    if width < len(layout.columns) or (width > len(layout.columns) and not layout.more):
        return None
    names = [f"c{i}" for i in range(width)]
    wanted = {f"c{field.position}": field for field in layout.fields}
    irregular: list[Any] = []

    def note(row: Any) -> str:
        irregular.append(row)
        return "skip"

    try:
        table = pacsv.read_csv(
            pa.BufferReader(chunk),
            read_options=pacsv.ReadOptions(column_names=names, skip_rows=int(header), block_size=1 << 22),
            parse_options=pacsv.ParseOptions(
                delimiter=" ", quote_char=False, escape_char=False, invalid_row_handler=note
            ),
            convert_options=pacsv.ConvertOptions(
                column_types={name: _ARROW_TYPES[field.kind] for name, field in wanted.items()},
                include_columns=list(wanted),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if irregular:
        return None
    table = table.rename_columns([field.name for field in layout.fields])
    for field in layout.fields:
        column = table[field.name]
        if field.kind == "real" and not _all_numbers(column):
            return None
    return table


def _all_numbers(column: pa.ChunkedArray) -> bool:
    import pyarrow.compute as pc

    return not pc.any(pc.is_nan(column)).as_py()


def _rows(chunk: bytes, header: bool, first_line: int) -> Iterator[tuple[int, list[bytes]]]:
    """(line number, cells) of every row of a piece; blank lines, comments and the header are passed over."""
    for number, line in enumerate(chunk.split(b"\n"), first_line):
        if line.startswith(b"#"):
            continue
        cells = line.split()
        if not cells:
            continue
        if header:
            header = False
            continue
        yield number, cells


def _read_lines(
    chunk: bytes, layout: Layout, schema: pa.Schema, header: bool, first_line: int, problems: ProblemList
) -> pa.Table:
    """The reference reader: line by line, every malformed line into ``problems``."""
    values: list[list[Any]] = [[] for _ in layout.fields]
    expected = len(layout.columns)
    for number, cells in _rows(chunk, header, first_line):
        if len(cells) < expected or (len(cells) > expected and not layout.more):
            problems.add(
                number,
                f"{len(cells)} column{'s' * (len(cells) != 1)} where a {layout.what} has {expected}"
                f" ({' '.join(layout.columns)})",
                layout.advise(len(cells)),
                "wrong-columns",
            )
            continue
        try:
            row = [_convert(cells[field.position], field.kind) for field in layout.fields]
        except _CellError as error:
            name = layout.columns[layout.fields[error.index(cells, layout)].position]
            problems.add(number, f"{name} {error.cell!r} is not {error.wanted}", error.advice, error.slug)
            continue
        for column, value in zip(values, row, strict=True):
            column.append(value)
    return pa.table([pa.array(column, type=kind) for column, kind in zip(values, schema.types, strict=True)], schema=schema)


class _CellError(ValueError):
    def __init__(self, raw: bytes, wanted: str, advice: str, slug: str):
        self.raw = raw
        self.cell = raw.decode("utf-8", "replace")
        self.wanted = wanted
        self.advice = advice
        self.slug = slug

    def index(self, cells: list[bytes], layout: Layout) -> int:
        return next(i for i, field in enumerate(layout.fields) if cells[field.position] is self.raw)


def _convert(cell: bytes, kind: Kind) -> Any:
    if kind == "real":
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if math.isnan(value) or b"_" in cell:
            raise _CellError(cell, "a number", "write a decimal number", "not-a-number")
        return value
    if kind == "integer":
        if not re.fullmatch(rb"[+-]?[0-9]{1,18}", cell):
            raise _CellError(cell, "a whole number", "write a whole number", "not-an-integer")
        return int(cell)
    try:
        text = cell.decode("utf-8")
    except UnicodeDecodeError:
        raise _CellError(cell, "UTF-8", "save the file as UTF-8", "not-utf8") from None
    if "\0" in text:
        raise _CellError(cell, "text", "the file seems to be binary", "binary-file")
    return text


def line_of_row(path: str | os.PathLike[str], row: int) -> int:
    """The line number of the ``row``-th row (from 0) as :func:`read_columns` counts rows; for messages only."""
    first_line = 1
    for chunk in line_chunks(path):
        header = first_line == 1 and _starts_with_header(chunk)
        for number, _ in _rows(chunk, header, first_line):
            if row == 0:
                return number
            row -= 1
        first_line += chunk.count(b"\n")
    raise IndexError(row)
