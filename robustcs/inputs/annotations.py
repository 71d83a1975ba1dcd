"""Snippet annotations: the characters of a text that an annotator selected.

The columns determine the format:

- CSV of Amazon MTurk on paragraphs (CAsT-snippets): ``Input.turn_id``, ``Input.passage_id``, ``Input.passage``, ``WorkerId``,
  ``Answer.taskAnswers``;
- the same on sentences, with ``Input.sentence_id`` and ``Input.sentence``; Prolific writes the ids in lists;
- CSV of Amazon MTurk on the choice of sentences: ``Input.sentences``, a list of ``[text, id]``, and for each sentence
  ``Answer.ID.on`` with True or False;
- JSONL with one such choice per line: ``{"turn", "passage", "worker", "sentences": [text, …], "chosen": [number from 0, …]}``;
- JSONL with one annotation per line: ``{"turn", "passage", "worker", "text", "snippets": [[start, end], …]}``, and optionally
  ``query``, ``unit`` (``paragraph`` or ``sentence``), ``paragraph`` (the passage of a sentence), ``confidence`` (1 to 5),
  ``seconds`` and ``accepted``.

``Answer.taskAnswers`` is a literal, ``[{name: {"entities": [{"startOffset": 0, "endOffset": 5}]}}]``, parsed as data (JSON or
Python literal) and never evaluated. Offsets count characters from 0; the end is exclusive. The literal may also contain
``"answer_confidence": {"very_low": false, "low": true, …}``; ``WorkTimeInSeconds`` and ``AssignmentStatus`` are read as well.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from robustcs.errors import ProblemList, UsageError, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import RowProblems
from robustcs.inputs.tables import find_column, need_column, read_rows
from robustcs.inputs.text import is_whole, parse_json

#: What annotators read: a passage or a sentence to select characters from, or a passage to select sentences from.
Unit = Literal["paragraph", "sentence", "selection"]

UNITS: tuple[Unit, ...] = get_args(Unit)
#: (turn, passage or sentence id).
TextKey = tuple[str, str]
Spans = tuple[tuple[int, int], ...]
_TASK, _SENTENCES = "answer.taskanswers", "input.sentences"


@dataclass(frozen=True)
class Annotation:
    """The selection of one annotator in one text.

    spans
        Half-open [start, end) in characters, ascending; an empty selection is valid.
    confidence
        From 1 (very low) to 5 (very high); None if unknown.
    seconds
        Time for the annotation; None if unknown.
    accepted
        Whether the requester accepted the annotation; None if unknown.
    """

    worker: str
    spans: Spans
    confidence: int | None = None
    seconds: float | None = None
    accepted: bool | None = None


@dataclass(frozen=True)
class AnnotatedText:
    """One text that annotators read for one turn, with one annotation per row of the files.

    paragraph
        For a sentence: the id of its passage; empty if unknown.
    parts
        For a selection: half-open [start, end) of every sentence on offer, in characters; else empty.
    """

    turn: str
    passage: str
    unit: Unit
    query: str
    text: str
    annotations: tuple[Annotation, ...]
    paragraph: str = ""
    parts: Spans = ()


def is_annotations(columns: Iterable[str]) -> bool:
    """Return whether a file with these columns contains snippet annotations or choices of sentences."""
    names = {column.lower() for column in columns}
    return _TASK in names or "snippets" in names or _SENTENCES in names or {"sentences", "chosen"} <= names


def read_annotations(path: StrPath) -> tuple[dict[TextKey, AnnotatedText], tuple[str, ...]]:
    """Return (turn, passage) → the text with its annotations in file order; and notes.

    Every row is one annotation by one annotator. Worker ids of released files repeat, which is noted but not repaired.

    Raises :class:`InputError` with every bad row (bounded), or if columns are missing.
    """
    problems = RowProblems(path, "annotations")
    columns, rows = read_rows(path, problems)
    if not is_annotations(columns):
        advice = "write the CSV of MTurk or Prolific (Answer.taskAnswers), or JSONL with turn, passage, worker, text, snippets"
        raise input_error(path, 1, "not a file of snippet annotations", advice, "unknown-format")
    layout = _layout(path, columns)
    texts: dict[TextKey, AnnotatedText] = {}
    for line, row in rows:
        read = _row(row, layout, line, problems)
        if read is None:
            continue
        key = read.turn, read.passage
        known = texts.get(key)
        if known is None:
            texts[key] = read
        elif known.text != read.text:
            found = f"turn {read.turn} passage {read.passage} has a different text in an earlier line"
            problems.add(line, found, "give different texts different ids", "contradicting-entries")
        else:
            texts[key] = replace(known, annotations=known.annotations + read.annotations)
    problems.raise_if_any(sum(len(text.annotations) for text in texts.values()))
    return texts, shared_workers(Path(path).name, texts.values())


def join_annotations(files: Sequence[tuple[StrPath, Mapping[TextKey, AnnotatedText]]]) -> dict[TextKey, AnnotatedText]:
    """Join the texts of several files; annotations of the same text are in the order of the files.

    Raises :class:`InputError` if two files give a passage different texts, and :class:`UsageError` if some texts are paragraphs
    and others sentences or choices of sentences: the tasks differ, so a common mean would describe neither.
    """
    first = {text.unit: path for path, texts in reversed(files) for text in reversed(list(texts.values()))}
    if len(first) > 1:
        names = {"selection": "choices of sentences"}
        found = " and ".join(f"{names.get(unit, f'{unit}s')} ({path})" for unit, path in reversed(first.items()))
        told = f"annotations of {found} are different tasks and cannot be pooled"
        raise UsageError("two-units", told, "analyze the files of each task separately")
    joined: dict[TextKey, AnnotatedText] = {}
    for path, texts in files:
        for key, read in texts.items():
            known = joined.get(key)
            if known is not None and known.text != read.text:
                found = f"turn {key[0]} passage {key[1]} has a different text in an earlier file"
                raise input_error(path, None, found, "give different texts different ids",
                                  "contradicting-entries")  # fmt: skip
            earlier = known.annotations if known else ()
            joined[key] = replace(read, annotations=earlier + read.annotations)
    return joined


@dataclass(frozen=True)
class _Layout:
    """The columns of one file; for a selection, ``text`` and ``answer`` are the sentences and the chosen numbers."""

    unit: Unit
    turn: str
    passage: str
    text: str
    worker: str
    answer: str | None
    query: str | None
    paragraph: str | None = "paragraph"
    seconds: str | None = "seconds"
    crowd: bool = False


def _layout(path: StrPath, columns: Sequence[str]) -> _Layout:
    names = {column.lower() for column in columns}
    selection = _SENTENCES in names or ("snippets" not in names and _TASK not in names)
    if _TASK not in names and _SENTENCES not in names:
        answer = (("sentences",), ("chosen",)) if selection else (("text",), ("snippets",))
        plain = (("turn", "turn_id"), ("passage", "passage_id"), ("worker", "worker_id"), *answer)
        turn, passage, worker, text, chosen = (need_column(path, columns, some) for some in plain)
        return _Layout(
            "selection" if selection else "paragraph", turn, passage, text, worker, chosen, find_column(columns, ("query",))
        )
    unit: Unit = "selection" if selection else "sentence" if "input.sentence_id" in names else "paragraph"
    id_, read = {"paragraph": ("passage_id", "passage"), "sentence": ("sentence_id", "sentence"),
                 "selection": ("passage_id", "sentences")}[unit]  # fmt: skip
    turn, passage, text = (need_column(path, columns, (f"Input.{name}",)) for name in ("turn_id", id_, read))
    worker = need_column(path, columns, ("WorkerId",))
    task = None if selection else need_column(path, columns, ("Answer.taskAnswers",))
    query, paragraph, seconds = (
        find_column(columns, (name,)) for name in ("Input.query", "Input.passage_id", "WorkTimeInSeconds")
    )
    return _Layout(unit, turn, passage, text, worker, task, query, paragraph, seconds, crowd=True)


def _row(row: Mapping[str, Any], layout: _Layout, line: int, problems: ProblemList) -> AnnotatedText | None:
    turn, passage, worker = (_id(row.get(name)) for name in (layout.turn, layout.passage, layout.worker))
    for what, value in (("turn id", turn), ("passage id", passage), ("worker id", worker)):
        if not value:
            problems.skip(line, f"no {what}", "complete the row or delete it", "no-id")
            return None
    unit = row.get("unit", layout.unit)
    if unit not in ("paragraph", "sentence") and unit != layout.unit:
        problems.add(line, f"unknown unit {str(unit)[:30]!r}", "write paragraph or sentence", "bad-unit")
        return None
    read = (
        _selection_in(row, layout.text, layout.answer, line, problems)
        if unit == "selection"
        else _snippets(row, layout, line, problems)
    )
    told = None if read is None else _told(row, layout, line, problems)
    if read is None or told is None:
        return None
    text, parts, pairs = read
    query = row.get(layout.query) if layout.query else ""
    paragraph = _id(row.get(layout.paragraph)) if layout.paragraph and unit == "sentence" else ""
    annotation = Annotation(worker, tuple(sorted(set(pairs))), *told)
    return AnnotatedText(turn, passage, unit, query if isinstance(query, str) else "", text, (annotation,), paragraph, parts)


#: A text, the sentences to choose from, and the selected spans.
_Read = tuple[str, Spans, list[tuple[int, int]]]


def _snippets(row: Mapping[str, Any], layout: _Layout, line: int, problems: ProblemList) -> _Read | None:
    of = " ".join(("turn", _id(row.get(layout.turn)), "passage", _id(row.get(layout.passage))))
    text = row.get(layout.text)
    if not isinstance(text, str) or not text.strip():
        problems.skip(line, f"{of}: no text", "add the text that the offsets refer to", "empty-text")
        return None
    pairs = _pairs_in(row.get(str(layout.answer)), line, problems)
    if pairs is None:
        return None
    bad = next((pair for pair in pairs if not 0 <= pair[0] < pair[1] <= len(text)), None)
    if bad is not None:
        found = f"{of}: snippet [{bad[0]}, {bad[1]}) is not inside the text of {len(text)} characters"
        problems.add(line, found, "count offsets in characters from 0, with start below end", "bad-offsets")
        return None
    return text, (), pairs


def _told(
    row: Mapping[str, Any], layout: _Layout, line: int, problems: ProblemList
) -> tuple[int | None, float | None, bool | None] | None:
    """Return (confidence, seconds, accepted) of a row, each None if unknown; note a problem and return None if one is wrong."""
    seconds = row.get(layout.seconds) if layout.seconds else None
    try:
        time = None if seconds is None or str(seconds).strip() == "" or isinstance(seconds, bool) else float(seconds)
    except (TypeError, ValueError, OverflowError):
        time = math.nan
    if time is not None and not 0 <= time < math.inf:
        problems.add(line, f"invalid time {str(seconds)[:30]!r}", "write seconds, 0 or more, or remove it", "bad-number")
        return None
    if layout.crowd:
        answer = row.get(layout.answer) if layout.answer else None
        return _confidence_in(_literal(answer) if isinstance(answer, str) else None), time, _accepted_by(row)
    confidence, accepted = row.get("confidence"), row.get("accepted")
    if isinstance(confidence, str) and confidence in CONFIDENCE:
        confidence = CONFIDENCE.index(confidence) + 1
    if confidence is not None and (isinstance(confidence, bool) or confidence not in range(1, len(CONFIDENCE) + 1)):
        found = f"invalid confidence {str(confidence)[:30]!r}"
        problems.add(line, found, f"write 1 to {len(CONFIDENCE)}, or remove it", "bad-number")
        return None
    if accepted is not None and not isinstance(accepted, bool):
        problems.add(line, f"accepted is {str(accepted)[:30]!r}", "write true or false, or remove it", "bad-value")
        return None
    return None if confidence is None else int(confidence), time, accepted


def _id(value: object) -> str:
    """Return an id as text; a list of one id (Prolific) counts as that id, anything else is empty."""
    if isinstance(value, str):
        value = value.strip()
        if value.startswith("["):
            listed = _literal(value)
            one = listed[0] if isinstance(listed, list) and len(listed) == 1 else None
            return one.strip() if isinstance(one, str) and is_whole(one) else ""
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def shared_workers(name: str, texts: Iterable[AnnotatedText]) -> tuple[str, ...]:
    """Return a note if one worker id occurs more than once for the same text."""
    repeated: dict[str, int] = {}
    for text in texts:
        workers = [annotation.worker for annotation in text.annotations]
        for worker in {worker for worker in workers if workers.count(worker) > 1}:
            repeated[worker] = repeated.get(worker, 0) + 1
    if not repeated:
        return ()
    most = sorted(repeated, key=lambda worker: (-repeated[worker], worker))
    some = ", ".join(f"{worker} ({repeated[worker]} texts)" for worker in most[:3]) + (" …" if len(most) > 3 else "")
    return (f"{name}: worker ids look shared: {some} annotate the same text more than once; each row counts as one annotator",)


# ---------------------------------------------------------------- the answer of one annotation task
#: The levels of confidence of CAsT-snippets, from 1 on.
CONFIDENCE = ("very_low", "low", "medium", "high", "very_high")
#: Longest literal; answers are short, and a longer literal could exhaust the parser's memory.
_LONGEST = 1_000_000


def _literal(text: str) -> Any:
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


def _pairs_in(answer: object, line: int, problems: ProblemList) -> list[tuple[int, int]] | None:
    """Return (start, end) of every snippet of a row; note a problem and return None if they cannot be read."""
    if isinstance(answer, str):
        value = _literal(answer)
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


def _confidence_in(value: Any) -> int | None:
    """Return the level marked in ``answer_confidence``; None unless exactly one level is marked."""
    for answer in value if isinstance(value, list) else [value]:
        levels = answer.get("answer_confidence") if isinstance(answer, dict) else None
        if isinstance(levels, dict):
            marked = [level for level, name in enumerate(CONFIDENCE, 1) if levels.get(name) is True]
            return marked[0] if len(marked) == 1 else None
    return None


def _accepted_by(row: Mapping[str, Any]) -> bool | None:
    """Return whether a row of MTurk was approved or rejected, by its ``AssignmentStatus``; None if neither.

    The marks ``Approve`` and ``Reject`` are ignored: in released files, scripts set them on assignments whose status remained
    ``Submitted``.
    """
    return {"approved": True, "rejected": False}.get(str(row.get("AssignmentStatus") or "").strip().lower())


def _selection_in(row: Mapping[str, Any], sentences: str, chosen: str | None, line: int, problems: ProblemList) -> _Read | None:
    """Return the sentences of a row as one text, the spans of all sentences, and the spans of the chosen ones.

    ``sentences`` is the column that lists them: texts whose numbers from 0 are in the column ``chosen``; or, without such a
    column, ``[text, id]`` pairs with a column ``Answer.ID.on`` each. Notes a problem and returns None if they cannot be read.
    """
    listed = row.get(sentences)
    if isinstance(listed, str):
        listed = _literal(listed)
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
