"""Paraphrases of turns: near-duplicates, and test sets with one paraphrase of every turn.

Source: Al-Thani et al. (2023), "ECAsT". Stage 4 removes "paraphrases with only a few characters or
a one-word difference from other paraphrases". The paper does not define "a few"; here it is
:data:`FEW_CHARACTERS`. Stage 5 draws one paraphrase per turn; several sets share no paraphrase.
Manual paraphrases are self-contained; the history of raw ones consists of the paraphrases drawn for
earlier turns.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from robustcs.conversations import Conversations
from robustcs.inputs.paraphrases import Paraphrase
from robustcs.lazy import pd
from robustcs.result import count, table, text
from robustcs.wording import counted

#: The two texts of a paraphrase, in the order in which they are compared.
KINDS = ("manual", "raw")
#: Largest Levenshtein distance of near-duplicates.
FEW_CHARACTERS = 3

Relation = Literal["exact", "one word", "few characters"]

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def text_key(text: str) -> str:
    """Return the text without letter case and repeated white space; equal keys mean equal texts."""
    return " ".join(text.casefold().split())


def relation(first: str, second: str) -> Relation | None:
    """Return how two near-duplicates differ, ignoring letter case; None for other texts.

    ``one word``: one word is inserted, deleted or replaced (punctuation does not count). ``few
    characters``: at most :data:`FEW_CHARACTERS` characters are.
    """
    first, second = text_key(first), text_key(second)
    if first == second:
        return "exact"
    first_words, second_words = _WORD.findall(first), _WORD.findall(second)
    same_words = first_words == second_words
    if not same_words and within(first_words, second_words, 1):
        return "one word"
    if same_words or within(first, second, FEW_CHARACTERS):
        return "few characters"
    return None


def within(first: Sequence[str], second: Sequence[str], limit: int) -> bool:
    """Return whether the Levenshtein distance of two sequences is at most ``limit``.

    ``limit`` is a small number: the time grows exponentially with it.
    """
    # an edit removes at most one item and adds one, which excludes most pairs quickly
    only_in_one = set(first) ^ set(second)
    return len(only_in_one) <= 2 * limit and _within(first, second, limit)


def _within(first: Sequence[str], second: Sequence[str], limit: int) -> bool:
    if abs(len(first) - len(second)) > limit:
        return False
    common = _common_start(first, second)
    first, second = first[common:], second[common:]
    if not first or not second:
        return True  # the lengths have been compared
    if limit == 0:
        return False
    return (
        _within(first[1:], second[1:], limit - 1)
        or _within(first[1:], second, limit - 1)
        or _within(first, second[1:], limit - 1)
    )


def _common_start(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of equal items at the beginning of two sequences."""
    shorter = min(len(first), len(second))
    for place in range(shorter):
        if first[place] != second[place]:
            return place
    return shorter


@dataclass(frozen=True)
class TooSimilar:
    """A dropped paraphrase, the kept one that it is too similar to, and how they are related.

    ``kind``: the text that was compared, manual or raw.
    """

    dropped: Paraphrase
    kept: Paraphrase
    kind: str
    relation: Relation


def clean(rows: Sequence[Paraphrase]) -> tuple[list[Paraphrase], list[TooSimilar]]:
    """Return the kept and the dropped paraphrases of a turn.

    A row is dropped if it is too similar to an earlier kept one: if their manual or their raw texts
    are near-duplicates (:func:`relation`). Rows of different categories are not compared, because
    they differ by design. The first row is always kept.
    """
    kept: list[Paraphrase] = []
    dropped: list[TooSimilar] = []
    for row in rows:
        duplicate = _first_too_similar(row, kept)
        if duplicate is None:
            kept.append(row)
        else:
            dropped.append(duplicate)
    return kept, dropped


def clean_turns(
    paraphrases: Mapping[str, Sequence[Paraphrase]],
) -> tuple[dict[str, tuple[Paraphrase, ...]], list[TooSimilar]]:
    """Return :func:`clean` of every turn: turn → kept paraphrases, and all dropped ones."""
    kept_by_turn: dict[str, tuple[Paraphrase, ...]] = {}
    all_dropped: list[TooSimilar] = []
    for turn, rows in paraphrases.items():
        kept, dropped = clean(rows)
        kept_by_turn[turn] = tuple(kept)
        all_dropped += dropped
    return kept_by_turn, all_dropped


