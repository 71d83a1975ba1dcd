"""Test sets of paraphrases: the same conversations in other words.

Source: Al-Thani et al. (2023), "ECAsT", stage 5: one paraphrase drawn per turn, several sets without a common paraphrase;
manual sets stand alone, raw sets lean on a history that is made of the paraphrases drawn before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from robustcs.inputs.paraphrases import Paraphrase
from robustcs.inputs.turns import conversation, turn_depth
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result, count, number, share, table, text
from robustcs.similarity.near_duplicates import TooSimilar, relation, text_key
from robustcs.similarity.testsets import KINDS, SETS, draw, sets_table
from robustcs.wording import counted, some_of

_PER_TURN, _DIFFER, _WITH_TWIN = "paraphrases per turn", "differ by", "paraphrases with such a twin"
_STATISTICS = table(
    "statistics", "The paraphrase file, in one row.",
    count("paraphrases"), count("topics"), count("turns"), number("per_turn", "mean", "mean", _PER_TURN),
    count("per_turn_min", header="min", group=_PER_TURN), count("per_turn_max", header="max", group=_PER_TURN),
)  # fmt: skip
_SIMILAR = table(
    "similar", "Paraphrases of one turn that are the same or nearly (stage 4 of the paper).",
    text("kind", "manual or raw"), count("pairs"), count("exact", "the same text", "the same"),
    count("one_word", header="one word", group=_DIFFER), count("few_characters", header="few characters", group=_DIFFER),
    count("paraphrases", "that have such a twin", "number", _WITH_TWIN), share("share", "of all", group=_WITH_TWIN),
)  # fmt: skip
_OVERLAPS = table(
    "overlaps", "What could not be kept disjoint.",
    text("turn"), text("kind"), count("texts", "distinct ones that the turn has", "different texts"), count("sets"),
    count("repeated", "sets whose paraphrase another set has too", "sets that share a text"),
)  # fmt: skip
_CATEGORIES = table(
    "categories", "Paraphrases by category, where the file has any.",
    text("category"), count("paraphrases"), count("turns", "that have one"),
)  # fmt: skip
_DROPPED = table(
    "dropped", "What cleaning left out, and what it is too similar to. No rows without cleaning.",
    text("turn"), text("kind", "manual or raw: the texts that are too similar"),
    text("relation", "exact, one word, few characters", "difference"), text("dropped", "its text"),
    text("kept", "the text that stays"), count("line", "of the paraphrase file"), count("kept_line"),
)  # fmt: skip
_TWINS = table(
    "twins", "The pairs behind similar.",
    text("kind"), text("turn"), text("relation", "exact, one word, few characters", "difference"), text("first", "its text"),
    text("second", "its text"), count("first_line", "of the paraphrase file"), count("second_line"),
)  # fmt: skip


@dataclass(frozen=True)
class ParaphraseSets(Result):
    """Paraphrases of a file and the sets drawn from them."""

    study = "testsets"
    declared = (_STATISTICS, _SIMILAR, _OVERLAPS, _TWINS, SETS, _CATEGORIES, _DROPPED)

    statistics: pd.DataFrame
    similar: pd.DataFrame
    overlaps: pd.DataFrame
    twins: pd.DataFrame
    sets: pd.DataFrame
    categories: pd.DataFrame
    dropped: pd.DataFrame


def draw_testsets(
    paraphrases: Mapping[str, Sequence[Paraphrase]],
    sets: int,
    seed: int,
    notes: Sequence[str] = (),
    dropped: Sequence[TooSimilar] = (),
) -> ParaphraseSets:
    """Draw ``sets`` test sets; ``paraphrases`` are turn → its paraphrases, the turns in natural order.

    One row of the file gives a set both its manual and its raw text of the turn, so that the one is the right rewrite of
    the other. Seeded: the draw of a turn depends on the seed and on its own paraphrases only, not on their order, the
    other turns or the machine. ``dropped`` is what cleaning left out before.
    """
    drawn = {turn: draw(rows, sets, seed) for turn, rows in paraphrases.items()}
    twins = _twins(paraphrases)
    notes = [f"seed {seed}", *notes, *_gaps(paraphrases)]
    return ParaphraseSets(
        Evaluated(EvaluationPolicy(), "texts", len(paraphrases), 0, tuple(notes)),
        _STATISTICS.frame([_statistics(paraphrases)]),
        _similar(paraphrases, twins),
        _overlaps(paraphrases, drawn),
        twins,
        sets_table(drawn, sets),
        _categories(paraphrases),
        _DROPPED.frame([_gone(one) for one in dropped]),
    )


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
    found = []
    for kind in KINDS:
        for turn, rows in paraphrases.items():
            for first, second in combinations(rows, 2):
                texts = getattr(first, kind), getattr(second, kind)
                alike = relation(*texts)
                if alike:
                    found.append((kind, turn, alike, *texts, first.line, second.line))
    return _TWINS.frame(found)


def _similar(paraphrases: Mapping[str, Sequence[Paraphrase]], twins: pd.DataFrame) -> pd.DataFrame:
    counts = [len(rows) for rows in paraphrases.values()]
    found = []
    for kind in KINDS:
        part = twins[twins["kind"] == kind]
        number = {name: int((part["relation"] == name).sum()) for name in ("exact", "one word", "few characters")}
        with_twin = len(set(part["first_line"]) | set(part["second_line"]))
        pairs = sum(count * (count - 1) // 2 for count in counts)
        found.append((kind, pairs, *number.values(), with_twin, with_twin / sum(counts)))
    return _SIMILAR.frame(found)


def _overlaps(paraphrases: Mapping[str, Sequence[Paraphrase]], drawn: Mapping[str, Sequence[Paraphrase]]) -> pd.DataFrame:
    found = []
    for turn, rows in drawn.items():
        for kind in KINDS:
            uses = Counter(text_key(getattr(row, kind)) for row in rows)
            repeated = sum(count for count in uses.values() if count > 1)
            if repeated:
                texts = len({text_key(getattr(row, kind)) for row in paraphrases[turn]})
                found.append((turn, kind, texts, len(rows), repeated))
    return _OVERLAPS.frame(found)


def _categories(paraphrases: Mapping[str, Sequence[Paraphrase]]) -> pd.DataFrame:
    turns: dict[str, list[str]] = {}
    for turn, rows in paraphrases.items():
        for row in rows:
            if row.category:
                turns.setdefault(row.category, []).append(turn)
    return _CATEGORIES.frame([(category, len(some), len(set(some))) for category, some in turns.items()])


def _gone(one: TooSimilar) -> tuple[object, ...]:
    texts = getattr(one.dropped, one.kind), getattr(one.kept, one.kind)
    return one.dropped.turn, one.kind, one.relation, *texts, one.dropped.line, one.kept.line


def _gaps(paraphrases: Mapping[str, Sequence[Paraphrase]]) -> list[str]:
    """A note on conversations of which a turn before the last has no paraphrases."""
    depths: dict[str, set[int]] = {}
    for turn in paraphrases:
        depths.setdefault(conversation(turn), set()).add(turn_depth(turn) or 1)
    short = [topic for topic, known in depths.items() if len(known) < max(known)]
    if not short:
        return []
    topics = counted(len(short), "topic")
    return [f"turns without paraphrases are missing from the histories of {topics}: {some_of(short)}"]
