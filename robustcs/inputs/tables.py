"""Tables with a line of column names: CSV, TSV, columns separated by spaces, and Parquet.

Columns are recognized by their usual names in any letter case. CSV follows RFC 4180, also with semicolons; TSV has no quoting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.files import arrow, open_binary, too_large
from robustcs.inputs.paths import StrPath
from robustcs.inputs.text import delimiter_of, filled_lines, first_bytes

#: The usual names of columns; the first one present counts.
TURN_NAMES = ("query_id", "query-id", "qid", "q_id", "turn_id", "topic_id", "turn", "topic", "id", "_id")

#: Columns of files with conversations, which have places of turns instead of turn ids.
_CONVERSATION_NAMES = frozenset({"conversation_no", "conv_id", "topic_number", "quac_dialog_id"})

DOCUMENT_NAMES = (
    "doc_id", "docno", "docid", "document_id", "passage_id", "corpus-id", "corpus_id", "pid", "document", "doc", "passage"
)  # fmt: skip

GRADE_NAMES = ("relevance", "rel", "grade", "label", "judgment", "judgement")
SCORE_NAMES = ("score", "similarity", "sim")
RANK_NAMES = ("rank", "position")
MEASURE_NAMES = ("measure", "metric")
VALUE_NAMES = ("value", "score")
_PARQUET = b"PAR1"

#: Largest number of Parquet rows; each row becomes Python objects.
_MOST_ROWS = 20_000_000

#: Largest length of the line of names, in bytes.
_HEAD = 1 << 16

#: Rows of Parquet per batch.
_BATCH = 10_000


@dataclass(frozen=True)
class Table:
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
        return next((self.names.index(name) for name in names if name in self.names), None)

    def rows(self, problems: ProblemList) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (line number, value by column name) of every row."""
        for line, cells in self.cells(problems):
            yield line, dict(zip(self.columns, cells, strict=True))

    @property
    def turn(self) -> int | None:
        """The column of turn ids."""
        return self.find(TURN_NAMES)

    @property
    def document(self) -> int | None:
        """The column of passage ids."""
        return self.find(DOCUMENT_NAMES)

    @property
    def is_beir(self) -> bool:
        """Whether these are BEIR qrels, whose grade is called ``score``."""
        return {"query-id", "corpus-id", "score"} <= set(self.names) and self.find(RANK_NAMES) is None

    @property
    def is_qrels(self) -> bool:
        """Whether the table contains grades of passages for turns."""
        graded = self.find(GRADE_NAMES) is not None or self.is_beir
        return graded and None not in (self.turn, self.document)

    @property
    def is_run(self) -> bool:
        """Whether the table ranks passages for turns."""
        ranked = self.find(SCORE_NAMES) is not None or self.find(RANK_NAMES) is not None
        return ranked and not self.is_beir and None not in (self.turn, self.document)

    @property
    def is_scores(self) -> bool:
        """Whether each row contains a measure, a turn and a value."""
        return None not in (self.turn, self.find(MEASURE_NAMES), self.find(VALUE_NAMES)) and self.document is None


def is_parquet(path: StrPath) -> bool:
    """Return whether the file is Parquet, by its first bytes."""
    return first_bytes(path, len(_PARQUET)) == _PARQUET


def read_table(path: StrPath) -> Table | None:
    """Return the table of a file whose first line names a column of turn ids or of conversations; None for any other file.

    Raises :class:`InputError` for two columns with the same name, and for damaged Parquet.
    """
    if is_parquet(path):
        return _parquet(path)
    number, head = _first_line(path)
    delimiter = delimiter_of(head)
    columns = tuple(cell.strip().strip('"').strip() for cell in head.split(delimiter))
    table = Table(columns, delimiter or " ", number, lambda problems: _cells(path, number, columns, delimiter, problems))
    if len(columns) < 2 or (table.turn is None and _CONVERSATION_NAMES.isdisjoint(table.names)):
        return None
    if len(set(table.names)) < len(columns):
        found = "two columns have the same name"
        raise input_error(path, number, found, "give every column its own name in the first line", "wrong-columns")
    return table


def _first_line(path: StrPath) -> tuple[int, str]:
    """Return the number and text of the first line that is neither blank nor a comment; a very long line is cut."""
    text = first_bytes(path, _HEAD).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip() and not line.startswith("#"))
    return next(lines, (0, ""))


def _cells(
    path: StrPath, header: int, names: tuple[str, ...], delimiter: str | None, problems: ProblemList
) -> Iterator[tuple[int, Sequence[str]]]:
    from robustcs.inputs.records import csv_rows, fits

    for number, cells in csv_rows(path, delimiter, problems) if delimiter in (",", ";") else _split(path, delimiter):
        if number <= header:
            continue
        if not fits(number, cells, len(names), problems, delimiter or " "):
            continue
        if tuple(cell.strip().strip('"') for cell in cells) != names:  # concatenated files repeat the header
            yield number, cells


def _split(path: StrPath, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    for number, line in filled_lines(path):
        if not line.startswith("#"):
            yield number, line.split(delimiter)


def _parquet(path: StrPath) -> Table:
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
    return Table(columns, "", 0, cells)
