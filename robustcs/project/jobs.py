"""Where the runs of a project are read: in this process, in several of this machine, or on a Dask cluster.

Whichever it is, the results come in the order of the files, and so does the error of the first file that has one.
"""

from __future__ import annotations

import os
import pickle
import signal
import stat
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from robustcs.errors import InputError, InterruptedWorkError, RobustcsError, UsageError
from robustcs.inputs.memory import MemoryFile
from robustcs.inputs.urls import url_of

T = TypeVar("T")
#: A run: its role, and its file.
File = tuple[str, Path]

#: Bytes of runs from which further processes are worth their start; fewer are read sooner by one.
WORTH = 64 << 20
#: Pieces of work for each process, so that one that is done early takes from the others.
_PIECES = 8


@dataclass(frozen=True)
class Jobs:
    """Where runs are read.

    processes
        Of this machine, at most.
    """

    processes: int = 1

    def each(self, work: Callable[[str, Path], T], files: Sequence[File]) -> Iterator[T]:
        """``work`` of every (role, file), in this order.

        ``work`` and what it gives can be pickled; so can the errors of a user that it raises, and the first one in the order of
        the files is raised here. What only this process can read, such as a pipe, is read here.

        Raises :class:`InterruptedWorkError` where a process was ended from outside.
        """
        away = [file for file in files if not _only_here(file[1])]
        if self.processes == 1 or len(away) < 2 or sum(map(_size, away)) < WORTH:
            away = []
        elsewhere = set(away)
        with closing(self._away(work, away)) as done:
            for file in files:
                yield next(done) if file in elsewhere else work(*file)

    def _away(self, work: Callable[[str, Path], T], files: Sequence[File]) -> Generator[T, None, None]:
        if not files:
            return
        packed = pickle.dumps(work)
        with closing(_in_processes(packed, files, self.processes)) as pieces:
            for piece in pieces:
                for outcome in piece:
                    if outcome.error is not None:
                        raise outcome.error
                    yield outcome.result


#: All of them in this process.
HERE = Jobs()


def jobs_of(given: Mapping[str, Any]) -> Jobs:
    """Where runs are read, by the option or keyword ``jobs``. Raises :class:`UsageError` for another type."""
    processes = given.get("jobs", 1)
    if not isinstance(processes, int) or processes < 1:
        raise UsageError("bad-setting", f"jobs {processes!r}", "write a whole number from 1 on")
    return Jobs(processes)


class _Outcome(NamedTuple):
    """What came of a file."""

    result: Any = None
    error: RobustcsError | OSError | None = None


def _in_processes(packed: bytes, files: Sequence[File], processes: int) -> Generator[list[_Outcome], None, None]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # nothing is shared by files, so that none is left behind
    parallel = Parallel(n_jobs=processes, backend="loky", return_as="generator", batch_size=1, max_nbytes=None)
    with _without_ctrl_c():
        pieces = parallel(delayed(_piece)(packed, piece) for piece in _pieces(files, processes))
    try:
        for piece in pieces:  # noqa: UP028  ("yield from" would close it before the warning is silenced)
            yield piece
    except TerminatedWorkerError:
        advice = "if memory ran out, give fewer --jobs"
        raise InterruptedWorkError("a process that read runs was ended from outside", advice) from None
    finally:
        with warnings.catch_warnings(action="ignore"):  # it tells of work that nobody needs any more
            pieces.close()


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Processes that are started here leave Ctrl-C to this one, which ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would let signals through again when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pieces(files: Sequence[File], workers: int) -> Iterator[list[tuple[str, Path, Path]]]:
    """``files`` in pieces of neighbours, each file with its place: other processes work in folders of their own."""
    size = max(1, len(files) // (_PIECES * workers))
    placed = [(role, path, absolute(path)) for role, path in files]
    return (placed[start : start + size] for start in range(0, len(placed), size))


def _piece(packed: bytes, files: Iterable[tuple[str, Path, Path]]) -> list[_Outcome]:
    """The outcomes of some files, up to the first that cannot be read; called in another process."""
    work = _unpacked(packed)
    outcomes: list[_Outcome] = []
    for role, path, place in files:
        try:
            outcomes.append(_Outcome(work(role, place)))
        except InputError as error:
            return [*outcomes, _Outcome(error=_as_given(error, place, path))]
        except (RobustcsError, OSError) as error:
            return [*outcomes, _Outcome(error=error)]
    return outcomes


def _as_given(error: InputError, place: Path, path: Path) -> InputError:
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


def _only_here(path: Path) -> bool:
    """Is it something that other processes cannot open: an object of this one, or a pipe?"""
    if isinstance(path, MemoryFile):
        return True
    url = url_of(path)
    if url is not None:
        return url.startswith("memory:")
    try:
        return not stat.S_ISREG(os.stat(path).st_mode) or os.fspath(path).startswith("/dev/")
    except (OSError, ValueError):
        return False


def _size(path: File) -> int:
    """Bytes of a file; of one that stands elsewhere nobody knows them, and to wait for it is work enough."""
    if url_of(path[1]) is not None:
        return WORTH
    try:
        return os.stat(path[1]).st_size
    except (OSError, ValueError):
        return 0
