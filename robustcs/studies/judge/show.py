"""The holes worth judging: by topic, and the first of them."""

from __future__ import annotations

from robustcs.documents.document import Block, Table
from robustcs.documents.tables import result_table
from robustcs.documents.words import measure_label
from robustcs.studies.judge.analysis import Worklist
from robustcs.wording import counted

#: Holes that people are shown; CSV and JSON have all of them.
_SHOWN = 20


def show(result: Worklist) -> tuple[Block, ...]:
    """What is settled, then one table of topics and one of the first holes, both in the order of work."""
    return *([_orders(result)] if len(result.orders) else []), _topics(result), _holes(result)


def _orders(result: Worklist) -> Table:
    number, states = len(result.orders), result.orders["state"].value_counts()
    settled = [f"{states[state]} {state}" for state in ("proven", "certain") if states.get(state)]
    [row] = result.outlook.itertuples()
    takes, expected = "", list[str]()
    if result.orders["expected"].notna().any():
        expected = ["expected", "sure"]
        takes = " Expected: mean over what the hole model draws. Certain: 95 % of its draws agree."
    if row.open and expected:
        takes += (
            f" To judge: that many passages probably settle it; until all are settled, about {row.judgments:,} of"
            f" {row.holes:,} (80 %: {row.judgments_low:,} to {row.judgments_high:,})."
        )
    return result_table(
        result, "orders", f"Which is better? {', '.join(settled) or 'Nothing settled'} of {counted(number, 'order')}"
        + (f": the first {_SHOWN}, open ones first" if number > _SHOWN else ""),
        ["baseline", "system", "metric", "difference", *expected, "state", *(["judgments"] if expected else [])],
        f"Baseline minus system. Proven: the same whatever the grades of the {counted(row.holes, 'passage')} below.{takes}",
        rows=result.orders.sort_values("state", key=lambda column: column != "open", kind="stable").head(_SHOWN),
    )  # fmt: skip


def _topics(result: Worklist) -> Table:
    judged = int(result.worklist["grade"].notna().sum())
    return result_table(
        result, "topics", f"{len(result.worklist)} unjudged passages, {judged} of them judged since, by topic",
        ["topic", "turns", "holes", "judged", "influence", *_expected(result)],
        f"Influence: the most that grades can change {_compared(result)}, added up over the comparisons and holes."
        + (" Expected: the mean over the grades that the hole model predicts." if _expected(result) else ""),
    )  # fmt: skip


def _holes(result: Worklist) -> Table:
    holes, by = len(result.worklist), "expected influence" if _expected(result) else "influence"
    return result_table(
        result, "worklist", "Passages to judge, in this order" + (f": the first {_SHOWN} of {holes}" if holes > _SHOWN else ""),
        ["turn", "document", "systems", "best_rank", "influence", *_expected(result), "grade"],
        f"One topic at a time, topics by {by}; in a topic by turn, then by {by}. CSV and JSON have all passages.",
        rows=result.worklist.head(_SHOWN),
    )  # fmt: skip


def _expected(result: Worklist) -> list[str]:
    """The column of the expected influence, where there is one."""
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
    return f"the differences in {measures} of " + "; ".join(f"{name} and {', '.join(of)}" for name, of in sets.items())
