"""Files of the studies with turns of their own: clarifying questions, annotations, crowd judgments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from robustcs.errors import InputError, ProblemList
from robustcs.evaluation.holes import grades_by_pair
from robustcs.inputs import mtrag
from robustcs.inputs.annotations import UNITS, Unit, read_annotations
from robustcs.inputs.clariq import Topics, read_needs, read_topics
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
    topics = folder.of("clariq topics")
    if topics:
        _Clariq(folder, tables, topics).place()
    _answers(folder, tables)
    _annotations(folder, tables)
    _crowd(folder, tables)


def _read(folder: Folder, file: Found, read: Callable[[StrPath], T]) -> T | None:
    try:
        return read(folder.place(file))
    except InputError:
        return None


class _Clariq:
    """Topics, and what systems did for them; all of it is held against the topics."""

    def __init__(self, folder: Folder, tables: Tables, files: list[Found]):
        self.folder = folder
        self.tables = tables
        self.known: Topics | None = None
        self.topics: Found | None = None
        self._choose(files)

    def _choose(self, files: list[Found]) -> None:
        """Those topics that most of the other files are about."""
        cells = [first_cells(self.folder.place(file)) for file in self.folder.of("run", "question run")]
        read = [(file, topics) for file in files if (topics := _read(self.folder, file, read_topics)) is not None]
        read.sort(key=lambda pair: -sum(bool(own & pair[1].requests.keys()) for own in cells))
        if read:
            self.topics, self.known = read[0]
        for file in files:
            if file is not self.topics:
                self.folder.leave(file.path, "other ClariQ topics are taken" if self.topics else "ClariQ topics, but broken")

    def place(self) -> None:
        """Put everything that is about these topics into ``[clariq]``."""
        if self.topics is None or self.known is None:
            return
        table: Table = {"topics": self._take(self.topics, "ClariQ topics")}
        for file in self.folder.of("question bank"):
            if shape_of(self.folder.place(file)) == "table" and "questions" not in table:
                table["questions"] = self._take(file, "ClariQ's question bank")
        topics, facets = set(self.known.requests), set(self.known.facets)
        runs = [file for file in self.folder.of("question run", "run") if self._first(file) & topics]
        self._named(table, "runs", [file for file in runs if not self._baseline(file)], "a run of clarifying questions")
        for file in runs:
            if self._baseline(file):
                self.folder.leave(file.path, "the questions of a baseline, which clariq takes from evaluations or performance")
        self._named(table, "evaluations", list(self._evaluations(facets)), "document relevance by facet")
        for file in self.folder.of("run"):
            units = {cell.rpartition("_")[0] for cell in self._first(file)}
            if units & facets and "performance" not in table:
                table["performance"] = self._take(file, "documents that were found after every question")
        for file in self.folder.of("qrels"):
            if self._first(file) & facets and "qrels" not in table:
                table["qrels"] = self._take(file, "judgments of documents for facets")
        needs = [file for file in self._called("need") if self._are_needs(file, topics)]
        self._named(table, "needs", needs, "predicted labels of clarification need")
        for file in self._called("preference"):
            if "preferences" not in table and _read(self.folder, file, read_preferences) is not None:
                table["preferences"] = self._take(file, "judgments of people")
        if "performance" not in table:
            self._runs_need_topics(table)
        self.tables["clariq"] = table

    def _runs_need_topics(self, table: Table) -> None:
        """Judgments of facets say nothing without documents."""
        path = table.pop("qrels", None)
        if isinstance(path, str):
            del self.folder.taken[path]
            self.folder.leave(path, "judgments of facets, but no documents were found after questions")

    def _first(self, file: Found) -> set[str]:
        return first_cells(self.folder.place(file))

    def _called(self, word: str) -> list[Found]:
        """Files that are called so, of those that nothing else is known of."""
        return [file for file in self.folder.files if file.path not in self.folder.taken and word in file.stem.lower()]

    def _take(self, file: Found, why: str) -> str:
        self.folder.aside.pop(file.path, None)
        self.folder.take(file.path, why)
        return file.path

    def _named(self, table: Table, key: str, files: list[Found], why: str) -> None:
        names = short_names([file.path for file in files], [""] * len(files))
        places = {}
        for name, file in zip(names, files, strict=True):
            places[self._baseline(file) or self._system(name)] = self._take(file, why)
        if places:
            table[key] = places

    def _system(self, name: str) -> str:
        """``dev_bm25`` → ``bm25``; so a system's run, evaluation and labels have one name."""
        plain = ("dev", "train", "test", "need", "needs", "questions", "question")
        words = [word for word in words_of(name) if word not in plain]
        return "_".join(words) or name

    @staticmethod
    def _baseline(file: Found) -> str:
        words = telling_words(file.path)
        return next((name for name in _BASELINES if name in words), "")

    def _evaluations(self, facets: set[str]) -> Iterable[Found]:
        for file in self.folder.of("clariq evaluation"):
            scores = _read(self.folder, file, read_evaluation)
            if scores is not None and any(facets & units.keys() for units in scores.values()):
                yield file
            else:
                self.folder.leave(file.path, "scores by topic and not by facet: clariq computes them from the run")

    def _are_needs(self, file: Found, topics: set[str]) -> bool:
        needs = _read(self.folder, file, read_needs)
        return needs is not None and bool(topics & needs.keys())


