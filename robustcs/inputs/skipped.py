"""Rows that cannot be used, in files whose other rows can: an empty text, a line that cannot be parsed.

Such a row is skipped, counted and named, instead of the whole file being refused; not so in runs and judgments, and not where
more than :data:`MOST` per cent of the rows are such. A reader notes a row with ``skip`` on the list of its problems, whatever
the file is: that of a file that skips rows is a :class:`RowProblems`, any other list takes the row as an error. Two entries
that contradict each other stay errors everywhere, since nobody knows which of them counts.

What was skipped is known here by the file until whoever had it read asks for it with :func:`take_skipped`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from robustcs.errors import InputError, Problem, ProblemList

StrPath = str | os.PathLike[str]

#: Per cent of a file's rows that may be skipped.
MOST = 5
#: Skipped rows of a file that are listed.
_LISTED = 1_000


@dataclass(frozen=True)
class Skipped:
    """What was skipped of a file: ``count`` of ``rows``, which are texts, answers and so on (``what``)."""

    count: int
    rows: int
    what: str
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        """``1 of 332 texts empty``."""
        empty = all(problem.slug in ("empty-text", "no-answer") for problem in self.problems)
        return f"{self.count:,} of {self.rows:,} {self.what} {'empty' if empty else 'unusable'}"


_skipped: dict[str, Skipped] = {}


def take_skipped(path: StrPath, strict: bool) -> Skipped | None:
    """What the last reading of ``path`` skipped, if anything; it is told once, since a file may be read for several things.

    Raises :class:`InputError` with it where ``strict``.
    """
    found = _skipped.pop(os.fspath(path), None)
    if found and strict:
        raise InputError(found.problems, found.count)
    return found


class RowProblems(ProblemList):
    """The problems of a file that may skip some of its rows; ``what`` its rows are."""

    def __init__(self, path: StrPath, what: str = "rows"):
        super().__init__(path)
        self.what = what
        self.skipped = ProblemList(path, _LISTED)

    def skip(self, line: int | None, found: str, advice: str, slug: str) -> None:
        """Note a row that is skipped."""
        self.skipped.add(line, found, advice, slug)

    def take(self, other: ProblemList) -> None:
        """Note what another list of the same file has."""
        super().take(other)
        if isinstance(other, RowProblems):
            self.skipped.take(other.skipped)

    def raise_if_any(self, rows: int = 0) -> None:
        """Raise where anything but single rows is wrong, or more than :data:`MOST` per cent of them; ``rows`` are sound."""
        path, count, every = os.fspath(self.path), self.skipped.total, self.skipped.total + rows
        _skipped.pop(path, None)
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
            _skipped[path] = Skipped(count, every, self.what, tuple(listed))


def _line(problem: Problem) -> int:
    return problem.line or 0
