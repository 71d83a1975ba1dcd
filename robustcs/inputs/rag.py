"""TREC RAG: generated answers with the passages that they cite, and the nuggets that answers are judged by.

Answers are JSONL: ``run_id``, ``topic_id``, ``references`` (passage ids) and ``answer``, a list of sentences with ``text`` and
``citations``, which are ids or places in ``references``. From 2025 on the ids of run and topic stand under ``metadata``. As a
run, the references are the ranking, or without them the citations in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.records import ByTurn, StrPath, is_turn_id, json_lines
from robustcs.inputs.run_format import Retrieved, RunFormat, passages_in
from robustcs.inputs.text_format import Record

_TOPIC = ("topic_id", "narrative_id", "turn_id", "qid")


def topic_of(record: Mapping[str, Any]) -> object:
    """The id of the topic that a record is about; None where it has none."""
    more = record.get("metadata")
    places = [record, more] if isinstance(more, dict) else [record]
    return next((place[name] for place in places for name in _TOPIC if name in place), None)


def is_answer(record: Mapping[str, Any]) -> bool:
    """Whether a record is an answer in sentences that cite passages."""
    answer = record.get("answer")
    if not isinstance(answer, list) or topic_of(record) is None:
        return False
    return "references" in record or (bool(answer) and isinstance(answer[0], dict) and "citations" in answer[0])


def sentences(record: Mapping[str, Any]) -> list[object]:
    """The texts of an answer's sentences, unchecked."""
    return [part.get("text") if isinstance(part, dict) else part for part in record["answer"]]


def _retrieved(records: Iterable[Record], problems: ProblemList) -> Iterator[Retrieved]:
    for record in records:
        fields = record.fields
        if not isinstance(fields.get("answer"), list):
            problems.add(record.line, "no list 'answer'", "complete the line or leave it out", "no-such-column")
            continue
        passages = passages_in(fields.get("references"))
        if not passages:
            cited = [one for part in fields["answer"] if isinstance(part, dict) for one in _cited(part)]
            passages = [(passage, None) for passage in dict.fromkeys(cited)]
        yield Retrieved(topic_of(fields), passages, record.line)


def _cited(part: Mapping[str, Any]) -> list[str]:
    """The ids that a sentence cites; numbers are places among references, which are not there."""
    citations = part.get("citations")
    named = citations if isinstance(citations, dict | list) else []
    return [one for one in named if isinstance(one, str)]


RUN = RunFormat("TREC RAG answers", is_answer, _retrieved)


# ---------------------------------------------------------------- nuggets


@dataclass(frozen=True)
class Nugget:
    """One fact that an answer should hold; ``importance`` is ``vital`` or ``okay``, empty where the file does not say."""

    text: str
    importance: str


def is_nuggets(record: Mapping[str, Any]) -> bool:
    """Whether a record has the nuggets of a topic, or is one of them."""
    return isinstance(record.get("nuggets"), list) or ("importance" in record and "text" in record)


def read_nuggets(path: StrPath) -> dict[str, tuple[Nugget, ...]]:
    """Topic → its nuggets in file order: JSONL with a list ``nuggets`` for every topic, or one nugget a line.

    Raises :class:`InputError` with every bad line (bounded): no topic, or a nugget without a text.
    """
    problems = ProblemList(path)
    texts: ByTurn[str] = ByTurn(path)
    found: dict[str, list[Nugget]] = {}
    for line, record in json_lines(path, problems):
        topic = topic_of(record)
        if not is_turn_id(topic):
            problems.add(line, "no topic id", f"give every line its topic, as {' or '.join(_TOPIC)}", "no-turn-id")
            continue
        listed = record.get("nuggets", [record])
        for nugget in listed if isinstance(listed, list) else [listed]:
            fields = nugget if isinstance(nugget, dict) else {"text": nugget}
            text = texts.text(topic, fields.get("text"), line)
            if text is not None:
                found.setdefault(str(topic).strip(), []).append(Nugget(text, str(fields.get("importance", ""))))
    problems.take(texts.problems)
    problems.raise_if_any()
    if not found:
        raise input_error(path, None, "the file has no nuggets", "check the path", "empty")
    return {topic: tuple(nuggets) for topic, nuggets in found.items()}
