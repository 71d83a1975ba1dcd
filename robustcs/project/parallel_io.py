"""Where the runs of a project are read: in this process, in several of this machine, or on a Dask cluster.

Whichever it is, the results come in the order of the files, and so does the error of the first file that has one.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import stat
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from robustcs.errors import InputError, InterruptedWorkError, NotInstalledError, RobustcsError, UsageError, input_error
from robustcs.inputs.paths import MemoryFile, PooledFile, url_of
from robustcs.version import __version__

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


T = TypeVar("T")
#: Bytes of runs from which further processes are worth their start; fewer are read sooner by one.
WORTH = 64 << 20


@dataclass(frozen=True)
class Jobs:
    """Where runs are read.

    processes
        Of this machine, at most.
    dask
        The address of a scheduler whose workers read them instead; empty for none.
    """

    processes: int = 1
    dask: str = ""

    def each(self, work: Callable[[str, Path], T], files: Sequence[File]) -> Iterator[T]:
        """``work`` of every (role, file), in this order.

        ``work`` and what it gives can be pickled; so can the errors of a user that it raises, and the first one in the order of
        the files is raised here. What only this process can read, such as a pipe, is read here.

        Raises :class:`InterruptedWorkError` where a process was ended from outside, and of a cluster what
        :func:`robustcs.project.parallel_io.on_cluster` raises.
        """
        away = [file for file in files if not _only_here(file[1])]
        if not self.dask and (self.processes == 1 or len(away) < 2 or sum(map(_size, away)) < WORTH):
            away = []
        elsewhere = set(away)
        with closing(self._away(work, away)) as done:
            for file in files:
                yield next(done) if file in elsewhere else work(*file)

    def side_by_side(self, items: Sequence[Any], files: Sequence[Path]) -> bool:
        """Whether :meth:`all` has several processes work on the items; those of a cluster read runs and do nothing else."""
        return self.processes > 1 and not self.dask and len(items) > 1 and not any(map(_only_here, files))

    def all(self, work: Callable[[U], Any], items: Sequence[U], files: Sequence[Path]) -> Generator[Outcome, None, None]:
        """What comes of ``work`` of every item, in this order; ``files`` are those that it reads.

        Several processes work on the items where there are several of both, and nothing that only this process can read;
        ``work``, the items and what comes of them can be pickled. Raises :class:`InterruptedWorkError` as :meth:`each` does.
        """
        if not self.side_by_side(items, files):
            yield from (outcome(work, item) for item in items)
            return
        from joblib import delayed

        yield from _in_processes((delayed(outcome)(work, item, os.getcwd()) for item in items), self.processes)

    def _away(self, work: Callable[[str, Path], T], files: Sequence[File]) -> Generator[T, None, None]:
        if not files:
            return
        packed = pickle.dumps(work)
        if self.dask:
            done = on_cluster(self.dask, packed, files)
        else:
            from joblib import delayed

            done = _in_processes((delayed(outcomes)(packed, piece) for piece in pieces(files, self.processes)), self.processes)
        with closing(done):
            for piece in done:
                for one in piece:
                    if one.error is not None:
                        raise one.error
                    yield one.result


#: All of them in this process.
HERE = Jobs()


def jobs_of(given: Mapping[str, Any]) -> Jobs:
    """Where runs are read, by the options or keywords ``jobs`` and ``dask``. Raises :class:`UsageError` for other types."""
    processes, dask = given.get("jobs", 1), given.get("dask")
    if not isinstance(processes, int) or processes < 1:
        raise UsageError("bad-setting", f"jobs is {processes!r}", "write a whole number of at least 1")
    if dask == "" or not isinstance(dask, str | None):
        raise UsageError("bad-setting", f"dask {dask!r}", "write the address of a scheduler, such as tcp://node1:8786")
    return Jobs(processes, dask or "")


def _in_processes(calls: Iterable[Any], processes: int) -> Generator[Any, None, None]:
    """What joblib's delayed calls give, in their order."""
    from joblib import Parallel
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # nothing is shared by files, so that none is left behind
    parallel = Parallel(n_jobs=processes, backend="loky", return_as="generator", batch_size=1, max_nbytes=None)
    with _without_ctrl_c():
        done = parallel(calls)
    try:
        for given in done:  # noqa: UP028  ("yield from" would close it before the warning is silenced)
            yield given
    except TerminatedWorkerError:
        advice = "if memory ran out, give fewer --jobs"
        raise InterruptedWorkError("a process that worked for this one was ended from outside", advice) from None
    finally:
        with warnings.catch_warnings(action="ignore"):  # it tells of work that nobody needs any more
            done.close()


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


def _only_here(path: Path) -> bool:
    """Is it something that other processes cannot open, or take by one name: an object of this one, a pipe, several files?"""
    if isinstance(path, MemoryFile | PooledFile):
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


#: Seconds that a scheduler has to answer, and a worker to come.
_ANSWER, _COME = 5, 10
#: What is told of a file that only the worker cannot open.
_UNSEEN = ("no-such-file", "not-readable", "is-a-folder")


