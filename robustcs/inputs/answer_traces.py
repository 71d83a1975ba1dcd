"""Further contents of files of answers: passages, citations, conversations, metrics and labels; and human labels.

Read from MTRAG tasks, InspectorRAGet exports, and reports with citations (TREC RAG, RAGTIME, iKAT). Other files have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, Literal, get_args

from robustcs.errors import ProblemList, input_error
from robustcs.inputs import mtrag
from robustcs.inputs.formats import Record, answer_of, first_turn, is_answer, passages_in, topic_of
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import PooledFile, StrPath
from robustcs.inputs.records import ID_NAMES, RowProblems
from robustcs.inputs.tables import find_column, read_rows
from robustcs.inputs.text import decimal_number, first_record, is_turn_id

Kind = Literal["answerable", "partial", "unanswerable", "underspecified", "other", "unknown"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Response = Literal["answered", "partly", "abstained", "asked_back", "no_answer"]
RESPONSES: tuple[Response, ...] = get_args(Response)
#: Labels of the kinds, in lower case without spaces, hyphens and underscores.
_LABELS: dict[str, Kind] = {
    "answerable": "answerable", "partial": "partial", "partiallyanswerable": "partial", "unanswerable": "unanswerable",
    "underspecified": "underspecified", "conversational": "other", "other": "other", "nonquestion": "other",
}  # fmt: skip
#: The metric of MTRAG that labels responses: 1 abstained, 0.5 partly, 0 answered.
IDK = "idk_eval"


def kind_of_label(label: str) -> Kind:
    """Return the kind of turns with this label, ``unknown`` for other labels."""
    return _LABELS.get("".join(letter for letter in label.lower() if letter.isalnum()), "unknown")


def response_of_label(label: str) -> Response | None:
    """Return the response of this label: a name of :data:`RESPONSES`, or ``idk_eval`` (1, 0.5, 0); None for other labels."""
    name = label.strip().lower().replace(" ", "_").replace("-", "_")
    if name in RESPONSES:
        return name  # type: ignore[return-value]
    numbers: dict[float | None, Response] = {1.0: "abstained", 0.5: "partly", 0.0: "answered"}
    return numbers.get(decimal_number(name))


@dataclass(frozen=True)
class Trace:
    """Contents of a file of answers, by turn.

    kinds
        Labelled kind of the turn.
    scores
        Metric → turn → value.
    passages, texts
        Passages from which the answer was generated (empty lists are known), and passage → text.
    cited
        Sentences of the answer, each with the ids of its citations.
    conversation
        (speaker, text) of every message, the question last.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    passages: dict[str, tuple[str, ...]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    cited: dict[str, list[tuple[str, tuple[str, ...]]]] = field(default_factory=dict)
    conversation: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    @property
    def responses(self) -> dict[str, Response]:
        """Turn → response by the metric :data:`IDK`, where its value is known."""
        labelled = {turn: response_of_label(str(value)) for turn, value in self.scores.get(IDK, {}).items()}
        return {turn: response for turn, response in labelled.items() if response}

    def add(self, other: Trace) -> None:
        """Add the contents of another file; those of this one take precedence."""
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            if one.name == "scores":
                for metric, values in theirs.items():
                    mine[metric] = values | mine.get(metric, {})
            else:
                mine |= {key: value for key, value in theirs.items() if key not in mine}


def read_trace(path: StrPath, name: str = "") -> Trace:
    """Return the contents of a file of answers; ``name`` is the model of an export with several. Broken records are skipped."""
    found = Trace()
    if isinstance(path, PooledFile):
        for file, model in zip(path.files, path.names or (name,) * len(path.files), strict=True):
            found.add(read_trace(file, model or name))
        return found
    first = first_record(path) or {}
    problems = ProblemList(path)
    if mtrag.has_tasks(first):
        _tasks(found, list(json_records(path, problems)), name)
    elif is_answer(first_turn(first)):
        _reports(found, json_records(path, problems))
    return found


def _tasks(found: Trace, records: list[Record], name: str) -> None:
    found.scores.update(mtrag.scores(records, name))
    labels = mtrag.labels(records)
    for label in (one for one in labels if one.lower() == "answerability"):
        found.kinds.update({turn: kind_of_label(value.split(", ")[0]) for turn, value in labels[label].items()})
    found.texts.update({passage: text for _, passage, text in mtrag.passages(records)})
    for record in records:
        turn = _id(record.fields.get("task_id"))
        if isinstance(record.fields.get("contexts"), list):
            found.passages[turn] = tuple(str(one) for one, _ in passages_in(record.fields["contexts"]) if is_turn_id(one))
        if said := mtrag.conversation(record.fields):
            found.conversation[turn] = said


def _reports(found: Trace, records: Iterable[Record]) -> None:
    for record in records:
        turns = record.fields.get("turns")
        for one in turns if isinstance(turns, list) else [record.fields]:
            if not isinstance(one, dict) or not (parts := answer_of(one)):
                continue
            listed = [str(passage) for passage, _ in passages_in(one.get("references")) if is_turn_id(passage)]
            turn, sentences = _id(topic_of(one)), []
            for part in (part for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)):
                given = chain(*(passages_in(part.get(key)) for key in ("citations", "passage_provenance")))
                sentences.append((part["text"].strip(), tuple(_cited(passage, listed) for passage, _ in given)))
            if any(cited for _, cited in sentences) or listed:
                found.passages[turn] = tuple(dict.fromkeys([*listed, *chain(*(cited for _, cited in sentences))]))
                found.cited[turn] = sentences


