"""Numbers as files and options have them, taken only where they can be counted and printed.

Python refuses to convert thousands of digits, and floats end at 1.8e308; both are errors that a caller would have to foresee.
"""

from __future__ import annotations

import math
import re

_WHOLE = re.compile(r"([+-]?)0*([0-9]+)")


def whole_number(text: str, most: int) -> int | None:
    """The whole number that ``text`` says in ASCII digits; None for any other text, and for a number beyond ±``most``."""
    match = _WHOLE.fullmatch(text)
    if match is None or len(match[2]) > len(str(most)):
        return None
    number = int(match[1] + match[2])
    return number if abs(number) <= most else None


def finite_number(value: object) -> float | None:
    """A JSON or TOML value as a finite float; None where it is no number, or one too large for a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None
