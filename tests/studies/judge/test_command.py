"""``robustcs judge`` as people and scripts use it, on pipes and on a real (pseudo) terminal."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest
from rich.cells import cell_len

from robustcs.cli.main import run
from robustcs.inputs.qrels import read_qrels

ROOT = Path(__file__).resolve().parents[3]
#: Runs the command in a process of its own.
PROGRAM = """
import sys
from robustcs.cli.main import run
sys.exit(run(sys.argv[1:]))
"""
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "PYTHONIOENCODING": "utf-8",
    "TERM": "xterm",
    "NO_COLOR": "1",
}

RUNS = {
    "base": {"1_1": ["j", "p1"], "1_2": ["j", "p2"], "2_1": ["j"]},
    "set": {"1_1": ["p1", "p3"], "1_2": ["evil", "j"], "2_1": ["j", "東", "gone"]},
}
PASSAGES = {
    "p1": "one", "p2": "two", "p3": "three " * 60, "j": "judged",
    "evil": "\x1b[2J\x1b]0;owned\x07 \u202egnp.exe [bold]x[/]", "東": "東京は日本の首都です。" * 6,
}  # fmt: skip
#: The order of work: topic 1 holds more influence than topic 2.
ORDER = ["1_1 0 p3", "1_1 0 p1", "1_2 0 evil", "1_2 0 p2", "2_1 0 東"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, turns in RUNS.items():
        rows = [
            f"{turn} Q0 {d} {i + 1} {9 - i} x\n"
            for turn, found in turns.items()
            for i, d in enumerate(found)
        ]
        (tmp_path / f"{name}.trec").write_text("".join(rows), encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("1_1 0 j 4\n1_2 0 j 2\n2_1 0 j 1\n")
    lines = [json.dumps({"id": name, "contents": text}) + "\n" for name, text in PASSAGES.items()]
    (tmp_path / "c.jsonl").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "raw.tsv").write_text("1_1\tWhat is it?\n1_2\tAnd then?\n2_1\tWhere?\n")
    (tmp_path / "human.tsv").write_text(
        "1_1\tWhat is bread?\n1_2\tAnd after bread?\n2_1\tWhere is Tōkyō?\n"
    )
    (tmp_path / "robustcs.toml").write_text(
        'qrels = "qrels.txt"\ncollection = "c.jsonl"\nmetrics = ["ndcg_cut_3"]\n'
        '[formulations.original]\nrewrites = ["raw.tsv"]\n[formulations.human]\nrewrites = ["human.tsv"]\n'
        '[runs]\nbase = "base.trec"\nset = "set.trec"\n[groups.g]\nbaseline = "base"\nsets = ["set"]\n'
    )
    return tmp_path


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def call(folder: Path, *arguments: str, keys: str = "", columns: int = 80) -> Done:
    """The command in this process, with ``keys`` as its standard input."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True),
        io.StringIO(),
    )
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "stdin", io.StringIO(keys)),
        mock.patch.dict(os.environ, {"COLUMNS": str(columns)}),
    ):
        code = run(["judge", *arguments])
    return Done(code, out.buffer.getvalue().decode(), err.getvalue())  # type: ignore[attr-defined]


def judged(folder: Path) -> list[str]:
    return (folder / "judgments.txt").read_text(encoding="utf-8").splitlines()


# ---------------------------------------------------------------- lines instead of keys


