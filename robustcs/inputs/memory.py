"""Files that stand in memory: what a Python program gives in place of a file, in the form that its reader takes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    _SystemPath = Path
else:
    _SystemPath = type(Path())  # each system has a class of its own, and only that one can be made


class MemoryFile(_SystemPath):
    """A path to nothing on the disk, ``<KEYWORD>``, with the bytes that reading it gives; made by :func:`memory_file`.

    It goes wherever a path goes, and :mod:`robustcs.inputs.files` opens it.
    """

    _data: bytes = b""
    _place: Callable[[int], str]

    def place(self, line: int) -> str:
        """Where a line stands in what was given: messages speak of that, and not of lines that nobody wrote."""
        return f"{self}{self._place(line)}"

    def holding(self, data: bytes, place: Callable[[int], str] | None = None) -> MemoryFile:
        """The file with these bytes; ``place`` is that of its lines, where it is another one now."""
        return _made(str(self), place or self._place, data)

    def reader(self) -> io.BufferedReader:
        """The bytes from their beginning."""
        return io.BufferedReader(io.BytesIO(self._data))  # type: ignore[type-var]


def memory_file(keyword: str, place: Callable[[int], str]) -> MemoryFile:
    """An empty one; ``place`` is what follows its name for a line number (from 1), such as ``, row 3``."""
    return _made(f"<{keyword}>", place, b"")


def _made(name: str, place: Callable[[int], str], data: bytes) -> MemoryFile:
    file = MemoryFile(name)
    file._place, file._data = place, data
    return file
