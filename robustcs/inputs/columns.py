"""Read files of columns separated by white space (runs, qrels, per-turn scores) into numpy columns.

:mod:`robustcs.inputs.cells` parses regular pieces of a file. A piece with an irregular line goes through :func:`_read_lines`,
which is slower and reports each problem exactly. Both give the same columns. Pieces are small, so that memory is used only for
the columns that are kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from robustcs.errors import InputError, ProblemList, input_error
from robustcs.inputs.cells import cells_of, integers_of, labels_of, singles_of
from robustcs.inputs.files import too_large
from robustcs.inputs.heads import lines_in
from robustcs.inputs.ids import Ids
from robustcs.inputs.paths import StrPath
from robustcs.inputs.text import LONGEST_ID, line_chunks
from robustcs.inputs.trec_lines import LINES, are_ptkb, are_qrels, are_run
from robustcs.lazy import npt
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.inputs.sniff import Identified

Kind = Literal["label", "text", "single", "integer"]

#: A column: int32 codes of labels, ids, float32 or int64.
Column = np.ndarray[Any, np.dtype[Any]] | Ids

#: Pieces of an open file, as :func:`~robustcs.inputs.text.line_chunks` yields them; None for a file that is not open.
Chunks = Iterator[bytes] | None

#: Bytes per piece: small compared with the columns that are kept, and large enough for numpy.
_PIECE = 1 << 19

#: Longest line in bytes.
_LONGEST = 1 << 20

#: Most rows of a file, because they are held in memory; real runs have 7 million.
_MOST_ROWS = 50_000_000

#: First cells that identify the first line as a header.
_HEADER_WORDS = {
    "query_id",
    "qid",
    "q_id",
    "query-id",
    "query",
    "topic",
    "topic_id",
    "turn_id",
    "turn",
    "measure",
}

#: Kind → parser of the numbers of a regular piece; it returns None if a cell is not a number.
_NUMBERS: dict[str, Callable[[Ids], Column | None]] = {"single": singles_of, "integer": integers_of}

_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")
_SPACES = re.compile(rb" {2,}")
_LINES = re.compile(rb"\n{2,}")
_COMMENT = re.compile(rb"^#[^\n]*\n?", re.MULTILINE)

#: The first cell of a line that is neither blank nor a comment.
_FIRST_CELL = re.compile(rb"^(?!#)[^\S\n]*(\S+)", re.MULTILINE)


class Layout(NamedTuple):
    """The layout of a kind of file: the names of its columns, and the kinds of those that are read.

    A ``label`` is text that repeats on neighbouring lines; it is read as codes of its distinct values, numbered by first
    appearance. A ``single`` is a real number as a 32-bit float, infinite beyond their range.

    ``advice`` is for a wrong number of columns. With ``more``, further columns may follow the last one (a run's tag may contain
    spaces) if the column of that name is then a whole number.
    """

    what: str
    columns: tuple[str, ...]
    kinds: Mapping[str, Kind]
    advice: str
    more: str = ""


@dataclass(frozen=True)
class Columns:
    """Rows of a file in order, and the number of skipped lines.

    values
        Name → column.
    labels
        The distinct values of the ``label`` column; codes index it.
    """

    values: dict[str, Column]
    labels: Sequence[str]
    comments: int
    header: bool

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    def notes(self, name: str) -> list[str]:
        """Return notes on the skipped lines of the file ``name``."""
        told = [f"{name}: skipped the header line"] if self.header else []
        return told + (
            [f"{name}: skipped {counted(self.comments, 'comment line')}"] if self.comments else []
        )

    def ids(self, name: str) -> Ids:
        """Return a column of kind ``text``."""
        column = self.values[name]
        assert isinstance(column, Ids)
        return column

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """Return a column of any other kind."""
        column = self.values[name]
        assert isinstance(column, np.ndarray)
        return column

    def rows(self, part: slice) -> Columns:
        """Return some of the rows."""
        some = {
            name: column.take(part) if isinstance(column, Ids) else column[part]
            for name, column in self.values.items()
        }
        return Columns(some, self.labels, self.comments, self.header)


def read_columns(path: StrPath, layout: Layout, chunks: Chunks = None) -> Columns:
    """Read columns of ``path``; tabs and spaces separate cells, and ``#`` lines and blank lines are skipped.

    Raises :class:`InputError` with every malformed line (bounded), or if there are no rows.
    """
    return joined(list(column_pieces(path, layout, chunks)))


def column_pieces(path: StrPath, layout: Layout, chunks: Chunks = None) -> Iterator[Columns]:
    """Read columns in pieces of whole lines; ``labels``, ``comments`` and ``header`` are those of the file so far.

    ``chunks``: the bytes of the file, if it is open already.

    Raises :class:`InputError` as :func:`read_columns` does, at the end of the file.
    """
    problems = ProblemList(path)
    codes: dict[bytes, int] = {}
    labels: list[str] = []
    comments, header, empty, rows = 0, False, True, 0
    for chunk, line, skip in _pieces(path, chunks):
        header = header or skip
        if not empty and chunk.isspace():
            continue
        if empty and chunk.lstrip().startswith((b"{", b"[")):
            # can look like words and numbers in columns
            advice = f"write lines of: {' '.join(layout.columns)}"
            raise input_error(path, 1, f"JSON, not a {layout.what}", advice, "not-columns")
        empty = False
        found = len(_COMMENT.findall(chunk)) if b"#" in chunk else 0
        comments += found
        values = (
            _read_regular(chunk, layout, skip, bool(found), codes) if not problems.total else None
        )
        if values is None:
            values = _read_lines(chunk, layout, skip, line, problems, codes)
        new = [*islice(reversed(codes), len(codes) - len(labels))]
        labels.extend(code.decode("utf-8") for code in reversed(new))
        columns = Columns(values, labels, comments, header)
        rows += len(columns)
        if rows > _MOST_ROWS:
            raise too_large(path, f"more than {_MOST_ROWS:,} rows")
        if len(columns):
            yield columns
    problems.raise_if_any()
    if not rows:
        found_text = "the file is empty" if empty else "the file has no rows"
        raise input_error(
            path, None, found_text, f"write lines of: {' '.join(layout.columns)}", "empty"
        )


def joined(parts: Sequence[Columns], compact: bool = True) -> Columns:
    """Join the pieces of one file; ``compact`` drops the bytes of other columns."""
    if len(parts) == 1 and not compact:
        return parts[0]
    values: dict[str, Column] = {}
    for name, first in parts[0].values.items():
        columns = [part.values[name] for part in parts]
        if isinstance(first, Ids):
            values[name] = Ids.joined(columns, compact)  # type: ignore[arg-type]
        else:
            values[name] = np.concatenate(columns)  # type: ignore[arg-type]
    last = parts[-1]
    return Columns(values, last.labels, last.comments, last.header)


def _pieces(path: StrPath, chunks: Chunks = None) -> Iterator[tuple[bytes, int, bool]]:
    """Yield (bytes, number of the first line, whether the first row is a header) of every piece of the file."""
    line, started, before = 1, False, b""
    for chunk in chunks or line_chunks(path, _PIECE, _LONGEST):
        # several times faster than count()
        line += int(np.count_nonzero(np.frombuffer(before, dtype=np.uint8) == ord("\n")))
        before = chunk
        first = None if started else _FIRST_CELL.search(chunk)
        started = started or first is not None
        yield (
            chunk,
            line,
            first is not None and first[1].decode("utf-8", "replace").lower() in _HEADER_WORDS,
        )


def _read_regular(
    chunk: bytes, layout: Layout, header: bool, comments: bool, codes: dict[bytes, int]
) -> dict[str, Column] | None:
    """Return the rows of a piece with the same columns on every line; None if that is not certain."""
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n")
        if b"\r" in chunk:
            return None
    if b"\t" in chunk:
        chunk = chunk.replace(b"\t", b" ")
    if not chunk.isascii():
        try:
            chunk.decode("utf-8")
        except UnicodeDecodeError:
            return None
    if comments:
        chunk = _COMMENT.sub(b"", chunk)
    cells = None if header else cells_of(chunk)
    if cells is None:
        # repeated separators, indented or blank lines, white space at line ends
        chunk = _SPACES.sub(b" ", chunk).replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" \n")
        chunk = _LINES.sub(b"\n", chunk)
        if header:
            chunk = chunk.partition(b"\n")[2]
        cells = cells_of(chunk) if chunk else None
    if (
        cells is None
        or cells.width < len(layout.columns)
        or (cells.width > len(layout.columns) and not layout.more)
    ):
        return None
    values: dict[str, Column] = {}
    for name, kind in layout.kinds.items():
        texts = cells.column(layout.columns.index(name))
        if int(texts.lengths.max(initial=0)) > LONGEST_ID:
            return None
        column = _NUMBERS[kind](texts) if kind in _NUMBERS else texts
        if column is None:
            return None
        values[name] = column
    if (
        cells.width > len(layout.columns)
        and integers_of(cells.column(layout.columns.index(layout.more))) is None
    ):
        return None
    for name, kind in layout.kinds.items():
        if kind == "label":  # last, because a rejected piece must not add codes
            values[name] = labels_of(cells.column(layout.columns.index(name)), codes)
    return values


def _rows(chunk: bytes, header: bool, first_line: int) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, line) of every row of a piece; blank lines, comments and the header are skipped."""
    for number, line in enumerate(chunk.split(b"\n"), first_line):
        if line.startswith(b"#") or not line.strip():
            continue
        if header and b"\r" not in line.strip():
            header = False
            continue
        yield number, line.strip()


