"""Detect the kind of a file by its beginning, never by its name.

``robustcs init``, ``robustcs check`` and every reader that receives a file of another kind use :func:`identify`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from robustcs.errors import InputError, PackageNeededError, input_error
from robustcs.inputs import mtrag
from robustcs.inputs.annotations import is_annotations
from robustcs.inputs.file_formats import DPR, PLAIN, PLAIN_RUN, QRECC, QUERIES, QUESTIONS, format_of, run_format_of
from robustcs.inputs.formats import Role, first_turn, is_answer
from robustcs.inputs.nuggets import is_assignments, is_nuggets
from robustcs.inputs.paths import StrPath
from robustcs.inputs.ratings import is_ratings
from robustcs.inputs.records import ID_NAMES
from robustcs.inputs.reviews import is_reviews
from robustcs.inputs.tables import DOCUMENT_NAMES, GRADE_NAMES, TURN_NAMES, Table, is_parquet, read_table
from robustcs.inputs.text import delimiter_of, first_lines, first_record, is_turn_id
from robustcs.inputs.trec_lines import LINES, MS_MARCO, are_ptkb, are_qrels, are_run, kind_of_rows, measure_columns

#: Kinds of files. ``ptkb`` are iKAT's judgments of statements about a person: they look like qrels, but judge no passages,
#: and no command reads them.
Kind = Literal[
    "run", "qrels", "scores", "texts", "paraphrases", "collection", "answers", "snippets", "ratings", "clariq topics",
    "question run", "question bank", "clariq evaluation", "mixed-initiative run", "crowd grades", "nuggets", "assignments",
    "ptkb", "labels", "reviews",
]  # fmt: skip

#: Options and commands that read a kind, for messages.
_TAKEN_BY: dict[Kind, str] = {
    "run": "--run, --original, --qr or --human",
    "qrels": "--qrels",
    "scores": "--scores",
    "texts": "--rewrites",
    "paraphrases": "--paraphrases",
    "collection": "--collection",
    "answers": "--response, --answers or --gold",
    "snippets": "robustcs agreement",
    "ratings": "robustcs agreement",
    "clariq topics": "robustcs clariq --topics",
    "question run": "robustcs clariq --run",
    "question bank": "robustcs clariq --questions or robustcs crowd --bank",
    "clariq evaluation": "robustcs clariq --evaluations",
    "mixed-initiative run": "robustcs crowd --run",
    "crowd grades": "robustcs crowd",
    "nuggets": "robustcs answers --nuggets",
    "assignments": "robustcs answers --assignments",
    "labels": "--judge",
    "reviews": "robustcs review",
}

#: Ids of clarifying questions in ClariQ and CAsT-ReGIn.
_QUESTION = re.compile(r"Q[0-9]{4,}")

#: A column that umbrela writes.
_STATUS = "result_status"

#: Passages are longer than questions: the fewest words of a passage in JSONL with only ``_id`` and ``text``.
_PASSAGE_WORDS = 60


@dataclass(frozen=True)
class Identified:
    """The kind of a file.

    kind
        The kind by which options and commands read the file.
    family
        The name in messages: ``iKAT topics``, ``BEIR qrels``, ``a TREC run``.
    also
        Further kinds that the file can be read as: TopiOCQA's questions with passages are a run, texts and answers.
    formulations
        For texts: formulation → its column or field, for ``FILE:COLUMN``. Empty if one text column serves every role.
    by_fields
        Whether names of fields or columns identify the kind, rather than only the form of the cells.
    shape
        JSON, a table with a line of column names, or lines without one.
    """

    kind: Kind
    family: str
    also: tuple[Kind, ...] = ()
    formulations: Mapping[Role, str] = field(default_factory=dict)
    by_fields: bool = True
    shape: Literal["json", "table", "lines"] = "lines"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds that the file can be read as."""
        return (self.kind, *self.also)

    @property
    def says(self) -> str:
        """A sentence such as ``these are iKAT topics``."""
        return f"this is {self.family}" if self.family.startswith(("a ", "an ")) else f"these are {self.family}"

    @property
    def advice(self) -> str:
        """What to do with the file."""
        if self.kind == "ptkb":
            return "give the judgments of passages instead"
        if self.kind not in _TAKEN_BY:
            return "no command reads them"
        also = f", or as answers with {_TAKEN_BY['answers']}" if "answers" in self.also else ""
        return f"use {'it' if self.family.startswith(('a ', 'an ')) else 'them'} with {_TAKEN_BY[self.kind]}{also}"


