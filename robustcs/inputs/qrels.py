"""Relevance judgments (qrels): ``turn iteration document grade``, one judged passage per line.

Also read: tables with column names (such as BEIR's), three columns, ``turn document grade`` (MS MARCO), and a further column
with the text of the question, if tabs separate the columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robustcs.errors import MAX_PROBLEMS, InputError, Problem, ProblemList, at_line, input_error
from robustcs.inputs.columns import (
    Column,
    Columns,
    Kind,
    Layout,
    kind_unless_plain,
    line_of_row,
    read_columns,
)
from robustcs.inputs.heads import first_lines
from robustcs.inputs.ids import MAX_GRADE, Ids, first_of_pairs, pair_keys
from robustcs.inputs.paths import PooledFile, StrPath, is_irds
from robustcs.inputs.readings import conflict
from robustcs.inputs.tables import GRADE_NAMES, SCORE_NAMES, read_table
from robustcs.inputs.text import filled_lines, whole_of
from robustcs.inputs.trec_lines import LINES, MS_MARCO, QRELS_COLUMNS, WITH_QUERIES, without_query
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import npt
from robustcs.messages import Message, OptionName
from robustcs.wording import Note, counted

_KINDS: dict[str, Kind] = {"turn": "label", "document": "text", "grade": "integer"}
_LAYOUT = Layout("qrels file", QRELS_COLUMNS, _KINDS, "write the four columns of qrels")
_THREE_COLUMNS = _LAYOUT._replace(columns=("turn", "document", "grade"))

#: Largest number of a table that is read as a grade, to say that it is out of range.
_MOST = 10**9

#: A few larger grades are noted if all others are at most half of it.
_MOST_USUAL = 10
#: What the note on such grades says.
FAR = "far above all others"

#: Largest grade in three columns; larger numbers are ranks.
_MOST_IN_THREE = 4


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judgments in columns: n judged (turn, document) pairs, each once.

    turns
        The turn ids, each once, in order of first appearance.
    turn_codes
        int32[n], index into ``turns``.
    ids
        The document id of every pair.
    grades
        int16[n]; pairs with negative grades are judged and not relevant.
    parts
        For several files: the number of rows and the turns of each.

    ``documents`` contains the document ids, each once, in order of first appearance; ``document_codes`` (int64[n]) indexes
    them.
    """

    name: str
    turns: tuple[str, ...]
    turn_codes: npt.NDArray[np.int32]
    ids: Ids
    grades: npt.NDArray[np.int16]
    notes: tuple[str, ...] = field(default=())
    parts: tuple[tuple[int, tuple[str, ...]], ...] = field(default=())

    @cached_property
    def _encoded(self) -> tuple[Ids, npt.NDArray[np.int64]]:
        return self.ids.encoded()

    @property
    def documents(self) -> Ids:
        """The document ids, each once."""
        return self._encoded[0]

    @property
    def document_codes(self) -> npt.NDArray[np.int64]:
        """int64[n], index into ``documents``."""
        return self._encoded[1]

    def __len__(self) -> int:
        return len(self.turn_codes)

    def rows(self) -> Iterator[tuple[str, str, int]]:
        """Iterate over turn, document and grade of every judgment."""
        turns = map(self.turns.__getitem__, self.turn_codes.tolist())
        return zip(turns, self.ids.texts(), self.grades.tolist(), strict=True)

    @property
    def sizes(self) -> int | tuple[int, ...]:
        """The number of judgments, or a tuple with that of each file."""
        return tuple(rows for rows, _ in self.parts) or len(self)

    @cached_property
    def by_turn(self) -> JudgedPairs:
        """The pairs in the order of their turns, for joining them with runs."""
        order = sorted(range(len(self.turns)), key=lambda code: turn_sort_key(self.turns[code]))
        row_of = np.empty(len(order), dtype=np.int64)
        row_of[order] = np.arange(len(order))
        rows = row_of[self.turn_codes]
        places = np.argsort(rows, kind="stable")
        rows, ids = rows[places], self.ids.take(places)
        starts = np.searchsorted(rows, np.arange(len(order) + 1))
        return JudgedPairs(
            tuple(self.turns[code] for code in order),
            rows,
            starts,
            ids,
            self.grades[places],
            pair_keys(rows, ids),
        )


class JudgedPairs(NamedTuple):
    """The judgments by turn, in natural order.

    rows
        int64[n], ascending: the turn of every pair; turn ``t`` has the pairs ``starts[t]:starts[t + 1]``.
    keys
        uint64[n]: :func:`robustcs.inputs.ids.pair_keys` of turn and document.
    """

    turns: tuple[str, ...]
    rows: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    ids: Ids
    grades: npt.NDArray[np.int16]
    keys: npt.NDArray[np.uint64]


