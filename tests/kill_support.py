"""Commands as processes that start at once: one process imports the program, and forks for every command line.

A forked child is a process of its own with the program's own ``main``; ``os.fsync`` waits a little in it, so that a signal
finds it more often between the beginning of a file and its end.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

_SERVER = """
import importlib, io, json, os, pkgutil, signal, sys, time
import robustcs.cli.main as main
import numpy, pandas, scipy.stats, pyarrow.csv, matplotlib.figure, matplotlib.backends.backend_agg, jinja2, rich.console, typst
import robustcs.api, robustcs.project.workspace, robustcs.reporting.build, robustcs.studies.judge.terminal
import robustcs.studies
for module in pkgutil.walk_packages(robustcs.studies.__path__, "robustcs.studies."):  # each loads its own when it is called
    importlib.import_module(module.name)
fsync = os.fsync
def slow(handle):
    time.sleep(0.004)
    fsync(handle)
for line in sys.stdin:
    order = json.loads(line)
    if "wait" in order:
        print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(order["wait"], 0)[1])), flush=True)
        continue
    child = os.fork()
    if child == 0:
        os.chdir(order["folder"])
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        keys = os.open(order["keys"], os.O_RDONLY)
        for number, handle in enumerate((keys, log, log)):
            os.dup2(handle, number)
        sys.stdin, sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(n, "rw"[n > 0]), write_through=n > 0) for n in range(3))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.fsync = slow
        sys.argv = ["robustcs", *order["arguments"]]
        try:
            main.main()
        except SystemExit as end:
            import atexit
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(end.code or 0)
        os._exit(99)
    print(json.dumps(child), flush=True)
"""


class Programs:
    """Starts commands in ``folder`` and waits for them."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.server = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, arguments: list[str], folder: Path, keys: Path) -> int:
        """The process id of ``robustcs ARGUMENTS``, with ``keys`` as its standard input."""
        order = {
            "arguments": arguments,
            "folder": str(folder),
            "keys": str(keys),
            "log": str(self.folder / "log"),
        }
        return int(self._ask(order))

    def wait(self, process: int) -> int:
        """The exit code; that of a signal is negative."""
        return int(self._ask({"wait": process}))

    def said(self) -> str:
        """What all of them wrote so far."""
        return (self.folder / "log").read_text(errors="replace")

    def close(self) -> None:
        self.server.stdin.close()  # type: ignore[union-attr]
        self.server.wait()
        self.server.stdout.close()  # type: ignore[union-attr]

    def _ask(self, order: object) -> str:
        assert self.server.stdin and self.server.stdout
        self.server.stdin.write(json.dumps(order) + "\n")
        self.server.stdin.flush()
        return str(json.loads(self.server.stdout.readline()))
