"""The turns of a comparison for the page: every changed turn, with each run in both states."""

from __future__ import annotations

from typing import cast

import numpy as np

from robustcs.conversations import Conversations
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label
from robustcs.evaluation.state import SHOWN as BEST
from robustcs.records.record import TurnRecords
from robustcs.records.recorded import RecordedTurns
from robustcs.records.schema import SystemRecord, TurnRecord
from robustcs.records.table import (
    BETWEEN_TEXTS,
    NO_SYSTEM,
    Contribution,
    FieldColumns,
    TurnField,
    TurnTable,
    Values,
    aligned_numbers,
)
from robustcs.studies.compare.analysis import Comparison


def changed_turns(result: Comparison) -> TurnRecords:
    """Return the turns whose score changed; ``RUN, old`` and ``RUN, new`` are systems."""
    metrics, ids = (list(dict.fromkeys(result.turns[name])) for name in ("metric", "turn"))
    headline = headline_measure(metrics)
    conversations = result.evaluated.conversations_of(ids)
    records = {turn: _record(result, turn, conversations) for turn in ids}
    details = RecordedTurns(records, result.passages, cutoff=BEST)
    columns = FieldColumns(_columns(result, records, metrics, headline))
    table = TurnTable(ids, columns, lambda: _searched(records), headline=headline)
    return TurnRecords(dict, table, (), details)


def _record(result: Comparison, turn: str, conversations: Conversations) -> TurnRecord:
    texts, systems = {}, {}
    for run in dict.fromkeys(result.turns["system"]):
        for when, state in (("old", result.old), ("new", result.new)):
            name, own = f"{run}, {when}", state.systems[run]
            if turn in own.texts:
                texts[name] = own.texts[turn]
            scores = {one: values[turn] for one, values in own.scores.items() if turn in values}
            systems[name] = cast(SystemRecord, {"scores": scores})
            if name in result.tops:
                systems[name]["ranking"] = list(result.tops[name].get(turn, ()))
    return {
        "turn": turn,
        "conversation": conversations.of(turn),
        "depth": conversations.depth(turn),
        "history": [],
        "texts": texts,
        "gold": [],
        "judged": {},
        "systems": systems,
        "slices": {},
        "labels": {},
    }


def _columns(
    result: Comparison, records: dict[str, TurnRecord], metrics: list[str], headline: str
) -> list[Contribution]:
    """Return ids, conversations, scores of both states, and the change in the headline measure."""
    every = list(records.values())

    def scores(metric: str) -> Values:
        found: dict[str, dict[str, float]] = {}
        for one in every:
            for name, own in one["systems"].items():
                if metric in own["scores"]:
                    found.setdefault(name, {})[one["turn"]] = own["scores"][metric]
        return {name: aligned_numbers(list(records), own) for name, own in found.items()}

    def changes() -> Values:
        rows = result.turns[result.turns["metric"] == headline]
        found: dict[str, dict[str, float]] = {}
        for row in rows.itertuples():
            found.setdefault(row.system, {})[row.turn] = row.change
        return {name: aligned_numbers(list(records), own) for name, own in found.items()}

    depths = [np.nan if one["depth"] is None else one["depth"] for one in every]
    contributed = [
        Contribution(
            TurnField("turn", "words", "its id", place="none"),
            lambda: {NO_SYSTEM: [(one["turn"],) for one in every]},
        ),
        Contribution(
            TurnField("conversation", "words", "its conversation", place="none"),
            lambda: {NO_SYSTEM: [(one["conversation"],) for one in every]},
        ),
        Contribution(
            TurnField("depth", "number", "its place in the conversation", place="none"),
            lambda: {NO_SYSTEM: np.array(depths, float)},
        ),
        Contribution(
            TurnField("change", "number", f"new minus old {headline}", per_system=True), changes
        ),
    ]
    for metric in metrics:
        label = measure_label(metric)
        field = TurnField(
            metric,
            "number",
            f"score in {label}",
            per_system=True,
            place="scores",
            aliases=() if label == metric else (label,),
        )
        contributed.append(Contribution(field, lambda metric=metric: scores(metric)))  # type: ignore[misc]
    return contributed


def _searched(records: dict[str, TurnRecord]) -> list[str]:
    """Return the texts of every turn."""
    return [BETWEEN_TEXTS.join(one["texts"].values()) for one in records.values()]
