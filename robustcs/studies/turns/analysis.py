"""The turns that a filter selects, with everything known about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robustcs.policy import Evaluated
from robustcs.records.schema import TurnRecord
from robustcs.result import Result, computes, count, measure, score, table, text


def _no_record(turn: str, *, complete: bool = True) -> TurnRecord:
    raise KeyError(turn)


@dataclass(frozen=True)
class TurnList(Result):
    """The turns that a filter selects, in an order.

    where, sort
        The filter and the order.
    selected, known
        Number of turns that the filter selects, and of all turns.
    cut
        Measure and threshold of the causes, ``("ndcg_cut_3", ">=0.5")``; None without scores.
    systems
        The systems that are shown.
    ids
        The turns.
    record
        Returns the record of a turn; with ``complete=False`` without the fields on request.
    one
        Whether a single turn is shown with all its details.
    passages
        Passage → text, for a single turn.
    """

    study = "turns"
    turns = table(
        "turns",
        "Scores of every selected turn, one row per system.",
        text("turn", header="Turn"),
        text("conversation"),
        count("depth", "place in the conversation, from 1; null if unknown"),
        text("system", header="System"),
        text("text", "text of the question, if the system is a formulation"),
        measure("metric", "the headline measure, or that of at:; null without scores"),
        score("score", "null if the turn is not scored"),
        count("first", "rank of the first relevant passage in the run; null if there is none"),
        text("cause", "correct, rewriter, ranker or reader (robustcs breakdown); null if unknown"),
        text("outcome", "the outcome of the answer (robustcs answers); null if unknown"),
    )
    records = table(
        "records",
        "Everything known about every selected turn.",
        text("turn"),
        text("record", "the object of turns.jsonl (docs/record.md); in CSV as JSON"),
    )

    where: str = ""
    sort: str = "id"
    selected: int = 0
    known: int = 0
    cut: tuple[str, str] | None = None
    systems: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    record: Callable[..., TurnRecord] = field(default=_no_record, repr=False)
    one: bool = False
    passages: Mapping[str, str] = field(default_factory=dict, repr=False)

    @computes(turns)
    def _turns(self) -> list[tuple[Any, ...]]:
        name, threshold = self.cut or ("", "")
        found: list[tuple[Any, ...]] = []
        for turn in self.ids:
            found += _rows(self.record(turn, complete=False), name, threshold)
        return found

    @computes(records)
    def _records(self) -> list[tuple[Any, ...]]:
        return [(turn, self.record(turn)) for turn in self.ids]


def turn_list(
    ids: Sequence[str],
    record: Callable[..., TurnRecord],
    evaluated: Evaluated,
    measure_name: str,
    threshold: str,
    **settings: Any,
) -> TurnList:
    """Return the list of turns.

    ids, record
        The selected turns in their order, and the function that returns the record of one.
    measure_name, threshold
        Of the scores and causes in the table of turns; empty without scores.
    settings
        See :class:`TurnList`.
    """
    return TurnList(
        evaluated,
        cut=(measure_name, threshold) if measure_name else None,
        ids=tuple(ids),
        record=record,
        **settings,
    )


def _rows(record: TurnRecord, name: str, threshold: str) -> list[tuple[Any, ...]]:
    """Return one row per system of a turn."""
    rows: list[tuple[Any, ...]] = []
    for system, own in record["systems"].items():
        rows.append(
            (
                record["turn"],
                record["conversation"],
                record["depth"],
                system,
                record["texts"].get(system),
                name or None,
                own["scores"].get(name),
                own.get("first_relevant"),
                own.get("cause", {}).get(f"{name}{threshold}"),
                own.get("outcome"),
            )
        )
    return rows
