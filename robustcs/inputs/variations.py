"""Labelled variations of queries (query_variation_generators): one a row, ``q_id``, ``original_query``, ``variation``.

A query has several variations, by ``method``; a variation that people found to be none (``valid`` False) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robustcs.errors import ProblemList
from robustcs.inputs.text_format import Entry, Record, TextFormat, has

VARIATIONS = TextFormat(
    "query variations", has("q_id", "original_query", "variation"),
    lambda records, problems: _entries(records, problems),
    {"original": ("original_query",), "qr": ("variation",)},
    repeats=True,
)  # fmt: skip


def _entries(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        if str(record.fields.get("valid", True)).strip().lower() not in ("false", "0"):
            yield Entry(record.fields.get("q_id"), record.fields, record.line)