def test_a_script_of_grades(project: Path) -> None:
    done = call(project, keys="4\n0\n\nu\n1\ns\n2\nq\n3\n")
    assert done.returncode == 0, done.stderr
    assert judged(project) == [f"{ORDER[0]} 4", f"{ORDER[1]} 1", f"{ORDER[3]} 2"]
    assert "Topic 1 · turn 1_1 · judged 0 of 5 · this topic 0 of 4" in done.stdout
    assert "  1_1  What is it?\n  1_2  And then?\nHuman\n  And after bread?\n" in done.stdout
    assert "3 passages graded in this session, 1 skipped; 3 of 5 judged." in done.stdout
    assert done.stdout.startswith(
        "Skipped 1 of 6 passages without a text in c.jsonl; --export includes them.\n"
    )
    # the next session asks for what was skipped, then for the rest, and ends by itself
    done = call(project, keys="0\n4\n1\n")
    # whatever the grade of the last passage, the order of the systems stays
    assert done.returncode == 0 and len(judged(project)) == 4
    assert (
        "1 passage graded in this session; 4 of 5 judged.\n1 order of systems: 1 proven. No more"
        in done.stdout
    )
    done = call(project, "--all", keys="4\n1\n")
    assert done.returncode == 0
    assert judged(project)[3:] == [f"{ORDER[2]} 0", f"{ORDER[4]} 4"]
    assert "5 of 5 judged" in done.stdout
    assert read_qrels(project / "judgments.txt").grades.tolist() == [4, 1, 2, 0, 4]


def test_what_a_judge_must_not_see_and_must_not_run(project: Path) -> None:
    shown = call(project, keys="s\n" * 5).stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "␛[2J␛]0;owned␇ ⟨U+202E⟩gnp.exe [bold]x[/]" in shown
    assert "東京は日本の首都です。" in shown
    # neither systems nor ranks
    assert "base" not in shown
    assert "rank" not in shown


def test_a_wrong_line_stops_a_script(project: Path) -> None:
    done = call(project, keys="4\n\n9\n1\n")
    assert done.returncode == 3
    assert done.stderr == "standard input:3: '9' is not a valid key; write 0 to 4, u, s, q or ?\n"
    assert judged(project) == [f"{ORDER[0]} 4"]


def test_help_shows_the_guidelines(project: Path) -> None:
    shown = call(project, keys="?\nq\n").stdout
    assert "4  Fully meets: a perfect answer to the turn" in shown
    assert not (project / "judgments.txt").exists()
    assert "Fully meets" not in call(project, "--max-grade", "3", keys="?\nq\n").stdout


# ---------------------------------------------------------------- worklist


def test_the_worklist_as_json(project: Path) -> None:
    call(project, keys="4\n")
    found = json.loads(call(project, "--format", "json").stdout)
    assert list(found["tables"]) == ["worklist", "orders", "outlook"]
    rows = found["tables"]["worklist"]
    assert [f"{row['turn']} 0 {row['document']}" for row in rows] == [*ORDER, "2_1 0 gone"]
    assert [row["grade"] for row in rows] == [4, None, None, None, None, None]
    assert rows[0] == {"topic": "1", "turn": "1_1", "document": "p3", "systems": 1, "best_rank": 2,
                       "influence": rows[0]["influence"], "found_by": "set", "grade": 4,
                       "expected_influence": rows[0]["expected_influence"]}  # fmt: skip
    assert [entry["role"] for entry in found["inputs"]] == ["qrels", "base", "set", "judgments"]


def test_the_order_of_the_demo_is_that_of_the_expected_influence(demo: Path) -> None:
    found = json.loads(call(demo, "--format", "json").stdout)["tables"]
    topics: dict[str, float] = {}
    for row in found["worklist"]:
        topics[row["topic"]] = topics.get(row["topic"], 0) + row["expected_influence"]
    assert (
        list(topics.values()) == sorted(topics.values(), reverse=True) and max(topics.values()) > 0
    )
    turns: dict[str, list[float]] = {}
    for row in found["worklist"]:
        assert 0 <= row["expected_influence"] <= row["influence"] + 1e-12
        turns.setdefault(row["turn"], []).append(row["expected_influence"])
    assert all(values == sorted(values, reverse=True) for values in turns.values())


