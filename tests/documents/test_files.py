"""Output files appear whole or not at all, and failures are said in one line."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from robustcs.documents import files
from robustcs.documents.files import write_bytes, write_text
from robustcs.errors import ExitCode, OutputError


def test_writes_text_as_it_is(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_text(target, "ä\n✓\r\n")
    assert target.read_bytes() == "ä\n✓\r\n".encode()
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_new_files_follow_the_umask_and_old_ones_keep_their_mode(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        write_text(tmp_path / "new", "x")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o644 & ~umask
    (tmp_path / "new").chmod(0o640)
    write_text(tmp_path / "new", "y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(files.os, step, fail)
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else OutputError
    with pytest.raises(expected) as caught:
        write_text(target, "new")
    if expected is OutputError:
        assert (
            str(caught.value)
            == f"{target}: not written, no space left on device; free some space, or write elsewhere"
        )
        assert caught.value.exit_code == ExitCode.BAD_INPUT
        assert caught.value.slug == "not-written"
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_missing_folder_is_made_only_when_asked(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b.txt"
    with pytest.raises(OutputError) as caught:
        write_text(target, "x")
    assert (
        str(caught.value)
        == f"{target}: not written, its folder does not exist; create the folder first"
    )
    assert not target.parent.exists()
    write_text(target, "x", make_parents=True)
    assert target.read_text() == "x"


def test_a_folder_or_a_path_through_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught:
        write_text(tmp_path, "x")
    assert str(caught.value) == f"{tmp_path}: not written, this is a folder; name a file"
    (tmp_path / "file").write_text("")
    for make_parents in (False, True):
        with pytest.raises(OutputError, match="not written"):
            write_text(tmp_path / "file" / "x", "x", make_parents=make_parents)
    with pytest.raises(OutputError, match="not written, file name too long"):
        write_text(tmp_path / ("x" * 300), "x")


def test_a_closed_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    # permissions do not bind root, under which tests may run
    monkeypatch.setattr(files.os, "open", refuse)
    with pytest.raises(OutputError) as caught:
        write_text(tmp_path / "x", "x")
    expected = f"{tmp_path / 'x'}: not written, no permission to write to its folder; check the permissions"
    assert str(caught.value) == expected


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").write_text("old")
    (tmp_path / "link").symlink_to(Path("real") / "x")
    (tmp_path / "dangling").symlink_to(Path("real") / "y")
    write_text(tmp_path / "link", "new")
    write_text(tmp_path / "dangling", "made")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "dangling").is_symlink()
    assert (tmp_path / "real" / "x").read_text() == "new"
    assert (tmp_path / "real" / "y").read_text() == "made"


def test_special_files_are_written_directly(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    write_bytes("/dev/stdout", b"to stdout\n")
    assert capfdbinary.readouterr().out == b"to stdout\n"
    write_bytes("/dev/null", b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_bytes(tmp_path / "pipe", b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_what_a_killed_program_left_is_removed_by_the_next(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from robustcs.documents.files import write_text\n"
        "if sys.argv[2:]: os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_text(sys.argv[1] + '/table.csv', 'new')"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    (tmp_path / "table.csv").write_text("old")
    assert subprocess.run([*command, "killed"]).returncode == -9
    (left,) = set(os.listdir(tmp_path)) - {"table.csv"}
    assert left.startswith(".robustcs-") and (tmp_path / "table.csv").read_text() == "old"
    assert subprocess.run(command).returncode == 0
    assert os.listdir(tmp_path) == ["table.csv"] and (tmp_path / "table.csv").read_text() == "new"
