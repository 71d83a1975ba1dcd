"""TREC RAG: generated answers with the passages that they cite.

Answers are JSONL: ``run_id``, ``topic_id``, ``references`` (passage ids) and ``answer``, a list of sentences with ``text`` and
``citations``, which are ids or places in ``references``. From 2025 on the ids of run and topic stand under ``metadata``. As a
run, the references are the ranking, or without them the citations in their order. The question may stand beside them, as
``topic`` or ``narrative``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs.run_format import Retrieved, RunFormat, passages_in
from robustcs.inputs.text_format import Entry, Record, TextFormat

#: Names of the id of a topic.
TOPIC_NAMES = ("topic_id", "narrative_id", "turn_id", "qid")


def topic_of(record: Mapping[str, Any]) -> object:
    """The id of the topic that a record is about; None where it has none."""
    more = record.get("metadata")
    places = [record, more] if isinstance(more, dict) else [record]
    return next((place[name] for place in places for name in TOPIC_NAMES if name in place), None)


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


_QUESTION = ("topic", "narrative", "query", "question", "title")


def _is_asked(record: Mapping[str, Any]) -> bool:
    more = record.get("metadata")
    return is_answer(record) and any(name in place for place in (record, more) if isinstance(place, dict) for name in _QUESTION)


def _questions(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        more = record.fields.get("metadata")
        yield Entry(topic_of(record.fields), {**(more if isinstance(more, dict) else {}), **record.fields}, record.line)


QUESTIONS = TextFormat(
    "TREC RAG answers", _is_asked, _questions, {"original": _QUESTION, "qr": _QUESTION, "human": _QUESTION}, named={}
)


def _cited(part: Mapping[str, Any]) -> list[str]:
    """The ids that a sentence cites; numbers are places among references, which are not there."""
    citations = part.get("citations")
    named = citations if isinstance(citations, dict | list) else []
    return [one for one in named if isinstance(one, str)]


RUN = RunFormat("TREC RAG answers", is_answer, _retrieved)