def _answers(folder: Folder, tables: Tables) -> None:
    """Longer answers, told by a name or folder that says response, and what they should hold: nuggets, snippets beside them."""
    responses = [file for file in folder.of("answers") if {"response", "responses"} & set(words_of(file.path))]
    assignments, nuggets = folder.of("assignments"), folder.of("nuggets")
    # answers in sentences are a run as well, which is decided elsewhere
    cited = [file for file in folder.of("run") if file.is_a("answers") and not responses and (assignments or nuggets)]
    places = {Path(file.path).parent for file in (*responses, *nuggets, *assignments)}
    snippets = [file for file in folder.of("snippets") if Path(file.path).parent in places] if responses else []
    if not (responses or cited or assignments) or not (snippets or nuggets or assignments):
        return
    table: Table = {}
    if snippets:
        table["snippets"] = [file.path for file in snippets]
    if nuggets:
        table["nuggets"] = nuggets[0].path
    runs = [(first_record(folder.place(file)) or {}).get("run_id") for file in assignments]
    told = {str(run) for run in runs}
    by_run = all(isinstance(run, str) and run for run in runs) and len(told) == len(runs)
    for key, files in (("responses", responses or cited), ("assignments", assignments)):
        names = short_names([file.path for file in files], [""] * len(files))
        if key == "assignments" and by_run:
            names = [str(run) for run in runs]
        if files:
            table[key] = {name: file.path for name, file in zip(names, files, strict=True)}
    tables["answers"] = table
    for files, why in (
        (responses, "answers of a system, by its name"), (assignments, "nuggets that answers hold"),
        (nuggets[:1], "nuggets that answers should hold"), (snippets, "snippets beside them, which answers should hold"),
    ):  # fmt: skip
        for file in files:
            folder.take(file.path, why)
    for file in nuggets[1:]:
        folder.leave(file.path, f"{nuggets[0].path} is taken; a project has one file of nuggets")


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
    names = short_names([folder.called.get(file.path, file.path) for file, _ in found], [""] * len(found))
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


def _annotations(folder: Folder, tables: Tables) -> None:
    snippets = [file for file in folder.of("snippets") if not _is_grades(file)]
    references = [file for file in snippets if re.search("expert|reference|gold", file.stem.lower())]
    units = {file.path: _unit(folder, file) for file in snippets}
    own = [units[file.path] for file in snippets if file not in references] or list(units.values())
    # of several tasks the first, paragraphs; their references can be cut to sentences
    task = next((unit for unit in UNITS if unit in own), None)
    for file in snippets:
        unit = units[file.path]
        fits = unit in (task, None) or (unit == "paragraph" and file in references)
        if unit and task and not fits:
            folder.leave(file.path, f"it annotates {_READ[unit]}, another task than {_READ[task]}")
    snippets, references = ([file for file in files if file.path not in folder.aside] for files in (snippets, references))
    ratings = [file for file in folder.of("ratings") if not _is_grades(file)]
    chosen = {
        "snippets": [file for file in snippets if file not in references] or references,
        "reference": references if len(references) < len(snippets) else [],
        "ratings": ratings,
    }
    for key, files in chosen.items():
        for file in files:
            folder.take(file.path, {"snippets": "annotations", "reference": "the reference, by its name"}.get(key, key))
    table: Table = {key: [file.path for file in files] for key, files in chosen.items() if files}
    if table:
        tables["agreement"] = table


