"""Runs read by a Dask cluster of two worker processes: the same bytes, also where one of them is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

import robustcs
from robustcs.errors import UsageError
from robustcs.project import parallel_io
from robustcs.version import __version__
from tests.conftest import ROOT, Command

needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None, reason="Dask is not installed (pip install 'robustcs[dask]')"
)
#: What a worker loads before it begins: told by a file to kill a process, it does so in the middle of a piece of work.
PRELOAD = """
import os, signal
from pathlib import Path
from robustcs.project import parallel_io

folder = Path(os.environ["TRAPS"])
work = getattr(parallel_io.outcomes, "work", parallel_io.outcomes)  # this is loaded more than once


def outcomes(packed, files):
    with (folder / "calls").open("a") as log:
        log.write(f"{os.getpid()}\\n")
    for trap in ("worker", "scheduler"):
        try:
            victim = (folder / trap).read_text()
            (folder / trap).unlink()
        except FileNotFoundError:
            continue
        os.kill(int(victim or os.getpid()), signal.SIGKILL)
    return work(packed, files)


outcomes.work = work
parallel_io.outcomes = outcomes
"""


class Cluster(NamedTuple):
    address: str
    folder: Path
    processes: list[subprocess.Popen[bytes]]

    def start(self, *arguments: str) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        }
        environment["TRAPS"] = str(self.folder)
        with (self.folder / "log").open("ab") as log:
            command = [sys.executable, "-m", *arguments, "--no-dashboard"]
            self.processes.append(
                subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
            )


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = Cluster(f"tcp://127.0.0.1:{port}", folder, [])
    started.start(
        "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-show"
    )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield started
    finally:
        for process in started.processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def workers(scheduler: Cluster) -> Cluster:
    from distributed import Client

    (scheduler.folder / "preload.py").write_text(PRELOAD)
    for _ in range(2):
        scheduler.start(
            "distributed.cli.dask_worker", scheduler.address, "--no-nanny", "--nthreads", "1",
            "--local-directory", "space", "--preload", "preload.py",
        )  # fmt: skip
    with Client(scheduler.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    return scheduler


def readers(folder: Path) -> list[str]:
    """Who was called, since the last time."""
    found = (folder / "calls").read_text().split()
    (folder / "calls").unlink()
    return found


# ---------------------------------------------------------------- no cluster


def test_without_dask_the_command_to_install_it_is_told(
    in_demo: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    answer = in_demo("evaluate --dask tcp://127.0.0.1:8786", code=4)
    assert (
        answer.err
        == "robustcs: --dask tcp://127.0.0.1:8786 needs Dask; pip install 'robustcs[dask]'\n"
    )


@needs_dask
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "http://a:1", "127.0.0.1"])
def test_where_nobody_answers_that_is_told(
    address: str, in_demo: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_io, "_ANSWER", 0.5)
    answer = in_demo(f"evaluate --dask {address}", code=2)
    advice = "give the address of a running scheduler, such as tcp://node1:8786"
    assert (
        answer.err == f"robustcs: no Dask scheduler answers at {address}; {advice}\n"
        and not answer.out
    )


def test_an_address_is_a_text(in_demo: Command, demo: Path) -> None:
    assert "write the address of a scheduler" in in_demo("evaluate --dask ''", code=2).err
    with pytest.raises(UsageError, match="dask is 8786; write the address"):
        robustcs.evaluate(demo / "robustcs.toml", dask=8786)


@needs_dask
def test_a_worker_has_this_version_of_robustcs() -> None:
    with pytest.raises(ImportError, match=__version__):
        parallel_io._on_worker("0.0.1", b"", [])


# ---------------------------------------------------------------- a cluster, until it is killed


@needs_dask
def test_a_cluster_without_workers_is_told(
    scheduler: Cluster, in_demo: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_io, "_COME", 0.5)
    found = f"robustcs: the Dask cluster at {scheduler.address} has no worker"
    answer = in_demo(f"evaluate --dask {scheduler.address}", code=2)
    assert answer.err == f"{found}; start one with: dask worker {scheduler.address}\n"


@needs_dask
@pytest.mark.parametrize("line", ["evaluate", "breakdown", "unjudged", "augment"])
def test_the_output_is_that_of_one_process(
    line: str, workers: Cluster, in_demo: Command, demo: Path
) -> None:
    line += " --format json"
    line += (
        f" --run elsewhere={demo / 'runs' / 'plain_qr.trec'}" if line.startswith("evaluate") else ""
    )
    here = in_demo(line)
    there = in_demo(f"{line} --dask {workers.address}")
    assert there == here
    # breakdown reads three runs
    assert len(set(readers(workers.folder))) == 2


@needs_dask
def test_what_a_program_has_in_memory_is_read_here(workers: Cluster, demo: Path) -> None:
    runs = {"memory": {"1_1": {"sourdough_01": 1.0}}, "a": demo / "runs" / "plain_qr.trec"}
    here = robustcs.evaluate(qrels=demo / "qrels.txt", runs=runs)
    there = robustcs.evaluate(qrels=demo / "qrels.txt", runs=runs, dask=workers.address)
    assert here.measures.equals(there.measures) and here.inputs == there.inputs
    assert len(readers(workers.folder)) == 1


@needs_dask
def test_errors_of_files_are_told_as_by_one_process(
    workers: Cluster, tmp_path: Path, in_copy: Command
) -> None:
    (tmp_path / "demo" / "runs" / "plain_qr.trec").write_text("1_1 Q0 d1 1 high t\n")
    (tmp_path / "demo" / "runs" / "stem_raw_1.trec").unlink()
    for line in ("evaluate", "evaluate --original runs/absent.trec"):
        here, there = in_copy(line, code=3), in_copy(f"{line} --dask {workers.address}", code=3)
        assert there == here
    assert here.err.startswith("runs/stem_raw_1.trec: no such file")


@needs_dask
@pytest.mark.skipif(
    not Path("/proc/self/cwd").exists(), reason="no paths that each process sees in its own way"
)
def test_a_file_that_a_worker_does_not_see(workers: Cluster, in_demo: Command) -> None:
    path = "/proc/self/cwd/runs/plain_qr.trec"
    error = in_demo(f"evaluate --original {path} --dask {workers.address}", code=3).err
    assert error.startswith(f"{path}: no such file on worker tcp://127.0.0.1:")
    assert error.endswith(" of the Dask cluster; give a path or URL that all workers can open\n")


@needs_dask
def test_nothing_is_lost_with_a_worker_that_is_killed(workers: Cluster, in_demo: Command) -> None:
    here = in_demo("evaluate --format json")
    (workers.folder / "calls").unlink(missing_ok=True)
    (workers.folder / "worker").touch()
    there = in_demo(f"evaluate --format json --dask {workers.address}")
    assert there == here and json.loads(there.out)["tables"]["measures"]
    _, *two = workers.processes
    killed = [process for process in two if process.poll() is not None]
    assert [process.returncode for process in killed] == [-signal.SIGKILL]
    called = readers(workers.folder)
    assert set(called) == {str(process.pid) for process in two}
    # what the killed one had was given to the other
    runs = len(json.loads(here.out)["inputs"]) - 1
    assert len(called) > runs > called.count(str(killed[0].pid)) > 0


@needs_dask
def test_a_scheduler_that_goes_away_is_told(workers: Cluster, in_demo: Command) -> None:
    (workers.folder / "scheduler").write_text(str(workers.processes[0].pid))
    answer = in_demo(f"evaluate --dask {workers.address}", code=3)
    found = f"robustcs: the connection to the Dask cluster at {workers.address} was lost"
    assert (
        answer.err == f"{found}; check its scheduler, and run the command again\n"
        and not answer.out
    )