def test_judgments_of_one_grade_leave_the_order_to_the_influence(project: Path) -> None:
    (project / "qrels.txt").write_text("1_1 0 j 4\n1_2 0 j 4\n2_1 0 j 4\n")
    found = json.loads(call(project, "--format", "json").stdout)
    assert all(row["expected_influence"] is None for row in found["tables"]["worklist"])
    assert [row["topic"] for row in found["tables"]["worklist"]] == ["1", "1", "1", "1", "2", "2"]
    assert any(
        note.startswith("passages are ordered by influence, because") for note in found["notes"]
    )
    shown = call(project, "--list").stdout
    assert "Topics are ordered by influence" in shown and "xpected" not in shown


@pytest.mark.parametrize("selection", ["", "clicks"])
def test_what_the_model_warns_of_stands_beside_every_order_of_work(
    project: Path, selection: str
) -> None:
    """In a list, its JSON, a sheet, at the terminal, and where a program is asked."""
    (project / "qrels.txt").write_text("1_1 0 j 4\n1_2 0 j 0\n2_1 0 j 1\n")
    if selection:
        text = (project / "robustcs.toml").read_text().replace('qrels = "qrels.txt"\n', "")
        table = f'[qrels]\nfile = "qrels.txt"\nselection = "{selection}"\n'
        (project / "robustcs.toml").write_text(
            text.replace("[formulations.original]", f"{table}[formulations.original]")
        )
    warned = ["The hole model learned from only 3 judged passages."]
    warned += ["Passages were not selected for judging by pooling"] if selection else []
    (project / "say.py").write_text(
        "import json, sys\nfor line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'grade': 0}), flush=True)\n"
    )
    told = {
        "list": call(project, "--list").stdout,
        "notes": " ".join(json.loads(call(project, "--format", "json").stdout)["notes"]),
        "sheet": call(project, "--export", "sheet.csv").stderr,
        "terminal": call(project, "--all", keys="q\n").stdout,
        "program": call(
            project, "--with", f"{sys.executable} say.py", "--limit", "1", "--all"
        ).stderr,
    }
    for mode, said in told.items():
        assert all(" ".join(said.split()).count(warning) == 1 for warning in warned), (mode, said)


def test_without_a_model_there_is_nothing_to_warn_of(project: Path) -> None:
    """No judged passage has grade 0: the order is that of the influence."""
    done = call(project, "--export", "sheet.csv")
    assert done.returncode == 0 and "hole model" not in done.stderr
    [note] = [
        note
        for note in json.loads(call(project, "--format", "json").stdout)["notes"]
        if "influence" in note
    ]
    assert note.endswith(
        "no judged passage of the runs has grade 0: the qrels contain relevant passages only"
    )


def test_the_worklist_on_the_terminal_fits_40_columns(project: Path) -> None:
    shown = call(project, "--list", columns=40).stdout
    assert max(map(len, shown.splitlines())) <= 40
    assert "6 passages to judge, 0 judged so far" in shown


# ---------------------------------------------------------------- sheets


def test_a_sheet_has_the_original_question_of_turns_without_a_human_text(project: Path) -> None:
    (project / "human.tsv").write_text("1_1\tWhat is bread?\n")
    assert call(project, "--export", "s.csv").returncode == 0
    with (project / "s.csv").open(encoding="utf-8-sig", newline="") as stream:
        found = {row["turn"]: row["question"] for row in csv.DictReader(stream)}
    assert found == {"1_1": "What is bread?", "1_2": "And then?", "2_1": "Where?"}


