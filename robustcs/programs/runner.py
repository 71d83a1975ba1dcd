"""Ask a program of the user, and never believe it: every answer is checked, counted, and kept as data.

The protocol, which docs/programs.md states for users: the program is started once, without a shell. It gets one JSON object a
line on stdin, each with an ``id``, and its stdin is closed after the last. It writes one JSON object a line to stdout, in any
order, each with the ``id`` that it answers. What else it needs to say goes to stderr. An answer with ``error`` is a failure.
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

from robustcs.errors import UsageError
from robustcs.inputs.files import fingerprint, sha256
from robustcs.inputs.text import half_character, parse_json
from robustcs.programs.processes import end, start

#: Shows progress over an iterable: (items, what is being done, how many) → the same items.
Track = Callable[[Iterable[Any], str, int], Iterable[Any]]
#: Seconds without a useful answer after which a program counts as stuck.
TIMEOUT = 600.0
#: Bytes of one answer; lines of no use in a row that are borne beside as many as there are requests.
_LONGEST, _USELESS = 1 << 20, 1000
#: Bytes that are read or written at a time, and those that an ended program may leave in a pipe.
_CHUNK = 1 << 16
_LARGEST_PIPE = 1 << 20
#: Seconds after which it is looked whether a program has ended or is stuck.
_LOOKS = 0.05
#: Seconds that a program has to end once it has answered everything, and its output to end once the program has.
_GRACE = 5.0
#: Answers that are kept at a time, where nothing ends the asking.
_BATCH = 16
_BLANK = "is blank"


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
    useless
        What is wrong with lines that are no answer, blank ones included → the first of them.
    complaint
        How the program ended, where it did not end well; empty otherwise.
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
        """Add what was said elsewhere: its answers and its useless lines; how it ended is the caller's to weigh."""
        self.answers |= other.answers
        self.refused |= other.refused
        self.repeated += other.repeated
        self.foreign += other.foreign
        self.unreadable += other.unreadable
        self.useless = other.useless | self.useless


def program_identity(command: str) -> str:
    """A key that two commands share only where they are the same: their words, and the contents of files and
    of folders of models (they hold a ``config.json``) among these.

    Raises :class:`UsageError` for a command that cannot be split into words.
    """
    words = words_of(command)
    contents = [
        sha256(word) if Path(word).is_file() else fingerprint(Path(word)) if Path(word, "config.json").is_file() else ""
        for word in words[1:]
    ]
    return hashlib.sha256(json.dumps([words, contents]).encode("utf-8", "replace")).hexdigest()