def identify(path: StrPath) -> Identified | None:
    """Return the kind of ``path`` by its content; None if no reader knows it or it cannot be read.

    Reads at most the first mebibyte. A pipe is kept for its reader; do not call it on devices.
    """
    lines = first_lines(path)
    if lines and lines[0].lstrip().startswith(("{", "[")):
        record = first_record(path)
        found = None if record is None else _of_record(record)
        return None if found is None else replace(found, shape="json")
    try:
        table = read_table(path)
    except PackageNeededError:
        raise
    except InputError:
        table = None
    found = _of_table(table, lines) if table else None
    if found is not None:
        return replace(found, shape="table")
    if lines and (table is None or table.separator):
        return _of_header(lines[0]) or _of_lines(lines)
    return None


def kind_of(path: StrPath) -> Kind | None:
    """Return the kind of ``path``; None for unknown and unreadable files."""
    found = identify(path)
    return None if found is None else found.kind


def refuse_other_kinds(path: StrPath, wanted: Kind) -> Identified | None:
    """Return the kind of the file if it can be read as ``wanted``, or None if the kind is unknown.

    Raises :class:`InputError` if its fields show another kind; the message names the kind and the option that reads it.
    """
    if is_parquet(path):
        read_table(path)  # its own error if it is damaged
    found = identify(path)
    if found is not None and found.by_fields and wanted not in found.kinds:
        raise input_error(path, None, found.says, found.advice, "other-kind")
    return found


def first_cells(path: StrPath) -> set[str]:
    """Return the cells of the first column at the beginning of ``path``: the turn ids of a run or of qrels."""
    return {line.split()[0] for line in first_lines(path)}


# ---------------------------------------------------------------- JSON
def _of_record(record: Mapping[str, Any]) -> Identified | None:
    if is_reviews(record):
        return Identified("reviews", "reviewed turns")
    if is_annotations(record):
        return Identified("snippets", "snippet annotations")
    if is_ratings(list(record)):
        return Identified("ratings", "ratings")
    if is_assignments(record):
        return Identified("assignments", "nuggets assigned to answers")
    if is_nuggets(record):
        return Identified("nuggets", "nuggets", ("texts",) if format_of(record) is PLAIN and "nuggets" in record else ())
    if mtrag.has_tasks(record):
        return _of_tasks(record)
    if _is_label(record):
        return Identified("labels", "labels of a judge")
    run = run_format_of(record)
    texts = format_of(record)
    if run is not None:
        also: tuple[Kind, ...] = ("texts", "answers") if texts in (DPR, QRECC) else ()
        if is_answer(first_turn(record)):
            also = ("answers", "texts") if texts is QUESTIONS else ("answers",)
        shown = texts.formulations(record) if texts and texts is not QUESTIONS and "texts" in also else {}
        return Identified("run", run.name, also, shown, by_fields=run is not PLAIN_RUN)
    if _asks(record):
        return Identified("mixed-initiative run", "a mixed-initiative run")
    if _is_passage(record):
        return Identified("collection", "passages")
    if texts is not None and texts is not PLAIN:
        answered: tuple[Kind, ...] = ("answers",) if texts in (QRECC, DPR) else ()
        # the turns have the fields, not the topic
        inner = _first_turn(record) if texts.name.endswith("topics") or "turns" in record else record
        if texts is QUERIES:
            return Identified("texts", texts.name, ("collection",))
        return Identified("texts", texts.name, answered, texts.formulations(inner))
    return _of_plain_record(record)


