"""``robustcs judge --with`` asks real programs: the two of the docs, and some that crash, hang and lie."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from robustcs.studies.judge import program as judge_program
from tests.conftest import ROOT, Command
from tests.programs.test_runner import HEAD
from tests.studies.judge.test_command import ENVIRONMENT, PASSAGES, PROGRAM, Done, call, project

__all__ = ["project"]

#: The programs that docs/judge.md shows.
LEXICAL, SERVER = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "judge.md").read_text("utf-8"), re.DOTALL
)
PYTHON = shlex.quote(sys.executable)
#: Holes with a text, in the order in which a program is asked.
ASKED = ["1_1 p3", "1_1 p1", "1_2 evil", "1_2 p2", "2_1 東"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBUSTCS_CACHE", str(tmp_path / "cache"))


def ask(folder: Path, body: str, *options: str) -> Done:
    """The command with a program of this body, which notes in ``log`` what it gets."""
    log = f"log = open({str(folder / 'log')!r}, 'a')\ndef note(r): log.write(json.dumps(r) + '\\n'); log.flush(); return r\n"
    (folder / "program.py").write_text(f"{HEAD}{log}lines = map(note, lines)\n{body}")
    return call(folder, "--with", f"{PYTHON} program.py", "--all", *options)


def logged(folder: Path) -> list[dict[str, Any]]:
    path = folder / "log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def grades(folder: Path, name: str = "program") -> dict[str, int]:
    path = folder / f"judge-{name}.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    assert {record["judge"] for record in records} <= {name}
    return {f"{record['turn']} {record['document']}": record["grade"] for record in records}


def test_what_a_program_gets_and_where_its_grades_go(project: Path) -> None:
    done = ask(project, "for r in lines: say(id=r['id'], grade=1, reason='so', cost=0.5)")
    assert done.returncode == 0, done.stderr
    assert grades(project) == dict.fromkeys(ASKED, 1)
    asked = logged(project)
    assert [f"{r['turn']} {r['passage_id']}" for r in asked] and {tuple(r) for r in asked} == {
        ("id", "turn", "conversation", "question", "passage_id", "passage", "scale")
    }
    [evil] = [r for r in asked if r["passage_id"] == "evil"]
    assert evil["passage"] == PASSAGES["evil"] and evil["conversation"] == ["What is it?"]
    assert evil["question"] == "And after bread?" and list(evil["scale"]) == [
        "0",
        "1",
        "2",
        "3",
        "4",
    ]
    assert evil["scale"]["4"].startswith("Fully meets")
    assert (
        "skipped 1 of 6 passages: the passage or its turn has no text" in done.stderr
        and "asked 5, 5 graded, cost 2.5" in done.stderr
    )
    assert 'add program = "judge-program.jsonl" under [judges]' in done.stderr
    # never among the judgments of people, and no file of judgments can hold them
    assert not (project / "judgments.txt").exists()
    assert (
        json.loads((project / "judge-program.jsonl").read_text().splitlines()[0])["reason"] == "so"
    )
    assert call(project, "--list", "--judgments", "judge-program.jsonl").returncode == 3


def test_nothing_is_asked_twice(project: Path) -> None:
    body = "for r in lines: say(id=r['id'], grade=2)"
    ask(project, body, "--limit", "2", "--batch", "1")
    first = logged(project)
    assert len(first) == len(grades(project)) == 2
    done = ask(project, body, "--copies", "2")
    assert (
        "2 of 5 passages were graded in an earlier call" in done.stderr
        and len(logged(project)) == 5
        and len(grades(project)) == 5
    )
    # what the file has lost stands in the store; a renamed judge that is the same program needs no answers either
    (project / "judge-program.jsonl").unlink()
    done = ask(project, body, "--as", "other")
    assert len(logged(project)) == 5 and grades(project, "other") == dict.fromkeys(ASKED, 2)
    # passages that people judged meanwhile are not asked
    (project / "judgments.txt").write_text("1_1 0 p3 4\n")
    ask(project, body + " # changed", "--as", "third")
    assert len(logged(project)) == 9 and "1_1 p3" not in grades(project, "third")


def test_another_program_under_the_same_name_is_refused(project: Path) -> None:
    ask(project, "for r in lines: say(id=r['id'], grade=1)")
    before = (project / "judge-program.jsonl").read_bytes()
    done = ask(project, "for r in lines: say(id=r['id'], grade=2)")
    assert (
        done.returncode == 3 and "not by this program; choose another name with --as" in done.stderr
    )
    assert (project / "judge-program.jsonl").read_bytes() == before
    assert call(project, "--with", "true", "--as", "../x").returncode == 2
    assert call(project, "--with", "no-such-program").returncode == 2
    assert call(project, "--with", "true", "--list").returncode == 2


def test_a_program_that_crashes(project: Path) -> None:
    # one answer a start: five tries are enough for five passages, two are not
    body = "r = next(lines); say(id=r['id'], grade=3); print('out of memory', file=sys.stderr); sys.exit(1)"
    done = ask(project, body, "--retries", "1")
    assert done.returncode == 0 and len(grades(project)) == 2
    assert "asked 5, 2 graded, 3 failed" in done.stderr
    assert "the program exited with status 1: out of memory" in done.stderr
    assert len(grades(project)) + len(ASKED) - 2 == 5
    ask(project, body, "--retries", "4")
    assert grades(project) == dict.fromkeys(ASKED, 3)
    # one that never answers is an error, and leaves no file
    (project / "judge-program.jsonl").unlink()
    done = ask(project, "1 / 0")
    assert done.returncode == 2 and "ZeroDivisionError" in done.stderr and not grades(project)


def test_a_program_that_hangs(project: Path) -> None:
    body = "r = next(lines); say(id=r['id'], grade=0); time.sleep(60)"
    start = time.monotonic()
    done = ask(project, body, "--timeout", "1", "--retries", "0")
    assert time.monotonic() - start < 30
    assert (
        "asked 5, 1 graded, 4 failed" in done.stderr
        and "the program gave no useful answer for 1 seconds" in done.stderr
    )
    assert len(grades(project)) == 1


def test_a_program_that_lies(project: Path) -> None:
    body = """
