"""Files of the studies with turns of their own: clarifying questions, annotations, crowd judgments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import not_
from pathlib import Path
from typing import Any, TypeVar

from robustcs.errors import InputError, ProblemList
from robustcs.evaluation.holes import grades_by_pair
from robustcs.inputs import mtrag
from robustcs.inputs.annotations import UNITS, Unit, read_annotations
from robustcs.inputs.clariq import read_needs, read_topics
from robustcs.inputs.clariq_tables import read_evaluation
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import StrPath, parts_of
from robustcs.inputs.preferences import read_preferences
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.ratings import read_grades
from robustcs.inputs.records import shape_of
from robustcs.inputs.runs import read_run
from robustcs.inputs.sniff import first_cells
from robustcs.inputs.text import first_record
from robustcs.project.guess_judgments import ITEM
from robustcs.project.scan import Folder, Found, short_names, telling_words, words_of

T = TypeVar("T")

Table = dict[str, str | list[str] | dict[str, str]]
Tables = dict[str, Table]
#: What annotators of a task did.
_READ: dict[Unit, str] = {"paragraph": "paragraphs", "sentence": "sentences", "selection": "by choosing sentences"}
#: What the evaluation of a baseline is called.
_BASELINES = ("no", "worst", "best")


def guess_studies(folder: Folder, tables: Tables) -> None:
    """Take the files of ``[clariq]``, ``[answers]``, ``[agreement]`` and ``[crowd]``; what belongs to none stays undecided."""
    for name, take in (("clariq", _clariq), ("answers", _answers), ("agreement", _annotations), ("crowd", _crowd)):
        table = _Table(folder)
        take(folder, table)
        if table.values:
            tables[name] = table.values


@dataclass
class _Table:
    """One table of the project file, and the files that it takes."""

    folder: Folder
    values: Table = field(default_factory=dict)

    def one(self, key: str, files: Iterable[Found], why: str) -> None:
        """The first of these files."""
        for file in list(files)[:1]:
            self.values.setdefault(key, self._taken(file, why))

    def several(self, key: str, files: Iterable[Found], why: str) -> None:
        """All of these files."""
        if paths := [self._taken(file, why) for file in files]:
            self.values[key] = paths

    def named(self, key: str, files: Sequence[Found], why: str, names: Sequence[str] = ()) -> None:
        """All of these files, by short names where they have none."""
        names = names or short_names([file.path for file in files])
        if files:
            self.values[key] = {name: self._taken(file, why) for name, file in zip(names, files, strict=True)}

    def _taken(self, file: Found, why: str) -> str:
        self.folder.aside.pop(file.path, None)
        self.folder.take(file.path, why)
        return file.path

    def called(self, *words: str) -> list[Found]:
        """Files whose names have these words, of those that nothing takes."""
        free = [file for file in self.folder.files if file.path not in self.folder.taken]
        return [file for file in free if all(word in file.stem.lower() for word in words)]


def _read(folder: Folder, file: Found, read: Callable[[StrPath], T]) -> T | None:
    try:
        return read(folder.place(file))
    except InputError:
        return None


def _clariq(folder: Folder, table: _Table) -> None:
    """Those topics that most of the other files are about, and what systems did for them."""

    def first(file: Found) -> set[str]:
        return first_cells(folder.place(file))

    cells = [first(file) for file in folder.of("run", "question run")]
    files = folder.of("clariq topics")
    known = {file.path: read for file in files if (read := _read(folder, file, read_topics)) is not None}
    chosen = min(known, key=lambda path: -sum(bool(own & known[path].requests.keys()) for own in cells), default=None)
    for file in files:
        if file.path != chosen:
            folder.leave(file.path, "other ClariQ topics are taken" if chosen else "ClariQ topics, but broken")
    if chosen is None:
        return
    topics, facets = set(known[chosen].requests), set(known[chosen].facets)
    table.one("topics", [file for file in files if file.path == chosen], "ClariQ topics")
    banks = [file for file in folder.of("question bank") if shape_of(folder.place(file)) == "table"]
    table.one("questions", banks, "ClariQ's question bank")
    runs = [file for file in folder.of("question run", "run") if first(file) & topics]
    _by_system(table, "runs", [file for file in runs if not _baseline(file)], "a run of clarifying questions")
    for file in runs:
        if _baseline(file):
            folder.leave(file.path, "the questions of a baseline, which clariq takes from evaluations or performance")
    evaluations = folder.of("clariq evaluation")
    scores = [_read(folder, file, read_evaluation) or {} for file in evaluations]
    of_facets = [any(facets & units.keys() for units in one.values()) for one in scores]
    _by_system(table, "evaluations", list(compress(evaluations, of_facets)), "document relevance by facet")
    for file in compress(evaluations, map(not_, of_facets)):
        folder.leave(file.path, "scores by topic and not by facet: clariq computes them from the run")
    documents = [file for file in folder.of("run") if {cell.rpartition("_")[0] for cell in first(file)} & facets]
    table.one("performance", documents, "documents that were found after every question")
    judged = [file for file in folder.of("qrels") if first(file) & facets]
    if documents:
        table.one("qrels", judged, "judgments of documents for facets")
    for file in () if documents else judged:
        folder.leave(file.path, "judgments of facets, but no documents were found after questions")
    needs = [file for file in table.called("need") if topics & (_read(folder, file, read_needs) or {}).keys()]
    _by_system(table, "needs", needs, "predicted labels of clarification need")
    preferences = [file for file in table.called("preference") if _read(folder, file, read_preferences) is not None]
    table.one("preferences", preferences, "judgments of people")


def _by_system(table: _Table, key: str, files: Sequence[Found], why: str) -> None:
    """``dev_bm25`` is ``bm25``; so a system's run, evaluation and labels have one name."""
    plain = ("dev", "train", "test", "need", "needs", "questions", "question")
    names = short_names([file.path for file in files])
    systems = ["_".join(word for word in words_of(name) if word not in plain) or name for name in names]
    table.named(key, files, why, [_baseline(file) or name for file, name in zip(files, systems, strict=True)])


