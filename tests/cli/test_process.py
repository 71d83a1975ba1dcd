"""The program as a process: pipes that close, full disks, interruption, no colour codes, a quick start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal_support import everything
from tests.conftest import ROOT, Command

ROBUSTCS = [sys.executable, "-m", "robustcs.cli.main"]
LAUNCHER = [sys.executable, str(ROOT / "cli.py")]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        arguments, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip


def test_the_launcher_of_a_checkout(demo: Path) -> None:
    done = subprocess.run([*LAUNCHER, "--version"], cwd=demo, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("robustcs, version ")


def test_the_package_as_a_module(demo: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "robustcs", "--version"], cwd=demo, env=ENVIRONMENT, capture_output=True, text=True
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith(
        "robustcs, version "
    )


#: Environments that programs around robustcs make: notebooks, a Windows code page, other languages, no or a read-only home.
ENVIRONMENTS = {
    "jupyter": {"MPLBACKEND": "module://matplotlib_inline.backend_inline"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "code page": {"PYTHONIOENCODING": "cp1252"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "tr_TR": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "no HOME": {"HOME": None},
    "read-only HOME": {"HOME": "/proc", "XDG_CACHE_HOME": "/proc", "MPLCONFIGDIR": None},
}
#: Those that differ little from another.
SIMILAR = {"code page", "tr_TR", "no HOME"}


#: What is run in every environment.
_LINE = [*LAUNCHER, "breakdown", "--metric", "P_1", "--threshold", ">0"]


@pytest.fixture(scope="module")
def plain(demo: Path) -> bytes:
    return subprocess.run(
        [*_LINE, "--format", "json"], cwd=demo, env=ENVIRONMENT, capture_output=True
    ).stdout


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.long] * (one in SIMILAR)) for one in ENVIRONMENTS]
)
def test_whatever_the_environment_numbers_and_figures_are_the_same(
    name: str, demo: Path, tmp_path: Path, plain: bytes
) -> None:
    changes = ENVIRONMENTS[name]
    environment = {
        key: value for key, value in (ENVIRONMENT | changes).items() if value is not None
    }
    files = {suffix: tmp_path / f"out.{suffix}" for suffix in ("svg", "json")}
    outputs = [word for file in (*files.values(), "-") for word in ("--output", str(file))]
    done = subprocess.run([*_LINE, *outputs], cwd=demo, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    # errors of the QA component and of the rewriter by P@1, as every environment prints them
    assert b"70 turns in 10 conversations" in done.stdout and files["svg"].stat().st_size > 1_000
    assert files["json"].read_bytes() == plain and json.loads(plain)["tables"]["bins"]


@pytest.mark.parametrize(
    "name", ["latin-1", *(pytest.param(one, marks=pytest.mark.long) for one in ENVIRONMENTS)]
)
def test_whatever_the_environment_json_on_stdout_is_the_same(
    name: str, demo: Path, plain: bytes
) -> None:
    environment = {
        key: value for key, value in (ENVIRONMENT | ENVIRONMENTS[name]).items() if value is not None
    }
    assert (
        subprocess.run(
            [*_LINE, "--format", "json"], cwd=demo, env=environment, capture_output=True
        ).stdout
        == plain
    )


def test_characters_that_an_encoding_lacks_have_a_near_one(demo: Path) -> None:
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "latin-1"}
    line = [*LAUNCHER, "breakdown", "--metric", "P_1", "--threshold", ">0", "--table", "bins"]
    out = subprocess.run(line, cwd=demo, env=environment, capture_output=True).stdout.decode(
        "latin-1"
    )
    assert "----" in out and "relevant >= 2" in out
    assert out.count("?") == 1  # that of the title: no letter has become one


@pytest.mark.parametrize(
    "arguments", [["breakdown", "--table", "bins", "--format", "json"], ["--help"]]
)
def test_a_reader_that_has_seen_enough(demo: Path, arguments: list[str]) -> None:
    process = start([*LAUNCHER, *arguments], demo)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


@pytest.mark.parametrize("form", ["table", pytest.param("csv", marks=pytest.mark.long)])
def test_a_gate_says_the_same_to_a_reader_that_has_seen_enough(
    demo: Path, in_demo: Command, form: str
) -> None:
    line = f"compare robustcs.toml plain.toml --fail-if drop>0.02 --format {form}"
    whole = in_demo(line, code=5)
    process = start([*LAUNCHER, *line.split()], demo)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.wait(60) == 5
    assert process.stderr.read().splitlines()[-1] == whole.err.splitlines()[-1]
    process.stderr.close()


def test_a_full_disk_behind_stdout(demo: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*LAUNCHER, "breakdown", "--table", "bins"],
            cwd=demo,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, done.stderr) == (3, "robustcs: No space left on device\n")


def test_closed_streams(demo: Path) -> None:
    command = f"'{sys.executable}' '{ROOT / 'cli.py'}' check >&-"
    done = subprocess.run(["sh", "-c", command], cwd=demo, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_colours_and_no_progress_in_a_pipe_even_if_forced(demo: Path) -> None:
    environment = {**ENVIRONMENT, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run(
        [*LAUNCHER, "check"], cwd=demo, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout


def test_colours_on_a_terminal(demo: Path) -> None:
    pty = pytest.importorskip("pty")
    primary, secondary = pty.openpty()
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "80"}
    done = subprocess.Popen(
        [*LAUNCHER, "check", "--table", "texts"], cwd=demo, env=environment, stdout=secondary
    )
    os.close(secondary)
    shown = everything(primary)
    assert done.wait(60) == 0
    assert b"\x1b[1m" in shown


#: Tells on stderr when the first run is being read.
ANNOUNCED = """
import sys
import robustcs.project.reader as reader
from robustcs.cli.main import main
graded_run = reader.graded_run
def announce(*arguments):
    print("reading", file=sys.stderr, flush=True)
    return graded_run(*arguments)
reader.graded_run = announce
main()
"""


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_interrupted_work_leaves_nothing_behind(
    demo: Path, tmp_path: Path, number: signal.Signals, code: int, word: str
) -> None:
    arguments = ["breakdown", "--output", "out.json", "--output", "out.tex"]
    arguments += [
        "--qrels",
        str(demo / "qrels.txt"),
        "--original",
        str(demo / "runs/stem_original.trec"),
    ]
    arguments += ["--human", str(demo / "runs/stem_human.trec")]
    for place in range(400):
        arguments += ["--qr", f"R{place}={demo / 'runs/plain_qr.trec'}"]
    process = start([sys.executable, "-c", ANNOUNCED, *arguments], tmp_path)
    assert process.stderr and process.stdout
    assert process.stderr.readline() == "reading\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert [line for line in err.splitlines() if line and line != "reading"] == [
        f"robustcs: {word}"
    ]
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_help_starts_without_the_heavy_libraries() -> None:
    code = (
        "import sys; from robustcs.cli.main import run; code = run(['--help']);"
        "heavy = {'numpy', 'pandas', 'scipy', 'pyarrow', 'matplotlib', 'rich', 'jinja2'} & set(sys.modules);"
        "assert not heavy, heavy; sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
