"""Paraphrases that are too similar to others: a one-word difference, or one of a few characters.

Source: Al-Thani et al. (2023), "ECAsT", stage 4, which removes "paraphrases with only a few characters or a one-word
difference from other paraphrases". The paper gives no number for a few; here it is :data:`FEW_CHARACTERS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from robustcs.inputs.paraphrases import Paraphrase

#: Characters that two texts may differ by (Levenshtein distance) and still be nearly the same.
FEW_CHARACTERS = 3

Relation = Literal["exact", "one word", "few characters"]

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def text_key(text: str) -> str:
    """What makes two texts the same text: everything but letter case and the amount of white space."""
    return " ".join(text.casefold().split())


def relation(first: str, second: str) -> Relation | None:
    """How alike two texts are, without regard to letter case; None where they differ by more.

    ``one word``: one word is put in, left out or replaced (punctuation does not count). ``few characters``: at most
    :data:`FEW_CHARACTERS` characters are.
    """
    first, second = text_key(first), text_key(second)
    if first == second:
        return "exact"
    first_words, second_words = _WORD.findall(first), _WORD.findall(second)
    if first_words != second_words and within(first_words, second_words, 1):
        return "one word"
    if first_words == second_words or within(first, second, FEW_CHARACTERS):
        return "few characters"
    return None


def within(first: Sequence[str], second: Sequence[str], limit: int) -> bool:
    """Whether the Levenshtein distance of two sequences is at most ``limit``, a small number."""
    # an edit takes at most one item away and brings one in: most pairs end here
    return len(set(first) ^ set(second)) <= 2 * limit and _within(first, second, limit)


def _within(first: Sequence[str], second: Sequence[str], limit: int) -> bool:
    if abs(len(first) - len(second)) > limit:
        return False
    shorter = min(len(first), len(second))
    start = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    first, second = first[start:], second[start:]
    if not first or not second:
        return True  # the lengths have been compared
    if limit == 0:
        return False
    return (
        _within(first[1:], second[1:], limit - 1)
        or _within(first[1:], second, limit - 1)
        or _within(first, second[1:], limit - 1)
    )


@dataclass(frozen=True)
class TooSimilar:
    """A paraphrase that is dropped, the one that it is too similar to, and in what: ``kind`` is manual or raw."""

    dropped: Paraphrase
    kept: Paraphrase
    kind: str
    relation: Relation


def clean(rows: Sequence[Paraphrase]) -> tuple[list[Paraphrase], list[TooSimilar]]:
    """The paraphrases of a turn without those that are too similar to an earlier one that stays, and those that go.

    Two rows are too similar where their manual or their raw texts are (:func:`relation`). Two that say that they are variations
    of different categories are not compared: they differ by what their categories say. The first row always stays.
    """
    kept: list[Paraphrase] = []
    dropped: list[TooSimilar] = []
    for row in rows:
        found = next((alike for other in kept if (alike := _too_similar(row, other))), None)
        if found is None:
            kept.append(row)
        else:
            dropped.append(found)
    return kept, dropped


def clean_turns(
    paraphrases: Mapping[str, Sequence[Paraphrase]],
) -> tuple[dict[str, tuple[Paraphrase, ...]], list[TooSimilar]]:
    """:func:`clean` of every turn: turn → what stays, and all that goes."""
    cleaned = {turn: clean(rows) for turn, rows in paraphrases.items()}
    return {turn: tuple(kept) for turn, (kept, _) in cleaned.items()}, [one for _, gone in cleaned.values() for one in gone]


def cleaning_note(dropped: int, of: int) -> str:
    """What cleaning took off, in words."""
    return f"{dropped:,} of {of:,} paraphrases left out, too similar to another of their turn"


def _too_similar(row: Paraphrase, other: Paraphrase) -> TooSimilar | None:
    if row.category and other.category and row.category != other.category:
        return None
    for kind, first, second in (("manual", row.manual, other.manual), ("raw", row.raw, other.raw)):
        if found := relation(second, first):
            return TooSimilar(row, other, kind, found)
    return None