def _baseline(file: Found) -> str:
    words = telling_words(file.path)
    return next((name for name in _BASELINES if name in words), "")


def _answers(folder: Folder, table: _Table) -> None:
    """Longer answers, told by a name or folder that says response, and what they should hold: nuggets, snippets beside them."""
    responses = [file for file in folder.of("answers") if {"response", "responses"} & set(words_of(file.path))]
    assignments, nuggets = folder.of("assignments"), folder.of("nuggets")
    # answers in sentences are a run as well, which is decided elsewhere
    cited = [file for file in folder.of("run") if file.is_a("answers") and not responses and (assignments or nuggets)]
    places = {Path(file.path).parent for file in (*responses, *nuggets, *assignments)}
    snippets = [file for file in folder.of("snippets") if Path(file.path).parent in places] if responses else []
    if not (responses or cited or assignments) or not (snippets or nuggets or assignments):
        return
    table.several("snippets", snippets, "snippets beside them, which answers should hold")
    table.one("nuggets", nuggets, "nuggets that answers should hold")
    runs = [str((first_record(folder.place(file)) or {}).get("run_id") or "") for file in assignments]
    by_run = all(runs) and len(set(runs)) == len(runs)
    table.named("responses", responses, "answers of a system, by its name")
    if cited:
        names = short_names([file.path for file in cited])
        table.values["responses"] = {name: file.path for name, file in zip(names, cited, strict=True)}
    table.named("assignments", assignments, "nuggets that answers hold", runs if by_run else ())
    for file in nuggets[1:]:
        folder.leave(file.path, f"{nuggets[0].path} is taken; a project has one file of nuggets")


def _annotations(folder: Folder, table: _Table) -> None:
    snippets = [file for file in folder.of("snippets") if not _is_grades(file)]
    references = [file for file in snippets if re.search("expert|reference|gold", file.stem.lower())]
    units = {file.path: _unit(folder, file) for file in snippets}
    own = [units[file.path] for file in snippets if file not in references] or list(units.values())
    # of several tasks the first, paragraphs; their references can be cut to sentences
    task = next((unit for unit in UNITS if unit in own), None)
    for file in snippets:
        unit = units[file.path]
        if unit and task and unit != task and not (unit == "paragraph" and file in references):
            folder.leave(file.path, f"it annotates {_READ[unit]}, another task than {_READ[task]}")
    snippets, references = ([file for file in files if file.path not in folder.aside] for files in (snippets, references))
    table.several("snippets", [file for file in snippets if file not in references] or references, "annotations")
    table.several("reference", references if len(references) < len(snippets) else [], "the reference, by its name")
    table.several("ratings", [file for file in folder.of("ratings") if not _is_grades(file)], "ratings")


def _unit(folder: Folder, file: Found) -> Unit | None:
    """What the annotators of a file read; None where it cannot be read, or has several tasks, which the command will tell."""
    found = _read(folder, file, read_annotations)
    units = set() if found is None else {text.unit for text in found[0].values()}
    return units.pop() if len(units) == 1 else None


def _is_grades(file: Found) -> bool:
    return "grade" in file.stem.lower()


