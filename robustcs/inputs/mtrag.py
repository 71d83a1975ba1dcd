"""MTRAG tasks, with retrieved passages and answers for a turn, and InspectorRAGet exports of such tasks.

A task is a line of JSONL: ``task_id`` (the turn, ``hash<::>4``), ``input`` (the conversation, whose last question is the turn),
``contexts`` (``document_id``, ``score``, ``text``), ``targets`` (reference answers), ``predictions`` (answers of a system) and
labels such as ``answerability``. An export is one object with ``documents``, ``tasks``, ``models`` and the answers of the
models in ``evaluations`` or, from version 2 on, ``results``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.formats import Record, RunFormat, TextFormat, by_id, each, passages_of
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import json_lines, shape_of
from robustcs.inputs.text import finite_number, id_text, read_json

NAME = "MTRAG tasks"
EXPORT = "an InspectorRAGet export"
_LISTS = ("contexts", "targets", "predictions")

#: Fields that label a turn, in any letter case, with spaces, hyphens or underscores.
_LABELS = frozenset(("answerability", "question type", "multi turn", "collection"))

#: The field of an exported task for the different answers of every model.
_MODELS = "answers of models"


def is_task(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a task: it has passages, reference answers or answers of a system."""
    return "task_id" in record and any(isinstance(record.get(name), list) for name in _LISTS)


