"""``robustcs try-program``: what it sends, and how it explains what is wrong with the answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, Command
from tests.programs.test_runner import program

#: The programs that docs/judge.md and docs/programs.md show first.
LEXICAL, PARAPHRASER = (
    re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL)[0]
    for page in ("judge.md", "programs.md")
)


def tried(in_demo: Command, folder: Path, body: str, code: int = 3, options: str = "") -> list[str]:
    """The lines of the answer; the time in the first is left out."""
    answer = in_demo(f'try-program "{program(folder, body)}" {options}', code=code)
    assert answer.err == ""
    return re.sub(r" in [0-9.]+ s$", "", answer.out, count=1, flags=re.MULTILINE).splitlines()


@pytest.mark.parametrize(("code", "kind"), [(LEXICAL, "judge"), (PARAPHRASER, "paraphrase")])
def test_the_programs_of_the_docs_work(
    in_demo: Command, tmp_path: Path, code: str, kind: str
) -> None:
    lines = tried(in_demo, tmp_path, code, 0, f"--for {kind}")
    assert lines == [f"3 requests of {kind}: 3 usable answers", "The program works."]


#: The fields of a request, as docs/judge.md and docs/programs.md have them.
FIELDS = {
    "judge": {"id", "turn", "conversation", "question", "passage_id", "passage", "scale"},
    "paraphrase": {"id", "turn", "stage", "text", "history", "n", "seed"},
}


@pytest.mark.parametrize("kind", FIELDS)
def test_the_requests_are_those_of_the_protocol(
    in_demo: Command, tmp_path: Path, kind: str
) -> None:
    tried(
        in_demo,
        tmp_path,
        f"open({str(tmp_path / 'log')!r}, 'w').write(json.dumps(list(lines)))",
        options=f"--for {kind}",
    )
    requests = json.loads((tmp_path / "log").read_text())
    assert [set(one) for one in requests] == [FIELDS[kind]] * 3 and [
        one["id"] for one in requests
    ] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", ['it ended early: 3 requests without an answer; for each request, print one line of JSON with its "id", and flush'
             ' stdout']),
        ("sys.exit('no key')", ["it exited with status 1: no key"]),
        ("time.sleep(60)", ["it gave no useful answer for 1 seconds"]),
        ("while True: print(flush=True); time.sleep(0.01)", ["it gave no useful answer for 1 s", "a line on stdout is blank;"]),
        ("for r in lines: print('Grade: 1')", ["a line on stdout is not JSON in UTF-8, or longer than 1 MiB: Grade: 1;"]),
        ("for r in lines: say(grade=1)", ['a line on stdout has no id, or one that is neither text nor a whole number:'
            ' {"grade": 1};']),
        ("for r in lines: say(id='x', grade=1)", ['a line on stdout has an id that was not requested: {"id": "x",'
            ' "grade": 1};']),
        ("for r in lines: say(id=r['id'], grade=5)",
         ['the answer to request 2 has no "grade" that is a whole number from 0 to 4: {"id": "2", "grade": 5}']),
        ("for r in lines: say(id=r['id'], score=1)", ["the answer to request 0 has no \"grade\" that"]),
        ("for r in lines: say(id=r['id'], error='quota')", ["the answer to request 1 reports an error: \"quota\""]),
        ("r = next(lines); say(id=r['id'], grade=1)", ["it ended early: 2 requests without an answer"]),
        ("for r in lines: say(id=r['id'], grade=1)\nsys.exit(2)", ["it exited with status 2"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(
    in_demo: Command, tmp_path: Path, body: str, said: list[str]
) -> None:
    first, second, *remarks = tried(in_demo, tmp_path, body, options="--timeout 1")
    assert first.startswith("3 requests of judge: ") and second == "The program does not work:"
    for one in said:
        assert any(line.startswith(f"- {one}") for line in remarks), remarks


def test_what_is_passed_over_is_told(in_demo: Command, tmp_path: Path) -> None:
    body = "print('Loading…')\nfor r in lines: say(id=r['id'], grade=1); say(id=r['id'], grade=2)"
    lines = tried(in_demo, tmp_path, body, 0)
    assert lines[:2] == ["3 requests of judge: 3 usable answers", "The program works, but:"]
    assert [line.partition(": ")[0] for line in lines[2:]] == [
        "- a line on stdout is not JSON in UTF-8, or longer than 1 MiB", "- a line on stdout answers a request a second time",
    ]  # fmt: skip


def test_a_slow_program(in_demo: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robustcs.cli.try_program._SLOW", 0.2)
    lines = tried(in_demo, tmp_path, "for r in lines: time.sleep(0.5); say(id=r['id'], grade=1)", 0)
    assert lines[1] == "The program works, but:" and re.fullmatch(
        r"- it is slow: [1-9]\d* s per request", lines[2]
    )


def test_what_cannot_be_started(in_demo: Command) -> None:
    out = in_demo("try-program no-such-program", code=3).out
    assert (
        out
        == "The program does not work:\n- no-such-program: cannot be started (No such file or directory); check its name\n"
    )
    assert "No closing quotation" in in_demo('try-program "\'"', code=2).err
