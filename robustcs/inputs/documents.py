"""Passage ids ``DOC-N`` and the documents they come from.

CAsT 2021 was judged by document and retrieved by passage: ``MARCO_D1599536-11`` is passage 11 of ``MARCO_D1599536``. Ids of
documents can hold hyphens themselves, so only the last one separates, and only where a number follows it.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_PASSAGE_NUMBER = r"-[0-9]+$"


def document_ids(passages: pa.StringArray) -> pa.StringArray:
    """The document of every passage id; an id without ``-N`` at its end stays as it is."""
    return pc.replace_substring_regex(passages, pattern=_PASSAGE_NUMBER, replacement="")


def are_passage_ids(ids: pa.StringArray) -> bool:
    """Whether every id ends in ``-N``; then they look like passages of documents. False without ids."""
    return len(ids) > 0 and bool(pc.all(pc.match_substring_regex(ids, pattern=_PASSAGE_NUMBER)).as_py())
