"""Files in pieces, as other processes work on them: packed, and with outcomes in place of errors."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from robustcs.errors import InputError, RobustcsError
from robustcs.inputs.urls import url_of

U = TypeVar("U")
#: A run: its role, and its file.
File = tuple[str, Path]
#: The same as the user named it, and from the root: other processes work in folders of their own.
Place = tuple[str, Path, Path]

#: Pieces of work for each process, so that one that is done early takes from the others.
_PIECES = 8


class Outcome(NamedTuple):
    """What came of a file, or of another piece of work.

    worker
        Who says so, where that is another machine.
    """

    result: Any = None
    error: RobustcsError | OSError | None = None
    worker: str = ""


def pieces(files: Sequence[File], workers: int) -> Iterator[list[Place]]:
    """``files`` in pieces of neighbours, for so many workers."""
    size = max(1, len(files) // (_PIECES * workers))
    placed = [(role, path, absolute(path)) for role, path in files]
    return (placed[start : start + size] for start in range(0, len(placed), size))


def outcomes(packed: bytes, files: Iterable[Place]) -> list[Outcome]:
    """The outcomes of some files, up to the first that cannot be read; called in another process.

    packed
        The work, pickled: called with a role and a file.
    """
    work = _unpacked(packed)
    found: list[Outcome] = []
    for role, path, place in files:
        one = outcome(partial(work, role), place)
        if isinstance(one.error, InputError):
            one = Outcome(error=as_given(one.error, place, path))
        found.append(one)
        if one.error is not None:
            break
    return found


def outcome(work: Callable[[U], Any], item: U, folder: str | None = None) -> Outcome:
    """What comes of ``work`` of one item; called in another process with the ``folder`` that this one works in."""
    if folder is not None:
        os.chdir(folder)
    try:
        return Outcome(work(item))
    except (RobustcsError, OSError) as error:
        return Outcome(error=error)


def as_given(error: InputError, place: Path, path: Path) -> InputError:
    """``error`` about the file at ``place``, as the user named it."""
    problems = [problem._replace(path=path) if problem.path == place else problem for problem in error.problems]
    return InputError(problems, error.total)


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Callable[[str, Path], Any]:
    """The work of all pieces, once for a process: what it computes of the qrels is kept with them."""
    work: Callable[[str, Path], Any] = pickle.loads(packed)
    return work


def absolute(path: Path) -> Path:
    """``path`` from the root; an address as it is."""
    return path if url_of(path) is not None else Path(os.path.abspath(path))
