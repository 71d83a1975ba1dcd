"""Programs that do anything: whatever they print, start and leave behind, calls end, keep answers and leave nothing."""

from __future__ import annotations

import json
import random
import shlex
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import UsageError
from robustcs.programs import runner
from robustcs.programs.runner import ProgramCall, call_working_program
from robustcs.studies.judge.program import Tally, grade_of

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="processes are looked up in /proc"
)

#: Seconds for one case; nothing here should come near.
GUARD = 30
HEAD = """
import os, signal, sys, time
out = sys.stdout.buffer
def put(data): out.write(data); out.flush()
def ident(line): return line.split(b'"id": "', 1)[1].split(b'"')[0] if b'"id": "' in line else b'none'
def grade(line, value=b'1', end=b'\\n'): put(b'{"id": "' + ident(line) + b'", "grade": ' + value + b'}' + end)
def ask(): return sys.stdin.buffer.readline()
def child(body, new_session=False, orphan=False):
    if os.fork() == 0:
        if new_session: os.setsid()
        if orphan and os.fork(): os._exit(0)
        body(); os._exit(0)
def forever(act, pause):
    while True: act(); time.sleep(pause)
"""
#: What a program may do next. Answers come often, so that there is something to keep.
STEPS = (
    *("grade(ask())",) * 6,
    *("for line in sys.stdin.buffer: grade(line)",) * 2,
    *(f"grade(ask(), {value!r})" for value in (
        b"9", b"-1", b"1.0", b"1.5", b"NaN", b"1e999", b"true", b'"1"', b"null", b"[]", b"1" * 5000, b'2, "grade": 1',
        b'1, "reason": "\\ud800"', b'1, "reason": {"a": [1]}', b'1, "cost": -1e308', b'1, "cost": "x"', b'1, "error": null',
        b'1, "error": "\\u001b[31m"',
    )),
    "line = ask(); grade(line); grade(line, b'2')", "ask()", "grade(b'')", "grade(ask(), end=b'')",
    "grade(ask(), end=b'\\r\\n')",
    "put(b'\\n' * 2000)", "put(b'\\n'); time.sleep(0.05)", "put(b'Loading\\xe2\\x80\\xa6\\n')", "put(bytes(range(256)) * 50)",
    "put(b'\\x00\\n\\xff\\xfe{\\n')", "put(b'[' * 100_000 + b'\\n')", "put(b'{\"id\": 1' + b'1' * 6000 + b'}\\n')",
    "put(b'x' * 3_000_000)", "put(b'{\"id\": {}}\\n{\"id\": null}\\n[]\\n1\\n{}\\n')", "put(b'{\"id\": \"\\\\ud800\"}\\n')",
    "sys.stderr.buffer.write(b'\\x1b[31m\\xff' * 50_000)", "sys.stderr.write('out of memory\\n'); sys.exit(3)",
    "sys.exit(0)", "os._exit(255)", "os.abort()", "os.kill(os.getpid(), signal.SIGKILL)",
    "os.kill(os.getpid(), signal.SIGSTOP)",
    "1 / 0", "sys.stdin.close()", "os.close(0)", "os.close(1)", "os.close(2)", "time.sleep(0.1)", "time.sleep(60)",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)", "os.setpgid(0, 0) if os.getpgid(0) != os.getpid() else None",
    *(
        f"child(lambda: {body}, {new_session}, {orphan})"
        for body in ("time.sleep(60)", "forever(lambda: put(b'\\n'), 0.01)", "grade(ask())", "forever(lambda: grade(b''), .05)")
        for new_session in (False, True) for orphan in (False, True)
    ),
    "forever(lambda: put(b'\\n'), 0.01)", "forever(lambda: put(b'\\n' * 1000), 0)", "forever(lambda: grade(b''), 0.02)",
    "forever(lambda: put(b'x'), 0.02)", "forever(lambda: sys.stderr.write('x' * 100), 0)",
)  # fmt: skip


@contextmanager
def guarded() -> Iterator[None]:
    """An error where what is done takes longer than :data:`GUARD`."""

    def hangs(number: int, frame: object) -> None:
        raise TimeoutError("calling the program does not end")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(GUARD)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def alive(token: str) -> list[str]:
    """The processes that inherited the token."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if token.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text())
    return found


def misbehave(seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, token = random.Random(f"programs {seed}"), uuid.uuid4().hex
    monkeypatch.setenv("ROBUSTCS_TEST_CASE", token)
    monkeypatch.setattr(runner, "_GRACE", 0.15)
    path = folder / "program.py"
    path.write_text(HEAD + "\n".join(draw.choices(STEPS, k=draw.randint(1, 8))) + "\n")
    command = shlex.join([sys.executable, "-I", "-S", str(path)])
    call = ProgramCall(command, draw.choice((1, 1, 1, 3)), draw.choice((0, 0, 0, 1)), timeout=0.25)
    text = "é" * draw.choice((10, 10, 1000, 100_000))
    requests = [{"id": f"r{place}", "text": text} for place in range(draw.choice((1, 3, 10, 40)))]
    interrupted_after = draw.choice((None, None, None, 1, 2))
    kept: dict[str, Any] = {}
    accepted: dict[str, Any] = {}
    failure: UsageError | None = None
    seen = 0

    def track(items: Any, what: str, total: int) -> Any:
        nonlocal seen
        for item in items:
            seen += 1
            yield item
            if seen == interrupted_after:
                raise KeyboardInterrupt

    def usable(answer: dict[str, Any]) -> bool:
        if (grade := grade_of(answer)) is None or not 0 <= grade <= 4:
            return False
        accepted[str(answer["id"])] = answer
        return True

    with guarded():
        try:
            replies = call_working_program(call, requests, kept.update, accept=usable, track=track)
        except UsageError as error:
            failure = error
        except KeyboardInterrupt:
            assert seen == interrupted_after
        else:
            assert kept == replies.answers and replies.failed == len(requests) - len(kept)
            assert replies.complaint.isprintable() and all(
                line.isprintable() for line in replies.useless.values()
            )
            tally = Tally()
            tally.add(len(requests), replies)
            assert (
                tally.told
                and tally.graded == len(kept)
                and all(line.isprintable() for line in tally.warnings)
            )
    assert failure is None or (
        failure.slug == "program-failed" and not kept and str(failure).isprintable()
    )
    # every answer that was given is kept, however it ended
    assert kept == accepted and kept.keys() <= {one["id"] for one in requests}
    json.dumps(
        kept, ensure_ascii=False
    ).encode()  # what holds half a character could be written nowhere
    deadline = time.monotonic() + 5  # a killed process may take a moment to be gone
    while (left := alive(token)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left, f"left behind: {left}\n{path.read_text()[len(HEAD) :]}"


@pytest.mark.parametrize("seed", range(20))
def test_programs_that_do_anything(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(seed, tmp_path, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(500))
def test_many_programs_that_do_anything(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(seed, tmp_path, monkeypatch)
