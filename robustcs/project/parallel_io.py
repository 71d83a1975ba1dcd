"""Read the runs of a project in this process, in several processes, or on a Dask cluster.

In each case, results come in the order of the files, and the error is that of the first file with an error.
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
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from robustcs.errors import (
    InputError,
    InterruptedWorkError,
    NotInstalledError,
    RobustcsError,
    UsageError,
    input_error,
)
from robustcs.inputs.paths import MemoryFile, PooledFile, url_of
from robustcs.messages import Message, OptionName
from robustcs.version import __version__

U = TypeVar("U")
#: A run: its role and its file.
File = tuple[str, Path]
#: Role, file as named by the user, and absolute path; other processes may have another working folder.
Place = tuple[str, Path, Path]

#: Pieces of work per process, so that the work is balanced.
_PIECES = 8


class Outcome(NamedTuple):
    """The result or error of a file."""

    result: Any = None
    error: RobustcsError | OSError | None = None


def pieces(files: Sequence[File], workers: int) -> Iterator[list[Place]]:
    """Split ``files`` into pieces of consecutive files for this number of workers."""
    size = max(1, len(files) // (_PIECES * workers))
    placed = [(role, path, absolute(path)) for role, path in files]
    return (placed[start : start + size] for start in range(0, len(placed), size))


def outcomes(packed: bytes, files: Iterable[Place]) -> list[Outcome]:
    """Return the outcomes of some files, up to the first that cannot be read; called in another process.

    packed
        Pickled function, which is called with a role and a file.
    """
    work = _unpacked(packed)
    found: list[Outcome] = []
    for role, path, place in files:
        try:
            found.append(Outcome(work(role, place)))
        except (RobustcsError, OSError) as error:
            found.append(
                Outcome(
                    error=as_given(error, place, path) if isinstance(error, InputError) else error
                )
            )
            break
    return found


def as_given(error: InputError, place: Path, path: Path) -> InputError:
    """Replace the absolute path ``place`` in an error by the path that the user named."""
    problems = [
        problem._replace(path=path) if problem.path == place else problem
        for problem in error.problems
    ]
    return InputError(problems, error.total)


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Callable[[str, Path], Any]:
    """Unpickle the work once per process, so that values cached with the qrels are kept."""
    work: Callable[[str, Path], Any] = pickle.loads(packed)
    return work


def absolute(path: Path) -> Path:
    """Return the absolute path; return URLs unchanged."""
    return path if url_of(path) is not None else Path(os.path.abspath(path))


T = TypeVar("T")
#: Total size of runs in bytes from which several processes are faster than one.
WORTH = 64 << 20


@dataclass(frozen=True)
class Jobs:
    """The processes that read runs.

    processes
        Largest number of processes on this machine.
    dask
        Address of a Dask scheduler whose workers read the runs instead; empty for none.
    """

    processes: int = 1
    dask: str = ""

    def each(self, work: Callable[[str, Path], T], files: Sequence[File]) -> Iterator[T]:
        """Apply ``work`` to each (role, file), in this order.

        ``work``, its results and its user errors must be picklable. The first error in the order of the files is raised here.
        Files that only this process can read, such as pipes, are read here.

        Raises :class:`InterruptedWorkError` if a process was terminated, and, for a cluster, the errors of :func:`_on_cluster`.
        """
        sizes = [_size(path) if self.dask or self.processes > 1 else None for _, path in files]
        away = [file for file, size in zip(files, sizes, strict=True) if size is not None]
        if not self.dask and (len(away) < 2 or sum(filter(None, sizes)) < WORTH):
            away = []
        elsewhere = set(away)
        with closing(self._away(work, away)) as done:
            for file in files:
                yield next(done) if file in elsewhere else work(*file)

    def _away(
        self, work: Callable[[str, Path], T], files: Sequence[File]
    ) -> Generator[T, None, None]:
        if not files:
            return
        packed = pickle.dumps(work)
        with closing(
            _on_cluster(self.dask, packed, files)
            if self.dask
            else _in_processes(self.processes, packed, files)
        ) as done:
            for one in chain.from_iterable(done):
                if one.error is not None:
                    raise one.error
                yield one.result


#: Read all runs in this process.
HERE = Jobs()


def jobs_of(given: Mapping[str, Any]) -> Jobs:
    """Return the processes for the options or keywords ``jobs`` and ``dask``. Raises :class:`UsageError` for other types."""
    processes, dask = given.get("jobs", 1), given.get("dask")
    if not isinstance(processes, int) or processes < 1:
        raise UsageError(
            "bad-setting", f"jobs is {processes!r}", "write a whole number of at least 1"
        )
    if dask == "" or not isinstance(dask, str | None):
        raise UsageError(
            "bad-setting",
            f"dask is {dask!r}",
            "write the address of a scheduler, such as tcp://node1:8786",
        )
    return Jobs(processes, dask or "")


def _in_processes(
    processes: int, packed: bytes, files: Sequence[File]
) -> Generator[list[Outcome], None, None]:
    """Yield the outcomes of ``files``, piece by piece, with joblib; ``packed``: see :func:`outcomes`."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # share nothing through files, so that none remains
    parallel = Parallel(
        n_jobs=processes, backend="loky", return_as="generator", batch_size=1, max_nbytes=None
    )
    with _without_ctrl_c():
        done = parallel(delayed(outcomes)(packed, piece) for piece in pieces(files, processes))
    try:
        for piece in done:  # noqa: UP028  ("yield from" would close it before the warning is silenced)
            yield piece
    except TerminatedWorkerError:
        advice = Message("if memory ran out, use fewer ", OptionName("jobs"))
        raise InterruptedWorkError("a worker process was terminated", advice) from None
    finally:
        with warnings.catch_warnings(action="ignore"):
            # of unfinished work, which is no longer needed
            done.close()


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Let processes that are started here ignore Ctrl-C; this process handles it and ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its start would unblock signals later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _size(path: Path) -> int | None:
    """Return the size of a file in bytes; None if only this process can read it: an object in memory, a pipe, several files.

    A URL counts as :data:`WORTH`, since waiting for it takes long enough.
    """
    if isinstance(path, MemoryFile | PooledFile):
        return None
    if (url := url_of(path)) is not None:
        return None if url.startswith("memory:") else WORTH
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (
        found.st_size
        if stat.S_ISREG(found.st_mode) and not os.fspath(path).startswith("/dev/")
        else None
    )


