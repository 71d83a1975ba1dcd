"""Snippet annotations: which characters of a text somebody chose.

Forms are told apart by their columns:

- CSV of Amazon MTurk on paragraphs (CAsT-snippets): ``Input.turn_id``, ``Input.passage_id``, ``Input.passage``, ``WorkerId``,
  ``Answer.taskAnswers``;
- the same on sentences, with ``Input.sentence_id`` and ``Input.sentence`` besides; Prolific has the ids in lists;
- CSV of Amazon MTurk on the choice of sentences: ``Input.sentences``, a list of ``[text, id]``, and ``Answer.ID.on``, which is
  True or False, for every one of them;
- JSONL, one such choice a line: ``{"turn", "passage", "worker", "sentences": [text, …], "chosen": [number from 0 on, …]}``;
- JSONL, one annotation a line: ``{"turn", "passage", "worker", "text", "snippets": [[start, end], …]}``, where ``query``,
  ``unit`` (``paragraph`` or ``sentence``), ``paragraph`` (the passage that a sentence stands in), ``confidence`` (1 to 5),
  ``seconds`` and ``accepted`` may be added.

``Answer.taskAnswers`` is a literal, ``[{name: {"entities": [{"startOffset": 0, "endOffset": 5}]}}]``, read as data (JSON, or a
Python literal) and never evaluated. Offsets count characters from 0, without the end. Beside the entities may stand
``"answer_confidence": {"very_low": false, "low": true, …}``; ``WorkTimeInSeconds`` and ``AssignmentStatus`` are read, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from robustcs.errors import ProblemList, UsageError, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import RowProblems, find_column, need_column, read_rows
from robustcs.inputs.task_answers import CONFIDENCE, accepted_by, confidence_in, literal, pairs_in, selection_in
from robustcs.inputs.text import is_whole

#: What was read: a passage or a sentence, of which characters were chosen, or a passage of which sentences were.
Unit = Literal["paragraph", "sentence", "selection"]


UNITS: tuple[Unit, ...] = get_args(Unit)


#: (turn, passage or sentence id).
TextKey = tuple[str, str]


Spans = tuple[tuple[int, int], ...]


_TASK, _SENTENCES = "answer.taskanswers", "input.sentences"


@dataclass(frozen=True)
class Annotation:
    """What one annotator chose in one text, and what else is known of it.

    spans
        Half-open [start, end) in characters, ascending; none is a valid answer.
    confidence
        From 1 (very low) to 5 (very high); None where the annotator does not say.
    seconds
        The time that it took; None where the file does not say.
    accepted
        Did it pass the check of those who ordered it? None where nothing is said.
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
        Of a sentence: the id of the passage that it stands in; empty where the file does not say.
    parts
        Of a selection: half-open [start, end) of every sentence that could be chosen, in characters; else empty.
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
    """Whether a file with these columns holds snippet annotations, or choices of sentences."""
    names = {column.lower() for column in columns}
    return _TASK in names or "snippets" in names or _SENTENCES in names or {"sentences", "chosen"} <= names


def read_annotations(path: StrPath) -> tuple[dict[TextKey, AnnotatedText], tuple[str, ...]]:
    """(turn, passage) → the text with its annotations in file order; and notes.

    Every row is one annotation by one annotator: worker ids of released files repeat, which is noted and not repaired.

    Raises :class:`InputError` with every bad row (bounded), or where columns are missing.
    """
    problems = RowProblems(path, "annotations")
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
    problems.raise_if_any(sum(len(text.annotations) for text in texts.values()))
    return texts, _shared_workers(Path(path).name, texts.values())


def join_annotations(
    files: Sequence[tuple[StrPath, Mapping[TextKey, AnnotatedText]]],
) -> dict[TextKey, AnnotatedText]:
    """The texts of several files; annotations of the same text stand together, in the order of the files.

    Raises :class:`InputError` where two files give a passage different texts, and :class:`UsageError` where some texts are
    paragraphs, others sentences or choices of sentences: the tasks differ, and a mean over two describes neither.
    """
    first = {text.unit: path for path, texts in reversed(files) for text in reversed(list(texts.values()))}
    if len(first) > 1:
        names = {"selection": "choices of sentences"}
        found = " and ".join(f"{names.get(unit, f'{unit}s')} ({path})" for unit, path in reversed(first.items()))
        raise UsageError(
            "two-units", f"annotations of {found} are two tasks, and are not pooled", "compare the files of each by themselves"
        )
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