def cleaning_note(dropped: int, of: int) -> str:
    """Return a note on the dropped paraphrases; ``of``: number of all paraphrases."""
    return (
        f"{dropped:,} of {counted(of, 'paraphrase')} skipped: too similar to another paraphrase of"
        " the same turn"
    )


def _first_too_similar(row: Paraphrase, kept: Sequence[Paraphrase]) -> TooSimilar | None:
    for other in kept:
        duplicate = _too_similar(row, other)
        if duplicate is not None:
            return duplicate
    return None


def _too_similar(row: Paraphrase, other: Paraphrase) -> TooSimilar | None:
    if row.category and other.category and row.category != other.category:
        return None
    for kind in KINDS:
        how = relation(getattr(other, kind), getattr(row, kind))
        if how is not None:
            return TooSimilar(row, other, kind, how)
    return None


# ---------------------------------------------------------------- test sets
SETS = table(
    "sets",
    "The paraphrase of every turn in every set.",
    count("set", "number of the set, from 1"),
    text("turn"),
    text("manual"),
    text("raw"),
    text("history", "the raw paraphrases of the earlier turns of the conversation in this set"),
    count("line", "line of the paraphrase file"),
    text("category", "the kind of variation, if the file names one"),
)


def draw(rows: Sequence[Paraphrase], sets: int, seed: int) -> list[Paraphrase]:
    """Draw one paraphrase of a turn for each set.

    No manual or raw text is repeated if the turn has enough rows. The rows are shuffled. Then the
    largest number of rows (at most ``sets``) that share no text is chosen, because the first rows
    could block each other. If these are too few, rows with the least used texts are drawn again.
    """
    shuffled = sorted(rows, key=lambda row: _random_key(row, seed))
    drawn = _without_shared_texts(shuffled, sets)
    uses = Counter(key for row in drawn for key in _keys(row))
    while len(drawn) < sets:
        least_used = min(shuffled, key=lambda row: sum(uses[key] for key in _keys(row)))
        uses.update(_keys(least_used))
        drawn.append(least_used)
    return drawn


def _without_shared_texts(rows: Sequence[Paraphrase], most: int) -> list[Paraphrase]:
    """Return as many rows as possible, up to ``most``, that share no text, in their order.

    It is a matching of manual with raw texts by Kuhn's augmenting paths.
    """
    row_of_raw: dict[str, Paraphrase] = {}

    def assign(manual: str, tried: set[str]) -> bool:
        """Assign a row with an unused raw text to the manual text, reassigning others."""
        for row in rows:
            raw = text_key(row.raw)
            if text_key(row.manual) != manual or raw in tried:
                continue
            tried.add(raw)
            if raw not in row_of_raw or assign(text_key(row_of_raw[raw].manual), tried):
                row_of_raw[raw] = row
                return True
        return False

    for manual in dict.fromkeys(text_key(row.manual) for row in rows):
        if len(row_of_raw) < most:
            assign(manual, set())
    return sorted(row_of_raw.values(), key=rows.index)


def _random_key(row: Paraphrase, seed: int) -> tuple[str, int]:
    """Return a hash as sort key.

    The order is random but the same on every machine and for every version of Python.
    """
    parts = (str(seed), row.turn, row.manual, row.raw)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest(), row.line


def _keys(row: Paraphrase) -> tuple[tuple[str, str], ...]:
    """Return the kind and the key of the row's texts, which may be equal to each other."""
    return tuple((kind, text_key(getattr(row, kind))) for kind in KINDS)


def sets_table(
    drawn: Mapping[str, Sequence[Paraphrase]], sets: int, conversations: Conversations | None = None
) -> pd.DataFrame:
    """Return the table :data:`SETS`.

    ``drawn``: turn → its paraphrase in each of the ``sets``, the turns in natural order.
    ``conversations``: by default, those that the ids show.
    """
    earlier = (conversations or Conversations.from_ids(drawn)).earlier(drawn)
    rows = []
    for place in range(sets):
        for turn, paraphrases in drawn.items():
            row = paraphrases[place]
            history = [drawn[earlier_turn][place].raw for earlier_turn in earlier[turn]]
            rows.append((place + 1, turn, row.manual, row.raw, history, row.line, row.category))
    return SETS.frame(rows)
