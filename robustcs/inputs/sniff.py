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
from robustcs.inputs import mtrag, tables
from robustcs.inputs.annotations import is_annotations
from robustcs.inputs.file_formats import (
    DPR,
    PLAIN,
    PLAIN_RUN,
    QRECC,
    QUERIES,
    QUESTIONS,
    format_of,
    run_format_of,
)
from robustcs.inputs.formats import Role, first_turn, is_answer
from robustcs.inputs.heads import first_lines, first_record
from robustcs.inputs.nuggets import is_assignments, is_nuggets
from robustcs.inputs.paths import StrPath
from robustcs.inputs.ratings import is_ratings
from robustcs.inputs.records import ID_NAMES
from robustcs.inputs.reviews import is_reviews
from robustcs.inputs.tables import TableFile, find_column, is_parquet, open_table, read_table
from robustcs.inputs.text import is_turn_id
from robustcs.inputs.trec_lines import (
    LINES,
    MS_MARCO,
    WITH_QUERIES,
    are_ptkb,
    are_qrels,
    are_run,
    kind_of_rows,
    measure_columns,
    without_query,
)
from robustcs.messages import AnyOf, Either, Message, OptionName, Part

#: Kinds of files. ``ptkb`` are iKAT's judgments of statements about a person: they look like qrels, but judge no passages,
#: and no command reads them.
Kind = Literal[
    "run", "qrels", "scores", "texts", "paraphrases", "collection", "answers", "snippets", "ratings", "clariq topics",
    "question run", "question bank", "clariq evaluation", "mixed-initiative run", "crowd grades", "nuggets", "assignments",
    "ptkb", "labels", "reviews",
]  # fmt: skip

#: Options and commands that read a kind, for messages.
_TAKEN_BY: dict[Kind, Part] = {
    "run": AnyOf(("run", "original", "qr", "human")),
    "qrels": OptionName("qrels"),
    "scores": OptionName("scores"),
    "texts": OptionName("rewrites"),
    "paraphrases": OptionName("paraphrases"),
    "collection": OptionName("collection"),
    "answers": AnyOf(("response", "answers", "gold")),
    "snippets": "robustcs agreement",
    "ratings": "robustcs agreement",
    "clariq topics": Either("robustcs clariq --topics", "robustcs.clariq(topics=FILE)"),
    "question run": Either("robustcs clariq --run", "robustcs.clariq(runs={NAME: FILE})"),
    "question bank": Either(
        "robustcs clariq --questions or robustcs crowd --bank",
        "robustcs.clariq(questions=FILE) or robustcs.crowd(bank=FILE)",
    ),
    "clariq evaluation": Either(
        "robustcs clariq --evaluations", "robustcs.clariq(evaluations={NAME: FILE})"
    ),
    "mixed-initiative run": Either("robustcs crowd --run", "robustcs.crowd(runs={NAME: FILE})"),
    "crowd grades": "robustcs crowd",
    "nuggets": Either("robustcs answers --nuggets", "robustcs.answers(nuggets=FILE)"),
    "assignments": Either(
        "robustcs answers --assignments", "robustcs.answers(assignments={NAME: FILE})"
    ),
    "labels": OptionName("judge"),
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
    certain
        Whether names of fields or columns, or cells as in TREC files, identify the kind; otherwise other kinds look the same.
    shape
        JSON, a table with a line of column names, or lines without one.
    """

    kind: Kind
    family: str
    also: tuple[Kind, ...] = ()
    formulations: Mapping[Role, str] = field(default_factory=dict)
    certain: bool = True
    shape: Literal["json", "table", "lines"] = "lines"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds that the file can be read as."""
        return (self.kind, *self.also)

    @property
    def says(self) -> str:
        """A sentence such as ``these are iKAT topics``."""
        return (
            f"this is {self.family}"
            if self.family.startswith(("a ", "an "))
            else f"these are {self.family}"
        )

    @property
    def advice(self) -> str:
        """What to do with the file."""
        if self.kind == "ptkb":
            return "give the judgments of passages instead"
        if self.kind not in _TAKEN_BY:
            return "no command reads them"
        what = "it" if self.family.startswith(("a ", "an ")) else "them"
        advice = Message(f"use {what} with ", _TAKEN_BY[self.kind])
        if "answers" in self.also:
            advice = Message(advice, ", or as answers with ", _TAKEN_BY["answers"])
        return advice


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
        table = open_table(path)
    except PackageNeededError:
        raise
    except InputError:
        return None
    found = (
        None
        if table.separator == " "
        else next((kind for fits, kind in _TABLES if fits(table)), None)
    )
    if found is None and table.is_named:
        found = _of_table(table, lines)
    if found is not None:
        return replace(found, shape="table" if table.is_named else "lines")
    return _of_lines(lines) if lines and table.separator else None


def kind_of(path: StrPath) -> Kind | None:
    """Return the kind of ``path``; None for unknown and unreadable files."""
    found = identify(path)
    return None if found is None else found.kind


def refuse_other_kinds(path: StrPath, wanted: Kind) -> Identified | None:
    """Return the kind of the file if it can be read as ``wanted``, or None if the kind is unknown.

    Raises :class:`InputError` if it is certainly of another kind; the message names the kind and the option that reads it.
    """
    if is_parquet(path):
        read_table(path)  # its own error if it is damaged
    found = identify(path)
    if found is not None and found.certain and wanted not in found.kinds:
        raise input_error(path, None, found.says, found.advice, "other-kind")
    return found


def first_cells(path: StrPath) -> set[str]:
    """Return the cells of the first column at the beginning of ``path``: the turn ids of a run or of qrels."""
    return {line.split()[0] for line in first_lines(path)}


# ---------------------------------------------------------------- JSON
#: Records of one kind only.
_RECORDS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Kind, str], ...] = (
    (is_reviews, "reviews", "reviewed turns"),
    (is_annotations, "snippets", "snippet annotations"),
    (lambda record: is_ratings(list(record)), "ratings", "ratings"),
    (is_assignments, "assignments", "nuggets assigned to answers"),
)


