"""Encode blocks of a document as JSON, so that an answer can be kept; :func:`robustcs.kept.typed` decodes them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from robustcs.kept import KIND


def encode(value: Any) -> Any:
    """Return dataclasses, tuples and frozen sets as values of JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {KIND: type(value).__name__} | {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, frozenset):
        return {KIND: "frozenset", "items": sorted(value)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    return value
