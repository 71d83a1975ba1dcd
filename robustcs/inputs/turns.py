"""The natural order of turn ids. Their conversations are in :mod:`robustcs.conversations`."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"([0-9]+)")


def turn_sort_key(turn_id: str) -> tuple[list[str | tuple[int, str]], str]:
    """Return a key for the natural order of turn ids.

    Numbers compare as numbers, so ``31_9`` comes before ``31_10``.
    """
    key: list[str | tuple[int, str]] = []
    for place, part in enumerate(_DIGITS.split(turn_id)):
        is_number = place % 2 == 1
        key.append(_as_number(part) if is_number else part)
    return key, turn_id


def _as_number(digits: str) -> tuple[int, str]:
    """Return a key that sorts digits as a number of any length.

    int() rejects thousands of digits.
    """
    significant = digits.lstrip("0")
    return len(significant), significant
