"""Opening files: compression told by content, line ends, marks, damage."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import ExitCode, InputError, PackageNeededError
from robustcs.inputs import files
from robustcs.inputs.files import open_binary, sha256
from robustcs.inputs.runs import read_run
from robustcs.inputs.text import (
    LONGEST_LINE,
    first_bytes,
    half_character,
    line_chunks,
    parse_json,
    read_json,
    read_text,
    text_lines,
)


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


@pytest.mark.parametrize(
    ("data", "needs"), [(zstd(CONTENT), "zstd"), (b"PAR1 and more", "Parquet")]
)
def test_without_pyarrow_the_error_names_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, needs: str
) -> None:
    (tmp_path / "run").write_bytes(data)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PackageNeededError) as error:
        read_run(tmp_path / "run")
    assert error.value.exit_code is ExitCode.NOT_INSTALLED and str(error.value).endswith(
        f"run: {needs} needs pyarrow, which is not installed; install it with: pip install 'robustcs[parquet]'"
    )


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
    path.write_bytes(
        good[: len(good) // 2] if damage == "truncated" else good[:12] + b"\xff" * 40 + good[52:]
    )
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


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file"
)
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("a\n")
    path.chmod(0)
    with pytest.raises(InputError) as error:
        open_binary(path)
    assert (
        message(error) == f"{path}: no permission to read this file; check the file's permissions"
    )


def test_a_refused_file_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    (tmp_path / "secret").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError) as error:
        open_binary("secret")
    assert message(error) == "secret: no permission to read this file; check the file's permissions"


@settings(deadline=None)
@given(
    data=st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r\n", b"\xc3\xa9", b" "])).map(b"".join),
    size=st.integers(1, 12),
)
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
    path.write_bytes(
        ("\ufeff" if coding.endswith("be") else "").encode(coding)
        + "31_1 Q0 d 1 2 t\n".encode(coding)
    )
    with pytest.raises(InputError) as error:
        list(line_chunks(path))
    assert message(error) == f"{path}:1: the file is UTF-16; save it as UTF-8"


def test_lines_that_end_in_carriage_returns_alone_do_not_pass_as_one_line(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"31_1 Q0 d 1 2 t\r31_1 Q0 e 2 1 t\r")
    with pytest.raises(InputError) as error:
        list(line_chunks(path))
    assert (
        message(error)
        == f"{path}: lines end in carriage returns only; save it with LF or CRLF line ends"
    )


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
    assert (
        sha256(path)
        == hashlib.sha256(path.read_bytes()).hexdigest()
        != hashlib.sha256(b"a\n").hexdigest()
    )


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz", "zstd"])
def test_the_first_bytes_of_damaged_data_are_one_message_too(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(COMPRESS[kind](CONTENT))
    assert first_bytes(path, 10) == CONTENT[:10]
    path.write_bytes(COMPRESS[kind](CONTENT)[:16])
    with pytest.raises(InputError) as error:
        first_bytes(path, 10)
    assert message(error).startswith(f"{path}: the compressed data are damaged (")


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have(name: str) -> None:
    with pytest.raises(InputError, match="no file can have this name; check the path"):
        open_binary(name)


def test_a_line_without_end_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a\nb\n" + b"c" * 60 + b"\n")
    assert b"".join(line_chunks(path, 4, 61)) == path.read_bytes()
    with pytest.raises(InputError) as error:
        list(line_chunks(path, 4, 30))
    assert (
        message(error)
        == f"{path}:3: this line is longer than 0 MiB; check that this is the right file"
    )
    path.write_bytes(b"a\n" + bytes(LONGEST_LINE + (16 << 20)))
    for read in (read_text, lambda path: list(text_lines(path))):
        with pytest.raises(InputError) as error:
            read(path)
        assert (
            message(error)
            == f"{path}:2: this line is longer than 64 MiB; check that this is the right file"
        )


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress, zstd], ids=["gz", "bz2", "xz", "zstd"]
)
def test_what_unpacks_out_of_proportion_is_refused_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(files, "_SMALL", 1 << 20)  # bzip2 takes half a minute for the usual limit
    path = tmp_path / "file"
    line = b"1_1 Q0 d1 1 9.5 t\n"
    small = line * ((900 << 10) // len(line))
    path.write_bytes(compress(small))
    assert sum(map(len, line_chunks(path))) == len(small), (
        "a small file may be as repetitive as it likes"
    )
    path.write_bytes(compress(line * ((6 << 20) // len(line))))
    pieces: list[bytes] = []
    with pytest.raises(InputError) as error:
        pieces.extend(line_chunks(path))
    assert (
        message(error)
        == f"{path}: too large: it unpacks to more than 200 times its size; check that this is the right file"
    )
    assert error.value.problems[0].slug == "too-large"
    assert sum(map(len, pieces)) < 5 << 20


def test_a_run_that_repeats_one_ranking_is_read(tmp_path: Path) -> None:
    ranking = "".join(
        f"{{}} Q0 MARCO_{rank * 7919 % 8_841_823} {rank} {1000 - rank / 7:.4f} bm25\n"
        for rank in range(1, 1001)
    )
    text = "".join(ranking.replace("{}", f"{turn // 9}_{turn % 9}") for turn in range(700)).encode()
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(text, 9))
    assert len(text) > 24 << 20 and sum(map(len, line_chunks(path))) == len(text)


@pytest.mark.parametrize("inside", [gzip.compress, bz2.compress], ids=["gz", "bz2"])
def test_files_packed_twice_and_archives_are_named(
    tmp_path: Path, inside: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(inside(b"1_1 0 d1 1\n")))
    kind = {gzip.compress: "gzip", bz2.compress: "bz2"}[inside]
    with pytest.raises(InputError) as error:
        read_text(path)
    assert (
        message(error)
        == f"{path}: compressed twice ({kind} in gzip); unpack it once and give the result"
    )
    path.write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(
        InputError, match="this is a zip archive; unpack it and give the file inside"
    ):
        read_text(path)


def test_a_pipe_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robustcs.inputs.files.MOST_SPOOLED", 3 << 20)
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        try:
            while True:
                os.write(write, bytes(1 << 16))
        finally:
            os._exit(0)
    os.close(write)
    try:
        with pytest.raises(
            InputError, match="too large: more than 0 GiB from a pipe or an address"
        ):
            read_text(f"/dev/fd/{read}")
    finally:
        os.close(read)
        os.wait()


def test_json_of_more_values_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robustcs.inputs.text._MOST_VALUES", 100)
    assert parse_json(json.dumps("a" * 1000)) == "a" * 1000
    assert len(parse_json(json.dumps([1] * 99))) == 99
    with pytest.raises(ValueError, match="more than 100 values"):
        parse_json(json.dumps([[]] * 99))


def test_a_text_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\n" * 100)
    monkeypatch.setattr("robustcs.inputs.text.LONGEST_TEXT", 100)
    assert read_text(path) == "\n" * 99
    path.write_bytes(b"\n" * 101)
    with pytest.raises(
        InputError, match="more than 0 MiB of text; check that this is the right file"
    ):
        read_text(path)


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", ["", "a", "a\r\n\nb", "a\r\r\nb"])
def test_a_text_is_its_lines(tmp_path: Path, text: str, end: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x\n" + (text + end).encode())
    assert read_text(path) == "\n".join(line for _, line in text_lines(path))


def test_the_line_of_a_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"fine\n\ncaf\xe9\n")
    with pytest.raises(InputError) as error:
        read_text(path)
    assert message(error) == f"{path}:3: this line is not UTF-8; save the file as UTF-8"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("9" * 5000, "a number with thousands of digits"),
    ],
)
def test_json_that_pythons_parser_gives_up(text: str, found: str) -> None:
    with pytest.raises(ValueError, match=found):
        parse_json(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (r'"\ud83d\ude00"', None), (r'"\ud800"', 1), (r'"\uD83D\uDE00 \udE00"', 14), (r'"\\ud800"', None), (r'"\\\ud800"', 3),
        (r'"\ud800\ud800\udc00"', 1), (r'"\ud83d\u0041"', 1), ('"é"', None),
    ],
)  # fmt: skip
def test_halves_of_characters(text: str, place: int | None) -> None:
    assert half_character(text) == place
    value = json.loads(text)
    assert any("\ud800" <= character <= "\udfff" for character in value) == (place is not None)


def test_half_a_character_has_its_line_unless_it_may_pass(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('{"a": 1,\n"\\ud800": 2}')
    with pytest.raises(InputError) as error:
        read_json(path)
    assert (
        message(error) == f"{path}:2: half a character (a lone surrogate); save the file as UTF-8"
    )
    assert read_json(path, halves=True) == {"a": 1, "\ud800": 2}
