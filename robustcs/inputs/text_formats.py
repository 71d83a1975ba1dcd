"""The kinds of files with question texts, and how a file of one is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs import beir, cast, ikat, mtrag, open_domain, rag, rewriters, variations
from robustcs.inputs.records import ID_NAMES, record_id
from robustcs.inputs.text_format import Entry, Record, TextFormat

#: The text of tables and of JSONL where none is named: the first of these that is there,
TEXT_NAMES = ("query", "text", "question", "rewrite")
_ORIGINAL = ("original", "raw", "raw_utterance", "utterance", "user_utterance", "original_query")
_QR = ("qr", "automatic", "automatic_rewritten_utterance", "rewritten_utterance", "rewritten_query", "predicted_rewrite")
_HUMAN = ("human", "manual", "manual_rewritten_utterance", "manual_rewrite", "resolved_utterance", "resolved")


def _plain(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        yield Entry(record_id(record.fields), record.fields, record.line)


_PLAIN_NAMES = (*TEXT_NAMES, *_ORIGINAL, *_QR, *_HUMAN)


def _has_id(record: Mapping[str, Any]) -> bool:
    return any(name in record for name in ID_NAMES)


def _is_pair(record: Mapping[str, Any]) -> bool:
    return _has_id(record) and "question" in record and "rewrite" in record and not ("query" in record or "text" in record)


#: Records with an id, a question and its rewrite.
PAIRS = TextFormat(
    "questions and rewrites", _is_pair, _plain,
    {"original": ("question",), "qr": ("rewrite",), "human": ("rewrite",)}, sampled=("rewrite",),
)  # fmt: skip
#: Records with an id and a text; the names of a formulation count where there is none of :data:`TEXT_NAMES`.
PLAIN = TextFormat(
    "question texts",
    lambda record: _has_id(record) and any(name in record for name in _PLAIN_NAMES),
    _plain,
    {"original": (*TEXT_NAMES, *_ORIGINAL), "qr": (*TEXT_NAMES, *_QR), "human": (*TEXT_NAMES, *_HUMAN)},
    sampled=_QR,
    named={"original": _ORIGINAL, "qr": _QR, "human": _HUMAN},
)

#: All kinds; the first that fits a record counts.
FORMATS: tuple[TextFormat, ...] = (
    mtrag.QUESTIONS, ikat.TOPICS, rewriters.LLM4CS_TOPICS, cast.TOPICS, open_domain.CANARD, open_domain.QRECC, open_domain.DPR,
    rewriters.INPUT_TARGET, rewriters.BY_SAMPLE_ID, variations.VARIATIONS, rag.QUESTIONS, beir.QUERIES, PAIRS, PLAIN,
)  # fmt: skip


def format_of(record: Mapping[str, Any]) -> TextFormat | None:
    """The kind of the file whose first record this is; None where it has no question texts that are known."""
    return next((one for one in FORMATS if one.fits(record)), None)
