"""Paths other than files on disk: addresses, several files as one, and files in memory."""

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
    # each operating system has its own class, and only that one can be created
    _SystemPath = type(Path())


class MemoryFile(_SystemPath):
    """A file in memory named ``<KEYWORD>``; create it with :func:`memory_file`.

    It is accepted wherever a path is, and :mod:`robustcs.inputs.files` opens it.
    """

    _data: bytes = b""
    _place: Callable[[int], str]

    def place(self, line: int) -> str:
        """Return the place of a line in the original object, for messages: the user never wrote lines."""
        return f"{self}{self._place(line)}"

    def holding(self, data: bytes, place: Callable[[int], str] | None = None) -> MemoryFile:
        """Return the same file with these bytes; ``place`` replaces the places of its lines."""
        return memory_file(str(self), place or self._place, data)

    def reader(self) -> io.BufferedReader:
        """Return a stream of the bytes from the beginning."""
        return io.BufferedReader(io.BytesIO(self._data))  # type: ignore[type-var]


def memory_file(name: str, place: Callable[[int], str], data: bytes = b"") -> MemoryFile:
    """Return a file in memory; ``place`` maps a line number (from 1) to the text after the name, such as ``, row 3``."""
    file = MemoryFile(name)
    file._place, file._data = place, data
    return file


_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.+)", re.DOTALL)

#: Supported protocols of fsspec, in addition to https.
_STORES = ("s3", "gs")

#: Seconds to wait for an answer of a server.
_PATIENCE = 60

#: Prefix of ir_datasets identifiers.
IRDS_PREFIX = "irds:"


def url_of(path: StrPath) -> str | None:
    """Return ``path`` as a URL; None for a local file."""
    found = _URL.fullmatch(os.fspath(path))
    if found is None or os.path.exists(path):
        return None
    return f"{found[1]}://{found[2]}"


def shown(path: StrPath) -> str:
    """Return a path as the user wrote it: a URL with both slashes."""
    return url_of(path) or os.fspath(path)


def located(text: str, folder: Path = Path()) -> Path:
    """Return the file that ``text`` names, relative to ``folder``; URLs stay as they are."""
    return Path(text) if _URL.fullmatch(text) else folder / text


def is_irds(source: StrPath) -> bool:
    """Return whether a name is an ir_datasets identifier rather than a file."""
    return os.fspath(source).startswith(IRDS_PREFIX)


def refusal_of(url: str) -> tuple[str, str] | None:
    """Return why a URL is not supported, and what to do; None for a supported URL."""
    scheme = url.partition(":")[0]
    if "::" in url:
        return "a chain of addresses (::) is not supported", "give one address"
    if scheme not in ("https", *_STORES):
        return (
            f"{scheme}:// addresses are not supported",
            "give a file, or an address with https://, s3:// or gs://",
        )
    return None


@contextmanager
def opened(url: str) -> Iterator[BinaryIO]:
    """Open a URL and yield its bytes.

    Raises :class:`NotInstalledError` if fsspec or its requirement for the protocol is missing, and :class:`InputError` for an
    unsupported address or a failed download. The caller handles ``FileNotFoundError`` and ``PermissionError``.
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
        raise NotInstalledError(
            "no-fsspec", f"{url} needs another package in addition to fsspec", str(error)
        ) from None
    except Exception as error:  # each protocol has its own errors
        found = f"cannot be fetched ({str(error)[:200] or type(error).__name__})"
        raise input_error(url, None, found, "check the address", "not-fetched") from error


def _stored(url: str) -> Any:
    try:
        import fsspec  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise NotInstalledError(
            "no-fsspec", f"{url} needs fsspec", "pip install 'robustcs[urls]'"
        ) from None
    return fsspec.open(url, "rb")


def _secure(url: str) -> Any:
    """Open an https address; redirections to other protocols are not followed."""
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
    """A path to several files, ``a.txt + b.txt``; create it with :func:`pooled`.

    It is accepted wherever a path is. The readers of judgments, runs and topics read each of ``files`` and join them.

    names
        Names of the files, if the user gives them.
    """

    files: tuple[Path | str, ...] = ()
    names: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return pooled, (self.files, self.names)


def pooled(files: Sequence[Path | str], names: Sequence[str] = ()) -> Any:
    """Return one path for these files; for a single file, the file itself."""
    if len(files) == 1 and not names:
        return files[0]
    path = PooledFile(" + ".join(map(shown, files)))
    path.files, path.names = tuple(files), tuple(names)
    return path


def parts_of(path: StrPath) -> tuple[Path, ...]:
    """Return the files of a path."""
    files = path.files if isinstance(path, PooledFile) else (path,)
    return tuple(file if isinstance(file, Path) else Path(file) for file in files)


def sidecar_path(run: Path) -> Path:
    """Return the path of the sidecar of a run's file, ``RUN.texts.json`` next to it (:mod:`robustcs.retrieval.sidecar`)."""
    return run.with_name(f"{run.name}.texts.json")
