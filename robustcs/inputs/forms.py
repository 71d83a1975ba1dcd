"""Convert frames, dictionaries and records of a Python program to files for the readers.

The reader of the format then reads the file, so an object is checked as strictly as a file and with the same messages.
:data:`FORMS` lists what each reader accepts. Columns have the usual names of IR tools.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from robustcs.errors import UsageError
from robustcs.inputs.file_formats import PLAIN, TEXT_NAMES
from robustcs.inputs.objects import Rows, fields_of, is_frame, is_ranx, plain, rows_of
from robustcs.inputs.paths import MemoryFile
from robustcs.inputs.tables import (
    DOCUMENT_NAMES,
    GRADE_NAMES,
    MEASURE_NAMES,
    RANK_NAMES,
    SCORE_NAMES,
    TURN_NAMES,
)

#: Names of passages, and of questions in runs of clarifying questions.
DOCUMENT = (*DOCUMENT_NAMES, "question_id")

ANSWER = ("answer", "answers", "text")
PASSAGE = ("contents", "text", "body")


@dataclass(frozen=True)
class Form:
    """The conversion of an object to the file of a reader.

    takes
        What is accepted in place of a file, for messages.
    write
        Writes the file from rows.
    levels
        The columns of a dictionary: one for the keys of each level, and the last one for the values; empty if no dictionary is
        accepted.
    is_json
        Whether a dictionary is the JSON of such a file, rather than rows.
    """

    takes: str
    write: Callable[[Rows], MemoryFile]
    levels: tuple[str, ...] = ()
    is_json: Callable[[Mapping[Any, Any]], bool] = lambda value: False


def as_file(reader: str, keyword: str, value: Any, role: str = "") -> MemoryFile:
    """Return the file that contains ``value`` for a ``reader`` of :data:`FORMS`; ``role`` is the formulation of texts.

    Raises :class:`UsageError` for a value that is not a frame, a dictionary or records, and :class:`InputError` for rows that
    such a file cannot contain.
    """
    form = FORMS[reader]
    if is_ranx(value):
        value = value.to_dict()
    if isinstance(value, Mapping) and form.is_json(value):
        return _json(Rows(keyword, {"dictionary": [value]}, lambda line: ""))
    if reader == "turn_list" and not is_frame(value):
        value = _turns(value)
    rows = rows_of(keyword, value, form.levels)
    if rows is None:
        raise UsageError("bad-type", f"{keyword} is {called(value)}", f"give a file, {form.takes}")
    rows.role = role
    return form.write(rows) if len(rows) else rows.written("")


def called(value: Any) -> str:
    """Return a name such as ``an int`` or ``a function``."""
    name = "None" if value is None else type(value).__name__
    return name if value is None else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _turns(value: Any) -> Any:
    """Return a list of turn ids as records; anything else unchanged."""
    if isinstance(value, list | tuple | set | frozenset) and not any(
        fields_of(entry) for entry in value
    ):
        return [
            {"turn": entry}
            for entry in (value if isinstance(value, list | tuple) else sorted(value, key=str))
        ]
    return value


# ---------------------------------------------------------------- files for the readers
def _lines(rows: Rows, pattern: str, *columns: list[str]) -> MemoryFile:
    """Write one line for every row."""
    return rows.written("".join(map(pattern.format, *columns)))


def _qrels(rows: Rows) -> MemoryFile:
    # BEIR calls grades scores
    grades = SCORE_NAMES if rows.has(("corpus_id",)) and not rows.has(GRADE_NAMES) else GRADE_NAMES
    return _lines(
        rows,
        "{} 0 {} {}\n",
        rows.ids(TURN_NAMES),
        rows.ids(DOCUMENT),
        rows.numbers(grades, whole=True),
    )


def _run(rows: Rows) -> MemoryFile:
    # without ranks, passages have their order here, as in files
    ranks = (
        rows.numbers(RANK_NAMES)
        if rows.has(RANK_NAMES)
        else list(map(str, range(1, len(rows) + 1)))
    )
    # without scores, as in MS MARCO runs, the ranks determine the order
    scores = (
        rows.numbers(SCORE_NAMES)
        if rows.has(SCORE_NAMES) or not rows.has(RANK_NAMES)
        else [f"-{rank}" for rank in ranks]
    )
    return _lines(
        rows, "{} Q0 {} {} {} -\n", rows.ids(TURN_NAMES), rows.ids(DOCUMENT), ranks, scores
    )


def _scores(rows: Rows) -> MemoryFile:
    if rows.has(MEASURE_NAMES):
        measure = rows.name(MEASURE_NAMES)
        # ir_measures uses objects whose str() is their name
        rows.columns[measure] = [one if one is None else str(one) for one in rows.columns[measure]]
    return _all_columns(rows)


def _objects(rows: Rows, names: Mapping[str, str]) -> MemoryFile:
    """Write JSONL with one object per row; ``names`` maps fields to columns."""
    heads = [json.dumps(field) for field in names]
    columns = [rows.json(name) for name in names.values()]
    rows.problems.raise_if_any()
    lines = (", ".join(map("{}: {}".format, heads, line)) for line in zip(*columns, strict=True))
    return rows.written("".join(map("{{{}}}\n".format, lines)))


def _texts(rows: Rows) -> MemoryFile:
    """Write the texts: those of the role, or the only column besides the ids."""
    turn = rows.name(TURN_NAMES)
    others = [name for name in rows.columns if name != turn]
    own = next((names for role, names in PLAIN.columns.items() if role == rows.role), TEXT_NAMES)
    text = others[0] if len(others) == 1 else rows.name(own)
    return _objects(rows, {"id": turn, "text": text})


def _answers(rows: Rows) -> MemoryFile:
    answer = rows.name(ANSWER)
    lists = any(isinstance(plain(value), list) for value in rows.columns[answer])
    return _objects(rows, {"id": rows.name(TURN_NAMES), "answers" if lists else "answer": answer})


def _passages(rows: Rows) -> MemoryFile:
    return _objects(rows, {"id": rows.name((*DOCUMENT, "id")), "contents": rows.name(PASSAGE)})


def _all_columns(rows: Rows) -> MemoryFile:
    return _objects(rows, {name: name for name in rows.columns})


def _json(rows: Rows) -> MemoryFile:
    """Write the only value as JSON."""
    (text,) = rows.json("dictionary") or ("",)
    return rows.written(text)


def _needs(rows: Rows) -> MemoryFile:
    labels = ("label", "clarification_need")
    return _lines(rows, "{} {}\n", rows.ids(TURN_NAMES), rows.numbers(labels, whole=True))


_RUN = "a frame or records with query_id, doc_id and score"
_RANKED = f"{_RUN}, or {{turn: {{document: score}}}}"
_SCORED = (
    "a frame with query_id and a column for every measure, records with query_id, measure and value"
)
_COLUMNS = "a frame or records with the columns of such a file"

#: Reader → conversion; the names of readers are those of :mod:`robustcs.project.sources`.
FORMS: dict[str, Form] = {
    **dict.fromkeys(
        ("qrels", "labels"),
        Form("a frame or records with query_id, doc_id and relevance, or {turn: {document: grade}}", _qrels,
             ("query_id", "doc_id", "relevance")),
    ),
    **dict.fromkeys(("run", "question_run"), Form(_RANKED, _run, ("query_id", "doc_id", "score"))),
    "crowd_run": Form(f"{_RANKED}, or a mixed-initiative run as a dictionary", _run, ("query_id", "doc_id", "score"),
                      lambda value: "turns" in value),
    "scores": Form(f"{_SCORED}, or {{turn: {{measure: value}}}}", _scores, ("query_id", "measure", "value")),
    "texts": Form("a frame or records with query_id and text, or {turn: text}", _texts, ("query_id", "text")),
    "predicted_answers": Form("a frame or records with query_id and answer, or {turn: answer}", _answers,
                              ("query_id", "answer")),
    "gold_answers": Form("a frame or records with query_id and answers, or {turn: [answer]}", _answers,
                         ("query_id", "answers"), lambda value: "data" in value),
    "passages": Form("a frame or records with doc_id and text, or {passage: text}", _passages, ("doc_id", "text")),
    "needs": Form("a frame or records with topic_id and label, or {topic: label}", _needs, ("topic_id", "label")),
    "turn_list": Form("a list of turn ids", lambda rows: _lines(rows, "{}\n", rows.ids(TURN_NAMES)), ("turn", "of it")),
    **dict.fromkeys(
        ("bank", "question_bank"),
        Form("a frame or records with question_id and question, or {id: text}", _all_columns, ("question_id", "question")),
    ),
    "conversations": Form(f"{_COLUMNS}, or its JSON as a dictionary", _all_columns, is_json=lambda value: True),
    **dict.fromkeys(
        ("performance", "evaluation"), Form(f"{_RUN}, or the table as a dictionary", _run, is_json=lambda value: True)
    ),
    "crowd_grades": Form(f"{_COLUMNS}, or its JSON as a dictionary", _all_columns, is_json=lambda value: True),
    **dict.fromkeys(
        ("paraphrases", "clariq_topics", "slices", "snippets", "ratings", "gold_checks", "preferences", "nuggets",
         "assignments", "tasks", "answer_labels", "reviews"),
        Form(_COLUMNS, _all_columns),
    ),
}  # fmt: skip