def _of_tasks(record: Mapping[str, Any]) -> Identified:
    """Return the kinds of a file of MTRAG tasks by the fields of its first task; an export is assumed to have everything."""
    export = mtrag.is_export(record)
    contexts = record.get("contexts")
    there: tuple[tuple[Kind, bool], ...] = (
        ("answers", export or not record.keys().isdisjoint(("predictions", "targets"))),
        ("run", mtrag.RUN.fits(record)),
        ("texts", mtrag.QUESTIONS.fits(record)),
        ("collection", export or any("text" in one for one in contexts or () if isinstance(one, dict))),
    )
    kind, *also = [kind for kind, has in there if has]
    shown = mtrag.QUESTIONS.formulations(("text",)) if "texts" in also else {}
    return Identified(kind, mtrag.EXPORT if export else mtrag.NAME, tuple(also), shown)


def _of_plain_record(record: Mapping[str, Any]) -> Identified | None:
    named = any(name in record for name in ID_NAMES)
    asked = named and format_of(record) is PLAIN
    if named and {"answer", "answers", "best_span_str"} & record.keys():
        return Identified("answers", "answers", ("texts",) if asked else ())
    if asked:
        return Identified(
            "texts", PLAIN.name, ("collection",) if "text" in record else (), PLAIN.formulations(record, own=True)
        )
    names, values = (list(islice(some, LINES)) for some in (record.keys(), record.values()))
    first = values[0] if values else None
    if isinstance(first, dict) and ("Questions" in first or "Responses" in first):
        return Identified("crowd grades", "grades of crowd workers (CAsT-ReGIn)")
    if isinstance(first, dict) and first and all(isinstance(value, int | float) for value in first.values()):
        return Identified("clariq evaluation", "scores {measure: {facet: score}}", by_fields=False)
    if values and all(map(_QUESTION.fullmatch, names)) and all(isinstance(value, str) for value in values):
        return Identified("question bank", "a bank of questions")
    if isinstance(record.get("data"), list):
        return Identified("answers", "answers of SQuAD or QuAC")
    if values and all(isinstance(value, str | list) for value in values) and not named:
        if any(isinstance(value, list) and value and isinstance(value[0], str) for value in values):
            return Identified("answers", "answers {turn: [answer, …]}", by_fields=False)
        if all(isinstance(value, str) for value in values):
            # answers of systems have the same form
            return Identified("texts", "texts {turn: text}", ("answers",), by_fields=False)
    return None


