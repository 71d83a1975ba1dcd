"""Measure many runs with ``--jobs`` and ``--dask``: ``python bench/many.py [--runs 200] [--turns 100] [--write]``.

Every run has TURNS × 1000 lines and is generated in a temporary folder. Each row evaluates all runs, or half of them, with one
measure; all rows must print the same means. Workers of Dask run on this machine, with one thread each. Memory is the peak of
the largest process. The last row kills one of two workers halfway.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import METER, Cost, environment, machine, run_once
from pages import put

HERE = Path(__file__).parent
ADDRESS = "tcp://127.0.0.1:{port}"


def command(folder: Path, runs: int, *more: str) -> list[str]:
    """Return the evaluation of the first ``runs`` runs."""
    given = [
        part
        for path in sorted((folder / "runs").iterdir())[:runs]
        for part in ("--run", f"{path.stem}={path}")
    ]
    asked = [
        "--metric",
        "ndcg_cut_3",
        "--table",
        "measures",
        "--format",
        "csv",
        "--config",
        os.devnull,
    ]
    return [
        sys.executable,
        str(HERE.parent / "cli.py"),
        "evaluate",
        "--qrels",
        str(folder / "qrels.txt"),
        *given,
        *asked,
        *more,
    ]


@contextmanager
def cluster(
    workers: int, port: int, given: dict[str, str], folder: Path
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run a scheduler and workers; yield the workers. Their costs are in ``folder/worker-NUMBER`` afterwards."""
    dask = [sys.executable, "-m", "dask"]
    silent = {"env": given, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--port", str(port), "--no-dashboard"], **silent
    )
    started = []
    for number in range(workers):
        metered = [sys.executable, "-I", "-S", str(METER), str(folder / f"worker-{number}")]
        worker = [
            *dask,
            "worker",
            ADDRESS.format(port=port),
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        ]
        started.append(subprocess.Popen([*metered, *worker], start_new_session=True, **silent))
    try:
        wait(port, workers)
        yield started
    finally:
        for process in started:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            for child in children.read_text().split() if children.exists() else ():
                os.kill(int(child), signal.SIGTERM)
        for process in started:
            process.wait(60)
        scheduler.terminate()
        scheduler.wait(60)


def wait(port: int, workers: int) -> None:
    """Wait until all workers have joined the scheduler."""
    from distributed import Client

    with Client(ADDRESS.format(port=port), timeout=60) as client:
        client.wait_for_workers(workers, timeout=60)


def worker_cost(folder: Path, number: int) -> Cost:
    """Return the cost of a worker that has ended."""
    wall, cpu, memory = map(float, (folder / f"worker-{number}").read_text().split())
    return Cost(wall, cpu, memory / 1024)


def rows(
    folder: Path, runs: int, given: dict[str, str], port: int
) -> Iterator[tuple[str, int, Cost, str]]:
    """Yield (way, number of runs, cost, means) of every row."""
    for number in (runs // 2, runs):
        yield "one process", number, *run_once(command(folder, number), given)
        yield "--jobs 2", number, *run_once(command(folder, number, "--jobs", "2"), given)
        for workers in (1, 2):
            port += 1
            with cluster(workers, port, given, folder):
                cost, means = run_once(
                    command(folder, number, "--dask", ADDRESS.format(port=port)), given
                )
            every = [cost, *(worker_cost(folder, one) for one in range(workers))]
            whole = Cost(cost.wall, sum(one.cpu for one in every), max(one.memory for one in every))
            yield f"--dask, {workers} worker{'s' * (workers > 1)}", number, whole, means
    half, port = whole.wall / 2, port + 1
    with cluster(2, port, given, folder) as workers_:
        asked = subprocess.Popen(command(folder, runs, "--dask", ADDRESS.format(port=port)), env=given, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        start = time.perf_counter()
        time.sleep(half)
        os.killpg(workers_[0].pid, signal.SIGKILL)
        means = asked.communicate()[0]
        wall = time.perf_counter() - start
    yield (
        "--dask, 2 workers, one killed halfway",
        runs,
        Cost(wall, 0, worker_cost(folder, 1).memory),
        means,
    )


def table(found: Sequence[tuple[str, int, Cost]], lines: int, load: float) -> list[str]:
    """Return the table."""
    shown = [f"{machine()}, load {load:.1f}, {lines:,} lines per run.", "", "| | runs | wall s | CPU s | peak MB |",
             "|---|--:|--:|--:|--:|"]  # fmt: skip
    for way, runs, cost in found:
        shown.append(
            f"| {way} | {runs} | {cost.wall:.1f} | {f'{cost.cpu:.1f}' if cost.cpu else '–'} | {cost.memory:.0f} |"
        )
    return shown


def main() -> None:
    """Measure, print, and write with --write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--port", type=int, default=8790)
    parser.add_argument("--write", action="store_true", help="write the table into bench/README.md")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder, given = Path(name), environment(Path(name) / "cache")
        made = ["made", str(options.runs), str(options.turns), "1000"]
        run_once([sys.executable, str(HERE / "collection.py"), name, *made], given)
        load, found, first = os.getloadavg()[0], [], {}
        for way, runs, cost, means in rows(folder, options.runs, given, options.port):
            found.append((way, runs, cost))
            print(table(found, options.turns * 1000, load)[-1], flush=True)
            if first.setdefault(runs, means) != means:
                raise SystemExit(f"{way}, {runs} runs: other means than in one process")
    lines = table(found, options.turns * 1000, (load + os.getloadavg()[0]) / 2)
    print("\n".join(lines))
    if options.write:
        put(HERE / "README.md", "many", lines)


if __name__ == "__main__":
    main()
