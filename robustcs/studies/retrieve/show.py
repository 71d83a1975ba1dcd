"""Plans of retrieval, explanations of hits and misses, and the size of the store."""

from __future__ import annotations

from robustcs.documents.document import Block, Card, Cards, Column, Table
from robustcs.documents.words import percent
from robustcs.studies.retrieve.analysis import Explanation, Plan, StoreSize


def present_plan(result: Plan) -> tuple[Block, ...]:
    """One table; the row over all systems is ruled off."""
    rows = tuple(
        (row.system, str(row.turns), str(row.answered), percent(row.share), str(row.to_retrieve), str(row.texts), row.run)
        for row in result.plan.itertuples()
    )
    columns = (
        Column("", "left"), Column("turns"), Column("number", group="answered"), Column("share", group="answered"),
        Column("turns", group="to retrieve"), Column("texts", group="to retrieve"), Column("run", "left"),
    )  # fmt: skip
    note = "Texts: different questions; a question counts once over all systems."
    return (Table("plan", "What is answered already?", columns, rows, note, frozenset({len(rows) - 1})),)


def present_explanation(result: Explanation, turn: str) -> tuple[Block, ...]:
    """One card per system."""
    cards = tuple(
        Card(f"{row.system}: {row.found}", (("question", row.question), ("why", row.why)))
        for row in result.explanation.itertuples()
    )
    return (Cards("explanation", f"Is turn {turn} known?", cards),)


def present_store(result: StoreSize, path: str) -> tuple[Block, ...]:
    """One row per index and ranker."""
    rows = tuple(
        (row.index, row.state, row.ranker, f"{row.questions:,}", f"{row.passages:,}", f"{row.bytes / 1e6:.1f}")
        for row in result.store.itertuples(index=False)
    )
    columns = (
        Column("Index", "left"), Column("", "left"), Column("Ranker", "left"), Column("questions"), Column("passages"),
        Column("MB"),
    )  # fmt: skip
    note = f"In {path}. --prune deletes what belongs to an index that has changed or is gone."
    return (Table("store", "What does the store hold?", columns, rows, note),)