def _read_lines(
    chunk: bytes,
    layout: Layout,
    header: bool,
    first_line: int,
    problems: ProblemList,
    codes: dict[bytes, int],
) -> dict[str, Column]:
    """Read a piece line by line, the reference for :func:`_read_regular`; malformed lines go to ``problems``."""
    values: dict[str, list[bytes]] = {name: [] for name in layout.kinds}
    wanted = [(name, layout.columns.index(name), kind) for name, kind in layout.kinds.items()]
    expected = len(layout.columns)
    for number, line in _rows(chunk, header, first_line):
        if b"\r" in line:
            # rows that end in a bare carriage return would disappear into the tag of this one
            found = "a carriage return inside the line"
            problems.add(number, found, "save the file with LF or CRLF line ends", "old-line-ends")
            continue
        cells = line.split()
        # a space in a passage id moves its second part to the rank; a tag with spaces does not
        moved = len(cells) > expected and not (
            layout.more and _WHOLE.fullmatch(cells[layout.columns.index(layout.more)])
        )
        if len(cells) < expected or moved:
            # only the last line of a file has no line end
            cut = len(cells) < expected and number == first_line + chunk.count(b"\n")
            problems.add(
                number,
                f"{len(cells)} column{'s' * (len(cells) != 1)}, but a {layout.what} has {expected}"
                f" ({' '.join(layout.columns)})",
                "the file may be cut: its last line has no line end" if cut else layout.advice,
                "wrong-columns",
            )
            continue
        wrong = next(
            ((name, *what) for name, place, kind in wanted if (what := _wrong(cells[place], kind))),
            None,
        )
        if wrong:
            name, cell, is_not, advice, slug = wrong
            problems.add(
                number, f"{name} {cell.decode('utf-8', 'replace')!r} is not {is_not}", advice, slug
            )
            continue
        for name, place, _ in wanted:
            values[name].append(cells[place])
    return {name: _column(column, layout.kinds[name], codes) for name, column in values.items()}


