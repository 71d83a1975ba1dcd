"""What stands elsewhere: files at a URL, such as ``s3://bucket/run.trec``, and data sets of ir_datasets by their names.

Only ``https://`` is opened, and ``s3://`` and ``gs://`` by fsspec, where the extra ``urls`` is installed: among the other
protocols of fsspec are some that run what a file says. A path that was made of a URL has lost one of its slashes; here it gets
it back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from robustcs.errors import InputError, NotInstalledError, input_error

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
