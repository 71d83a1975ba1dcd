"""The errors that a user can meet, and the exit codes they lead to.

Every error carries a short stable ``slug``, where it happened, what was found and what to do about it.
The command line prints exactly that and no traceback; a caller of the Python API catches :class:`RobustcsError`.
"""

from __future__ import annotations

import copyreg
import errno
import os
import re
from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

#: Problems of one file that are kept; past it only their number is reported.
MAX_PROBLEMS = 20
#: Characters of a message's part that are shown; ids, cells and keys of input files stand in them, however long those are.
_LONGEST = 600

#: A path made of a URL has lost a slash.
_URL = r"^([a-z][a-z0-9+.-]+):/(?!/)"
FULL_ADVICE = "make room, or write elsewhere"
#: No space on the disk, in the user's share of it, or under the limit of a file's size.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ExitCode(IntEnum):
    """What the process returns, the same for every command."""

    DONE = 0
    GATE_FAILED = 1
    USAGE = 2
    BAD_INPUT = 3
    NOT_INSTALLED = 4
    CANNOT_TELL = 5
    UNFORESEEN = 70
    INTERRUPTED = 130
    TERMINATED = 143


class Terminated(BaseException):
    """SIGTERM: the program ends as after Ctrl-C. Like KeyboardInterrupt it is no Exception, so that nobody swallows it."""


class RobustcsError(Exception):
    """Base of all errors: what was found (``found``) and what to do (``advice``), in plain words.

    ``slug`` names the kind of error and does not change between versions.
    """

    exit_code = ExitCode.USAGE

    def __init__(self, slug: str, found: str, advice: str = ""):
        self.slug = slug
        self.found = found
        self.advice = advice
        super().__init__(self.__str__())

    def __str__(self) -> str:
        return "; ".join(map(_one_line, filter(None, (self.found, self.advice))))

    def __reduce__(self) -> tuple[Any, ...]:
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class UsageError(RobustcsError):
    """Options that do not fit together, or a setting that has no meaning."""


class NotInstalledError(RobustcsError):
    """Something optional is needed; ``advice`` is the exact install command."""

    exit_code = ExitCode.NOT_INSTALLED


class InterruptedWorkError(RobustcsError):
    """What other processes did for this one was ended from outside."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, found: str, advice: str = ""):
        super().__init__("interrupted-work", found, advice)


class OutputError(RobustcsError):
    """An output file could not be written; nothing of it was left behind."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, path: str | os.PathLike[str], reason: str, advice: str = ""):
        self.path = path
        super().__init__("not-written", f"{os.fspath(path)}: not written, {reason}", advice)


def not_written(path: str | os.PathLike[str], error: OSError | ValueError) -> OutputError:
    """The :class:`OutputError` of what the operating system says when ``path`` is written."""
    if isinstance(error, FileNotFoundError):
        return OutputError(path, "its folder does not exist", "make the folder first")
    if isinstance(error, FileExistsError):
        return OutputError(path, "its folder would have the name of a file", "choose another name")
    if isinstance(error, NotADirectoryError):
        return OutputError(path, "a part of its path is a file, not a folder", "check the path")
    if isinstance(error, PermissionError):
        return OutputError(path, "its folder may not be written to", "check the permissions")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    full = isinstance(error, OSError) and error.errno in _FULL
    return OutputError(path, reason[:1].lower() + reason[1:], FULL_ADVICE if full else "")


class Problem(NamedTuple):
    """One thing wrong in one file; ``line`` counts from 1 and is None where the whole file is meant."""

    path: str | os.PathLike[str]
    line: int | None
    found: str
    advice: str
    slug: str

    def __str__(self) -> str:
        path = re.sub(_URL, r"\1://", os.fspath(self.path))
        place = path if self.line is None else re.sub(_URL, r"\1://", place_of(self.path, self.line))
        return f"{place}: " + "; ".join(map(_one_line, filter(None, (self.found, self.advice))))


def place_of(path: str | os.PathLike[str], line: int) -> str:
    """``FILE:LINE``; of what Python gave in place of a file, its keyword and the row or keys there."""
    place = getattr(path, "place", None)
    return f"{os.fspath(path)}:{line}" if place is None else place(line)


def at_line(path: str | os.PathLike[str], line: int) -> str:
    """``line 3``, for a message about ``path`` that names it too; ``row 3`` of what Python gave in place of a file."""
    place = getattr(path, "place", None)
    return f"line {line}" if place is None else place(line).removeprefix(os.fspath(path)).removeprefix(", ")


def _one_line(text: str) -> str:
    """``text`` with its line ends made visible and, where it is longer than anybody reads, without its middle."""
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … ({len(text) - 2 * half} characters) … {text[-half:]}"


def _without_line(problem: Problem) -> Problem:
    return problem._replace(line=None)


class InputError(RobustcsError):
    """One or more problems of input files; at most :data:`MAX_PROBLEMS` are listed, ``total`` counts them all."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, problems: Sequence[Problem], total: int | None = None):
        self.problems = tuple(problems[:MAX_PROBLEMS])
        self.total = len(problems) if total is None else total
        super().__init__(self.problems[0].slug, "")

    def __str__(self) -> str:
        alike = Counter(_without_line(problem) for problem in self.problems)
        lines = []
        for problem in self.problems:
            count = alike[_without_line(problem)]
            if 0 < count <= 5:
                lines.append(str(problem))
            elif count:
                # a file of the wrong kind has one problem, not one a line
                what = "lines" if getattr(problem.path, "place", None) is None else "rows"
                lines.append(f"{problem} (the same in {count - 1} more {what})")
                alike[_without_line(problem)] = 0
        if self.total > len(self.problems):
            lines.append(f"… and {self.total - len(self.problems)} more problems")
        return "\n".join(lines)


class UntrustedError(InputError):
    """A project asks for something outside its folder: an address to fetch, a pipe or device to read, a place to write to.

    The command line asks on a terminal, or takes ``--trust``; :func:`robustcs.open_project` takes ``trust=True``.
    """


class ProblemList:
    """Collects the problems of one file, so that a user sees them together and not one per attempt; ``most`` are listed."""

    def __init__(self, path: str | os.PathLike[str], most: int = MAX_PROBLEMS):
        self.path = path
        self.most = most
        self.problems: list[Problem] = []
        self.total = 0

    def add(self, line: int | None, found: str, advice: str, slug: str) -> None:
        """Note one problem; past ``most`` only their number grows."""
        self.total += 1
        if len(self.problems) < self.most:
            self.problems.append(Problem(self.path, line, found, advice, slug))

    def skip(self, line: int | None, found: str, advice: str, slug: str) -> None:
        """Note a row that cannot be used by itself; a file whose other rows count (:mod:`robustcs.inputs.records`) lacks it."""
        self.add(line, found, advice, slug)

    def take(self, other: ProblemList) -> None:
        """Note what another list of the same file has."""
        self.total += other.total
        self.problems += other.problems[: self.most - len(self.problems)]

    def raise_if_any(self, rows: int = 0) -> None:
        """Raise one :class:`InputError` with everything collected, or return when there is nothing.

        ``rows`` are those of the file that can be used; only a list that skips some asks.
        """
        if self.total:
            raise InputError(self.problems, self.total)


def input_error(path: str | os.PathLike[str], line: int | None, found: str, advice: str, slug: str) -> InputError:
    """An :class:`InputError` with a single problem."""
    return InputError([Problem(path, line, found, advice, slug)])
