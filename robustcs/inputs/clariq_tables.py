"""The tables of ClariQ as JSON: document relevance per facet, for one system or for every question, and conversations.

The official tables are pickles, and loading a pickle can run any program in it. They are rejected; :data:`CONVERT` is a
command that converts a trusted file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import shape_of
from robustcs.inputs.tables import by_field, named, read_rows, text_of
from robustcs.inputs.text import finite_number, first_bytes, is_turn_id, read_json

#: Unit (facet or context) → value, by measure.
UnitScores = dict[str, dict[str, float]]

#: Measure → unit → question → value.
QuestionScores = dict[str, dict[str, dict[str, float]]]

#: Entries of the official table in addition to the questions: the facet's best and worst value.
BEST, WORST = "MAX", "MIN"

#: Command that converts a trusted pickle to the JSON format of this module.
CONVERT = (
    "python -c \"import json, pickle, sys; json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'))\""
    " single_turn_train_eval.pkl single_turn_train_eval.json"
)

#: Problem and advice for a context of two topics.
_TWO, _OWN = "context {key} belongs to topic {value} here but to {earlier} earlier", "give each its own id"

#: First bytes of pickles of protocols 2 to 5, and of the old text protocols.
_PICKLES = tuple(bytes((0x80, protocol)) for protocol in (2, 3, 4, 5)) + (b"(dp", b"(lp", b"}q", b"]q")


def refuse_pickle(path: StrPath) -> None:
    """Raise :class:`InputError` with :data:`CONVERT` if ``path`` is a pickle, even inside gzip and tar."""
    head = first_bytes(path, 512)
    if head.startswith(_PICKLES) or b".pkl\0" in head[:110]:
        found = "this is a pickle, which robustcs never loads: loading it can run any program"
        raise input_error(path, None, found, f"if you trust the file, unpack it and convert it to JSON: {CONVERT}", "pickle")


def is_json(path: StrPath) -> bool:
    """Return whether the file is JSON rather than a run. Raises :class:`InputError` for a pickle and an empty file."""
    refuse_pickle(path)
    return shape_of(path) != "table"


def read_evaluation(path: StrPath) -> UnitScores:
    """Return measure → facet → value: the scores of one system (``*.eval``).

    Raises :class:`InputError` for anything else; the message names the option for a table of all questions.
    """
    scores: UnitScores = {}
    problems = ProblemList(path)
    for measure, unit, value in _entries(path):
        if measure.startswith("Recall"):
            found = "these are recalls of questions"
            raise input_error(path, None, found, "robustcs computes them from --run NAME=FILE", "not-documents")
        if isinstance(value, dict):
            found = f"{measure} of {unit} has a value per question"
            raise input_error(path, None, found, "use --performance FILE for this table", "per-question-table")
        number = finite_number(value)
        if number is None:
            problems.add(None, f"{measure} of {unit} is {value!r}", "write a number", "not-a-number")
        else:
            scores.setdefault(measure, {})[unit] = number
    problems.raise_if_any()
    return scores


def read_performance(path: StrPath) -> QuestionScores:
    """Return measure → facet → question → value after asking the question and reading its answer.

    Reads the JSON form of ``single_turn_*_eval.pkl`` and ``multi_turn_*_eval.pkl``: the entry of a question is a number or
    ``{"no_answer": …, "with_answer": …}``, whose ``with_answer`` counts; ``MAX`` and ``MIN`` may be additional entries. Raises
    :class:`InputError` for anything else.
    """
    scores: QuestionScores = {}
    problems = ProblemList(path)
    for measure, unit, questions in _entries(path):
        if not isinstance(questions, dict):
            found = f"{measure} of {unit} has no values per question"
            raise input_error(path, None, found, "use --evaluations NAME=FILE for the values of one system", "no-questions")
        if not questions:
            problems.add(None, f"{measure} of {unit} has no questions", "complete it or delete it", "no-questions")
        for question, entry in questions.items():
            number = finite_number(entry.get("with_answer") if isinstance(entry, dict) else entry)
            if number is None:
                found = f"{measure} of {unit}, {question}: {str(entry)[:60]} is not a value"
                problems.add(None, found, 'write a number, or {"with_answer": number}', "not-a-number")
            else:
                scores.setdefault(measure, {}).setdefault(unit, {})[question] = number
    problems.raise_if_any()
    return scores


def _entries(path: StrPath) -> Iterator[tuple[str, str, Any]]:
    """Yield measure, unit and entry of a table. Raises :class:`InputError` for other JSON and for a pickle."""
    refuse_pickle(path)
    value = read_json(path)
    if not isinstance(value, dict) or not value or not all(isinstance(units, dict) and units for units in value.values()):
        raise input_error(path, None, "JSON, but not a table by measure and facet", 'write {"NDCG3": {"F0001": …}}', "no-table")
    return ((measure, unit, entry) for measure, units in value.items() for unit, entry in units.items())


def read_conversations(path: StrPath) -> dict[str, str]:
    """Return context id → topic id, from JSON of the synthetic conversations or TSV of those with people.

    JSON: ``{record: {"topic_id", "context_id", …}}``; records of one context count once. TSV
    (``multi_turn_human_generated_data.tsv``): the first column is the id of the context; a column is ``topic_id``.

    Raises :class:`InputError` with every bad record (bounded).
    """
    problems = ProblemList(path)
    found: dict[str, str] = {}
    refuse_pickle(path)
    if shape_of(path) == "json":
        value = read_json(path)
        if not isinstance(value, dict):
            raise input_error(path, None, "JSON, but not an object of records", "write {record: {…}}", "no-table")
        for record, entry in value.items():
            ids = [entry.get(name) if isinstance(entry, dict) else None for name in ("context_id", "topic_id")]
            if all(map(is_turn_id, ids)):
                problems.once(found, str(ids[0]), str(ids[1]), None, _TWO, _OWN)
            else:
                problems.add(None, f"record {record} has no topic_id or context_id", "complete the record", "no-context")
    else:
        columns, rows = read_rows(path, problems)
        for line, row in by_field(path, columns, rows, {"context": columns[:1], **named("topic_id")}):
            problems.once(found, text_of(row["context"]), text_of(row["topic_id"]), line, _TWO, _OWN)
    problems.finish(found, "conversations")
    return found
