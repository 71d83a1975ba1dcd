"""Test sets of paraphrases: the same conversations in other words.

Source: Al-Thani et al. (2023), "ECAsT", stage 5. Each set draws one paraphrase per turn, and no paraphrase is in two sets.
Manual sets are understood without the conversation; raw sets depend on the earlier paraphrases of the same set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from robustcs.conversations import Conversations
from robustcs.inputs.paraphrases import Paraphrase
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result, computes, count, number, share, table, text
from robustcs.similarity.paraphrases import (
    KINDS,
    SETS,
    TooSimilar,
    draw,
    relation,
    sets_table,
    text_key,
)
from robustcs.wording import counted, some_of

_PER_TURN, _DIFFER, _WITH_TWIN = "paraphrases per turn", "differ by", "paraphrases with a twin"


@dataclass(frozen=True)
class ParaphraseSets(Result):
    """Paraphrases of a file and the sets drawn from them.

    paraphrases, drawn
        Turn → all its paraphrases, and those of the sets.
    """

    study = "testsets"

    statistics = table(
        "statistics", "The paraphrase file, in one row.",
        count("paraphrases"), count("topics"), count("turns"), number("per_turn", "mean", "mean", _PER_TURN),
        count("per_turn_min", header="min", group=_PER_TURN), count("per_turn_max", header="max", group=_PER_TURN),
    )  # fmt: skip
    similar = table(
        "similar", "Pairs of paraphrases of one turn that are equal or nearly equal (stage 4 of the paper).",
        text("kind", "manual or raw"), count("pairs"), count("exact", "equal texts", "the same"),
        count("one_word", header="one word", group=_DIFFER), count("few_characters", header="few characters", group=_DIFFER),
        count("paraphrases", "with an equal or nearly equal one", "number", _WITH_TWIN),
        share("share", "of all paraphrases", group=_WITH_TWIN),
    )  # fmt: skip
    overlaps = table(
        "overlaps", "Turns with too few different texts for disjoint sets.",
        text("turn"), text("kind"), count("texts", "different paraphrases of the turn", "different texts"), count("sets"),
        count("repeated", "sets that share a paraphrase with another set", "sets that share a text"),
    )  # fmt: skip
    sets = SETS
    dropped = table(
        "dropped", "Paraphrases dropped by cleaning, and the texts that they are too similar to. No rows without cleaning.",
        text("turn"), text("kind", "the texts that are too similar: manual or raw"),
        text("relation", "exact, one word, few characters", "difference"), text("dropped", "the dropped text"),
        text("kept", "the text that is kept"), count("line", "line of the paraphrase file"), count("kept_line"),
    )  # fmt: skip

    paraphrases: Mapping[str, Sequence[Paraphrase]]
    drawn: Mapping[str, Sequence[Paraphrase]]

    @computes(similar)
    def _similar(self) -> list[tuple[object, ...]]:
        return _similar(self.paraphrases)

    @computes(overlaps)
    def _overlaps(self) -> list[tuple[object, ...]]:
        return _overlaps(self.paraphrases, self.drawn)


def draw_testsets(
    paraphrases: Mapping[str, Sequence[Paraphrase]],
    sets: int,
    seed: int,
    notes: Sequence[str] = (),
    dropped: Sequence[TooSimilar] = (),
    conversations: Conversations | None = None,
) -> ParaphraseSets:
    """Draw ``sets`` test sets from ``paraphrases``: turn → its paraphrases, the turns in natural order.

    A set takes the manual and the raw text of a turn from the same row of the file, so that the manual text is the right
    rewrite of the raw text. The draw of a turn depends only on the seed and the paraphrases of the turn, not on their order,
    the other turns or the machine. ``dropped`` are the paraphrases that cleaning removed before; ``conversations`` those
    of the project (default: those that the ids show).
    """
    conversations = conversations or Conversations.from_ids(paraphrases)
    drawn = {turn: draw(rows, sets, seed) for turn, rows in paraphrases.items()}
    notes = [f"seed {seed}", *notes, *_gaps(paraphrases, conversations)]
    return ParaphraseSets(
        Evaluated(EvaluationPolicy(), "texts", len(paraphrases), 0, tuple(notes), conversations=conversations),
        paraphrases,
        drawn,
        content=ParaphraseSets.built(
            statistics=[_statistics(paraphrases, conversations)],
            sets=sets_table(drawn, sets, conversations),
            dropped=[_gone(one) for one in dropped],
        ),
    )  # fmt: skip


def _statistics(
    paraphrases: Mapping[str, Sequence[Paraphrase]], conversations: Conversations
) -> dict[str, float]:
    counts = [len(rows) for rows in paraphrases.values()]
    return {
        "paraphrases": sum(counts),
        "topics": len(set(map(conversations.of, paraphrases))),
        "turns": len(counts),
        "per_turn": sum(counts) / len(counts),
        "per_turn_min": min(counts),
        "per_turn_max": max(counts),
    }


def _similar(paraphrases: Mapping[str, Sequence[Paraphrase]]) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for kind in KINDS:
        relations: Counter[str | None] = Counter()
        with_twin: set[int] = set()
        for first, second in chain.from_iterable(
            combinations(rows, 2) for rows in paraphrases.values()
        ):
            alike = relation(getattr(first, kind), getattr(second, kind))
            relations[alike] += 1
            with_twin |= {first.line, second.line} if alike else set()
        numbers = [relations[name] for name in ("exact", "one word", "few characters")]
        share_ = len(with_twin) / sum(map(len, paraphrases.values()))
        found.append((kind, relations.total(), *numbers, len(with_twin), share_))
    return found


def _overlaps(
    paraphrases: Mapping[str, Sequence[Paraphrase]], drawn: Mapping[str, Sequence[Paraphrase]]
) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for turn, rows in drawn.items():
        for kind in KINDS:
            uses = Counter(text_key(getattr(row, kind)) for row in rows)
            repeated = sum(count for count in uses.values() if count > 1)
            if repeated:
                texts = len({text_key(getattr(row, kind)) for row in paraphrases[turn]})
                found.append((turn, kind, texts, len(rows), repeated))
    return found


def _gone(one: TooSimilar) -> tuple[object, ...]:
    texts = getattr(one.dropped, one.kind), getattr(one.kept, one.kind)
    return one.dropped.turn, one.kind, one.relation, *texts, one.dropped.line, one.kept.line


def _gaps(
    paraphrases: Mapping[str, Sequence[Paraphrase]], conversations: Conversations
) -> list[str]:
    """Return a note on conversations with a turn before the last that has no paraphrases."""
    depths: dict[str, set[int]] = {}
    for turn in paraphrases:
        depths.setdefault(conversations.of(turn), set()).add(conversations.depth(turn) or 1)
    short = [topic for topic, known in depths.items() if len(known) < max(known)]
    if not short:
        return []
    topics = counted(len(short), "topic")
    return [
        f"turns without paraphrases are missing from the histories of {topics}: {some_of(short)}"
    ]