def _cited(passage: object, listed: list[str]) -> str:
    """Return the id of a citation; numbers are positions in the references."""
    if isinstance(passage, int) and not isinstance(passage, bool) and 0 <= passage < len(listed):
        return listed[passage]
    return str(passage)


def _id(value: object) -> str:
    return str(value).strip() if is_turn_id(value) else ""


# ---------------------------------------------------------------- labels of people


@dataclass(frozen=True)
class AnswerLabels:
    """Labels of turns and of answers: turn → kind; (system, turn) → response, and whether the answer is correct.

    An empty system stands for the only one.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    responses: dict[tuple[str, str], Response] = field(default_factory=dict)
    correct: dict[tuple[str, str], float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len({*self.kinds, *(turn for _, turn in (*self.responses, *self.correct))})


_COLUMNS = "turn, answerability, system, response and correct"


def read_answer_labels(path: StrPath) -> AnswerLabels:
    """Return labels from MTRAG tasks (``answerability``), or from CSV, TSV or JSONL with the columns of :data:`_COLUMNS`.

    Raises :class:`InputError` for a file without labels, and for unknown labels.
    """
    found = AnswerLabels()
    for file in path.files if isinstance(path, PooledFile) else (path,):
        if mtrag.has_tasks(first_record(file) or {}):
            found.kinds.update(read_trace(file).kinds)
            if not found.kinds:
                raise input_error(file, None, "tasks without answerability", "give tasks with this label", "no-such-column")
        else:
            problems = RowProblems(file)
            for line, row in _rows(file, problems):
                _take(found, line, row, problems)
            problems.raise_if_any(len(found))
    return found


def _rows(path: StrPath, problems: RowProblems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line and row with the names of :data:`_COLUMNS` as keys."""
    columns, rows = read_rows(path, problems)
    names = {"turn": (*ID_NAMES, "task_id"), "kind": ("answerability", "kind"), "system": ("system", "model", "run_id"),
             "response": ("response", IDK), "correct": ("correct",)}  # fmt: skip
    known = {key: column for key, some in names.items() if (column := find_column(columns, some))}
    if "turn" not in known or known.keys() <= {"turn", "system"}:
        advice = f"name the columns {_COLUMNS}; system, and all but one label, may be missing"
        raise input_error(path, 1, f"no labels; the columns are: {', '.join(columns)}", advice, "no-such-column")
    for line, row in rows:
        yield line, {key: row.get(column) for key, column in known.items()}


def _take(found: AnswerLabels, line: int, row: Mapping[str, Any], problems: RowProblems) -> None:
    turn, said = row["turn"], {key: str(value).strip() for key, value in row.items() if value is not None}
    if not is_turn_id(turn):
        problems.skip(line, "no turn id", "complete the row or delete it", "no-turn-id")
        return
    key = (said.get("system", ""), str(turn).strip())
    if label := said.get("kind"):
        kind = kind_of_label(label)
        if kind == "unknown" and label.lower() != "unknown":
            advice = "write answerable, partial, unanswerable, underspecified, conversational or unknown"
            problems.add(line, f"unknown label {label[:40]!r}", advice, "unknown-label")
        elif found.kinds.setdefault(key[1], kind) != kind:
            problems.add(line, f"turn {key[1]} has two labels", "keep one of them", "contradicting-entries")
    if label := said.get("response"):
        response = response_of_label(label)
        if response is None:
            advice = f"write {', '.join(RESPONSES)}, or 1, 0.5, 0 as in {IDK}"
            problems.add(line, f"unknown response {label[:40]!r}", advice, "unknown-label")
        elif found.responses.setdefault(key, response) != response:
            problems.add(line, f"turn {key[1]} has two responses", "keep one of them", "contradicting-entries")
    if label := said.get("correct"):
        value = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}.get(label.lower(), decimal_number(label))
        if value is None or not 0 <= value <= 1:
            problems.add(line, f"correct is {label[:40]!r}", "write 1 or 0", "unknown-label")
        elif found.correct.setdefault(key, value) != value:
            problems.add(line, f"turn {key[1]} is labelled twice", "keep one of the labels", "contradicting-entries")