def read_qrels(source: StrPath) -> Qrels:
    """Read judgments from a file, plain or compressed, or from ir_datasets (``irds:trec-cast/v1/2020/judged``).

    A pair that is judged twice with the same grade counts once, with a note. Different grades are a problem, because scores
    would depend on which line counts.

    Several files are merged under the same rule.

    Raises :class:`InputError` for malformed lines and contradictions, :class:`NotInstalledError` for ``irds:`` without
    that package.
    """
    if isinstance(source, PooledFile):
        return _union(source)
    if is_irds(source):
        from robustcs.inputs.formats import irds_judgments

        rows = irds_judgments(os.fspath(source))
        if not rows:
            raise input_error(source, None, "no judgments", "choose another subset", "empty")
        return qrels_of_rows(os.fspath(source), rows, source, [None] * len(rows))[0]
    found, chunks = kind_unless_plain(source, "qrels")
    name = Path(source).name
    if found is not None and "qrels" in found.kinds and found.shape == "table":
        rows, lines = checked_rows(source)
        return qrels_of_rows(name, rows, source, lines)[0]
    if found is not None and found.family == WITH_QUERIES:
        rows, lines = _rows_with_queries(source)
        return qrels_of_rows(name, rows, source, lines)[0]
    three = found is not None and found.family in MS_MARCO.values()
    columns = read_columns(source, _THREE_COLUMNS if three else _LAYOUT, chunks)
    if three and columns.numbers("grade").max() > _MOST_IN_THREE:
        told = "three columns, but the numbers are not grades"
        raise input_error(
            source, None, told, Message("use ranks with ", OptionName("run")), "other-kind"
        )
    qrels, _ = _from_columns(name, columns, source, lambda row: line_of_row(source, row))
    if not three:
        return qrels
    return replace(
        qrels,
        notes=(*qrels.notes, Note.of(name, "", "three columns, read as turn, document and grade")),
    )


def _rows_with_queries(path: StrPath) -> tuple[list[tuple[str, str, int]], list[int]]:
    """Return (turn, document, grade) of every row of qrels with a column of question texts, and its line."""
    place = without_query(first_lines(path)[:LINES])
    assert place is not None
    problems = ProblemList(path)
    rows, lines = [], []
    for line, text in filled_lines(path):
        cells = text.split("\t")
        turn, *_, document, grade = (
            [cell.strip() for cell in cells[:place] + cells[place + 1 :]]
            if len(cells) > 3
            else [""] * 3
        )
        value = whole_of(grade, _MOST)
        if value is None or not (turn and document):
            problems.add(
                line,
                f"{text[:40]!r} has no turn, document and grade",
                "write all columns, with tabs",
                "bad-row",
            )
            continue
        rows.append((turn, document, value))
        lines.append(line)
    problems.finish(rows, "rows")
    return rows, lines


def _union(source: PooledFile) -> Qrels:
    """Merge the judgments of several files."""
    parts = [read_qrels(file) for file in source.files]
    turns = tuple(dict.fromkeys(turn for part in parts for turn in part.turns))
    code_of = {turn: code for code, turn in enumerate(turns)}
    codes = np.concatenate(
        [
            np.array([code_of[turn] for turn in part.turns], np.int32)[part.turn_codes]
            for part in parts
        ]
    )
    ids, grades = (
        Ids.joined([part.ids for part in parts]),
        np.concatenate([part.grades for part in parts]),
    )
    notes = [note for part in parts for note in part.notes]
    file_of = np.repeat(np.arange(len(parts)), list(map(len, parts)))

    def clash(row: int, first: int) -> Problem:
        return conflict(
            source.files[file_of[row]], f"turn {turns[codes[row]]} document {ids[row]} has grade", str(grades[row]),
            source.files[file_of[first]], str(grades[first]), turns[codes[row]], ids[row],
        )  # fmt: skip

    keep = _each_once(codes, ids, grades, clash)
    kept = ids.take(keep)
    if len(kept) < len(ids):
        notes.append(
            f"{counted(len(ids) - len(kept), 'judgment')} in several qrels files counted once"
        )
    of_files = tuple((len(part), part.turns) for part in parts)
    return Qrels(str(source), turns, codes[keep], kept, grades[keep], tuple(notes), of_files)


