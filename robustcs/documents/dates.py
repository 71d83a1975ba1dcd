"""The date that a report bears."""

from __future__ import annotations

import os

from robustcs.errors import UsageError

#: 9999-12-31, the last day that dates can be.
_LAST = 253_402_300_799


def source_date() -> int | None:
    """``SOURCE_DATE_EPOCH``, in seconds since 1970, which makes the same report byte for byte; None (now) where it is not set.

    Raises :class:`UsageError` where it is no such number.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and int(text) <= _LAST):
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise UsageError("bad-date", f"SOURCE_DATE_EPOCH is {shown!r}", "write seconds since 1970, or unset it")
    return int(text)
