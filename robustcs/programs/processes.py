"""Start and stop the processes of a user's program, including everything that they started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from robustcs.errors import ProgramError

#: Environment variable that identifies processes whose parent has ended and that left the session.
_TOKENS = "ROBUSTCS_PROGRAM"
#: Seconds to wait until killed processes are gone.
_PATIENCE = 2.0


def start(command: str, words: Sequence[str], tokens: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start the program without a shell in a new session, with non-blocking pipes.

    Raises :class:`ProgramError` if it cannot be started.
    """
    marks = ",".join([*filter(None, [os.environ.get(_TOKENS)]), *tokens])
    try:
        process = subprocess.Popen(
            words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env={**os.environ, _TOKENS: marks},
        )  # fmt: skip
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProgramError(
            "no-such-program",
            command,
            f": cannot be started ({reason})",
            "check its name",
        ) from None
    for stream in (process.stdin, process.stdout, process.stderr):
        os.set_blocking(stream.fileno(), False)  # type: ignore[union-attr]
    return process


def end(processes: Collection[subprocess.Popen[bytes]], token: str) -> None:
    """Kill the processes and everything that they started, as far as Linux shows it; elsewhere their process groups."""
    deadline, unseen = time.monotonic() + _PATIENCE, 0
    # twice, because a process may have ended while its child was too new to be seen
    while unseen < 2 and time.monotonic() < deadline:
        family = _family(
            {one.pid for one in processes if one.returncode is None},
            {one.pid for one in processes},
            token,
        )
        for kill, pids in ((os.killpg, {one.pid for one in processes}), (os.kill, family)):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(pid, signal.SIGKILL)
        unseen = 0 if family else unseen + 1
        time.sleep(0.01)
    for one in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            one.wait(_PATIENCE)


def _family(running: set[int], sessions: set[int], token: str) -> set[int]:
    """Return the living processes that are ``running``, share their session or token, or descend from them."""
    found, parents = set(running), dict[int, int]()
    with contextlib.suppress(OSError):  # a system without /proc
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            with contextlib.suppress(OSError, ValueError):
                # it has ended, or belongs to another user
                state, parent, _, session = (
                    (folder / "stat").read_bytes().rpartition(b") ")[2].split()[:4]
                )
                if state in b"ZX":
                    continue
                pid = int(folder.name)
                parents[pid] = int(parent)
                if int(session) in sessions or token in _tokens(folder):
                    found.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found & parents.keys()


def _tokens(folder: Path) -> list[str]:
    """Return the tokens that a process inherited."""
    for variable in (folder / "environ").read_bytes().split(b"\0"):
        name, _, value = variable.partition(b"=")
        if name == _TOKENS.encode():
            return value.decode("ascii", "replace").split(",")
    return []
