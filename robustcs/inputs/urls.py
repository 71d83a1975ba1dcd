"""What stands elsewhere: files at a URL, such as ``s3://bucket/run.trec``, and data sets of ir_datasets by their names.

fsspec opens URLs, where the extra ``urls`` is installed. A path that was made of a URL has lost one of its slashes; here it
gets it back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from robustcs.errors import NotInstalledError, input_error

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.+)", re.DOTALL)
_LOCAL = ("file", "local")
#: What identifiers of ir_datasets start with.
IRDS_PREFIX = "irds:"


def url_of(path: str | os.PathLike[str]) -> str | None:
    """The URL that ``path`` is; None for a file of this machine."""
    found = _URL.fullmatch(os.fspath(path))
    if found is None or os.path.exists(path):
        return None
    return f"{found[1]}://{'/' if found[1] in _LOCAL else ''}{found[2]}"


def shown(path: str | os.PathLike[str]) -> str:
    """A path as whoever gave it wrote it: a URL with both of its slashes."""
    return url_of(path) or os.fspath(path)


def located(text: str, folder: Path = Path()) -> Path:
    """The file that ``text`` names, seen from ``folder``; a URL is the same from everywhere."""
    return Path(text) if _URL.fullmatch(text) else folder / text


def is_irds(source: str | os.PathLike[str]) -> bool:
    """Whether a name is one of ir_datasets, and no file."""
    return os.fspath(source).startswith(IRDS_PREFIX)


@contextmanager
def opened(url: str) -> Iterator[BinaryIO]:
    """The bytes at a URL.

    Raises :class:`NotInstalledError` without fsspec or what it needs for the protocol, and :class:`InputError` for what cannot
    be fetched; ``FileNotFoundError`` and ``PermissionError`` are left to the caller.
    """
    try:
        import fsspec  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise NotInstalledError("no-fsspec", f"{url} needs fsspec", "pip install 'robustcs[urls]'") from None
    try:
        with fsspec.open(url, "rb") as stream:
            yield stream
    except (FileNotFoundError, PermissionError):
        raise
    except ImportError as error:
        raise NotInstalledError("no-fsspec", f"{url} needs more than fsspec", str(error)) from None
    except Exception as error:  # every protocol has errors of its own
        found = f"cannot be fetched ({str(error)[:200] or type(error).__name__})"
        raise input_error(url, None, found, "check the address", "not-fetched") from error
