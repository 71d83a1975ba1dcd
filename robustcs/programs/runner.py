"""Ask a program of the user, and never believe it: every answer is checked, counted, and kept as data.

The protocol, which docs/programs.md states for users: the program is started once, without a shell. It gets one JSON object a
line on stdin, each with an ``id``, and its stdin is closed after the last. It writes one JSON object a line to stdout, in any
order, each with the ``id`` that it answers. What else it needs to say goes to stderr. An answer with ``error`` is a failure.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from robustcs.errors import UsageError
from robustcs.inputs.files import parse_json, sha256

#: Shows progress over an iterable: (items, what is being done, how many) → the same items.
Track = Callable[[Iterable[Any], str, int], Iterable[Any]]
#: Seconds without any line after which a program counts as stuck.
TIMEOUT = 600.0
#: Bytes of one answer; lines of no use that are borne beside as many as there are requests.
_LONGEST, _USELESS = 1 << 20, 1000
#: Seconds after which it is looked whether to stop.
_LOOKS = 0.2
#: Answers that are kept at a time: an interruption loses no more than these.
_BATCH = 16


@dataclass
class Replies:
    """What a program said.

    answers
        Id → its answer, the first where it gave several.
    failed
        Requests without a usable answer: none, one with ``error``, or one that the caller refuses.
    refused
        Id → its answer, of those among them that have one.
    repeated, foreign, unreadable
        Lines that answer what was answered, what nobody asked, and lines that are no JSON object with an ``id``.
    complaint
        How the program ended, where it did not end well; empty otherwise.
    """

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: int = 0
    refused: dict[str, dict[str, Any]] = field(default_factory=dict)
    repeated: int = 0
    foreign: int = 0
    unreadable: int = 0
    complaint: str = ""

    def take(self, other: Replies) -> None:
        """Add what was said elsewhere: its answers and its counts of lines; how it ended is the caller's to weigh."""
        self.answers |= other.answers
        self.refused |= other.refused
        self.repeated += other.repeated
        self.foreign += other.foreign
        self.unreadable += other.unreadable


def program_identity(command: str) -> str:
    """A key that two commands share only where they are the same: their words, and the contents of files among these.

    Raises :class:`UsageError` for a command that cannot be split into words.
    """
    words = words_of(command)
    contents = [sha256(word) if Path(word).is_file() else "" for word in words[1:]]
    return hashlib.sha256(json.dumps([words, contents]).encode("utf-8", "replace")).hexdigest()


def words_of(command: str) -> list[str]:
    """The words of a command line, split as a shell does; nothing in it is expanded or run by a shell."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError("bad-command", f"--with {command}: {error}", "quote it as for a shell") from None
    if not words:
        raise UsageError("bad-command", "--with has no command", "name a program, such as --with 'python model.py'")
    return words


def ask_program(
    command: str,
    requests: Sequence[Mapping[str, Any]],
    keep: Callable[[Mapping[str, dict[str, Any]]], None] = lambda answers: None,
    *,
    accept: Callable[[dict[str, Any]], bool] = lambda answer: True,
    what: str = "asking",
    timeout: float = TIMEOUT,
    track: Track = lambda items, what, total: items,
    stop: threading.Event | None = None,
) -> Replies:
    """Ask ``command`` every request (each has an ``id`` of its own) and return what it answered.

    keep
        Gets usable answers by id, some at a time, so that they outlast whatever happens next.
    accept
        Is an answer what was asked for? One that is not counts as failed.
    timeout
        Seconds without any line after which the program is ended, and what it has not answered counts as failed.
    stop
        Set from another thread, it ends the program.

    Raises :class:`UsageError` where the program cannot be started, or ends badly without a single answer.
    """
    words = words_of(command)
    if not requests:
        return Replies()
    open_ = {str(request["id"]) for request in requests}
    replies, fresh = Replies(), dict[str, dict[str, Any]]()
    with tempfile.TemporaryFile() as complaints, _started(command, words, complaints) as process:
        lines = _talk(process, requests)
        try:
            for _ in track(_read(process, lines, open_, replies, fresh, accept, timeout, stop), what, len(requests)):
                if len(fresh) >= _BATCH:
                    keep(fresh)
                    fresh.clear()
        finally:
            keep(fresh)
        if not open_ - replies.answers.keys() and not replies.complaint:
            # it has said all that was asked for; how it ends is its own affair
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
        if stop is not None and stop.is_set():
            replies.complaint = replies.complaint or "was stopped"
        replies.complaint = replies.complaint or _ending(process)
        said = _last_line(complaints)
    replies.failed = len(open_ - replies.answers.keys())
    if replies.complaint and said:
        replies.complaint += f": {said}"
    if not replies.answers and replies.complaint:
        raise UsageError("program-failed", f"--with {command} {replies.complaint}", "try it with one line of docs/programs.md")
    return replies


@contextlib.contextmanager
def _started(command: str, words: Sequence[str], complaints: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The running program; whatever happens, neither it nor what it started is left behind."""
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, start_new_session=True
        )  # fmt: skip
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError("no-such-program", f"--with {command}: cannot be started ({reason})", "check its name") from None
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]


