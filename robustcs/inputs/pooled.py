"""Several files read as one: the judgments or runs of several collections."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sized
from typing import TypeVar

from robustcs.errors import MAX_PROBLEMS, InputError, Problem
from robustcs.inputs.paths import StrPath
from robustcs.inputs.text import text_lines
from robustcs.wording import and_more, counted, some_of

T = TypeVar("T")


#: Advice for files that contradict each other.
CLASH = "keep one of the two; if two collections use the same ids, add a prefix to the ids of one of them in all its files"


def conflict(path: StrPath, what: str, value: str, other: StrPath, other_value: str, *cells: str) -> Problem:
    """Return the problem that two files contradict each other; a line of each contains its value and ``cells``."""
    there, line = os.fspath(other), _line_with(other, other_value, *cells)
    if line is not None:
        there = getattr(other, "place", lambda number: f"{there}:{number}")(line)
    found = f"{what} {_quoted(value)} here but {_quoted(other_value)} in {there}"
    return Problem(path, _line_with(path, value, *cells), found, CLASH, "contradicting-files")


def _quoted(value: str) -> str:
    return value if value.lstrip("-").isdigit() else repr(value)


def _line_with(path: StrPath, *cells: str) -> int | None:
    """Return the first line that contains all of ``cells``, for messages; None if there is none."""
    wanted = [re.compile(rf"(?<!\w){re.escape(cell)}(?!\w)") for cell in cells]
    try:
        return next((number for number, line in text_lines(path) if all(one.search(line) for one in wanted)), None)
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


def texts_in_order(files: Iterable[tuple[StrPath, Mapping[str, T]]], whose: str) -> tuple[dict[str, T], list[str]]:
    """Return turn → text (or texts) of several files, and a note for each file whose texts differ from earlier ones."""
    union: dict[str, T] = {}
    notes = []
    for path, texts in files:
        other = [turn for turn, text in texts.items() if union.setdefault(turn, text) != text]
        if other:
            have = f"{counted(len(other), 'turn')} of {whose} ({some_of(other)}{and_more(len(other), 5)})"
            notes.append(f"{os.path.basename(path)} has a different text for {have}; the text of the earlier file is used")
    return union, notes


def _first(text: object) -> str:
    """Return the text, or all samples joined."""
    return text if isinstance(text, str) else " / ".join(text)  # type: ignore[arg-type]
