"""Formats of files with question texts or retrieved passages (other than TREC lines), and their detection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs import mtrag
from robustcs.inputs.formats import (
    CAST_COLUMNS,
    Entry,
    Record,
    RunFormat,
    TextFormat,
    Utterance,
    answer_entries,
    answer_of,
    by_id,
    each,
    first_turn,
    flat,
    has,
    is_answer,
    nested,
    passages_in,
    passages_of,
    topic_of,
    turn_of,
)
from robustcs.inputs.histories import in_field, in_topics
from robustcs.inputs.records import ID_NAMES
from robustcs.inputs.text import finite_number, id_text, whole_of
from robustcs.inputs.trec_lines import LINES, grades, measure_columns

# ---------------------------------------------------------------- texts of whole conversations

#: Marks of MTRAG for the speaker: ``|user|: …``.
_SPEAKER = re.compile(r"^\s*\|(\w+)\|:[^\S\n]*", re.MULTILINE)

_USER = "user"
#: Largest number of questions of a conversation.
_MOST_QUESTIONS = 10**6
_SEPARATOR = re.compile(r"\s*\[SEP\]\s*", re.IGNORECASE)


def _spoken(text: str) -> list[str]:
    """Return what the user says in a text with speaker marks, in order; without marks, the whole text."""
    pieces = _SPEAKER.split(text)
    if len(pieces) == 1:
        return [text]
    said = [
        words.strip()
        for speaker, words in zip(pieces[1::2], pieces[2::2], strict=True)
        if speaker.lower() == _USER
    ]
    return said or [pieces[-1].strip()]


# ---------------------------------------------------------------- texts
def _fits(record: Mapping[str, Any]) -> bool:
    turns = record.get("turn")
    # answers {turn: [answer, …]} may name a turn "turn"
    answers = (
        isinstance(turns, list)
        and bool(turns)
        and "number" not in record
        and all(isinstance(turn, str) for turn in turns)
    )
    return "turn" in record and not isinstance(turns, str | int) and not answers


TOPICS = TextFormat(
    "CAsT topics", _fits, nested("number", ("turn",), "number", lambda turn: turn.get("participant", "User") == "User"),
    CAST_COLUMNS, optional=True,
    history=in_topics(
        "number", ("turn",), "number", (*chain(*CAST_COLUMNS.values()),),
        ("manual_canonical_result_id", "automatic_canonical_result_id"),
    ),
)  # fmt: skip

#: Fields of a topic that contain its turns: iKAT 2023 and 2024, iKAT 2025.
_TURNS = ("turns", "responses")

_RAW = ("utterance", "user_utterance")


def _ikat_fits(record: Mapping[str, Any]) -> bool:
    if "number" not in record:
        return False
    turns = next((record[name] for name in _TURNS if isinstance(record.get(name), list)), None)
    if turns is None:
        return False
    first = turns[0] if turns else None
    return "ptkb" in record or (isinstance(first, dict) and any(name in first for name in _RAW))


IKAT_TOPICS = TextFormat(
    "iKAT topics", _ikat_fits, nested("number", _TURNS, "turn_id"),
    {"original": _RAW, "qr": ("rewritten_utterance", "automatic_rewritten_utterance"), "human": ("resolved_utterance",)},
    optional=True, history=in_topics("number", _TURNS, "turn_id", _RAW),
)  # fmt: skip

_SAMPLED = ("predicted_rewrite", "t5_rewrite", "rewrite", "output")


def _is_rewrite(record: Mapping[str, Any]) -> bool:
    return "sample_id" in record and not record.keys().isdisjoint(
        ("cur_utt_text", "oracle_utt_text", *_SAMPLED)
    )


#: ConversationQueryRewriter and ConvDR.
INPUT_TARGET = TextFormat(
    "rewrites by ConversationQueryRewriter or ConvDR",
    has("topic_number", "query_number"), flat("topic_number", "query_number"),
    {"original": ("input",), "qr": ("output",), "human": ("target",)}, last=("input",), sampled=("output",),
    history=in_field(
        "input", lambda fields: turn_of(fields.get("topic_number"), fields.get("query_number")), answers=False
    ),
)  # fmt: skip

#: ConvGQR, T5QR and LLM4CS.
BY_SAMPLE_ID = TextFormat(
    "rewrites by LLM4CS or ConvGQR", _is_rewrite, by_id("sample_id"),
    {"original": ("cur_utt_text",), "qr": _SAMPLED, "human": ("oracle_utt_text",)},
    sampled=_SAMPLED,
)  # fmt: skip

LLM4CS_TOPICS = TextFormat(
    "LLM4CS topics", lambda record: "conv_id" in record and isinstance(record.get("turns"), list),
    nested("conv_id", ("turns",), "turn_id"),
    {"original": ("question",), "qr": ("rewrite",), "human": ("manual_rewrite",)},
    optional=True, history=in_topics("conv_id", ("turns",), "turn_id", ("question",)),
)  # fmt: skip


def _quac_turn(dialog: object, number: object) -> str | None:
    """Return the turn id of QuAC, which counts from 0, for a question of CANARD, which counts from 1."""
    place = whole_of(number, _MOST_QUESTIONS)
    return None if place is None or not id_text(dialog) else f"{id_text(dialog)}_q#{place - 1}"


_OF_CONVERSATION = flat("Conversation_no", "Turn_no")


def _with_question(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields; ``question`` is only what comes after earlier turns and ``[SEP]``, ``conversation`` is the whole."""
    whole = fields.get("question")
    return (
        {**fields, "question": _SEPARATOR.split(whole.strip())[-1], "conversation": whole}
        if isinstance(whole, str)
        else fields
    )


