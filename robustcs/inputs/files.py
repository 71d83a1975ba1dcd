"""Open input files: compression detected by content, line endings, byte order marks, size limits, checksums.

Nothing else in robustcs opens input files, so all limits are here. A file is read several times: to detect its kind, to read
its rows and for its checksum. A source that can be read only once (``<(…)``, ``/dev/stdin``, a named pipe, a URL) is copied to
a temporary file at the first reading and kept while the process runs.

Modules that only some files need are imported when needed: for one turn, importing takes longer than the evaluation.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, cast

from robustcs.errors import InputError, PackageNeededError, Problem, input_error
from robustcs.inputs.paths import MemoryFile, StrPath, opened, url_of

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
MIB = 1 << 20
GIB = 1 << 30

#: Largest ratio of unpacked to compressed size. Runs and collections reach 5 to 20, a run that repeats one ranking about
#: 100; a file made to fill the memory reaches 1,000 and more.
MOST_RATIO = 200

#: Bytes that every compressed file may unpack to, however small it is.
_SMALL = 16 * MIB

#: Bytes that no file may unpack to. The collection of CAsT has about 20 GiB.
MOST_UNPACKED = 64 * GIB


def too_large(path: StrPath, found: str) -> InputError:
    """Return the error for a file over a limit."""
    return input_error(
        path, None, f"too large: {found}", "check that this is the right file", "too-large"
    )


def packed_as(head: bytes) -> str | None:
    """Return the compression of a file that begins with ``head``; None if it is not compressed."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


class Unpacked(io.RawIOBase):
    """The unpacked bytes of a compressed file. Raises :class:`InputError` when they exceed the limit for its size."""

    def __init__(self, path: StrPath, packed: BinaryIO, kind: str):
        self._path = path
        self._place = 0
        self._packed = packed
        self._stream = _unpacking(packed, kind)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer``, and return the number of bytes read."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._place += len(data)
        if self._place > max(_SMALL, MOST_RATIO * self._packed.tell()):
            raise too_large(self._path, f"it unpacks to more than {MOST_RATIO} times its size")
        if self._place > MOST_UNPACKED:
            raise too_large(self._path, f"it unpacks to more than {MOST_UNPACKED // GIB} GiB")
        return len(data)

    def close(self) -> None:
        """Close the stream and the compressed file."""
        if not self.closed:
            self._stream.close()
            self._packed.close()
        super().close()


def _unpacking(packed: BinaryIO, kind: str) -> BinaryIO:
    """Return a stream of the decompressed bytes."""
    if kind != "zstd":
        return cast(BinaryIO, import_module({"xz": "lzma"}.get(kind, kind)).open(packed, "rb"))
    import pyarrow as pa  # open_binary has looked whether it is there

    return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd"))


