"""Gold and predicted answers of reading comprehension.

The plain format, for gold answers and predictions, is UTF-8 in one of two forms:

- JSON, one object ``{turn: answer}``::

      {"C_1_q#0": "in 1969", "C_1_q#1": ["a rock band", "rock band"], "C_1_q#2": "CANNOTANSWER"}

- JSONL, one object per line with the turn id in ``id`` (or ``qid``, ``query_id``, ``turn_id``, ``turn``) and either
  ``answer``, a text, or ``answers``, a list of texts::

      {"id": "C_1_q#0", "answer": "in 1969"}
      {"id": "C_1_q#1", "answers": ["a rock band", "rock band"]}

A gold turn has one or more non-empty answers; ``CANNOTANSWER``, written exactly like this, means that the passage contains no
answer. A prediction has exactly one answer; an empty one means that the system gave none. White space around an answer is
ignored. A turn may occur twice only with the same answers. Other fields of a JSONL line are ignored.

Also read: gold answers from QuAC or SQuAD data set JSON (``data`` → ``paragraphs`` → ``qas``, each with ``id`` and ``answers``,
each with ``text``; QuAC's ``orig_answer`` is ignored), and predictions in QuAC format, JSONL with the parallel lists ``qid``
and ``best_span_str``, one dialog per line. QReCC, TopiOCQA and its DPR format contain gold answers (turns without one are
skipped), and predictions if they have one per turn. Answers of TREC RAG, RAGTIME and iKAT are predictions, with joined
sentences. MTRAG tasks contain both, ``targets`` and ``predictions``.

Further contents of such files are passages, citations, conversations, metrics and labels, from MTRAG tasks, InspectorRAGet
exports and reports with citations. Labels of people are read from tables and JSONL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, Literal, get_args

from robustcs.errors import ProblemList, input_error
from robustcs.inputs import mtrag
from robustcs.inputs.file_formats import DPR, QRECC, cited_answers, gold_answers, predicted_answer
from robustcs.inputs.formats import (
    Record,
    answer_entries,
    answer_of,
    first_turn,
    is_answer,
    passages_in,
)
from robustcs.inputs.heads import first_record
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import PooledFile, StrPath, parts_of
from robustcs.inputs.readings import union_of_texts
from robustcs.inputs.records import (
    ID_NAMES,
    BadRowError,
    ByTurn,
    RowProblems,
    UnusableRowError,
    json_lines,
    noted,
    shape_of,
)
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.inputs.tables import Fields, by_field, find_column, read_rows, text_of
from robustcs.inputs.text import filled_lines, id_text, is_turn_id, json_pairs, number_of, read_json

#: QuAC's answer to a question that its passage does not answer; it matches only itself.
CANNOT_ANSWER = "CANNOTANSWER"

_FORMATS = "write JSON {turn: answer}, or JSONL with id and answer"


def read_gold_answers(path: StrPath) -> dict[str, tuple[str, ...]]:
    """Return turn id → its gold answers, one or more, in file order (QuAC repeats equal answers of several annotators).

    Unusable rows are skipped (:mod:`robustcs.inputs.records`). Raises :class:`InputError` with every other problem of the file
    (bounded).
    """
    if isinstance(path, PooledFile):
        return union_of_texts((file, read_gold_answers(file)) for file in path.files)
    gold: ByTurn[tuple[str, ...]] = ByTurn(path, "answers")
    for turn, answers, line in _entries(path, gold.problems, gold=True):
        if not answers:
            advice = f"write {CANNOT_ANSWER} if the passage contains no answer"
            gold.problems.skip(line, f"turn {turn}: no gold answer", advice, "no-answer")
            continue
        kept = tuple(filter(None, (gold.text(turn, answer, line) for answer in answers)))
        if kept:
            gold.add(turn, kept, line)
    return gold.result()


def read_predicted_answers(path: StrPath, name: str = "", model: str = "") -> dict[str, str]:
    """Return turn id → the predicted answer, in file order, those of ``model`` or ``name`` if there are several models.

    The names of a pooled file, if given, are the models.

    Unusable rows are skipped (:mod:`robustcs.inputs.records`). Raises :class:`InputError` with every other problem of the file
    (bounded), such as a turn with several answers.
    """
    if isinstance(path, PooledFile):
        models = path.names or ("",) * len(path.files)
        parts = zip(path.files, models, strict=True)
        return union_of_texts(
            (file, read_predicted_answers(file, name, model)) for file, model in parts
        )
    predicted: ByTurn[str] = ByTurn(path, "answers")
    for turn, answers, line in _entries(path, predicted.problems, False, name, model):
        if len(answers) != 1:
            found = f"turn {turn}: {len(answers)} answers, but a prediction has one"
            predicted.problems.add(line, found, "keep one answer of the system", "not-one-answer")
            continue
        text = predicted.text(turn, answers[0], line, empty=True)
        if text is not None:
            predicted.add(turn, text, line)
    return predicted.result()


#: (turn, answers, line) of every turn, unchecked.
_Entries = Iterator[tuple[object, list[Any], int | None]]


def _entries(
    path: StrPath, problems: ProblemList, gold: bool, name: str = "", model: str = ""
) -> _Entries:
    """Return the answers of every turn of a file of any format.

    Raises :class:`InputError` for a file that contains no such answers.
    """
    refuse_other_kinds(path, "answers")
    shape, record = shape_of(path), first_record(path) or {}
    if mtrag.has_tasks(record):
        return mtrag.answers(path, json_records(path, problems), gold, name, model)
    if model:
        found = f"the file names no models, so it has no answers of {model!r}"
        raise input_error(path, None, found, "remove :MODEL", "several-runs")
    if shape == "table":
        number, _ = next(filled_lines(path))
        raise input_error(path, number, "not JSON", _FORMATS, "unknown-format")
    if is_answer(first_turn(record)) and not gold:
        return cited_answers(json_records(path, problems), problems)
    if kind := next((kind for kind in (QRECC, DPR) if kind.fits(record)), None):
        entries = kind.entries(list(json_records(path, problems)), problems)
        if gold:
            return (
                (turn, gold_answers(fields), line)
                for turn, fields, line in entries
                if gold_answers(fields)
            )
        return ((turn, [predicted_answer(fields)], line) for turn, fields, line in entries)
    if shape == "jsonl":
        return _lines(path, problems)
    value = read_json(path, halves=True)
    if not isinstance(value, dict):
        raise input_error(
            path, None, "JSON, but not an object {turn: answer}", _FORMATS, "unknown-format"
        )
    data = value.get("data")
    # a turn may also be named "data"; its answers are texts
    if isinstance(data, list) and not (data and all(isinstance(item, str) for item in data)):
        if not gold:
            raise input_error(
                path,
                None,
                "this is a data set with gold answers",
                "give a file of predictions",
                "gold-answers",
            )
        return _data_set_answers(data, problems)
    return ((turn, _as_list(answer), None) for turn, answer in json_pairs(path))


def _lines(path: StrPath, problems: ProblemList) -> _Entries:
    """Yield the answers of JSONL: of the plain format, and of QuAC's predictions."""
    for number, record in json_lines(path, problems, halves=True):
        if "best_span_str" in record:
            turns, answers = record.get("qid"), record["best_span_str"]
            if (
                not isinstance(turns, list)
                or not isinstance(answers, list)
                or len(turns) != len(answers)
            ):
                advice = "write one answer for each question of the dialog"
                problems.add(
                    number,
                    "qid and best_span_str are not lists of the same length",
                    advice,
                    "wrong-columns",
                )
                continue
            yield from (
                (turn, [answer], number) for turn, answer in zip(turns, answers, strict=True)
            )
        elif "answers" in record or "answer" in record:
            named = next((record[name] for name in ID_NAMES if name in record), None)
            yield named, _as_list(record.get("answers", record.get("answer"))), number
        else:
            found = f"no field 'answer' or 'answers'; the fields are: {', '.join(record)}"
            problems.skip(number, found, _FORMATS, "no-such-column")


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _data_set_answers(data: list[Any], problems: ProblemList) -> _Entries:
    for place, article in enumerate(data, 1):
        try:
            for paragraph in article["paragraphs"]:
                for question in paragraph["qas"]:
                    yield question["id"], [answer["text"] for answer in question["answers"]], None
        except (KeyError, TypeError) as error:
            found = f"article {place} of the list is not in QuAC format ({type(error).__name__}: {error})"
            problems.add(None, found, _FORMATS, "unknown-format")


