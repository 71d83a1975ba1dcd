"""Formats of files with question texts, and their detection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs import mtrag
from robustcs.inputs.formats import (
    Entry,
    Record,
    TextFormat,
    after_separator,
    by_id,
    flat,
    has,
    is_answer,
    last_said,
    nested,
    spoken,
    topic_of,
)
from robustcs.inputs.records import ID_NAMES


def _fits(record: Mapping[str, Any]) -> bool:
    turns = record.get("turn")
    # answers {turn: [answer, …]} may name a turn "turn"
    answers = (
        isinstance(turns, list) and bool(turns) and "number" not in record and all(isinstance(turn, str) for turn in turns)
    )
    return "turn" in record and not isinstance(turns, str | int) and not answers


TOPICS = TextFormat(
    "CAsT topics", _fits, nested("number", ("turn",), "number", lambda turn: turn.get("participant", "User") == "User"),
    {
        "original": ("raw_utterance", "utterance"),
        "qr": ("automatic_rewritten_utterance",),
        "human": ("manual_rewritten_utterance",),
    },
    optional=True,
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
    optional=True,
)  # fmt: skip


_SAMPLED = ("predicted_rewrite", "t5_rewrite", "rewrite", "output")


def _is_rewrite(record: Mapping[str, Any]) -> bool:
    return "sample_id" in record and ("cur_utt_text" in record or "oracle_utt_text" in record or
                                      any(name in record for name in _SAMPLED))  # fmt: skip


def _is_topic(record: Mapping[str, Any]) -> bool:
    return "conv_id" in record and isinstance(record.get("turns"), list)


#: ConversationQueryRewriter and ConvDR.
INPUT_TARGET = TextFormat(
    "rewrites by ConversationQueryRewriter or ConvDR",
    lambda record: "topic_number" in record and "query_number" in record,
    flat("topic_number", "query_number"),
    {"original": ("input",), "qr": ("output",), "human": ("target",)},
    last=("input",),
    sampled=("output",),
)


#: ConvGQR, T5QR and LLM4CS.
BY_SAMPLE_ID = TextFormat(
    "rewrites by LLM4CS or ConvGQR", _is_rewrite, by_id("sample_id"),
    {"original": ("cur_utt_text",), "qr": _SAMPLED, "human": ("oracle_utt_text",)},
    sampled=_SAMPLED,
)  # fmt: skip


LLM4CS_TOPICS = TextFormat(
    "LLM4CS topics", _is_topic, nested("conv_id", ("turns",), "turn_id"),
    {"original": ("question",), "qr": ("rewrite",), "human": ("manual_rewrite",)},
    optional=True,
)  # fmt: skip


def _canard(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        entry = record.fields
        try:
            turn = f"{entry['QuAC_dialog_id']}_q#{int(entry['Question_no']) - 1}"
        except (KeyError, TypeError, ValueError) as error:
            found = f"entry {record.place} of the list is not a CANARD question ({error})"
            problems.skip(record.line, found, "complete the entry", "no-turn-id")
            continue
        yield Entry(turn, entry, record.line)


OF_CONVERSATION = flat("Conversation_no", "Turn_no")


OF_DPR = flat("conv_id", "turn_id")


def _dpr(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    """Yield the turns, with ``question`` reduced to the last question; ``conversation`` contains all turns so far."""
    for entry in OF_DPR(records, problems):
        question = entry.fields.get("question")
        if isinstance(question, str):
            fields = {**entry.fields, "question": after_separator(question), "conversation": question}
            entry = entry._replace(fields=fields)
        yield entry


def is_dpr(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a question with passages or answers in DPR format."""
    return all(name in record for name in ("conv_id", "turn_id", "question"))


CANARD = TextFormat(
    "CANARD questions", lambda record: "QuAC_dialog_id" in record, _canard,
    {"original": ("Question",), "qr": ("Rewrite",), "human": ("Rewrite",)},
)  # fmt: skip


