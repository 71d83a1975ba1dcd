"""Files of robustcs's own: JSON with a format, a version and a checksum; their reader, and locks on folders.

The checksum covers all values. It reveals damage and edits, but it is not a signature: a program that can write the file can
also write another checksum. Values are therefore also checked against their types.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from robustcs.errors import OutputError, not_written

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: What :func:`typed` says of values of another type.
_WRONG = "its values are not those that robustcs writes"
#: Seconds to wait for another process that writes into the same folder.
PATIENCE = 60.0


def sealed(form: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``content`` with ``form`` (the format and its version) and a checksum of all values; keys must be strings."""
    return {"format": form, "sha256": _sha256(_canonical(form, content)), **content}


def unsealed(form: str, data: Any) -> dict[str, Any]:
    """Return the content of parsed JSON from :func:`sealed`. Raises ``ValueError`` with the problem for anything else."""
    found = data.get("format") if isinstance(data, dict) else None
    if found != form:
        given = repr(found) if isinstance(found, str) else "unknown"
        raise ValueError(f"its format is {given}, not {form!r}")
    content = {key: value for key, value in data.items() if key not in ("format", "sha256")}
    if data.get("sha256") != _sha256(_canonical(form, content)):
        raise ValueError("its values do not match its checksum")
    return content


def _canonical(form: str, content: Mapping[str, Any]) -> str:
    try:
        return json.dumps([form, content], sort_keys=True, separators=(",", ":"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def typed(value: Any, shape: Any) -> Any:
    """Convert parsed JSON to ``shape``: a JSON type, a dataclass, a ``TypedDict``, or a combination of them.

    A dataclass is an object with exactly its fields. Raises ``ValueError`` for all other values and for numbers that are not
    finite.
    """
    if shape is Any:
        return value
    if shape is float:
        if type(value) in (int, float) and abs(value) <= sys.float_info.max:
            return value
        raise ValueError(_WRONG)
    if type(value) is shape:  # most values are texts, numbers or truth values
        return value
    origin, inner = get_origin(shape), get_args(shape)
    if origin in (Union, UnionType):
        for one in inner:
            with suppress(ValueError):
                return typed(value, one)
    elif origin is Literal:
        if isinstance(value, str) and value in inner:
            return value
    elif origin is tuple and inner[-1] is not Ellipsis:
        if isinstance(value, list) and len(value) == len(inner):
            return tuple(map(typed, value, inner))
    elif origin in (list, tuple, Sequence):
        if isinstance(value, list):
            plain = inner[0] in (str, int) and all(type(item) is inner[0] for item in value)
            items = value if plain else [typed(item, inner[0]) for item in value]
            return tuple(items) if origin is tuple else items
    elif origin in (dict, Mapping):
        if isinstance(value, dict):
            return {key: typed(item, inner[1]) for key, item in value.items()}
    elif is_dataclass(shape) or is_typeddict(shape):
        hints = _hints(shape)
        required = getattr(shape, "__required_keys__", hints.keys())
        if isinstance(value, dict) and required <= value.keys() <= hints.keys():
            return shape(
                **{key: typed(value[key], hint) for key, hint in hints.items() if key in value}
            )
    raise ValueError(_WRONG)


@cache
def _hints(shape: Any) -> dict[str, Any]:
    return get_type_hints(shape)


def lock(descriptor: int) -> bool:
    """Lock an open file or folder until it is closed or the process ends. Return False if another process holds the lock.

    Always succeeds if the system or the file system does not support locks.
    """
    try:
        if fcntl:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a lock on ``folder`` while files in it are read and replaced; wait for other processes of robustcs.

    The lock is on the folder itself, so no lock file remains. Raises :class:`OutputError` after :data:`PATIENCE` seconds.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY) if fcntl else None
    except OSError as error:
        raise not_written(folder, error) from None
    try:
        end = time.monotonic() + PATIENCE
        while descriptor is not None and not lock(descriptor):
            if time.monotonic() > end:
                advice = "wait for that process, or write elsewhere"
                raise OutputError(
                    folder,
                    f"another robustcs process has been writing to it for {PATIENCE:.0f} seconds",
                    advice,
                )
            time.sleep(0.05)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)
