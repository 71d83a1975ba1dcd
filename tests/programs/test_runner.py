"""Programs of the user: what they answer, what they get wrong, and how they end."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import UsageError
from robustcs.programs import runner
from robustcs.programs.runner import ProgramCall, Replies, call_program, program_identity

HEAD = """
import json, sys, time
lines = (json.loads(line) for line in sys.stdin)
say = lambda **x: print(json.dumps(x), flush=True)
"""


def program(folder: Path, body: str) -> str:
    path = folder / "program.py"
    path.write_text(HEAD + body)
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def requests(number: int) -> list[dict[str, Any]]:
    return [{"id": f"r{place}", "text": f"text {place} é\n"} for place in range(number)]


def asked(folder: Path, body: str, number: int = 5, **options: Any) -> Replies:
    settings = {name: options.pop(name) for name in ("copies", "timeout") if name in options}
    return call_program(ProgramCall(program(folder, body), **settings), requests(number), **options)


def test_answers_in_any_order(tmp_path: Path) -> None:
    kept: dict[str, Any] = {}
    replies = asked(
        tmp_path,
        "for r in reversed(list(lines)): say(id=r['id'], text=r['text'].upper())",
        1000,
        keep=kept.update,
    )
    expected = {
        f"r{place}": {"id": f"r{place}", "text": f"TEXT {place} É\n"} for place in range(1000)
    }
    assert replies.answers == kept == expected
    assert (
        replies.failed,
        replies.repeated,
        replies.foreign,
        replies.unreadable,
        replies.complaint,
    ) == (0, 0, 0, 0, "")


def test_a_program_that_answers_line_by_line_and_more_than_a_pipe_holds(tmp_path: Path) -> None:
    body = "for r in lines: say(id=r['id'], text='x' * 5000)"
    replies = call_program(
        ProgramCall(program(tmp_path, body)),
        [{"id": str(i), "text": "y" * 5000} for i in range(200)],
    )
    assert len(replies.answers) == 200


def test_what_goes_wrong_is_counted(tmp_path: Path) -> None:
    body = """
for r in list(lines):
    print('loading…')
    say(id='other')
    print('[1]'); print('{"id": true}'); print('{"no": 1}')
    if r['id'] == 'r1': say(id='r1', error='no')
    if r['id'] in ('r0', 'r2'): say(id=r['id'], text='first'); say(id=r['id'], text='second')
    if r['id'] == 'r3': say(id='r3', text=5)
"""
    replies = asked(tmp_path, body, accept=lambda answer: isinstance(answer["text"], str))
    assert {key: answer["text"] for key, answer in replies.answers.items()} == {
        "r0": "first",
        "r2": "first",
    }
    assert (replies.failed, replies.repeated, replies.foreign, replies.unreadable) == (3, 2, 5, 20)


def test_what_a_program_prints_is_never_run(tmp_path: Path) -> None:
    target = tmp_path / "made"
    body = f"for r in lines: say(id=r['id'], text='$(touch {target})')"
    command = f"{program(tmp_path, body)} ; touch {target}"
    replies = call_program(ProgramCall(command), requests(2))
    assert len(replies.answers) == 2 and not target.exists()


def test_ends_badly_after_some_answers(tmp_path: Path) -> None:
    body = "r = next(lines); say(id=r['id']); print('\\x1b[31mno memory', file=sys.stderr); sys.exit(7)"
    replies = asked(tmp_path, body)
    assert (list(replies.answers), replies.failed) == (["r0"], 4)
    assert replies.complaint == "exited with status 7: [31mno memory"


def test_ends_badly_without_any(tmp_path: Path) -> None:
    replies = asked(tmp_path, "1 / 0")
    assert (replies.failed, replies.complaint) == (
        5,
        "exited with status 1: ZeroDivisionError: division by zero",
    )
    assert (
        asked(tmp_path, "import os; os.kill(os.getpid(), 9)").complaint == "was stopped by signal 9"
    )


def test_a_quiet_end_leaves_all_failed(tmp_path: Path) -> None:
    assert asked(tmp_path, "").failed == 5


def test_a_program_that_says_nothing_is_ended_with_what_it_started(tmp_path: Path) -> None:
    body = """
