"""Opening input files: compression by content, line endings, byte order marks, checksums.

Nothing else in robustcs opens an input file for reading. Files are read more than once: to tell their kind, for their rows and
for their checksum. What can be read only once (``<(…)``, ``/dev/stdin``, a named pipe) is kept in a temporary file by the first
reading, for the life of the process.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import stat
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, cast

from robustcs.errors import input_error

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_BOM = b"\xef\xbb\xbf"
_CHUNK = 8 * 1024 * 1024


def open_binary(path: str | os.PathLike[str]) -> BinaryIO:
    """Open ``path`` for reading, decompressed; gzip, bz2, xz and zstd are told by their first bytes, not by suffix.

    Raises :class:`InputError` when the file is absent, a folder or a device, or may not be read.
    """
    try:
        with _open_raw(path) as raw:
            head = raw.read(6)
        kind = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
        if kind is None:
            return _open_raw(path)
        # a spooled file is no path, and no stream that would have to be closed
        spool = _spooled(path)
        source = Path(path) if spool is None else spool.reader()
        if kind == "gzip":
            return cast(BinaryIO, gzip.open(source, "rb"))
        if kind == "bz2":
            return cast(BinaryIO, bz2.open(source, "rb"))
        if kind == "xz":
            return cast(BinaryIO, lzma.open(source, "rb"))
        import pyarrow as pa

        native = pa.OSFile(os.fspath(source)) if isinstance(source, Path) else pa.PythonFile(source, "r")
        return cast(BinaryIO, io.BufferedReader(pa.CompressedInputStream(native, "zstd")))
    except (FileNotFoundError, NotADirectoryError):
        raise input_error(path, None, "no such file", "check the path", "no-such-file") from None
    except IsADirectoryError:
        raise input_error(path, None, "this is a folder", "name a file", "is-a-folder") from None
    except PermissionError:
        raise input_error(path, None, "may not be read", "check the file's permissions", "not-readable") from None


# ---------------------------------------------------------------- what can be read only once


class _Spool:
    """The bytes of a pipe, in a temporary file without a name: nothing of it is left, however the process ends."""

    def __init__(self, source: BinaryIO):
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process)
        shutil.copyfileobj(source, self._file, 1 << 20)
        self._file.flush()

    def reader(self) -> io.BufferedReader:
        """The bytes from their beginning; readers do not disturb each other."""
        return io.BufferedReader(_SpoolReader(self._file.fileno()), 1 << 16)


class _SpoolReader(io.RawIOBase):
    """Reads the file of a spool with a position of its own; closing it leaves the spool open."""

    def __init__(self, number: int):
        self._number = number
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: os.fstat(self._number).st_size}[whence]
        self._place = max(start + offset, 0)
        return self._place

    def readinto(self, buffer: Any) -> int:
        data = os.pread(self._number, len(buffer), self._place)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


_SPOOLS: dict[tuple[str, int, int], _Spool] = {}
_SPOOLING = Lock()


def _spooled(path: str | os.PathLike[str]) -> _Spool | None:
    """The spool of what cannot be read twice, filled by the first call; None for a regular file.

    Raises :class:`InputError` for a device, whose bytes may never end, and where there is no room for a spool.
    """
    found = os.stat(path)
    # not every system opens a redirected file anew under such a name
    descriptor = os.fspath(path).startswith(("/dev/stdin", "/dev/fd/"))
    if stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and not descriptor):
        return None
    # /dev/stdin and /dev/fd/0 are one pipe
    key = (os.path.realpath(path), found.st_dev, found.st_ino)
    with _SPOOLING:
        if key not in _SPOOLS:
            try:
                with Path(path).open("rb") as source:
                    if stat.S_ISBLK(found.st_mode) or (stat.S_ISCHR(found.st_mode) and not _ends(source, path)):
                        raise input_error(path, None, "this is a device", "name a file or a pipe", "is-a-device")
                    _SPOOLS[key] = _Spool(source)
            except (FileNotFoundError, PermissionError):
                raise
            except OSError as error:
                raise input_error(
                    path, None, f"cannot be read as a pipe ({error.strerror})", "write it to a file and name that", "bad-pipe"
                ) from error
        return _SPOOLS[key]


def _ends(source: BinaryIO, path: str | os.PathLike[str]) -> bool:
    """Whether a character device has an end: a terminal, where somebody types, and the empty one."""
    return source.isatty() or os.path.samefile(path, os.devnull)


def _open_raw(path: str | os.PathLike[str]) -> io.BufferedReader:
    """The bytes as they stand there, from their beginning."""
    spool = _spooled(path)
    return Path(path).open("rb") if spool is None else spool.reader()


# ---------------------------------------------------------------- lines and whole files


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
    """SHA-256 of the file as it stands on disk (compressed files are not unpacked), or of a pipe's bytes, in hexadecimal."""
    import hashlib  # loads OpenSSL, which most callers of this module do not need

    with _open_raw(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


