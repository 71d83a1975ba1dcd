"""Runs in tables and in JSON, row by row: every row is checked, and what is wrong is told with its line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.ids import Ids
from robustcs.inputs.json_records import json_records
from robustcs.inputs.numbers import finite_number, whole_number
from robustcs.inputs.records import decimal_number, is_turn_id
from robustcs.inputs.run_formats import run_format_of
from robustcs.inputs.tables import RANK_NAMES, SCORE_NAMES, Table, read_table
from robustcs.inputs.trec_lines import RUN_COLUMNS

_LARGEST_RANK = 10**9

#: Turns, each once; the turn's code, the document, the score and, where asked for, the rank of every row, in file order.
Columns = tuple[tuple[str, ...], npt.NDArray[np.int32], Ids, npt.NDArray[np.float64], npt.NDArray[np.int64] | None]


class _Row(NamedTuple):
    """One passage, unchecked; a score or a rank of None is not given."""

    turn: object
    document: object
    score: object
    rank: object
    line: int | None


def checked_rows(path: str | os.PathLike[str], shape: str, ranks: bool) -> Columns:
    """The rows of a run of JSON (``shape`` json) or in a table with a line of names (table).

    Raises :class:`InputError` with every malformed row (bounded), or when there is none.
    """
    read: Any = _from_json if shape == "json" else _from_table
    problems = ProblemList(path)
    codes: dict[str, int] = {}
    rows: list[tuple[int, str, float, int]] = []
    counts: dict[int, int] = {}
    for row in read(path, problems):
        if not is_turn_id(row.turn):
            problems.add(row.line, "no turn id", "give every passage its turn, such as 31_4", "no-turn-id")
            continue
        turn = str(row.turn).strip()
        if not is_turn_id(row.document):
            problems.add(row.line, f"turn {turn}: a passage without an id", "give every passage its id", "no-passage-id")
            continue
        code = codes.setdefault(turn, len(codes))
        counts[code] = place = counts.get(code, 0) + 1
        # the ranks of real runs are not trusted, nor read where nobody needs them
        rank = place if row.rank is None or not (ranks or row.score is None) else _whole(row.rank)
        score = (None if rank is None else -float(rank)) if row.score is None else _number(row.score)
        if score is None or rank is None:
            what, value, wanted = ("rank", row.rank, "whole") if rank is None else ("score", row.score, "decimal")
            problems.add(
                row.line, f"turn {turn} passage {row.document}: {what} {str(value)[:40]!r} is not a {wanted} number",
                f"write a {wanted} number", "not-a-number",
            )  # fmt: skip
            continue
        rows.append((code, str(row.document).strip(), score, rank))
    problems.raise_if_any()
    if not rows and read is _from_table:
        advice = f"a run has lines of: {' '.join(RUN_COLUMNS)}"
        raise input_error(path, None, "the file has no rows", advice, "empty")
    if not rows:
        raise input_error(path, None, "the file has no passages", "check the path", "empty")
    turn_codes, documents, scores, places = zip(*rows, strict=True)
    return (
        tuple(codes), np.array(turn_codes, np.int32), Ids.of(documents), np.array(scores, np.float64),
        np.array(places, np.int64) if ranks else None,
    )  # fmt: skip


def _number(value: object) -> float | None:
    """A finite number, or the one that a text says."""
    return decimal_number(value.strip()) if isinstance(value, str) else finite_number(value)


def _whole(value: object) -> int | None:
    """A whole number, or the one that a text says; a row's rank fits into a float without loss."""
    if isinstance(value, str):
        return whole_number(value.strip(), _LARGEST_RANK)
    number = finite_number(value)
    return int(number) if number is not None and number == int(number) and abs(number) <= _LARGEST_RANK else None


def _from_table(path: str | os.PathLike[str], problems: ProblemList) -> Iterator[_Row]:
    table = read_table(path)
    assert isinstance(table, Table)
    turn, document, score, rank = table.turn, table.document, table.find(SCORE_NAMES), table.find(RANK_NAMES)
    assert turn is not None and document is not None
    for line, cells in table.cells(problems):
        yield _Row(
            cells[turn], cells[document], None if score is None else _given(cells[score]),
            None if rank is None else _given(cells[rank]), line,
        )  # fmt: skip


def _given(cell: object) -> object:
    """The cell; an empty one is a text, and no number."""
    return "" if cell is None else cell


def _from_json(path: str | os.PathLike[str], problems: ProblemList) -> Iterator[_Row]:
    """The passages of every turn; where one of them has no score, the order of the file counts for the turn."""
    records = list(json_records(path, problems))
    kind = run_format_of(records[0].fields) if records else None
    for turn, passages, line in kind.turns(records, problems) if kind else ():
        ordered = any(score is None for _, score in passages)
        for document, score in _distinct(passages) if ordered else passages:
            yield _Row(turn, document, None if ordered else score, None, line)


def _distinct(passages: Iterable[tuple[object, object]]) -> Iterator[tuple[object, object]]:
    """Each passage where it stands first."""
    seen: set[str] = set()
    for document, score in passages:
        if repr(document) not in seen:
            seen.add(repr(document))
            yield document, score
