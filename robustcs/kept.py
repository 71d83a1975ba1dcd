"""What robustcs keeps on disk for itself: JSON with a format, a version and a checksum, its one reader, and one lock.

The checksum covers every value. It shows damage and edits; it is no signature, so whoever can write the file can also write
another checksum. What is read is therefore checked against its types as well.
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
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from robustcs.errors import OutputError, not_written

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Seconds to wait for another program that writes into the same folder.
PATIENCE = 60.0
#: Says of an object which of several dataclasses it is.
KIND = "is"


def sealed(form: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``content``, whose keys are texts, with ``form`` (the format and its version) and a checksum of all values."""
    return {"format": form, "sha256": _checksum(form, content), **content}


def unsealed(form: str, data: Any) -> dict[str, Any]:
    """Return the content of parsed JSON that :func:`sealed` made. Raises ``ValueError``, which says what is wrong."""
    found = data.get("format") if isinstance(data, dict) else None
    if found != form:
        given = repr(found) if isinstance(found, str) else "unknown"
        raise ValueError(f"its format is {given}, not {form!r}")
    content = {key: value for key, value in data.items() if key not in ("format", "sha256")}
    if data.get("sha256") != _checksum(form, content):
        raise ValueError("its values do not match its checksum")
    return content


def _checksum(form: str, content: Mapping[str, Any]) -> str:
    try:
        text = json.dumps([form, content], sort_keys=True, separators=(",", ":"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return hashlib.sha256(text.encode()).hexdigest()


def typed(value: Any, shape: Any) -> Any:
    """Return parsed JSON as ``shape``: a type of JSON, a dataclass, a ``TypedDict``, or anything made of them.

    A dataclass is an object of exactly its fields; :data:`KIND` may name it. ``Annotated[type, check]`` also wants ``check`` of
    the value to hold. Raises ``ValueError`` for every other value, also for numbers that are not finite.
    """
    origin, inner = get_origin(shape), get_args(shape)
    if shape is Any:
        return value
    if origin is Annotated:
        if inner[1](found := typed(value, inner[0])):
            return found
    elif origin in (Union, UnionType):
        for one in inner:
            with suppress(ValueError):
                return typed(value, one)
    elif origin is Literal:
        if isinstance(value, str) and value in inner:
            return value
    elif origin is frozenset:
        if isinstance(value, dict) and value.keys() == {KIND, "items"} and value[KIND] == "frozenset":
            return frozenset(typed(item, inner[0]) for item in typed(value["items"], list[Any]))
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
        if (
            isinstance(value, dict)
            and value.get(KIND, shape.__name__) == shape.__name__
            and required <= value.keys() - {KIND} <= hints.keys()
        ):
            return shape(**{key: typed(value[key], hint) for key, hint in hints.items() if key in value})
    elif shape is float:
        if type(value) in (int, float) and abs(value) <= sys.float_info.max:
            return value
    elif type(value) is shape:
        return value
    raise ValueError("its values are not those that robustcs writes")


@cache
def _hints(shape: Any) -> dict[str, Any]:
    return get_type_hints(shape, include_extras=True)


def lock(descriptor: int) -> bool:
    """Lock an open file or folder until it is closed, at the latest when the process ends; False where another one has it.

    Where the system or the file system has no locks, everybody gets one.
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
    """Keep other processes of robustcs out of ``folder`` while something in it is read and replaced; waits for them.

    The folder itself is locked, so that no file is left in it. Raises :class:`OutputError` after :data:`PATIENCE`.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY) if fcntl else None
    except PermissionError:  # a folder that can be written to, but not listed
        descriptor = None
    except OSError as error:
        raise not_written(folder, error) from None
    try:
        end = time.monotonic() + PATIENCE
        while descriptor is not None and not lock(descriptor):
            if time.monotonic() > end:
                advice = "wait for it to end, or write elsewhere"
                raise OutputError(folder, f"another robustcs has been writing into it for {PATIENCE:.0f} seconds", advice)
            time.sleep(0.05)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)
