"""Opening input files: compression by content, line endings, byte order marks, limits of size, checksums.

Nothing else in robustcs opens an input file for reading, so that what one may cost is limited here. Files are read more than
once: to tell their kind, for their rows and for their checksum. What can be read only once (``<(…)``, ``/dev/stdin``, a named
pipe) is kept in a temporary file by the first reading, for the life of the process; so is what stands at a URL.

What only some files need is imported for those: a process that evaluates one turn takes longer to import than to work.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

from robustcs.errors import InputError, input_error
from robustcs.inputs.memory import MemoryFile
from robustcs.inputs.unpacking import GIB, MIB, Unpacked, packed_as, too_large
from robustcs.inputs.urls import opened, url_of

_BOM = b"\xef\xbb\xbf"
_CHUNK = 8 * 1024 * 1024

#: Bytes of a pipe or of a file at a URL, which are kept on the disk.
MOST_SPOOLED = 16 * GIB
#: Bytes of a line of text; a few kilobytes of compressed data can say gigabytes, and a line is held in memory whole.
LONGEST_LINE = 64 * MIB
#: Bytes of a file that is read whole. JSON often stands in one line, and its parser needs all of it.
LONGEST_TEXT = 1024 * MIB

#: Values of one JSON text: each takes some 64 bytes of memory, an empty list two bytes of the file.
_MOST_VALUES = 30_000_000

#: An escaped character of JSON text; the group is half of one, of which the other half does not stand beside it.
_ESCAPED = r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)"


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
        stream = io.BufferedReader(Unpacked(path, _open_raw(path), kind), 1 << 16)
        try:
            with _damage_told(path):
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
def _damage_told(path: str | os.PathLike[str]) -> Iterator[None]:
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


def first_bytes(path: str | os.PathLike[str], size: int) -> bytes:
    """The first ``size`` bytes of the file, decompressed. Raises :class:`InputError` as :func:`line_chunks` does."""
    with open_binary(path) as stream, _damage_told(path):
        return stream.read(size)


def line_chunks(path: str | os.PathLike[str], size: int = _CHUNK, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """The file's bytes in pieces of about ``size`` that end at line ends, without a byte order mark.

    Raises :class:`InputError` when the compressed data are damaged, the file is UTF-16, its lines lack a line feed, or one goes
    on for more than ``longest`` bytes beyond a piece.
    """
    with open_binary(path) as stream:
        first = True
        before = 0
        while True:
            with _damage_told(path):
                # on to the next line end, so that no line is cut
                piece = stream.read(size)
                rest = stream.readline(longest)
            if len(rest) == longest and not rest.endswith(b"\n"):
                line = 1 + _line_feeds(path, before) + piece.count(b"\n")
                raise _too_long(path, line, f"this line is longer than {longest // MIB} MiB")
            piece += rest
            before += len(piece)
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


def _line_feeds(path: str | os.PathLike[str], size: int) -> int:
    """Line feeds in the first ``size`` bytes; counted for a message only, since counting takes time."""
    found = 0
    with open_binary(path) as stream:
        while piece := stream.read(min(_CHUNK, size)):
            found += piece.count(b"\n")
            size -= len(piece)
    return found


def _too_long(path: str | os.PathLike[str], line: int | None, found: str) -> InputError:
    return input_error(path, line, found, "check that this is the right file", "too-long")


def text_lines(path: str | os.PathLike[str], longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Line number (from 1) and text of every line, without its line end.

    Raises :class:`InputError` for a line that is not UTF-8 or, by about :data:`LONGEST_LINE`, too long.
    """
    number = 0
    for chunk in line_chunks(path, longest=longest):
        # not splitlines(): U+2028 and form feeds stand inside real texts
        lines = chunk.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            number += 1
            try:
                yield number, line.removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError:
                raise _not_utf8(path, number) from None


def read_text(path: str | os.PathLike[str], longest: int = LONGEST_LINE) -> str:
    """The whole file as text with plain line ends, for the small files that are not read by line.

    Raises :class:`InputError` for a line of more than ``longest`` bytes and a file of more than :data:`LONGEST_TEXT`.
    """
    pieces = []
    size = 0
    for piece in line_chunks(path, longest=longest):
        pieces.append(piece)
        size += len(piece)
        if size > LONGEST_TEXT:
            raise _too_long(path, None, f"more than {LONGEST_TEXT // MIB} MiB of text")
    data = b"".join(pieces)
    pieces.clear()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, data.count(b"\n", 0, error.start) + 1) from None
    return text.removesuffix("\n").removesuffix("\r").replace("\r\n", "\n")


def _not_utf8(path: str | os.PathLike[str], line: int) -> InputError:
    return input_error(path, line, "this line is not UTF-8", "save the file as UTF-8", "not-utf8")


def parse_json(text: str, pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The value that JSON text says; ``pairs_hook`` as ``object_pairs_hook`` of :func:`json.loads`.

    Raises ``ValueError`` in plain words for everything that Python's parser refuses, nesting and numbers without end included;
    a syntax error is a ``json.JSONDecodeError`` and has its line.
    """
    import json

    if len(text) > _MOST_VALUES and sum(map(text.count, ",[{")) > _MOST_VALUES:
        raise ValueError(f"more than {_MOST_VALUES:,} values")
    try:
        return json.loads(text, object_pairs_hook=pairs_hook)
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise ValueError("a number of thousands of digits") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def half_character(text: str) -> int | None:
    """Where JSON text escapes half of a character (a lone surrogate), which no other file can hold; None where nowhere."""
    if "\\ud" not in text and "\\uD" not in text:
        return None
    return next((match.start() for match in re.finditer(_ESCAPED, text, re.DOTALL) if match[1]), None)


#: What is said of half a character, and what to do about it.
HALF_CHARACTER = ("half a character (a lone surrogate)", "write UTF-8", "not-utf8")


def read_json(path: str | os.PathLike[str], halves: bool = False) -> Any:
    """The JSON value that the file holds.

    ``halves`` lets halves of characters pass, for a reader that looks at the texts it takes and passes over others. Raises
    :class:`InputError` with the line of a syntax error or of half a character.
    """
    import json

    text = read_text(path, LONGEST_TEXT)
    try:
        value = parse_json(text)
    except json.JSONDecodeError as error:
        raise input_error(path, error.lineno, f"not JSON ({error.msg})", "check the file", "not-json") from None
    except ValueError as error:
        raise input_error(path, None, f"not JSON ({error})", "check the file", "not-json") from None
    place = None if halves else half_character(text)
    if place is not None:
        raise input_error(path, text.count("\n", 0, place) + 1, *HALF_CHARACTER)
    return value


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
