"""Questions as BEIR and MTRAG have them: JSONL with ``_id`` and ``text``.

MTRAG marks who speaks, ``|user|: …``, and its files of whole conversations have all that was said: the last of it is the
question. The whole conversation, without marks, stands under ``conversation``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs.text_format import Entry, Record, TextFormat, last_said, spoken


def is_query(record: Mapping[str, Any]) -> bool:
    """Whether a record is a question; a passage has a title."""
    return "_id" in record and "text" in record and "title" not in record


def _entries(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        text = record.fields.get("text")
        fields = record.fields
        if isinstance(text, str):
            fields = {**fields, "text": last_said(text), "conversation": " ".join(spoken(text))}
        yield Entry(fields.get("_id"), fields, record.line)


QUERIES = TextFormat("BEIR or MTRAG queries", is_query, _entries, {"original": ("text",), "qr": ("text",), "human": ("text",)})
