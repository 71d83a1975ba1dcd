"""Customary relevance levels of known collections."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Collection, prefix of its passage ids, and pattern of its turn ids.
_COLLECTIONS = (
    ("iKAT", re.compile(r"clueweb22-"), re.compile(r"\d+(-\d+)?[_-]\d+(-\d+)?")),
    ("CAsT", re.compile(r"(MARCO|CAR|WAPO|KILT)_"), re.compile(r"\d+_\d+(-\d+)?")),
    ("TREC DL", re.compile(r"msmarco_(passage|doc|v2)"), re.compile(r"\d+")),
)
_LEVEL = 2


def customary_level(turns: Sequence[str], passages: Sequence[str], highest: int) -> tuple[int, str]:
    """Return the customary relevance level of a collection for binary measures, and its name; (1, "") if it is unknown.

    turns, passages
        Ids in the qrels; most of the first hundred must match a collection.
    highest
        The highest grade; binary qrels have only level 1.
    """
    for name, passage_id, turn_id in _COLLECTIONS:
        if _mostly(passage_id, passages) and _mostly(turn_id, turns, whole=True) and highest >= _LEVEL:
            return _LEVEL, name
    return 1, ""


def _mostly(pattern: re.Pattern[str], ids: Sequence[str], whole: bool = False) -> bool:
    some = ids[:100]
    matches = pattern.fullmatch if whole else pattern.match
    return bool(some) and sum(matches(one) is not None for one in some) > len(some) / 2
