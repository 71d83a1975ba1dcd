"""The answer of one annotation task: selected snippets or sentences, confidence, and whether it was accepted."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs.text import parse_json

#: The levels of confidence of CAsT-snippets, from 1 on.
CONFIDENCE = ("very_low", "low", "medium", "high", "very_high")
#: Longest literal; answers are short, and a longer literal could exhaust the parser's memory.
_LONGEST = 1_000_000


def literal(text: str) -> Any:
    """Return the value of a literal in JSON or Python notation; None if it is neither, or too long."""
    if len(text) > _LONGEST:
        return None
    try:
        return parse_json(text)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def pairs_in(answer: object, line: int, problems: ProblemList) -> list[tuple[int, int]] | None:
    """Return (start, end) of every snippet of a row; note a problem and return None if they cannot be read."""
    if isinstance(answer, str):
        value = literal(answer)
        if value is None:
            found = f"the answer {answer[:40]!r} is neither JSON nor a Python literal"
            problems.add(line, found, "write JSON, as MTurk does", "not-a-literal")
            return None
        entities = _entities(value)
        if entities is None:
            problems.add(line, "the answer has no list of entities", 'write [{"task": {"entities": []}}]', "no-entities")
            return None
        offsets = [(entity.get("startOffset"), entity.get("endOffset")) if isinstance(entity, dict) else ()
                   for entity in entities]  # fmt: skip
    elif isinstance(answer, list):
        offsets = [tuple(entry) if isinstance(entry, list) else () for entry in answer]
    else:
        problems.add(line, "no snippets", 'write "snippets": [[start, end], …], or [] for none', "no-snippets")
        return None
    for entry in offsets:
        if len(entry) != 2 or not all(_is_offset(value) for value in entry):
            problems.add(line, "a snippet without start and end", "write both as whole numbers", "bad-offsets")
            return None
    return offsets  # type: ignore[return-value]


def _is_offset(value: object) -> bool:
    # a Python literal can contain a number of a million digits, which str() rejects
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64


def _entities(value: object) -> list[Any] | None:
    """Return all entities of the answers ``[{name: {"entities": […]}, …}]``; other parts, such as a confidence, are ignored."""
    answers = value if isinstance(value, list) else [value]
    parts = [part for answer in answers if isinstance(answer, dict) for part in answer.values() if isinstance(part, dict)]
    lists = [part["entities"] for part in parts if isinstance(part.get("entities"), list)]
    return [entity for entities in lists for entity in entities] if lists else None


def confidence_in(value: Any) -> int | None:
    """Return the level marked in ``answer_confidence``; None unless exactly one level is marked."""
    for answer in value if isinstance(value, list) else [value]:
        levels = answer.get("answer_confidence") if isinstance(answer, dict) else None
        if isinstance(levels, dict):
            marked = [level for level, name in enumerate(CONFIDENCE, 1) if levels.get(name) is True]
            return marked[0] if len(marked) == 1 else None
    return None


def accepted_by(row: Mapping[str, Any]) -> bool | None:
    """Return whether a row of MTurk was approved or rejected, by its ``AssignmentStatus``; None if neither.

    The marks ``Approve`` and ``Reject`` are ignored: in released files, scripts set them on assignments whose status remained
    ``Submitted``.
    """
    return {"approved": True, "rejected": False}.get(str(row.get("AssignmentStatus") or "").strip().lower())


def selection_in(
    row: Mapping[str, Any], sentences: str, chosen: str | None, line: int, problems: ProblemList
) -> tuple[str, tuple[tuple[int, int], ...], list[tuple[int, int]]] | None:
    """Return the sentences of a row as one text, the spans of all sentences, and the spans of the chosen ones.

    ``sentences`` is the column that lists them: texts whose numbers from 0 are in the column ``chosen``; or, without such a
    column, ``[text, id]`` pairs with a column ``Answer.ID.on`` each. Notes a problem and returns None if they cannot be read.
    """
    listed = row.get(sentences)
    if isinstance(listed, str):
        listed = literal(listed)
    entries = [entry if isinstance(entry, list) else [entry] for entry in listed] if isinstance(listed, list) else []
    texts = [entry[0] for entry in entries if entry and isinstance(entry[0], str) and entry[0].strip()]
    if not entries or len(texts) < len(entries):
        problems.add(line, "no list of sentences", "write their texts as a list", "no-sentences")
        return None
    if chosen is None:
        marks = [str(row.get(f"Answer.{entry[-1]}.on", "")).strip().lower() for entry in entries]
        unmarked = [place for place, mark in enumerate(marks) if mark not in ("true", "false")]
        if unmarked:
            found = f"sentence {unmarked[0]} is neither on nor off"
            problems.add(line, found, "write True or False for every sentence (Answer.ID.on)", "no-choice")
            return None
        places = [place for place, mark in enumerate(marks) if mark == "true"]
    else:
        places = row.get(chosen)  # type: ignore[assignment]
        if not isinstance(places, list) or any(not _is_offset(place) or place not in range(len(texts)) for place in places):
            found = f"chosen is not a list of numbers from 0 to {len(texts) - 1}"
            problems.add(line, found, 'write "chosen": [0, 2], numbers of sentences, or [] for none', "bad-choice")
            return None
    ends, end = [], -1
    for text in texts:
        ends.append((end + 1, end + 1 + len(text)))
        end = ends[-1][1]
    return " ".join(texts), tuple(ends), [ends[place] for place in sorted(set(places))]
