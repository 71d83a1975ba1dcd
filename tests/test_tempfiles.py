"""Temporary files are removed, by their owner or by who comes after it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robustcs import tempfiles
from robustcs.tempfiles import TOO_OLD, remove_stale, temporary


@pytest.fixture(autouse=True)
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfiles, "_looked_through", set())


def name(pid: int, age: int = 10, host: str = "") -> str:
    return (
        f".robustcs-{host or tempfiles._host()}-{pid}-{int(time.time()) - age}-0123456789abcdef.tmp"
    )


def interrupted(folder: Path) -> None:
    with temporary(folder) as path:
        path.write_text("x")
        raise KeyboardInterrupt


def test_a_temporary_is_removed_whatever_it_is(tmp_path: Path) -> None:
    with temporary(tmp_path) as path:
        path.write_text("x")
    with temporary(tmp_path) as path:
        (path / "deep").mkdir(parents=True)
        (path / "deep" / "x").write_text("x")
    with temporary(tmp_path):
        pass
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path)
    assert os.listdir(tmp_path) == []


def test_only_what_nobody_works_on_is_stale(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    stale = [
        name(gone.pid),
        name(os.getpid()),
        name(os.getppid(), TOO_OLD + 60),
        name(1, TOO_OLD + 60, "other"),
    ]
    kept = [
        name(os.getppid()),
        name(1, host="other"),
        ".robustcs-x.tmp",
        name(gone.pid).removesuffix(".tmp"),
        "robustcs.toml",
    ]
    for file in (*stale, *kept):
        (tmp_path / file).write_text("x")
    folder = tmp_path / name(gone.pid).replace("0123", "9999")
    (folder / "index").mkdir(parents=True)
    (folder / "index" / "x").write_text("x")
    with temporary(tmp_path) as mine:
        mine.write_text("x")
        tempfiles._looked_through.clear()
        remove_stale(tmp_path)
        assert mine.exists()
    assert sorted(os.listdir(tmp_path)) == sorted(kept)


def test_what_could_not_be_removed_at_once_is_removed_at_the_end(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from robustcs import tempfiles\n"
        "context = tempfiles.temporary(pathlib.Path(sys.argv[1]))\n"
        "path = context.__enter__(); path.mkdir(); (path / 'x').write_text('x')\n"
        "import os; os.kept = context  # not closed: an interruption came in between\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0 and os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove_stale(tmp_path / "none")