def _of_record(record: Mapping[str, Any]) -> Identified | None:
    for fits, kind, family in _RECORDS:
        if fits(record):
            return Identified(kind, family)
    run, texts = run_format_of(record), format_of(record)
    if is_nuggets(record):
        return Identified(
            "nuggets", "nuggets", ("texts",) if texts is PLAIN and "nuggets" in record else ()
        )
    if mtrag.has_tasks(record):
        return _of_tasks(record)
    if _is_label(record):
        return Identified("labels", "labels of a judge")
    # the turns have the fields, not the topic
    shown = texts.formulations({**record, **_first_turn(record)}, own=True) if texts else {}
    also: list[Kind] = (
        ["answers"] if texts in (DPR, QRECC) or (run and is_answer(first_turn(record))) else []
    )
    if run is not None:
        if texts in (DPR, QRECC, QUESTIONS):
            also.append("texts")
        return Identified(
            "run",
            run.name,
            tuple(also),
            shown if "texts" in also else {},
            certain=run is not PLAIN_RUN,
        )
    if _has_system_questions(record):
        return Identified("mixed-initiative run", "a mixed-initiative run")
    if _is_passage(record):
        return Identified("collection", "passages")
    if texts is not None and texts is not PLAIN:
        return Identified(
            "texts", texts.name, ("collection",) if texts is QUERIES else tuple(also), shown
        )
    return _of_plain_record(record)


def _of_tasks(record: Mapping[str, Any]) -> Identified:
    """Return the kinds of a file of MTRAG tasks by the fields of its first task; an export is assumed to have everything."""
    export = mtrag.is_export(record)
    contexts = record.get("contexts")
    there: tuple[tuple[Kind, bool], ...] = (
        ("answers", export or not record.keys().isdisjoint(("predictions", "targets"))),
        ("run", mtrag.RUN.fits(record)),
        ("texts", mtrag.QUESTIONS.fits(record)),
        (
            "collection",
            export or any("text" in one for one in contexts or () if isinstance(one, dict)),
        ),
    )
    kind, *also = [kind for kind, has in there if has]
    shown = mtrag.QUESTIONS.formulations(("text",)) if "texts" in also else {}
    return Identified(kind, mtrag.EXPORT if export else mtrag.NAME, tuple(also), shown)