QRECC = TextFormat(
    "QReCC or TopiOCQA questions",
    lambda record: "Conversation_no" in record and "Turn_no" in record,
    OF_CONVERSATION,
    {"original": ("Question",), "qr": ("Model_rewrite", "Rewrite"), "human": ("Rewrite", "Truth_rewrite")},
)


DPR = TextFormat(
    "questions in DPR format (TopiOCQA)", is_dpr, _dpr,
    {"original": ("question",), "qr": ("rewrite",), "human": ("manual_rewrite", "gold_rewrite")},
)  # fmt: skip


# ---------------------------------------------------------------- answers
def gold_answers(fields: Mapping[str, Any]) -> list[object]:
    """Return the unchecked gold answers of a turn, without empty ones; TopiOCQA also has those of further annotators."""
    first: object = next((fields[name] for name in ("Answer", "Truth_answer", "answers", "answer") if name in fields), [])
    more = fields.get("Additional_answers")
    further = [one.get("Answer") if isinstance(one, dict) else one for one in more] if isinstance(more, list) else []
    return [answer for answer in [*(first if isinstance(first, list) else [first]), *further] if answer not in ("", None)]


def predicted_answer(fields: Mapping[str, Any]) -> object:
    """Return the unchecked answer of a system."""
    return next((fields[name] for name in ("Model_answer", "prediction", "Answer", "answer") if name in fields), None)


def is_query(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a question; a passage has a title."""
    return "_id" in record and "text" in record and "title" not in record


def _beir_entries(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        text = record.fields.get("text")
        fields = record.fields
        if isinstance(text, str):
            fields = {**fields, "text": last_said(text), "conversation": " ".join(spoken(text))}
        yield Entry(fields.get("_id"), fields, record.line)


QUERIES = TextFormat(
    "BEIR or MTRAG queries", is_query, _beir_entries, {"original": ("text",), "qr": ("text",), "human": ("text",)}, named={}
)


VARIATIONS = TextFormat(
    "query variations", has("q_id", "original_query", "variation"),
    lambda records, problems: _variation_entries(records, problems),
    {"original": ("original_query",), "qr": ("variation",)},
    repeats=True,
)  # fmt: skip


def _variation_entries(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        if str(record.fields.get("valid", True)).strip().lower() not in ("false", "0"):
            yield Entry(record.fields.get("q_id"), record.fields, record.line)


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


#: Names of the text in tables and JSONL if no column is named; the first one present counts.
TEXT_NAMES = ("query", "text", "question", "rewrite")


_ORIGINAL = ("original", "raw", "raw_utterance", "utterance", "user_utterance", "original_query")


_QR = ("qr", "automatic", "automatic_rewritten_utterance", "rewritten_utterance", "rewritten_query", "predicted_rewrite")


_HUMAN = ("human", "manual", "manual_rewritten_utterance", "manual_rewrite", "resolved_utterance", "resolved")


_PLAIN_NAMES = (*TEXT_NAMES, *_ORIGINAL, *_QR, *_HUMAN)


def _has_id(record: Mapping[str, Any]) -> bool:
    return any(name in record for name in ID_NAMES)


def _is_pair(record: Mapping[str, Any]) -> bool:
    return _has_id(record) and "question" in record and "rewrite" in record and not ("query" in record or "text" in record)


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
    {"original": (*TEXT_NAMES, *_ORIGINAL), "qr": (*TEXT_NAMES, *_QR), "human": (*TEXT_NAMES, *_HUMAN)},
    sampled=_QR,
    named={"original": _ORIGINAL, "qr": _QR, "human": _HUMAN},
)


#: All formats; the first one that fits a record counts.
FORMATS: tuple[TextFormat, ...] = (
    mtrag.QUESTIONS, IKAT_TOPICS, LLM4CS_TOPICS, TOPICS, CANARD, QRECC, DPR,
    INPUT_TARGET, BY_SAMPLE_ID, VARIATIONS, QUESTIONS, QUERIES, PAIRS, PLAIN,
)  # fmt: skip


def format_of(record: Mapping[str, Any]) -> TextFormat | None:
    """Return the format of a file, given its first record; None if it contains no known question texts."""
    return next((one for one in FORMATS if one.fits(record)), None)