import subprocess
child = subprocess.Popen(['sleep', '60'])
say(id='r0', pid=child.pid)
time.sleep(60)
"""
    start = time.monotonic()
    replies = asked(tmp_path, body, timeout=1)
    assert time.monotonic() - start < 20
    assert (replies.failed, replies.complaint) == (4, "gave no useful answer for 1 seconds")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _lives(replies.answers["r0"]["pid"]):
        time.sleep(0.05)
    assert not _lives(replies.answers["r0"]["pid"])


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_program_that_talks_without_end(tmp_path: Path) -> None:
    said = asked(tmp_path, "while True: print('noise')")
    assert said.complaint == "printed too many lines that answer no request" and said.failed == 5


@pytest.mark.parametrize(
    "noise",
    [
        "print(flush=True)",
        "say(id='r0')",
        "say(id='nobody')",
        "print('…')",
        "sys.stdout.write('x'); sys.stdout.flush()",
    ],
)
def test_only_a_useful_answer_defers_the_end(tmp_path: Path, noise: str) -> None:
    body = f"say(id='r0')\nfor _ in range(600): {noise}; time.sleep(0.02)"
    start = time.monotonic()
    replies = asked(tmp_path, body, timeout=0.5)
    assert time.monotonic() - start < 8
    assert (list(replies.answers), replies.failed) == (["r0"], 4)
    assert replies.complaint == "gave no useful answer for 0.5 seconds"


def test_slow_answers_that_are_useful_do(tmp_path: Path) -> None:
    # longer than the timeout in all
    replies = asked(tmp_path, "for r in lines: time.sleep(0.6); say(id=r['id'])", timeout=1.5)
    assert (len(replies.answers), replies.complaint) == (5, "")


_CHILD = (
    "import subprocess; child = subprocess.Popen(['sleep', '60'], {}); say(id='r0', pid=child.pid)"
)


@pytest.mark.parametrize(
    "how", ["start_new_session=True", "process_group=0", "start_new_session=True, env={}"]
)
@pytest.mark.parametrize("after", ["", "time.sleep(60)"])
def test_no_child_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, after: str
) -> None:
    if "env" in how and not after:
        pytest.skip("a child without parent, session and environment cannot be found")
    monkeypatch.setattr(runner, "_GRACE", 0.3)
    # without more to do the program ends at once, and the child holds its stdout
    start = time.monotonic()
    replies = asked(tmp_path, f"{_CHILD.format(how)}\n{after}", timeout=1)
    assert time.monotonic() - start < 10
    kept = (
        "gave no useful answer for 1 seconds"
        if after
        else "exited, but a process that it started kept its stdout open"
    )
    assert (replies.failed, replies.complaint) == (4, kept)
    assert not _lives(replies.answers["r0"]["pid"])


def test_a_line_without_end_or_too_long(tmp_path: Path) -> None:
    body = """
sys.stdout.write(json.dumps({'id': 'r0', 'text': 'x' * (1 << 21)}) + '\\n')
say(id='r1', text='x' * (1 << 19))
say(id='r3', text='\\ud800')
sys.stdout.write('{"id": "r2"}'); sys.stdout.flush()
"""
    replies = asked(tmp_path, body)
    assert (sorted(replies.answers), replies.failed, replies.unreadable) == (["r1", "r2"], 3, 2)
    assert list(replies.useless) == [
        "is not JSON in UTF-8, or longer than 1 MiB",
        "has half a character (a lone surrogate)",
    ]


def test_answers_outlast_an_interruption(tmp_path: Path) -> None:
    kept: dict[str, Any] = {}

    def interrupt(items: Any, what: str, total: int) -> Any:
        for place, item in enumerate(items):
            if place == 20:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        asked(tmp_path, "for r in lines: say(id=r['id'])", 50, keep=kept.update, track=interrupt)
    assert len(kept) >= 20


def test_a_slow_keeper_is_not_the_fault_of_the_program(tmp_path: Path) -> None:
    body = "for r in lines: say(id=r['id']); time.sleep(0.02)"
    replies = asked(
        tmp_path, body, 60, timeout=1, keep=lambda answers: time.sleep(1.5) if answers else None
    )
    assert (len(replies.answers), replies.complaint) == (60, "")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-program-here", "cannot be started (No such file or directory)"),
        ("'", "No closing quotation"),
        (" ", "has no command"),
    ],
)
def test_what_cannot_be_started(command: str, said: str) -> None:
    with pytest.raises(UsageError, match=".") as caught:
        call_program(ProgramCall(command), requests(1))
    assert said in str(caught.value) and caught.value.exit_code == 2


def test_nothing_to_ask_starts_nothing(tmp_path: Path) -> None:
    assert (
        call_program(ProgramCall(program(tmp_path, f"open({str(tmp_path / 'x')!r}, 'w')")), [])
        == Replies()
    )
    assert not (tmp_path / "x").exists()


def test_another_program_under_the_same_name_is_another(tmp_path: Path) -> None:
    command = program(tmp_path, "pass")
    before = program_identity(command)
    assert (
        before == program_identity(command)
        and len({before, program_identity(command + " -v")}) == 2
    )
    program(tmp_path, "pass # changed")
    assert program_identity(command) != before
    assert os.getpid()  # nothing was run