for r in lines:
    print('Thinking…'); say(id='nobody asked', grade=4); say(id=r['id'] + 'x', grade=4)
    document = r['passage_id']
    if document == 'p1': say(id=r['id'], grade=7)
    elif document == 'p2': say(id=r['id'], grade='4'); say(id=r['id'], grade=True)
    elif document == 'p3': say(id=r['id'], grade=-1)
    elif document == 'evil': say(id=r['id'], error='\\x1b[31mrate limit')
    else: say(id=r['id'], grade=1.0, cost='free'); say(id=r['id'], grade=4)
"""
    done = ask(project, body, "--retries", "0")
    assert done.returncode == 0 and grades(project) == {"2_1 東": 1}
    assert "asked 5, 1 graded, 2 off the scale, 2 failed\n" in done.stderr.replace(" ·", "\n")
    assert "ignored answers: 2 repeated, 10 foreign, 5 unreadable" in done.stderr
    assert "last error of the program: [31mrate limit" in done.stderr and "\x1b" not in done.stderr


def test_a_judge_that_only_lies_stops(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_program, "PATIENCE", 3)
    done = ask(project, "for r in lines: say(id=r['id'], grade=9)", "--batch", "2")
    assert (
        "asked 4, 0 graded, 4 off the scale" in done.stderr
        and "the program gave no valid grade" in done.stderr
    )
    assert (
        "stopped after 4 passages in a row without a usable grade; not asked: 1 unjudged passage"
        in done.stderr
    )
    assert len(logged(project)) == 4 and not grades(project)


def test_some_useless_answers_do_not_end_it(project: Path) -> None:
    done = ask(
        project,
        "for r in lines: say(id=r['id'], grade=9 if r['passage_id'] in ('p3', 'p1') else 1)",
        "--batch",
        "1",
    )
    assert "asked 5, 3 graded, 2 off the scale" in done.stderr and "in a row" not in done.stderr
    assert len(grades(project)) == 3


def test_passages_that_people_judged_share_batches_with_the_queue(project: Path) -> None:
    done = ask(
        project,
        "for r in lines: say(id=r['id'], grade=1)",
        "--also-judged",
        "2",
        "--batch",
        "3",
    )
    assert [line.split(" ·")[0] for line in done.stderr.splitlines() if line.startswith("asked")] == [
        "asked 3, 3 graded", "asked 6, 6 graded", "asked 7, 7 graded",
    ]  # fmt: skip
    assert "; not asked:" not in done.stderr


def test_the_limit_is_named(project: Path) -> None:
    body = "for r in lines: say(id=r['id'], grade=1)"
    done = ask(project, body, "--also-judged", "3", "--limit", "2")
    assert (
        "stopped at --limit 2; not asked: 1 human-judged passage and 5 unjudged passages"
        in done.stderr
    )
    assert "; stopped (" not in done.stderr
    done = ask(project, body, "--also-judged", "3", "--limit", "6")
    assert "stopped at" not in done.stderr and len(grades(project)) == 8


def test_it_ends_when_the_order_is_settled(project: Path) -> None:
    body = "for r in lines: say(id=r['id'], grade=0)"
    (project / "program.py").write_text(HEAD + body)
    done = call(project, "--with", f"{PYTHON} program.py", "--batch", "1")
    assert done.returncode == 0 and 0 < len(grades(project)) < len(ASKED)
    assert "1 order of systems: 1 proven; stopped (--all continues)" in done.stderr


def test_ctrl_c_and_on(project: Path) -> None:
    body = (
        "for n, r in enumerate(lines):\n    say(id=r['id'], grade=2)\n    if n == 1: time.sleep(60)"
    )
    (project / "program.py").write_text(
        f"{HEAD}log = open('log', 'a')\ndef note(r): log.write(json.dumps(r) + '\\n'); log.flush(); return r\n"
        f"lines = map(note, lines)\n{body}"
    )
    words = ["judge", "--with", f"{PYTHON} program.py", "--all"]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words], cwd=project, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**ENVIRONMENT, "ROBUSTCS_CACHE": os.environ["ROBUSTCS_CACHE"]},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(logged(project)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert len(grades(project)) == 2
    # the rest, with the same program: it waits after the second, so one a start
    done = call(project, *words[1:], "--batch", "1")
    assert done.returncode == 0 and grades(project) == dict.fromkeys(ASKED, 2)
    assert (
        len(logged(project)) == 5
        and "2 of 5 passages were graded in an earlier call" in done.stderr
    )


def test_the_lexical_judge_of_the_docs(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "lexical.py").write_text(LEXICAL)
    answer = in_copy(
        f"judge --with '{PYTHON} lexical.py' --also-judged 40 --as words --limit 70 --copies 2 --all"
        " --pair original,raw_3"
    )
    records = [json.loads(line) for line in (folder / "judge-words.jsonl").read_text().splitlines()]
    assert len(records) == 70 and answer.out == ""
    texts = {
        record["id"]: record["contents"]
        for record in map(json.loads, (folder / "collection.jsonl").read_text().splitlines())
    }
    topics = {
        f"{topic['number']}_{turn['number']}": turn["manual_rewritten_utterance"]
        for topic in json.loads((folder / "topics.json").read_text())
        for turn in topic["turn"]
    }
    for record in records:
        asked, there = (
            set(re.findall(r"\w+", text.lower()))
            for text in (topics[record["turn"]], texts[record["document"]])
        )
        assert record["grade"] == int(len(asked & there) / len(asked) * 4)
        assert record["reason"].endswith("% of the words")
    judged = {tuple(line.split()[:3:2]) for line in (folder / "qrels.txt").read_text().splitlines()}
    assert sum((record["turn"], record["document"]) in judged for record in records) == 40
    # the judge's place in the program: audit compares it with people on what both judged
    agreement = json.loads(in_copy("audit --judge words=judge-words.jsonl --format json").out)[
        "tables"
    ]["agreement"]
    assert [(row["pairs"], row["judge_only"]) for row in agreement if row["judge"] == "words"] == [
        (40, 30)
    ]
    told = in_copy(f"judge --with '{PYTHON} lexical.py'", code=3).err
    assert (
        "judges/lexical.txt: this file contains the labels of another judge named 'lexical'; choose another name"
        in told
    )
    # a judge is none of the people
    assert in_copy("augment --new-judgments judge-words.jsonl", code=3).err


@contextlib.contextmanager
def model_server() -> Iterator[str]:
    """A server that speaks as much of the protocol as the example needs; every third answer is no number."""
    calls = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = body["messages"][0]["content"]
            calls.append(prompt)
            assert body["model"] == "tiny" and "Question: " in prompt
            text = "I cannot say." if "three three" in prompt else "3"
            said = json.dumps(
                {"choices": [{"message": {"content": text}}], "usage": {"total_tokens": 10}}
            ).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def test_the_server_of_the_docs(project: Path) -> None:
    (project / "ask_server.py").write_text(SERVER)
    with model_server() as url:
        done = call(
            project,
            "--with",
            f"{PYTHON} ask_server.py {url} tiny",
            "--as",
            "tiny",
            "--all",
            "--retries",
            "0",
        )
    assert done.returncode == 0, done.stderr
    assert grades(project, "tiny") == {pair: 3 for pair in ASKED if pair != "1_1 p3"}
    assert (
        "asked 5, 4 graded, 1 failed, cost 40" in done.stderr
        and "last error of the program: TypeError" in done.stderr
    )


def test_a_cost_that_no_float_holds_counts_as_none(project: Path) -> None:
    done = ask(
        project,
        "for r in lines: print(json.dumps(dict(id=r['id'], grade=1))[:-1] + ', \"cost\": 1' + '0' * 400 + '}')",
    )
    assert done.returncode == 0, done.stderr
    assert "asked 5, 5 graded" in done.stderr and "cost" not in done.stderr
    assert grades(project) == dict.fromkeys(ASKED, 1)


def test_no_file_is_left_where_every_answer_was_refused(project: Path) -> None:
    ask(project, "for r in lines: say(id=r['id'], grade=99)")
    assert not (project / "judge-program.jsonl").exists()


def test_two_at_a_time_keep_the_grades_of_both(project: Path) -> None:
    """Both start before either writes: one asks about two holes, the other about three passages that people judged."""
    (project / "program.py").write_text(
        f"{HEAD}import time\nfor r in lines: time.sleep(.7); say(id=r['id'], grade=1)\n"
    )
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        "judge",
        "--with",
        f"{PYTHON} program.py",
        "--all",
        "--batch",
        "1",
    ]
    environment = {**ENVIRONMENT, "ROBUSTCS_CACHE": str(project / "cache")}
    options = (["--limit", "2"], ["--also-judged", "2", "--limit", "2"])
    both = [
        subprocess.Popen([*command, *more], cwd=project, env=environment, stderr=subprocess.PIPE)
        for more in options
    ]
    told = [one.communicate(timeout=100)[1].decode() for one in both]
    assert [one.returncode for one in both] == [0, 0], told
    found = grades(project)
    assert len(found) == 4 and len(found.keys() & set(ASKED)) == 2, told
    assert max(int(re.findall(r"jsonl: ([0-9]+) grades", text)[0]) for text in told) == 4


def test_a_grade_that_was_changed_by_hand_is_refused(project: Path) -> None:
    body = "for r in lines: say(id=r['id'], grade=1)"
    ask(project, body)
    path = project / "judge-program.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[1].replace('"grade": 1', '"grade": 2'), *lines[2:]]))
    done = ask(project, body)
    assert done.returncode == 3
    assert (
        "judge-program.jsonl:2: its values do not match its checksum; delete the line and run the judge again"
        in done.stderr
    )
    path.write_text("".join([lines[0], *lines[2:]]))
    ask(project, body)
    assert grades(project) == dict.fromkeys(ASKED, 1)
