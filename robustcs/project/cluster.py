"""Runs read by the workers of a Dask cluster that stands already: joblib's Dask backend, and what can go wrong with it."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from robustcs.errors import InputError, InterruptedWorkError, NotInstalledError, UsageError, input_error
from robustcs.inputs.urls import url_of
from robustcs.project.parallel_io import File, Outcome, Place, absolute, outcomes, pieces
from robustcs.version import __version__

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
