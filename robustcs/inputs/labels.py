"""The labels of a judge: qrels, a sheet or frame with named columns, or JSONL; detected by content.

A judge is the source of a file: a model, a second assessor, or the same assessors at another time. Some judges label texts
instead of ids (umbrela): such labels are matched to ids by their exact texts, and rejected if a text has two ids.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.errors import ProblemList, UsageError, input_error
from robustcs.inputs.collection import read_passage_ids
from robustcs.inputs.columns import plain_chunks
from robustcs.inputs.heads import HEAD
from robustcs.inputs.ids import MAX_GRADE
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import StrPath
from robustcs.inputs.qrels import Qrels, qrels_of_rows, read_qrels
from robustcs.inputs.readings import line_with
from robustcs.inputs.records import json_lines, shape_of
from robustcs.inputs.tables import (
    DOCUMENT_NAMES,
    GRADE_NAMES,
    TURN_NAMES,
    Row,
    TableFile,
    csv_rows,
    find_column,
    read_table,
)
from robustcs.inputs.text import id_text, whole_of
from robustcs.messages import Message, OptionName
from robustcs.stored import unsealed

#: The form of a line of ``robustcs judge --with``; lines of version 0.1.0 have none.
JUDGMENT = "robustcs judgment 1"

#: Fields of umbrela: texts in place of ids, and whether the judgment was parsed from the answer (0: the parser's fallback).
QUERY, PASSAGE, STATUS = "query", "passage", "result_status"

#: Names of the columns and fields; ``passage`` is a text here.
_NAMES = (TURN_NAMES, tuple(name for name in DOCUMENT_NAMES if name != PASSAGE), GRADE_NAMES)

_FORMS = "write qrels, a table with columns turn, document and grade, or JSONL with query, passage and judgment"


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of one judge.

    qrels
        The labels, each pair once.
    unlabelled
        Number of rows without a grade.
    fallback
        Number of labels for unreadable answers (``result_status`` 0); they are not grades and are skipped.
    unknown
        Number of skipped labels for texts of no turn or no passage.
    lines
        int64[n]: the line of each label in the file; None if it must be looked up.
    """

    qrels: Qrels
    unlabelled: int = 0
    fallback: int = 0
    unknown: int = 0
    lines: npt.NDArray[np.int64] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.qrels)

    def line(self, path: StrPath, place: int) -> int | None:
        """Return the line of the label at ``place``, for a message; None if there are no lines."""
        if self.lines is not None:
            return int(self.lines[place]) or None
        return line_with(
            path, self.qrels.turns[self.qrels.turn_codes[place]], self.qrels.ids[place]
        )


@dataclass(frozen=True)
class LabelTexts:
    """The texts that match labels for texts to ids.

    queries
        Formulation → turn → text: the texts that a judge may have seen.
    collection
        The file of passage texts.
    """

    queries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    collection: Path | None = None


#: Line (0 without lines), turn, document, raw grade.
_Row = tuple[int, Any, Any, Any]


def read_labels(path: StrPath, texts: Callable[[], LabelTexts] | None = None) -> Labels:
    """Read the labels of one judge from qrels, a table with a header line, JSONL, or a JSON list.

    ``texts`` is called if labels are for texts instead of ids.

    Raises :class:`InputError` for malformed rows, grades that are not whole numbers, contradictions, and texts with two ids;
    :class:`UsageError` if labels for texts are read without the texts.
    """
    if plain_chunks(path, "qrels", HEAD):
        return Labels(read_qrels(path))
    problems, shape = ProblemList(path), shape_of(path)
    if shape == "table":
        table = read_table(path)
        if (
            table is None
            or len(table.columns) < 3
            or any(table.find(names) is None for names in _NAMES)
        ):
            return Labels(read_qrels(path))
        found = list(_cells(path, table, problems))
    elif shape == "jsonl":
        found = list(judged_lines(path, problems))
    else:
        found = [(0, record.fields) for record in json_records(path, problems)]
    problems.raise_if_any()
    if not found:
        raise input_error(path, None, "the file has no labels", _FORMS, "empty")
    read = [(line, record) for line, record in found if not _is_fallback(record.get(STATUS))]
    fields, unknown = list(found[0][1]), 0
    turn, document, grade = (find_column(fields, names) for names in _NAMES)
    if turn and document and grade:
        rows: Iterable[_Row] = (
            (line, one.get(turn), one.get(document), one.get(grade)) for line, one in read
        )
    elif grade and {QUERY, PASSAGE} <= set(fields):
        rows, unknown = _joined(path, read, grade, (texts or LabelTexts)(), problems)
    else:
        there = f"no labels; the fields are: {', '.join(fields)[:200]}"
        raise input_error(path, found[0][0] or None, there, _FORMS, "no-labels")
    return _labels(path, rows, problems, len(found) - len(read), unknown)