@dataclass(frozen=True)
class _Layout:
    """The columns of one file; ``text`` and ``answer`` of a selection: its sentences, and their numbers that were chosen."""

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
            problems.skip(line, f"no {what}", "complete the row or leave it out", "no-id")
            return None
    unit = row.get("unit", layout.unit)
    if unit not in ("paragraph", "sentence") and unit != layout.unit:
        problems.add(line, f"unit {str(unit)[:30]!r}", "write paragraph or sentence", "bad-unit")
        return None
    read = (
        selection_in(row, layout.text, layout.answer, line, problems)
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


#: A text, its sentences where they were chosen from, and what was chosen.
_Read = tuple[str, Spans, list[tuple[int, int]]]


def _snippets(row: Mapping[str, Any], layout: _Layout, line: int, problems: ProblemList) -> _Read | None:
    of = " ".join(("turn", _id(row.get(layout.turn)), "passage", _id(row.get(layout.passage))))
    text = row.get(layout.text)
    if not isinstance(text, str) or not text.strip():
        problems.skip(line, f"{of}: no text", "write the text that the offsets count in", "empty-text")
        return None
    pairs = pairs_in(row.get(str(layout.answer)), line, problems)
    if pairs is None:
        return None
    bad = next((pair for pair in pairs if not 0 <= pair[0] < pair[1] <= len(text)), None)
    if bad is not None:
        found = f"{of}: snippet [{bad[0]}, {bad[1]}) is not inside the text of {len(text)} characters"
        problems.add(line, found, "offsets count characters from 0, and start is below end", "bad-offsets")
        return None
    return text, (), pairs


def _told(
    row: Mapping[str, Any], layout: _Layout, line: int, problems: ProblemList
) -> tuple[int | None, float | None, bool | None] | None:
    """(confidence, seconds, accepted) of a row, each None where it is not said; None, and a problem, where it is wrong."""
    seconds = row.get(layout.seconds) if layout.seconds else None
    try:
        time = None if seconds is None or str(seconds).strip() == "" or isinstance(seconds, bool) else float(seconds)
    except (TypeError, ValueError, OverflowError):
        time = math.nan
    if time is not None and not 0 <= time < math.inf:
        problems.add(line, f"a time of {str(seconds)[:30]!r}", "write seconds, from 0 on, or leave it out", "bad-number")
        return None
    if layout.crowd:
        answer = row.get(layout.answer) if layout.answer else None
        return confidence_in(literal(answer) if isinstance(answer, str) else None), time, accepted_by(row)
    confidence, accepted = row.get("confidence"), row.get("accepted")
    if isinstance(confidence, str) and confidence in CONFIDENCE:
        confidence = CONFIDENCE.index(confidence) + 1
    if confidence is not None and (isinstance(confidence, bool) or confidence not in range(1, len(CONFIDENCE) + 1)):
        problems.add(
            line, f"confidence {str(confidence)[:30]!r}", f"write 1 to {len(CONFIDENCE)}, or leave it out", "bad-number"
        )
        return None
    if accepted is not None and not isinstance(accepted, bool):
        problems.add(line, f"accepted {str(accepted)[:30]!r}", "write true or false, or leave it out", "bad-value")
        return None
    return None if confidence is None else int(confidence), time, accepted


def _id(value: object) -> str:
    """An id as text; the list of one id that Prolific files have is that id, anything else is empty."""
    if isinstance(value, str):
        value = value.strip()
        if value.startswith("["):
            listed = literal(value)
            one = listed[0] if isinstance(listed, list) and len(listed) == 1 else None
            return one.strip() if isinstance(one, str) and is_whole(one) else ""
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


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
