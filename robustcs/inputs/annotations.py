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

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Literal, get_args

from robustcs.errors import UsageError, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import BadRowError, RowProblems, UnusableRowError, noted
from robustcs.inputs.tables import Fields, by_field, named, read_rows, text_of
from robustcs.inputs.text import id_text, number_of, parse_json, whole_of
from robustcs.wording import counted

#: What annotators read: a passage or a sentence to select characters from, or a passage to select
#: sentences from.
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
    """Return whether a file with these columns contains snippet annotations or choices of
    sentences.
    """
    names = {column.lower() for column in columns}
    by_worker = not names.isdisjoint(
        ("worker", "worker_id")
    )  # answers {turn: [answer]} may name a turn "snippets"
    return bool(names & {_TASK, _SENTENCES}) or (
        by_worker and ("snippets" in names or {"sentences", "chosen"} <= names)
    )


def read_annotations(path: StrPath) -> tuple[dict[TextKey, AnnotatedText], tuple[str, ...]]:
    """Return (turn, passage) → the text with its annotations in file order; and notes.

    Every row is one annotation by one annotator. Worker ids of released files repeat, which is
    noted but not repaired.

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
                raise BadRowError(
                    found, "give different texts different ids", "contradicting-entries"
                )
            if known is not read:
                texts[read.turn, read.passage] = replace(
                    known, annotations=known.annotations + read.annotations
                )
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
    first = {
        text.unit: path
        for path, texts in reversed(files)
        for text in reversed(list(texts.values()))
    }
    if len(first) > 1:
        names = {"selection": "choices of sentences"}
        found = " and ".join(
            f"{names.get(unit, f'{unit}s')} ({path})" for unit, path in reversed(first.items())
        )
        told = f"annotations of {found} are different tasks and cannot be pooled"
        raise UsageError("two-units", told, "analyze the files of each task separately")
    joined: dict[TextKey, AnnotatedText] = {}
    for path, texts in files:
        for key, read in texts.items():
            known = joined.get(key)
            if known is not None and known.text != read.text:
                found = f"turn {key[0]} passage {key[1]} has a different text in an earlier file"
                raise input_error(
                    path, None, found, "give different texts different ids", "contradicting-entries"
                )
            earlier = known.annotations if known else ()
            joined[key] = replace(read, annotations=earlier + read.annotations)
    return joined


#: Columns of JSONL, and of the CSV of Amazon MTurk and Prolific.
_PLAIN: Fields = {
    "turn": ("turn", "turn_id"),
    "passage": ("passage", "passage_id"),
    "worker": ("worker", "worker_id"),
}
_PLAIN_MORE = named("query", "unit", "paragraph", "seconds", "confidence", "accepted")
_CROWD: Fields = {"turn": ("Input.turn_id",), "worker": ("WorkerId",)}
_CROWD_MORE: Fields = {
    "query": ("Input.query",), "paragraph": ("Input.passage_id",), "seconds": ("WorkTimeInSeconds",),
    "status": ("AssignmentStatus",),
}  # fmt: skip


def _fields(columns: Sequence[str]) -> tuple[Unit, Fields, Fields]:
    """Return the unit of a file, and its needed and optional fields; a selection has ``sentences``
    in place of ``text``.
    """
    names = {column.lower() for column in columns}
    if _SENTENCES in names:
        marks = named(*(column for column in columns if column.startswith("Answer.")))
        own = {"passage": ("Input.passage_id",), "sentences": ("Input.sentences",)}
        return "selection", {**_CROWD, **own}, {**_CROWD_MORE, **marks}
    if _TASK in names:
        unit: Unit = "sentence" if "input.sentence_id" in names else "paragraph"
        id_, text = (
            ("Input.sentence_id", "Input.sentence")
            if unit == "sentence"
            else ("Input.passage_id", "Input.passage")
        )
        return (
            unit,
            {**_CROWD, "passage": (id_,), "text": (text,), "snippets": ("Answer.taskAnswers",)},
            _CROWD_MORE,
        )
    if "snippets" in names:
        return "paragraph", {**_PLAIN, **named("text", "snippets")}, _PLAIN_MORE
    return "selection", {**_PLAIN, **named("sentences", "chosen")}, _PLAIN_MORE


def _row(row: Mapping[str, Any], unit: Unit) -> AnnotatedText:
    """Return the text of a row with its annotation. Raises :class:`BadRowError`."""
    ids = {what: _id(row[what]) for what in ("turn", "passage", "worker")}
    turn, passage, worker = ids.values()
    if lacking := next((what for what, value in ids.items() if not value), None):
        raise UnusableRowError(f"no {lacking} id", "complete the row or delete it", "no-id")
    unit = unit if unit == "selection" else row.get("unit", unit)
    if unit not in UNITS:
        raise BadRowError(
            f"unknown unit {str(unit)[:30]!r}", "write paragraph or sentence", "bad-unit"
        )
    answer = _answer(row)
    text, parts, pairs = (
        _selection(row)
        if unit == "selection"
        else _snippets(row, answer, f"turn {turn} passage {passage}")
    )
    query, paragraph = row.get("query"), _id(row.get("paragraph")) if unit == "sentence" else ""
    confidence = row.get("confidence") if answer is None else _marked(answer)
    annotation = Annotation(
        worker, tuple(sorted(set(pairs))), _level(confidence), _seconds(row), _accepted(row)
    )
    return AnnotatedText(
        turn,
        passage,
        unit,
        query if isinstance(query, str) else "",
        text,
        (annotation,),
        paragraph,
        parts,
    )


def _level(confidence: object) -> int | None:
    """Return a confidence, given as its name or number, from 1 on; None if it is unknown."""
    if confidence is None:
        return None
    level = (
        CONFIDENCE.index(confidence) + 1
        if confidence in CONFIDENCE
        else whole_of(confidence, len(CONFIDENCE))
    )
    if level is None or level < 1:
        found = f"invalid confidence {str(confidence)[:30]!r}"
        raise BadRowError(found, f"write 1 to {len(CONFIDENCE)}, or remove it", "bad-number")
    return level


def _seconds(row: Mapping[str, Any]) -> float | None:
    seconds = row.get("seconds")
    time = None if text_of(seconds) == "" else number_of(seconds)
    if text_of(seconds) and (time is None or time < 0):
        raise BadRowError(
            f"invalid time {str(seconds)[:30]!r}",
            "write seconds, 0 or more, or remove it",
            "bad-number",
        )
    return time


def _accepted(row: Mapping[str, Any]) -> bool | None:
    """Return whether the requester approved or rejected the annotation; None if neither.

    The marks ``Approve`` and ``Reject`` of MTurk are ignored: in released files, scripts set them
    on assignments whose ``AssignmentStatus`` remained ``Submitted``.
    """
    accepted = row.get(
        "accepted", {"approved": True, "rejected": False}.get(text_of(row.get("status")).lower())
    )
    if accepted is not None and not isinstance(accepted, bool):
        raise BadRowError(
            f"accepted is {str(accepted)[:30]!r}", "write true or false, or remove it", "bad-value"
        )
    return accepted


def _id(value: object) -> str:
    """Return an id as text; a list of one id (Prolific) counts as that id, anything else is empty."""
    if isinstance(value, str) and value.strip().startswith("["):
        listed = _literal(value.strip())
        value = (
            listed[0]
            if isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], str)
            else None
        )
    return id_text(value)


def shared_workers(name: str, texts: Iterable[AnnotatedText]) -> tuple[str, ...]:
    """Return a note if one worker id occurs more than once for the same text."""
    counts = (Counter(annotation.worker for annotation in text.annotations) for text in texts)
    repeated = Counter(
        worker for of_text in counts for worker, number in of_text.items() if number > 1
    )
    if not repeated:
        return ()
    most = sorted(repeated.items(), key=lambda item: (-item[1], item[0]))
    some = ", ".join(f"{worker} ({counted(number, 'text')})" for worker, number in most[:3]) + (
        " …" if len(most) > 3 else ""
    )
    return (
        f"{name}: worker ids look shared: {some} annotate the same text more than once; each row counts as one annotator",
    )


# ---------------------------------------------------------------- the answer of one annotation task
#: The levels of confidence of CAsT-snippets, from 1 on.
CONFIDENCE = ("very_low", "low", "medium", "high", "very_high")
#: Longest literal; answers are short, and a longer literal could exhaust the parser's memory.
_LONGEST = 1_000_000

#: A text, the sentences to choose from, and the selected spans.
_Read = tuple[str, Spans, list[tuple[int, int]]]


def _literal(text: str) -> Any:
    """Return the value of a literal in JSON or Python notation; None if it is neither, or too long."""
    for parse in (parse_json, ast.literal_eval) if len(text) <= _LONGEST else ():
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return parse(text)
    return None


def _answer(row: Mapping[str, Any]) -> list[Any] | None:
    """Return the parts of an answer of MTurk, ``[{name: {"entities": […]}, …}]``; None for a row of
    JSONL.
    """
    given = row.get("snippets")
    if not isinstance(given, str):
        return None
    value = _literal(given)
    if value is None:
        found = f"the answer {given[:40]!r} is neither JSON nor a Python literal"
        raise BadRowError(found, "write JSON, as MTurk does", "not-a-literal")
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def _snippets(row: Mapping[str, Any], answer: list[Any] | None, of: str) -> _Read:
    """Return the text of a row and its snippets, a list of ``[start, end]`` or the entities of an
    answer of MTurk.
    """
    text, snippets = row["text"], row["snippets"]
    if not isinstance(text, str) or not text.strip():
        raise UnusableRowError(
            f"{of}: no text", "add the text that the offsets refer to", "empty-text"
        )
    if answer is not None:
        lists = [
            part["entities"]
            for one in answer
            for part in one.values()
            if _is_list(part, "entities")
        ]
        if not lists:
            raise BadRowError(
                "the answer has no list of entities",
                'write [{"task": {"entities": []}}]',
                "no-entities",
            )
        entities = [entity if isinstance(entity, dict) else {} for entity in chain(*lists)]
        snippets = [[entity.get("startOffset"), entity.get("endOffset")] for entity in entities]
    if not isinstance(snippets, list):
        raise BadRowError(
            "no snippets", 'write "snippets": [[start, end], …], or [] for none', "no-snippets"
        )
    if not all(
        isinstance(one, list) and len(one) == 2 and all(map(_is_offset, one)) for one in snippets
    ):
        raise BadRowError(
            "a snippet without start and end", "write both as whole numbers", "bad-offsets"
        )
    bad = next((one for one in snippets if not 0 <= one[0] < one[1] <= len(text)), None)
    if bad is not None:
        found = (
            f"{of}: snippet [{bad[0]}, {bad[1]}) is not inside the text of {len(text)} characters"
        )
        raise BadRowError(
            found, "count offsets in characters from 0, with start below end", "bad-offsets"
        )
    return text, (), [(start, end) for start, end in snippets]


def _is_offset(value: object) -> bool:
    # a Python literal can contain a number of a million digits, which str() rejects
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64


def _is_list(part: object, name: str) -> bool:
    return isinstance(part, dict) and isinstance(part.get(name), list)


def _marked(answer: list[Any]) -> str | None:
    """Return the level marked in ``answer_confidence`` of an answer of MTurk; None unless exactly
    one level is marked.
    """
    for levels in (one.get("answer_confidence") for one in answer):
        if isinstance(levels, dict):
            marked = [name for name in CONFIDENCE if levels.get(name) is True]
            return marked[0] if len(marked) == 1 else None
    return None


def _selection(row: Mapping[str, Any]) -> _Read:
    """Return the sentences of a row as one text, the spans of all sentences, and the spans of the
    chosen ones.

    ``sentences`` are texts whose numbers from 0 are in ``chosen``; or, without ``chosen``, ``[text,
    id]`` pairs with a column ``Answer.ID.on`` each. Raises :class:`BadRowError` if they cannot be
    read.
    """
    listed = row["sentences"]
    if isinstance(listed, str):
        listed = _literal(listed)
    entries = (
        [entry if isinstance(entry, list) else [entry] for entry in listed]
        if isinstance(listed, list)
        else []
    )
    texts = [
        entry[0] for entry in entries if entry and isinstance(entry[0], str) and entry[0].strip()
    ]
    if not entries or len(texts) < len(entries):
        raise BadRowError("no list of sentences", "write their texts as a list", "no-sentences")
    if "chosen" not in row:
        marks = [text_of(row.get(f"Answer.{entry[-1]}.on")).lower() for entry in entries]
        unmarked = next(
            (place for place, mark in enumerate(marks) if mark not in ("true", "false")), None
        )
        if unmarked is not None:
            found = f"sentence {unmarked} is neither on nor off"
            raise BadRowError(
                found, "write True or False for every sentence (Answer.ID.on)", "no-choice"
            )
        places = [place for place, mark in enumerate(marks) if mark == "true"]
    else:
        places = row["chosen"]
        if not isinstance(places, list) or any(
            not _is_offset(place) or place not in range(len(texts)) for place in places
        ):
            found = f"chosen is not a list of numbers from 0 to {len(texts) - 1}"
            raise BadRowError(
                found, 'write "chosen": [0, 2], numbers of sentences, or [] for none', "bad-choice"
            )
    ends = list(accumulate(len(text) + 1 for text in texts))  # one space between two sentences
    spans = tuple((end - 1 - len(text), end - 1) for text, end in zip(texts, ends, strict=True))
    return " ".join(texts), spans, [spans[place] for place in sorted(set(places))]
