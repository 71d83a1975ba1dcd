"""What was read from files: the rows that were skipped, and contents that are kept while several studies need them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from robustcs.errors import InputError, Problem
from robustcs.inputs.paths import MemoryFile, PooledFile, StrPath

T = TypeVar("T")


@dataclass(frozen=True)
class Skipped:
    """The skipped rows of a file: ``count`` of ``rows``; ``what`` names the rows (texts, answers and so on)."""

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
    """Keep what :func:`read_once` reads, for work that needs the same files several times, such as a report."""
    global _read, _rows
    _read, _rows = {}, 0
    try:
        yield
    finally:
        _read = None


def read_once(read: Callable[..., T], path: StrPath, *settings: Any, rows: Callable[[T], int] = lambda made: 0) -> T:
    """Return ``read(path, *settings)``, within :func:`reading_once` what an earlier call returned.

    The result must not be changed. Its skipped rows are reported each time, as :func:`take_skipped` expects. ``rows``: the
    number of rows of a run; only :data:`_MOST` are kept.
    """
    global _rows
    if _read is None or not isinstance(path, str | type(Path())) or isinstance(path, MemoryFile | PooledFile):
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
