"""Runs commands in fresh processes and reports what they took; standard library only, so that this process stays small."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Cost:
    """One process from start to end: wall and CPU (user + system) seconds, peak resident memory in MB."""

    wall: float
    cpu: float
    memory: float


def run_once(command: Sequence[str], environment: dict[str, str] | None = None) -> tuple[Cost, str]:
    """What ``command`` took and printed. Raises :class:`RuntimeError` when it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), output


def measure(commands: Mapping[str, Sequence[str]], repeats: int) -> dict[str, tuple[Cost, str]]:
    """Name → medians of ``repeats`` runs, and the output. The commands take turns, so that a busy machine slows all alike.

    A first round that is not counted fills the file cache and writes Python's byte code, as an installation does.
    """
    with TemporaryDirectory() as byte_code:
        # this checkout, also where robustcs is not installed
        environment = dict(os.environ, PYTHONPYCACHEPREFIX=byte_code, PYTHONPATH=str(ROOT))
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        outputs = {name: run_once(command, environment)[1] for name, command in commands.items()}
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for _ in range(repeats):
            for name, command in commands.items():
                costs[name].append(run_once(command, environment)[0])
    return {
        name: (
            Cost(*(median(getattr(cost, field) for cost in some) for field in ("wall", "cpu", "memory"))),
            outputs[name],
        )
        for name, some in costs.items()
    }


def machine() -> str:
    """The machine in neutral words: cores, system, Python."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores · {platform.system()} {platform.machine()} · Python {sys.version.split()[0]}"