def test_a_sheet_goes_out_and_comes_back(project: Path) -> None:
    call(project, keys="4\n")
    done = call(project, "--export", "sheet.csv")
    assert done.stderr == (
        "wrote sheet.csv: 5 passages to judge, 1 already judged\n"
        "1 of them has no text (not in c.jsonl) but can still be graded\n"
    )
    with (project / "sheet.csv").open(encoding="utf-8-sig", newline="") as stream:
        head, *rows = csv.reader(stream)
    assert [f"{row[1]} 0 {row[3]}" for row in rows] == [*ORDER[1:4], "2_1 0 東", "2_1 0 gone"]
    rows[0][-1], rows[4][-1] = "2", "3"
    with (project / "back.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=";").writerows([head, *rows])
    done = call(project, "--import", "back.csv")
    assert (
        done.stderr
        == "added 2 grades to judgments.txt; 3 rows have no grade\n3 of 6 passages are judged\n"
    )
    assert judged(project) == [f"{ORDER[0]} 4", f"{ORDER[1]} 2", "2_1 0 gone 3"]
    again = call(project, "--import", "back.csv")
    assert again.stderr.startswith(
        "added 0 grades to judgments.txt (2 already there); 3 rows have no grade\n"
    )


def test_a_bad_sheet_adds_nothing(project: Path) -> None:
    (project / "back.csv").write_text("turn,document,grade\n1_1,p1,4\n1_1,p3,5\n1_1,p9,1\n")
    done = call(project, "--import", "back.csv")
    assert done.returncode == 3
    assert [line.split(";")[0] for line in done.stderr.splitlines()] == [
        "back.csv:3: grade '5' of turn 1_1 document p3 is not an integer from 0 to 4",
        "back.csv:4: turn 1_1 document p9 is not in the worklist",
    ]
    assert not (project / "judgments.txt").exists()


# ---------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--list", "--export", "x.csv"), 2, "robustcs: a list, --export, --import and --with cannot be combined;"
         " use one of them per call"),
        (("--judgments", "qrels.txt"), 2, "robustcs: qrels.txt is the qrels file; name another file with --judgments"),
        (("--collection", "nowhere.jsonl"), 3, "nowhere.jsonl: no such file; check the path"),
        (("--collection", "human.tsv"), 2, "robustcs: human.tsv contains none of the 6 passages to judge; check the passage"
         " ids, or use --export FILE to judge elsewhere"),
        (("--metric", "f1"), 2, "robustcs: f1 does not score rankings; use a measure such as ndcg_cut_3"),
        (("--run", "only=base.trec"), 2, "robustcs: no run is named 'base'; choose from only"),
        (("--judgments", "no/such/folder"), 3, "robustcs: no/such/folder: not written, its folder does not exist; create the"
         " folder first"),
    ],
)  # fmt: skip
def test_wrong_use(project: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    done = call(project, *arguments, keys="q\n")
    assert (done.returncode, done.stderr) == (code, message + "\n")


# ---------------------------------------------------------------- a real terminal


class Terminal:
    """The command on a pseudo-terminal of its own."""

    def __init__(self, folder: Path, columns: int = 80):
        self.screen, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 20, columns, 0, 0))
        environment = {
            name: value for name, value in ENVIRONMENT.items() if name not in ("COLUMNS", "LINES")
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "judge"],
            stdin=inside, stdout=inside, stderr=inside, cwd=folder, env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(inside)
        self.shown = ""

    def until(self, text: str) -> str:
        """What appears until ``text`` does, which it must within 20 seconds."""
        end = time.monotonic() + 20
        while text not in self.shown:
            ready, _, _ = select.select([self.screen], [], [], max(0, end - time.monotonic()))
            assert ready, f"{text!r} did not appear in {self.shown!r}"
            try:
                read = os.read(self.screen, 65536)
            except OSError:  # Linux tells so that the other side is closed
                read = b""
            assert read, f"ended without {text!r}: {self.shown!r}"
            self.shown += read.decode("utf-8", "replace")
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def press(self, keys: str) -> None:
        os.write(self.screen, keys.encode())

    def end(self) -> int:
        code = self.process.wait(20)
        os.close(self.screen)
        return code


PROMPT = "? help:"


