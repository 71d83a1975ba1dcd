"""TREC CAsT topics, 2019–2022: a list of topics, each with its ``number`` and its list ``turn``.

The raw turn is ``raw_utterance``; 2022 calls it ``utterance`` and has the system's turns too, which are no questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs.records import is_turn_id
from robustcs.inputs.text_format import Entry, Record, TextFormat


def _fits(record: Mapping[str, Any]) -> bool:
    turns = record.get("turn")
    # answers {turn: [answer, …]} may call a turn so
    answers = (
        isinstance(turns, list) and bool(turns) and "number" not in record and all(isinstance(turn, str) for turn in turns)
    )
    return "turn" in record and not isinstance(turns, str | int) and not answers


def _entries(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        number, turns = record.fields.get("number"), record.fields.get("turn")
        if not is_turn_id(number) or not isinstance(turns, list):
            found = f"topic {record.place} of the list has no number or no list of turns"
            problems.add(record.line, found, "complete the topic", "no-turn-id")
            continue
        for place, turn in enumerate(turns, 1):
            if not isinstance(turn, dict) or not is_turn_id(turn.get("number")):
                found = f"topic {number}: turn {place} of the list has no number"
                problems.skip(record.line, found, "complete the turn", "no-turn-id")
            elif turn.get("participant", "User") == "User":
                yield Entry(f"{number}_{turn['number']}", turn, record.line)


TOPICS = TextFormat(
    "CAsT topics", _fits, _entries,
    {
        "original": ("raw_utterance", "utterance"),
        "qr": ("automatic_rewritten_utterance",),
        "human": ("manual_rewritten_utterance",),
    },
    optional=True,
)  # fmt: skip
