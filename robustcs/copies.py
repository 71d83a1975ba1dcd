"""Copies of tables: what leaves a result does not change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any


def own(content: Any) -> Any:
    """Return a copy of a frame or of rows; a function, which computes a table, is returned unchanged.

    The copy is deep: a lazy one shares its arrays, which ``frame["value"].array`` lets a reader change.
    """
    return content if callable(content) else copy(content) if isinstance(content, list) else content.copy()


class Copies(Mapping[str, Any]):
    """Table name → content; each reading gives a copy. Only the result uses ``stored``, the contents themselves."""

    stored: dict[str, Any]

    def __init__(self, stored: Mapping[str, Any]) -> None:
        self.stored = dict(stored.stored if isinstance(stored, Copies) else stored)

    def __getitem__(self, name: str) -> Any:
        return own(self.stored[name])

    def __contains__(self, name: object) -> bool:
        return name in self.stored

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)
