"""Shared parts of the readers of texts and answers: the shape of a file, one value per turn, and skipped rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Generic, Literal, TypeVar

from robustcs.errors import InputError, Problem, ProblemList, at_line, input_error
from robustcs.inputs.heads import HEAD
from robustcs.inputs.paths import StrPath
from robustcs.inputs.readings import SKIPPED, Skipped
from robustcs.inputs.text import (
    HALF_CHARACTER,
    LONGEST_ID,
    LONGEST_LINE,
    LONGEST_TEXT,
    filled_lines,
    first_bytes,
    half_character,
    is_turn_id,
    is_whole,
    parse_json,
)

#: A text, or several of them.
T = TypeVar("T", str, tuple[str, ...])

#: Names of turn ids in a JSON object or the header of a table; the first one present counts.
ID_NAMES = ("id", "qid", "query_id", "turn_id", "turn", "_id", "sample_id", "query-id", "q_id")

#: Fields that show that an object on the only line of a file is a record.
_RECORD_NAMES = (*ID_NAMES, "topic_id", "topic_number", "question_id")

#: First bytes of Parquet.
PARQUET = b"PAR1"

Shape = Literal["json", "jsonl", "table"]

#: Longest text in characters. Comparing texts takes time quadratic in their length.
LONGEST_OF_TURN = 1_000_000


def shape_of(path: StrPath) -> Shape:
    """Return whether the file is one JSON value, JSONL, or a table (anything else), by its first lines.

    Raises :class:`InputError` for a file without text.
    """
    first = first_bytes(path, HEAD)
    if first.startswith(PARQUET):
        return "table"
    begins_as_json = first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))
    longest = LONGEST_TEXT if begins_as_json else LONGEST_LINE
    head = [line.lstrip() for _, line in islice(filled_lines(path, longest), 2)]
    if not head:
        raise input_error(path, None, "the file is empty", "check the path", "empty")
    if not head[0].startswith(("{", "[")):
        return "table"
    if len(head) == 1:
        fields = _object(head[0])
        # the only line is a record with a turn id, or an object of all turns
        return "jsonl" if fields and not fields.keys().isdisjoint(_RECORD_NAMES) else "json"
    # the second line of JSONL may be malformed
    return (
        "jsonl"
        if all(line.startswith("{") for line in head) or _object(head[0]) is not None
        else "json"
    )


def _object(line: str) -> dict[str, Any] | None:
    """Return the JSON object on a line; None for any other line."""
    try:
        value = parse_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def add_not_json(problems: ProblemList, number: int, error: Exception) -> None:
    """Note a line of a JSONL file that Python's parser rejected with ``error``."""
    problems.skip(
        number,
        f"not JSON ({getattr(error, 'msg', error)})",
        "write one JSON object per line",
        "not-json",
    )