def _each_once(
    codes: npt.NDArray[np.int32],
    ids: Ids,
    grades: npt.NDArray[np.int64],
    clash: Callable[[int, int], Problem],
) -> slice | npt.NDArray[np.int64]:
    """Return the index of the first row of every pair.

    Raises :class:`InputError` with the ``clash`` of each row that has another grade than the first row of its pair.
    """
    first = first_of_pairs(codes, ids)
    if first is None:
        return slice(None)
    wrong = np.flatnonzero(grades != grades[first])
    if len(wrong):
        raise InputError(
            [clash(row, int(first[row])) for row in wrong[:MAX_PROBLEMS].tolist()], len(wrong)
        )
    return np.flatnonzero(first == np.arange(len(first)))


def qrels_of_rows(
    name: str,
    rows: Sequence[tuple[str, str, int]],
    path: StrPath,
    lines: Sequence[int | None],
    what: str = "judgment",
) -> tuple[Qrels, slice | npt.NDArray[np.int64]]:
    """Return the judgments of rows (turn, document, grade), and the index of the rows that count; ``what`` names a row.

    Raises :class:`InputError` as :func:`read_qrels` does.
    """
    codes: dict[str, int] = {}
    turns = np.array([codes.setdefault(turn, len(codes)) for turn, _, _ in rows], dtype=np.int32)
    grades = np.array([grade for _, _, grade in rows], dtype=np.int64)
    values: dict[str, Column] = {
        "turn": turns,
        "document": Ids.of([document for _, document, _ in rows]),
        "grade": grades,
    }
    return _from_columns(
        name, Columns(values, tuple(codes), 0, False), path, lines.__getitem__, what
    )


def _from_columns(
    name: str,
    columns: Columns,
    path: StrPath,
    line: Callable[[int], int | None],
    what: str = "judgment",
) -> tuple[Qrels, slice | npt.NDArray[np.int64]]:
    """Return the judgments of columns, and which rows count; ``line`` maps a row to its line, for messages."""
    turn_codes, ids, grades = (
        columns.numbers("turn"),
        columns.ids("document"),
        columns.numbers("grade"),
    )
    extreme = np.flatnonzero(np.abs(grades) > MAX_GRADE)
    if len(extreme):
        found, advice = "grade {} is out of range", "write small whole numbers such as 0 to 4"
        rows = extreme[:MAX_PROBLEMS].tolist()
        raise InputError(
            [
                Problem(path, line(row), found.format(grades[row]), advice, "bad-grade")
                for row in rows
            ],
            len(extreme),
        )

    def clash(row: int, first: int) -> Problem:
        earlier = line(first)
        before = "before" if earlier is None else f"in {at_line(path, earlier)}"
        found = (
            f"turn {columns.labels[turn_codes[row]]} document {ids[row]} has grade {grades[row]}"
        )
        return Problem(
            path,
            line(row),
            f"{found} but grade {grades[first]} {before}",
            "keep one of the two",
            "contradicting-grades",
        )

    notes, keep = columns.notes(name), _each_once(turn_codes, ids, grades, clash)
    kept, grades = ids.take(keep), grades[keep]
    if len(kept) < len(ids):
        notes.append(
            Note.of(name, counted(len(ids) - len(kept), f"repeated {what}"), "counted once")
        )
    far = grades > _MOST_USUAL
    if (
        0 < (count := int(far.sum())) <= int((grades > 0).sum()) / 10
        and (most := grades[~far].max()) <= _MOST_USUAL / 2
    ):
        notes.append(
            f"{name}: {counted(count, what)} with a grade of up to {grades.max()}, {FAR} (at most {most})"
        )
    return Qrels(
        name, tuple(columns.labels), turn_codes[keep], kept, grades.astype(np.int16), tuple(notes)
    ), keep


def checked_rows(path: StrPath) -> tuple[list[tuple[str, str, int]], list[int]]:
    """Return (turn, document, grade) of every row, and its line.

    Raises :class:`InputError` with every malformed row (bounded), or if there are no rows.
    """
    table = read_table(path)
    assert table is not None
    grade = table.find((*GRADE_NAMES, *SCORE_NAMES))
    assert grade is not None
    problems = ProblemList(path)
    rows: list[tuple[str, str, int]] = []
    lines = []
    for line, turn, document, cells in table.passages(problems):
        value = whole_of(cells[grade], _MOST)
        if value is None:
            found = f"{table.columns[grade]} {str(cells[grade])[:40]!r} is not a whole number"
            problems.add(line, found, "write a whole number", "not-an-integer")
            continue
        rows.append((turn, document, value))
        lines.append(line)
    problems.finish(rows, "rows")
    return rows, lines