_OF_DPR = flat("conv_id", "turn_id", fields=_with_question)
_is_dpr = has("conv_id", "turn_id", "question")

CANARD = TextFormat(
    "CANARD questions", has("QuAC_dialog_id"), flat("QuAC_dialog_id", "Question_no", _quac_turn),
    {"original": ("Question",), "qr": ("Rewrite",), "human": ("Rewrite",)},
    # the list begins with the titles of the article and of its section
    history=in_field(
        "History", lambda fields: _quac_turn(fields.get("QuAC_dialog_id"), fields.get("Question_no")), skip=2
    ),
)  # fmt: skip

QRECC = TextFormat(
    "QReCC or TopiOCQA questions", has("Conversation_no", "Turn_no"), _OF_CONVERSATION,
    {"original": ("Question",), "qr": ("Model_rewrite", "Rewrite"), "human": ("Rewrite", "Truth_rewrite")},
    history=in_field(
        "Context", lambda fields: turn_of(fields.get("Conversation_no"), fields.get("Turn_no"))
    ),
)  # fmt: skip

DPR = TextFormat(
    "questions in DPR format (TopiOCQA)", _is_dpr, _OF_DPR,
    {"original": ("question",), "qr": ("rewrite",), "human": ("manual_rewrite", "gold_rewrite")},
)  # fmt: skip


# ---------------------------------------------------------------- answers
def gold_answers(fields: Mapping[str, Any]) -> list[object]:
    """Return the unchecked gold answers of a turn, without empty ones; TopiOCQA also has those of further annotators."""
    first: object = next(
        (
            fields[name]
            for name in ("Answer", "Truth_answer", "answers", "answer")
            if name in fields
        ),
        [],
    )
    more = fields.get("Additional_answers")
    further = (
        [one.get("Answer") if isinstance(one, dict) else one for one in more]
        if isinstance(more, list)
        else []
    )
    return [
        answer
        for answer in [*(first if isinstance(first, list) else [first]), *further]
        if answer not in ("", None)
    ]


def predicted_answer(fields: Mapping[str, Any]) -> object:
    """Return the unchecked answer of a system."""
    return next(
        (
            fields[name]
            for name in ("Model_answer", "prediction", "Answer", "answer")
            if name in fields
        ),
        None,
    )