def _of_plain_record(record: Mapping[str, Any]) -> Identified | None:
    named = any(name in record for name in ID_NAMES)
    is_plain_question = named and format_of(record) is PLAIN
    if named and {"answer", "answers", "best_span_str"} & record.keys():
        return Identified("answers", "answers", ("texts",) if is_plain_question else ())
    if is_plain_question:
        return Identified(
            "texts",
            PLAIN.name,
            ("collection",) if "text" in record else (),
            PLAIN.formulations(record, own=True),
        )
    names, values = (list(islice(some, LINES)) for some in (record.keys(), record.values()))
    first = values[0] if values else None
    if isinstance(first, dict) and ("Questions" in first or "Responses" in first):
        return Identified("crowd grades", "grades of crowd workers (CAsT-ReGIn)")
    if (
        isinstance(first, dict)
        and first
        and all(isinstance(value, int | float) for value in first.values())
    ):
        return Identified("clariq evaluation", "scores {measure: {facet: score}}", certain=False)
    if (
        values
        and all(map(_QUESTION.fullmatch, names))
        and all(isinstance(value, str) for value in values)
    ):
        return Identified("question bank", "a bank of questions")
    if isinstance(record.get("data"), list):
        return Identified("answers", "answers of SQuAD or QuAC")
    if values and all(isinstance(value, str | list) for value in values) and not named:
        if any(isinstance(value, list) and value and isinstance(value[0], str) for value in values):
            return Identified("answers", "answers {turn: [answer, …]}", certain=False)
        if all(isinstance(value, str) for value in values):
            # answers of systems have the same form
            return Identified("texts", "texts {turn: text}", ("answers",), certain=False)
    return None


