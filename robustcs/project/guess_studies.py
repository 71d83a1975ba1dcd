"""Find the files of studies with separate turns: clarifying questions, annotations, crowd judgments."""

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
from robustcs.inputs.clariq import read_needs, read_preferences, read_topics
from robustcs.inputs.clariq_tables import read_evaluation
from robustcs.inputs.file_formats import RAG_RUN
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import StrPath, parts_of
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.ratings import read_gold_checks, read_grades
from robustcs.inputs.records import shape_of
from robustcs.inputs.runs import read_run
from robustcs.inputs.sniff import first_cells
from robustcs.inputs.text import first_record
from robustcs.project.guess_judgments import ITEM
from robustcs.project.scan import Folder, Found, role_of, short_names, telling_words, words_of

T = TypeVar("T")

Table = dict[str, str | list[str] | dict[str, str]]
Tables = dict[str, Table]
#: Annotation tasks.
_READ: dict[Unit, str] = {"paragraph": "paragraphs", "sentence": "sentences", "selection": "by choosing sentences"}
#: Names of evaluations of baselines.
_BASELINES = ("no", "worst", "best")


def guess_studies(folder: Folder, tables: Tables) -> None:
    """Assign files to ``[clariq]``, ``[answers]``, ``[agreement]``, ``[crowd]`` and ``[review]``; others remain undecided."""
    for name, take in (("clariq", _clariq), ("answers", _answers), ("agreement", _annotations), ("crowd", _crowd),
                       ("review", _reviews)):  # fmt: skip
        table = _Table(folder)
        take(folder, table)
        if table.values:
            tables[name] = table.values


@dataclass
class _Table:
    """One table of the project file, and its files."""

    folder: Folder
    values: Table = field(default_factory=dict)

    def one(self, key: str, files: Iterable[Found], why: str) -> None:
        """Use the first of these files."""
        for file in list(files)[:1]:
            self.values.setdefault(key, self._taken(file, why))

    def several(self, key: str, files: Iterable[Found], why: str) -> None:
        """Use all of these files."""
        if paths := [self._taken(file, why) for file in files]:
            self.values[key] = paths

    def named(self, key: str, files: Sequence[Found], why: str, names: Sequence[str] = ()) -> None:
        """Use all of these files by name; without ``names``, by short names."""
        names = names or short_names([file.path for file in files])
        if files:
            self.values[key] = {name: self._taken(file, why) for name, file in zip(names, files, strict=True)}

    def _taken(self, file: Found, why: str) -> str:
        self.folder.take(file.path, why)
        return file.path

    def called(self, *words: str) -> list[Found]:
        """Return the unused files whose names contain these words."""
        free = [file for file in self.folder.files if file.path not in self.folder.taken]
        return [file for file in free if all(word in file.stem.lower() for word in words)]


def _read(folder: Folder, file: Found, read: Callable[[StrPath], T]) -> T | None:
    try:
        return read(folder.place(file))
    except InputError:
        return None


def _clariq(folder: Folder, table: _Table) -> None:
    """Choose the topics that most other files share, and the files of systems for them."""

    def first(file: Found) -> set[str]:
        return first_cells(folder.place(file))

    cells = [first(file) for file in folder.of("run", "question run")]
    files = folder.of("clariq topics")
    known = {file.path: read for file in files if (read := _read(folder, file, read_topics)) is not None}
    chosen = min(known, key=lambda path: -sum(bool(own & known[path].requests.keys()) for own in cells), default=None)
    for file in files:
        if file.path != chosen:
            folder.leave(file.path, "other ClariQ topics are used" if chosen else "broken ClariQ topics")
    if chosen is None:
        return
    topics, facets = set(known[chosen].requests), set(known[chosen].facets)
    table.one("topics", [file for file in files if file.path == chosen], "ClariQ topics")
    banks = [file for file in folder.of("question bank") if shape_of(folder.place(file)) == "table"]
    table.one("questions", banks, "question bank of ClariQ")
    runs = [file for file in folder.of("question run", "run") if first(file) & topics]
    _by_system(table, "runs", [file for file in runs if not _baseline(file)], "a run of clarifying questions")
    for file in runs:
        if _baseline(file):
            folder.leave(file.path, "questions of a baseline, which clariq takes from evaluations or performance")
    evaluations = folder.of("clariq evaluation")
    scores = [_read(folder, file, read_evaluation) or {} for file in evaluations]
    of_facets = [any(facets & units.keys() for units in one.values()) for one in scores]
    _by_system(table, "evaluations", list(compress(evaluations, of_facets)), "document relevance by facet")
    for file in compress(evaluations, map(not_, of_facets)):
        folder.leave(file.path, "scores by topic instead of facet, which clariq computes from the run")
    documents = [file for file in folder.of("run") if {cell.rpartition("_")[0] for cell in first(file)} & facets]
    table.one("performance", documents, "documents retrieved after each question")
    judged = [file for file in folder.of("qrels") if first(file) & facets]
    if documents:
        table.one("qrels", judged, "judgments of documents per facet")
    for file in () if documents else judged:
        folder.leave(file.path, "judgments of facets, but there is no run of documents retrieved after questions")
    needs = [file for file in table.called("need") if topics & (_read(folder, file, read_needs) or {}).keys()]
    _by_system(table, "needs", needs, "predicted labels of clarification need")
    preferences = [file for file in table.called("preference") if _read(folder, file, read_preferences) is not None]
    table.one("preferences", preferences, "human preferences")


