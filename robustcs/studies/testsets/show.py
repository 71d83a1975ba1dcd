"""Tables of the paraphrase file, similar texts in it, and one conversation of the first sets."""

from __future__ import annotations

from robustcs.documents.document import Block, Card, Cards, Paragraph
from robustcs.documents.tables import result_table
from robustcs.documents.words import number
from robustcs.result import text
from robustcs.similarity.paraphrases import FEW_CHARACTERS
from robustcs.studies.testsets.analysis import ParaphraseSets

#: Rows shown of long tables.
_SHOWN = 10


def show(result: ParaphraseSets) -> tuple[Block, ...]:
    """Return statistics, similar texts, overlaps, and the first conversation of the first two sets."""
    mean = result.spec("statistics").field("per_turn")
    sets = int(result.sets["set"].max())
    tables = (
        result_table(
            result, "statistics", "The paraphrase file",
            ["paraphrases", "topics", "turns", (mean, lambda row: number(row.per_turn, 2)), "per_turn_min", "per_turn_max"]
        ),
        result_table(
            result, "dropped", "Paraphrases dropped as too similar", ["turn", "kind", "relation", "dropped", "kept"],
            "Kept: the earlier text of the pair.", most=_SHOWN
        ),
        result_table(
            result, "similar", "Paraphrases of one turn that are too similar",
            [(text(""), lambda row: row.kind), "pairs", "exact", "one_word", "few_characters", "paraphrases", "share"],
            f"Ignores letter case. Few characters: edit distance of at most {FEW_CHARACTERS}. Twin: an equal or similar text."
        ),
        result_table(
            result, "overlaps", f"Turns with too few different texts for {sets} disjoint sets",
            ["turn", "kind", "texts", "repeated"], most=_SHOWN
        ),
    )  # fmt: skip
    alone = (
        f"No text is in two of the {sets} sets."
        if sets > 1
        else "With one set, no text can be in two sets."
    )
    more: list[Block] = [] if len(result.overlaps) else [Paragraph(alone)]
    return (*(table for table in tables if table.rows), *more, _conversations(result))


def _conversations(result: ParaphraseSets) -> Cards:
    sets = result.sets
    conversations = result.evaluated.conversations_of(sets["turn"])
    topic = conversations.of(sets["turn"].iloc[0])
    chosen = sets[[conversations.of(turn) == topic for turn in sets["turn"]]]
    cards = tuple(
        Card(
            f"Set {number}",
            tuple((row["turn"], f"{row['raw']}\n{row['manual']}") for _, row in part.iterrows()),
        )
        for number, part in chosen[chosen["set"] <= 2].groupby("set")
    )
    return Cards("sets", f"Topic {topic} in other words: raw text above manual text", cards)
