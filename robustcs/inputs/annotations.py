"""Snippet annotations: which characters of a text somebody chose.

Four forms are told apart by their columns:

- CSV of Amazon MTurk on paragraphs (CAsT-snippets): ``Input.turn_id``, ``Input.passage_id``, ``Input.passage``, ``WorkerId``,
  ``Answer.taskAnswers``;
- the same on sentences, with ``Input.sentence_id`` and ``Input.sentence`` besides;
- CSV of Prolific: the columns of paragraphs, with ``Input.passage_id`` as a list of one id;
- JSONL, one annotation a line: ``{"turn", "passage", "worker", "text", "snippets": [[start, end], …]}``, where ``query`` and
  ``unit`` (``paragraph`` or ``sentence``) may be added.

``Answer.taskAnswers`` is a literal, ``[{name: {"entities": [{"startOffset": 0, "endOffset": 5}]}}]``; it is read as data
(JSON, or a Python literal) and never evaluated. Offsets count characters from 0, the end is not part of the snippet.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from robustcs.errors import ProblemList, UsageError, input_error
from robustcs.inputs.files import parse_json
from robustcs.inputs.records import StrPath, is_whole
from robustcs.inputs.rows import find_column, need_column, read_rows

Unit = Literal["paragraph", "sentence"]
#: (turn, passage or sentence id).
TextKey = tuple[str, str]
Spans = tuple[tuple[int, int], ...]

_TASK = "answer.taskanswers"
#: A task's answers are short; a longer literal is no annotation and could take the parser's memory.
_LONGEST = 1_000_000


@dataclass(frozen=True)
class Annotation:
    """What one annotator chose in one text: half-open [start, end) in characters, ascending; none is a valid answer."""

    worker: str
    spans: Spans


@dataclass(frozen=True)
class AnnotatedText:
    """One text that annotators read for one turn, with one annotation per row of the files."""

    turn: str
    passage: str
    unit: Unit
    query: str
    text: str
    annotations: tuple[Annotation, ...]


def is_annotations(columns: Iterable[str]) -> bool:
    """Whether a file with these columns holds snippet annotations."""
    names = {column.lower() for column in columns}
    return _TASK in names or "snippets" in names


def read_annotations(path: StrPath) -> tuple[dict[TextKey, AnnotatedText], tuple[str, ...]]:
    """(turn, passage) → the text with its annotations in file order; and notes.

    Every row is one annotation by one annotator: worker ids of released files repeat, which is noted and not repaired.

    Raises :class:`InputError` with every bad row (bounded): an answer that is no literal or has no entities, offsets outside
    the text, an id or a text that is missing, a passage with two different texts; or where columns are missing.
    """
    problems = ProblemList(path)
    columns, rows = read_rows(path, problems)
    if not is_annotations(columns):
        raise input_error(
            path, 1, "not a file of snippet annotations",
            "write the CSV of MTurk or Prolific (Answer.taskAnswers), or JSONL with turn, passage, worker, text, snippets",
            "unknown-format",
        )  # fmt: skip
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
            found = f"turn {read.turn} passage {read.passage} has another text than in an earlier line"
            problems.add(line, found, "give different texts different ids", "contradicting-entries")
        else:
            texts[key] = replace(known, annotations=known.annotations + read.annotations)
    problems.raise_if_any()
    return texts, _shared_workers(Path(path).name, texts.values())


def join_annotations(
    files: Sequence[tuple[StrPath, Mapping[TextKey, AnnotatedText]]],
) -> dict[TextKey, AnnotatedText]:
    """The texts of several files; annotations of the same text stand together, in the order of the files.

    Raises :class:`InputError` where two files give a passage different texts, and :class:`UsageError` where some texts are
    paragraphs and others sentences: the two tasks differ, and a mean over both describes neither.
    """
    _refuse_two_units(files)
    joined: dict[TextKey, AnnotatedText] = {}
    for path, texts in files:
        for key, read in texts.items():
            known = joined.get(key)
            if known is not None and known.text != read.text:
                found = f"turn {key[0]} passage {key[1]} has another text than in an earlier file"
                raise input_error(path, None, found, "annotations of one text must be about the same text",
                                  "contradicting-entries")  # fmt: skip
            earlier = known.annotations if known else ()
            joined[key] = replace(read, annotations=earlier + read.annotations)
    return joined


def _refuse_two_units(files: Sequence[tuple[StrPath, Mapping[TextKey, AnnotatedText]]]) -> None:
    first: dict[Unit, StrPath] = {}
    for path, texts in files:
        for text in texts.values():
            first.setdefault(text.unit, path)
    if len(first) > 1:
        found = " and ".join(f"{unit}s ({path})" for unit, path in first.items())
        raise UsageError(
            "two-units", f"annotations of {found} are two tasks, and are not pooled", "compare the files of each by themselves"
        )


@dataclass(frozen=True)
class _Layout:
    """The columns of one file."""

    unit: Unit
    turn: str
    passage: str
    text: str
    worker: str
    answer: str
    query: str | None


def _layout(path: StrPath, columns: Sequence[str]) -> _Layout:
    names = {column.lower() for column in columns}
    if _TASK not in names:
        plain = (("turn", "turn_id"), ("passage", "passage_id"), ("text",), ("worker", "worker_id"), ("snippets",))
        turn, passage, text, worker, answer = (need_column(path, columns, some) for some in plain)
        return _Layout("paragraph", turn, passage, text, worker, answer, find_column(columns, ("query",)))
    unit: Unit = "sentence" if "input.sentence_id" in names else "paragraph"
    names_of_unit = ("passage_id", "passage") if unit == "paragraph" else ("sentence_id", "sentence")
    wanted = ("turn_id", *names_of_unit)
    turn, passage, text = (need_column(path, columns, (f"Input.{name}",)) for name in wanted)
    worker, answer = (need_column(path, columns, (name,)) for name in ("WorkerId", "Answer.taskAnswers"))
    return _Layout(unit, turn, passage, text, worker, answer, find_column(columns, ("Input.query",)))


def _row(row: Mapping[str, Any], layout: _Layout, line: int, problems: ProblemList) -> AnnotatedText | None:
    turn, passage, worker = (_id(row.get(name)) for name in (layout.turn, layout.passage, layout.worker))
    for what, value in (("turn id", turn), ("passage id", passage), ("worker id", worker)):
        if not value:
            problems.add(line, f"no {what}", "complete the row or leave it out", "no-id")
            return None
    text = row.get(layout.text)
    if not isinstance(text, str) or not text.strip():
        found = f"turn {turn} passage {passage}: no text"
        problems.add(line, found, "write the text that the offsets count in", "empty-text")
        return None
    unit = row.get("unit", layout.unit)
    if unit not in ("paragraph", "sentence"):
        problems.add(line, f"unit {str(unit)[:30]!r}", "write paragraph or sentence", "bad-unit")
        return None
    pairs = _pairs(row.get(layout.answer), line, problems)
    if pairs is None:
        return None
    bad = next((pair for pair in pairs if not 0 <= pair[0] < pair[1] <= len(text)), None)
    if bad is not None:
        found = f"turn {turn} passage {passage}: snippet [{bad[0]}, {bad[1]}) is not inside the text of {len(text)} characters"
        problems.add(line, found, "offsets count characters from 0, and start is below end", "bad-offsets")
        return None
    query = row.get(layout.query) if layout.query else ""
    annotation = Annotation(worker, tuple(sorted(set(pairs))))
    return AnnotatedText(turn, passage, unit, query if isinstance(query, str) else "", text, (annotation,))


def _id(value: object) -> str:
    """An id as text; the list of one id that Prolific files have is that id, anything else is empty."""
    if isinstance(value, str):
        value = value.strip()
        if value.startswith("["):
            listed = _literal(value)
            one = listed[0] if isinstance(listed, list) and len(listed) == 1 else None
            return one.strip() if isinstance(one, str) and is_whole(one) else ""
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _literal(text: str) -> Any:
    """The value that a literal says, as JSON or as Python writes it; None where it is neither, or too long."""
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


def _pairs(answer: object, line: int, problems: ProblemList) -> list[tuple[int, int]] | None:
    """(start, end) of every snippet of a row; None, and a problem, where they cannot be read."""
    if isinstance(answer, str):
        value = _literal(answer)
        if value is None:
            problems.add(line, f"the answer {answer[:40]!r} is no literal", "write JSON, as MTurk does", "not-a-literal")
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
            problems.add(line, "a snippet without start and end", "give both as whole numbers", "bad-offsets")
            return None
    return offsets  # type: ignore[return-value]


def _is_offset(value: object) -> bool:
    # a Python literal can have a number of a million digits, which str() refuses
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64


def _entities(value: object) -> list[Any] | None:
    """All entities of the answers ``[{name: {"entities": […]}, …}]``; other parts, such as a confidence, are passed over."""
    answers = value if isinstance(value, list) else [value]
    parts = [part for answer in answers if isinstance(answer, dict) for part in answer.values() if isinstance(part, dict)]
    lists = [part["entities"] for part in parts if isinstance(part.get("entities"), list)]
    return [entity for entities in lists for entity in entities] if lists else None


def _shared_workers(name: str, texts: Iterable[AnnotatedText]) -> tuple[str, ...]:
    """A note where one worker id stands more than once for the same text."""
    repeated: dict[str, int] = {}
    for text in texts:
        workers = [annotation.worker for annotation in text.annotations]
        for worker in {worker for worker in workers if workers.count(worker) > 1}:
            repeated[worker] = repeated.get(worker, 0) + 1
    if not repeated:
        return ()
    most = sorted(repeated, key=lambda worker: (-repeated[worker], worker))
    some = ", ".join(f"{worker} ({repeated[worker]} texts)" for worker in most[:3]) + (" …" if len(most) > 3 else "")
    return (f"{name}: worker ids look shared, {some} annotate a text more than once; every row counts as one annotator",)
