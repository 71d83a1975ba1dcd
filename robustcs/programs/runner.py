"""Run a user's program without trusting it: every answer is checked, counted, and treated as data.

Protocol (see docs/programs.md): the program is started once, without a shell. It reads one JSON object per line from stdin,
each with an ``id``; stdin is closed after the last one. It writes one JSON object per line to stdout, in any order, each with
the ``id`` of its request. Other messages go to stderr. An answer with ``error`` is a failure.
"""

from __future__ import annotations

import hashlib
import json
import selectors
import shlex
import subprocess
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import IO, Any

from robustcs.errors import ProgramError, UsageError
from robustcs.inputs.files import fingerprint, sha256
from robustcs.inputs.text import half_character, parse_json
from robustcs.messages import Either, Message, OptionName
from robustcs.programs.outputs import OutputStore
from robustcs.programs.processes import end, start
from robustcs.wording import counted

#: Shows progress over an iterable: (items, description, number of items) → the same items.
Track = Callable[[Iterable[Any], str, int], Iterable[Any]]
#: Seconds without a useful answer after which a program counts as stuck.
TIMEOUT = 600.0
#: Largest answer in bytes; tolerated useless lines in a row, in addition to the number of requests.
_LONGEST, _USELESS = 1 << 20, 1000
#: Bytes per read or write, and bytes that an ended program may leave in a pipe.
_CHUNK = 1 << 16
_LARGEST_PIPE = 1 << 20
#: Seconds between checks whether a program has ended or is stuck.
_LOOKS = 0.05
#: Seconds for a program to exit after its last answer, and for its output to end after it exits.
_GRACE = 5.0
#: Answers that are stored at a time.
_BATCH = 16
_BLANK = "is blank"


@dataclass
class Replies:
    """The answers of a program.

    answers
        Id → its answer; the first one if there are several.
    failed
        Number of requests without a usable answer: none, one with ``error``, or one that the caller rejects.
    refused
        Id → its answer, for the failed requests with an answer.
    repeated, foreign, unreadable
        Numbers of lines that repeat an answer, that have an unknown id, and that are not JSON objects with an ``id``.
    useless
        Problem of a line that is not an answer (including blank lines) → the first such line.
    complaint
        How the program ended, if it did not end well; else empty.
    """

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: int = 0
    refused: dict[str, dict[str, Any]] = field(default_factory=dict)
    repeated: int = 0
    foreign: int = 0
    unreadable: int = 0
    useless: dict[str, str] = field(default_factory=dict)
    complaint: str = ""

    def take(self, other: Replies) -> None:
        """Add the answers and useless lines of another part; the caller combines the complaints."""
        self.answers |= other.answers
        self.refused |= other.refused
        self.repeated += other.repeated
        self.foreign += other.foreign
        self.unreadable += other.unreadable
        self.useless = other.useless | self.useless


def program_identity(command: str) -> str:
    """Return a key of a command: equal only for equal words and equal contents of the files and model folders among them.

    Model folders contain a ``config.json``.

    Raises :class:`UsageError` for a command that cannot be split into words.
    """
    words = words_of(command)
    contents = [
        sha256(word)
        if Path(word).is_file()
        else fingerprint(Path(word))
        if Path(word, "config.json").is_file()
        else ""
        for word in words[1:]
    ]
    return hashlib.sha256(json.dumps([words, contents]).encode("utf-8", "replace")).hexdigest()


