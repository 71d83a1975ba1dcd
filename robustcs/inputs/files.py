"""Opening input files: compression by content, line endings, byte order marks, limits of size, checksums.

Nothing else in robustcs opens an input file for reading, so that what one may cost is limited here. Files are read more than
once: to tell their kind, for their rows and for their checksum. What can be read only once (``<(…)``, ``/dev/stdin``, a named
pipe) is kept in a temporary file by the first reading, for the life of the process; so is what stands at a URL.

What only some files need is imported for those: a process that evaluates one turn takes longer to import than to work.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, cast

from robustcs.errors import InputError, input_error
from robustcs.inputs.paths import MemoryFile, opened, url_of

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


MIB = 1 << 20


GIB = 1 << 30


#: A compressed file may unpack to so many times its size. Runs and collections reach 5 to 20, a run that repeats one ranking
#: about 100; a file that is made to fill the memory reaches 1,000 and more.
MOST_RATIO = 200


#: Bytes that every compressed file may unpack to, however small it is,
_SMALL = 16 * MIB


#: and those that none may exceed. The collection of CAsT has about 20 GiB.
MOST_UNPACKED = 64 * GIB


def too_large(path: str | os.PathLike[str], found: str) -> InputError:
    """The error of a file that is past a limit."""
    return input_error(path, None, f"too large: {found}", "check that this is the right file", "too-large")


def packed_as(head: bytes) -> str | None:
    """How a file is compressed that begins with ``head``; None for one that is not."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


class Unpacked(io.RawIOBase):
    """The bytes of a compressed file. Raises :class:`InputError` once they are more than what was read of it may hold."""

    def __init__(self, path: str | os.PathLike[str], packed: BinaryIO, kind: str):
        self._path = path
        self._place = 0
        self._packed = packed
        self._stream = _unpacking(path, packed, kind)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer``, and return how many bytes that took."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._place += len(data)
        if self._place > max(_SMALL, MOST_RATIO * self._packed.tell()):
            raise too_large(self._path, f"it unpacks to more than {MOST_RATIO} times its size")
        if self._place > MOST_UNPACKED:
            raise too_large(self._path, f"it unpacks to more than {MOST_UNPACKED // GIB} GiB")
        return len(data)

    def close(self) -> None:
        """Close the compressed file too."""
        if not self.closed:
            self._stream.close()
            self._packed.close()
        super().close()


def _unpacking(path: str | os.PathLike[str], packed: BinaryIO, kind: str) -> BinaryIO:
    """The decompressed bytes of a stream."""
    if kind == "gzip":
        import gzip

        return cast(BinaryIO, gzip.open(packed, "rb"))
    if kind == "bz2":
        import bz2

        return cast(BinaryIO, bz2.open(packed, "rb"))
    if kind == "xz":
        import lzma

        return cast(BinaryIO, lzma.open(packed, "rb"))
    pa = arrow(path, "zstd")
    return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd"))


def arrow(path: str | os.PathLike[str], needs: str) -> Any:
    """Return pyarrow. Raises :class:`InputError` with the install command if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        advice = "pip install 'robustcs[parquet]'"
        raise input_error(path, None, f"{needs} needs pyarrow, which is not installed", advice, "no-pyarrow") from None
    return pyarrow


#: Bytes of a pipe or of a file at a URL, which are kept on the disk.
MOST_SPOOLED = 16 * GIB


def open_binary(path: str | os.PathLike[str]) -> BinaryIO:
    """Open ``path`` for reading, decompressed; gzip, bz2, xz and zstd are told by their first bytes, not by suffix.

    Raises :class:`InputError` when the file is absent, a folder or a device, or may not be read.
    """
    if isinstance(path, MemoryFile):
        return path.reader()  # never compressed, whatever an id begins with
    try:
        with _open_raw(path) as raw:
            kind = packed_as(raw.read(6))
        if kind is None:
            return _open_raw(path)
        if kind == "zip":
            advice = "unpack it, and name the file that is in it; save a spreadsheet as CSV"
            raise input_error(path, None, "a zip archive", advice, "zip-archive")
        if kind == "zstd":
            arrow(path, "zstd")
        stream = io.BufferedReader(Unpacked(path, _open_raw(path), kind), 1 << 16)
        try:
            with damage_told(path):
                inside = packed_as(stream.peek(6))
            if inside is not None:
                found = f"compressed twice ({inside} in {kind})"
                raise input_error(path, None, found, "unpack it once, and name what comes out", "compressed-twice")
        except BaseException:
            stream.close()
            raise
        return stream
    except (FileNotFoundError, NotADirectoryError):
        raise input_error(path, None, "no such file", "check the path", "no-such-file") from None
    except IsADirectoryError:
        raise input_error(path, None, "this is a folder", "name a file", "is-a-folder") from None
    except PermissionError:
        raise input_error(path, None, "may not be read", "check the file's permissions", "not-readable") from None
    except ValueError:
        # a NUL character, which TOML and Python can put into a path
        raise input_error(path, None, "no file can have this name", "check the path", "no-such-file") from None


# ---------------------------------------------------------------- what can be read only once
class _Spool:
    """The bytes of a pipe, in a temporary file without a name: nothing of it is left, however the process ends.

    Raises :class:`InputError` for more than :data:`MOST_SPOOLED` bytes.
    """

    def __init__(self, source: BinaryIO, path: str | os.PathLike[str]):
        import tempfile

        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process)
        size = 0
        while piece := source.read(MIB):
            size += self._file.write(piece)
            if size > MOST_SPOOLED:
                self._file.close()
                raise too_large(path, f"more than {MOST_SPOOLED // GIB} GiB from a pipe or an address")
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
    """The spool of what cannot be read twice, or stands elsewhere, filled by the first call; None for a regular file.

    Raises :class:`InputError` for a device, whose bytes may never end, and where there is no room for a spool.
    """
    url = url_of(path)
    if url is not None:
        with _SPOOLING:
            if (url, 0, 0) not in _SPOOLS:
                with opened(url) as source:
                    _SPOOLS[url, 0, 0] = _Spool(source, url)
        return _SPOOLS[url, 0, 0]
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
                    _SPOOLS[key] = _Spool(source, path)
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
    if isinstance(path, MemoryFile):
        return path.reader()
    spool = _spooled(path)
    return Path(path).open("rb") if spool is None else spool.reader()


# ---------------------------------------------------------------- lines and whole files
@contextmanager
def damage_told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns what decompression says of damaged data into :class:`InputError`."""
    try:
        yield
    except Exception as error:
        import lzma
        import zlib

        if not isinstance(error, OSError | EOFError | zlib.error | lzma.LZMAError):
            raise
        found = f"the compressed data are damaged ({error})"
        raise input_error(path, None, found, "copy the file again", "damaged-file") from error


def sha256(path: str | os.PathLike[str]) -> str:
    """SHA-256 of the file as it stands on disk (compressed files are not unpacked), or of a pipe's bytes, in hexadecimal."""
    import hashlib  # loads OpenSSL, which most callers of this module do not need

    with _open_raw(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fingerprint(folder: Path) -> str:
    """SHA-256 over the relative names and the contents of all files of ``folder``, in hexadecimal."""
    import hashlib

    files = sorted(path for path in folder.rglob("*") if path.is_file())
    parts = (f"{path.relative_to(folder).as_posix()}\0{sha256(path)}\n" for path in files)
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