def _by_system(table: _Table, key: str, files: Sequence[Found], why: str) -> None:
    """Use files by system: ``dev_bm25`` becomes ``bm25``, so that run, evaluation and labels of a system have one name."""
    plain = ("dev", "train", "test", "need", "needs", "questions", "question")
    names = short_names([file.path for file in files])
    systems = ["_".join(word for word in words_of(name) if word not in plain) or name for name in names]
    table.named(key, files, why, [_baseline(file) or name for file, name in zip(files, systems, strict=True)])


def _baseline(file: Found) -> str:
    words = telling_words(file.path)
    return next((name for name in _BASELINES if name in words), "")


def _answers(folder: Folder, table: _Table) -> None:
    """Find generated answers (name or folder contains response), and nuggets and snippets, which are in the same folder.

    Answers alone, whose names contain neither gold nor a formulation, are those of systems.
    """
    every = folder.of("answers")
    responses = [file for file in every if {"response", "responses"} & set(words_of(file.path))]
    others = [file for file in folder.files if file.what and (file not in every or file.is_a("run"))]
    alone = bool(every) and not others and not any(role_of(file.stem) or "gold" in words_of(file.stem) for file in every)
    responses = every if alone else responses
    assignments, nuggets = folder.of("assignments"), folder.of("nuggets")
    runs = folder.of("run")
    said = [file for file in runs if file.is_a("answers") and not responses]
    # the references of answers are rankings only if there are no others
    ranked = any(not file.is_a("answers") for file in runs)
    made_of = [file for file in said if ranked and file.what is not None and file.what.family == RAG_RUN.name]
    cited = said if assignments or nuggets else made_of
    places = {Path(file.path).parent for file in (*responses, *nuggets, *assignments)}
    snippets = [file for file in folder.of("snippets") if Path(file.path).parent in places] if responses else []
    if not (alone or ((responses or cited or assignments) and (snippets or nuggets or assignments or made_of))):
        return
    table.several("snippets", snippets, "snippets that answers should contain, by their folder")
    table.one("nuggets", nuggets, "nuggets that answers should contain")
    ids = [str((first_record(folder.place(file)) or {}).get("run_id") or "") for file in assignments]
    by_run = all(ids) and len(set(ids)) == len(ids)
    table.named("responses", responses, "answers of a system, by its name")
    if cited:
        names = short_names([file.path for file in cited])
        table.values["responses"] = {name: file.path for name, file in zip(names, cited, strict=True)}
    for file in made_of:
        folder.take(file.path, "answers of a system, with their passages")
    table.named("assignments", assignments, "nuggets found in answers", ids if by_run else ())
    for file in nuggets[1:]:
        folder.leave(file.path, f"{nuggets[0].path} is used; a project has one file of nuggets")


def _annotations(folder: Folder, table: _Table) -> None:
    snippets = [file for file in folder.of("snippets") if not _is_grades(file)]
    references = [file for file in snippets if re.search("expert|reference|gold", file.stem.lower())]
    units = {file.path: _unit(folder, file) for file in snippets}
    own = [units[file.path] for file in snippets if file not in references] or list(units.values())
    # of several tasks, use the first (paragraphs); its references can be cut to sentences
    task = next((unit for unit in UNITS if unit in own), None)
    for file in snippets:
        unit = units[file.path]
        if unit and task and unit != task and not (unit == "paragraph" and file in references):
            folder.leave(file.path, f"it annotates {_READ[unit]}; the other files annotate {_READ[task]}")
    snippets, references = ([file for file in files if file.path not in folder.aside] for files in (snippets, references))
    table.several("snippets", [file for file in snippets if file not in references] or references, "annotations")
    table.several("reference", references if len(references) < len(snippets) else [], "reference, by its name")
    table.several("ratings", [file for file in folder.of("ratings") if not _is_grades(file)], "ratings")


def _unit(folder: Folder, file: Found) -> Unit | None:
    """Return the annotation task of a file; None if it cannot be read or has several tasks, which the command reports."""
    found = _read(folder, file, read_annotations)
    units = set() if found is None else {text.unit for text in found[0].values()}
    return units.pop() if len(units) == 1 else None


def _is_grades(file: Found) -> bool:
    return "grade" in file.stem.lower()