def is_export(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an InspectorRAGet export."""
    tables = not record.keys().isdisjoint(("documents", "tasks", "evaluations", "results"))
    return tables and all(isinstance(record.get(name), list) for name in ("models", "metrics"))


def has_tasks(record: Mapping[str, Any]) -> bool:
    """Return whether a file that begins with this record contains tasks."""
    return is_task(record) or is_export(record)


def tasks_in(export: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tasks of an export, with the texts of their passages and the answers of its models."""
    documents = {str(one.get("document_id")): one for one in _objects(export, "documents")}
    answers: dict[str, dict[str, list[object]]] = {}
    rated: dict[str, dict[str, dict[str, Any]]] = {}
    for one in (*_objects(export, "evaluations"), *_objects(export, "results")):
        said = answers.setdefault(str(one.get("task_id")), {}).setdefault(
            str(one.get("model_id")), []
        )
        if (answer := _answer(one)) not in (None, *said):
            said.append(answer)
        given: dict[str, Any] = next(
            (one[key] for key in _OF_MODEL if isinstance(one.get(key), dict)), {}
        )
        rated.setdefault(str(one.get("task_id")), {}).setdefault(
            str(one.get("model_id")), {}
        ).update(given)
    for task in _objects(export, "tasks"):
        contexts = [
            {**documents.get(str(one.get("document_id")), {}), **one}
            for one in _objects(task, "contexts")
        ]
        number = str(task.get("task_id"))
        yield {
            **task,
            "contexts": contexts,
            _MODELS: answers.get(number, {}),
            _RATED: rated.get(number, {}),
        }


def models_in(tasks: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the models with answers in an export, in file order."""
    return list(dict.fromkeys(model for task in tasks for model in _of_models(task)))


def _of_models(task: Mapping[str, Any]) -> dict[str, list[object]]:
    found = task.get(_MODELS)  # a task in a file may have a field of this name
    return (
        {name: said for name, said in found.items() if isinstance(said, list)}
        if isinstance(found, dict)
        else {}
    )


def _objects(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = record.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def conversation(task: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (speaker, text) of every message of a task, the question last; one question may be a text."""
    said = task.get("input")
    if isinstance(said, str):
        return [("user", said)]
    told = [
        (str(one.get("speaker", one.get("role", ""))), _text(one))
        for one in _objects(task, "input")
    ]
    return [(speaker, text) for speaker, text in told if isinstance(text, str)]


def _text(said: Mapping[str, Any]) -> object:
    return next((said[name] for name in ("text", "value", "content") if name in said), None)


def _answer(evaluation: Mapping[str, Any]) -> object:
    """Return the answer: a text in version 1, an object or a list of messages in version 2."""
    said = evaluation.get("model_response", evaluation.get("output"))
    if isinstance(said, list):
        said = said[-1] if said else None
    return _text(said) if isinstance(said, dict) else said


# ---------------------------------------------------------------- scores
#: Fields of a task with its scores: of its answer, and of its passages. In an export: the scores of one answer.
_SCORES, _OF_MODEL = ("metrics", "retriever_scores"), ("annotations", "scores")
#: The field of an exported task with the scores of every model.
_RATED = "scores of models"


def scores(records: Iterable[Record], name: str = "") -> dict[str, dict[str, float]]:
    """Return metric → turn → value of tasks; of an export, those of the model ``name``, or of the only one.

    The value is the mean of the numbers in a list, and of the annotators of an export. What is not a number is skipped.
    """
    found: dict[str, dict[str, float]] = {}
    for record in records:
        turn, rated = id_text(record.fields.get("task_id")), record.fields.get(_RATED)
        places = [record.fields.get(key) for key in _SCORES]
        if isinstance(rated, dict):
            places.append(rated.get(name, next(iter(rated.values())) if len(rated) == 1 else None))
        for metric, value in chain.from_iterable(
            one.items() for one in places if isinstance(one, dict)
        ):
            if turn and (number := _mean(value)) is not None:
                found.setdefault(str(metric), {})[turn] = number
    return found


def _mean(value: object) -> float | None:
    if isinstance(value, dict):  # annotator → {"value": …}
        value = [one.get("value") if isinstance(one, dict) else one for one in value.values()]
    numbers = [finite_number(one) for one in (value if isinstance(value, list) else [value])]
    known = [one for one in numbers if one is not None]
    return sum(known) / len(known) if known else None


# ---------------------------------------------------------------- passages and questions
RUN = RunFormat(
    NAME, lambda record: is_export(record) or (is_task(record) and "contexts" in record), by_id("task_id"),
    passages_of("contexts"),
)  # fmt: skip


def has_scores(record: Mapping[str, Any]) -> bool:
    """Return whether the passages of a task are ranked by scores; otherwise they are the sources of an answer in any order."""
    return any("score" in one for one in _objects(record, "contexts"))


def passages(records: Iterable[Record]) -> Iterator[tuple[int, str, str]]:
    """Yield line (0 without lines), id and text of every passage with both; several tasks may list the same passage."""
    seen = set()
    for record in records:
        for one in _objects(record.fields, "contexts"):
            passage, text = id_text(one.get("document_id")), one.get("text")
            if passage and isinstance(text, str) and (passage, text) not in seen:
                seen.add((passage, text))
                yield record.line or 0, passage, text


def _with_question(task: dict[str, Any]) -> dict[str, Any]:
    texts = [text for speaker, text in conversation(task) if speaker == "user"]
    return {**task, "text": texts[-1] if texts else None, "conversation": " ".join(texts)}


QUESTIONS = TextFormat(
    NAME, lambda record: is_export(record) or (is_task(record) and "input" in record),
    each(lambda task: task.get("task_id"), _with_question), {"original": ("text",)},
)  # fmt: skip


# ---------------------------------------------------------------- answers and labels
def answers(
    path: StrPath, records: Iterable[Record], gold: bool, name: str, model: str = ""
) -> Iterator[tuple[object, list[Any], int | None]]:
    """Yield (turn, answers, line) of every task, unchecked: reference answers, or those of a system.

    If there are several models, yields the answers of ``model``, or of ``name`` without it. A turn with several answers of one
    model comes several times. Raises :class:`InputError` if no task has an answer, if ``model`` does not exist, and if there
    are several models but none is called ``name``.
    """
    tasks = list(records)
    models = [] if gold else models_in(task.fields for task in tasks)
    wanted = model or name
    if wanted not in models and (model or len(models) > 1):
        names = ", ".join(models) or "no named model"
        found = f"the file contains answers of {names}" + (
            f", but not of {wanted!r}" if wanted else ""
        )
        advice = "use one of these names for the answers" if name else "name the model: FILE:MODEL"
        raise input_error(path, None, found, advice if models else "remove :MODEL", "several-runs")
    what = "targets" if gold else "predictions"
    if not models and not any(task.fields.get(what) for task in tasks):
        advice = f"name a file of {'tasks with targets' if gold else 'answers'}"
        raise input_error(path, None, f"tasks without {what}", advice, "no-answer")
    for task in tasks:
        if models:
            for one in _of_models(task.fields).get(wanted if wanted in models else models[0], ()):
                yield task.fields.get("task_id"), [one], task.line
            continue
        said = [_text(one) for one in _objects(task.fields, what)]
        if said or not gold:
            yield task.fields.get("task_id"), [one for one in said if one or not gold], task.line


def labels(records: Iterable[Record]) -> dict[str, dict[str, str]]:
    """Return label → turn → value; several values of a turn are joined."""
    found: dict[str, dict[str, str]] = {}
    for record in records:
        turn = id_text(record.fields.get("task_id"))
        for name, value in record.fields.items() if turn else ():
            told = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            if name.lower().replace("_", " ").replace("-", " ") in _LABELS and told.strip():
                found.setdefault(name, {})[turn] = told.strip()
    return found


def json_records(path: StrPath, problems: ProblemList) -> Iterator[Record]:
    """Yield every record in file order; what is not an object goes to ``problems``. Yields nothing for a single JSON scalar.

    Raises :class:`InputError` for a file that is empty or is not JSON.
    """
    if shape_of(path) == "jsonl":
        for place, (line, fields) in enumerate(json_lines(path, problems, halves=True), 1):
            yield Record(line, place, fields)
        return
    value = read_json(path, halves=True)
    if isinstance(value, dict):
        tasks = tasks_in(value) if is_export(value) else [value]
        yield from (Record(None, place, fields) for place, fields in enumerate(tasks, 1))
    elif isinstance(value, list):
        for place, fields in enumerate(value, 1):
            if isinstance(fields, dict):
                yield Record(None, place, fields)
            else:
                problems.skip(
                    None,
                    f"entry {place} of the list is not an object",
                    "write a JSON object",
                    "not-an-object",
                )
