"""Turn ids: their conversation, their depth, and their natural order.

Known forms: ``31_4`` (CAsT 2019–2021, iKAT, QReCC, TopiOCQA), ``132_1-3`` (CAsT 2022), ``C_…_1_q#2`` (QuAC and CANARD) and
``hash<::>4`` (MTRAG). A long number after a hyphen is not a place in a conversation: ``2024-145979`` is a topic.
"""

from __future__ import annotations

import re

from robustcs.inputs.text import whole_number

#: The three forms; each has a group of the conversation, then of the place.
_FORMS = re.compile(r"(.+)_q#([0-9]+)|(.+)<::>([^<>]*)|(.+)(?:_([0-9]+)|-([0-9]{1,3}))")

_DIGITS = re.compile(r"([0-9]+)")

#: Largest depth; greater numbers are ids and would not fit into an array.
_LAST = 10**18 - 1


def turn_depth(turn_id: str) -> int | None:
    """Return the place of the turn in its conversation, from 1 (QuAC counts from 0); None if the id does not contain it."""
    found = _FORMS.fullmatch(turn_id)
    if found is None:
        return None
    _, quac, _, marked, _, *cast = found.groups("")
    place = whole_number(quac or marked or "".join(cast), _LAST)
    return place + 1 if quac and place is not None else place


def conversation(turn_id: str) -> str:
    """Return the id of the turn's conversation: ``31`` for ``31_4``, the dialog of a QuAC question, else the whole id.

    For CAsT 2022 this is one branch of the topic's tree: ``132_1`` for ``132_1-3``.
    """
    found = _FORMS.fullmatch(turn_id)
    return found[1] or found[3] or found[5] if found else turn_id


def turn_sort_key(turn_id: str) -> tuple[list[str | tuple[int, str]], str]:
    """Return a key for the natural order of turn ids: numbers compare as numbers, so ``31_9`` comes before ``31_10``."""
    parts = _DIGITS.split(turn_id)
    return [_as_number(part) if i % 2 else part for i, part in enumerate(parts)], turn_id


def _as_number(digits: str) -> tuple[int, str]:
    """Return a key that sorts digits as a number of any length; int() rejects thousands of digits."""
    digits = digits.lstrip("0")
    return len(digits), digits
