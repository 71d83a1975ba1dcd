"""Which judgments a folder is about, and which runs they judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from robustcs.errors import InputError
from robustcs.evaluation.holes import grades_by_pair
from robustcs.evaluation.matrix import grade_matrix, no_judged_passage
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.documents import are_passage_ids
from robustcs.inputs.files import text_lines
from robustcs.inputs.kinds import first_cells
from robustcs.inputs.pooled import parts_of
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.project.found import Folder, Found, short_names, words_of
from robustcs.project.guess_collections import join_collections
from robustcs.project.trust import model_of
from robustcs.wording import counted

_MODEL_ADVICE = "name it under [judges], or, if people made it, as qrels"
#: Ids of clarifying questions and responses, which are no passages.
ITEM = re.compile(r"[QR]\d{2,}")


@dataclass(frozen=True)
class Judged:
    """The judgments of a folder.

    new
        Files that judge further passages of the same turns.
    judges
        Name → file of a judge, a model most often, that graded the same passages.
    """

    file: Found
    qrels: Qrels
    new: list[str] = field(default_factory=list)
    judges: dict[str, str] = field(default_factory=dict)

    @property
    def says(self) -> str:
        """``173 turns, grades 0 to 4``."""
        low, high = int(self.qrels.grades.min()), int(self.qrels.grades.max())
        of = f"{counted(len(self.qrels.parts), 'collection')}, " if self.qrels.parts else ""
        return f"{of}{counted(len(self.qrels.turns), 'turn')}, {counted(len(self.qrels), 'judgment')}, grades {low} to {high}"


def choose_judgments(folder: Folder, by_models: dict[str, str]) -> Judged | None:
    """The qrels whose turns most runs and texts have; the others are new judgments of the same turns, or left aside.

    Judgments that a model seems to have made become no qrels. ``by_models`` takes their files, and what says so.
    """
    known: list[Judged] = []
    models: list[Judged] = []
    for file in folder.of("qrels", "labels"):
        if told := made_by_model(file):
            by_models[file.path] = told
        if not file.is_a("qrels"):
            continue
        try:
            qrels = read_qrels(folder.place(file))
        except InputError as error:
            folder.refuse(file.path, error)
            continue
        (models if told else known).append(Judged(file, qrels))
    chosen = _chosen(folder, known, models) if known else None
    taken = {} if chosen is None else chosen.judges.values()
    for path in list(by_models):
        if path in taken or (path in folder.aside and _of_a_judge(path)):
            del by_models[path]  # its folder or name says judge: it is no qrels anyway
    for path, told in by_models.items():
        folder.aside.pop(path, None)
        folder.leave(path, f"{told}: judgments of a model never become the qrels; {_MODEL_ADVICE}")
    return chosen


def made_by_model(file: Found) -> str:
    """What says that a model made a file of judgments; empty where nothing does."""
    if file.what is not None and file.what.kind == "labels":
        return "it has the fields of a judge's answers"
    model = model_of(file.path)
    return f"its name names a model ({model})" if model else ""


def _chosen(folder: Folder, known: list[Judged], models: Sequence[Judged]) -> Judged:
    """The qrels among judgments of people, and what becomes of the other ones."""
    others = [first_cells(folder.place(file)) for file in folder.of("run", "texts")]
    known.sort(key=lambda one: _order(one, others))
    file = join_collections(folder, [(one.file, one.qrels) for one in known])
    chosen = Judged(file, read_qrels(folder.place(file)))
    folder.take(chosen.file.path, "qrels" + (", those of most runs and texts" if len(known) > 1 and others else ""))
    pairs = grades_by_pair(chosen.qrels)
    judges: list[str] = []
    for one in sorted((*known[1:], *models), key=lambda one: _order(one, others)):
        if one.file.path in folder.taken:
            continue
        shared = set(one.qrels.turns) & set(chosen.qrels.turns)
        own = grades_by_pair(one.qrels)
        if not shared:
            folder.leave(one.file.path, f"it judges other turns, like {one.qrels.turns[0]!r}")
        elif len(own.keys() & pairs) > len(own) / 2:
            highest = int(one.qrels.grades.max())
            if not _of_a_judge(one.file.path) or own.items() <= pairs.items():
                why = f"it judges passages that {chosen.file.path} judges: another judge, or another version"
                folder.leave(one.file.path, why)
            elif highest > chosen.qrels.grades.max():
                folder.leave(one.file.path, f"a judge with grade {highest}, off the scale of {chosen.file.path}")
            else:
                judges.append(one.file.path)
        elif _looks_new(one) and one not in models:
            chosen.new.append(one.file.path)
            further = counted(len(own.keys() - pairs), "passage")
            folder.take(one.file.path, f"new judgments: {further} that the qrels do not judge")
        else:
            folder.leave(one.file.path, f"judgments beside {chosen.file.path}; new_judgments could name it")
    for name, path in zip(short_names(judges, [""] * len(judges)), judges, strict=True):
        chosen.judges[name] = path
        folder.take(path, f"judge {name}, by its folder or name")
    return chosen


def _order(one: Judged, others: Sequence[set[str]]) -> tuple[object, ...]:
    turns = set(one.qrels.turns)
    words = words_of(one.file.stem)
    return (
        -sum(bool(turns & cells) for cells in others), "new" in words, not any(word.startswith("qrel") for word in words),
        "human" not in words, -len(turns), -len(one.qrels), one.file.path,
    )  # fmt: skip


def _of_a_judge(path: str) -> bool:
    """Does its folder or its name speak of a judge?"""
    return any(word in ("judge", "judges") for word in words_of(path))


def _looks_new(one: Judged) -> bool:
    return bool({"new", "additional", "extra", "more", "later"} & set(words_of(one.file.stem)))


@dataclass(frozen=True)
class Read:
    """What a run has: its turns, how many of them are judged, the most passages of one, and its tag.

    documents
        It has passages ``DOC-N``, and the qrels judge documents.
    """

    turns: frozenset[str]
    judged: int
    depth: int
    tag: str
    documents: bool = False


def judged_by(path: Path, qrels: Qrels | None) -> Read | str:
    """What a run has; or, where it cannot be evaluated on the qrels, why. Raises :class:`InputError` for a broken one."""
    run = read_run(path)
    ranking = rank_run(run, EvaluationPolicy())
    depth = int(np.diff(ranking.starts).max(initial=0))
    turns = frozenset(ranking.turns)
    if qrels is None:
        return Read(turns, len(turns), depth, _tag(path))
    matrix = grade_matrix(ranking, qrels)
    if matrix.missing.all():
        return f"a run of other turns: it has turns like {ranking.turns[0]!r}, the qrels like {qrels.turns[0]!r}"
    documents = no_judged_passage(matrix) and are_passage_ids(ranking.documents)
    by_document = grade_matrix(rank_run(run, EvaluationPolicy(documents=True)), qrels) if documents else matrix
    if no_judged_passage(by_document):
        return f"none of its passages is judged: it has passages like {matrix.first[1]!r}"
    return Read(turns, int((~matrix.missing).sum()), depth, _tag(path), documents)


def _tag(path: Path) -> str:
    """What stands in the last columns of the first line, where a TREC run says its name."""
    for _, line in text_lines(parts_of(path)[0]):
        if not line.startswith("#"):
            cells = line.split()
            return "_".join(cells[5:]) if len(cells) >= 6 and cells[0][0] not in "{[" else ""
    return ""
