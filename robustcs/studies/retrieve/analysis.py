"""What retrieval has to do, why a question was known or not, and what the store holds, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from robustcs.result import Evaluated, Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Plan(Result):
    """What is answered already.

    plan
        One row per system and one for ``all``: system, turns (with a text), answered (by a given run or by the store),
        to_retrieve, share (answered of turns, 0 to 1), texts (different questions to retrieve; in ``all`` each counts once
        over all systems), run (the file that answers the system, or will; empty in ``all``).
    """

    plan: pd.DataFrame


@dataclass(frozen=True)
class Explanation(Result):
    """Why the questions of one turn are known or not.

    explanation
        system, question (as it is searched), found (hit or miss), why.
    """

    explanation: pd.DataFrame


@dataclass(frozen=True)
class StoreSize(Result):
    """What the store holds.

    store
        index, state (current, changed, gone), ranker, software, questions, passages, bytes (compressed).
    """

    store: pd.DataFrame


def plan(
    evaluated: Evaluated,
    texts: Mapping[str, int],
    missing: Mapping[str, Sequence[str]],
    runs: Mapping[str, str],
) -> Plan:
    """``texts``: system → turns with a text; ``missing``: system → a key per question to retrieve, equal for equal ones."""
    import pandas as pd

    rows = [_row(name, turns, missing[name], runs[name]) for name, turns in texts.items()]
    rows.append(_row("all", sum(texts.values()), [key for some in missing.values() for key in some], ""))
    columns = ["system", "turns", "answered", "to_retrieve", "share", "texts", "run"]
    return Plan(evaluated, pd.DataFrame(rows, columns=columns))


def _row(name: str, turns: int, missing: Sequence[str], run: str) -> tuple[Any, ...]:
    answered = turns - len(missing)
    return name, turns, answered, len(missing), answered / turns if turns else float("nan"), len(set(missing)), run
