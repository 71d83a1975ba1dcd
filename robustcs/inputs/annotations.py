"""Snippet annotations: the characters of a text that an annotator selected.

The columns determine the format:

- CSV of Amazon MTurk on paragraphs (CAsT-snippets): ``Input.turn_id``, ``Input.passage_id``,
  ``Input.passage``, ``WorkerId``, ``Answer.taskAnswers``;
- the same on sentences, with ``Input.sentence_id`` and ``Input.sentence``; Prolific writes the ids
  in lists;
- CSV of Amazon MTurk on the choice of sentences: ``Input.sentences``, a list of ``[text, id]``, and
  for each sentence ``Answer.ID.on`` with True or False;
- JSONL with one such choice per line: ``{"turn", "passage", "worker", "sentences": [text, …],
  "chosen": [number from 0, …]}``;
- JSONL with one annotation per line: ``{"turn", "passage", "worker", "text", "snippets": [[start,
  end], …]}``, and optionally ``query``, ``unit`` (``paragraph`` or ``sentence``), ``paragraph``
  (the passage of a sentence), ``confidence`` (1 to 5), ``seconds`` and ``accepted``.

``Answer.taskAnswers`` is a literal, ``[{name: {"entities": [{"startOffset": 0, "endOffset":
5}]}}]``, parsed as data (JSON or Python literal) and never evaluated. Offsets count characters from
0; the end is exclusive. The literal may also contain ``"answer_confidence": {"very_low": false,
"low": true, …}``; ``WorkTimeInSeconds`` and ``AssignmentStatus`` are read as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from robustcs.errors import UsageError, input_error
from robustcs.inputs.annotation_tasks import (
    CONFIDENCE,
    Spans,
    literal,
    marked_level,
    selection_of,
    snippets_of,
    worker_answer,
)
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import BadRowError, RowProblems, UnusableRowError, noted
from robustcs.inputs.tables import Fields, by_field, named, read_rows, text_of
from robustcs.inputs.text import id_text, number_of, whole_of
from robustcs.wording import counted

#: What annotators read: a passage or a sentence to select characters from, or a passage to select
#: sentences from.
Unit = Literal["paragraph", "sentence", "selection"]

UNITS: tuple[Unit, ...] = get_args(Unit)
#: (turn, passage or sentence id).
TextKey = tuple[str, str]
#: Columns of MTurk, in lower case, that determine the format.
_TASK = "answer.taskanswers"
_SENTENCES = "input.sentences"
#: Units in messages.
_PLURALS = {
    "paragraph": "paragraphs",
    "sentence": "sentences",
    "selection": "choices of sentences",
}
_DIFFERENT_IDS = "give different texts different ids"
#: Most characters of a wrong value, and most worker ids, in a message.
_LONGEST_VALUE = 30
_LISTED = 3


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
        For a selection: half-open [start, end) of every sentence on offer, in characters; else
        empty.
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
    """Return whether a file with these columns contains annotations or choices of sentences."""
    names = {column.lower() for column in columns}
    if names & {_TASK, _SENTENCES}:
        return True
    # answers {turn: [answer]} may name a turn "snippets", but no worker
    by_worker = not names.isdisjoint(("worker", "worker_id"))
    return by_worker and ("snippets" in names or {"sentences", "chosen"} <= names)


def read_annotations(path: StrPath) -> tuple[dict[TextKey, AnnotatedText], tuple[str, ...]]:
    """Return (turn, passage) → the text with its annotations in file order; and notes.

    Every row is one annotation by one annotator. Worker ids of released files repeat, which is
    noted but not repaired.

    Raises :class:`InputError` with every bad row (bounded), or if columns are missing.
    """
    problems = RowProblems(path, "annotations")
    columns, rows = read_rows(path, problems)
    if not is_annotations(columns):
        advice = (
            "write the CSV of MTurk or Prolific (Answer.taskAnswers), or JSONL with turn, passage,"
            " worker, text, snippets; ratings have columns such as item, worker, rating"
        )
        raise input_error(path, 1, "not a file of snippet annotations", advice, "unknown-format")
    layout = _layout(columns)
    texts: dict[TextKey, AnnotatedText] = {}
    for line, row in by_field(path, columns, rows, layout.needed, layout.optional):
        with noted(problems, line):
            read = _text_of_row(row, layout.unit)
            key = read.turn, read.passage
            known = texts.setdefault(key, read)
            if known.text != read.text:
                problem = (
                    f"turn {read.turn} passage {read.passage} has a different text in an earlier"
                    " line"
                )
                raise BadRowError(problem, _DIFFERENT_IDS, "contradicting-entries")
            if known is not read:
                annotations = known.annotations + read.annotations
                texts[key] = replace(known, annotations=annotations)
    problems.raise_if_any(sum(len(text.annotations) for text in texts.values()))
    return texts, shared_workers(Path(path).name, texts.values())


def join_annotations(
    files: Sequence[tuple[StrPath, Mapping[TextKey, AnnotatedText]]],
) -> dict[TextKey, AnnotatedText]:
    """Join the texts of several files; annotations of the same text are in the order of the files.

    Raises :class:`InputError` if two files give a passage different texts, and :class:`UsageError`
    if some texts are paragraphs and others sentences or choices of sentences: the tasks differ, so
    a common mean would describe neither.
    """
    _require_one_unit(files)
    joined: dict[TextKey, AnnotatedText] = {}
    for path, texts in files:
        for key, read in texts.items():
            known = joined.get(key)
            if known is not None and known.text != read.text:
                turn, passage = key
                problem = f"turn {turn} passage {passage} has a different text in an earlier file"
                raise input_error(path, None, problem, _DIFFERENT_IDS, "contradicting-entries")
            earlier = known.annotations if known else ()
            joined[key] = replace(read, annotations=earlier + read.annotations)
    return joined


def _require_one_unit(files: Iterable[tuple[StrPath, Mapping[TextKey, AnnotatedText]]]) -> None:
    """Raise :class:`UsageError` if the texts of the files have different units."""
    first_file: dict[Unit, StrPath] = {}
    for path, texts in files:
        for text in texts.values():
            first_file.setdefault(text.unit, path)
    if len(first_file) > 1:
        listed = " and ".join(f"{_PLURALS[unit]} ({path})" for unit, path in first_file.items())
        problem = f"annotations of {listed} are different tasks and cannot be pooled"
        raise UsageError("two-units", problem, "analyze the files of each task separately")


#: Columns of JSONL, and of the CSV of Amazon MTurk and Prolific.
_PLAIN: Fields = {
    "turn": ("turn", "turn_id"),
    "passage": ("passage", "passage_id"),
    "worker": ("worker", "worker_id"),
}
_PLAIN_MORE = named("query", "unit", "paragraph", "seconds", "confidence", "accepted")
_CROWD: Fields = {"turn": ("Input.turn_id",), "worker": ("WorkerId",)}
_CROWD_MORE: Fields = {
    "query": ("Input.query",),
    "paragraph": ("Input.passage_id",),
    "seconds": ("WorkTimeInSeconds",),
    "status": ("AssignmentStatus",),
}


class _Layout(NamedTuple):
    """The unit of a file, and its needed and optional fields.

    A selection has ``sentences`` in place of ``text``.
    """

    unit: Unit
    needed: Fields
    optional: Fields


def _layout(columns: Sequence[str]) -> _Layout:
    """Return the layout of a file with these columns, which :func:`is_annotations`."""
    names = {column.lower() for column in columns}
    if _SENTENCES in names:
        marks = named(*(column for column in columns if column.startswith("Answer.")))
        needed = {"passage": ("Input.passage_id",), "sentences": ("Input.sentences",)}
        return _Layout("selection", {**_CROWD, **needed}, {**_CROWD_MORE, **marks})
    if _TASK in names:
        answer = {"snippets": ("Answer.taskAnswers",)}
        if "input.sentence_id" in names:
            text = {"passage": ("Input.sentence_id",), "text": ("Input.sentence",)}
            return _Layout("sentence", {**_CROWD, **text, **answer}, _CROWD_MORE)
        text = {"passage": ("Input.passage_id",), "text": ("Input.passage",)}
        return _Layout("paragraph", {**_CROWD, **text, **answer}, _CROWD_MORE)
    if "snippets" in names:
        return _Layout("paragraph", {**_PLAIN, **named("text", "snippets")}, _PLAIN_MORE)
    return _Layout("selection", {**_PLAIN, **named("sentences", "chosen")}, _PLAIN_MORE)


def _text_of_row(row: Mapping[str, Any], unit: Unit) -> AnnotatedText:
    """Return the text of a row with its annotation.

    ``unit``: that of the file, which a row can replace. Raises :class:`BadRowError`.
    """
    turn, passage, worker = _id(row["turn"]), _id(row["passage"]), _id(row["worker"])
    for what, value in (("turn", turn), ("passage", passage), ("worker", worker)):
        if not value:
            raise UnusableRowError(f"no {what} id", "complete the row or delete it", "no-id")
    if unit != "selection":
        unit = row.get("unit", unit)
    if unit not in UNITS:
        problem = f"unknown unit {_shortened(unit)}"
        raise BadRowError(problem, "write paragraph or sentence", "bad-unit")
    answer = worker_answer(row)
    if unit == "selection":
        read = selection_of(row)
    else:
        read = snippets_of(row, answer, f"turn {turn} passage {passage}")
    annotation = Annotation(
        worker=worker,
        spans=tuple(sorted(set(read.selected))),
        confidence=_level(row.get("confidence") if answer is None else marked_level(answer)),
        seconds=_seconds(row),
        accepted=_accepted(row),
    )
    query = row.get("query")
    return AnnotatedText(
        turn=turn,
        passage=passage,
        unit=unit,
        query=query if isinstance(query, str) else "",
        text=read.text,
        annotations=(annotation,),
        paragraph=_id(row.get("paragraph")) if unit == "sentence" else "",
        parts=read.parts,
    )


def _shortened(value: object) -> str:
    """Return a value for a message, in quotes."""
    return repr(str(value)[:_LONGEST_VALUE])


def _level(confidence: object) -> int | None:
    """Return a confidence, given as its name or number, from 1 on; None if it is unknown.

    Raises :class:`BadRowError` for anything else.
    """
    if confidence is None:
        return None
    if confidence in CONFIDENCE:
        return CONFIDENCE.index(confidence) + 1
    level = whole_of(confidence, len(CONFIDENCE))
    if level is None or level < 1:
        problem = f"invalid confidence {_shortened(confidence)}"
        raise BadRowError(problem, f"write 1 to {len(CONFIDENCE)}, or remove it", "bad-number")
    return level


def _seconds(row: Mapping[str, Any]) -> float | None:
    """Return the time of a row; None if it is unknown. Raises :class:`BadRowError`."""
    cell = row.get("seconds")
    if not text_of(cell):
        return None
    seconds = number_of(cell)
    if seconds is None or seconds < 0:
        advice = "write seconds, 0 or more, or remove it"
        raise BadRowError(f"invalid time {_shortened(cell)}", advice, "bad-number")
    return seconds


def _accepted(row: Mapping[str, Any]) -> bool | None:
    """Return whether the requester approved or rejected the annotation; None if neither.

    The marks ``Approve`` and ``Reject`` of MTurk are ignored: in released files, scripts set them
    on assignments whose ``AssignmentStatus`` remained ``Submitted``. Raises :class:`BadRowError`.
    """
    status = text_of(row.get("status")).lower()
    by_status = {"approved": True, "rejected": False}.get(status)
    accepted = row.get("accepted", by_status)
    if accepted is not None and not isinstance(accepted, bool):
        problem = f"accepted is {_shortened(accepted)}"
        raise BadRowError(problem, "write true or false, or remove it", "bad-value")
    return accepted


def _id(value: object) -> str:
    """Return an id as text; a list of one id (Prolific) counts as that id.

    Anything else is empty.
    """
    if isinstance(value, str) and value.strip().startswith("["):
        ids = literal(value.strip())
        is_one_id = isinstance(ids, list) and len(ids) == 1 and isinstance(ids[0], str)
        return id_text(ids[0]) if is_one_id else ""
    return id_text(value)


def shared_workers(name: str, texts: Iterable[AnnotatedText]) -> tuple[str, ...]:
    """Return a note if one worker id occurs more than once for the same text.

    ``name``: that of the file.
    """
    texts_of_worker: Counter[str] = Counter()
    for text in texts:
        rows = Counter(annotation.worker for annotation in text.annotations)
        texts_of_worker.update(worker for worker, number in rows.items() if number > 1)
    if not texts_of_worker:
        return ()
    most_first = sorted(texts_of_worker.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(
        f"{worker} ({counted(number, 'text')})" for worker, number in most_first[:_LISTED]
    )
    if len(most_first) > _LISTED:
        listed += " …"
    note = (
        f"{name}: worker ids look shared: {listed} annotate the same text more than once; each row"
        " counts as one annotator"
    )
    return (note,)