def _crowd(folder: Folder, table: _Table) -> None:
    grades = [*folder.of("crowd grades"), *(file for file in folder.of("ratings") if _is_grades(file))]
    table.one("grades", grades, "grades of crowd workers")
    for file in grades[1:]:
        folder.leave(file.path, f"{grades[0].path} is taken; a project has one file of grades")
    _criteria(folder, table, grades[:1])
    runs = folder.of("mixed-initiative run")
    if table.values or runs:
        banks = [file for file in folder.of("texts") if "bank" in words_of(file.stem)]
        banks += [file for file in folder.of("question bank") if shape_of(folder.place(file)) != "table"]
        table.one("bank", banks, "texts of questions")
    if grades:
        table.one("gold_checks", table.called("gold", "check"), "grades that items deserve, by its name")
    table.named("runs", runs, "a mixed-initiative run")
    for file in folder.of("question run") if runs else ():
        run = _read(folder, file, read_run)
        if run is not None and len(set(run.scores.tolist())) == 1:
            folder.leave(file.path, "a pool and no ranking: all its scores are equal")


def _criteria(folder: Folder, table: _Table, grades: Sequence[Found]) -> None:
    """The judgments of clarifying questions or of responses, a file for every criterion, and the turns that one is cut to.

    ``grades`` hold judgments of their own.
    """
    first = next(((file.path, read[0]) for file in grades if (read := _read(folder, file, read_grades))), None)
    taken, items = (first[0], {(one.turn, one.item) for one in first[1]}) if first else ("", set())
    files = {file.path: file for file in folder.of("qrels")}
    judged = {path: known for path, file in files.items() if (known := _of_items(folder, file))}
    wanted = ("relevance", "question", "all")
    words = {path: words_of(files[path].stem) for path in judged}
    paths = sorted(judged, key=lambda path: ([word not in words[path] for word in wanted], path))
    criteria: list[Found] = []
    for path in paths:
        other = next((one for one in paths if judged[path].items() < judged[one].items()), None)
        if other is not None and "subset" in words[path] and "subset" not in table.values:
            table.one("subset", [files[path]], f"the turns that it has of {other}, by its name")
        elif taken and items.isdisjoint(judged[path]):
            folder.leave(path, f"judgments of other items than those of {taken}, which is taken")
        elif grades:
            folder.leave(path, f"judgments of questions or responses; {grades[0].path} holds the grades themselves")
        elif other is not None:
            folder.leave(path, f"the judgments of {other} on some of its turns")
        else:
            criteria.append(files[path])
            taken, items = criteria[0].path, items or set(judged[path])
    table.several("qrels", criteria, "judgments of questions or responses")


def _of_items(folder: Folder, file: Found) -> dict[tuple[str, str], int]:
    """(turn, item) → grade where clarifying questions or responses are judged; nothing where passages are."""
    qrels = _read(folder, file, read_qrels)
    if qrels is None or not all(ITEM.fullmatch(item) for item in qrels.documents.take(slice(50)).texts()):
        return {}
    return grades_by_pair(qrels)


def tasks_of(folder: Folder, file: Found) -> list[dict[str, Any]]:
    """The tasks of MTRAG in a file or in an export; none of other files, and of broken ones."""
    if file.what is None or file.what.family not in (mtrag.NAME, mtrag.EXPORT):
        return []
    try:
        files = parts_of(folder.place(file))
        return [record.fields for path in files for record in json_records(path, ProblemList(path))]
    except InputError:
        return []


def place_tasks(folder: Folder, files: dict[str, str], tables: Tables) -> None:
    """Take answers of systems, the first reference answers and, without a collection, texts of passages from tasks."""
    further = {path for paths in folder.joined.values() for path in paths[1:]}
    files_of_tasks = [file for file in folder.files if file.path not in folder.aside and file.path not in further]
    found = [(file, tasks) for file in files_of_tasks if (tasks := tasks_of(folder, file))]
    names = short_names([folder.called.get(file.path, file.path) for file, _ in found])
    responses: dict[str, str] = {}
    for name, (file, tasks) in zip(names, found, strict=True):
        models = mtrag.models_in(tasks) or [name] * any(one.get("predictions") for one in tasks)
        for key, there, what in (
            ("", models, "answers of systems"), ("gold", any(one.get("targets") for one in tasks), "reference answers"),
            ("collection", file.is_a("collection"), "texts of passages"),
        ):  # fmt: skip
            if there and key not in files:
                paths = folder.joined.get(file.path, [file.path])
                for path in paths[:1] if key == "collection" else paths:
                    folder.take(path, what)
                if key == "collection":
                    folder.unusable |= dict.fromkeys(paths[1:], f"texts of passages: a project has one collection, {paths[0]}")
                files |= {key: file.path} if key else {}
        responses |= dict.fromkeys(models, file.path)
    if responses:
        table = tables.setdefault("answers", {})
        named = table.get("responses", {})
        assert isinstance(named, dict)
        # beside nuggets they are named already, without their models
        table["responses"] = {name: path for name, path in named.items() if path not in responses.values()} | responses