#: Seconds to wait for the answer of a scheduler, and for a worker.
_ANSWER, _COME = 5, 10
#: Errors of files that the worker cannot open.
_UNSEEN = ("no-such-file", "not-readable", "is-a-folder")


def _on_cluster(
    address: str, packed: bytes, files: Sequence[File]
) -> Generator[list[Outcome], None, None]:
    """Yield the outcomes of ``files``, piece by piece, from a Dask cluster, which passes the work of a lost worker to others.

    Raises :class:`NotInstalledError` if Dask is missing here, or this version of robustcs on a worker; :class:`UsageError` if
    no scheduler answers or there is no worker; :class:`InterruptedWorkError` if the connection is lost, or if a piece ends
    several workers.
    """
    from concurrent.futures import CancelledError

    with _connected(address) as client:
        import dask
        from distributed import KilledWorker

        try:
            client.wait_for_workers(1, timeout=_COME)
        except OSError:
            found = f"the Dask cluster at {address} has no worker"
            raise UsageError(
                "no-workers", found, f"start one with: dask worker {address}"
            ) from None
        try:
            work = partial(_on_worker, __version__, packed)
            # each piece contains the qrels, so that they are not lost with a worker
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
                futures = client.map(
                    work, list(pieces(files, sum(client.ncores().values()))), pure=False
                )
            while futures:
                yield futures.pop(0).result()
        except KilledWorker as error:
            found = f"several workers of the Dask cluster ended while reading a run, last {error.last_worker.address}"
            raise InterruptedWorkError(
                found, "if their memory ran out, give them more memory"
            ) from None
        except (CancelledError, OSError) as error:
            found = f"the connection to the Dask cluster at {address} was lost"
            raise InterruptedWorkError(
                found, "check its scheduler, and run the command again"
            ) from error
        except (
            ImportError,
            AttributeError,
        ) as error:  # the worker cannot call the function that it received
            found = f"a worker of the Dask cluster at {address} needs robustcs {__version__}, but has none or another version"
            advice = f"run there: pip install 'robustcs[dask]=={__version__}'"
            raise NotInstalledError("no-robustcs", found, advice) from error


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Yield a client of the scheduler."""
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise NotInstalledError(
            "no-dask",
            Message(OptionName("dask"), f" {address} needs Dask"),
            "pip install 'robustcs[dask]'",
        ) from None
    import logging

    # silence its logs of a lost connection, which is reported in one line
    levels = {
        logger: logger.level
        for logger in map(logging.getLogger, ("distributed", "distributed.client"))
    }
    for logger in levels:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        try:
            # check first: a client would retry an invalid address forever
            get_address_host_port(address)
            client = Client(address, timeout=_ANSWER, set_as_default=False)
        except (OSError, ValueError) as error:
            advice = "give the address of a running scheduler, such as tcp://node1:8786"
            raise UsageError(
                "no-cluster", f"no Dask scheduler answers at {address}", advice
            ) from error
        with client:
            yield client
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _on_worker(version: str, packed: bytes, files: Sequence[Place]) -> list[Outcome]:
    """Return the outcomes of some files; called by a worker, which says so if it cannot open a file."""
    from distributed import get_worker

    if version != __version__:
        raise ImportError(f"robustcs {__version__}")
    found = outcomes(packed, files)
    error = found[-1].error
    if isinstance(error, InputError) and error.slug in _UNSEEN:
        problem = error.problems[0]
        said = f"{problem.found} on worker {get_worker().address} of the Dask cluster"
        unseen = input_error(
            problem.path, None, said, "give a path or URL that all workers can open", error.slug
        )
        found[-1] = Outcome(error=unseen)
    return found
