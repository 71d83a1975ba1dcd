"""Runs commands in fresh processes and reports what they took; standard library only."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
METER = ROOT / "bench" / "meter.py"
#: Seconds from which one run tells enough.
LONG = 20.0


class Cost(NamedTuple):
    """One process from start to end: wall and CPU (user + system) seconds, peak resident memory in MB."""

    wall: float
    cpu: float
    memory: float


def run_once(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[Cost, str]:
    """What ``command`` took, with the processes that it started, and printed. Raises :class:`RuntimeError` when it fails."""
    with NamedTemporaryFile() as report:
        metered = [sys.executable, "-I", "-S", str(METER), report.name, *command]
        done = subprocess.run(metered, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["nothing said"]
            raise RuntimeError(f"{' '.join(command)} failed: {said[-1]}")
        wall, cpu, memory = (float(cell) for cell in report.read().split())
    return Cost(wall, cpu, memory / 1024), done.stdout


def environment(cache: Path) -> dict[str, str]:
    """This checkout's robustcs; byte code and compiled functions kept in ``cache``, as an installation keeps them."""
    given = dict(
        os.environ, PYTHONPATH=str(ROOT), PYTHONPYCACHEPREFIX=str(cache / "python"), NUMBA_CACHE_DIR=str(cache / "numba")
    )
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    # no script beside the measured one hides a package; one thread as robustcs sets it for itself, since a pool of threads that
    # nobody uses takes time to start
    return given | {"PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1"}


def measure(
    commands: Mapping[str, Sequence[str]], repeats: int, given: Mapping[str, str]
) -> tuple[dict[str, Cost], dict[str, str]]:
    """Name → medians of ``repeats`` runs, and name → output. The commands take turns, so that a busy machine slows all alike.

    What took longer than :data:`LONG` runs once.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    outputs = {}
    for _ in range(repeats):
        for name, command in commands.items():
            if not costs[name] or costs[name][0].wall < LONG:
                cost, outputs[name] = run_once(command, given)
                costs[name].append(cost)
    return {name: Cost(*map(median, zip(*some, strict=True))) for name, some in costs.items()}, outputs


def machine() -> str:
    """The machine in neutral words: cores, system, Python."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores · {platform.system()} {platform.machine()} · Python {sys.version.split()[0]}"
