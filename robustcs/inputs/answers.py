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
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs import mtrag
from robustcs.inputs.file_formats import DPR, QRECC, cited_answers, gold_answers, predicted_answer
from robustcs.inputs.formats import first_turn, is_answer
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import PooledFile, StrPath
from robustcs.inputs.readings import union_of_texts
from robustcs.inputs.records import ID_NAMES, ByTurn, json_lines, shape_of
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.inputs.text import filled_lines, first_record, json_pairs, read_json

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
        return union_of_texts((file, read_predicted_answers(file, name, model)) for file, model in parts)
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


def _entries(path: StrPath, problems: ProblemList, gold: bool, name: str = "", model: str = "") -> _Entries:
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
            return ((turn, gold_answers(fields), line) for turn, fields, line in entries if gold_answers(fields))
        return ((turn, [predicted_answer(fields)], line) for turn, fields, line in entries)
    if shape == "jsonl":
        return _lines(path, problems)
    value = read_json(path, halves=True)
    if not isinstance(value, dict):
        raise input_error(path, None, "JSON, but not an object {turn: answer}", _FORMATS, "unknown-format")
    data = value.get("data")
    # a turn may also be named "data"; its answers are texts
    if isinstance(data, list) and not (data and all(isinstance(item, str) for item in data)):
        if not gold:
            raise input_error(path, None, "this is a data set with gold answers", "give a file of predictions", "gold-answers")
        return _data_set_answers(data, problems)
    return ((turn, _as_list(answer), None) for turn, answer in json_pairs(path))


def _lines(path: StrPath, problems: ProblemList) -> _Entries:
    """Yield the answers of JSONL: of the plain format, and of QuAC's predictions."""
    for number, record in json_lines(path, problems, halves=True):
        if "best_span_str" in record:
            turns, answers = record.get("qid"), record["best_span_str"]
            if not isinstance(turns, list) or not isinstance(answers, list) or len(turns) != len(answers):
                advice = "write one answer for each question of the dialog"
                problems.add(number, "qid and best_span_str are not lists of the same length", advice, "wrong-columns")
                continue
            yield from ((turn, [answer], number) for turn, answer in zip(turns, answers, strict=True))
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
