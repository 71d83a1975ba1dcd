"""Errors that users can meet, and their exit codes.

Each error has a short stable ``slug``, a place, a problem and advice. The command line prints these without a traceback;
callers of the Python API catch :class:`RobustcsError`.
"""

from __future__ import annotations

import copyreg
import errno
import os
import re
from collections.abc import Iterable, Sequence, Sized
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from robustcs.messages import Interface, Message, OptionName, worded
from robustcs.wording import listed

K = TypeVar("K")
V = TypeVar("V")

#: Largest number of listed problems per file; further problems are only counted.
MAX_PROBLEMS = 20
#: Largest number of problems of one kind in a file that are listed one by one.
_SAME = 5
#: Largest number of characters in each part of a message; parts quote ids, cells and keys of input files of any length.
_LONGEST = 600

#: A path made from a URL has lost a slash.
_URL = r"^([a-z][a-z0-9+.-]+):/(?!/)"
FULL_ADVICE = "free some space, or write elsewhere"
#: The disk is full, or the user's quota or the limit of a file's size is reached.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ExitCode(IntEnum):
    """Exit codes, the same for all commands."""

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
    """SIGTERM: the program ends as after Ctrl-C. Not an Exception, like KeyboardInterrupt, so that no handler catches it."""


class RobustcsError(Exception):
    """Base of all errors: the problem (``found``) and what to do (``advice``).

    Both may be a :class:`robustcs.messages.Message`, which each interface words.
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

    def word(self, interface: Interface) -> None:
        """Word the options that the message names as ``interface`` does."""
        self.found = worded(self.found, interface)
        self.advice = worded(self.advice, interface)
        self.args = (str(self),)

    def __reduce__(self) -> tuple[Any, ...]:
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class UsageError(RobustcsError):
    """Conflicting options, or an invalid setting."""


def refuse_unknown(names: Iterable[str], known: Sequence[str], what: str) -> None:
    """Raise :class:`UsageError` for the first of ``names`` that is not ``known``; ``what`` is the kind of name."""
    for name in names:
        if name not in known:
            raise UsageError(
                f"no-such-{what}",
                f"no {what} is named {name!r}",
                f"choose one of {', '.join(known)}",
            )


class NotInstalledError(RobustcsError):
    """An optional package is needed; ``advice`` is the install command."""

    exit_code = ExitCode.NOT_INSTALLED


class ProgramError(UsageError):
    """A user's program cannot be used.

    command
        The command line of the program.
    what
        What is wrong, to be read after the command: `` ended with code 1``, ``: cannot be started``.
    """

    def __init__(self, slug: str, command: str, what: str, advice: str = ""):
        self.command = command
        self.what = what
        super().__init__(slug, Message(OptionName("with"), f" {command}{what}"), advice)


class InterruptedWorkError(RobustcsError):
    """Another process that worked for this one was terminated."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, found: str, advice: str = ""):
        super().__init__("interrupted-work", found, advice)


class OutputError(RobustcsError):
    """An output file could not be written; no partial file remains."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, path: str | os.PathLike[str], reason: str, advice: str = ""):
        self.path = path
        super().__init__("not-written", f"{os.fspath(path)}: not written, {reason}", advice)


#: Error of the operating system → problem and advice.
_NOT_WRITTEN: dict[type, tuple[str, str]] = {
    FileNotFoundError: ("its folder does not exist", "create the folder first"),
    FileExistsError: ("a file has the name of its folder", "choose another name"),
    NotADirectoryError: ("a part of its path is a file, not a folder", "check the path"),
    PermissionError: ("no permission to write to its folder", "check the permissions"),
}


def not_written(path: str | os.PathLike[str], error: OSError | ValueError) -> OutputError:
    """Return the :class:`OutputError` for an error of the operating system while writing ``path``."""
    if known := _NOT_WRITTEN.get(type(error)):
        return OutputError(path, *known)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    full = isinstance(error, OSError) and error.errno in _FULL
    return OutputError(path, reason[:1].lower() + reason[1:], FULL_ADVICE if full else "")


class Problem(NamedTuple):
    """One problem of one file; ``line`` counts from 1 and is None or 0 for the whole file."""

    path: str | os.PathLike[str]
    line: int | None
    found: str
    advice: str
    slug: str

    def __str__(self) -> str:
        place = place_of(self.path, self.line) if self.line else os.fspath(self.path)
        return re.sub(_URL, r"\1://", f"{place}: ") + "; ".join(
            map(_one_line, filter(None, (self.found, self.advice)))
        )


def place_of(path: str | os.PathLike[str], line: int) -> str:
    """Return ``FILE:LINE``; for a Python object in place of a file, its keyword and the row or keys."""
    place = getattr(path, "place", None)
    return f"{os.fspath(path)}:{line}" if place is None else place(line)


def at_line(path: str | os.PathLike[str], line: int) -> str:
    """Return ``line 3`` for a message that also names ``path``; ``row 3`` for a Python object in place of a file."""
    place = getattr(path, "place", None)
    return (
        f"line {line}"
        if place is None
        else place(line).removeprefix(os.fspath(path)).removeprefix(", ")
    )


def _one_line(text: str) -> str:
    """Make line ends visible, and cut the middle out of a long text."""
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    half = _LONGEST // 2
    return (
        text
        if len(text) <= _LONGEST
        else f"{text[:half]} … ({len(text) - 2 * half} characters) … {text[-half:]}"
    )


class InputError(RobustcsError):
    """One or more problems of input files. At most :data:`MAX_PROBLEMS` are listed; ``total`` is the number of all."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, problems: Sequence[Problem], total: int | None = None):
        self.problems = tuple(problems[:MAX_PROBLEMS])
        self.total = len(problems) if total is None else total
        super().__init__(self.problems[0].slug, "")

    def __str__(self) -> str:
        kinds: dict[object, list[Problem]] = {}
        for problem in self.problems:
            kinds.setdefault(_kind(problem), []).append(problem)
        lines = []
        for problem in self.problems:
            alike = kinds[_kind(problem)]
            if len(alike) <= _SAME:
                lines.append(str(problem))
            elif problem is alike[0]:
                # a file of the wrong kind has one problem, not one per line
                lines.append(f"{problem} ({_others(alike)})")
        if self.total > len(self.problems):
            further = self.total - len(self.problems)
            lines.append(f"… and {further:,} more problem{'s' * (further != 1)}")
        return "\n".join(lines)

    def word(self, interface: Interface) -> None:
        """Word the options that the problems name as ``interface`` does."""
        self.problems = tuple(
            problem._replace(
                found=worded(problem.found, interface), advice=worded(problem.advice, interface)
            )
            for problem in self.problems
        )
        self.args = (str(self),)


