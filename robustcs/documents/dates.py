"""The date of a report."""

from __future__ import annotations

import os
import time

from robustcs.errors import UsageError

#: 9999-12-31, the last valid date.
_LAST = 253_402_300_799


def source_date() -> int | None:
    """Return ``SOURCE_DATE_EPOCH``, in seconds since 1970; None if it is not set. With it, reports are the same byte for byte.

    Raises :class:`UsageError` if it is not such a number.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and int(text) <= _LAST):
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise UsageError(
            "bad-date", f"SOURCE_DATE_EPOCH is {shown!r}", "write seconds since 1970, or unset it"
        )
    return int(text)


def report_day() -> str:
    """Return the date of a report, as 2026-11-23: that of :func:`source_date`, or today's."""
    return time.strftime("%Y-%m-%d", time.gmtime(source_date()))
