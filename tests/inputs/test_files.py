"""Opening files: compression told by content, line ends, marks, damage."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import ExitCode, InputError
from robustcs.inputs.files import line_chunks, open_binary, read_json, read_text, sha256, text_lines


def zstd(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}
CONTENT = "".join(f"31_{i}\tQ0 dé{i}\n" for i in range(3000)).encode()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files") / "file"


def message(error: pytest.ExceptionInfo[InputError]) -> str:
    assert error.value.exit_code is ExitCode.BAD_INPUT
    return str(error.value)


@pytest.mark.parametrize("kind", COMPRESS)
def test_compression_is_told_by_content_not_by_suffix(tmp_path: Path, kind: str) -> None:
    for name in ("run.txt", "run.gz", "run.zst", "run"):
        path = tmp_path / name
        path.write_bytes(COMPRESS[kind](CONTENT))
        with open_binary(path) as stream:
            assert stream.read() == CONTENT
        assert b"".join(line_chunks(path, 100)) == CONTENT


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz", "zstd"])
@pytest.mark.parametrize("damage", ["truncated", "overwritten"])
def test_damaged_data_are_one_message(tmp_path: Path, kind: str, damage: str) -> None:
    good = COMPRESS[kind](CONTENT)
    path = tmp_path / "run.gz"
    # near the start: the zstd of some writers carries no checksum that would show a changed letter
    path.write_bytes(good[: len(good) // 2] if damage == "truncated" else good[:12] + b"\xff" * 40 + good[52:])
    with pytest.raises(InputError) as error:
        list(text_lines(path))
    assert message(error).startswith(f"{path}: the compressed data are damaged (")
    assert message(error).endswith("; copy the file again")
    assert error.value.problems[0].slug == "damaged-file"


def test_gzip_of_several_members_is_read_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert list(text_lines(path)) == [(1, "a"), (2, "b")]


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        open_binary(tmp_path / "absent")
    assert message(error) == f"{tmp_path / 'absent'}: no such file; check the path"
    with pytest.raises(InputError) as error:
        open_binary(tmp_path)
    assert message(error) == f"{tmp_path}: this is a folder; name a file"
    (tmp_path / "file").write_text("a\n")
    with pytest.raises(InputError) as error:
        open_binary(tmp_path / "file" / "below")
    assert message(error) == f"{tmp_path / 'file' / 'below'}: no such file; check the path"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("a\n")
    path.chmod(0)
    with pytest.raises(InputError) as error:
        open_binary(path)
    assert message(error) == f"{path}: may not be read; check the file's permissions"


def test_a_refused_file_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    (tmp_path / "secret").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError) as error:
        open_binary("secret")
    assert message(error) == "secret: may not be read; check the file's permissions"


@settings(deadline=None)
@given(data=st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r\n", b"\xc3\xa9", b" "])).map(b"".join), size=st.integers(1, 12))
def test_pieces_end_at_line_ends_and_add_up(scratch: Path, data: bytes, size: int) -> None:
    scratch.write_bytes(data)
    pieces = list(line_chunks(scratch, size))
    assert b"".join(pieces) == data
    assert all(pieces) and all(piece.endswith(b"\n") for piece in pieces[:-1])


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_byte_order_mark_is_left_out_once(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfa\nb\n")
    assert b"".join(line_chunks(path, size)) == b"a\nb\n"


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-be"])
def test_utf16_is_named(tmp_path: Path, coding: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(("\ufeff" if coding.endswith("be") else "").encode(coding) + "31_1 Q0 d 1 2 t\n".encode(coding))
    with pytest.raises(InputError) as error:
        list(line_chunks(path))
    assert message(error) == f"{path}:1: the file is UTF-16; save it as UTF-8"


def test_lines_that_end_in_carriage_returns_alone_do_not_pass_as_one_line(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"31_1 Q0 d 1 2 t\r31_1 Q0 e 2 1 t\r")
    with pytest.raises(InputError) as error:
        list(line_chunks(path))
    assert message(error) == f"{path}: lines end in carriage returns alone; save it with usual line ends"


def test_lines_are_split_at_line_feeds_only(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes("a\u2028b\x0cc\r\n\r\nd\x85".encode())
    assert list(text_lines(path)) == [(1, "a\u2028b\x0cc"), (2, ""), (3, "d\x85")]
    assert read_text(path) == "a\u2028b\x0cc\n\nd\x85"


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(InputError) as error:
        list(text_lines(path))
    assert message(error) == f"{path}:2: this line is not UTF-8; save the file as UTF-8"


def test_json_errors_have_their_line(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(gzip.compress(b'{"a":\r\n [1, 2}\r\n'))
    with pytest.raises(InputError) as error:
        read_json(path)
    assert message(error) == f"{path}:2: not JSON (Expecting ',' delimiter); check the file"
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="not JSON"):
        read_json(path)
    path.write_text("1" * 10_000)
    with pytest.raises(InputError, match="not JSON"):
        read_json(path)
    path.write_text('\ufeff{"a": [1, "é"]}', encoding="utf-8")
    assert read_json(path) == {"a": [1, "é"]}


def test_checksum_is_of_the_file_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"a\n"))
    assert sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest() != hashlib.sha256(b"a\n").hexdigest()
