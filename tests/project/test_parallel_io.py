"""Runs read by several processes: the same results, the same errors, in the order of the files."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import (
    InputError,
    InterruptedWorkError,
    NotInstalledError,
    RobustcsError,
    UsageError,
    input_error,
    not_written,
)
from robustcs.project import parallel_io
from robustcs.project.parallel_io import Jobs
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from tests.conftest import Command

#: What every study that reads runs does with them, in another process too.
LINES = (
    "evaluate",
    "check",
    "breakdown",
    "unjudged --table pairs",
    "augment",
    "robustness --table measures",
)


@pytest.fixture
def small_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_io, "WORTH", 0)


def named(role: str, path: Path) -> tuple[str, int]:
    """The role, and who reads it."""
    if not path.exists():
        raise input_error(path, 3, "no such thing", "look elsewhere", "gone")
    return role, os.getpid()


def files_in(folder: Path, count: int = 20) -> list[tuple[str, Path]]:
    files = [(f"r{number}", folder / f"r{number}") for number in range(count)]
    for role, path in files:
        path.write_text(role)
    return files


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_results_come_in_the_order_of_the_files(
    processes: int, tmp_path: Path, small_is_worth_it: None
) -> None:
    files = files_in(tmp_path)
    done = list(Jobs(processes).each(named, files))
    assert [role for role, _ in done] == [role for role, _ in files]
    readers = {reader for _, reader in done}
    assert (
        readers == {os.getpid()}
        if processes == 1
        else os.getpid() not in readers and len(readers) <= processes
    )


def test_small_runs_are_read_here(tmp_path: Path) -> None:
    assert {reader for _, reader in Jobs(2).each(named, files_in(tmp_path))} == {os.getpid()}


def test_the_first_file_that_cannot_be_read_is_told(
    tmp_path: Path, small_is_worth_it: None
) -> None:
    files = files_in(tmp_path)
    for place in (19, 11, 7):
        files[place][1].unlink()
        taken = []
        with pytest.raises(InputError) as caught:
            taken.extend(Jobs(2).each(named, files))
        assert str(caught.value) == f"{files[place][1]}:3: no such thing; look elsewhere"
        assert caught.value.slug == "gone"


def test_what_only_this_process_has_is_read_here(tmp_path: Path, small_is_worth_it: None) -> None:
    files = files_in(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    files.insert(4, ("pipe", tmp_path / "pipe"))
    done = dict(Jobs(2).each(named, files))
    assert list(done) == [role for role, _ in files]
    assert [role for role, reader in done.items() if reader == os.getpid()] == ["pipe"]


def killed(role: str, path: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_was_killed_is_told(tmp_path: Path, small_is_worth_it: None) -> None:
    with pytest.raises(
        InterruptedWorkError,
        match="a worker process was terminated; if memory ran out, use fewer --jobs",
    ):
        list(Jobs(2).each(killed, files_in(tmp_path)))


SLOW = """
import sys, time
from pathlib import Path
from robustcs.project import parallel_io

def slow(role, path):
    Path(role).touch()
    time.sleep(30)

if __name__ == "__main__":
    import slow as module
    parallel_io.WORTH = 0
    try:
        list(parallel_io.Jobs(2).each(module.slow, [(str(number), Path(__file__)) for number in range(4)]))
    except KeyboardInterrupt:
        print("interrupted")
"""


def _ended(group: int) -> bool:
    """Is nothing left of a group of processes? Waits a moment where something is."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    time.sleep(0.05)
    return False


