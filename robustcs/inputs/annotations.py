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
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from robustcs.errors import UsageError, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import BadRowError, RowProblems, UnusableRowError, noted
from robustcs.inputs.tables import Fields, by_field, named, read_rows
from robustcs.inputs.text import is_whole, parse_json
from robustcs.wording import counted

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
    by_worker = not names.isdisjoint(("worker", "worker_id"))  # answers {turn: [answer]} may name a turn "snippets"
    return bool(names & {_TASK, _SENTENCES}) or (by_worker and ("snippets" in names or {"sentences", "chosen"} <= names))


def read_annotations(path: StrPath) -> tuple[dict[TextKey, AnnotatedText], tuple[str, ...]]:
    """Return (turn, passage) → the text with its annotations in file order; and notes.

    Every row is one annotation by one annotator. Worker ids of released files repeat, which is noted but not repaired.

    Raises :class:`InputError` with every bad row (bounded), or if columns are missing.
    """
    problems = RowProblems(path, "annotations")
    columns, rows = read_rows(path, problems)
    if not is_annotations(columns):
        advice = "write the CSV of MTurk or Prolific (Answer.taskAnswers), or JSONL with turn, passage, worker, text, snippets;"
        advice += " ratings have columns such as item, worker, rating"
        raise input_error(path, 1, "not a file of snippet annotations", advice, "unknown-format")
    unit, needed, optional = _fields(columns)
    texts: dict[TextKey, AnnotatedText] = {}
    for line, row in by_field(path, columns, rows, needed, optional):
        with noted(problems, line):
            read = _row(row, unit)
            known = texts.setdefault((read.turn, read.passage), read)
            if known.text != read.text:
                found = f"turn {read.turn} passage {read.passage} has a different text in an earlier line"
                raise BadRowError(found, "give different texts different ids", "contradicting-entries")
            if known is not read:
                texts[read.turn, read.passage] = replace(known, annotations=known.annotations + read.annotations)
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


#: Columns of JSONL, and of the CSV of Amazon MTurk and Prolific.
_PLAIN: Fields = {"turn": ("turn", "turn_id"), "passage": ("passage", "passage_id"), "worker": ("worker", "worker_id")}
_PLAIN_MORE = named("query", "unit", "paragraph", "seconds", "confidence", "accepted")
_CROWD: Fields = {"turn": ("Input.turn_id",), "worker": ("WorkerId",)}
_CROWD_MORE: Fields = {
    "query": ("Input.query",), "paragraph": ("Input.passage_id",), "seconds": ("WorkTimeInSeconds",),
    "status": ("AssignmentStatus",),
}  # fmt: skip


def _fields(columns: Sequence[str]) -> tuple[Unit, Fields, Fields]:
    """Return the unit of a file, and its needed and optional fields; a selection has ``sentences`` in place of ``text``."""
    names = {column.lower() for column in columns}
    if _SENTENCES in names:
        marks = named(*(column for column in columns if column.startswith("Answer.")))
        own = {"passage": ("Input.passage_id",), "sentences": ("Input.sentences",)}
        return "selection", {**_CROWD, **own}, {**_CROWD_MORE, **marks}
    if _TASK in names:
        unit: Unit = "sentence" if "input.sentence_id" in names else "paragraph"
        id_, text = ("Input.sentence_id", "Input.sentence") if unit == "sentence" else ("Input.passage_id", "Input.passage")
        return unit, {**_CROWD, "passage": (id_,), "text": (text,), "snippets": ("Answer.taskAnswers",)}, _CROWD_MORE
    if "snippets" in names:
        return "paragraph", {**_PLAIN, **named("text", "snippets")}, _PLAIN_MORE
    return "selection", {**_PLAIN, **named("sentences", "chosen")}, _PLAIN_MORE


def _row(row: Mapping[str, Any], unit: Unit) -> AnnotatedText:
    """Return the text of a row with its annotation. Raises :class:`BadRowError`."""
    turn, passage, worker = (_id(row[name]) for name in ("turn", "passage", "worker"))
    lacking = next((what for what, value in (("turn", turn), ("passage", passage), ("worker", worker)) if not value), None)
    if lacking:
        raise UnusableRowError(f"no {lacking} id", "complete the row or delete it", "no-id")
    unit = unit if unit == "selection" else row.get("unit", unit)
    if unit not in UNITS:
        raise BadRowError(f"unknown unit {str(unit)[:30]!r}", "write paragraph or sentence", "bad-unit")
    text, parts, pairs = _selection_in(row) if unit == "selection" else _snippets(row, f"turn {turn} passage {passage}")
    query, paragraph = row.get("query"), _id(row.get("paragraph")) if unit == "sentence" else ""
    annotation = Annotation(worker, tuple(sorted(set(pairs))), _confidence(row), _seconds(row), _accepted(row))
    return AnnotatedText(turn, passage, unit, query if isinstance(query, str) else "", text, (annotation,), paragraph, parts)


#: A text, the sentences to choose from, and the selected spans.
_Read = tuple[str, Spans, list[tuple[int, int]]]


def _snippets(row: Mapping[str, Any], of: str) -> _Read:
    text = row["text"]
    if not isinstance(text, str) or not text.strip():
        raise UnusableRowError(f"{of}: no text", "add the text that the offsets refer to", "empty-text")
    pairs = _pairs_in(row["snippets"])
    bad = next((pair for pair in pairs if not 0 <= pair[0] < pair[1] <= len(text)), None)
    if bad is not None:
        found = f"{of}: snippet [{bad[0]}, {bad[1]}) is not inside the text of {len(text)} characters"
        raise BadRowError(found, "count offsets in characters from 0, with start below end", "bad-offsets")
    return text, (), pairs


