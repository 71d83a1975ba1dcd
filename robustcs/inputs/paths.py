"""What stands in place of a path on the disk: addresses, several files as one, and files in memory."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from robustcs.errors import InputError, NotInstalledError, input_error

StrPath = str | os.PathLike[str]

if TYPE_CHECKING:
    _SystemPath = Path
else:
    _SystemPath = type(Path())  # each system has a class of its own, and only that one can be made


class MemoryFile(_SystemPath):
    """A path to nothing on the disk, ``<KEYWORD>``, with the bytes that reading it gives; made by :func:`memory_file`.

    It goes wherever a path goes, and :mod:`robustcs.inputs.files` opens it.
    """

    _data: bytes = b""
    _place: Callable[[int], str]

    def place(self, line: int) -> str:
        """Where a line stands in what was given: messages speak of that, and not of lines that nobody wrote."""
        return f"{self}{self._place(line)}"

    def holding(self, data: bytes, place: Callable[[int], str] | None = None) -> MemoryFile:
        """The file with these bytes; ``place`` is that of its lines, where it is another one now."""
        return _made(str(self), place or self._place, data)

    def reader(self) -> io.BufferedReader:
        """The bytes from their beginning."""
        return io.BufferedReader(io.BytesIO(self._data))  # type: ignore[type-var]


def memory_file(keyword: str, place: Callable[[int], str]) -> MemoryFile:
    """An empty one; ``place`` is what follows its name for a line number (from 1), such as ``, row 3``."""
    return _made(f"<{keyword}>", place, b"")


def _made(name: str, place: Callable[[int], str], data: bytes) -> MemoryFile:
    file = MemoryFile(name)
    file._place, file._data = place, data
    return file


_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.+)", re.DOTALL)


#: The protocols of fsspec that are opened, beside https.
_STORES = ("s3", "gs")


#: Seconds in which a server must say something.
_PATIENCE = 60


#: What identifiers of ir_datasets start with.
IRDS_PREFIX = "irds:"


def url_of(path: str | os.PathLike[str]) -> str | None:
    """The URL that ``path`` is; None for a file of this machine."""
    found = _URL.fullmatch(os.fspath(path))
    if found is None or os.path.exists(path):
        return None
    return f"{found[1]}://{found[2]}"


def shown(path: str | os.PathLike[str]) -> str:
    """A path as whoever gave it wrote it: a URL with both of its slashes."""
    return url_of(path) or os.fspath(path)


def located(text: str, folder: Path = Path()) -> Path:
    """The file that ``text`` names, seen from ``folder``; a URL is the same from everywhere."""
    return Path(text) if _URL.fullmatch(text) else folder / text


def is_irds(source: str | os.PathLike[str]) -> bool:
    """Whether a name is one of ir_datasets, and no file."""
    return os.fspath(source).startswith(IRDS_PREFIX)


def refusal_of(url: str) -> tuple[str, str] | None:
    """Why a URL is never opened, and what to do; None for one that may be."""
    scheme = url.partition(":")[0]
    if "::" in url:
        return "a chain of addresses (::)", "name one address"
    if scheme not in ("https", *_STORES):
        return f"{scheme}:// is never opened", "name a file, or an address with https://, s3:// or gs://"
    return None


@contextmanager
def opened(url: str) -> Iterator[BinaryIO]:
    """The bytes at a URL.

    Raises :class:`NotInstalledError` without fsspec or what it needs for the protocol, and :class:`InputError` for an address
    that is never opened and for what cannot be fetched; ``FileNotFoundError`` and ``PermissionError`` are left to the caller.
    """
    refused = refusal_of(url)
    if refused is not None:
        raise input_error(url, None, *refused, "refused-address")
    try:
        with _secure(url) if url.startswith("https:") else _stored(url) as stream:
            yield stream
    except (FileNotFoundError, PermissionError, InputError, NotInstalledError):
        raise
    except ImportError as error:
        raise NotInstalledError("no-fsspec", f"{url} needs more than fsspec", str(error)) from None
    except Exception as error:  # every protocol has errors of its own
        found = f"cannot be fetched ({str(error)[:200] or type(error).__name__})"
        raise input_error(url, None, found, "check the address", "not-fetched") from error


def _stored(url: str) -> Any:
    try:
        import fsspec  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise NotInstalledError("no-fsspec", f"{url} needs fsspec", "pip install 'robustcs[urls]'") from None
    return fsspec.open(url, "rb")


def _secure(url: str) -> Any:
    """The answer of a web server; a redirection to anything but https is not followed."""
    from urllib import request
    from urllib.error import HTTPError

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler, request.HTTPSHandler, request.HTTPRedirectHandler, request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor, request.UnknownHandler,
    ):  # fmt: skip
        opener.add_handler(handler())
    try:
        return opener.open(url, timeout=_PATIENCE)
    except HTTPError as error:
        if error.code in (404, 410):
            raise FileNotFoundError(url) from None
        raise


class PooledFile(_SystemPath):
    """A path to several files, ``a.txt + b.txt``, made by :func:`pooled`.

    It goes wherever a path goes. The readers of judgments, runs and topics read each of ``files`` and join them.

    names
        What each is called, where the user says so.
    """

    files: tuple[Path | str, ...] = ()
    names: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return pooled, (self.files, self.names)


def pooled(files: Sequence[Path | str], names: Sequence[str] = ()) -> Any:
    """Return the path of these files: of a single one the file itself."""
    if len(files) == 1 and not names:
        return files[0]
    path = PooledFile(" + ".join(map(shown, files)))
    path.files, path.names = tuple(files), tuple(names)
    return path


def parts_of(path: StrPath) -> tuple[Path | str, ...]:
    """Return the files that a path stands for."""
    return path.files if isinstance(path, PooledFile) else (path,)  # type: ignore[return-value]
