"""The question texts of turns: raw turns, rewrites by a model, human rewrites.

The format is detected by content, not by the file's name. :mod:`robustcs.inputs.file_formats` lists
the formats with their own fields. Also read:

- one JSON object ``{turn: text}``;
- TSV with a header line, or with two columns ``id TAB text`` without one. TSV has no quoting:
  quotes belong to the text.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.file_formats import PLAIN, format_of
from robustcs.inputs.formats import (
    IRDS_QUERIES,
    Entry,
    Record,
    Role,
    TextFormat,
    Utterance,
    irds_queries,
)
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import StrPath, is_irds
from robustcs.inputs.readings import read_once
from robustcs.inputs.records import ID_NAMES, ByTurn, RowProblems, no_column, shape_of
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.inputs.tables import TableFile, fits, read_table
from robustcs.inputs.text import filled_lines, id_text, is_turn_id, json_pairs, read_json
from robustcs.wording import counted

_FORMATS = "write TSV (id and query), JSONL, JSON {turn: text}, CAsT topic JSON or CANARD JSON"

#: The texts of a turn: one, or several samples of a rewriter.
Samples = tuple[str, ...]


def read_texts(path: StrPath, role: Role, column: str | None = None) -> dict[str, str]:
    """Return turn id → text without surrounding white space, in file order.

    If a turn has several samples, the text is the first. ``column`` names a column or field, or a
    formulation (``original``, ``qr``, ``human``, ``raw``, ``manual``) if the file has no column of
    that name. By default, ``role`` selects it if the format has several formulations; else it is
    the first of :data:`~robustcs.inputs.file_formats.TEXT_NAMES`. A turn of a topic file without
    the field is not in the result.

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
    remaining: dict[str, Samples] = {}
    for turn, texts in samples.items():
        not_empty = tuple(text for text in texts if text)
        if not_empty:
            remaining[turn] = not_empty
    return remaining


class _Records(NamedTuple):
    """The format of a file, its records, and the line of its column names, if it has them."""

    text_format: TextFormat
    records: list[Record]
    header: int | None


class _Contents(NamedTuple):
    """The format of a file, its records, turns and problems, and the line of its column names."""

    text_format: TextFormat
    records: list[Record]
    entries: list[Entry]
    problems: RowProblems
    header: int | None


class TextFile:
    """A file of texts, read once for any number of formulations.

    Raises :class:`InputError` as :func:`read_texts` does.
    """

    def __init__(self, path: StrPath):
        self.path = path

    def texts(self, role: Role, column: str | None = None) -> dict[str, str]:
        """Return the texts of one formulation: see :func:`read_texts`."""
        samples_by_turn = self.samples(role, column)
        return {turn: samples[0] for turn, samples in samples_by_turn.items() if samples[0]}

    def role(self, *order: Role) -> Role:
        """Return the first formulation of ``order`` in the file.

        If its format does not tell, return the first of ``order``.
        """
        refuse_other_kinds(self.path, "texts")
        formulations = self._formulations
        for role in order:
            if role in formulations:
                return role
        return order[0]

    @property
    def is_rewrites(self) -> bool:
        """Whether the file contains the output of a rewriter, not only what it rewrote."""
        qr_field = self._formulations.get("qr")
        human_field = self._formulations.get("human")
        return qr_field in self._contents.text_format.sampled and qr_field != human_field

    @property
    def _formulations(self) -> dict[Role, str]:
        """Formulation → the field that contains it."""
        contents = self._contents
        fields = {name for entry in contents.entries for name in entry.fields}
        return contents.text_format.formulations(fields)

    def notes(self, role: Role, column: str | None = None) -> tuple[str, ...]:
        """Return a note if turns have several samples."""
        most = max(map(len, self.samples(role, column).values()), default=1)
        if most == 1:
            return ()
        return (f"{Path(self.path).name} has up to {most} texts for a turn; the first is used",)

    def history(self) -> dict[str, Sequence[Utterance]]:
        """Return turn → the messages before it; empty if the file does not tell them."""
        contents = self._contents
        told = contents.text_format.history
        if told is None:
            return {}
        return {
            id_text(turn): before for turn, before in told(contents.records) if is_turn_id(turn)
        }

    def samples(self, role: Role, column: str | None = None) -> dict[str, Samples]:
        """Return all texts of one formulation; the result must not be changed.

        See :func:`read_samples`.
        """
        return read_once(self._read, self.path, role, column)

    def _read(self, path: StrPath, role: Role, column: str | None) -> dict[str, Samples]:
        if column is None and not is_irds(path):
            refuse_other_kinds(path, "texts")
        text_format, _, entries, problems, header = self._contents
        texts = _Texts(path)
        texts.problems.take(problems)
        # the first turn has the fields of all, unless turns may have no text
        of_fields = entries if text_format.optional else entries[:1]
        there = dict.fromkeys(name for entry in of_fields for name in entry.fields)
        names = text_format.names(column, role, there)
        chosen = _first_in(names, there)
        may_be_lost = text_format.optional and bool(texts.problems.total)
        if chosen is None and entries and not may_be_lost:
            line = header or (None if text_format.optional else entries[0].line)
            wanted = column or next(iter(names), role)
            raise no_column(path, line, wanted, (name for name in there if name != "number"))

        candidates = names if text_format.optional or chosen is None else (chosen,)
        for turn, fields, line in entries:
            name = _first_in(candidates, fields)
            if text_format.optional and (name is None or fields[name] is None):
                continue
            if name is None:
                advice = "complete the row or delete it"
                texts.problems.skip(line, f"no field {chosen!r}", advice, "no-such-column")
                continue
            value = fields[name]
            if name in text_format.last and isinstance(value, list) and value:
                value = value[-1]
            has_samples = column is not None or name in text_format.sampled
            texts.add(turn, texts.samples(turn, value, line, has_samples), line)
        return texts.result()

    @cached_property
    def _contents(self) -> _Contents:
        problems = RowProblems(self.path)
        text_format, records, header = self._records(problems)
        broken = problems.skipped.total
        entries = list(text_format.entries(records, problems))
        has_records_of_several_turns = len(entries) > len(records)
        if broken and has_records_of_several_turns:
            # a lost record may contain any number of turns, so it is no single row to skip
            ProblemList.take(problems, problems.skipped)
        return _Contents(text_format, records, entries, problems, header)

    def _records(self, problems: RowProblems) -> _Records:
        """Return the records of the file; broken ones go to ``problems``.

        Raises :class:`InputError` for JSON without texts of turns, and for lines that are not
        ``id TAB text``.
        """
        if is_irds(self.path):
            return _Records(IRDS_QUERIES, irds_queries(os.fspath(self.path)), None)
        table = read_table(self.path)
        table_format = None if table is None else _format_of_table(table)
        if table is not None and table_format is not None:
            return _Records(table_format, list(_rows(table, problems)), table.line)
        shape = shape_of(self.path)
        if shape == "table":
            return _Records(PLAIN, list(_lines(self.path, problems)), None)
        records = list(json_records(self.path, problems))
        text_format = format_of(records[0].fields) if records else None
        if shape == "jsonl":
            return _Records(text_format or PLAIN, records, None)

        value = read_json(self.path, halves=True)
        # a turn of {turn: text} may have the name of a field
        may_be_by_turn = text_format is PLAIN and isinstance(value, dict)
        if text_format and not may_be_by_turn:
            return _Records(text_format, records, None)
        if isinstance(value, dict) and (not value or _has_text(value)):
            return _Records(PLAIN, list(_records_by_turn(self.path)), None)
        what = "a value"
        if isinstance(value, dict):
            what = "an object"
        elif isinstance(value, list):
            what = "a list"
        problem = f"JSON, but {what} without texts of turns"
        raise input_error(self.path, None, problem, _FORMATS, "unknown-format")


