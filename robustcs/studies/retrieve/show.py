"""Plans of retrieval, explanations of hits and misses, and the size of the store."""

from __future__ import annotations

from robustcs.documents.document import Block, Card, Cards, Table
from robustcs.documents.tables import Shown, result_table
from robustcs.project.retrieved import Plan, plan_table
from robustcs.result import Result, number
from robustcs.studies.retrieve.analysis import Explanation, StoreSize


def show(result: Result) -> tuple[Block, ...]:
    """The plan; or why a turn is known; or what the store holds."""
    if isinstance(result, Explanation):
        return (_explanation(result),)
    if isinstance(result, StoreSize):
        return (_store(result),)
    assert isinstance(result, Plan)
    return (plan_table(result),)


def _explanation(result: Explanation) -> Cards:
    """One card per system."""
    cards = tuple(
        Card(f"{row.system}: {row.found}", (("question", row.question), ("why", row.why)))
        for row in result.explanation.itertuples()
    )
    return Cards("explanation", f"Is turn {result.turn} known?", cards)


def _store(result: StoreSize) -> Table:
    """One row per index and ranker."""
    columns: list[Shown] = [
        "index", result.spec("store").field("state").called(" "), "ranker", "questions", "passages",
        (number("MB"), lambda row: f"{row.bytes / 1e6:.1f}"),
    ]  # fmt: skip
    note = f"In {result.path}. --set prune=true deletes what belongs to an index that has changed or is gone."
    return result_table(result, "store", "What does the store hold?", columns, note)
