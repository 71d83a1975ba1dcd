"""robustcs: robustness and error analysis for conversational search, from runs, qrels and rewrites on disk.

``robustcs.breakdown(…)`` and its fellows (:mod:`robustcs.api`) are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustcs.api import (
        agreement,
        augment,
        breakdown,
        clariq,
        correlate,
        crowd,
        diversity,
        open_project,
        report,
        robustness,
        sweep,
        unjudged,
    )

__version__ = "0.1.0"

__all__ = [
    "agreement", "augment", "breakdown", "clariq", "correlate", "crowd", "diversity", "open_project", "report", "robustness",
    "sweep", "unjudged",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in __all__:
        from robustcs import api

        return getattr(api, name)
    raise AttributeError(f"module 'robustcs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