def words_of(command: str) -> list[str]:
    """The words of a command line, split as a shell does; nothing in it is expanded or run by a shell."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError("bad-command", f"--with {command}: {error}", "quote it as in a shell") from None
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
    copies: int = 1,
) -> Replies:
    """Ask ``command`` every request (each has an ``id`` of its own) and return what it answered.

    keep
        Gets usable answers by id, some at a time. Whatever ends the asking, such as Ctrl-C, it gets all that were given.
    accept
        Is an answer what was asked for? One that is not counts as failed.
    timeout
        Seconds without a useful answer after which the program is ended, and what it has not answered counts as failed.
        An answer is useful if it is the first to one of the requests, so that no program runs for longer than ``timeout`` times
        the number of its requests, and a few seconds.
    copies
        How many of it work at the same time, each on a part of the requests. All end with everything that they started.

    Raises :class:`UsageError` where the program cannot be started.
    """
    words, token, fresh = words_of(command), uuid.uuid4().hex, dict[str, dict[str, Any]]()
    asked: list[_Copy] = []
    with selectors.DefaultSelector() as selector:
        try:
            for place in range(min(copies, len(requests))):
                mark = f"{token}.{place}"
                process = start(command, words, (token, mark))
                asked.append(_Copy(process, mark, requests[place::copies], accept, fresh, selector))
            for _ in track(_listen(asked, selector, timeout), what, len(requests)):
                if len(fresh) >= _BATCH:
                    keep(fresh)
                    fresh.clear()
        finally:
            try:
                end([one.process for one in asked if not one.over], token)
                for one in asked:
                    one.finish()
            finally:
                keep(fresh)
    total = Replies()
    for one in asked:
        total.take(one.replies)
        total.complaint = total.complaint or one.replies.complaint
    total.failed = len({str(request["id"]) for request in requests} - total.answers.keys())
    return total


def _listen(copies: Sequence[_Copy], selector: selectors.BaseSelector, timeout: float) -> Iterator[None]:
    """Talk to the copies until all are over; one item for every request that is answered, or refused."""
    while running := [copy for copy in copies if not copy.over]:
        count = sum(key.data() for key, _ in selector.select(_LOOKS))
        for copy in running:
            if copy.ends(timeout):
                end([copy.process], copy.token)
                count += copy.finish()
        # last: keeping answers may take long, and what comes meanwhile is read before it is asked whether a program is stuck
        yield from repeat(None, count)


class _Copy:
    """A running program: what it is still to be told, and what it said."""

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
        self._asked = {str(request["id"]) for request in requests}
        self._accept, self._fresh, self._selector = accept, fresh, selector
        self._requests = (f"{json.dumps(request)}\n".encode() for request in requests)
        self._unsent = self._unread = self._complaints = b""
        self._lines = deque[bytes]()
        self._useful = time.monotonic()  # when the last useful answer came
        self._in_vain = 0  # useless lines since then
        self._settled: float | None = None  # since when it has answered everything, ended, or closed its stdout
        selector.register(self._in, selectors.EVENT_WRITE, self._tell)
        selector.register(self._out, selectors.EVENT_READ, self._hear)
        selector.register(self._err, selectors.EVENT_READ, self._overhear)

    def _tell(self) -> int:
        """Write as much of the requests as the program takes, and close its stdin after the last."""
        while len(self._unsent) < _CHUNK and (line := next(self._requests, b"")):
            self._unsent += line
        try:
            sent = self._in.write(self._unsent) if self._unsent else -1
        except OSError:
            sent = -1  # a program that closes its stdin or ends has said how much it wants to hear
        if sent == -1:
            self._leave(self._in)
        self._unsent = self._unsent[sent or 0 :]
        return 0

    def _hear(self) -> int:
        """Read what is on stdout; the number of requests that it answers."""
        chunk = self._read(self._out)
        # its last line may have no end; and until they are sorted, lines lie where an interruption does not lose them
        *lines, self._unread = (self._unread + (b"\n" if self._out.closed and self._unread else chunk)).split(b"\n")
        self._lines.extend(lines)
        if len(self._unread) > _LONGEST:
            self._unread = b"\xff"  # in no UTF-8: whatever follows on this line, it stays unreadable
        return self._sort()

    def _overhear(self) -> int:
        """Read what is on stderr, whose last line may be told."""
        self._complaints = (self._complaints + self._read(self._err))[-4096:]
        return 0

    def _read(self, stream: IO[bytes]) -> bytes:
        """Return what can be read at once; the stream is closed at its end."""
        chunk = stream.read(_CHUNK)
        if chunk == b"":
            self._leave(stream)
        return chunk or b""  # None where there is nothing yet

    def _leave(self, stream: IO[bytes]) -> None:
        if not stream.closed:
            self._selector.unregister(stream)
            stream.close()

    def _sort(self) -> int:
        """Sort the lines into the replies; the number of requests that they answer."""
        count, replies = 0, self.replies
        while self._lines:
            answer = _parsed(self._lines[0])
            if isinstance(answer, str):
                replies.unreadable += answer != _BLANK
                why = answer
            elif (key := str(answer["id"])) not in self._asked:
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
        """Is nothing more to be had from the program? The replies say what went wrong, if anything."""
        now, code, replies = time.monotonic(), self.process.poll(), self.replies
        answered = len(replies.answers) + len(replies.refused) == len(self._asked)
        if self._settled is None and (answered or self._out.closed or code is not None):
            self._settled = now
        over = code is not None and (answered or self._out.closed)
        over = over or (self._settled is not None and now > self._settled + _GRACE)
        if over and code:
            replies.complaint = f"was stopped by signal {-code}" if code < 0 else f"exited with status {code}"
        elif over and code is None and not answered:
            replies.complaint = "closed its stdout but did not exit"
        elif over and not answered and not self._out.closed:
            replies.complaint = "exited, but a process that it started kept its stdout open"
        elif not answered and self._in_vain > _USELESS + len(self._asked):
            replies.complaint = "printed too many lines that answer no request"
        elif not answered and now > self._useful + timeout:
            replies.complaint = f"gave no useful answer for {timeout:g} seconds"
        return over or bool(replies.complaint)

    def finish(self) -> int:
        """Take what the ended program left in its pipes; the number of requests that it answers."""
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
    """Return the answer on a line, or what is wrong with the line."""
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
    """Return the beginning of what a program wrote, without anything that a terminal would act on."""
    return "".join(letter if letter.isprintable() else " " for letter in line[:2000].decode("utf-8", "replace"))[:300].strip()