def _unit(folder: Folder, file: Found) -> Unit | None:
    """What the annotators of a file read; None where it cannot be read, or has several tasks, which the command will tell."""
    found = _read(folder, file, read_annotations)
    units = set() if found is None else {text.unit for text in found[0].values()}
    return units.pop() if len(units) == 1 else None


def _is_grades(file: Found) -> bool:
    return "grade" in file.stem.lower()


def _crowd(folder: Folder, tables: Tables) -> None:
    table: Table = {}
    grades = [*folder.of("crowd grades"), *(file for file in folder.of("ratings") if _is_grades(file))]
    for file in grades[:1]:
        folder.take(file.path, "grades of crowd workers")
        table["grades"] = file.path
    for file in grades[1:]:
        folder.leave(file.path, f"{grades[0].path} is taken; a project has one file of grades")
    _criteria(folder, table, grades[:1])
    runs = folder.of("mixed-initiative run")
    if table or runs:
        banks = [file for file in folder.of("texts") if "bank" in words_of(file.stem)]
        banks += [file for file in folder.of("question bank") if shape_of(folder.place(file)) != "table"]
        for file in banks[:1]:
            table["bank"] = file.path
            folder.take(file.path, "texts of questions")
        for file in folder.files:
            if file.path not in folder.taken and ("gold" in file.stem.lower() and "check" in file.stem.lower()) and grades:
                folder.aside.pop(file.path, None)
                folder.take(file.path, "grades that items deserve, by its name")
                table["gold_checks"] = file.path
    if runs:
        names = short_names([file.path for file in runs], [""] * len(runs))
        table["runs"] = {name: file.path for name, file in zip(names, runs, strict=True)}
        for file in runs:
            folder.take(file.path, "a mixed-initiative run")
        for file in folder.of("question run"):
            run = _read(folder, file, read_run)
            if run is not None and len(set(run.scores.tolist())) == 1:
                folder.leave(file.path, "a pool and no ranking: all its scores are equal")
    if table:
        tables["crowd"] = table


def _criteria(folder: Folder, table: Table, grades: Sequence[Found]) -> None:
    """The judgments of clarifying questions or of responses, a file for every criterion, and the turns that one is cut to.

    ``grades`` hold judgments of their own.
    """
    first = next(((file.path, read[0]) for file in grades if (read := _read(folder, file, read_grades))), None)
    taken, items = (first[0], {(one.turn, one.item) for one in first[1]}) if first else ("", set())
    judged = {file.path: known for file in folder.of("qrels") if (known := _of_items(folder, file))}
    wanted = ("relevance", "question", "all")
    words = {path: words_of(Path(path).name.split(".")[0]) for path in judged}
    paths = sorted(judged, key=lambda path: ([word not in words[path] for word in wanted], path))
    whole = {path: next((one for one in paths if judged[path].items() < judged[one].items()), None) for path in paths}
    criteria: list[str] = []
    for path in paths:
        other = whole[path]
        if other is not None and "subset" in words[path] and "subset" not in table:
            table["subset"] = path
            folder.take(path, f"the turns that it has of {other}, by its name")
        elif taken and items.isdisjoint(judged[path]):
            folder.leave(path, f"judgments of other items than those of {taken}, which is taken")
        elif grades:
            folder.leave(path, f"judgments of questions or responses; {grades[0].path} holds the grades themselves")
        elif other is not None:
            folder.leave(path, f"the judgments of {other} on some of its turns")
        else:
            folder.take(path, "judgments of questions or responses")
            criteria.append(path)
            taken, items = criteria[0], items or set(judged[path])
    if criteria:
        table["qrels"] = criteria


def _of_items(folder: Folder, file: Found) -> dict[tuple[str, str], int]:
    """(turn, item) → grade where clarifying questions or responses are judged; nothing where passages are."""
    qrels = _read(folder, file, read_qrels)
    if qrels is None or not all(ITEM.fullmatch(item) for item in qrels.documents[:50].to_pylist()):
        return {}
    return grades_by_pair(qrels)
