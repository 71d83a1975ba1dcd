"""Compressed files: how one is recognized, and how much it may unpack to."""

from __future__ import annotations

import io
import os
from typing import Any, BinaryIO, cast

from robustcs.errors import InputError, input_error

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
        self._stream = _unpacking(self._packed, kind)

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


def _unpacking(packed: BinaryIO, kind: str) -> BinaryIO:
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
    import pyarrow as pa

    return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd"))