def _column(cells: list[bytes], kind: Kind, codes: dict[bytes, int]) -> Column:
    """Return checked cells as a column."""
    if kind == "text":
        return Ids.packed(cells)
    if kind == "label":
        return np.array([codes.setdefault(cell, len(codes)) for cell in cells], dtype=np.int32)
    if kind == "integer":
        return np.array(list(map(int, cells)), dtype=np.int64)
    with np.errstate(over="ignore"):
        return np.array(list(map(float, cells)), dtype=np.float32)


def _wrong(cell: bytes, kind: Kind) -> tuple[bytes, str, str, str] | None:
    """Return what to quote of a cell, what it is not, the remedy and the kind of problem; None if nothing is wrong."""
    if kind == "single":
        return (
            None
            if _is_number(cell)
            else (cell, "a number", "write a decimal number", "not-a-number")
        )
    if kind == "integer":
        whole = _WHOLE.fullmatch(cell)
        return None if whole else (cell, "a whole number", "write a whole number", "not-an-integer")
    if len(cell) > LONGEST_ID:
        return (
            cell[:40],
            f"an id: it has {len(cell):,} bytes",
            "check that this is the right file",
            "too-long",
        )
    try:
        cell.decode("utf-8")
    except UnicodeDecodeError:
        return cell, "UTF-8", "save the file as UTF-8", "not-utf8"
    return (cell, "text", "the file seems to be binary", "binary-file") if b"\0" in cell else None


def _is_number(cell: bytes) -> bool:
    try:
        return b"_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return False


def line_of_row(path: StrPath, row: int) -> int:
    """Return the line number of row ``row`` (from 0), counted as :func:`read_columns` does; for messages only."""
    for chunk, first_line, header in _pieces(path):
        for number, _ in _rows(chunk, header, first_line):
            if row == 0:
                return number
            row -= 1
    raise IndexError(row)


#: Bytes that contain enough lines of a run or of qrels to recognize it.
_HEAD = 1 << 10


def kind_unless_plain(
    path: StrPath, wanted: Literal["run", "qrels"]
) -> tuple[Identified | None, Chunks]:
    """Return the kind of a file; None and its bytes if its first lines are all TREC lines, which cannot be anything else.

    Raises :class:`InputError` for a file of another kind than ``wanted``.
    """
    if chunks := plain_chunks(path, wanted):
        return None, chunks
    from robustcs.inputs.sniff import refuse_other_kinds

    return refuse_other_kinds(path, wanted), None


def plain_chunks(path: StrPath, wanted: Literal["run", "qrels"], size: int = 0) -> Chunks:
    """Return the bytes of a file whose first lines are all TREC lines of a run or of qrels; None for any other file.

    ``size``: bytes per piece, of which the first is read (default: those of a reader).
    """
    chunks = line_chunks(path, size or _PIECE, _LONGEST)
    try:
        first = next(chunks, b"")
    except InputError:
        return None
    rows = [line.split() for line in lines_in(first, _HEAD)]
    plain = (
        are_run(rows[:LINES]) if wanted == "run" else are_qrels(rows[:LINES]) and not are_ptkb(rows)
    )
    return chain([first], chunks) if plain else None
