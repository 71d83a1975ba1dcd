"""Why a question was known or not, and what the store holds, as tables; the plan of retrieval is in project/retrieved.py."""

from __future__ import annotations

from dataclasses import dataclass

from robustcs.lazy import pd
from robustcs.result import Result, count, table, text


@dataclass(frozen=True)
class Explanation(Result):
    """Why the questions of ``turn`` are known or not."""

    study = "retrieve"
    declared = (
        table(
            "explanation", "Why a question of the turn is known or not.",
            text("system"), text("question", "as it is searched"), text("found", "hit or miss"), text("why"),
        ),
    )  # fmt: skip

    explanation: pd.DataFrame
    turn: str


@dataclass(frozen=True)
class StoreSize(Result):
    """What the store holds.

    path
        Its file.
    """

    study = "retrieve"
    declared = (
        table(
            "store", "What the store of known rankings holds.",
            text("index", header="Index"), text("state", "current, changed or gone", ""), text("ranker", header="Ranker"),
            text("software"), count("questions"), count("passages"), count("bytes", "compressed"),
        ),
    )  # fmt: skip

    store: pd.DataFrame
    path: str