def _seconds(row: Mapping[str, Any]) -> float | None:
    seconds = row.get("seconds")
    if seconds is None or str(seconds).strip() == "" or isinstance(seconds, bool):
        return None
    try:
        time = float(seconds)
    except (TypeError, ValueError, OverflowError):
        time = math.nan
    if not 0 <= time < math.inf:
        raise BadRowError(f"invalid time {str(seconds)[:30]!r}", "write seconds, 0 or more, or remove it", "bad-number")
    return time


def _confidence(row: Mapping[str, Any]) -> int | None:
    """Return the level, in JSONL by its number or name, in an answer of MTurk by its mark; None if it is unknown."""
    answer, confidence = row.get("snippets"), row.get("confidence")
    if isinstance(answer, str):
        return _confidence_in(_literal(answer))
    if isinstance(confidence, str) and confidence in CONFIDENCE:
        return CONFIDENCE.index(confidence) + 1
    if confidence is not None and (isinstance(confidence, bool) or confidence not in range(1, len(CONFIDENCE) + 1)):
        found = f"invalid confidence {str(confidence)[:30]!r}"
        raise BadRowError(found, f"write 1 to {len(CONFIDENCE)}, or remove it", "bad-number")
    return None if confidence is None else int(confidence)


def _accepted(row: Mapping[str, Any]) -> bool | None:
    """Return whether the requester approved or rejected the annotation; None if neither.

    The marks ``Approve`` and ``Reject`` of MTurk are ignored: in released files, scripts set them on assignments whose
    ``AssignmentStatus`` remained ``Submitted``.
    """
    accepted = row.get("accepted", {"approved": True, "rejected": False}.get(str(row.get("status") or "").strip().lower()))
    if accepted is not None and not isinstance(accepted, bool):
        raise BadRowError(f"accepted is {str(accepted)[:30]!r}", "write true or false, or remove it", "bad-value")
    return accepted


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
    counts = (Counter(annotation.worker for annotation in text.annotations) for text in texts)
    repeated = Counter(worker for of_text in counts for worker, number in of_text.items() if number > 1)
    if not repeated:
        return ()
    most = sorted(repeated.items(), key=lambda item: (-item[1], item[0]))
    some = ", ".join(f"{worker} ({counted(number, 'text')})" for worker, number in most[:3]) + (" …" if len(most) > 3 else "")
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


def _pairs_in(answer: object) -> list[tuple[int, int]]:
    """Return (start, end) of every snippet of a row. Raises :class:`BadRowError` if they cannot be read."""
    if isinstance(answer, str):
        value = _literal(answer)
        if value is None:
            found = f"the answer {answer[:40]!r} is neither JSON nor a Python literal"
            raise BadRowError(found, "write JSON, as MTurk does", "not-a-literal")
        entities = _entities(value)
        if entities is None:
            raise BadRowError("the answer has no list of entities", 'write [{"task": {"entities": []}}]', "no-entities")
        offsets = [(entity.get("startOffset"), entity.get("endOffset")) if isinstance(entity, dict) else ()
                   for entity in entities]  # fmt: skip
    elif isinstance(answer, list):
        offsets = [tuple(entry) if isinstance(entry, list) else () for entry in answer]
    else:
        raise BadRowError("no snippets", 'write "snippets": [[start, end], …], or [] for none', "no-snippets")
    if any(len(entry) != 2 or not all(map(_is_offset, entry)) for entry in offsets):
        raise BadRowError("a snippet without start and end", "write both as whole numbers", "bad-offsets")
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


def _selection_in(row: Mapping[str, Any]) -> _Read:
    """Return the sentences of a row as one text, the spans of all sentences, and the spans of the chosen ones.

    ``sentences`` are texts whose numbers from 0 are in ``chosen``; or, without ``chosen``, ``[text, id]`` pairs with a column
    ``Answer.ID.on`` each. Raises :class:`BadRowError` if they cannot be read.
    """
    listed = row["sentences"]
    if isinstance(listed, str):
        listed = _literal(listed)
    entries = [entry if isinstance(entry, list) else [entry] for entry in listed] if isinstance(listed, list) else []
    texts = [entry[0] for entry in entries if entry and isinstance(entry[0], str) and entry[0].strip()]
    if not entries or len(texts) < len(entries):
        raise BadRowError("no list of sentences", "write their texts as a list", "no-sentences")
    if "chosen" not in row:
        marks = [str(row.get(f"Answer.{entry[-1]}.on", "")).strip().lower() for entry in entries]
        unmarked = next((place for place, mark in enumerate(marks) if mark not in ("true", "false")), None)
        if unmarked is not None:
            found = f"sentence {unmarked} is neither on nor off"
            raise BadRowError(found, "write True or False for every sentence (Answer.ID.on)", "no-choice")
        places = [place for place, mark in enumerate(marks) if mark == "true"]
    else:
        places = row["chosen"]
        if not isinstance(places, list) or any(not _is_offset(place) or place not in range(len(texts)) for place in places):
            found = f"chosen is not a list of numbers from 0 to {len(texts) - 1}"
            raise BadRowError(found, 'write "chosen": [0, 2], numbers of sentences, or [] for none', "bad-choice")
    ends, end = [], -1
    for text in texts:
        ends.append((end + 1, end + 1 + len(text)))
        end = ends[-1][1]
    return " ".join(texts), tuple(ends), [ends[place] for place in sorted(set(places))]
