"""What retrieval has to do, as a table: the plan of ``robustcs retrieve``, and of every study that retrieves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from robustcs.documents.tables import Shown, result_table
from robustcs.lazy import pd
from robustcs.result import Evaluated, Result, count, share, table, text

if TYPE_CHECKING:
    from robustcs.documents.document import Table

PLAN = table(
    "plan", "What is answered already: one row for each system, and one for all.",
    text("system"), count("turns", "with a text"),
    count("answered", "by a given run or by the store", "number", "answered"),
    count("to_retrieve", "", "turns", "to retrieve"), share("share", "answered of turns", "share", "answered"),
    count("texts", "different questions to retrieve; for all each counts once over all systems", "texts", "to retrieve"),
    text("run", "the file that answers the system, or will; empty for all"),
)  # fmt: skip


@dataclass(frozen=True)
class Plan(Result):
    """What is answered already, and what is left to retrieve."""

    study = "retrieve"
    declared = (PLAN,)

    plan: pd.DataFrame


def plan(
    evaluated: Evaluated,
    texts: Mapping[str, int],
    missing: Mapping[str, Sequence[str]],
    runs: Mapping[str, str],
) -> Plan:
    """``texts``: system → turns with a text; ``missing``: system → a key per question to retrieve, equal for equal ones."""
    rows = [_row(name, turns, missing[name], runs[name]) for name, turns in texts.items()]
    rows.append(_row("all", sum(texts.values()), [key for some in missing.values() for key in some], ""))
    columns = ["system", "turns", "answered", "to_retrieve", "share", "texts", "run"]
    return Plan(evaluated, pd.DataFrame(rows, columns=columns))


def _row(name: str, turns: int, missing: Sequence[str], run: str) -> tuple[Any, ...]:
    answered = turns - len(missing)
    return name, turns, answered, len(missing), answered / turns if turns else float("nan"), len(set(missing)), run


def plan_table(result: Result) -> Table:
    """The plan for people; the row over all systems is ruled off."""
    rows = result.tables["plan"]
    columns: list[Shown] = [PLAN.field("system").called(" "), "turns", "answered", "share", "to_retrieve", "texts", "run"]
    note = "Texts: different questions; a question counts once over all systems."
    return result_table(result, "plan", "What is answered already?", columns, note, rules=[len(rows) - 1])
