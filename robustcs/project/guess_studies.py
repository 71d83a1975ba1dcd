"""Rules for the files of studies with separate turns: clarifying questions, answers, annotations, crowd judgments, reviews."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs import mtrag
from robustcs.inputs.annotations import UNITS, Unit, read_annotations
from robustcs.inputs.clariq import read_evaluation, read_needs, read_preferences, read_topics
from robustcs.inputs.file_formats import RAG_RUN
from robustcs.inputs.heads import first_record
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import parts_of
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.ratings import read_gold_checks
from robustcs.inputs.records import shape_of
from robustcs.inputs.sniff import Kind, first_cells
from robustcs.project.guess_judgments import ITEM
from robustcs.project.scan import Proposal, ScannedFile, role_of, short_names, words_of
from robustcs.project.sources import BY_NAME

#: Names of baselines, whose scores are in evaluations.
_BASELINES = {"no", "worst", "best"}
#: Reason for a role that nothing in the content confirms.
_BY_NAME = "by its name"
#: Words of ClariQ's files that do not name a system.
_PLAIN = {"dev", "train", "test", "need", "needs", "questions", "question", "q"}


class _FolderFacts:
    """What the conditions of the rules need to know about a folder."""

    def __init__(self, made: Proposal):
        self.made, self.read = made, made.read
        topics = {
            file.path: read
            for file in self.made.of("clariq topics")
            if (read := self.read(file, read_topics))
        }
        turns = set().union(*map(self.cells, self.made.of("run", "question run")))
        self.topics_file = max(
            topics, key=lambda path: len(turns & topics[path].requests.keys()), default=""
        )
        self.topics = set(topics[self.topics_file].requests) if topics else set()
        self.facets = set(topics[self.topics_file].facets) if topics else set()
        tasks = [
            unit
            for file in self.made.of("snippets")
            if not is_reference(file) and (unit := self.unit(file))
        ]
        self.unit_of_most = min(tasks, key=UNITS.index, default=None)
        #: letter of the judged items: Q for questions, R for responses
        self.items = min(
            map(self.item, self.made.of("qrels")), key=lambda letter: letter or "Z", default=""
        )
        self.responses = self._responses()
        known = [*self.responses, *self.made.of("nuggets", "assignments")] if self.responses else []
        self.places = {Path(file.path).parent for file in known}

    def _responses(self) -> list[ScannedFile]:
        """Return the files of generated answers.

        These are those with response in their path, else answers that cite passages, else all answers if there is nothing else
        and no name contains gold or a formulation.
        """
        files = [file for file in self.made.of("answers") if not of_tasks(file)]
        facts = self.made.of("nuggets", "assignments")
        named = [file for file in files if {"response", "responses"} & set(file.words)]
        cited = [
            file
            for file in files
            if file.is_a("run") and (facts or (file.what and file.what.family == RAG_RUN.name))
        ]
        alone = not any(
            role_of(file.stem) or "gold" in words_of(file.stem) for file in files
        ) and all(file in files and not file.is_a("run") for file in self.made.files if file.what)
        return named or cited or (files if alone else [])

    def cells(self, file: ScannedFile) -> set[str]:
        """Return the first column of a file."""
        return first_cells(self.made.place(file))

    def unit(self, file: ScannedFile) -> Unit | None:
        """Return the annotation task of a file; None if it cannot be read or has several tasks, which the command reports."""
        found = self.read(file, read_annotations)
        units = set() if found is None else {text.unit for text in found[0].values()}
        return units.pop() if len(units) == 1 else None

    def item(self, file: ScannedFile) -> str:
        """Return the first letter of judged clarifying questions (Q) or responses (R); empty for judgments of passages."""
        qrels = self.read(file, read_qrels)
        items = qrels.documents.take(slice(50)).texts() if qrels else []
        return items[0][0] if items and all(map(ITEM.fullmatch, items)) else ""

    def has(self, *key: str) -> bool:
        """Return whether the project file has a table with one of these keys."""
        return any(name in self.made.values.get(key[0], {}) for name in key[1:])


def is_reference(file: ScannedFile) -> bool:
    """Return whether the name of annotations says that they are the reference."""
    return any(word in file.stem.lower() for word in ("expert", "reference", "gold"))


@dataclass(frozen=True)
class _Rule:
    """Undecided files that belong to one key of the project file.

    key
        Table and key; empty if the files are ignored.
    kinds
        Kinds of the files; empty for files that only their names and their content for one reader identify.
    fits
        Further condition.
    why
        What determined the key, or the reason to ignore the files.
    """

    key: tuple[str, ...]
    kinds: tuple[Kind, ...]
    fits: Callable[[_FolderFacts, ScannedFile], Any] = lambda known, file: True
    why: str = "by its content"


_RULES = (
    _Rule(("clariq", "topics"), ("clariq topics",), lambda known, file: file.path == known.topics_file),
    _Rule(("clariq", "questions"), ("question bank",),
          lambda known, file: known.topics and shape_of(known.made.place(file)) == "table"),
    _Rule((), ("question run", "run"),
          lambda known, file: known.cells(file) & known.topics and _BASELINES & set(words_of(file.stem)),
          "questions of a baseline, which clariq takes from evaluations or performance"),
    _Rule(("clariq", "runs"), ("question run", "run"), lambda known, file: known.cells(file) & known.topics),
    _Rule(("clariq", "evaluations"), ("clariq evaluation",),
          lambda known, file: any(known.facets & one.keys() for one in (known.read(file, read_evaluation) or {}).values())),
    _Rule(("clariq", "performance"), ("run",),
          lambda known, file: {cell.rpartition("_")[0] for cell in known.cells(file)} & known.facets),
    _Rule(("clariq", "qrels"), ("qrels",), lambda known, file: known.cells(file) & known.facets),
    _Rule(("clariq", "needs"), (),
          lambda known, file: "need" in file.stem and known.topics & (known.read(file, read_needs) or {}).keys()),
    _Rule(("clariq", "preferences"), (),
          lambda known, file: known.topics and "preference" in file.stem and known.read(file, read_preferences)),
    _Rule(("answers", "responses"), ("answers", "run"), lambda known, file: file in known.responses,
          "by its name or its citations"),
    _Rule(("answers", "snippets"), ("snippets",), lambda known, file: Path(file.path).parent in known.places, "by its folder"),
    _Rule(("answers", "assignments"), ("assignments",)),
    _Rule(("answers", "nuggets"), ("nuggets",), lambda known, file: known.has("answers", "responses", "assignments")),
    _Rule((), ("snippets",), lambda known, file: known.unit_of_most and known.unit(file) not in (known.unit_of_most, None),
          "it annotates another task than the other files"),
    _Rule(("agreement", "reference"), ("snippets",),
          lambda known, file: known.unit_of_most and is_reference(file), _BY_NAME),
    _Rule(("agreement", "snippets"), ("snippets",)),
    _Rule(("crowd", "grades"), ("crowd grades", "ratings"),
          lambda known, file: file.is_a("crowd grades") or "grade" in file.stem),
    _Rule(("agreement", "ratings"), ("ratings",)),
    _Rule(("crowd", "subset"), ("qrels",), lambda known, file: "subset" in file.stem and known.item(file), _BY_NAME),
    _Rule((), ("qrels",), lambda known, file: known.item(file) and (
          known.has("crowd", "grades") or known.item(file) != known.items or "filtered" in file.stem),
          "judgments that [crowd] does not use: grades replace them, or they judge other items or fewer turns"),
    _Rule(("crowd", "qrels"), ("qrels",), lambda known, file: known.item(file)),
    _Rule(("crowd", "runs"), ("mixed-initiative run",)),
    _Rule(("crowd", "bank"), ("texts", "question bank"), lambda known, file: known.has("crowd", "grades", "qrels", "runs")
          and ("bank" in words_of(file.stem) or not file.is_a("texts")), "by its name or its content"),
    _Rule(("crowd", "gold_checks"), (), lambda known, file: known.has("crowd", "grades") and known.read(
          file, read_gold_checks) and {"gold", "check", "checks"} & set(words_of(file.stem)), _BY_NAME),
    _Rule((), ("question run",), why="a run or a pool of questions, but there are no ClariQ topics with its turns"),
    _Rule(("review", "files"), ("reviews",)),
)  # fmt: skip


def guess_studies(made: Proposal) -> None:
    """Assign files to the tables of studies with separate turns; other files remain undecided."""
    known = _FolderFacts(made)
    for rule in _RULES:
        # a file of an unknown kind may be one that only one command reads
        undecided = [file for file in made.files if file.path not in made.taken]
        files = [
            file
            for file in (made.of(*rule.kinds) if rule.kinds else undecided)
            if rule.fits(known, file)
        ]
        shape = BY_NAME[".".join(rule.key)].shape if rule.key else ""
        if not shape:
            for file in files:
                made.leave(file.paths, rule.why)
        elif shape == "named":
            for name, file in zip(_names(known, rule, files), files, strict=True):
                made.use((*rule.key, name), file.paths, rule.why)
        elif shape == "several" and files:
            made.use(rule.key, [file.path for file in files], rule.why, marked=rule.why == _BY_NAME)
        elif files:
            made.use(rule.key, files[0].paths, rule.why, marked=rule.why == _BY_NAME)
            for file in files[1:]:
                made.leave(
                    file.paths,
                    f"{files[0].path} is used; a project has one file for [{'] '.join(rule.key)}",
                )


def _names(known: _FolderFacts, rule: _Rule, files: list[ScannedFile]) -> list[str]:
    """Return names of systems: of assignments, their run ids; for ClariQ, the words of the name that tell a system."""
    names = short_names([file.path for file in files])
    if rule.key[0] == "clariq":
        return [
            "_".join(word for word in words_of(name) if word not in _PLAIN) or name
            for name in names
        ]
    ids = [str((first_record(known.made.place(file)) or {}).get("run_id") or "") for file in files]
    return ids if rule.key[1] == "assignments" and all(ids) and len(set(ids)) == len(ids) else names


def of_tasks(file: ScannedFile) -> bool:
    """Return whether a file contains MTRAG tasks, or an export with them."""
    return file.what is not None and file.what.family in (mtrag.NAME, mtrag.EXPORT)


def tasks_of(made: Proposal, file: ScannedFile) -> list[dict[str, Any]]:
    """Return the MTRAG tasks in a file or an export; none for other files and broken ones."""

    def read(place: Path) -> list[dict[str, Any]]:
        return [
            record.fields
            for path in parts_of(place)
            for record in json_records(path, ProblemList(path))
        ]

    return (made.read(file, read) if of_tasks(file) else None) or []


def guess_tasks(made: Proposal) -> None:
    """Use the answers of systems in tasks, the first reference answers and labels and, without a collection, all passage texts."""
    found = [
        (file, tasks)
        for file in made.files
        if file.path not in made.aside and (tasks := tasks_of(made, file))
    ]
    labelled: list[Sequence[str]] = []
    with_texts: list[str] = []
    for name, (file, tasks) in zip(
        short_names([file.name for file, _ in found]), found, strict=True
    ):
        models = mtrag.models_in(tasks) or [name] * any(one.get("predictions") for one in tasks)
        for model in models:
            made.use(("answers", "responses", model), file.paths, "by its content")
        if any(one.get("targets") for one in tasks) and "gold" not in made.values:
            made.use(("gold",), file.paths, "its reference answers")
        if file.is_a("collection"):
            with_texts += file.paths
        if not models and any(key.lower() == "answerability" for one in tasks for key in one):
            labelled.append(file.paths)
    if with_texts and "collection" not in made.values:
        made.use(("collection",), with_texts, "its passage texts", "the texts of passages in tasks")
    if labelled and "responses" in made.values.get("answers", {}):
        made.use(("answers", "labels"), labelled[0], "its labels of turns (answerability)")
