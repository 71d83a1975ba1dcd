"""Passages chosen for annotation."""

from __future__ import annotations

from robustcs.documents.document import Block, Column, Table
from robustcs.studies.passages.analysis import PassageChoice

#: Passages and turns of the tables for people; JSON and CSV have all.
SHOWN = 10
_EXCERPT = 90


def present_passages(result: PassageChoice, per_turn: int) -> tuple[Block, ...]:
    """How many were chosen by grade, the first of them, and the turns that have too few."""
    short = result.turns[result.turns["chosen"] < per_turn]
    blocks = [_grades(result), _passages(result)]
    return (*blocks, *([_short(result, per_turn)] if len(short) else []))


def _grades(result: PassageChoice) -> Table:
    counts = result.passages.groupby(["grade", "chosen"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=["grade", "cluster"], fill_value=0).sort_index(ascending=False)
    rows = tuple((str(grade), str(row["grade"]), str(row["cluster"])) for grade, row in counts.iterrows())
    columns = (
        Column("Grade", "left"), Column("all of the grade", group="taken as"), Column("one of a cluster", group="taken as"),
    )  # fmt: skip
    total = len(result.passages)
    return Table(
        "grades", "Which grades do the chosen passages have?", columns, rows,
        f"{total:,} passages of {int((result.turns['chosen'] > 0).sum())} turns.",
    )  # fmt: skip


def _passages(result: PassageChoice) -> Table:
    chosen = result.passages.head(SHOWN)
    rows = tuple(
        (row.turn, row.passage, str(row.grade), row.text if len(row.text) <= _EXCERPT else f"{row.text[: _EXCERPT - 1]}…")
        for row in chosen.itertuples()
    )
    columns = (Column("Turn", "left"), Column("Passage", "left"), Column("grade"), Column("Text", "left"))
    return Table(
        "passages", "Which passages should be annotated?", columns, rows,
        f"{len(rows)} of {len(result.passages):,}; CSV and JSON have all, with their whole text.",
    )  # fmt: skip


def _short(result: PassageChoice, per_turn: int) -> Table:
    short = result.turns[result.turns["chosen"] < per_turn]
    rows = tuple(
        (row.turn, str(row.chosen), str(row.relevant), str(row.without_text)) for row in short.head(SHOWN).itertuples()
    )
    columns = (Column("Turn", "left"), Column("chosen"), Column("relevant"), Column("without text"))
    return Table(
        "turns", f"Which turns have fewer than {per_turn}?", columns, rows,
        f"{len(rows)} of {len(short)} turns; relevant: passages at or above the relevance level.",
    )  # fmt: skip
