"""Show the state of the orders and the first passages to judge."""

from __future__ import annotations

from robustcs.documents.document import Block, TableBlock
from robustcs.documents.tables import result_table
from robustcs.studies.judge.analysis import Worklist
from robustcs.wording import counted

#: Rows shown; CSV and JSON contain all.
_SHOWN = 20


def show(result: Worklist) -> tuple[Block, ...]:
    """Return the tables of the orders and the first passages to judge."""
    return *([_orders(result)] if len(result.orders) else []), _worklist(result)


def _orders(result: Worklist) -> TableBlock:
    number, states = len(result.orders), result.orders["state"].value_counts()
    settled = [
        f"{states[state]} {state}" for state in ("proven", "certain", "open") if states.get(state)
    ]
    [row] = result.rows("outlook")
    takes, expected = "", list[str]()
    if result.orders["expected"].notna().any():
        expected = ["expected", "sure"]
        takes = " Expected: mean over the draws of the hole model. Certain: at least 95% of its draws agree on the order."
    if states.get("open") and expected:
        takes += (
            f" To judge: number of passages that will probably settle the order; for all orders about {row.judgments:,} of"
            f" {row.holes:,} (80% range: {row.judgments_low:,} to {row.judgments_high:,})."
        )
    return result_table(
        result, "orders", f"Which system is better? {counted(number, 'order')}: {', '.join(settled)}",
        ["baseline", "system", "metric", "difference", *expected, "state", *(["judgments"] if expected else [])],
        f"Now: baseline minus system. Proven: no grades of the passages below can change the order.{takes}",
        rows=result.orders.sort_values("state", key=lambda column: column != "open", kind="stable"), most=_SHOWN,
    )  # fmt: skip


def _worklist(result: Worklist) -> TableBlock:
    number, judged = len(result.worklist), int(result.worklist["grade"].notna().sum())
    model = ["expected_influence"] if result.worklist["expected_influence"].notna().any() else []
    by = "expected influence" if model else "influence"
    note = "Influence: the largest change that the grade can cause in the compared differences, summed over these."
    note += (
        " Expected: the mean change over the grades that the hole model predicts." if model else ""
    )
    note += f" Topics are ordered by {by}; the passages of a topic by turn, then by {by}. CSV and JSON contain all passages."
    return result_table(
        result, "worklist",
        f"{counted(number, 'passage')} to judge, {judged} judged so far",
        ["turn", "document", "systems", "best_rank", "influence", *model, "grade"], note, most=_SHOWN,
    )  # fmt: skip