def _talk(process: subprocess.Popen[bytes], requests: Sequence[Mapping[str, Any]]) -> queue.Queue[bytes | None]:
    """Write all requests and read all lines, each in a thread of its own, so that neither side waits for the other."""
    lines: queue.Queue[bytes | None] = queue.Queue(maxsize=1024)

    def write() -> None:
        assert process.stdin is not None
        # a program that closes its stdin or ends has said how much it wants to hear
        with contextlib.suppress(OSError, ValueError):
            for request in requests:
                process.stdin.write((json.dumps(request, ensure_ascii=True) + "\n").encode())
                process.stdin.flush()
            process.stdin.close()

    def read() -> None:
        assert process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while line := process.stdout.readline(_LONGEST):
                lines.put(line)
        lines.put(None)

    for task in (write, read):
        threading.Thread(target=task, daemon=True).start()
    return lines


def _read(
    process: subprocess.Popen[bytes],
    lines: queue.Queue[bytes | None],
    asked: set[str],
    replies: Replies,
    fresh: dict[str, dict[str, Any]],
    accept: Callable[[dict[str, Any]], bool],
    timeout: float,
    stop: threading.Event | None,
) -> Iterator[str]:
    """Sort the lines into ``replies`` and ``fresh``; yields an id for every request that is answered, or refused."""
    refused = replies.refused
    while len(replies.answers) + len(refused) < len(asked):
        try:
            line = _next(lines, timeout, stop)
        except queue.Empty:
            replies.complaint = f"said nothing for {timeout:g} seconds"
            return
        if line is None:
            return
        answer = _parsed(line)
        if answer is None:
            replies.unreadable += bool(line.strip())
        elif (key := str(answer["id"])) not in asked:
            replies.foreign += 1
        elif key in replies.answers or key in refused:
            replies.repeated += 1
        elif "error" in answer or not accept(answer):
            refused[key] = answer
            yield key
        else:
            replies.answers[key] = fresh[key] = answer
            yield key
        if replies.unreadable + replies.foreign + replies.repeated > _USELESS + len(asked):
            replies.complaint = "says what nobody asked for, without end"
            return
    # what it says after the last answer is counted as far as it is there
    with contextlib.suppress(queue.Empty):
        while (line := lines.get(timeout=0.2)) is not None:
            answer = _parsed(line)
            if answer is None:
                replies.unreadable += bool(line.strip())
            else:
                known = str(answer["id"]) in asked
                replies.repeated, replies.foreign = replies.repeated + known, replies.foreign + (not known)
            if replies.unreadable + replies.foreign + replies.repeated > _USELESS + len(asked):
                return


def _next(lines: queue.Queue[bytes | None], timeout: float, stop: threading.Event | None) -> bytes | None:
    """The next line, None at the end or once ``stop`` is set. Raises :class:`queue.Empty` after ``timeout`` seconds."""
    if stop is None:
        return lines.get(timeout=timeout)
    end = time.monotonic() + timeout
    while not stop.is_set():
        left = end - time.monotonic()
        try:
            return lines.get(timeout=max(0.0, min(left, _LOOKS)))
        except queue.Empty:
            if left <= _LOOKS:
                raise
    return None


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        answer = parse_json(line.decode("utf-8"))
    except ValueError:
        return None
    usable = isinstance(answer, dict) and isinstance(answer.get("id"), str | int) and not isinstance(answer["id"], bool)
    return answer if usable else None


def _ending(process: subprocess.Popen[bytes]) -> str:
    """How the program ended, where that was not well."""
    try:
        code = process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return ""
    if code < 0:
        return f"was ended by signal {-code}"
    return f"ended with exit status {code}" if code else ""


def _last_line(complaints: IO[bytes]) -> str:
    """The last line that the program wrote to stderr, without anything that a terminal would act on."""
    complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - 4096))
    lines = complaints.read().decode("utf-8", "replace").strip().splitlines()
    return "".join(letter if letter.isprintable() else " " for letter in lines[-1])[:300].strip() if lines else ""
