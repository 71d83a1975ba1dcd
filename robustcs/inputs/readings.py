"""What was read from files: skipped rows, contents that are kept while several studies need them,
and files read as one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from robustcs.errors import MAX_PROBLEMS, InputError, Problem
from robustcs.inputs.paths import MemoryFile, PooledFile, StrPath
from robustcs.inputs.text import text_lines
from robustcs.wording import Note, and_more, counted, some_of

T = TypeVar("T")


@dataclass(frozen=True)
class Skipped:
    """The skipped rows of a file: ``count`` of ``rows``; ``what`` names the rows (texts, answers
    and so on).
    """

    count: int
    rows: int
    what: str
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        """Return a summary such as ``1 of 332 texts empty``."""
        empty = all(problem.slug in ("empty-text", "no-answer") for problem in self.problems)
        return f"{self.count:,} of {self.rows:,} {self.what} {'empty' if empty else 'unusable'}"


#: File → the rows that its last reading skipped, until they are taken.
SKIPPED: dict[str, Skipped] = {}


def take_skipped(path: StrPath, strict: bool) -> Skipped | None:
    """Return what the last reading of ``path`` skipped, or None; each reading is reported once.

    Raises :class:`InputError` with the skipped rows if ``strict``.
    """
    found = SKIPPED.pop(os.fspath(path), None)
    if found and strict:
        raise InputError(found.problems, found.count)
    return found


#: Rows of runs that are kept, in all: about 100 MB.
_MOST = 2_000_000
#: Reader, file and settings → what was read, and the rows that were skipped; None: nothing is kept.
_read: dict[Any, tuple[Any, dict[str, Skipped]]] | None = None
_rows = 0


@contextmanager
def reading_once() -> Iterator[None]:
    """Keep what :func:`read_once` reads, for work that needs the same files several times, such as
    a report.

    Within another call, that one keeps them.
    """
    global _read, _rows
    if _read is not None:
        yield
        return
    _read, _rows = {}, 0
    try:
        yield
    finally:
        _read = None


def read_once(
    read: Callable[..., T], path: StrPath, *settings: Any, rows: Callable[[T], int] = lambda made: 0
) -> T:
    """Return ``read(path, *settings)``, within :func:`reading_once` what an earlier call returned.

    The result must not be changed. Its skipped rows are reported each time, as :func:`take_skipped`
    expects. ``rows``: the number of rows of a run; only :data:`_MOST` are kept.
    """
    global _rows
    if (
        _read is None
        or not isinstance(path, str | type(Path()))
        or isinstance(path, MemoryFile | PooledFile)
    ):
        return read(path, *settings)  # objects of Python programs share names
    key = (read, path, *settings)
    if key not in _read:
        made, name = read(path, *settings), os.fspath(path)
        if _rows + rows(made) > _MOST:
            return made
        _rows += rows(made)
        _read[key] = made, {name: SKIPPED[name]} if name in SKIPPED else {}
    found, skipped = _read[key]
    SKIPPED.update(skipped)
    return found  # type: ignore[no-any-return]


def keeps_readings() -> bool:
    """Return whether :func:`read_once` keeps what it reads."""
    return _read is not None


# ---------------------------------------------------------------- several files read as one
#: Advice for files that contradict each other.
CLASH = "keep one of the two; if two collections use the same ids, add a prefix to the ids of one of them in all its files"


def conflict(
    path: StrPath, what: str, value: str, other: StrPath, other_value: str, *cells: str
) -> Problem:
    """Return the problem that two files contradict each other; a line of each contains its value
    and ``cells``.
    """
    there, line = os.fspath(other), line_with(other, other_value, *cells)
    if line is not None:
        there = getattr(other, "place", lambda number: f"{there}:{number}")(line)
    found = f"{what} {_quoted(value)} here but {_quoted(other_value)} in {there}"
    return Problem(path, line_with(path, value, *cells), found, CLASH, "contradicting-files")


def _quoted(value: str) -> str:
    return value if value.lstrip("-").isdigit() else repr(value)


def line_with(path: StrPath, *cells: str) -> int | None:
    """Return the first line that contains all of ``cells``, for messages; None if there is none."""
    wanted = [re.compile(rf"(?<!\w){re.escape(cell)}(?!\w)") for cell in cells]
    try:
        return next(
            (
                number
                for number, line in text_lines(path)
                if all(one.search(line) for one in wanted)
            ),
            None,
        )
    except (InputError, OSError):
        return None


class Union(dict[str, T]):
    """The joined content of several files; ``parts`` are the numbers of entries of each."""

    parts: tuple[int, ...] = ()


def rows_of(read: Sized) -> int | tuple[int, ...]:
    """Return the number of rows that were read, or a tuple with that of each file."""
    return getattr(read, "parts", ()) or len(read)


def union_of_texts(files: Iterable[tuple[StrPath, Mapping[str, T]]]) -> Union[T]:
    """Return turn → text (or texts) of several files.

    Raises :class:`InputError` for turns with different texts, with both files and texts.
    """
    union: dict[str, tuple[StrPath, T]] = {}
    wrong, parts = [], []
    for path, texts in files:
        parts.append(len(texts))
        for turn, text in texts.items():
            other, known = union.setdefault(turn, (path, text))
            if known != text:
                wrong.append((path, turn, text, other, known))
    if wrong:
        problems = [
            conflict(path, f"turn {turn} has the text", _first(text), other, _first(known))
            for path, turn, text, other, known in wrong[:MAX_PROBLEMS]
        ]
        raise InputError(problems, len(wrong))
    found = Union({turn: text for turn, (_, text) in union.items()})
    found.parts = tuple(parts)
    return found


def texts_in_order(
    files: Iterable[tuple[StrPath, Mapping[str, T]]], whose: str
) -> tuple[dict[str, T], list[str]]:
    """Return turn → text (or texts) of several files, and a note for each file whose texts differ
    from earlier ones.
    """
    union: dict[str, T] = {}
    notes: list[str] = []
    for path, texts in files:
        other = [turn for turn, text in texts.items() if union.setdefault(turn, text) != text]
        if other:
            turns, some = counted(len(other), "turn"), f"{some_of(other)}{and_more(len(other), 5)}"
            name, used = os.path.basename(path), "the text of the earlier file is used"
            alone = f"{name} has a different text for {turns} of {whose} ({some}); {used}"
            notes.append(
                Note.of(whose, f"{turns}: {some}", f"{name} has different texts; {used}", alone)
            )
    return union, notes


def _first(text: object) -> str:
    """Return the text, or all samples joined."""
    return text if isinstance(text, str) else " / ".join(text)  # type: ignore[arg-type]
