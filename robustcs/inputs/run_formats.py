"""Formats of run files other than TREC lines, and their detection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs import mtrag
from robustcs.inputs.formats import (
    Record,
    Retrieved,
    RunFormat,
    answer_of,
    first_turn,
    has,
    is_answer,
    listed,
    passages_in,
    topic_of,
)
from robustcs.inputs.text import finite_number
from robustcs.inputs.text_formats import OF_CONVERSATION, OF_DPR, is_dpr
from robustcs.inputs.trec_lines import LINES, grades, measure_columns

#: Fields of a response that contain its passages: iKAT 2023 and 2024, iKAT 2025.
_PROVENANCE = ("passage_provenance", "citations")


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
    """Return the references (iKAT 2025), else the provenance or citations of the responses, in the order of their ranks."""
    if turn.get("references") or "responses" not in turn:
        return passages_in(turn.get("references"))
    responses = turn.get("responses")
    given = [one for one in responses if isinstance(one, dict)] if isinstance(responses, list) else []
    given.sort(key=lambda response: finite_number(response.get("rank")) or 0.0)
    listed = (response[name] for response in given for name in _PROVENANCE if name in response)
    return [passage for one in listed for passage in passages_in(one)]


RUN = RunFormat("an iKAT run", _is_run, _retrieved)


DPR_RUN = RunFormat(
    "a run in DPR format (TopiOCQA)", lambda record: is_dpr(record) and isinstance(record.get("ctxs"), list),
    listed(OF_DPR, "ctxs"),
)  # fmt: skip


SCAI_RUN = RunFormat(
    "a SCAI-QReCC run", has("Conversation_no", "Turn_no", "Model_passages"), listed(OF_CONVERSATION, "Model_passages")
)


_NO_ANSWER = ("no list 'answer'", "complete the row or delete it", "no-such-column")


def answers(records: Iterable[Record], problems: ProblemList) -> Iterator[tuple[object, list[Any], int | None]]:
    """Yield (topic, [answer], line) of every answer, its sentences joined, without checking them."""
    for record in records:
        turns = record.fields.get("turns")
        for fields in turns if isinstance(turns, list) else [record.fields]:
            said = answer_of(fields) if isinstance(fields, dict) else None
            if said is None:
                problems.add(record.line, *_NO_ANSWER)
                continue
            found = [one.get("text") if isinstance(one, dict) else one for one in said]
            texts = [text for text in found if isinstance(text, str)]
            yield topic_of(fields), [" ".join(texts) if len(texts) == len(found) else None], record.line


def _rag_retrieved(records: Iterable[Record], problems: ProblemList) -> Iterator[Retrieved]:
    for record in records:
        fields = record.fields
        said = answer_of(fields)
        if said is None:
            problems.add(record.line, *_NO_ANSWER)
            continue
        cited = (one for part in said if isinstance(part, dict) for one in passages_in(part.get("citations")))
        # numbers are positions in the references
        passages = passages_in(fields.get("references")) or [one for one in cited if isinstance(one[0], str)]
        yield Retrieved(topic_of(fields), passages, record.line)


RAG_RUN = RunFormat("TREC RAG answers", is_answer, _rag_retrieved)


def _is_plain(record: Mapping[str, Any]) -> bool:
    """Return whether a record is ``{turn: {passage: score}}``, and neither scores of measures (by its names) nor grades."""
    turns = dict(islice(record.items(), LINES))
    if not turns or not all(isinstance(scores, dict) for scores in turns.values()):
        return False
    names = [name for scores in turns.values() for name in islice(scores, LINES)]
    values = [finite_number(score) for scores in turns.values() for score in islice(scores.values(), LINES)]
    measured = any(len(measure_columns(some)) == len(some) for some in (list(turns), names))
    return None not in values and not measured and not grades(values)


def _of_turns(records: Iterable[Record], problems: ProblemList) -> Iterator[Retrieved]:
    for record in records:
        for turn, scores in record.fields.items():
            yield Retrieved(turn, passages_in(scores), record.line)


PLAIN = RunFormat("a run {turn: {passage: score}}", _is_plain, _of_turns)


#: All formats; the first one that fits a record counts.
FORMATS: tuple[RunFormat, ...] = (mtrag.RUN, RUN, DPR_RUN, SCAI_RUN, RAG_RUN, PLAIN)


def run_format_of(record: Mapping[str, Any]) -> RunFormat | None:
    """Return the format of a file, given its first record; None if it contains no known passages."""
    return next((one for one in FORMATS if one.fits(record)), None)