def words_of(command: str) -> list[str]:
    """Split a command line into words as a shell does; nothing in it is expanded or run by a shell."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ProgramError("bad-command", command, f": {error}", "quote it as in a shell") from None
    if not words:
        raise UsageError(
            "bad-command",
            Message(OptionName("with"), " has no command"),
            Message(
                "name a program, such as ", Either("--with 'python model.py'", "'python model.py'")
            ),
        )
    return words


@dataclass(frozen=True)
class ProgramCall:
    """Settings for running a program.

    copies
        Number of copies that run in parallel, each with a part of the requests.
    retries
        How often to retry a request without an answer or with ``error``. Answers that the caller rejects are not retried.
    timeout
        Seconds without a useful answer after which a copy is stopped and its open requests count as failed. An answer is useful
        if it is the first one to a request, so no copy runs for longer than about ``timeout`` times the number of its requests.
    """

    command: str
    copies: int = 1
    retries: int = 0
    timeout: float = TIMEOUT


def call_program(
    call: ProgramCall,
    requests: Sequence[Mapping[str, Any]],
    keep: Callable[[Mapping[str, dict[str, Any]]], None] = lambda answers: None,
    *,
    accept: Callable[[dict[str, Any]], bool] = lambda answer: True,
    what: str = "asking",
    track: Track = lambda items, what, total: items,
) -> Replies:
    """Send every request to a program and return its answers; each request has its own ``id``.

    keep
        Called with usable answers by id, several at a time. It gets all answers even if the run is interrupted by Ctrl-C.
    accept
        Returns whether an answer is valid. An invalid answer counts as failed.

    All copies end with everything that they started. Raises :class:`ProgramError` if the program cannot be started.
    """
    words, total, left = words_of(call.command), Replies(), list(requests)
    for _ in range(1 + call.retries):
        token, fresh = uuid.uuid4().hex, dict[str, dict[str, Any]]()
        copies: list[_Copy] = []
        with selectors.DefaultSelector() as selector:
            try:
                for place in range(min(call.copies, len(left))):
                    mark = f"{token}.{place}"
                    process = start(call.command, words, (token, mark))
                    copies.append(
                        _Copy(process, mark, left[place :: call.copies], accept, fresh, selector)
                    )
                for _ in track(_listen(copies, selector, call.timeout), what, len(left)):
                    if len(fresh) >= _BATCH:
                        keep(fresh)
                        fresh.clear()
            finally:
                try:
                    end([one.process for one in copies if not one.over], token)
                    for one in copies:
                        one.finish()
                finally:
                    keep(fresh)
        for one in copies:
            total.take(one.replies)
        total.complaint = next(
            (one.replies.complaint for one in copies if one.replies.complaint), total.complaint
        )
        left = [one for one in left if _open(str(one["id"]), total)]
        if not left:
            break
    total.failed = len({str(request["id"]) for request in requests} - total.answers.keys())
    total.refused = {
        key: answer for key, answer in total.refused.items() if key not in total.answers
    }
    return total


def _open(key: str, replies: Replies) -> bool:
    """Return whether a request should be retried."""
    return key not in replies.answers and "error" in replies.refused.get(key, {"error": ""})


def call_working_program(
    call: ProgramCall, requests: Sequence[Mapping[str, Any]], *keep: Any, **options: Any
) -> Replies:
    """Return :func:`call_program`. Raises :class:`ProgramError` also for a program that fails without a single answer."""
    replies = call_program(call, requests, *keep, **options)
    if replies.complaint and not (replies.answers or replies.refused):
        advice = "check it with robustcs try-program"
        raise ProgramError("program-failed", call.command, f" {replies.complaint}", advice)
    return replies


def call_with_store(
    call: ProgramCall,
    maker: str,
    requests: Mapping[str, Mapping[str, Any]],
    read: Callable[[Mapping[str, Any]], Any],
    doing: str,
    track: Track,
    about: Callable[[str], Mapping[str, Any]] = lambda key: {},
) -> tuple[dict[str, Any], int, Replies]:
    """Return key → ``read`` of its answer (None if it is useless), the number of stored answers, and the replies.

    Answers that ``maker`` gave to an equal request before are taken from the store. ``about`` returns fields of a request that
    do not affect the answer. Raises as :func:`call_working_program` does.
    """
    store = OutputStore()
    found = store.get(maker, requests)
    lines = [
        {"id": key, **about(key), **request}
        for key, request in requests.items()
        if key not in found
    ]
    known = len(found)
    replies = call_working_program(
        call, lines, lambda answers: store.put(maker, {key: read(answer) for key, answer in answers.items()}, requests),
        accept=lambda answer: read(answer) is not None, what=f"{doing} {counted(len(lines), 'text')}", track=track,
    )  # fmt: skip
    return found | {key: read(answer) for key, answer in replies.answers.items()}, known, replies


def _listen(
    copies: Sequence[_Copy], selector: selectors.BaseSelector, timeout: float
) -> Iterator[None]:
    """Communicate with the copies until all have ended; yield once for every request with an answer, even a rejected one."""
    while running := [copy for copy in copies if not copy.over]:
        count = sum(key.data() for key, _ in selector.select(_LOOKS))
        for copy in running:
            if copy.ends(timeout):
                end([copy.process], copy.token)
                count += copy.finish()
        # last, because storing answers may be slow: answers that arrive meanwhile are read before the check for a stuck program
        yield from repeat(None, count)


class _Copy:
    """A running program, with the requests still to send and the replies so far."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        token: str,
        requests: Sequence[Mapping[str, Any]],
        accept: Callable[[dict[str, Any]], bool],
        fresh: dict[str, dict[str, Any]],
        selector: selectors.BaseSelector,
    ):
        assert process.stdin and process.stdout and process.stderr
        self.process, self.token, self.over, self.replies = process, token, False, Replies()
        self._in, self._out, self._err = process.stdin, process.stdout, process.stderr
        self._keys = {str(request["id"]) for request in requests}
        self._accept, self._fresh, self._selector = accept, fresh, selector
        self._requests = (f"{json.dumps(request)}\n".encode() for request in requests)
        self._unsent = self._unread = self._complaints = b""
        self._lines = deque[bytes]()
        self._useful = time.monotonic()  # time of the last useful answer
        self._in_vain = 0  # number of useless lines since then
        self._settled: float | None = (
            None  # time when it answered everything, ended, or closed its stdout
        )
        selector.register(self._in, selectors.EVENT_WRITE, self._tell)
        selector.register(self._out, selectors.EVENT_READ, self._hear)
        selector.register(self._err, selectors.EVENT_READ, self._overhear)

    def _tell(self) -> int:
        """Send as many requests as the program accepts now, and close its stdin after the last one."""
        while len(self._unsent) < _CHUNK and (line := next(self._requests, b"")):
            self._unsent += line
        try:
            sent = self._in.write(self._unsent) if self._unsent else -1
        except OSError:
            sent = -1  # the program has closed its stdin or ended; it needs no more requests
        if sent == -1:
            self._leave(self._in)
        self._unsent = self._unsent[sent or 0 :]
        return 0

    def _hear(self) -> int:
        """Read from stdout; return the number of requests that were answered."""
        chunk = self._read(self._out)
        # the last line may have no line end; lines are kept in a queue first, so that an interruption does not lose them
        *lines, self._unread = (
            self._unread + (b"\n" if self._out.closed and self._unread else chunk)
        ).split(b"\n")
        self._lines.extend(lines)
        if len(self._unread) > _LONGEST:
            self._unread = b"\xff"  # invalid UTF-8: the line remains unreadable, whatever follows
        return self._sort()

    def _overhear(self) -> int:
        """Read from stderr; its last line may become part of the complaint."""
        self._complaints = (self._complaints + self._read(self._err))[-4096:]
        return 0

    def _read(self, stream: IO[bytes]) -> bytes:
        """Return what can be read now; close the stream at its end."""
        chunk = stream.read(_CHUNK)
        if chunk == b"":
            self._leave(stream)
        return chunk or b""  # None if there is nothing yet

    def _leave(self, stream: IO[bytes]) -> None:
        if not stream.closed:
            self._selector.unregister(stream)
            stream.close()

    def _sort(self) -> int:
        """Sort the lines into the replies; return the number of requests that were answered."""
        count, replies = 0, self.replies
        while self._lines:
            answer = _parsed(self._lines[0])
            if isinstance(answer, str):
                replies.unreadable += answer != _BLANK
                why = answer
            elif (key := str(answer["id"])) not in self._keys:
                replies.foreign += 1
                why = "has an id that was not requested"
            elif key in replies.answers or key in replies.refused:
                replies.repeated += 1
                why = "answers a request a second time"
            else:
                if "error" in answer or not self._accept(answer):
                    replies.refused[key] = answer
                else:
                    self._fresh[key] = replies.answers[key] = answer
                self._useful, self._in_vain, why = time.monotonic(), 0, ""
                count += 1
            self._in_vain += bool(why)
            if why and why not in replies.useless:
                replies.useless[why] = printable(self._lines[0])
            self._lines.popleft()
        return count

    def ends(self, timeout: float) -> bool:
        """Return whether the program is done; the replies record what went wrong."""
        now, code, replies = time.monotonic(), self.process.poll(), self.replies
        complete = len(replies.answers) + len(replies.refused) == len(self._keys)
        if self._settled is None and (complete or self._out.closed or code is not None):
            self._settled = now
        over = code is not None and (complete or self._out.closed)
        over = over or (self._settled is not None and now > self._settled + _GRACE)
        if over and code:
            replies.complaint = (
                f"was stopped by signal {-code}" if code < 0 else f"exited with status {code}"
            )
        elif over and code is None and not complete:
            replies.complaint = "closed its stdout but did not exit"
        elif over and not complete and not self._out.closed:
            replies.complaint = "exited, but a process that it started kept its stdout open"
        elif not complete and self._in_vain > _USELESS + len(self._keys):
            replies.complaint = "printed too many lines that answer no request"
        elif not complete and now > self._useful + timeout:
            replies.complaint = f"gave no useful answer for {timeout:g} seconds"
        return over or bool(replies.complaint)

    def finish(self) -> int:
        """Read what the ended program left in its pipes; return the number of requests that were answered."""
        if self.over:
            return 0
        self.over, count = True, self._sort()
        for stream, take in ((self._out, self._hear), (self._err, self._overhear)):
            for _ in range(_LARGEST_PIPE // _CHUNK):
                count += 0 if stream.closed else take()
        for stream in (self._in, self._out, self._err):
            self._leave(stream)
        lines = [line for line in self._complaints.splitlines() if line.strip()]
        if self.replies.complaint and lines:
            self.replies.complaint += f": {printable(lines[-1])}"
        return count


def _parsed(line: bytes) -> dict[str, Any] | str:
    """Return the answer on a line, or the problem of the line."""
    if not line.strip():
        return _BLANK
    try:
        text = line.decode("utf-8")
        answer = parse_json(text)
    except ValueError:
        return "is not JSON in UTF-8, or longer than 1 MiB"
    if half_character(text) is not None:
        return "has half a character (a lone surrogate)"
    if not isinstance(answer, dict):
        return "is JSON, but not an object"
    if not isinstance(answer.get("id"), str | int) or isinstance(answer["id"], bool):
        return "has no id, or one that is neither text nor a whole number"
    return answer


def printable(line: bytes) -> str:
    """Return the beginning of a line of a program's output, without control characters."""
    return "".join(
        letter if letter.isprintable() else " " for letter in line[:2000].decode("utf-8", "replace")
    )[:300].strip()
