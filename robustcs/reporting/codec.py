"""Blocks of a document as JSON and back, so that an answer can be kept."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from robustcs.documents import document

_KIND = "is"


def encode(value: Any) -> Any:
    """Dataclasses, tuples and frozen sets as JSON knows them."""
    if is_dataclass(value) and not isinstance(value, type):
        return {_KIND: type(value).__name__} | {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, frozenset):
        return {_KIND: "frozenset", "items": sorted(value)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    return value


def decode(value: Any) -> Any:
    """What :func:`encode` was given; lists come back as tuples. Raises :class:`ValueError` for anything else."""
    if isinstance(value, list):
        return tuple(map(decode, value))
    if not isinstance(value, dict):
        return value
    items = {key: decode(item) for key, item in value.items()}
    kind = items.pop(_KIND, None)
    if kind == "frozenset":
        return frozenset(items["items"])
    known = getattr(document, str(kind), None)
    if not (isinstance(known, type) and is_dataclass(known)):
        raise ValueError(f"no block is called {kind!r}")
    return known(**items)
