"""Paraphrases that are too similar to others: they differ by one word or a few characters.

Source: Al-Thani et al. (2023), "ECAsT", stage 4, which removes "paraphrases with only a few characters or a one-word
difference from other paraphrases". The paper does not define "a few"; here it is :data:`FEW_CHARACTERS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from robustcs.inputs.paraphrases import Paraphrase
from robustcs.wording import counted

#: Largest Levenshtein distance of near-duplicates.
FEW_CHARACTERS = 3

Relation = Literal["exact", "one word", "few characters"]

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def text_key(text: str) -> str:
    """Return the text without letter case and repeated white space; equal keys mean equal texts."""
    return " ".join(text.casefold().split())


def relation(first: str, second: str) -> Relation | None:
    """Return how two near-duplicates differ, ignoring letter case; None for texts that are not near-duplicates.

    ``one word``: one word is inserted, deleted or replaced (punctuation does not count). ``few characters``: at most
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
    """Return whether the Levenshtein distance of two sequences is at most ``limit``, a small number."""
    # an edit removes at most one item and adds one, which excludes most pairs quickly
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
    """A dropped paraphrase, the kept one that it is too similar to, and the text compared: ``kind`` is manual or raw."""

    dropped: Paraphrase
    kept: Paraphrase
    kind: str
    relation: Relation


def clean(rows: Sequence[Paraphrase]) -> tuple[list[Paraphrase], list[TooSimilar]]:
    """Return the kept and the dropped paraphrases of a turn; a row is dropped if it is too similar to an earlier kept one.

    Two rows are too similar if their manual or their raw texts are (:func:`relation`). Rows of different categories are not
    compared, because they differ by design. The first row is always kept.
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
    """Return :func:`clean` of every turn: turn → kept paraphrases, and all dropped ones."""
    cleaned = {turn: clean(rows) for turn, rows in paraphrases.items()}
    return {turn: tuple(kept) for turn, (kept, _) in cleaned.items()}, [one for _, gone in cleaned.values() for one in gone]


def cleaning_note(dropped: int, of: int) -> str:
    """Return a note on the dropped paraphrases."""
    return f"{dropped:,} of {counted(of, 'paraphrase')} skipped: too similar to another paraphrase of the same turn"


def _too_similar(row: Paraphrase, other: Paraphrase) -> TooSimilar | None:
    if row.category and other.category and row.category != other.category:
        return None
    for kind, first, second in (("manual", row.manual, other.manual), ("raw", row.raw, other.raw)):
        if found := relation(second, first):
            return TooSimilar(row, other, kind, found)
    return None