def arrow(path: StrPath, needs: str) -> Any:
    """Return pyarrow. Raises :class:`PackageNeededError` if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        advice = "install it with: pip install 'robustcs[parquet]'"
        problem = Problem(
            path, None, f"{needs} needs pyarrow, which is not installed", advice, "no-pyarrow"
        )
        raise PackageNeededError([problem]) from None
    return pyarrow


#: Largest number of bytes of a pipe or URL to keep on disk.
MOST_SPOOLED = 16 * GIB


def open_binary(path: StrPath) -> BinaryIO:
    """Open ``path`` for reading, decompressed; gzip, bz2, xz and zstd are detected by content, not by suffix.

    Raises :class:`InputError` if the file does not exist, is a folder or a device, or cannot be read.
    """
    if isinstance(path, MemoryFile):
        return path.reader()  # never compressed; an id may begin with the same bytes
    try:
        stream = _open_raw(path)
        try:
            kind = packed_as(stream.peek(6))
            if kind is None:
                return stream
            if kind == "zip":
                advice = "unpack it and give the file inside; save a spreadsheet as CSV"
                raise input_error(path, None, "this is a zip archive", advice, "zip-archive")
            if kind == "zstd":
                arrow(path, "zstd")
            stream = io.BufferedReader(Unpacked(path, stream, kind), 1 << 16)
            with damage_told(path):
                inside = packed_as(stream.peek(6))
            if inside is not None:
                found = f"compressed twice ({inside} in {kind})"
                raise input_error(
                    path, None, found, "unpack it once and give the result", "compressed-twice"
                )
        except BaseException:
            stream.close()
            raise
        return stream
    except (FileNotFoundError, NotADirectoryError):
        raise input_error(path, None, "no such file", "check the path", "no-such-file") from None
    except IsADirectoryError:
        raise input_error(path, None, "this is a folder", "name a file", "is-a-folder") from None
    except PermissionError:
        found = "no permission to read this file"
        raise input_error(
            path, None, found, "check the file's permissions", "not-readable"
        ) from None
    except ValueError:
        # a NUL character, which TOML and Python allow in a path
        raise input_error(
            path, None, "no file can have this name", "check the path", "no-such-file"
        ) from None


# ---------------------------------------------------------------- sources that can be read only once
def _spool(source: BinaryIO, path: StrPath) -> BinaryIO:
    """Return the bytes of a pipe in a nameless temporary file, which disappears however the process ends.

    Raises :class:`InputError` for more than :data:`MOST_SPOOLED` bytes.
    """
    import tempfile

    file = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process)
    size = 0
    while piece := source.read(MIB):
        size += file.write(piece)
        if size > MOST_SPOOLED:
            file.close()
            raise too_large(path, f"more than {MOST_SPOOLED // GIB} GiB from a pipe or an address")
    file.flush()
    return cast(BinaryIO, file)


class _SpoolReader(io.RawIOBase):
    """A stream on the file of a spool with its own position; closing it leaves the spool open."""

    def __init__(self, number: int):
        self._number = number
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {
            os.SEEK_SET: 0,
            os.SEEK_CUR: self._place,
            os.SEEK_END: os.fstat(self._number).st_size,
        }[whence]
        self._place = max(start + offset, 0)
        return self._place

    def readinto(self, buffer: Any) -> int:
        data = os.pread(self._number, len(buffer), self._place)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


_SPOOLS: dict[tuple[str, int, int], BinaryIO] = {}
_SPOOLING = Lock()


def _spooled(path: StrPath) -> BinaryIO | None:
    """Return the spool of a source that can be read only once or is remote, filling it once; None for a regular file.

    Raises :class:`InputError` for a device, whose bytes may never end, and if there is no space for a spool.
    """
    url = url_of(path)
    if url is not None:
        with _SPOOLING:
            if (url, 0, 0) not in _SPOOLS:
                with opened(url) as source:
                    _SPOOLS[url, 0, 0] = _spool(source, url)
        return _SPOOLS[url, 0, 0]
    found = os.stat(path)
    # not every system can reopen a redirected file under such a name
    descriptor = os.fspath(path).startswith(("/dev/stdin", "/dev/fd/"))
    if stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and not descriptor):
        return None
    # /dev/stdin and /dev/fd/0 are one pipe
    key = (os.path.realpath(path), found.st_dev, found.st_ino)
    with _SPOOLING:
        if key not in _SPOOLS:
            try:
                with Path(path).open("rb") as source:
                    if stat.S_ISBLK(found.st_mode) or (
                        stat.S_ISCHR(found.st_mode) and not _ends(source, path)
                    ):
                        raise input_error(
                            path, None, "this is a device", "name a file or a pipe", "is-a-device"
                        )
                    _SPOOLS[key] = _spool(source, path)
            except (FileNotFoundError, PermissionError):
                raise
            except OSError as error:
                told = f"cannot be read as a pipe ({error.strerror})"
                raise input_error(
                    path, None, told, "write the data to a file and give that file", "bad-pipe"
                ) from error
        return _SPOOLS[key]


def _ends(source: BinaryIO, path: StrPath) -> bool:
    """Return whether a character device has an end: a terminal and the empty device have one."""
    return source.isatty() or os.path.samefile(path, os.devnull)


def _open_raw(path: StrPath) -> io.BufferedReader:
    """Return a stream of the raw bytes from the beginning."""
    if isinstance(path, MemoryFile):
        return path.reader()
    spool = _spooled(path)
    # streams of one spool do not affect each other
    return (
        Path(path).open("rb")
        if spool is None
        else io.BufferedReader(_SpoolReader(spool.fileno()), 1 << 16)
    )


# ---------------------------------------------------------------- lines and whole files
@contextmanager
def damage_told(path: StrPath) -> Iterator[None]:
    """Turn errors of decompression into :class:`InputError`."""
    try:
        yield
    except Exception as error:
        import lzma
        import zlib

        if not isinstance(error, OSError | EOFError | zlib.error | lzma.LZMAError):
            raise
        found = f"the compressed data are damaged ({error})"
        raise input_error(path, None, found, "copy the file again", "damaged-file") from error


def sha256(path: StrPath) -> str:
    """Return the SHA-256 of a file in hexadecimal: the bytes on disk, not unpacked, or the bytes of a pipe."""
    import hashlib  # loads OpenSSL, which most callers do not need

    with _open_raw(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fingerprint(folder: Path) -> str:
    """Return the SHA-256 of the relative names and contents of all files of ``folder``, in hexadecimal."""
    import hashlib

    files = sorted(path for path in folder.rglob("*") if path.is_file())
    parts = (f"{path.relative_to(folder).as_posix()}\0{sha256(path)}\n" for path in files)
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
