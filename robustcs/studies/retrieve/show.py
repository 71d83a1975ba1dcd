"""Plans of retrieval, explanations of hits and misses, and the size of the store."""

from __future__ import annotations

from robustcs.documents.document import Block, Card, Cards, TableBlock
from robustcs.documents.tables import Shown, result_table
from robustcs.project.retrieved import Plan, plan_table
from robustcs.result import Result, number
from robustcs.studies.retrieve.analysis import Explanation, StoreSize


def show(result: Result) -> tuple[Block, ...]:
    """Return the plan, the explanation of a turn, or the size of the store."""
    if isinstance(result, Explanation):
        return (_explanation(result),)
    if isinstance(result, StoreSize):
        return (_store(result),)
    assert isinstance(result, Plan)
    return (plan_table(result),)


def _explanation(result: Explanation) -> Cards:
    """Return one card per system."""
    cards = tuple(
        Card(f"{row.system}: {row.found}", (("question", row.question), ("why", row.why)))
        for row in result.explanation.itertuples()
    )
    return Cards("explanation", f"Are the questions of turn {result.turn} answered?", cards)


def _store(result: StoreSize) -> TableBlock:
    """Return one row per index and ranker."""
    columns: list[Shown] = [
        "index", result.spec("store").field("state").called(" "), "ranker", "questions", "passages",
        (number("MB"), lambda row: f"{row.bytes / 1e6:.1f}"),
    ]  # fmt: skip
    note = f"File: {result.path}. --prune deletes the rankings of indexes that have changed or no longer exist."
    return result_table(result, "store", "Which rankings are in the store?", columns, note)
