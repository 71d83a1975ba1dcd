"""From which grade a passage counts as relevant: what the collections of this field do."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Collection, beginnings of its passage ids, and the shape of its turn ids.
_COLLECTIONS = (
    ("iKAT", re.compile(r"clueweb22-"), re.compile(r"\d+(-\d+)?[_-]\d+(-\d+)?")),
    ("CAsT", re.compile(r"(MARCO|CAR|WAPO|KILT)_"), re.compile(r"\d+_\d+(-\d+)?")),
    ("TREC DL", re.compile(r"msmarco_(passage|doc|v2)"), re.compile(r"\d+")),
)
_LEVEL = 2


def customary_level(turns: Sequence[str], passages: Sequence[str], highest: int) -> tuple[int, str]:
    """The relevance level that a collection's tracks use for binary measures, and its name; (1, "") where it is not known.

    turns, passages
        Ids of the qrels; what most of the first hundred look like decides.
    highest
        The highest grade: qrels of 0 and 1 have one level.
    """
    for name, passage_id, turn_id in _COLLECTIONS:
        if _mostly(passage_id, passages) and _mostly(turn_id, turns, whole=True) and highest >= _LEVEL:
            return _LEVEL, name
    return 1, ""


def _mostly(pattern: re.Pattern[str], ids: Sequence[str], whole: bool = False) -> bool:
    some = ids[:100]
    matches = pattern.fullmatch if whole else pattern.match
    return bool(some) and sum(matches(one) is not None for one in some) > len(some) / 2
