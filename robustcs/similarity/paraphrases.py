"""Paraphrases of turns: those that are too similar to others, and test sets with one paraphrase of
every turn.

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

#: Largest Levenshtein distance of near-duplicates.
FEW_CHARACTERS = 3

Relation = Literal["exact", "one word", "few characters"]

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def text_key(text: str) -> str:
    """Return the text without letter case and repeated white space; equal keys mean equal texts."""
    return " ".join(text.casefold().split())


def relation(first: str, second: str) -> Relation | None:
    """Return how two near-duplicates differ, ignoring letter case; None for texts that are not
    near-duplicates.

    ``one word``: one word is inserted, deleted or replaced (punctuation does not count). ``few
    characters``: at most :data:`FEW_CHARACTERS` characters are.
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
    """Return whether the Levenshtein distance of two sequences is at most ``limit``, a small
    number.
    """
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
    """A dropped paraphrase, the kept one that it is too similar to, and the text compared: ``kind``
    is manual or raw.
    """

    dropped: Paraphrase
    kept: Paraphrase
    kind: str
    relation: Relation


def clean(rows: Sequence[Paraphrase]) -> tuple[list[Paraphrase], list[TooSimilar]]:
    """Return the kept and the dropped paraphrases of a turn; a row is dropped if it is too similar
    to an earlier kept one.

    Two rows are too similar if their manual or their raw texts are (:func:`relation`). Rows of
    different categories are not compared, because they differ by design. The first row is always
    kept.
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
    return {turn: tuple(kept) for turn, (kept, _) in cleaned.items()}, [
        one for _, gone in cleaned.values() for one in gone
    ]


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


# ---------------------------------------------------------------- test sets
KINDS = ("manual", "raw")
SETS = table(
    "sets", "The paraphrase of every turn in every set.",
    count("set", "number of the set, from 1"), text("turn"), text("manual"), text("raw"),
    text("history", "the raw paraphrases of the earlier turns of the conversation in this set"),
    count("line", "line of the paraphrase file"), text("category", "the kind of variation, if the file names one"),
)  # fmt: skip


def draw(rows: Sequence[Paraphrase], sets: int, seed: int) -> list[Paraphrase]:
    """Draw one paraphrase of a turn for each set, without repeating a manual or raw text if the
    turn has enough rows.

    The rows are shuffled. Then the largest number of rows (at most ``sets``) that share no text is
    chosen: a matching of manual with raw texts (Kuhn's augmenting paths), because the first rows
    could block each other. If these are too few, rows with the least used texts are drawn again.
    """
    shuffled = sorted(rows, key=lambda row: _random_key(row, seed))
    of_raw: dict[str, Paraphrase] = {}

    def place(manual: str, tried: set[str]) -> bool:
        """Assign a row with an unused raw text to the manual text, reassigning others if necessary."""
        for row in shuffled:
            raw = text_key(row.raw)
            if text_key(row.manual) != manual or raw in tried:
                continue
            tried.add(raw)
            if raw not in of_raw or place(text_key(of_raw[raw].manual), tried):
                of_raw[raw] = row
                return True
        return False

    for manual in dict.fromkeys(text_key(row.manual) for row in shuffled):
        if len(of_raw) < sets:
            place(manual, set())
    drawn = sorted(of_raw.values(), key=shuffled.index)
    used = Counter(key for row in drawn for key in _keys(row))
    while len(drawn) < sets:
        row = min(shuffled, key=lambda row: sum(used[key] for key in _keys(row)))
        used.update(_keys(row))
        drawn.append(row)
    return drawn


def _random_key(row: Paraphrase, seed: int) -> tuple[str, int]:
    """Return a hash as sort key: a random order that is the same on every machine and for every
    version of Python.
    """
    text = "\0".join((str(seed), row.turn, row.manual, row.raw))
    return hashlib.sha256(text.encode()).hexdigest(), row.line


def _keys(row: Paraphrase) -> tuple[tuple[str, str], ...]:
    return tuple((kind, text_key(getattr(row, kind))) for kind in KINDS)


def sets_table(
    drawn: Mapping[str, Sequence[Paraphrase]], sets: int, conversations: Conversations | None = None
) -> pd.DataFrame:
    """Return the table :data:`SETS`; ``drawn`` is in natural order. ``conversations``: default:
    those that the ids show.
    """
    earlier = (conversations or Conversations.from_ids(drawn)).earlier(drawn)
    found = []
    for number in range(sets):
        for turn, rows in drawn.items():
            row, history = rows[number], [drawn[one][number].raw for one in earlier[turn]]
            found.append((number + 1, turn, row.manual, row.raw, history, row.line, row.category))
    return SETS.frame(found)