# ---------------------------------------------------------------- further contents of files of answers
Kind = Literal["answerable", "partial", "unanswerable", "underspecified", "other", "unknown"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Response = Literal["answered", "partly", "abstained", "asked_back", "no_answer"]
RESPONSES: tuple[Response, ...] = get_args(Response)
#: Labels of the kinds, in lower case without spaces, hyphens and underscores.
_LABELS: dict[str, Kind] = {
    "answerable": "answerable", "partial": "partial", "partiallyanswerable": "partial", "unanswerable": "unanswerable",
    "underspecified": "underspecified", "conversational": "other", "other": "other", "nonquestion": "other",
    "unknown": "unknown",
}  # fmt: skip
#: The metric of MTRAG that labels responses: 1 abstained, 0.5 partly, 0 answered.
IDK = "idk_eval"


def kind_of_label(label: str) -> Kind | None:
    """Return the kind of turns with this label; None for other labels."""
    return _LABELS.get("".join(letter for letter in label.lower() if letter.isalnum()))


def response_of_label(label: str) -> Response | None:
    """Return the response of this label: a name of :data:`RESPONSES`, or ``idk_eval`` (1, 0.5, 0); None for other labels."""
    name = label.strip().lower().replace(" ", "_").replace("-", "_")
    if name in RESPONSES:
        return name  # type: ignore[return-value]
    numbers: dict[float | None, Response] = {1.0: "abstained", 0.5: "partly", 0.0: "answered"}
    return numbers.get(number_of(name))


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
        labelled = {
            turn: response_of_label(str(value)) for turn, value in self.scores.get(IDK, {}).items()
        }
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
        _reports(found, json_records(path, problems), problems)
    return found


def _tasks(found: Trace, records: list[Record], name: str) -> None:
    found.scores.update(mtrag.scores(records, name))
    labels = mtrag.labels(records)
    for label in (one for one in labels if one.lower() == "answerability"):
        found.kinds.update(
            {
                turn: kind_of_label(value.split(", ")[0]) or "unknown"
                for turn, value in labels[label].items()
            }
        )
    found.texts.update({passage: text for _, passage, text in mtrag.passages(records)})
    for record in records:
        turn = id_text(record.fields.get("task_id"))
        if isinstance(record.fields.get("contexts"), list):
            found.passages[turn] = tuple(
                str(one) for one, _ in passages_in(record.fields["contexts"]) if is_turn_id(one)
            )
        if said := mtrag.conversation(record.fields):
            found.conversation[turn] = said


def _reports(found: Trace, records: Iterable[Record], problems: ProblemList) -> None:
    for topic, fields_, _ in answer_entries(records, problems):
        listed = [
            str(passage)
            for passage, _ in passages_in(fields_.get("references"))
            if is_turn_id(passage)
        ]
        turn, sentences = id_text(topic), []
        for part in (
            part
            for part in answer_of(fields_) or ()
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        ):
            given = chain(
                *(passages_in(part.get(key)) for key in ("citations", "passage_provenance"))
            )
            sentences.append(
                (part["text"].strip(), tuple(_cited(passage, listed) for passage, _ in given))
            )
        if any(cited for _, cited in sentences) or listed:
            found.passages[turn] = tuple(
                dict.fromkeys([*listed, *chain(*(cited for _, cited in sentences))])
            )
            found.cited[turn] = sentences


def _cited(passage: object, listed: list[str]) -> str:
    """Return the id of a citation; numbers are positions in the references."""
    if isinstance(passage, int) and not isinstance(passage, bool) and 0 <= passage < len(listed):
        return listed[passage]
    return str(passage)


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


_TURN: Fields = {"turn": (*ID_NAMES, "task_id")}
_SYSTEM: Fields = {"system": ("system", "model", "run_id")}
#: Labels; a file needs at least one of them.
_LABEL_FIELDS: Fields = {
    "answerability": ("answerability", "kind"),
    "response": ("response", IDK),
    "correct": ("correct",),
}


def read_answer_labels(path: StrPath) -> AnswerLabels:
    """Return labels from MTRAG tasks (``answerability``), or from CSV, TSV or JSONL with a turn and at least one label.

    Columns: turn, answerability, system, response and correct. Raises :class:`InputError` for a file without labels, and for
    unknown labels.
    """
    found = AnswerLabels()
    for file in parts_of(path):
        if mtrag.has_tasks(first_record(file) or {}):
            found.kinds.update(read_trace(file).kinds)
            if not found.kinds:
                raise input_error(
                    file,
                    None,
                    "tasks without answerability",
                    "give tasks with this label",
                    "no-such-column",
                )
            continue
        problems = RowProblems(file)
        columns, rows = read_rows(file, problems)
        if not any(find_column(columns, names) for names in _LABEL_FIELDS.values()):
            advice = "name the columns turn, answerability, system, response and correct; some of them may be missing"
            raise input_error(
                file,
                1,
                f"no labels; the columns are: {', '.join(columns)}",
                advice,
                "no-such-column",
            )
        for line, row in by_field(file, columns, rows, _TURN, {**_SYSTEM, **_LABEL_FIELDS}):
            with noted(problems, line):
                _take(found, row)
        problems.raise_if_any(len(found))
    return found


def _take(found: AnswerLabels, row: Mapping[str, Any]) -> None:
    """Add the labels of a row. Raises :class:`BadRowError`."""
    turn = text_of(row["turn"])
    if not is_turn_id(row["turn"]):
        raise UnusableRowError("no turn id", "complete the row or delete it", "no-turn-id")
    key = (text_of(row.get("system")), turn)
    kinds = "answerable, partial, unanswerable, underspecified, conversational or unknown"
    readings: tuple[tuple[str, dict[Any, Any], Any, Callable[[str], Any], str], ...] = (
        ("answerability", found.kinds, turn, kind_of_label, kinds),
        (
            "response",
            found.responses,
            key,
            response_of_label,
            f"{', '.join(RESPONSES)}, or 1, 0.5, 0 as in {IDK}",
        ),
        ("correct", found.correct, key, _share, "1 or 0"),
    )
    for field_, known, of, read, names in readings:
        if label := text_of(row.get(field_)):
            value = read(label)
            if value is None:
                raise BadRowError(f"{field_} is {label[:40]!r}", f"write {names}", "unknown-label")
            if known.setdefault(of, value) != value:
                raise BadRowError(
                    f"{field_} of turn {turn} is labelled twice",
                    "keep one of the labels",
                    "contradicting-entries",
                )


def _share(label: str) -> float | None:
    """Return the share of an answer that is correct, 0 to 1; None for any other label."""
    value = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}.get(label.lower(), number_of(label))
    return value if value is not None and 0 <= value <= 1 else None