def test_ctrl_c_ends_all_processes_without_a_word_of_theirs(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    process = subprocess.Popen(
        [sys.executable, "slow.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    while process.poll() is None and not (tmp_path / "0").exists():
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    assert process.communicate(timeout=20) == ("interrupted\n", "")
    assert any(_ended(process.pid) for _ in range(100))


@pytest.mark.parametrize(
    "error",
    [
        UsageError("no-such-run", "no run is named 'x'", "there are a, b"),
        NotInstalledError("no-fsspec", "it needs fsspec", "pip install 'robustcs[urls]'"),
        input_error("a.trec", 7, "score 'x' is not a number", "write a number", "not-a-number"),
        not_written("a.json", PermissionError(13, "Permission denied")),
        InterruptedWorkError("ended", "begin again"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_whole_from_other_processes(error: RobustcsError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))


# ---------------------------------------------------------------- as a user calls it


@pytest.mark.parametrize("processes", [2, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize("line", LINES)
def test_however_many_processes_read_the_output_is_the_same(
    line: str, processes: int, in_demo: Command, small_is_worth_it: None
) -> None:
    one = in_demo(f"{line} --format json")
    many = in_demo(f"{line} --format json --jobs {processes}")
    assert many.out == one.out and many.err == one.err
    assert json.loads(one.out)["tables"]


def test_checksums_are_those_of_the_files(demo: Path, small_is_worth_it: None) -> None:
    project = read_project(demo / "robustcs.toml")
    here, there = Workspace(project), Workspace(project, Jobs(2))
    for workspace in (here, there):
        workspace.system_scores(list(project.systems))
        workspace.tops(project.systems, 3)
    assert here.inputs == there.inputs and len(here.inputs) == 2 + len(
        set(project.systems.values())
    )


def _break(folder: Path, name: str, change: Callable[[str], str]) -> None:
    path = folder / "demo" / "runs" / name
    path.write_text(change(path.read_text()))


@pytest.mark.parametrize("processes", [1, 2])
def test_the_first_bad_run_is_told_with_its_line(
    processes: int, tmp_path: Path, in_copy: Command, small_is_worth_it: None
) -> None:
    for name in ("plain_qr.trec", "stem_raw_3.trec"):
        _break(tmp_path, name, lambda text: text.replace("\n", "\n1_1 Q0 d1 2 high t\n", 1))
    answer = in_copy(f"evaluate --jobs {processes}", code=3)
    # the runs of groups are read first
    assert (
        answer.err.startswith("runs/stem_raw_3.trec:2: score 'high' is not a")
        and "plain_qr" not in answer.err
    )


def test_a_run_that_stands_in_memory_is_read_here(demo: Path, small_is_worth_it: None) -> None:
    import pandas as pd

    import robustcs

    columns = ["turn_id", "Q0", "doc_id", "rank", "score", "tag"]
    frame: Any = pd.read_csv(
        demo / "runs" / "plain_human.trec", sep=r"\s+", names=columns, dtype={"turn_id": str}
    )
    runs = {
        "memory": frame,
        "a": demo / "runs" / "plain_qr.trec",
        "b": demo / "runs" / "stem_qr.trec",
    }
    one = robustcs.evaluate(qrels=demo / "qrels.txt", runs=runs)
    two = robustcs.evaluate(qrels=demo / "qrels.txt", runs=runs, jobs=2)
    assert one.measures.equals(two.measures) and set(one.measures["system"]) == set(runs)


def test_the_number_of_processes_is_a_whole_number(demo: Path) -> None:
    import robustcs

    for wrong in (0, 1.5, "two"):
        with pytest.raises(UsageError, match="jobs"):
            robustcs.evaluate(demo / "robustcs.toml", jobs=wrong)


def test_one_process_needs_no_joblib(demo: Path, tmp_path: Path) -> None:
    code = (
        "import sys, robustcs; robustcs.unjudged('robustcs.toml'); robustcs.unjudged('robustcs.toml', jobs=2);"
        "print([name for name in ('joblib', 'distributed') if name in sys.modules])"
    )
    shutil.copytree(demo, tmp_path / "demo")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "demo",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("processes", [1, 2])
def test_check_reads_what_is_left_beside_a_broken_run(
    processes: int, tmp_path: Path, in_copy: Command, small_is_worth_it: None
) -> None:
    _break(tmp_path, "plain_qr.trec", lambda text: text.replace("\n", "\n1_1 Q0 d1 2 high t\n", 1))
    answer = in_copy(f"check --format json --jobs {processes}", code=3)
    assert answer.err.startswith("runs/plain_qr.trec:2: score 'high' is not a")
    files = {row["role"]: row for row in json.loads(answer.out)["tables"]["files"]}
    assert (
        files["plain_qr"]["problem"].startswith("runs/plain_qr.trec:2:")
        and files["plain_human"]["rows"] == 6836
    )
