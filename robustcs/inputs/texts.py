"""The question texts of turns: raw turns, rewrites by a model, human rewrites.

The format is detected by content, not by the file's name. :mod:`robustcs.inputs.file_formats` lists
the formats with their own fields. Also read:

- one JSON object ``{turn: text}``;
- TSV with a header line, or with two columns ``id TAB text`` without one. TSV has no quoting:
  quotes belong to the text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.file_formats import PLAIN, format_of
from robustcs.inputs.formats import IRDS_QUERIES, Entry, Record, Role, TextFormat, irds_queries
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import StrPath, is_irds
from robustcs.inputs.readings import read_once
from robustcs.inputs.records import ID_NAMES, ByTurn, RowProblems, no_column, shape_of
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.inputs.tables import Table, fits, read_table
from robustcs.inputs.text import filled_lines, is_turn_id, json_pairs, read_json
from robustcs.wording import counted

_FORMATS = "write TSV (id and query), JSONL, JSON {turn: text}, CAsT topic JSON or CANARD JSON"

#: The texts of a turn: one, or several samples of a rewriter.
Samples = tuple[str, ...]


def read_texts(path: StrPath, role: Role, column: str | None = None) -> dict[str, str]:
    """Return turn id → text without surrounding white space, in file order; if a turn has several
    samples, the first.

    ``column`` names a column or field, or a formulation (``original``, ``qr``, ``human``, ``raw``,
    ``manual``) if the file has no column of that name. By default, ``role`` selects it if the
    format has several formulations; else it is the first of
    :data:`~robustcs.inputs.file_formats.TEXT_NAMES`. A turn of a topic file without the field is
    not in the result.

    Rows without an id or a text, and lines that cannot be parsed, are skipped
    (:mod:`robustcs.inputs.records`). Raises :class:`InputError` with every problem of the file
    (bounded): too many such rows, a turn with two different texts, a missing column.
    """
    return TextFile(path).texts(role, column)


def read_samples(path: StrPath, role: Role, column: str | None = None) -> dict[str, Samples]:
    """Return all samples of every turn in file order, one or more; otherwise as :func:`read_texts`.

    A skipped sample is empty, so that the others keep their places.
    """
    return TextFile(path).samples(role, column)


def without_empty(samples: Mapping[str, Samples]) -> dict[str, Samples]:
    """Return the samples without skipped ones, for the turns that have any left."""
    return {turn: kept for turn, some in samples.items() if (kept := tuple(filter(None, some)))}


class TextFile:
    """A file of texts, read once for any number of formulations.

    Raises :class:`InputError` as :func:`read_texts` does.
    """

    def __init__(self, path: StrPath):
        self.path = path

    def texts(self, role: Role, column: str | None = None) -> dict[str, str]:
        """Return the texts of one formulation: see :func:`read_texts`."""
        return {
            turn: samples[0] for turn, samples in self.samples(role, column).items() if samples[0]
        }

    def role(self, *order: Role) -> Role:
        """Return the first formulation of ``order`` in the file, or the first of all if its format
        does not tell.
        """
        refuse_other_kinds(self.path, "texts")
        there = self._formulations
        return next((role for role in order if role in there), order[0])

    @property
    def is_rewrites(self) -> bool:
        """Whether the file contains the output of a rewriter, rather than only the turns that it
        rewrote.
        """
        there = self._formulations
        return there.get("qr") in self._turns.kind.sampled and there.get("qr") != there.get("human")

    @property
    def _formulations(self) -> dict[Role, str]:
        """Formulation → the field that contains it."""
        return self._turns.kind.formulations(
            {name for entry in self._turns.entries for name in entry.fields}
        )

    def notes(self, role: Role, column: str | None = None) -> tuple[str, ...]:
        """Return a note if turns have several samples."""
        most = max(map(len, self.samples(role, column).values()), default=1)
        if most == 1:
            return ()
        return (f"{Path(self.path).name} has up to {most} texts for a turn; the first is used",)

    def samples(self, role: Role, column: str | None = None) -> dict[str, Samples]:
        """Return all texts of one formulation, which must not be changed: see :func:`read_samples`."""
        return read_once(self._read, self.path, role, column)

    def _read(self, path: StrPath, role: Role, column: str | None) -> dict[str, Samples]:
        if column is None and not is_irds(path):
            refuse_other_kinds(self.path, "texts")
        kind, entries, problems, header = self._turns
        texts = _Texts(self.path)
        texts.problems.take(problems)
        there = dict.fromkeys(
            name for entry in (entries if kind.optional else entries[:1]) for name in entry.fields
        )
        names = kind.names(column, role, there)
        chosen = next((name for name in names if name in there), None)
        if chosen is None and entries and (not kind.optional or not texts.problems.total):
            line = header or (None if kind.optional else entries[0].line)
            raise no_column(
                self.path,
                line,
                column or next(iter(names), role),
                (name for name in there if name != "number"),
            )
        for turn, fields, line in entries:
            name = next(
                (name for name in (names if kind.optional else (chosen,)) if name in fields), None
            )
            if kind.optional and (name is None or fields[name] is None):
                continue
            if name is None:
                texts.problems.skip(
                    line, f"no field {chosen!r}", "complete the row or delete it", "no-such-column"
                )
                continue
            found = _samples(
                texts,
                turn,
                fields[name],
                line,
                name in kind.last,
                column is not None or name in kind.sampled,
            )
            texts.add(turn, found, line)
        return texts.result()

    @cached_property
    def _turns(self) -> _Turns:
        problems = RowProblems(self.path)
        kind, records, header = self._records(problems)
        broken, entries = problems.skipped.total, list(kind.entries(records, problems))
        if broken and len(entries) > len(records):  # a lost record may contain any number of turns
            ProblemList.take(problems, problems.skipped)
        return _Turns(kind, entries, problems, header)

    def _records(self, problems: RowProblems) -> tuple[TextFormat, list[Record], int | None]:
        """Return the format of the file, its records, and the line of its column names.

        Raises :class:`InputError` for JSON without texts of turns, and for lines that are not ``id
        TAB text``.
        """
        if is_irds(self.path):
            return IRDS_QUERIES, irds_queries(os.fspath(self.path)), None
        table = read_table(self.path)
        if table is not None and (kind := _kind_of_table(table)):
            return kind, list(_rows(table, problems)), table.line
        shape = shape_of(self.path)
        if shape == "table":
            return PLAIN, list(_lines(self.path, problems)), None
        records = list(json_records(self.path, problems))
        kind = format_of(records[0].fields) if records else None
        if shape == "jsonl":
            return kind or PLAIN, records, None
        value = read_json(self.path, halves=True)
        # a turn of {turn: text} may have the name of a field
        if kind and not (kind is PLAIN and isinstance(value, dict)):
            return kind, records, None
        if isinstance(value, dict) and (
            not value or any(isinstance(text, str) for text in value.values())
        ):
            pairs = enumerate(json_pairs(self.path), 1)
            return (
                PLAIN,
                [Record(None, place, {"id": turn, "text": text}) for place, (turn, text) in pairs],
                None,
            )
        what = (
            "an object"
            if isinstance(value, dict)
            else "a list"
            if isinstance(value, list)
            else "a value"
        )
        raise input_error(
            self.path, None, f"JSON, but {what} without texts of turns", _FORMATS, "unknown-format"
        )


class _Turns(NamedTuple):
    """The format of a file, its turns and problems, and the line of its column names."""

    kind: TextFormat
    entries: list[Entry]
    problems: RowProblems
    header: int | None


class _Texts(ByTurn[Samples]):
    """The samples of every turn; if all samples of a turn were skipped, they are empty."""

    def __init__(self, path: StrPath):
        super().__init__(path)
        self._empty: dict[str, Samples] = {}

    def add(self, turn: object, value: Samples, line: int | None) -> None:
        """Keep the samples of ``turn``, at least one of which has a text."""
        if any(value):
            super().add(turn, value, line)
        elif is_turn_id(turn):
            self._empty[str(turn).strip()] = value

    def result(self) -> dict[str, Samples]:
        """Return the samples by turn, turns without any text last. Raises as :meth:`ByTurn.result`
        does.
        """
        return super().result() | {
            turn: value for turn, value in self._empty.items() if turn not in self.values
        }


def _rows(table: Table, problems: ProblemList) -> Iterator[Record]:
    for place, (line, fields) in enumerate(table.rows(problems), 1):
        yield Record(line, place, {name.lower(): value for name, value in fields.items()} | fields)


def _samples(
    texts: _Texts, turn: object, value: object, line: int | None, last: bool, several: bool
) -> Samples:
    """Return the texts of a turn, empty for skipped ones."""
    if last and isinstance(value, list) and value:
        value = value[-1]
    values = value if several and isinstance(value, list) and value else [value]
    return tuple(texts.text(turn, one, line) or "" for one in values)


def _kind_of_table(table: Table) -> TextFormat | None:
    """Return the format of a table; None for words in lines, and for TSV whose first line names no
    columns.
    """
    if table.separator == " ":  # a text has spaces
        return None
    kind = format_of(dict.fromkeys((*table.columns, *table.names), ""))
    names_columns = table.separator != "\t" or not set(table.names).isdisjoint(ID_NAMES)
    return kind or (PLAIN if names_columns else None)  # the user may name its columns


def _lines(path: StrPath, problems: RowProblems) -> Iterator[Record]:
    """Yield the records of lines ``id TAB text``."""
    place = 0
    for number, line in filled_lines(path):
        cells = line.split("\t")
        if len(cells) == 1 and not place:
            raise input_error(path, number, "not a file of texts", _FORMATS, "unknown-format")
        if len(cells) != 2 and not place:
            found = f"{counted(len(cells), 'column')}, but no header line that names one of {', '.join(ID_NAMES)}"
            raise input_error(
                path, number, found, "add a header line, or write id TAB text only", "wrong-columns"
            )
        if fits(number, cells, 2, problems, "\t", "a file without a header line has 2 (id, text)"):
            place += 1
            yield Record(number, place, {"id": cells[0], "text": cells[1]})
