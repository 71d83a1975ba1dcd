"""Progress of long work, on stderr and only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


def track(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """The same items, with a bar that goes away when the work is done; ``total`` 0: nobody knows how many there are."""
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, description=what, total=total or None, console=Console(stderr=True), transient=True)
