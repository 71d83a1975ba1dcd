"""Test sets of paraphrases: one paraphrase of every turn in each, as disjoint as they can be.

Source: Al-Thani et al. (2023), "ECAsT", stage 5: one paraphrase drawn per turn, several sets without a common paraphrase;
manual sets stand alone, raw sets lean on a history that is made of the paraphrases drawn before.
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
    "sets", "The paraphrase of a turn in a set.",
    count("set", "from 1"), text("turn"), text("manual"), text("raw"),
    text("history", "the raw paraphrases of the earlier turns of the conversation in this set"),
    count("line", "of the paraphrase file"), text("category", "the kind of variation; empty where the file does not say"),
)  # fmt: skip


def draw(rows: Sequence[Paraphrase], sets: int, seed: int) -> list[Paraphrase]:
    """One paraphrase of a turn for each set; no manual and no raw text twice while the turn has enough rows for that.

    The rows are put into random order. Then as many as possible, at most ``sets``, are chosen that share neither text: a
    matching of manual with raw texts (Kuhn's augmenting paths), because the first rows alone could block each other. Where
    these do not suffice, rows whose texts have been used least are taken again.
    """
    shuffled = sorted(rows, key=lambda row: _random_key(row, seed))
    of_raw: dict[str, Paraphrase] = {}

    def place(manual: str, tried: set[str]) -> bool:
        """Give the manual text a row with a raw text of its own, moving others out of the way."""
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
    """A hash orders the rows: random, yet the same on every machine and for every version of Python and numpy."""
    text = "\0".join((str(seed), row.turn, row.manual, row.raw))
    return hashlib.sha256(text.encode()).hexdigest(), row.line


def _keys(row: Paraphrase) -> tuple[tuple[str, str], ...]:
    return tuple((kind, text_key(getattr(row, kind))) for kind in KINDS)


def sets_table(drawn: Mapping[str, Sequence[Paraphrase]], sets: int) -> pd.DataFrame:
    """The sets row by row; ``drawn`` is in natural order, so a conversation's turns stand in the order they were asked."""
    found = []
    for number in range(sets):
        so_far: dict[str, list[str]] = {}
        for turn, rows in drawn.items():
            row = rows[number]
            history = so_far.setdefault(conversation(turn), [])
            found.append((number + 1, turn, row.manual, row.raw, list(history), row.line, row.category))
            history.append(row.raw)
    return SETS.frame(found)