class _Texts(ByTurn[Samples]):
    """The samples of every turn; if all samples of a turn were skipped, they are empty."""

    def __init__(self, path: StrPath):
        super().__init__(path)
        self._empty: dict[str, Samples] = {}

    def samples(self, turn: object, value: object, line: int | None, has_samples: bool) -> Samples:
        """Return the texts of a turn, empty for skipped ones.

        ``has_samples``: whether a list contains samples, rather than being no text.
        """
        values = value if has_samples and isinstance(value, list) and value else [value]
        return tuple(self.text(turn, sample, line) or "" for sample in values)

    def add(self, turn: object, value: Samples, line: int | None) -> None:
        """Keep the samples of ``turn``, at least one of which has a text."""
        if any(value):
            super().add(turn, value, line)
        elif is_turn_id(turn):
            self._empty[str(turn).strip()] = value

    def result(self) -> dict[str, Samples]:
        """Return the samples by turn, turns without any text last.

        Raises as :meth:`ByTurn.result` does.
        """
        samples = super().result()
        without_text = {turn: empty for turn, empty in self._empty.items() if turn not in samples}
        return samples | without_text


def _first_in(names: Iterable[str], there: Container[str]) -> str | None:
    return next((name for name in names if name in there), None)


def _has_text(by_turn: Mapping[str, object]) -> bool:
    return any(isinstance(text, str) for text in by_turn.values())


def _records_by_turn(path: StrPath) -> Iterator[Record]:
    """Yield the records of one JSON object ``{turn: text}``."""
    for place, (turn, text) in enumerate(json_pairs(path), 1):
        yield Record(None, place, {"id": turn, "text": text})


def _rows(table: TableFile, problems: ProblemList) -> Iterator[Record]:
    """Yield the records of a table; its columns are found as written, and in lower case."""
    for place, (line, fields) in enumerate(table.rows(problems), 1):
        in_lower_case = {name.lower(): value for name, value in fields.items()}
        yield Record(line, place, in_lower_case | fields)


def _format_of_table(table: TableFile) -> TextFormat | None:
    """Return the format of a table.

    None for words in lines, and for TSV whose first line names no columns.
    """
    if table.separator == " ":  # a text has spaces
        return None
    text_format = format_of(dict.fromkeys((*table.columns, *table.names), ""))
    if text_format is not None:
        return text_format
    names_columns = table.separator != "\t" or not set(table.names).isdisjoint(ID_NAMES)
    return PLAIN if names_columns else None  # the user may name its columns


def _lines(path: StrPath, problems: RowProblems) -> Iterator[Record]:
    """Yield the records of lines ``id TAB text``; lines of another width go to the problems.

    Raises :class:`InputError` if the first line has another width.
    """
    place = 0
    for number, line in filled_lines(path):
        cells = line.split("\t")
        if len(cells) == 1 and not place:
            raise input_error(path, number, "not a file of texts", _FORMATS, "unknown-format")
        if len(cells) != 2 and not place:
            problem = (
                f"{counted(len(cells), 'column')}, but no header line that names one of"
                f" {', '.join(ID_NAMES)}"
            )
            advice = "add a header line, or write id TAB text only"
            raise input_error(path, number, problem, advice, "wrong-columns")
        if fits(number, cells, 2, problems, "\t", "a file without a header line has 2 (id, text)"):
            place += 1
            yield Record(number, place, {"id": cells[0], "text": cells[1]})
