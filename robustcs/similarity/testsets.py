"""Test sets of paraphrases: each contains one paraphrase of every turn, and the sets overlap as little as possible.

Source: Al-Thani et al. (2023), "ECAsT", stage 5: one paraphrase is drawn per turn, and several sets share no paraphrase. Manual
paraphrases are self-contained; the history of raw ones consists of the paraphrases drawn for earlier turns.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from robustcs.inputs.paraphrases import Paraphrase
from robustcs.inputs.turns import conversation
from robustcs.lazy import pd
from robustcs.result import count, table, text
from robustcs.similarity.near_duplicates import text_key

KINDS = ("manual", "raw")
SETS = table(
    "sets", "The paraphrase of every turn in every set.",
    count("set", "number of the set, from 1"), text("turn"), text("manual"), text("raw"),
    text("history", "the raw paraphrases of the earlier turns of the conversation in this set"),
    count("line", "line of the paraphrase file"), text("category", "the kind of variation, if the file names one"),
)  # fmt: skip


def draw(rows: Sequence[Paraphrase], sets: int, seed: int) -> list[Paraphrase]:
    """Draw one paraphrase of a turn for each set, without repeating a manual or raw text if the turn has enough rows.

    The rows are shuffled. Then the largest number of rows (at most ``sets``) that share no text is chosen: a matching of
    manual with raw texts (Kuhn's augmenting paths), because the first rows could block each other. If these are too few, rows
    with the least used texts are drawn again.
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
    """Return a hash as sort key: a random order that is the same on every machine and for every version of Python."""
    text = "\0".join((str(seed), row.turn, row.manual, row.raw))
    return hashlib.sha256(text.encode()).hexdigest(), row.line


def _keys(row: Paraphrase) -> tuple[tuple[str, str], ...]:
    return tuple((kind, text_key(getattr(row, kind))) for kind in KINDS)


def sets_table(drawn: Mapping[str, Sequence[Paraphrase]], sets: int) -> pd.DataFrame:
    """Return the table :data:`SETS`; ``drawn`` is in natural order, so earlier turns of a conversation come first."""
    found = []
    for number in range(sets):
        so_far: dict[str, list[str]] = {}
        for turn, rows in drawn.items():
            row = rows[number]
            history = so_far.setdefault(conversation(turn), [])
            found.append((number + 1, turn, row.manual, row.raw, list(history), row.line, row.category))
            history.append(row.raw)
    return SETS.frame(found)
