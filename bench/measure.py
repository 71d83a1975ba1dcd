"""Run commands in fresh processes and measure their cost; standard library only."""

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
#: Commands that take longer, in seconds, run only once.
LONG = 20.0


class Cost(NamedTuple):
    """Cost of one process: wall and CPU (user + system) seconds, and peak resident memory in MB."""

    wall: float
    cpu: float
    memory: float


def run_once(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[Cost, str]:
    """Return the cost of ``command`` and its child processes, and its output. Raises :class:`RuntimeError` if it fails."""
    with NamedTemporaryFile() as report:
        metered = [sys.executable, "-I", "-S", str(METER), report.name, *command]
        done = subprocess.run(metered, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["no message"]
            raise RuntimeError(f"{' '.join(command)} failed: {said[-1]}")
        wall, cpu, memory = (float(cell) for cell in report.read().split())
    return Cost(wall, cpu, memory / 1024), done.stdout


def environment(cache: Path) -> dict[str, str]:
    """Return the environment of this checkout's robustcs; ``cache`` keeps byte code and compiled functions."""
    given = dict(
        os.environ,
        PYTHONPATH=str(ROOT),
        PYTHONPYCACHEPREFIX=str(cache / "python"),
        NUMBA_CACHE_DIR=str(cache / "numba"),
    )
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    # PYTHONSAFEPATH: files in the script's folder cannot shadow packages. One thread, as robustcs sets it itself: an unused
    # thread pool takes time to start
    return given | {"PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1"}


def measure(
    commands: Mapping[str, Sequence[str]], repeats: int, given: Mapping[str, str]
) -> tuple[dict[str, Cost], dict[str, str]]:
    """Return name → medians of ``repeats`` runs, and name → output.

    The commands alternate, so that other load affects all of them. Commands that take longer than :data:`LONG` run once.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    outputs = {}
    for _ in range(repeats):
        for name, command in commands.items():
            if not costs[name] or costs[name][0].wall < LONG:
                cost, outputs[name] = run_once(command, given)
                costs[name].append(cost)
    return {
        name: Cost(*map(median, zip(*some, strict=True))) for name, some in costs.items()
    }, outputs


def machine() -> str:
    """Return a description of the machine: cores, system, Python."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores · {platform.system()} {platform.machine()} · Python {sys.version.split()[0]}"