def _first_turn(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of the turns of a topic, as far as they are at the beginning of the file."""
    lists = (value for value in record.values() if isinstance(value, list) and value and isinstance(value[0], dict))
    fields: dict[str, Any] = {}
    for turn in next(lists, []):
        fields |= turn if isinstance(turn, dict) else {}
    return fields


def _asks(record: Mapping[str, Any]) -> bool:
    """Return whether a record contains questions that a system would ask (CAsT 2022)."""
    turns = record.get("turns")
    first = turns[0] if isinstance(turns, list) and turns else None
    return isinstance(first, dict) and "questions" in first


def _is_label(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a grade of a passage, by text (umbrela) or by id; human judgments are never JSON."""
    joined = {"query", "passage"} <= record.keys()
    by_id = not record.keys().isdisjoint(TURN_NAMES) and not record.keys().isdisjoint(DOCUMENT_NAMES)
    return (joined or by_id) and not record.keys().isdisjoint(GRADE_NAMES)


def _is_passage(record: Mapping[str, Any]) -> bool:
    asked = "query" in record or "question" in record
    if asked or not any(is_turn_id(record.get(name)) for name in ("id", "_id", "docid", "docno", "pid")):
        return False
    if any(isinstance(record.get(name), str) for name in ("contents", "passage", "segment")):
        return True
    text = record.get("text")
    if not isinstance(text, str):
        return False
    return "title" in record or (QUERIES.fits(record) and "|user|" not in text and len(text.split()) > _PASSAGE_WORDS)


# ---------------------------------------------------------------- tables and lines
def _of_header(line: str) -> Identified | None:
    """Return the kind by column names other than turn ids."""
    delimiter = delimiter_of(line)
    columns = [cell.strip(' "') for cell in line.lower().split(delimiter or ",")]
    if is_annotations(columns):
        return Identified("snippets", "snippet annotations")
    if is_ratings(columns):
        return Identified("ratings", "ratings")
    if {"topic_id", "facet_id", "question_id"} <= set(columns):
        return Identified("clariq topics", "ClariQ topics")
    if any("paraphrase" in name for name in columns) and delimiter in (",", ";"):
        return Identified("paraphrases", "paraphrases")
    if {"variation", "transformation_type"} <= set(columns):
        return Identified("paraphrases", "labelled query variations", ("texts",))
    return Identified("question bank", "a bank of questions") if columns[:2] == ["question_id", "question"] else None


def _of_table(table: Table, lines: Sequence[str]) -> Identified | None:
    names = dict.fromkeys((*table.columns, *table.names), "")
    known = _of_header("\t".join(table.names)) or _of_header(",".join(table.names))
    if known is not None:
        return known
    if table.separator in (" ", "\t") and _is_trec(table, lines):
        return None
    fitting = [(kind, family) for kind, fits, family in _COLUMNS if fits(table)]
    if fitting:
        (kind, family), *others = fitting
        if kind == "qrels" and _STATUS in table.names:
            return Identified("labels", "labels of a judge", ("qrels",))
        return Identified(kind, family, tuple(other for other, _ in others))
    texts = format_of(names) if table.separator != " " else None
    if texts is not None:
        return Identified("texts", texts.name, (), texts.formulations(names, own=texts is PLAIN))
    measured = table.document is None and measure_columns(table.columns)
    return Identified("scores", "a table of per-turn scores") if measured else None


def _is_trec(table: Table, lines: Sequence[str]) -> bool:
    """Return whether a table is a TREC run or qrels file whose first line names the columns in the usual order."""
    rows = [line.split() for line in lines[1:LINES]]
    return (are_run(rows) or are_qrels(rows)) and table.document in (None, 2) and table.turn == 0


_COLUMNS: tuple[tuple[Kind, Callable[[Table], bool], str], ...] = (
    ("qrels", lambda table: table.is_beir, "BEIR qrels"),
    ("qrels", lambda table: table.is_qrels, "a table of judgments"),
    ("run", lambda table: table.is_run, "a table of retrieved passages"),
    ("scores", lambda table: table.is_scores, "a table of per-turn scores"),
)


def _of_lines(lines: Sequence[str]) -> Identified | None:
    rows = [line.split() for line in islice(lines, 1, LINES)] or [lines[0].split()]
    if are_run(rows):
        if all(_QUESTION.fullmatch(row[2]) for row in rows):
            return Identified("question run", "a run of clarifying questions", ("run",), by_fields=False)
        return Identified("run", "a TREC run", by_fields=False)
    if are_qrels(rows):
        if are_ptkb(map(str.split, lines)):
            return Identified("ptkb", "iKAT's judgments of statements about a person (PTKB), not of passages")
        return Identified("qrels", "TREC qrels", by_fields=False)
    whole = [line.split() for line in islice(lines, LINES)]
    found = kind_of_rows(whole) or kind_of_rows(rows)
    if found is not None:
        return Identified(found, MS_MARCO.get(found, "per-turn scores"), by_fields=False)
    if all(line.count("\t") == 1 for line in lines[:LINES]):
        return Identified("texts", "texts (id TAB text)", by_fields=False)
    return None
