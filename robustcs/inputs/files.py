"""Opening input files: compression by content, line endings, byte order marks, checksums.

Nothing else in robustcs opens an input file for reading.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from robustcs.errors import input_error

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_BOM = b"\xef\xbb\xbf"
_CHUNK = 8 * 1024 * 1024


def open_binary(path: str | os.PathLike[str]) -> BinaryIO:
    """Open ``path`` for reading, decompressed; gzip, bz2, xz and zstd are told by their first bytes, not by suffix.

    Raises :class:`InputError` when the file is absent, a folder, or may not be read.
    """
    path = Path(path)
    try:
        with path.open("rb") as raw:
            head = raw.read(6)
        kind = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
        if kind == "gzip":
            return gzip.open(path, "rb")  # type: ignore[return-value]
        if kind == "bz2":
            return bz2.open(path, "rb")  # type: ignore[return-value]
        if kind == "xz":
            return lzma.open(path, "rb")  # type: ignore[return-value]
        if kind == "zstd":
            import pyarrow as pa

            return io.BufferedReader(pa.CompressedInputStream(pa.OSFile(os.fspath(path)), "zstd"))
        return path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        raise input_error(path, None, "no such file", "check the path", "no-such-file") from None
    except IsADirectoryError:
        raise input_error(path, None, "this is a folder", "name a file", "is-a-folder") from None
    except PermissionError:
        raise input_error(path, None, "may not be read", "check the file's permissions", "not-readable") from None


def line_chunks(path: str | os.PathLike[str], size: int = _CHUNK) -> Iterator[bytes]:
    """The file's bytes in pieces of about ``size`` that end at line ends, without a byte order mark.

    Raises :class:`InputError` when the compressed data are damaged, the file is UTF-16, or its lines lack a line feed.
    """
    with open_binary(path) as stream:
        first = True
        while True:
            try:
                # on to the next line end, so that no line is cut
                piece = stream.read(size) + stream.readline()
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise input_error(
                    path, None, f"the compressed data are damaged ({error})", "copy the file again", "damaged-file"
                ) from error
            if first:
                first = False
                if piece.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise input_error(path, 1, "the file is UTF-16", "save it as UTF-8", "not-utf8")
                piece = piece.removeprefix(_BOM)
                if b"\n" not in piece and b"\r" in piece.rstrip():
                    raise input_error(
                        path, None, "lines end in carriage returns alone", "save it with usual line ends", "old-line-ends"
                    )
            if not piece:
                break
            yield piece


def text_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Line number (from 1) and text of every line, without its line end.

    Raises :class:`InputError` for a line that is not UTF-8.
    """
    number = 0
    for chunk in line_chunks(path):
        # not splitlines(): U+2028 and form feeds stand inside real texts
        lines = chunk.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            number += 1
            try:
                yield number, line.removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError:
                raise input_error(path, number, "this line is not UTF-8", "save the file as UTF-8", "not-utf8") from None


def read_text(path: str | os.PathLike[str]) -> str:
    """The whole file as text with plain line ends, for the small files that are not read by line."""
    return "\n".join(line for _, line in text_lines(path))


def read_json(path: str | os.PathLike[str]) -> Any:
    """The JSON value that the file holds. Raises :class:`InputError` with the line of a syntax error."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise input_error(path, error.lineno, f"not JSON ({error.msg})", "check the file", "not-json") from None
    except (ValueError, RecursionError) as error:
        # a number of thousands of digits, or nesting without end
        raise input_error(path, None, f"not JSON ({error})", "check the file", "not-json") from None


def sha256(path: str | os.PathLike[str]) -> str:
    """SHA-256 of the file as it stands on disk (compressed files are not unpacked), in hexadecimal."""
    import hashlib  # loads OpenSSL, which most callers of this module do not need

    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


