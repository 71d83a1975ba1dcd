"""TREC iKAT: topics and runs of 2023, 2024 and 2025, whose turns are ``NUMBER_TURN`` (``0_1``, ``1-1_1``).

Topics have ``number``, ``ptkb`` and ``turns`` with ``turn_id``, ``utterance``, ``resolved_utterance``; 2025 calls the list
``responses`` and the raw turn ``user_utterance``. Runs of 2023 and 2024 are one object with ``turns``, whose ``responses`` have
``passage_provenance`` (``id``, ``score``); those of 2025 are JSONL with ``turn_id`` and ``references`` {id: score}.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs.numbers import finite_number
from robustcs.inputs.run_format import Retrieved, RunFormat, passages_in
from robustcs.inputs.text_format import Record, TextFormat, nested

#: Where the turns of a topic stand: 2023 and 2024, 2025.
_TURNS = ("turns", "responses")
_RAW = ("utterance", "user_utterance")
#: Where the passages of a response stand: 2023 and 2024, 2025.
_PROVENANCE = ("passage_provenance", "citations")


def _fits(record: Mapping[str, Any]) -> bool:
    if "number" not in record:
        return False
    turns = next((record[name] for name in _TURNS if isinstance(record.get(name), list)), None)
    if turns is None:
        return False
    first = turns[0] if turns else None
    return "ptkb" in record or (isinstance(first, dict) and any(name in first for name in _RAW))


TOPICS = TextFormat(
    "iKAT topics", _fits, nested("number", _TURNS, "turn_id"),
    {"original": _RAW, "qr": ("rewritten_utterance", "automatic_rewritten_utterance"), "human": ("resolved_utterance",)},
    optional=True,
)  # fmt: skip


# ---------------------------------------------------------------- runs


def first_turn(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first turn of a run of 2023 or 2024, which is one object with all of them; else the record itself."""
    turns = record.get("turns")
    first = turns[0] if isinstance(turns, list) and turns else record
    return first if isinstance(first, dict) else {}


def _is_run(record: Mapping[str, Any]) -> bool:
    turn = first_turn(record)
    responses = turn.get("responses")
    if "turn_id" not in turn or not isinstance(responses, list):
        return False
    first = responses[0] if responses and isinstance(responses[0], dict) else {}
    return "references" in turn or "run_name" in record or not first.keys().isdisjoint(_PROVENANCE)


def _retrieved(records: Iterable[Record], problems: ProblemList) -> Iterator[Retrieved]:
    for record in records:
        turns = record.fields.get("turns", [record.fields])
        for place, turn in enumerate(turns if isinstance(turns, list) else [], 1):
            if not isinstance(turn, dict) or "turn_id" not in turn:
                found = f"turn {place if record.line is None else record.place} has no turn_id"
                problems.add(record.line, found, "complete the turn", "no-turn-id")
                continue
            yield Retrieved(turn["turn_id"], _passages(turn), record.line)


def _passages(turn: Mapping[str, Any]) -> list[tuple[object, object]]:
    """2025: the references. Else the provenance or the citations of the responses, in the order of their ranks."""
    if turn.get("references") or "responses" not in turn:
        return passages_in(turn.get("references"))
    responses = turn.get("responses")
    given = [one for one in responses if isinstance(one, dict)] if isinstance(responses, list) else []
    given.sort(key=lambda response: finite_number(response.get("rank")) or 0.0)
    listed = (response[name] for response in given for name in _PROVENANCE if name in response)
    return [passage for one in listed for passage in passages_in(one)]


RUN = RunFormat("an iKAT run", _is_run, _retrieved)