def _with_last(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields; a text may be a conversation, whose question is the last thing that the user says."""
    text = fields.get("text")
    said = _spoken(text) if isinstance(text, str) else []
    return {**fields, "text": said[-1], "conversation": " ".join(said)} if said else fields


def _before_last(records: Iterable[Record]) -> Iterator[tuple[object, list[Utterance]]]:
    """Yield the messages before the last question of each text with speaker marks."""
    for record in records:
        text = record.fields.get("text")
        pieces = _SPEAKER.split(text) if isinstance(text, str) else []
        said = [
            Utterance(speaker.lower(), words.strip())
            for speaker, words in zip(pieces[1::2], pieces[2::2], strict=True)
        ]
        while said and said.pop().who != _USER:
            pass
        if len(pieces) > 1:
            yield record.fields.get("_id"), said


#: A passage has a title.
QUERIES = TextFormat(
    "BEIR or MTRAG queries", lambda record: "_id" in record and "text" in record and "title" not in record,
    each(lambda fields: fields.get("_id"), _with_last),
    {"original": ("text",), "qr": ("text",), "human": ("text",)}, named={}, history=_before_last,
)  # fmt: skip


_QUESTION = ("topic", "narrative", "query", "question", "title")


def _is_answer_to_question(record: Mapping[str, Any]) -> bool:
    more = record.get("metadata")
    return is_answer(record) and any(
        name in place for place in (record, more) if isinstance(place, dict) for name in _QUESTION
    )


def _with_metadata(fields: dict[str, Any]) -> dict[str, Any]:
    more = fields.get("metadata")
    return {**(more if isinstance(more, dict) else {}), **fields}


QUESTIONS = TextFormat(
    "TREC RAG answers",
    _is_answer_to_question,
    each(topic_of, _with_metadata),
    {"original": _QUESTION, "qr": _QUESTION, "human": _QUESTION},
    named={},
)

#: Names of the text in tables and JSONL if no column is named; the first one present counts.
TEXT_NAMES = ("query", "text", "question", "rewrite")

_ORIGINAL = ("original", "raw", "raw_utterance", "utterance", "user_utterance", "original_query")
_QR = (
    "qr",
    "automatic",
    "automatic_rewritten_utterance",
    "rewritten_utterance",
    "rewritten_query",
    "predicted_rewrite",
)
_HUMAN = (
    "human",
    "manual",
    "manual_rewritten_utterance",
    "manual_rewrite",
    "resolved_utterance",
    "resolved",
)
_PLAIN_NAMES = (*TEXT_NAMES, *_ORIGINAL, *_QR, *_HUMAN)


def _has_id(record: Mapping[str, Any]) -> bool:
    return any(name in record for name in ID_NAMES)


def _is_pair(record: Mapping[str, Any]) -> bool:
    return (
        _has_id(record)
        and "question" in record
        and "rewrite" in record
        and not ("query" in record or "text" in record)
    )


#: Records with an id, a question and its rewrite.
PAIRS = TextFormat(
    "questions and rewrites", _is_pair, by_id(*ID_NAMES),
    {"original": ("question",), "qr": ("rewrite",), "human": ("rewrite",)}, sampled=("rewrite",),
)  # fmt: skip

#: Records with an id and a text; names of a formulation count if there is none of :data:`TEXT_NAMES`.
PLAIN = TextFormat(
    "question texts",
    lambda record: _has_id(record) and any(name in record for name in _PLAIN_NAMES),
    by_id(*ID_NAMES),
    {
        "original": (*TEXT_NAMES, *_ORIGINAL),
        "qr": (*TEXT_NAMES, *_QR),
        "human": (*TEXT_NAMES, *_HUMAN),
    },
    sampled=_QR,
    named={"original": _ORIGINAL, "qr": _QR, "human": _HUMAN},
)

#: All formats; the first one that fits a record counts.
TEXT_FORMATS: tuple[TextFormat, ...] = (
    mtrag.QUESTIONS, IKAT_TOPICS, LLM4CS_TOPICS, TOPICS, CANARD, QRECC, DPR,
    INPUT_TARGET, BY_SAMPLE_ID, QUESTIONS, QUERIES, PAIRS, PLAIN,
)  # fmt: skip


def format_of(record: Mapping[str, Any]) -> TextFormat | None:
    """Return the format of a file, given its first record; None if it contains no known question texts."""
    return next((one for one in TEXT_FORMATS if one.fits(record)), None)


# ---------------------------------------------------------------- runs
#: Fields of a response that contain its passages: iKAT 2023 and 2024, iKAT 2025.
_PROVENANCE = ("passage_provenance", "citations")


def _is_run(record: Mapping[str, Any]) -> bool:
    turn = first_turn(record)
    responses = turn.get("responses")
    if "turn_id" not in turn or not isinstance(responses, list):
        return False
    first = responses[0] if responses and isinstance(responses[0], dict) else {}
    return "references" in turn or "run_name" in record or not first.keys().isdisjoint(_PROVENANCE)


def _ikat_turns(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        turns = record.fields.get("turns", [record.fields])
        for place, turn in enumerate(turns if isinstance(turns, list) else [], 1):
            if not isinstance(turn, dict) or "turn_id" not in turn:
                found = f"turn {place if record.line is None else record.place} has no turn_id"
                problems.add(record.line, found, "complete the turn", "no-turn-id")
                continue
            yield Entry(turn["turn_id"], turn, record.line)


def _passages(turn: Mapping[str, Any]) -> list[tuple[object, object]]:
    """Return the references (iKAT 2025), else the provenance or citations of the responses, in the order of their ranks."""
    if turn.get("references") or "responses" not in turn:
        return passages_in(turn.get("references"))
    responses = turn.get("responses")
    given = (
        [one for one in responses if isinstance(one, dict)] if isinstance(responses, list) else []
    )
    given.sort(key=lambda response: finite_number(response.get("rank")) or 0.0)
    listed = (response[name] for response in given for name in _PROVENANCE if name in response)
    return [passage for one in listed for passage in passages_in(one)]


IKAT_RUN = RunFormat("an iKAT run", _is_run, _ikat_turns, _passages)

DPR_RUN = RunFormat(
    "a run in DPR format (TopiOCQA)", lambda record: _is_dpr(record) and isinstance(record.get("ctxs"), list),
    _OF_DPR, passages_of("ctxs"),
)  # fmt: skip

SCAI_RUN = RunFormat(
    "a SCAI-QReCC run",
    has("Conversation_no", "Turn_no", "Model_passages"),
    _OF_CONVERSATION,
    passages_of("Model_passages"),
)


def cited_answers(
    records: Iterable[Record], problems: ProblemList
) -> Iterator[tuple[object, list[Any], int | None]]:
    """Yield (topic, [answer], line) of every answer, its sentences joined, without checking them."""
    for topic, fields, line in answer_entries(records, problems):
        found = [
            one.get("text") if isinstance(one, dict) else one for one in answer_of(fields) or ()
        ]
        texts = [text for text in found if isinstance(text, str)]
        yield topic, [" ".join(texts) if len(texts) == len(found) else None], line


def _cited(fields: Mapping[str, Any]) -> list[tuple[object, object]]:
    """Return the references, else the citations of the sentences; numbers are positions in the references."""
    cited = (
        one
        for part in answer_of(fields) or ()
        if isinstance(part, dict)
        for one in passages_in(part.get("citations"))
    )
    return passages_in(fields.get("references")) or [
        one for one in cited if isinstance(one[0], str)
    ]


RAG_RUN = RunFormat("TREC RAG answers", is_answer, answer_entries, _cited)


def _is_plain(record: Mapping[str, Any]) -> bool:
    """Return whether a record is ``{turn: {passage: score}}``, and neither scores of measures (by its names) nor grades."""
    turns = dict(islice(record.items(), LINES))
    if not turns or not all(isinstance(scores, dict) for scores in turns.values()):
        return False
    names = [name for scores in turns.values() for name in islice(scores, LINES)]
    values = [
        finite_number(score)
        for scores in turns.values()
        for score in islice(scores.values(), LINES)
    ]
    measured = any(len(measure_columns(some)) == len(some) for some in (list(turns), names))
    return None not in values and not measured and not grades(values)


def _of_turns(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    return (
        Entry(turn, scores, record.line)
        for record in records
        for turn, scores in record.fields.items()
    )


PLAIN_RUN = RunFormat("a run {turn: {passage: score}}", _is_plain, _of_turns, passages_in)

#: All formats; the first one that fits a record counts.
RUN_FORMATS: tuple[RunFormat, ...] = (mtrag.RUN, IKAT_RUN, DPR_RUN, SCAI_RUN, RAG_RUN, PLAIN_RUN)


def run_format_of(record: Mapping[str, Any]) -> RunFormat | None:
    """Return the format of a file, given its first record; None if it contains no known passages."""
    return next((one for one in RUN_FORMATS if one.fits(record)), None)
