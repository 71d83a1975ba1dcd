"""TREC RAG, RAGTIME and iKAT: generated answers with the passages that they cite.

Answers are JSONL: ``run_id``, ``topic_id``, ``references`` (passage ids) and ``answer``, a list of sentences with ``text`` and
``citations``, which are ids or places in ``references``. From 2025 on the ids of run and topic stand under ``metadata``. As a
run, the references are the ranking, or without them the citations, by their scores or in their order. The question may stand
beside them, as ``topic`` or ``narrative``. Reports of RAGTIME call the list ``responses``; so does iKAT, where responses with a
``rank`` are alternatives, the first of which is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs.numbers import finite_number
from robustcs.inputs.run_format import Retrieved, RunFormat, passages_in
from robustcs.inputs.text_format import Entry, Record, TextFormat

#: Names of the id of a topic.
TOPIC_NAMES = ("topic_id", "narrative_id", "turn_id", "qid")
_CITED = ("citations", "passage_provenance")
_NO_ANSWER = ("no list 'answer'", "complete the line or leave it out", "no-such-column")


def topic_of(record: Mapping[str, Any]) -> object:
    """The id of the topic that a record is about; None where it has none."""
    more = record.get("metadata")
    places = [record, more] if isinstance(more, dict) else [record]
    return next((place[name] for place in places for name in TOPIC_NAMES if name in place), None)


def is_answer(record: Mapping[str, Any]) -> bool:
    """Whether a record is an answer in sentences that cite passages."""
    said = _said(record)
    if said is None or topic_of(record) is None:
        return False
    return "references" in record or any(isinstance(one, dict) and not one.keys().isdisjoint(_CITED) for one in said[:1])


def _said(record: Mapping[str, Any]) -> list[Any] | None:
    """The sentences of an answer, or the response of the best rank; None where there is no list of them."""
    said = record.get("answer", record.get("responses"))
    if not isinstance(said, list):
        return None
    ranked = [one for one in said if isinstance(one, dict) and "rank" in one]
    return [min(ranked, key=lambda one: finite_number(one["rank"]) or 0.0)] if ranked else said


def answers(records: Iterable[Record], problems: ProblemList) -> Iterator[tuple[object, list[Any], int | None]]:
    """(topic, the answer, line) of every answer, its sentences joined, unchecked."""
    for record in records:
        turns = record.fields.get("turns")
        for fields in turns if isinstance(turns, list) else [record.fields]:
            said = _said(fields) if isinstance(fields, dict) else None
            if said is None:
                problems.add(record.line, *_NO_ANSWER)
                continue
            found = [one.get("text") if isinstance(one, dict) else one for one in said]
            texts = [text for text in found if isinstance(text, str)]
            yield topic_of(fields), [" ".join(texts) if len(texts) == len(found) else None], record.line


def _retrieved(records: Iterable[Record], problems: ProblemList) -> Iterator[Retrieved]:
    for record in records:
        fields = record.fields
        said = _said(fields)
        if said is None:
            problems.add(record.line, *_NO_ANSWER)
            continue
        cited = (one for part in said if isinstance(part, dict) for one in passages_in(part.get("citations")))
        # numbers are places among references
        passages = passages_in(fields.get("references")) or [one for one in cited if isinstance(one[0], str)]
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


RUN = RunFormat("TREC RAG answers", is_answer, _retrieved)
