"""Explanations of known and open questions, and the size of the store. The plan of retrieval is in project/retrieved.py."""

from __future__ import annotations

from dataclasses import dataclass

from robustcs.result import Result, count, table, text


@dataclass(frozen=True)
class Explanation(Result):
    """Reasons why the questions of ``turn`` are answered or not."""

    study = "retrieve"
    explanation = table(
        "explanation", "Why the questions of a turn are answered or not.",
        text("system"), text("question", "as sent to the retriever"), text("found", "hit or miss"), text("why"),
    )  # fmt: skip

    turn: str


@dataclass(frozen=True)
class StoreSize(Result):
    """The size of the store of rankings.

    path
        The file of the store.
    """

    study = "retrieve"
    store = table(
        "store", "Rankings in the store, by index and ranker.",
        text("index", header="Index"), text("state", "current, changed or gone", ""), text("ranker", header="Ranker"),
        text("software"), count("questions"), count("passages"), count("bytes", "compressed size"),
    )  # fmt: skip

    path: str
