"""MTRAG: tasks with the passages that were found for a turn, and what was answered; InspectorRAGet's exports of such tasks.

A task is a line of JSONL: ``task_id`` (the turn, ``hash<::>4``), ``input`` (the conversation, whose last question is the turn),
``contexts`` (``document_id``, ``score``, ``text``), ``targets`` (reference answers), ``predictions`` (answers of a system) and
labels such as ``answerability``. An export is one object with ``documents``, ``tasks``, ``models`` and the answers of these
models, ``evaluations`` or, from version 2 on, ``results``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.formats import Entry, Record, Retrieved, RunFormat, TextFormat, passages_in
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import json_lines, shape_of
from robustcs.inputs.text import is_turn_id, read_json

NAME = "MTRAG tasks"


EXPORT = "an InspectorRAGet export"


_LISTS = ("contexts", "targets", "predictions")


#: Fields that label a turn, in any letter case, with hyphens or underscores in place of spaces.
_LABELS = frozenset(("answerability", "question type", "multi turn", "collection"))


#: Different answers of every model, in a task of an export.
_MODELS = "answers of models"


def is_task(record: Mapping[str, Any]) -> bool:
    """Whether a record is a task: with passages, reference answers or answers of a system."""
    return "task_id" in record and any(isinstance(record.get(name), list) for name in _LISTS)


def is_export(record: Mapping[str, Any]) -> bool:
    """Whether a record is an export of InspectorRAGet."""
    tables = not record.keys().isdisjoint(("documents", "tasks", "evaluations", "results"))
    return tables and all(isinstance(record.get(name), list) for name in ("models", "metrics"))


def has_tasks(record: Mapping[str, Any]) -> bool:
    """Whether a file whose first record this is has tasks."""
    return is_task(record) or is_export(record)


def tasks_in(export: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The tasks of an export, with the texts of their passages and the answers of its models."""
    documents = {str(one.get("document_id")): one for one in _objects(export, "documents")}
    answers: dict[str, dict[str, list[object]]] = {}
    for one in (*_objects(export, "evaluations"), *_objects(export, "results")):
        said = answers.setdefault(str(one.get("task_id")), {}).setdefault(str(one.get("model_id")), [])
        if (answer := _answer(one)) not in (None, *said):
            said.append(answer)
    for task in _objects(export, "tasks"):
        contexts = [{**documents.get(str(one.get("document_id")), {}), **one} for one in _objects(task, "contexts")]
        yield {**task, "contexts": contexts, _MODELS: answers.get(str(task.get("task_id")), {})}


def models_in(tasks: Iterable[Mapping[str, Any]]) -> list[str]:
    """The models whose answers an export has, in file order."""
    return list(dict.fromkeys(model for task in tasks for model in _of_models(task)))


def _of_models(task: Mapping[str, Any]) -> dict[str, list[object]]:
    found = task.get(_MODELS)  # a line of a file may have a field of this name, too
    return {name: said for name, said in found.items() if isinstance(said, list)} if isinstance(found, dict) else {}


def _objects(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = record.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(said: Mapping[str, Any]) -> object:
    return next((said[name] for name in ("text", "value", "content") if name in said), None)


def _answer(evaluation: Mapping[str, Any]) -> object:
    """A text in version 1, an object or a list of messages in version 2."""
    said = evaluation.get("model_response", evaluation.get("output"))
    if isinstance(said, list):
        said = said[-1] if said else None
    return _text(said) if isinstance(said, dict) else said


# ---------------------------------------------------------------- passages and questions
def _retrieved(records: Iterable[Record], problems: ProblemList) -> Iterator[Retrieved]:
    for record in records:
        if isinstance(record.fields.get("contexts"), list):
            yield Retrieved(record.fields.get("task_id"), passages_in(record.fields["contexts"]), record.line)


RUN = RunFormat(NAME, lambda record: is_export(record) or (is_task(record) and "contexts" in record), _retrieved)


def has_scores(record: Mapping[str, Any]) -> bool:
    """Whether the passages of a task are ranked by scores; others are those that an answer was made of, in any order."""
    return any("score" in one for one in _objects(record, "contexts"))


def passages(records: Iterable[Record]) -> Iterator[tuple[int, str, str]]:
    """Line (0 without), id and text of every passage that has both."""
    for record in records:
        for one in _objects(record.fields, "contexts"):
            passage, text = one.get("document_id"), one.get("text")
            if is_turn_id(passage) and isinstance(text, str):
                yield record.line or 0, str(passage), text


def _questions(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        said = record.fields.get("input")
        by_user = [_text(one) for one in _objects(record.fields, "input") if "user" in (one.get("speaker"), one.get("role"))]
        texts = [said] if isinstance(said, str) else [text for text in by_user if isinstance(text, str)]
        found = {"text": texts[-1] if texts else None, "conversation": " ".join(texts)}
        yield Entry(record.fields.get("task_id"), {**record.fields, **found}, record.line)


QUESTIONS = TextFormat(
    NAME, lambda record: is_export(record) or (is_task(record) and "input" in record), _questions, {"original": ("text",)}
)


# ---------------------------------------------------------------- answers and labels
def answers(
    path: StrPath, records: Iterable[Record], gold: bool, name: str, model: str = ""
) -> Iterator[tuple[object, list[Any], int | None]]:
    """(turn, answers, line) of every task, unchecked: reference answers, or those of a system.

    Of several models they are those of ``model``, or without it of ``name``. A turn with several answers of one model comes
    several times. Raises :class:`InputError` where no task has any answer, for a ``model`` that is not there, and for several
    models none of which is called ``name``.
    """
    tasks = list(records)
    models = [] if gold else models_in(task.fields for task in tasks)
    wanted = model or name
    if wanted not in models and (model or len(models) > 1):
        found = f"answers of {', '.join(models) or 'no named model'}" + (f", and none of {wanted!r}" if wanted else "")
        advice = "give the answers one of these names" if name else "name the model: FILE:MODEL"
        raise input_error(path, None, found, advice if models else "leave out :MODEL", "several-runs")
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
    """Label → turn → value; several values of a turn are joined."""
    found: dict[str, dict[str, str]] = {}
    for record in records:
        turn = record.fields.get("task_id")
        for name, value in record.fields.items():
            if name.lower().replace("_", " ").replace("-", " ") in _LABELS and is_turn_id(turn):
                told = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                if told.strip():
                    found.setdefault(name, {})[str(turn).strip()] = told.strip()
    return found


def json_records(path: StrPath, problems: ProblemList) -> Iterator[Record]:
    """Every record in file order; what is no object goes to the problems. None of them for a JSON value that is no container.

    Raises :class:`InputError` for a file that is empty or whose one value is not JSON.
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
                problems.skip(None, f"entry {place} of the list is not an object", "complete the entry", "not-an-object")
