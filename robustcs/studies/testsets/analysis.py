"""Test sets of paraphrases: the same conversations in other words.

Source: Al-Thani et al. (2023), "ECAsT", stage 5: one paraphrase drawn per turn, several sets without a common paraphrase;
manual sets stand alone, raw sets lean on a history that is made of the paraphrases drawn before.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from robustcs.inputs.paraphrases import Paraphrase
from robustcs.inputs.turns import conversation, turn_depth
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result
from robustcs.similarity.near_duplicates import relation, text_key

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("manual", "raw")


@dataclass(frozen=True)
class ParaphraseSets(Result):
    """Paraphrases of a file and the sets drawn from them.

    statistics
        One row: paraphrases, topics, turns, per_turn (their mean number), per_turn_min, per_turn_max.
    similar
        Per kind (manual, raw): pairs of paraphrases of one turn, and of these exact (the same text), one_word and
        few_characters (nearly the same, stage 4 of the paper); paraphrases (that have such a twin), share of all.
    overlaps
        What could not be kept disjoint: turn, kind, texts (distinct ones that the turn has), sets, repeated (sets whose
        paraphrase another set has too).
    twins
        The pairs behind ``similar``: kind, turn, relation, first, second (texts), first_line, second_line.
    sets
        set (from 1), turn, manual, raw, history (the raw paraphrases of the earlier turns of the conversation in this set),
        line (of the paraphrase file).
    """

    statistics: pd.DataFrame
    similar: pd.DataFrame
    overlaps: pd.DataFrame
    twins: pd.DataFrame
    sets: pd.DataFrame


def draw_testsets(paraphrases: Mapping[str, Sequence[Paraphrase]], sets: int, seed: int) -> ParaphraseSets:
    """Draw ``sets`` test sets; ``paraphrases`` are turn → its paraphrases, the turns in natural order.

    One row of the file gives a set both its manual and its raw text of the turn, so that the one is the right rewrite of
    the other. Seeded: the draw of a turn depends on the seed and on its own paraphrases only, not on their order, the
    other turns or the machine.
    """
    import pandas as pd

    drawn = {turn: draw(rows, sets, seed) for turn, rows in paraphrases.items()}
    twins = _twins(paraphrases)
    notes = [f"seed {seed}", *_gaps(paraphrases)]
    return ParaphraseSets(
        Evaluated(EvaluationPolicy(), "texts", len(paraphrases), 0, tuple(notes)),
        pd.DataFrame([_statistics(paraphrases)]),
        _similar(paraphrases, twins),
        _overlaps(paraphrases, drawn),
        twins,
        _sets(drawn, sets),
    )


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


def _statistics(paraphrases: Mapping[str, Sequence[Paraphrase]]) -> dict[str, float]:
    counts = [len(rows) for rows in paraphrases.values()]
    return {
        "paraphrases": sum(counts),
        "topics": len({conversation(turn) for turn in paraphrases}),
        "turns": len(counts),
        "per_turn": sum(counts) / len(counts),
        "per_turn_min": min(counts),
        "per_turn_max": max(counts),
    }


def _twins(paraphrases: Mapping[str, Sequence[Paraphrase]]) -> pd.DataFrame:
    import pandas as pd

    found = []
    for kind in KINDS:
        for turn, rows in paraphrases.items():
            for first, second in combinations(rows, 2):
                texts = getattr(first, kind), getattr(second, kind)
                alike = relation(*texts)
                if alike:
                    found.append((kind, turn, alike, *texts, first.line, second.line))
    return pd.DataFrame(found, columns=["kind", "turn", "relation", "first", "second", "first_line", "second_line"])


def _similar(paraphrases: Mapping[str, Sequence[Paraphrase]], twins: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    counts = [len(rows) for rows in paraphrases.values()]
    found = []
    for kind in KINDS:
        part = twins[twins["kind"] == kind]
        number = {name: int((part["relation"] == name).sum()) for name in ("exact", "one word", "few characters")}
        with_twin = len(set(part["first_line"]) | set(part["second_line"]))
        pairs = sum(count * (count - 1) // 2 for count in counts)
        found.append((kind, pairs, *number.values(), with_twin, with_twin / sum(counts)))
    return pd.DataFrame(
        found, columns=["kind", "pairs", "exact", "one_word", "few_characters", "paraphrases", "share"]
    )


def _overlaps(
    paraphrases: Mapping[str, Sequence[Paraphrase]], drawn: Mapping[str, Sequence[Paraphrase]]
) -> pd.DataFrame:
    import pandas as pd

    found = []
    for turn, rows in drawn.items():
        for kind in KINDS:
            uses = Counter(text_key(getattr(row, kind)) for row in rows)
            repeated = sum(count for count in uses.values() if count > 1)
            if repeated:
                texts = len({text_key(getattr(row, kind)) for row in paraphrases[turn]})
                found.append((turn, kind, texts, len(rows), repeated))
    return pd.DataFrame(found, columns=["turn", "kind", "texts", "sets", "repeated"])


def _sets(drawn: Mapping[str, Sequence[Paraphrase]], sets: int) -> pd.DataFrame:
    """The sets row by row; ``drawn`` is in natural order, so a conversation's turns stand in the order they were asked."""
    import pandas as pd

    found = []
    for number in range(sets):
        so_far: dict[str, list[str]] = {}
        for turn, rows in drawn.items():
            row = rows[number]
            history = so_far.setdefault(conversation(turn), [])
            found.append((number + 1, turn, row.manual, row.raw, list(history), row.line))
            history.append(row.raw)
    return pd.DataFrame(found, columns=["set", "turn", "manual", "raw", "history", "line"])


def _gaps(paraphrases: Mapping[str, Sequence[Paraphrase]]) -> list[str]:
    """A note on conversations of which a turn before the last has no paraphrases."""
    depths: dict[str, set[int]] = {}
    for turn in paraphrases:
        depths.setdefault(conversation(turn), set()).add(turn_depth(turn) or 1)
    short = [topic for topic, known in depths.items() if len(known) < max(known)]
    if not short:
        return []
    plural = "s" * (len(short) != 1)
    some = ", ".join(short[:5]) + (" …" if len(short) > 5 else "")
    return [f"turns without paraphrases are missing from the histories of {len(short)} topic{plural}: {some}"]