def on_cluster(address: str, packed: bytes, files: Sequence[File]) -> Generator[list[Outcome], None, None]:
    """The outcomes of ``files``, piece by piece; the work of a worker that is lost is given to the others.

    packed
        As :func:`robustcs.project.parallel_io.outcomes` takes it.

    Raises :class:`NotInstalledError` without Dask here, or without this version of robustcs there; :class:`UsageError` where no
    scheduler answers or no worker comes; :class:`InterruptedWorkError` where the cluster goes away, or where a piece ends one
    worker after another.
    """
    with _connected(address) as client:
        from distributed import KilledWorker

        try:
            _check_workers(client, address)
            with closing(_done(client, packed, files)) as done:
                for piece in done:
                    yield [_told(outcome, address) for outcome in piece]
        except KilledWorker as error:
            found = f"a piece of the runs ended one worker of the Dask cluster after another, last {error.last_worker.address}"
            raise InterruptedWorkError(found, "if their memory ran out, give them more") from None
        except (CancelledError, OSError) as error:
            found = f"the connection to the Dask cluster at {address} was lost"
            raise InterruptedWorkError(found, "look at its scheduler, and start again") from error
        except (ImportError, AttributeError) as error:  # what a worker says that cannot call what it was given
            raise _other_version("a worker", address, "none or another version") from error


def _done(client: Any, packed: bytes, files: Sequence[File]) -> Generator[list[Outcome], None, None]:
    import dask
    from joblib import Parallel, delayed, parallel_config

    tasks = (delayed(_on_worker)(__version__, packed, piece) for piece in pieces(files, sum(client.ncores().values())))
    # what is needed of the qrels stands in every piece, so that none of it is lost with a worker
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        with parallel_config(backend=_backend(client)):
            done = Parallel(return_as="generator", batch_size=1)(tasks)
        try:
            for piece in done:  # noqa: UP028  ("yield from" would close it before the warning is silenced)
                yield piece
        finally:
            with warnings.catch_warnings(action="ignore"):  # it tells of work that nobody needs any more
                done.close()


def _backend(client: Any) -> Any:
    """joblib's backend for a cluster, also for one of a single thread: of that joblib would do the work here."""
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            return int(max(2, super().effective_n_jobs(n_jobs)))

    return Backend(client=client)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """A client of the scheduler."""
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise NotInstalledError("no-dask", f"--dask {address} needs Dask", "pip install 'robustcs[dask]'") from None
    # what it has to say of a lost connection is told in one line
    levels = {logger: logger.level for logger in map(logging.getLogger, ("distributed", "distributed.client"))}
    for logger in levels:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        try:
            get_address_host_port(address)  # a client of an address that is none would not let go of it
            client = Client(address, timeout=_ANSWER, set_as_default=False)
        except (OSError, ValueError) as error:
            advice = "give the address of a running one, such as tcp://node1:8786"
            raise UsageError("no-cluster", f"no Dask scheduler answers at {address}", advice) from error
        with client:
            yield client
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _check_workers(client: Any, address: str) -> None:
    """Raises :class:`UsageError` without a worker, :class:`NotInstalledError` where one has no or another robustcs."""
    try:
        client.wait_for_workers(1, timeout=_COME)
    except OSError:
        found = f"the Dask cluster at {address} has no worker"
        raise UsageError("no-workers", found, f"start some with: dask worker {address}") from None
    for worker, has in sorted(client.get_versions(packages=["robustcs"])["workers"].items()):
        version = has["packages"].get("robustcs")
        if version != __version__:
            raise _other_version(f"worker {worker}", address, version if version and version[0].isdigit() else "none")


def _other_version(worker: str, address: str, has: str) -> NotInstalledError:
    found = f"{worker} of the Dask cluster at {address} needs robustcs {__version__}, and has {has}"
    return NotInstalledError("no-robustcs", found, f"there: pip install 'robustcs[dask]=={__version__}'")


def _on_worker(version: str, packed: bytes, files: Sequence[Place]) -> list[Outcome]:
    """The outcomes of some files; called by a worker, which may have come after all were asked for their version."""
    from distributed import get_worker

    worker = get_worker()
    if version != __version__:
        raise ImportError(f"robustcs {__version__}")
    return [outcome._replace(worker=worker.address) for outcome in outcomes(packed, files)]


def _told(outcome: Outcome, address: str) -> Outcome:
    """``outcome``; where only its worker cannot open a file that stands here, the error says so."""
    error = outcome.error
    if not isinstance(error, InputError) or error.slug not in _UNSEEN:
        return outcome
    problem = error.problems[0]
    if url_of(problem.path) is not None or not os.path.isfile(problem.path):
        return outcome
    found = f"{problem.found}, says worker {outcome.worker} of the Dask cluster at {address}"
    advice = "give a path or an address that every worker can open"
    return Outcome(error=input_error(absolute(Path(problem.path)), None, found, advice, error.slug))