def _reviews(folder: Folder, table: _Table) -> None:
    table.several("files", folder.of("reviews"), "turns that a coder reviewed")


def _crowd(folder: Folder, table: _Table) -> None:
    grades = [*folder.of("crowd grades"), *(file for file in folder.of("ratings") if _is_grades(file))]
    table.one("grades", grades, "grades of crowd workers")
    for file in grades[1:]:
        folder.leave(file.path, f"{grades[0].path} is used; a project has one file of grades")
    _criteria(folder, table, grades[:1])
    runs = folder.of("mixed-initiative run")
    if table.values or runs:
        banks = [file for file in folder.of("texts") if "bank" in words_of(file.stem)]
        banks += [file for file in folder.of("question bank") if shape_of(folder.place(file)) != "table"]
        table.one("bank", banks, "texts of questions")
    if grades:
        checks = [file for file in table.called() if {"gold", "check", "checks"} & set(words_of(file.stem))]
        checks = [file for file in checks if _read(folder, file, read_gold_checks)]
        table.one("gold_checks", checks, "known grades of test items, by its name")
    table.named("runs", runs, "a mixed-initiative run")
    for file in folder.of("question run") if runs else ():
        run = _read(folder, file, read_run)
        if run is not None and len(set(run.scores.tolist())) == 1:
            folder.leave(file.path, "a pool, not a ranking: all its scores are equal")


def _criteria(folder: Folder, table: _Table, grades: Sequence[Found]) -> None:
    """Find judgments of clarifying questions or responses, one file per criterion, and a subset of their turns.

    ``grades`` contain judgments themselves.
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
            table.one("subset", [files[path]], f"subset of the turns of {other}, by its name")
        elif taken and items.isdisjoint(judged[path]):
            folder.leave(path, f"judgments of other items than {taken}, which is used")
        elif grades:
            folder.leave(path, f"judgments of questions or responses; {grades[0].path} contains the grades themselves")
        elif other is not None:
            folder.leave(path, f"the judgments of {other} for some of its turns")
        else:
            criteria.append(files[path])
            taken, items = criteria[0].path, items or set(judged[path])
    table.several("qrels", criteria, "judgments of questions or responses")


def _of_items(folder: Folder, file: Found) -> dict[tuple[str, str], int]:
    """Return (turn, item) → grade of judged clarifying questions or responses; empty for judgments of passages."""
    qrels = _read(folder, file, read_qrels)
    if qrels is None or not all(ITEM.fullmatch(item) for item in qrels.documents.take(slice(50)).texts()):
        return {}
    return grades_by_pair(qrels)


def tasks_of(folder: Folder, file: Found) -> list[dict[str, Any]]:
    """Return the MTRAG tasks in a file or an export; none for other files and broken ones."""
    if file.what is None or file.what.family not in (mtrag.NAME, mtrag.EXPORT):
        return []
    try:
        files = parts_of(folder.place(file))
        return [record.fields for path in files for record in json_records(path, ProblemList(path))]
    except InputError:
        return []


def place_tasks(folder: Folder, files: dict[str, str], tables: Tables) -> None:
    """Use the answers of systems in tasks, the first reference answers and, without a collection, the passage texts."""
    further = {path for paths in folder.joined.values() for path in paths[1:]}
    files_of_tasks = [file for file in folder.files if file.path not in folder.aside and file.path not in further]
    found = [(file, tasks) for file in files_of_tasks if (tasks := tasks_of(folder, file))]
    names = short_names([folder.called.get(file.path, file.path) for file, _ in found])
    responses: dict[str, str] = {}
    labelled: list[str] = []
    for name, (file, tasks) in zip(names, found, strict=True):
        models = mtrag.models_in(tasks) or [name] * any(one.get("predictions") for one in tasks)
        for key, there, what in (
            ("", models, "answers of systems"), ("gold", any(one.get("targets") for one in tasks), "reference answers"),
            ("collection", file.is_a("collection"), "passage texts"),
        ):  # fmt: skip
            if there and key not in files:
                paths = folder.joined.get(file.path, [file.path])
                for path in paths[:1] if key == "collection" else paths:
                    folder.take(path, what)
                if key == "collection":
                    folder.unusable |= dict.fromkeys(paths[1:], f"passage texts; a project has one collection, here {paths[0]}")
                files |= {key: file.path} if key else {}
        responses |= dict.fromkeys(models, file.path)
        if not models and any(key.lower() == "answerability" for one in tasks for key in one):
            labelled.append(file.path)
    if responses:
        table = tables.setdefault("answers", {})
        if labelled:
            table["labels"] = labelled[0]
            folder.take(labelled[0], "labels of turns (answerability)")
        named = table.get("responses", {})
        assert isinstance(named, dict)
        # with nuggets, they are in the table already, without their models
        table["responses"] = {name: path for name, path in named.items() if path not in responses.values()} | responses