def _kind(problem: Problem) -> object:
    """Return what problems of one kind share: all but the line. Repeats of a key also name the key, and are of one kind."""
    repeated = problem.slug.startswith("repeated-")
    return (os.fspath(problem.path), problem.slug) if repeated else problem._replace(line=None)


def _others(alike: Sequence[Problem]) -> str:
    """Return where the problems after the first of one kind are: ``the same in 7 more lines``, or their first lines."""
    what = "lines" if getattr(alike[0].path, "place", None) is None else "rows"
    if len({problem._replace(line=None) for problem in alike}) == 1:
        return f"the same in {len(alike) - 1} more {what}"
    lines = [str(problem.line) for problem in alike[1:] if problem.line]
    return f"and {len(alike) - 1} more repeats, in {what}" + (f": {listed(lines)}" if lines else "")


class PackageNeededError(InputError):
    """An input file cannot be read because an optional package is missing; the advice is the install command."""

    exit_code = ExitCode.NOT_INSTALLED


class UntrustedError(InputError):
    """A project names something outside its folder: a URL to fetch, a pipe or device to read, or a path to write to.

    The command line asks on a terminal, or accepts ``--trust``; :func:`robustcs.open_project` accepts ``trust=True``.
    """


class ProblemList:
    """Collects the problems of one file, so that a user sees them together; at most ``most`` are listed."""

    def __init__(self, path: str | os.PathLike[str], most: int = MAX_PROBLEMS):
        self.path = path
        self.most = most
        self.problems: list[Problem] = []
        self.total = 0

    def add(self, line: int | None, found: str, advice: str, slug: str) -> None:
        """Add a problem; after ``most`` problems, only count it."""
        self.total += 1
        if len(self.problems) < self.most:
            self.problems.append(Problem(self.path, line, found, advice, slug))

    def skip(self, line: int | None, found: str, advice: str, slug: str) -> None:
        """Add an unusable row; lists that skip such rows (:mod:`robustcs.inputs.records`) override this."""
        self.add(line, found, advice, slug)

    def take(self, other: ProblemList) -> None:
        """Add the problems of another list of the same file."""
        self.total += other.total
        self.problems += other.problems[: self.most - len(self.problems)]

    def raise_if_any(self, rows: int = 0) -> None:
        """Raise one :class:`InputError` with all collected problems; return if there are none.

        ``rows``: number of usable rows of the file; only lists that skip rows use it.
        """
        if self.total:
            raise InputError(self.problems, self.total)

    def finish(self, found: Sized, what: str, rows: int | None = None) -> None:
        """Raise as :meth:`raise_if_any`, and if nothing was found; ``what`` names it, and ``rows`` is its number by default."""
        self.raise_if_any(len(found) if rows is None else rows)
        if not found:
            raise input_error(self.path, None, f"the file has no {what}", "check the path", "empty")

    def once(
        self,
        known: dict[K, V],
        key: K,
        value: V,
        line: int | None,
        found: str,
        advice: str = "keep one of the two",
    ) -> None:
        """Keep the value of a key; another value than before is a problem.

        found
            The problem, with ``{key}``, ``{value}`` and ``{earlier}``.
        """
        earlier = known.setdefault(key, value)
        if earlier != value:
            self.add(
                line,
                found.format(key=key, value=value, earlier=earlier),
                advice,
                "contradicting-entries",
            )


def input_error(
    path: str | os.PathLike[str], line: int | None, found: str, advice: str, slug: str
) -> InputError:
    """Return an :class:`InputError` with a single problem."""
    return InputError([Problem(path, line, found, advice, slug)])
