"""Test sets: what the paraphrase file holds, what is nearly the same in it, and one conversation of every set to read."""

from __future__ import annotations

from robustcs.documents.document import Block, Card, Cards, Column, Paragraph, Table
from robustcs.documents.words import percent
from robustcs.inputs.turns import conversation
from robustcs.similarity.near_duplicates import FEW_CHARACTERS
from robustcs.studies.testsets.analysis import ParaphraseSets

#: Rows shown of tables that can be long.
_SHOWN = 10


def present_testsets(result: ParaphraseSets) -> tuple[Block, ...]:
    """Statistics, near-duplicates, overlaps, and the first conversation of the first sets."""
    blocks: list[Block] = [_statistics(result), _similar(result)]
    if len(result.twins):
        blocks.append(_twins(result))
    blocks += [_overlaps(result), _conversations(result)]
    return tuple(blocks)


def _statistics(result: ParaphraseSets) -> Table:
    row = result.statistics.iloc[0]
    return Table(
        "statistics", "The paraphrase file",
        (*(Column(title) for title in ("paraphrases", "topics", "turns")),
         *(Column(title, group="paraphrases per turn") for title in ("mean", "min", "max"))),
        ((*(f"{int(row[name]):,}" for name in ("paraphrases", "topics", "turns")), f"{row['per_turn']:.2f}",
          str(int(row["per_turn_min"])), str(int(row["per_turn_max"]))),),
    )  # fmt: skip


def _similar(result: ParaphraseSets) -> Table:
    rows = tuple(
        (str(row["kind"]), f"{row['pairs']:,}", *(f"{row[name]:,}" for name in ("exact", "one_word", "few_characters")),
         f"{row['paraphrases']:,}", percent(row["share"]))
        for _, row in result.similar.iterrows()
    )  # fmt: skip
    columns = (
        Column("", "left"), Column("pairs"), Column("the same"), Column("one word", group="differ by"),
        Column("few characters", group="differ by"), Column("number", group="paraphrases with such a twin"),
        Column("share", group="paraphrases with such a twin"),
    )  # fmt: skip
    return Table(
        "similar", "Paraphrases of one turn that are too similar", columns, rows,
        f"Without regard to letter case. Few characters: an edit distance of at most {FEW_CHARACTERS}.",
    )  # fmt: skip


def _twins(result: ParaphraseSets) -> Table:
    shown = result.twins.drop_duplicates("turn").groupby("relation", sort=False).head(4).head(_SHOWN)
    rows = tuple(
        (row["turn"], row["relation"], row["first"], row["second"]) for _, row in shown.iterrows()
    )  # fmt: skip
    columns = tuple(Column(title, "left") for title in ("turn", "difference", "first", "second"))
    return Table("twins", "Examples of them", columns, rows, f"{len(rows)} of {len(result.twins):,} pairs.")


def _overlaps(result: ParaphraseSets) -> Table | Paragraph:
    overlaps = result.overlaps
    sets = int(result.sets["set"].max())
    if not len(overlaps):
        return Paragraph(f"No text stands in two of the {sets} sets." if sets > 1 else "One set: nothing to keep disjoint.")
    rows = tuple(
        (row["turn"], row["kind"], str(row["texts"]), str(row["repeated"])) for _, row in overlaps.head(_SHOWN).iterrows()
    )
    return Table(
        "overlaps", f"What {sets} sets could not keep disjoint",
        (Column("turn", "left"), Column("kind", "left"), Column("different texts"), Column("sets that share a text")),
        rows, f"{len(rows)} of {len(overlaps):,} cases.",
    )  # fmt: skip


def _conversations(result: ParaphraseSets) -> Cards:
    sets = result.sets
    topic = conversation(sets["turn"].iloc[0])
    chosen = sets[[conversation(turn) == topic for turn in sets["turn"]]]
    cards = tuple(
        Card(f"Set {number}", tuple((row["turn"], f"{row['raw']}\n{row['manual']}") for _, row in part.iterrows()))
        for number, part in chosen[chosen["set"] <= 2].groupby("set")
    )
    return Cards("sets", f"Topic {topic} in other words: raw, and below it manual", cards)
