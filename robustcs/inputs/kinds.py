"""What kind of file is this? Told by its first lines; for ``robustcs init``, which finds a folder's files."""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import Any, Literal

from robustcs.errors import InputError
from robustcs.inputs.annotations import is_annotations
from robustcs.inputs.files import line_chunks, parse_json
from robustcs.inputs.ratings import is_ratings
from robustcs.inputs.records import ID_NAMES

Kind = Literal[
    "run", "qrels", "scores", "texts", "paraphrases", "collection", "answers", "snippets", "ratings", "clariq topics"
]

#: Enough to see the shape of a file, and of the first record of a JSON file.
_HEAD = 1 << 16
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")


def kind_of(path: str | os.PathLike[str]) -> Kind | None:
    """The kind of ``path``; None for anything else, unreadable files included."""
    lines = _head(path)
    if not lines:
        return None
    if lines[0].lstrip().startswith(("{", "[")):
        return _kind_of_json(lines, "\n".join(lines))
    return _kind_of_table(lines)


def first_cells(path: str | os.PathLike[str]) -> set[str]:
    """What stands in the first column at the beginning of ``path``: turn ids of a run or of qrels."""
    return {line.split()[0] for line in _head(path)}


def _head(path: str | os.PathLike[str]) -> list[str]:
    """The first lines that are neither blank nor comments; none where the file cannot be read."""
    try:
        head = next(line_chunks(path, _HEAD), b"").decode("utf-8", "replace")
    except InputError:
        return []
    return [line for line in head.splitlines() if line.strip() and not line.startswith("#")]


def _kind_of_json(lines: list[str], head: str) -> Kind | None:
    try:
        record: Any = parse_json(lines[0])
    except ValueError:
        record = None
    if isinstance(record, dict) and is_annotations(record):
        return "snippets"
    if isinstance(record, dict) and is_ratings(list(record)):
        return "ratings"
    if isinstance(record, dict) and ("contents" in record or "passage" in record):
        return "collection"
    if isinstance(record, dict) and any(name in record for name in (*ID_NAMES, "topic_number")):
        return "answers" if {"answer", "answers", "best_span_str"} & record.keys() else "texts"
    if re.search(r'"(raw_utterance|utterance|QuAC_dialog_id)"\s*:', head):
        return "texts"
    if re.match(r'\s*\{\s*"(data"\s*:\s*\[|[^"]*"\s*:\s*\[\s*")', head) or '"best_span_str"' in head:
        return "answers"
    # {turn: text}
    return "texts" if re.match(r'\s*\{\s*"[^"]*"\s*:\s*"', head) else None


def _kind_of_table(lines: list[str]) -> Kind | None:
    header = lines[0].lower()
    columns = [cell.strip(' "') for cell in header.split("\t" if "\t" in header else ",")]
    if is_annotations(columns):
        return "snippets"
    if is_ratings(columns):
        return "ratings"
    if {"topic_id", "facet_id", "question_id"} <= set(columns):
        return "clariq topics"
    if ("paraphrase" in header and "," in header) or {"variation", "transformation_type"} <= set(columns):
        return "paraphrases"
    if "\t" in lines[0] and ({*ID_NAMES} & set(header.split("\t"))):
        return "texts"
    rows = [line.split() for line in islice(lines, 1, 50)] or [lines[0].split()]
    if all(len(row) >= 6 and _NUMBER.fullmatch(row[4]) and _WHOLE.fullmatch(row[3]) for row in rows):
        return "run"
    if all(len(row) == 4 and _WHOLE.fullmatch(row[3]) for row in rows):
        return "qrels"
    if all(len(row) == 3 and _NUMBER.fullmatch(row[2]) for row in rows) and not _WHOLE.fullmatch(rows[0][0]):
        return "scores"
    if all(line.count("\t") == 1 for line in lines[:50]):
        return "texts"
    return None