def _first_turn(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of the turns of a topic, as far as they are at the beginning of the file."""
    lists = (
        value
        for value in record.values()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    )
    fields: dict[str, Any] = {}
    for turn in next(lists, []):
        fields |= turn if isinstance(turn, dict) else {}
    return fields


def _has_system_questions(record: Mapping[str, Any]) -> bool:
    """Return whether a record contains questions that a system would ask (CAsT 2022)."""
    turns = record.get("turns")
    first = turns[0] if isinstance(turns, list) and turns else None
    return isinstance(first, dict) and "questions" in first


def _is_label(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a grade of a passage, by text (umbrela) or by id; human judgments are never JSON."""
    joined = {"query", "passage"} <= record.keys()
    by_id = (
        find_column(record, tables.TURN_NAMES) is not None
        and find_column(record, tables.DOCUMENT_NAMES) is not None
    )
    return (joined or by_id) and find_column(record, tables.GRADE_NAMES) is not None


def _is_passage(record: Mapping[str, Any]) -> bool:
    has_question = "query" in record or "question" in record
    if has_question or not any(
        is_turn_id(record.get(name)) for name in ("id", "_id", "docid", "docno", "pid")
    ):
        return False
    if any(isinstance(record.get(name), str) for name in ("contents", "passage", "segment")):
        return True
    text = record.get("text")
    if not isinstance(text, str):
        return False
    return "title" in record or (
        QUERIES.fits(record) and "|user|" not in text and len(text.split()) > _PASSAGE_WORDS
    )


# ---------------------------------------------------------------- tables and lines
#: Kinds of tables by their columns other than turn ids.
_TABLES: tuple[tuple[Callable[[TableFile], bool], Identified], ...] = (
    (lambda table: is_annotations(table.names), Identified("snippets", "snippet annotations")),
    (lambda table: is_ratings(table.names), Identified("ratings", "ratings")),
    (lambda table: {"topic_id", "facet_id"} <= set(table.names), Identified("clariq topics", "ClariQ topics")),
    (lambda table: table.separator in (",", ";") and any("paraphrase" in name for name in table.names),
     Identified("paraphrases", "paraphrases")),
    (lambda table: {"variation", "transformation_type"} <= set(table.names),
     Identified("paraphrases", "labelled query variations", ("texts",))),
    (lambda table: table.names[:2] == ("question_id", "question"), Identified("question bank", "a bank of questions")),
)  # fmt: skip


def _of_table(table: TableFile, lines: Sequence[str]) -> Identified | None:
    names = dict.fromkeys((*table.columns, *table.names), "")
    if table.separator in (" ", "\t") and _is_trec(table, lines):
        return None
    fitting = _of_columns(table)
    if fitting:
        (kind, family), *others = fitting
        if kind == "qrels" and _STATUS in table.names:
            return Identified("labels", "labels of a judge", ("qrels",))
        return Identified(kind, family, tuple(other for other, _ in others))
    texts = format_of(names) if table.separator != " " else None
    if texts is not None:
        return Identified("texts", texts.name, (), texts.formulations(names, own=True))
    measured = table.document is None and measure_columns(table.columns)
    return Identified("scores", "a table of per-turn scores") if measured else None


def _is_trec(table: TableFile, lines: Sequence[str]) -> bool:
    """Return whether a table is a TREC run or qrels file whose first line names the columns in the usual order."""
    rows = [line.split() for line in lines[1:LINES]]
    return (are_run(rows) or are_qrels(rows)) and table.document in (None, 2) and table.turn == 0


def _of_columns(table: TableFile) -> list[tuple[Kind, str]]:
    """Return the kinds of a table by its usual columns, and their names in messages."""
    turn, graded, ranked = (
        table.find(some) is not None
        for some in (tables.TURN_NAMES, tables.GRADE_NAMES, tables.RANK_NAMES)
    )
    if not turn or table.document is None:
        measured = turn and None not in (
            table.find(tables.MEASURE_NAMES),
            table.find(tables.VALUE_NAMES),
        )
        return [("scores", "a table of per-turn scores")] if measured else []
    if {"query-id", "corpus-id", "score"} <= set(
        table.names
    ) and not ranked:  # BEIR calls the grade score
        return [("qrels", "BEIR qrels")]
    judgments: list[tuple[Kind, str]] = [("qrels", "a table of judgments")]
    passages: list[tuple[Kind, str]] = [("run", "a table of retrieved passages")]
    return (judgments if graded else []) + (
        passages if ranked or table.find(tables.SCORE_NAMES) is not None else []
    )


def _of_lines(lines: Sequence[str]) -> Identified | None:
    rows = [line.split() for line in islice(lines, 1, LINES)] or [lines[0].split()]
    if are_run(rows):
        if all(_QUESTION.fullmatch(row[2]) for row in rows):
            return Identified("question run", "a run of clarifying questions", ("run",))
        return Identified("run", "a TREC run")
    if are_qrels(rows):
        if are_ptkb(map(str.split, lines)):
            return Identified(
                "ptkb", "iKAT's judgments of statements about a person (PTKB), not of passages"
            )
        return Identified("qrels", "TREC qrels")
    if without_query(lines[:LINES]) is not None:
        return Identified("qrels", WITH_QUERIES)
    whole = [line.split() for line in islice(lines, LINES)]
    found = kind_of_rows(whole) or kind_of_rows(rows)
    if found is not None:
        # "p1 TAB text 2" is a passage
        measured = lines[0].count("\t") != 1 and len(
            measure_columns([row[0] for row in whole])
        ) == len(whole)
        return Identified(
            found, MS_MARCO.get(found, "per-turn scores"), certain=found == "scores" and measured
        )
    if all(line.count("\t") == 1 for line in lines[:LINES]):
        return Identified("texts", "texts (id TAB text)", certain=False)
    return None