def _cells(path: StrPath, table: TableFile, problems: ProblemList) -> Iterator[Row]:
    """Yield the rows of a table; rows of CSV may be short, because spreadsheets drop empty cells at the end of a row.

    ``judge --export`` puts an apostrophe before ids that a spreadsheet would change.
    """
    is_csv = table.separator in (",", ";")
    for line, cells in (
        csv_rows(path, table.separator, problems) if is_csv else table.cells(problems)
    ):
        if line > table.line:
            values = (
                cell.strip().removeprefix("'") if isinstance(cell, str) else cell for cell in cells
            )
            yield (
                line,
                {
                    **dict.fromkeys(table.columns, ""),
                    **dict(zip(table.columns, values, strict=False)),
                },
            )


def judged_lines(path: StrPath, problems: ProblemList) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the lines of :func:`~robustcs.inputs.records.json_lines`; a changed line of ``judge --with`` is a problem."""
    for line, record in json_lines(path, problems):
        try:
            yield (
                line,
                unsealed(JUDGMENT, record) if {"judge", "sha256"} <= record.keys() else record,
            )
        except ValueError as error:
            problems.add(
                line, str(error), "delete the line and run the judge again", "changed-judgment"
            )


# ---------------------------------------------------------------- texts in place of ids
def _joined(
    path: StrPath,
    records: Sequence[tuple[int, dict[str, Any]]],
    grade: str,
    texts: LabelTexts,
    problems: ProblemList,
) -> tuple[list[_Row], int]:
    """Return the labels with ids, and the number of labels whose text belongs to no turn or passage."""
    if not any(texts.queries.values()) or texts.collection is None:
        lacking = (
            Message("name the texts of the turns: ", OptionName("rewrites", "ROLE=FILE"))
            if texts.collection
            else Message("name the passages: ", OptionName("collection", "FILE"))
        )
        raise UsageError("no-texts", f"{path} has labels for texts, not for ids", lacking)
    turns: dict[str, set[str]] = {}
    for formulation in texts.queries.values():
        for turn, query in formulation.items():
            turns.setdefault(query.strip(), set()).add(turn)
    wanted = {text.strip() for _, record in records if isinstance(text := record.get(PASSAGE), str)}
    passages = read_passage_ids(texts.collection, wanted)
    rows: list[_Row] = []
    unknown = 0
    for line, record in records:
        ids = [
            _id_of(line, name, record.get(name), known, problems)
            for name, known in ((QUERY, turns), (PASSAGE, passages))
        ]
        if all(ids):
            rows.append((line, ids[0], ids[1], record.get(grade)))
        unknown += not all(ids)
    problems.raise_if_any()
    if not rows:
        found = "no label has the texts of both a turn and a passage"
        advice = f"give the texts that the judge saw; passages were looked up in {texts.collection}"
        raise input_error(path, None, found, advice, "no-labels")
    return rows, unknown


def _id_of(
    line: int, name: str, text: object, known: Mapping[str, Collection[str]], problems: ProblemList
) -> str:
    """Return the id of the text; empty if there is none, or if there are two, which is a problem."""
    if not isinstance(text, str):
        problems.add(line or None, f"{name} is not a text", "write it in quotes", "not-a-text")
        return ""
    same = sorted(known.get(text.strip(), ()))
    if len(same) > 1:
        found = f"{name} {text.strip()[:60]!r} is the text of both {same[0]} and {same[1]}"
        problems.add(
            line or None,
            found,
            "write ids in the labels, because the text is ambiguous",
            "ambiguous-text",
        )
    return same[0] if same else ""


# ---------------------------------------------------------------- one label per pair
def _is_fallback(status: object) -> bool:
    return status is False or whole_of(status, 1) == 0


def _labels(
    path: StrPath, rows: Iterable[_Row], problems: ProblemList, fallback: int = 0, unknown: int = 0
) -> Labels:
    found: list[tuple[str, str, int]] = []
    lines: list[int] = []
    unlabelled = 0
    for line, turn, document, cell in rows:
        pair = id_text(turn), id_text(document)
        grade = whole_of(cell, MAX_GRADE)
        if not all(pair):
            problems.add(
                line or None, "no turn id" if not pair[0] else "no document id", _FORMS, "no-id"
            )
        elif cell is None or cell == "":
            unlabelled += 1
        elif grade is None:
            advice = (
                "write small whole numbers such as 0 to 4; convert probabilities to grades first"
            )
            problems.add(
                line or None, f"grade {str(cell)[:40]!r} is not a grade", advice, "bad-grade"
            )
        else:
            found.append((*pair, grade))
            lines.append(line)
    problems.raise_if_any()
    if not found:
        raise input_error(path, None, "no row has a grade", _FORMS, "empty")
    qrels, counted = qrels_of_rows(
        Path(path).name, found, path, [line or None for line in lines], "label"
    )
    return Labels(qrels, unlabelled, fallback, unknown, np.array(lines, dtype=np.int64)[counted])
