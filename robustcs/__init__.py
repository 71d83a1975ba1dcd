"""robustcs: robustness and error analysis for conversational search.

``robustcs.breakdown(…)`` and the other functions of :mod:`robustcs.api` are loaded when they are first used.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from robustcs.version import __version__ as __version__

if "numpy" not in sys.modules:  # numpy reads it once; if it is loaded, the program has chosen
    # the matrices here are small, so threads cost more than they save
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _offered() -> list[str]:
    """Return the names of the functions of :mod:`robustcs.api`."""
    from robustcs.studies.registry import STUDIES

    return sorted(["open_project", "report", *(study.name for study in STUDIES)])


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _offered()
    if not name.startswith("_") and name in _offered():
        from robustcs import api

        return getattr(api, name)
    raise AttributeError(f"module 'robustcs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*(name for name in globals() if name.startswith("__")), "__all__", *_offered()]
