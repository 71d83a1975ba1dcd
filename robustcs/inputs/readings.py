"""What was read from files.

These are skipped rows, contents that are kept while several studies need them, and several files
read as one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from robustcs.errors import MAX_PROBLEMS, InputError, Problem
from robustcs.inputs.paths import MemoryFile, PooledFile, StrPath
from robustcs.inputs.text import text_lines
from robustcs.wording import Note, and_more, counted, some_of

T = TypeVar("T")


@dataclass(frozen=True)
class Skipped:
    """The skipped rows of a file: ``count`` of ``rows``.

    ``what`` names the rows (texts, answers and so on).
    """

    count: int
    rows: int
    what: str
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        """Return a summary such as ``1 of 332 texts empty``."""
        are_empty = all(problem.slug in ("empty-text", "no-answer") for problem in self.problems)
        state = "empty" if are_empty else "unusable"
        return f"{self.count:,} of {self.rows:,} {self.what} {state}"


#: File → the rows that its last reading skipped, until they are taken.
SKIPPED: dict[str, Skipped] = {}


def take_skipped(path: StrPath, strict: bool) -> Skipped | None:
    """Return what the last reading of ``path`` skipped, or None; each reading is reported once.

    Raises :class:`InputError` with the skipped rows if ``strict``.
    """
    skipped = SKIPPED.pop(os.fspath(path), None)
    if skipped and strict:
        raise InputError(skipped.problems, skipped.count)
    return skipped


#: Rows of runs that are kept, in all: about 100 MB.
_MOST = 2_000_000
#: Reader, file and settings → what was read, and the rows that were skipped; None: nothing is kept.
_read: dict[Any, tuple[Any, dict[str, Skipped]]] | None = None
#: Number of rows of runs that are kept.
_rows = 0


@contextmanager
def reading_once() -> Iterator[None]:
    """Keep what :func:`read_once` reads, for work that needs the same files several times.

    Such work is a report. Within another call, that one keeps them.
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
    read: Callable[..., T],
    path: StrPath,
    *settings: Any,
    rows: Callable[[T], int] = lambda content: 0,
) -> T:
    """Return ``read(path, *settings)``, within :func:`reading_once` what an earlier call returned.

    The result must not be changed. Its skipped rows are reported each time, as
    :func:`take_skipped` expects. ``rows``: the number of rows of a run; only :data:`_MOST` are
    kept.
    """
    global _rows
    if _read is None or not _is_on_disk(path):
        return read(path, *settings)
    key = (read, path, *settings)
    if key not in _read:
        content = read(path, *settings)
        if _rows + rows(content) > _MOST:
            return content
        _rows += rows(content)
        name = os.fspath(path)
        _read[key] = content, {name: SKIPPED[name]} if name in SKIPPED else {}
    content, skipped = _read[key]
    SKIPPED.update(skipped)
    return content


def _is_on_disk(path: StrPath) -> bool:
    """Return whether a path names one file on the disk; objects of Python programs share names."""
    is_path = isinstance(path, str | type(Path()))
    return is_path and not isinstance(path, MemoryFile | PooledFile)


def keeps_readings() -> bool:
    """Return whether :func:`read_once` keeps what it reads."""
    return _read is not None


# ---------------------------------------------------------------- several files read as one
#: Advice for files that contradict each other.
CLASH = (
    "keep one of the two; if two collections use the same ids, add a prefix to the ids of one of"
    " them in all its files"
)


def conflict(
    path: StrPath, what: str, value: str, other: StrPath, other_value: str, *cells: str
) -> Problem:
    """Return the problem that two files contradict each other.

    ``what`` has ``value`` in ``path``, but ``other_value`` in ``other``. The line of a file is the
    first that contains its value and ``cells``.
    """
    other_place = os.fspath(other)
    other_line = line_with(other, other_value, *cells)
    if other_line is not None:
        # files in memory word their places themselves
        if hasattr(other, "place"):
            other_place = other.place(other_line)
        else:
            other_place = f"{other_place}:{other_line}"
    problem = f"{what} {_quoted(value)} here but {_quoted(other_value)} in {other_place}"
    return Problem(path, line_with(path, value, *cells), problem, CLASH, "contradicting-files")


def _quoted(value: str) -> str:
    """Return a value for a message: numbers without quotes."""
    return value if value.lstrip("-").isdigit() else repr(value)


def line_with(path: StrPath, *cells: str) -> int | None:
    """Return the first line that contains all of ``cells``, for messages; None if there is none."""
    whole_words = [re.compile(rf"(?<!\w){re.escape(cell)}(?!\w)") for cell in cells]
    try:
        for number, line in text_lines(path):
            if all(cell.search(line) for cell in whole_words):
                return number
    except (InputError, OSError):
        return None
    return None


class Union(dict[str, T]):
    """The joined content of several files; ``parts`` are the numbers of entries of each."""

    parts: tuple[int, ...] = ()


def rows_of(read: Sized) -> int | tuple[int, ...]:
    """Return the number of rows that were read, or a tuple with that of each file."""
    return getattr(read, "parts", ()) or len(read)


class _Contradiction(NamedTuple, Generic[T]):
    """A turn with different texts in two files."""

    turn: str
    path: StrPath
    text: T
    earlier_path: StrPath
    earlier_text: T

    def problem(self) -> Problem:
        """Return the problem, with both files and texts."""
        what = f"turn {self.turn} has the text"
        text, earlier_text = _as_one_text(self.text), _as_one_text(self.earlier_text)
        return conflict(self.path, what, text, self.earlier_path, earlier_text)


def union_of_texts(files: Iterable[tuple[StrPath, Mapping[str, T]]]) -> Union[T]:
    """Return turn → text (or texts) of several files.

    Raises :class:`InputError` for turns with different texts, with both files and texts.
    """
    union: Union[T] = Union()
    file_of: dict[str, StrPath] = {}
    contradictions: list[_Contradiction[T]] = []
    parts = []
    for path, texts in files:
        parts.append(len(texts))
        for turn, text in texts.items():
            earlier_text = union.setdefault(turn, text)
            earlier_path = file_of.setdefault(turn, path)
            if earlier_text != text:
                contradictions.append(_Contradiction(turn, path, text, earlier_path, earlier_text))
    if contradictions:
        listed = [contradiction.problem() for contradiction in contradictions[:MAX_PROBLEMS]]
        raise InputError(listed, len(contradictions))
    union.parts = tuple(parts)
    return union


def texts_in_order(
    files: Iterable[tuple[StrPath, Mapping[str, T]]], whose: str
) -> tuple[dict[str, T], list[str]]:
    """Return turn → text (or texts) of several files, and notes.

    The text of the first file counts. There is a note for each file whose texts differ from earlier
    ones; ``whose``: the owner of the texts in it.
    """
    union: dict[str, T] = {}
    notes: list[str] = []
    for path, texts in files:
        different = [turn for turn, text in texts.items() if union.setdefault(turn, text) != text]
        if different:
            notes.append(_note_on_different_texts(os.path.basename(path), different, whose))
    return union, notes


def _note_on_different_texts(name: str, turns: Sequence[str], whose: str) -> str:
    number = counted(len(turns), "turn")
    listed = f"{some_of(turns)}{and_more(len(turns), 5)}"
    used = "the text of the earlier file is used"
    alone = f"{name} has a different text for {number} of {whose} ({listed}); {used}"
    return Note.of(whose, f"{number}: {listed}", f"{name} has different texts; {used}", alone)


def _as_one_text(text: object) -> str:
    """Return a text, or all samples joined."""
    return text if isinstance(text, str) else " / ".join(text)  # type: ignore[arg-type]
