"""Libraries that are slow to import, loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["npt", "pd", "special"]

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
            # functions that are called thousands of times are looked up once
            setattr(self, name, found)
            return found

    npt, pd, special = _Module("numpy.typing"), _Module("pandas"), _Module("scipy.special")
