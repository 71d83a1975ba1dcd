"""Show the passages to judge: by topic, and the first of them."""

from __future__ import annotations

from robustcs.documents.document import Block, Table
from robustcs.documents.tables import result_table
from robustcs.documents.words import measure_label
from robustcs.studies.judge.analysis import Worklist
from robustcs.wording import counted

#: Rows shown; CSV and JSON contain all.
_SHOWN = 20


def show(result: Worklist) -> tuple[Block, ...]:
    """Return the tables of the orders, the topics and the first passages to judge."""
    return *([_orders(result)] if len(result.orders) else []), _topics(result), _holes(result)


def _orders(result: Worklist) -> Table:
    number, states = len(result.orders), result.orders["state"].value_counts()
    settled = [f"{states[state]} {state}" for state in ("proven", "certain", "open") if states.get(state)]
    [row] = result.outlook.itertuples()
    takes, expected, left = "", list[str](), row.holes
    if result.orders["expected"].notna().any():
        expected = ["expected", "sure"]
        takes = " Expected: mean over the draws of the hole model. Certain: at least 95% of its draws agree on the order."
    if row.open and expected:
        takes += (
            f" To judge: number of passages that will probably settle the order; for all orders about {row.judgments:,} of"
            f" {left:,} (80% range: {row.judgments_low:,} to {row.judgments_high:,})."
        )
    return result_table(
        result, "orders", f"Which system is better? {counted(number, 'order')}: {', '.join(settled)}"
        + (f" (first {_SHOWN}, open orders first)" if number > _SHOWN else ""),
        ["baseline", "system", "metric", "difference", *expected, "state", *(["judgments"] if expected else [])],
        f"Now: baseline minus system. Proven: no grades of the passages below can change the order.{takes}",
        rows=result.orders.sort_values("state", key=lambda column: column != "open", kind="stable").head(_SHOWN),
    )  # fmt: skip


def _topics(result: Worklist) -> Table:
    judged = int(result.worklist["grade"].notna().sum())
    return result_table(
        result, "topics", f"{counted(len(result.worklist), 'passage')} to judge, {judged} judged so far, by topic",
        ["topic", "turns", "holes", "judged", "influence", *_expected(result)],
        f"Influence: the largest change that a grade can cause in {_compared(result)}, summed over comparisons and passages."
        + (" Expected: the mean change over the grades that the hole model predicts." if _expected(result) else ""),
    )  # fmt: skip


def _holes(result: Worklist) -> Table:
    number, by = len(result.worklist), "expected influence" if _expected(result) else "influence"
    return result_table(
        result, "worklist",
        "Passages to judge, in this order" + (f": the first {_SHOWN} of {number}" if number > _SHOWN else ""),
        ["turn", "document", "systems", "best_rank", "influence", *_expected(result), "grade"],
        f"Topics are ordered by {by}; the passages of a topic by turn, then by {by}. CSV and JSON contain all passages.",
        rows=result.worklist.head(_SHOWN),
    )  # fmt: skip


def _expected(result: Worklist) -> list[str]:
    """Return the column of the expected influence if it has values."""
    return ["expected_influence"] if result.worklist["expected_influence"].notna().any() else []


def _compared(result: Worklist) -> str:
    measures = ", ".join(measure_label(name) for name in dict.fromkeys(result.comparisons["metric"]))
    pairs = list(dict.fromkeys(zip(result.comparisons["baseline"], result.comparisons["system"], strict=True)))
    if not pairs[0][0]:
        return f"{measures} of {pairs[0][1]}"
    names = dict.fromkeys(name for pair in pairs for name in pair)
    if len(pairs) > 1 and len(pairs) == len(names) * (len(names) - 1) // 2:
        return f"the differences in {measures} between all pairs of {len(names)} systems"
    sets: dict[str, list[str]] = {}
    for baseline, system in pairs:
        sets.setdefault(baseline, []).append(system)
    return f"the differences in {measures} between " + "; ".join(f"{name} and {', '.join(of)}" for name, of in sets.items())
