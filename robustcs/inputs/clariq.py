"""The files of ClariQ: topics with their facets, questions and answers; predicted needs; runs of questions; preferences of
people between systems; and, as JSON, document relevance per facet (for one system or for every question) and conversations.

Formats as published with "Building and Evaluating Open-Domain Dialogue Corpora with Clarifying Questions" (2021). TSV has
no quoting: quotes belong to the text. The official tables are pickles, and loading a pickle can run any program in it. They are
rejected; :data:`CONVERT` is a command that converts a trusted file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.mixed_initiative import Bank
from robustcs.inputs.paths import StrPath, parts_of
from robustcs.inputs.readings import CLASH
from robustcs.inputs.records import RowProblems, shape_of
from robustcs.inputs.runs import Run, read_run
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.inputs.tables import by_field, named, read_rows, rows_by_field, text_of
from robustcs.inputs.text import (
    filled_lines,
    finite_number,
    first_bytes,
    is_turn_id,
    number_of,
    read_json,
    whole_number,
)
from robustcs.messages import Message, OptionName
from robustcs.wording import counted

#: Labels of clarification need, from 1 (no question is needed) to 4 (nothing can be answered without one).
NEEDS = (1, 2, 3, 4)

#: The id of asking no question in the question bank.
NO_QUESTION = "Q00001"

#: Largest rank; ranks are 64-bit numbers.
_LAST_RANK = 10**18 - 1

_QUOTED = re.compile(r"\S+\s+\S+\s+[\"“]")
_QUOTED_LINE = re.compile(r"(\S+)\s+\S+\s+[\"“](.*)[\"”]\s+(\S+)\s+(\S+)(?:\s+.*)?")


@dataclass(frozen=True)
class Topics:
    """The topics of a ClariQ data file, all in file order.

    requests
        Topic → the user's request.
    needs
        Topic → label of clarification need, for topics with a label.
    questions
        Topic → ids of its questions, over all facets (including the empty question if the file lists it).
    facets
        Facet → its topic.
    facet_texts, question_texts
        Id → text.
    answers
        The answers of all facets to their questions.
    parts
        The number of rows of each file.
    """

    requests: dict[str, str]
    needs: dict[str, int]
    questions: dict[str, frozenset[str]]
    facets: dict[str, str]
    facet_texts: dict[str, str]
    question_texts: dict[str, str]
    rows: int
    answers: tuple[str, ...] = ()
    parts: tuple[int, ...] = ()


#: Columns that a file of topics may lack.
_TOPIC_COLUMNS = named(
    "initial_request", "topic_desc", "clarification_need", "facet_id", "facet_desc", "question_id", "question", "answer"
)  # fmt: skip


def read_topics(path: StrPath) -> Topics:
    """Read ``train.tsv``, ``dev.tsv`` or ``test_with_labels.tsv``; from ``test.tsv``, which has no labels, only the requests.

    A facet may answer a question several times, as in real files; a row in several files counts once. Raises
    :class:`InputError` with every bad row (bounded): a wrong number of columns, no topic id, a need other than 1 to 4, a topic
    with two needs or with another request in another file, a facet of two topics; or if no header line names ``topic_id``.
    """
    requests: dict[str, str] = {}
    needs: dict[str, int] = {}
    questions: dict[str, set[str]] = {}
    facets: dict[str, str] = {}
    facet_texts: dict[str, str] = {}
    question_texts: dict[str, str] = {}
    answers: list[str] = []
    rows: Counter[StrPath] = Counter()
    for problems, line, row in _topic_rows(path):
        rows[problems.path] += 1
        topic = row["topic_id"]
        if not topic:
            problems.skip(line, "no topic id", "complete the row or delete it", "no-topic-id")
            continue
        request = row.get("initial_request", "")
        if requests.setdefault(topic, request) != request and len(rows) > 1:
            found = f"topic {topic} has the request {request!r} here but {requests[topic]!r} in an earlier file"
            problems.add(line, found, CLASH, "contradicting-files")
        need = row.get("clarification_need", "")
        label = _need(need)
        if need and label is None:
            problems.add(
                line, f"unknown clarification need {need!r}", "write 1, 2, 3 or 4", "bad-need"
            )
        elif label is not None:
            found = "topic {key} has the clarification need {value} here but {earlier} earlier"
            problems.once(needs, topic, label, line, found, "give every topic one label")
        facet = row.get("facet_id", "")
        if facet:
            found = "facet {key} belongs to topic {value} here but to {earlier} earlier"
            problems.once(facets, facet, topic, line, found, "give every facet one topic")
            facet_texts.setdefault(facet, row.get("facet_desc", ""))
        question = row.get("question_id", "")
        if question:
            questions.setdefault(topic, set()).add(question)
            question_texts.setdefault(question, row.get("question", ""))
            answers.append(row.get("answer", ""))
    if not requests:
        raise input_error(path, None, "the file has no topics", "check the path", "empty")
    ids_of_topic = {topic: frozenset(ids) for topic, ids in questions.items()}
    sizes = tuple(rows[file] for file in parts_of(path))
    return Topics(
        requests,
        needs,
        ids_of_topic,
        facets,
        facet_texts,
        question_texts,
        sum(sizes),
        tuple(answers),
        sizes,
    )


def _topic_rows(path: StrPath) -> Iterator[tuple[ProblemList, int, dict[str, str]]]:
    """Yield (problems of the file, line, cells) of every row that is in no earlier file."""
    known: set[tuple[str, ...]] = set()
    for file in parts_of(path):
        refuse_other_kinds(file, "clariq topics")
        problems, rows = RowProblems(file), list[dict[str, str]]()
        for line, cells in rows_by_field(file, problems, named("topic_id"), _TOPIC_COLUMNS):
            row = {name: text_of(cell) for name, cell in cells.items()}
            if tuple(row.values()) not in known:
                rows.append(row)
                yield problems, line, row
        problems.raise_if_any(len(rows))
        known.update(tuple(row.values()) for row in rows)


def read_needs(path: StrPath) -> dict[str, int]:
    """Return topic → predicted label of clarification need, from lines of ``topic_id label``.

    Raises :class:`InputError` with every bad line (bounded): a wrong number of columns, a label other than 1 to 4, a topic
    with two labels.
    """
    problems = ProblemList(path)
    needs: dict[str, int] = {}
    for place, (line, text) in enumerate(filled_lines(path)):
        cells = text.split()
        if place == 0 and cells[0] == "topic_id":
            continue
        if len(cells) != 2:
            found = f"{counted(len(cells), 'column')}, but a prediction has 2 (topic_id label)"
            problems.add(line, found, "write the topic and one label", "wrong-columns")
            continue
        label = _need(cells[1])
        if label is None:
            problems.add(
                line,
                f"unknown label {cells[1]!r} of topic {cells[0]}",
                "write 1, 2, 3 or 4",
                "bad-need",
            )
        else:
            problems.once(
                needs,
                cells[0],
                label,
                line,
                "topic {key} has the label {value} here but {earlier} earlier",
            )
    problems.finish(needs, "predictions")
    return needs


def _need(text: str) -> int | None:
    return int(text) if text in {str(label) for label in NEEDS} else None


# ---------------------------------------------------------------- runs of questions
@dataclass(frozen=True, eq=False)
class QuestionRun:
    """A run of questions: its ``documents`` are question ids.

    unknown
        Number of rows whose question is not in the bank. The id of an unknown text is the text in quotes, which no id has.
    texts
        Whether the file contains texts in quotes: a multi-turn run, whose ids are contexts and not topics.
    """

    run: Run
    unknown: int = 0
    texts: bool = False


def read_question_run(
    path: StrPath, name: str, bank: Mapping[str, str] | None, ranks: bool = False
) -> QuestionRun:
    """Read a run ``topic_id 0 question_id rank score tag``, or one of question texts in quotes (multi-turn systems).

    Texts get their id from ``bank``: that of an equal text, else of a text equal except for letter case, punctuation and white
    space; ``""`` is :data:`NO_QUESTION`, whatever its text in the bank.

    Raises :class:`InputError` for malformed lines, for JSON, and for texts without a bank.
    """
    head = "".join(line for _, line in islice(filled_lines(path), 1))
    if head.lstrip().startswith(("{", "[")):
        found, advice = (
            "this is JSON, not a run of questions",
            "write lines of topic_id 0 question_id rank score tag",
        )
        raise input_error(path, 1, found, advice, "not-a-run")
    if not _QUOTED.match(head):
        run = read_run(path, name, ranks=ranks)
        return QuestionRun(
            run, 0 if bank is None else sum(question not in bank for question in run.ids.texts())
        )
    if bank is None:
        found = "the questions are texts, not ids"
        advice = Message("name the question bank with ", OptionName("questions", "FILE"))
        raise input_error(path, 1, found, advice, "no-bank")
    problems = ProblemList(path)
    known = Bank(bank)
    rows: list[tuple[str, str, float]] = []
    places: list[int] = []
    for line, text in filled_lines(path):
        match = _QUOTED_LINE.fullmatch(text.strip())
        rank = whole_number(match[3], _LAST_RANK) if match else None
        if match is None or rank is None:
            problems.add(
                line,
                "not a line of a run of texts",
                'write: context_id 0 "question" rank score tag',
                "bad-line",
            )
            continue
        score = number_of(match[4])
        if score is None:
            problems.add(
                line,
                f"score {match[4]!r} is not a number",
                "write a decimal number",
                "not-a-number",
            )
            continue
        question = match[2].strip()
        rows.append(
            (
                match[1],
                (known.find(question) if question else NO_QUESTION) or f'"{question}"',
                score,
            )
        )
        places.append(rank)
    problems.raise_if_any()
    unknown = sum(question.startswith('"') for _, question, _ in rows)
    return QuestionRun(Run.of(name, rows, places if ranks else None), unknown, texts=True)


# ---------------------------------------------------------------- pairwise human preferences (Acute-eval)
#: Value of ``winner`` if the annotator saw no difference.
TIE = "tie"
_COLUMNS = ("criterion", "first", "second", "winner")


@dataclass(frozen=True)
class Preference:
    """One judgment. ``winner`` is ``first``, ``second`` or :data:`TIE`; ``pair`` is the pair of conversations, or empty."""

    criterion: str
    first: str
    second: str
    winner: str
    pair: str


def read_preferences(path: StrPath) -> tuple[Preference, ...]:
    """Read TSV with the columns ``criterion first second winner`` or JSONL with these fields; ``pair`` is optional.

    Raises :class:`InputError` with every bad judgment (bounded): an empty field, a system compared with itself, a winner other
    than the two systems and ``tie``.
    """
    problems = RowProblems(path, "preferences")
    found: list[Preference] = []
    for line, row in rows_by_field(path, problems, named(*_COLUMNS), named("pair")):
        criterion, first, second, winner, pair = cells = [
            str(row.get(name) or "").strip() for name in (*_COLUMNS, "pair")
        ]
        lacking = [name for name, cell in zip(_COLUMNS, cells, strict=False) if not cell]
        if lacking:
            problems.skip(line, f"no {lacking[0]}", "complete the row or delete it", "empty-field")
        elif first == second:
            problems.add(
                line,
                f"{first} is compared with itself",
                "name two different systems",
                "same-system",
            )
        elif winner not in (first, second, TIE):
            problems.add(
                line,
                f"unknown winner {winner!r}",
                f"write {first}, {second} or {TIE}",
                "unknown-winner",
            )
        else:
            found.append(Preference(criterion, first, second, winner, pair))
    problems.finish(found, "preferences")
    return tuple(found)


# ---------------------------------------------------------------- tables as JSON
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
_TWO, _OWN = (
    "context {key} belongs to topic {value} here but to {earlier} earlier",
    "give each its own id",
)

#: First bytes of pickles of protocols 2 to 5, and of the old text protocols.
_PICKLES = tuple(bytes((0x80, protocol)) for protocol in (2, 3, 4, 5)) + (
    b"(dp",
    b"(lp",
    b"}q",
    b"]q",
)


def refuse_pickle(path: StrPath) -> None:
    """Raise :class:`InputError` with :data:`CONVERT` if ``path`` is a pickle, even inside gzip and tar."""
    head = first_bytes(path, 512)
    if head.startswith(_PICKLES) or b".pkl\0" in head[:110]:
        found = "this is a pickle, which robustcs never loads: loading it can run any program"
        raise input_error(
            path,
            None,
            found,
            f"if you trust the file, unpack it and convert it to JSON: {CONVERT}",
            "pickle",
        )


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
            advice = Message("robustcs computes them from ", OptionName("run", "NAME=FILE"))
            raise input_error(path, None, found, advice, "not-documents")
        if isinstance(value, dict):
            found = f"{measure} of {unit} has a value per question"
            advice = Message("use ", OptionName("performance", "FILE"), " for this table")
            raise input_error(path, None, found, advice, "per-question-table")
        number = finite_number(value)
        if number is None:
            problems.add(
                None, f"{measure} of {unit} is {value!r}", "write a number", "not-a-number"
            )
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
            raise input_error(
                path,
                None,
                found,
                Message(
                    "use ", OptionName("evaluations", "NAME=FILE"), " for the values of one system"
                ),
                "no-questions",
            )
        if not questions:
            problems.add(
                None,
                f"{measure} of {unit} has no questions",
                "complete it or delete it",
                "no-questions",
            )
        for question, entry in questions.items():
            number = finite_number(entry.get("with_answer") if isinstance(entry, dict) else entry)
            if number is None:
                found = f"{measure} of {unit}, {question}: {str(entry)[:60]} is not a value"
                problems.add(
                    None, found, 'write a number, or {"with_answer": number}', "not-a-number"
                )
            else:
                scores.setdefault(measure, {}).setdefault(unit, {})[question] = number
    problems.raise_if_any()
    return scores


def _entries(path: StrPath) -> Iterator[tuple[str, str, Any]]:
    """Yield measure, unit and entry of a table. Raises :class:`InputError` for other JSON and for a pickle."""
    refuse_pickle(path)
    value = read_json(path)
    if (
        not isinstance(value, dict)
        or not value
        or not all(isinstance(units, dict) and units for units in value.values())
    ):
        raise input_error(
            path,
            None,
            "JSON, but not a table by measure and facet",
            'write {"NDCG3": {"F0001": …}}',
            "no-table",
        )
    return (
        (measure, unit, entry) for measure, units in value.items() for unit, entry in units.items()
    )


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
            raise input_error(
                path, None, "JSON, but not an object of records", "write {record: {…}}", "no-table"
            )
        for record, entry in value.items():
            ids = [
                entry.get(name) if isinstance(entry, dict) else None
                for name in ("context_id", "topic_id")
            ]
            if all(map(is_turn_id, ids)):
                problems.once(found, str(ids[0]), str(ids[1]), None, _TWO, _OWN)
            else:
                problems.add(
                    None,
                    f"record {record} has no topic_id or context_id",
                    "complete the record",
                    "no-context",
                )
    else:
        columns, rows = read_rows(path, problems)
        for line, row in by_field(
            path, columns, rows, {"context": columns[:1], **named("topic_id")}
        ):
            problems.once(
                found, text_of(row["context"]), text_of(row["topic_id"]), line, _TWO, _OWN
            )
    problems.finish(found, "conversations")
    return found
