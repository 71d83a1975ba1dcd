"""What a turn id says: its conversation, its depth, and the natural order of ids.

These forms are known: ``31_4`` (CAsT 2019–2021, iKAT, QReCC, TopiOCQA), ``132_1-3`` (CAsT 2022), ``C_…_1_q#2`` (QuAC and
CANARD) and ``hash<::>4`` (MTRAG). After a hyphen a long number is no place in a conversation: ``2024-145979`` is a topic.
"""

from __future__ import annotations

import re

from robustcs.inputs.text import whole_number

_QUAC = r"(.+)_q#([0-9]+)"


_MARKED = r"(.+)<::>([^<>]*)"


_CAST = r"(.+)(?:_([0-9]+)|-([0-9]{1,3}))"


_DIGITS = re.compile(r"([0-9]+)")


#: No conversation is longer; greater numbers are ids, and would not fit into an array.
_LAST = 10**18 - 1


def turn_depth(turn_id: str) -> int | None:
    """The place of the turn in its conversation, from 1 (QuAC counts from 0); None where the id does not say."""
    if found := re.fullmatch(_QUAC, turn_id):
        place = whole_number(found[2], _LAST)
        return None if place is None else place + 1
    if found := re.fullmatch(_MARKED, turn_id):
        return whole_number(found[2], _LAST)
    found = re.fullmatch(_CAST, turn_id)
    return whole_number(found[2] or found[3], _LAST) if found else None


def conversation(turn_id: str) -> str:
    """The id of the turn's conversation: ``31`` of ``31_4``, the dialog of a QuAC question, else the whole id.

    For CAsT 2022 this is one branch of the topic's tree: ``132_1`` of ``132_1-3``.
    """
    found = re.fullmatch(_QUAC, turn_id) or re.fullmatch(_MARKED, turn_id) or re.fullmatch(_CAST, turn_id)
    return found[1] if found else turn_id


def turn_sort_key(turn_id: str) -> tuple[list[str | tuple[int, str]], str]:
    """Sorts turn ids in natural order: numbers inside them compare as numbers, so ``31_9`` comes before ``31_10``."""
    parts = _DIGITS.split(turn_id)
    return [_as_number(part) if i % 2 else part for i, part in enumerate(parts)], turn_id


def _as_number(digits: str) -> tuple[int, str]:
    """Sorts digits as the number that they say, however many there are: int() refuses thousands of them."""
    digits = digits.lstrip("0")
    return len(digits), digits
