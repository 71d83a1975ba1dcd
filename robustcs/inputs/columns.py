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
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.files import line_chunks

# Arrow's own allocator keeps what pieces of a file took: a fifth of the peak memory of reading and evaluating 500 turns
pa.set_memory_pool(pa.system_memory_pool())

Kind = Literal["label", "text", "real", "integer"]

_ARROW_TYPES: dict[Kind, pa.DataType] = {
    "label": pa.dictionary(pa.int32(), pa.string()),
    "text": pa.string(),
    "real": pa.float64(),
    "integer": pa.int64(),
}
#: Bytes read at a time, and of the longest line: small beside what is kept of them, and large enough for Arrow.
_PIECE = 1 << 20
#: First cells that make the first line a header and not a row.
_HEADER_WORDS = {"query_id", "qid", "q_id", "query-id", "query", "topic", "topic_id", "turn_id", "turn", "measure"}
_SPACES = re.compile(rb" {2,}")
_COMMENT = re.compile(rb"^#[^\n]*\n?", re.MULTILINE)
#: The first cell of a line that is neither blank nor a comment.
_FIRST_CELL = re.compile(rb"^(?!#)[^\S\n]*(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Field:
    """One column that is wanted.

    A ``label`` is text that repeats: it comes as a dictionary of its distinct values, in order of first appearance, and
    codes. For a ``text`` that seldom repeats a dictionary would take longer to build than the file to read.
    """

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
    comments, header = 0, False
    for chunk, line, skip in _pieces(path):
        header = header or skip
        if tables and chunk.isspace():
            continue
        found = len(_COMMENT.findall(chunk)) if b"#" in chunk else 0
        comments += found
        table = _read_regular(chunk, layout, schema, skip, bool(found)) if not problems.total else None
        if table is None:
            table = _read_lines(chunk, layout, schema, skip, line, problems)
        tables.append(table)
    problems.raise_if_any()
    whole = (pa.concat_tables(tables) if tables else schema.empty_table()).unify_dictionaries()
    if not whole.num_rows:
        found_text = "the file is empty" if not tables else "the file has no rows"
        raise input_error(path, None, found_text, f"a {layout.what} has lines of: {' '.join(layout.columns)}", "empty")
    if whole[0][0].as_py().startswith(("{", "[")):
        # words and numbers of a text can stand where columns would
        raise input_error(path, 1, f"JSON, not a {layout.what}", f"write lines of: {' '.join(layout.columns)}", "not-columns")
    tables.clear()
    return Columns(whole.combine_chunks(), comments, header)


def _pieces(path: str | os.PathLike[str]) -> Iterator[tuple[bytes, int, bool]]:
    """(bytes, number of the first line, whether the first row is a header) of every piece of the file."""
    line, started = 1, False
    for chunk in line_chunks(path, _PIECE, _PIECE):
        first = None if started else _FIRST_CELL.search(chunk)
        started = started or first is not None
        yield chunk, line, first is not None and first[1].decode("utf-8", "replace").lower() in _HEADER_WORDS
        # several times faster than chunk.count()
        line += int(np.count_nonzero(np.frombuffer(chunk, dtype=np.uint8) == ord("\n")))


def _read_regular(chunk: bytes, layout: Layout, schema: pa.Schema, header: bool, comments: bool) -> pa.Table | None:
    """The rows of a piece in which every line has the same columns; None where Arrow cannot vouch for that."""
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n")
    if any(control in chunk for control in (b"\r", b"\v", b"\f", b"\0")):
        return None
    if b"\t" in chunk:
        chunk = chunk.replace(b"\t", b" ")
    blank = np.frombuffer(chunk, dtype=np.uint8) <= ord(" ")
    if comments or bool((blank[1:] & blank[:-1]).any()) or blank[0]:
        # two separators side by side, indented or blank lines, comments
        chunk = _SPACES.sub(b" ", _COMMENT.sub(b"", chunk))
        chunk = chunk.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    del blank
    if header:
        chunk = chunk.lstrip().partition(b"\n")[2]
    first = chunk.lstrip().split(b"\n", 1)[0].split()
    width = len(first)
    if width < len(layout.columns) or (width > len(layout.columns) and not layout.more):
        return None
    names = [f"c{i}" for i in range(width)]
    wanted = {f"c{field.position}": field for field in layout.fields}
    try:
        table = pacsv.read_csv(
            pa.BufferReader(chunk),
            read_options=pacsv.ReadOptions(column_names=names, block_size=2 * _PIECE, use_threads=False),
            # a row of another width is an error of Arrow's too; its handler for such rows cannot take one that is not UTF-8
            parse_options=pacsv.ParseOptions(delimiter=" ", quote_char=False, escape_char=False),
            convert_options=pacsv.ConvertOptions(
                # Arrow would read 0x1 as a whole number
                column_types={
                    name: pa.string() if field.kind == "integer" else _ARROW_TYPES[field.kind] for name, field in wanted.items()
                },
                include_columns=list(wanted),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    table = table.rename_columns([field.name for field in layout.fields])
    for field in layout.fields:
        column = table[field.name]
        if field.kind == "real" and pc.any(pc.is_nan(column)).as_py():
            return None
        if field.kind == "integer" and not pc.all(pc.match_substring_regex(column, "^-?[0-9]{1,18}$")).as_py():
            return None
    return table.cast(schema)


def _rows(chunk: bytes, header: bool, first_line: int) -> Iterator[tuple[int, bytes]]:
    """(line number, line) of every row of a piece; blank lines, comments and the header are passed over."""
    for number, line in enumerate(chunk.split(b"\n"), first_line):
        if line.startswith(b"#") or not line.strip():
            continue
        if header and b"\r" not in line.strip():
            header = False
            continue
        yield number, line.strip()


def _read_lines(
    chunk: bytes, layout: Layout, schema: pa.Schema, header: bool, first_line: int, problems: ProblemList
) -> pa.Table:
    """The reference reader: line by line, every malformed line into ``problems``."""
    values: list[list[Any]] = [[] for _ in layout.fields]
    expected = len(layout.columns)
    for number, line in _rows(chunk, header, first_line):
        if b"\r" in line:
            # rows of another system's line ends would vanish in the tag of this one
            found = "a carriage return inside the line"
            problems.add(number, found, "save the file with usual line ends", "old-line-ends")
            continue
        cells = line.split()
        if len(cells) < expected or (len(cells) > expected and not layout.more):
            problems.add(
                number,
                f"{len(cells)} column{'s' * (len(cells) != 1)} where a {layout.what} has {expected}"
                f" ({' '.join(layout.columns)})",
                layout.advise(len(cells)),
                "wrong-columns",
            )
            continue
        row: list[Any] = []
        for field in layout.fields:
            try:
                row.append(_convert(cells[field.position], field.kind))
            except _CellError as error:
                name = layout.columns[field.position]
                problems.add(number, f"{name} {error.cell!r} is not {error.wanted}", error.advice, error.slug)
                break
        else:
            for column, value in zip(values, row, strict=True):
                column.append(value)
    return pa.table([pa.array(column, type=kind) for column, kind in zip(values, schema.types, strict=True)], schema=schema)


class _CellError(ValueError):
    def __init__(self, raw: bytes, wanted: str, advice: str, slug: str):
        self.cell = raw.decode("utf-8", "replace")
        self.wanted = wanted
        self.advice = advice
        self.slug = slug


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
    for chunk, first_line, header in _pieces(path):
        for number, _ in _rows(chunk, header, first_line):
            if row == 0:
                return number
            row -= 1
    raise IndexError(row)