def json_lines(
    path: StrPath, problems: ProblemList, halves: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of every line of a JSONL file; other lines go to ``problems``.

    ``halves`` is as in :func:`~robustcs.inputs.text.read_json`.
    """
    for number, line in filled_lines(path):
        try:
            record = parse_json(line)
        except ValueError as error:
            add_not_json(problems, number, error)
            continue
        if not isinstance(record, dict):
            problems.skip(
                number, "not a JSON object", "write one JSON object per line", "not-an-object"
            )
        elif not halves and half_character(line) is not None:
            problems.skip(number, *HALF_CHARACTER)
        else:
            yield number, record


class BadRowError(Exception):
    """The problem of a row: what was found, the advice and the slug. :func:`noted` turns it into a problem of the file."""


class UnusableRowError(BadRowError):
    """A row that is skipped if most others are usable."""


@contextmanager
def noted(problems: ProblemList, line: int | None) -> Iterator[None]:
    """Add a :class:`BadRowError` to the problems of the file."""
    try:
        yield
    except BadRowError as error:
        (problems.skip if isinstance(error, UnusableRowError) else problems.add)(line, *error.args)


class ByTurn(Generic[T]):
    """Collects one value per turn. The same value twice is fine, another value is a problem. ``what`` names the values."""

    def __init__(self, path: StrPath, what: str = "texts"):
        self.path = path
        self.problems = RowProblems(path, what)
        self.values: dict[str, T] = {}
        self._lines: dict[str, int | None] = {}

    def add(self, turn: object, value: T, line: int | None) -> None:
        """Keep ``value`` for the turn id ``turn``."""
        if not is_turn_id(turn):
            there = turn is not None and str(turn).strip()
            long = isinstance(turn, str) and len(turn) > LONGEST_ID
            found = (
                f"turn id {turn!r} is {'too long' if long else 'not a text'}"
                if there
                else "no turn id"
            )
            self.problems.skip(
                line, found, "add a turn id such as 31_4 to every entry", "no-turn-id"
            )
            return
        key = str(turn).strip()
        earlier = self.values.setdefault(key, value)
        first_line = self._lines.setdefault(key, line)
        if earlier != value:
            where = "earlier" if first_line is None else f"in {at_line(self.path, first_line)}"
            found = f"turn {key} has {_show(value)} here but {_show(earlier)} {where}"
            self.problems.add(line, found, "keep one of the two", "contradicting-entries")

    def text(
        self, turn: object, value: object, line: int | None, empty: bool = False
    ) -> str | None:
        """Return ``value`` without surrounding white space if it is a text; else note a problem. ``empty`` allows ''."""
        name = f"turn {turn}: " if is_turn_id(turn) else ""
        if not isinstance(value, str):
            slug = "empty-text" if value is None else "not-a-text"
            found, *more = f"{_as_json(value)} is not a text", "write a text in quotes", slug
        elif not is_whole(value):
            found, *more = HALF_CHARACTER
        elif len(value) > LONGEST_OF_TURN:
            advice = f"the limit is {LONGEST_OF_TURN:,}; check that this is the right column"
            found, *more = f"the text has {len(value):,} characters", advice, "too-long"
        elif not value.strip() and not empty:
            found, *more = "empty text", "write the text or remove the turn", "empty-text"
        else:
            return value.strip()
        self.problems.skip(line, f"{name}{found}", *more)
        return None

    def result(self) -> dict[str, T]:
        """Return the values in file order. Raises :class:`InputError` with all problems, or if there are no values."""
        self.problems.finish(self.values, "turns", sum(map(_texts, self.values.values())))
        return self.values


def _texts(value: str | tuple[str, ...]) -> int:
    """Return the number of texts; a skipped one of several is empty."""
    return 1 if isinstance(value, str) else len(list(filter(None, value)))


def _as_json(value: object) -> str:
    """Return the beginning of ``value`` as JSON, for a message."""
    try:
        import json

        return json.dumps(value)[:60]
    except RecursionError:
        return "a list in a list in a list …"


def _show(value: str | tuple[str, ...]) -> str:
    """Return the value in quotes for a message, shortened if it is long."""
    text = value if isinstance(value, str) else " | ".join(value)
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def no_column(path: StrPath, line: int | None, column: str, columns: Iterable[str]) -> InputError:
    """Return the error for a column or JSON field that the file does not have; it lists the existing ones."""
    found = f"no column {column!r}; the columns are: {', '.join(columns)}"
    return input_error(path, line, found, "choose one of them as FILE:COLUMN", "no-such-column")


#: Largest percentage of a file's rows that may be skipped.
MOST = 5

#: Skipped rows per file that are listed.
_LISTED = 1_000


class RowProblems(ProblemList):
    """The problems of a file that may skip some rows; ``what`` names its rows."""

    def __init__(self, path: StrPath, what: str = "rows"):
        super().__init__(path)
        self.what = what
        self.skipped = ProblemList(path, _LISTED)

    def skip(self, line: int | None, found: str, advice: str, slug: str) -> None:
        """Note a skipped row."""
        self.skipped.add(line, found, advice, slug)

    def take(self, other: ProblemList) -> None:
        """Add the problems of another list for the same file."""
        super().take(other)
        if isinstance(other, RowProblems):
            self.skipped.take(other.skipped)

    def raise_if_any(self, rows: int = 0) -> None:
        """Raise for problems other than single rows, or if more than :data:`MOST` percent are skipped; ``rows`` are usable."""
        path, count, every = os.fspath(self.path), self.skipped.total, self.skipped.total + rows
        SKIPPED.pop(path, None)
        listed = sorted(self.skipped.problems, key=_line)
        if 100 * count > MOST * every:
            listed = sorted([*listed, *self.problems], key=_line)
            if rows:
                found = f"{count:,} of {every:,} {self.what} cannot be used"
                advice = f"correct them: at most {MOST}% of a file may be skipped"
                listed.insert(0, Problem(self.path, None, found, advice, "unusable-rows"))
            raise InputError(listed, self.total + count + bool(rows))
        super().raise_if_any()
        if count:
            SKIPPED[path] = Skipped(count, every, self.what, tuple(listed))


def _line(problem: Problem) -> int:
    return problem.line or 0
