"""Several copies of a program, further tries, and an end to all of it."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import UsageError
from robustcs.programs.runner import ProgramCall, Replies, call_working_program
from tests.programs.test_runner import program, requests


def asked(
    folder: Path, body: str, number: int = 6, copies: int = 1, retries: int = 0, **options: Any
) -> Replies:
    timeout = options.pop("timeout", 20)
    return call_working_program(
        ProgramCall(program(folder, body), copies, retries, timeout), requests(number), **options
    )


def test_every_request_goes_to_one_copy(tmp_path: Path) -> None:
    kept: dict[str, Any] = {}
    replies = asked(
        tmp_path,
        "import os\nfor r in lines: say(id=r['id'], pid=os.getpid())",
        7,
        3,
        keep=kept.update,
    )
    assert replies.answers == kept and sorted(kept) == [f"r{place}" for place in range(7)]
    by_copy: dict[int, int] = {}
    for answer in kept.values():
        by_copy[answer["pid"]] = by_copy.get(answer["pid"], 0) + 1
    assert sorted(by_copy.values()) == [2, 2, 3]
    assert (replies.failed, replies.complaint) == (0, "")


def test_copies_work_at_the_same_time(tmp_path: Path) -> None:
    # every copy waits until all three have begun
    body = f"""
import os, pathlib
folder = pathlib.Path({str(tmp_path)!r})
r = next(lines); (folder / f'here-{{os.getpid()}}').touch()
while len(list(folder.glob('here-*'))) < 3: time.sleep(0.01)
say(id=r['id'])
"""
    assert len(asked(tmp_path, body, 3, 3).answers) == 3


def test_what_failed_is_asked_again_and_what_is_refused_is_not(tmp_path: Path) -> None:
    # r0 is answered at the third try, r1 never; r2 has an answer that the caller refuses
    body = f"""
import pathlib
log = pathlib.Path({str(tmp_path / "log")!r})
for r in list(lines):
    with log.open('a') as file: file.write(r['id'] + ' ')
    tries = log.read_text().split().count(r['id'])
    if r['id'] == 'r0' and tries < 3: say(id='r0', error='busy')
    elif r['id'] == 'r1': say(id='r1', error='never')
    else: say(id=r['id'], grade=9 if r['id'] == 'r2' else 1)
"""
    replies = asked(tmp_path, body, 4, retries=2, accept=lambda answer: answer["grade"] < 9)
    assert sorted(replies.answers) == ["r0", "r3"] and replies.failed == 2
    assert replies.refused == {"r1": {"id": "r1", "error": "never"}, "r2": {"id": "r2", "grade": 9}}
    log = (tmp_path / "log").read_text().split()
    assert {key: log.count(key) for key in sorted(set(log))} == {"r0": 3, "r1": 3, "r2": 1, "r3": 1}


def test_a_crash_is_overcome_by_another_try(tmp_path: Path) -> None:
    # it gets one further each time
    body = "r = next(lines); say(id=r['id']); sys.exit(3)"
    replies = asked(tmp_path, body, 3, retries=1)
    assert (len(replies.answers), replies.failed, replies.complaint) == (
        2,
        1,
        "exited with status 3",
    )
    assert asked(tmp_path, body, 3, retries=5).failed == 0


def test_a_program_that_never_answers(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exited with status 1: no key"):
        asked(tmp_path, "print('no key', file=sys.stderr); sys.exit(1)", copies=2, retries=1)
    with pytest.raises(UsageError, match="cannot be started"):
        call_working_program(ProgramCall("no-such-program-here", 2, 5), requests(3))


def test_an_interruption_ends_every_copy_at_once(tmp_path: Path) -> None:
    body = f"""
import os, pathlib
pathlib.Path({str(tmp_path)!r}, f'pid-{{os.getpid()}}').touch()
r = next(lines); say(id=r['id'])
time.sleep(60)
"""
    kept: dict[str, Any] = {}

    def interrupt(items: Any, what: str, total: int) -> Any:
        for seen, item in enumerate(items, 1):
            yield item
            if seen == 2:
                raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        asked(tmp_path, body, 6, 2, keep=kept.update, track=interrupt)
    assert time.monotonic() - start < 15 and len(kept) == 2
    copies = [path.name[4:] for path in tmp_path.glob("pid-*")]
    assert len(copies) == 2 and not any(Path("/proc", copy).exists() for copy in copies)


def test_one_ctrl_c_ends_all_that_the_copies_started(tmp_path: Path) -> None:
    # a daemon of each copy has left the session and lost its parent
    body = f"""
import os, pathlib, subprocess
r = next(lines); say(id=r['id'])
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        pathlib.Path({str(tmp_path)!r}, f'pid-{{os.getpid()}}').touch()
        time.sleep(60)
    os._exit(0)
time.sleep(60)
"""
    kept: dict[str, Any] = {}

    def press() -> None:
        deadline = time.monotonic() + 20
        while len(list(tmp_path.glob("pid-*"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        asked(tmp_path, body, 6, 2, keep=kept.update, timeout=50)
    presser.join()
    assert time.monotonic() - start < 30 and len(kept) == 2
    daemons = [Path("/proc", path.name[4:]) for path in tmp_path.glob("pid-*")]
    assert len(daemons) == 2 and not any(
        one.exists() and (one / "cmdline").read_bytes() for one in daemons
    )
