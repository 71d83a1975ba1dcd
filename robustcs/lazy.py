"""Libraries that are slow to import, loaded when they are first used; copies of their tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Copies", "npt", "own", "pd", "special"]

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    import scipy.special as special
else:

    class _Module:
        """A module that is imported when an attribute is first used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module(self._name), name)
            setattr(
                self, name, found
            )  # functions that are called thousands of times are looked up once
            return found

    npt, pd, special = _Module("numpy.typing"), _Module("pandas"), _Module("scipy.special")


def own(content: Any) -> Any:
    """Return a copy of a frame or of rows; a function, which computes a table, is returned unchanged.

    The copy is deep: a lazy one shares its arrays, which ``frame["value"].array`` lets a reader change.
    """
    return (
        content
        if callable(content)
        else copy(content)
        if isinstance(content, list)
        else content.copy()
    )


@dataclass(frozen=True)
class Copies(Mapping[str, Any]):
    """Table name → content; each reading gives a copy. Only the result uses ``stored``, the contents themselves."""

    stored: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return own(self.stored[name])

    def __contains__(self, name: object) -> bool:
        return name in self.stored

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)
