"""What can be read only once: pipes and devices."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.inputs.files import open_binary, sha256
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.text import line_chunks, text_lines
from tests.inputs.test_files import COMPRESS, CONTENT


@contextmanager
def fifo(path: Path, data: bytes) -> Iterator[Path]:
    """A named pipe into which somebody writes ``data``, once."""
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(path.write_bytes, data)
        yield path
        assert writer.result(60) == len(data)


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_pipe_is_read_once_and_serves_every_reading(tmp_path: Path, kind: str) -> None:
    data = COMPRESS[kind](CONTENT)
    with fifo(tmp_path / "pipe", data) as path:
        assert b"".join(line_chunks(path, 100)) == CONTENT
        assert b"".join(line_chunks(path)) == CONTENT
        assert [number for number, _ in text_lines(path)] == list(range(1, 3001))
        assert sha256(path) == hashlib.sha256(data).hexdigest()


def test_readings_of_a_pipe_do_not_disturb_each_other(tmp_path: Path) -> None:
    with fifo(tmp_path / "pipe", CONTENT) as path, ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: b"".join(line_chunks(path, 7)), range(8))) == [CONTENT] * 8
        with open_binary(path) as first, open_binary(path) as second:
            assert first.read(10) == second.read(10) == CONTENT[:10]
            assert first.seek(-3, os.SEEK_END) == len(CONTENT) - 3
            assert (first.read(), second.read(3)) == (CONTENT[-3:], CONTENT[10:13])


def test_two_pipes_are_not_confused(tmp_path: Path) -> None:
    for name, grade in (("one", 1), ("two", 2)):
        with fifo(tmp_path / name, f"31_1 0 d {grade}\n".encode()) as path:
            assert read_qrels(path).grades.tolist() == [grade]


def test_a_message_names_the_line_of_a_pipe(tmp_path: Path) -> None:
    with (
        fifo(tmp_path / "pipe", b"31_1 0 d 1\n31_1 0 e x\n") as path,
        pytest.raises(InputError) as error,
    ):
        read_qrels(path)
    assert str(error.value).startswith(f"{path}:2: grade 'x'")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_device_without_end_is_refused_and_the_empty_one_is_empty() -> None:
    for read in (read_qrels, sha256):
        with pytest.raises(InputError, match=r"/dev/zero: this is a device; name a file or a pipe"):
            read("/dev/zero")
    with open_binary(os.devnull) as stream:
        assert stream.read() == b""
