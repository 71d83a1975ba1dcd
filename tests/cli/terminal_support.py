"""What a program writes to a terminal of ours."""

from __future__ import annotations

import os


def everything(primary: int) -> bytes:
    """All that comes to this end of a pseudo-terminal until the other end is closed; then this one is closed too."""
    shown = b""
    while True:
        try:
            piece = os.read(primary, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(primary)
    return shown
