"""Files of robustcs's own: JSON with a format, a version and a checksum; their reader, locks on folders, and kept results.

The checksum covers all values. It reveals damage and edits, but it is not a signature: a program that can write the file can
also write another checksum. Values are therefore also checked against their types.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from robustcs.errors import OutputError, not_written

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Seconds to wait for another process that writes into the same folder.
PATIENCE = 60.0
#: Key that names the dataclass of an object.
KIND = "is"

P = ParamSpec("P")
R = TypeVar("R")
#: Call → result of slow functions, known from before and used now; None outside :func:`remembering`.
_MEMORY: ContextVar[tuple[Mapping[str, Any], dict[str, Any]] | None] = ContextVar("memory", default=None)


def encode(value: Any) -> Any:
    """Return dataclasses, tuples and frozen sets as values of JSON, which :func:`typed` decodes."""
    if is_dataclass(value) and not isinstance(value, type):
        return {KIND: type(value).__name__} | {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, frozenset):
        return {KIND: "frozenset", "items": sorted(value)}
    return [encode(item) for item in value] if isinstance(value, tuple | list) else value


def sealed(form: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``content`` with ``form`` (the format and its version) and a checksum of all values; keys must be strings."""
    return {"format": form, "sha256": _sha256(_canonical(form, content)), **content}


def sealed_text(form: str, content: Mapping[str, Any]) -> str:
    """Return :func:`sealed` of content that is not empty as JSON; large content is encoded only once."""
    text = _canonical(form, content)
    head = json.dumps({"format": form, "sha256": _sha256(text)})
    return f"{head[:-1]},{text[len(json.dumps([form])) + 1 : -1]}"


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

    A dataclass is an object with exactly its fields; :data:`KIND` may name it. ``Annotated[type, check]`` also requires that
    ``check`` of the value is true. Raises ``ValueError`` for all other values and for numbers that are not finite.
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
                raise OutputError(folder, f"another robustcs process has been writing to it for {PATIENCE:.0f} seconds", advice)
            time.sleep(0.05)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def remembering(known: Mapping[str, Any], used: dict[str, Any]) -> Iterator[None]:
    """Take the results of :func:`remembered` functions from ``known``, by their calls, and collect all results in ``used``."""
    token = _MEMORY.set((known, used))
    try:
        yield
    finally:
        _MEMORY.reset(token)


def remembered(restore: Callable[[Any], R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a slow pure function whose results are kept between reports; see :func:`remembering`.

    ``restore`` makes a result from JSON, in which a dataclass is the list of its fields. Arguments are values of JSON, arrays
    and dataclasses of these.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            if (memory := _MEMORY.get()) is None:
                return function(*args, **named)
            known, used = memory
            key = _sha256(json.dumps([function.__module__, function.__qualname__, args, named], default=_plain))
            if key not in used:
                used[key] = known[key] if key in known else json.loads(json.dumps(function(*args, **named), default=_plain))
            return restore(used[key])

        return call

    return decorate


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    return value.item() if value.shape == () else [value.dtype.str, value.shape, value.tobytes().hex()]