def test_single_keys(project: Path) -> None:
    terminal = Terminal(project)
    before = termios.tcgetattr(terminal.screen)
    terminal.until(PROMPT)
    terminal.press("3")
    assert "Saved: 3 for turn 1_1, passage p3." in terminal.until(PROMPT)
    terminal.press("\x1b[A")  # an arrow key grades nothing
    terminal.press("7")
    assert "Unknown key 7." in terminal.until(PROMPT)
    terminal.press("u")
    assert "Undone: turn 1_1, passage p3." in terminal.until(PROMPT)
    terminal.press("10")
    terminal.until("Saved: 0 for turn 1_1, passage p1.")
    terminal.until(PROMPT)
    terminal.press("q")
    assert "2 of 5 judged" in terminal.until("judged.")
    assert terminal.process.wait(20) == 0
    assert termios.tcgetattr(terminal.screen) == before
    terminal.end()
    assert judged(project) == [f"{ORDER[0]} 1", f"{ORDER[1]} 0"]


def test_a_killed_session_loses_nothing(project: Path) -> None:
    terminal = Terminal(project)
    for key, pair in zip("42", ("p3", "p1"), strict=True):
        terminal.until(PROMPT)
        terminal.press(key)
        terminal.until(f"Saved: {key} for turn 1_1, passage {pair}.")
    terminal.process.kill()
    assert terminal.end() == -signal.SIGKILL
    assert judged(project) == [f"{ORDER[0]} 4", f"{ORDER[1]} 2"]
    terminal = Terminal(project)
    assert "turn 1_2 · judged 2 of 5 · this topic 2 of 4" in terminal.until(PROMPT)
    terminal.press("u")  # also a grade of the killed session
    assert "turn 1_1 · judged 1 of 5" in terminal.until(PROMPT)
    terminal.press("q")
    assert terminal.end() == 0
    assert judged(project) == [f"{ORDER[0]} 4"]


@pytest.mark.parametrize("how", ["key", "signal"])
def test_ctrl_c(project: Path, how: str) -> None:
    terminal = Terminal(project)
    terminal.until(PROMPT)
    terminal.press("4")
    terminal.until("Saved")
    terminal.until(PROMPT)
    if how == "key":
        terminal.press("\x03")
    else:
        terminal.process.send_signal(signal.SIGINT)
    assert "1 of 5 judged" in terminal.until("robustcs: interrupted")
    assert terminal.end() == 130
    assert judged(project) == [f"{ORDER[0]} 4"]


def test_back_from_being_stopped(project: Path) -> None:
    terminal = Terminal(project)
    terminal.until(PROMPT)
    terminal.process.send_signal(signal.SIGSTOP)
    cooked = termios.tcgetattr(terminal.screen)
    cooked[3] |= termios.ICANON | termios.ECHO  # as a shell leaves it
    termios.tcsetattr(terminal.screen, termios.TCSANOW, cooked)
    terminal.process.send_signal(signal.SIGCONT)
    end = time.monotonic() + 10
    while termios.tcgetattr(terminal.screen)[3] & termios.ICANON and time.monotonic() < end:
        time.sleep(0.01)
    terminal.press("4")
    terminal.until("Saved: 4")
    terminal.until(PROMPT)
    terminal.press("q")
    terminal.until("judged.")
    assert terminal.end() == 0


def test_a_narrow_terminal(project: Path) -> None:
    terminal = Terminal(project, columns=40)
    terminal.until(PROMPT)
    terminal.press("ssss")
    shown = "".join(terminal.until(PROMPT) for _ in range(4))
    terminal.press("\x04")  # end of input
    shown += terminal.until("judged.")
    assert terminal.end() == 0
    # the program's own clearing of the screen is all that is left of escape sequences
    plain = re.sub(r"\x1b\[(2J|H|[012]m)", "", shown)
    assert "\x1b" not in plain
    assert max(cell_len(line) for line in plain.replace("\r", "").split("\n")) <= 40
    assert "東京は日本の首都です。" in plain
