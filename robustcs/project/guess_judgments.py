"""Choose the judgments of a folder, and find the runs that they judge."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from robustcs.errors import InputError
from robustcs.evaluation.holes import grades_by_pair
from robustcs.evaluation.matrix import grade_matrix, no_judged_passage
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.ids import are_passage_ids
from robustcs.inputs.paths import parts_of
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.sniff import first_cells
from robustcs.inputs.text import text_lines
from robustcs.policy import EvaluationPolicy
from robustcs.project.families import Texts
from robustcs.project.scan import Folder, Found, short_names, words_of
from robustcs.project.trust import model_of
from robustcs.wording import counted


def join_collections(folder: Folder, known: Sequence[tuple[Found, Qrels]]) -> Found:
    """Join the judgments of several collections, and the runs of each system; return the first file of judgments.

    Judgments of other turns are another collection if a run answers turns of both, if the names of two runs differ only in the
    words of their collections, or if the folder has no runs.
    """
    apart: list[tuple[Found, Qrels]] = []
    for file, qrels in known:
        if all(set(qrels.turns).isdisjoint(other.turns) for _, other in apart):
            apart.append((file, qrels))
    apart.sort(key=lambda one: one[0].path)
    common = set.intersection(*(_atoms(file.path) for file, _ in apart))
    collections = [(frozenset(qrels.turns), _atoms(file.path) - common) for file, qrels in apart]
    groups: dict[tuple[str, ...], dict[int, Found]] = {}
    links: list[set[int]] = []
    runs = folder.of("run") if len(apart) > 1 else []
    for file in runs:
        with suppress(InputError):
            numbers = _collections_of(read_run(folder.place(file)).turns, collections)
            links.append(set(numbers))
            if len(numbers) == 1 and numbers[0] >= 0:
                name = tuple(words_of(called(file.path, collections[numbers[0]][1])))
                groups.setdefault(name, {}).setdefault(numbers[0], file)
    links += [set(files) for files in groups.values()]
    chosen = {apart.index(known[0])} if runs else set(range(len(apart)))
    for _ in apart:
        chosen.update(*(link for link in links if link & chosen))
    folder.collections = [collections[number] for number in sorted(chosen)]
    judgments = [apart[number][0] for number in sorted(chosen)]
    _join(folder, [file.path for file in judgments], "qrels")
    for files in groups.values():
        paths = [file.path for number, file in sorted(files.items()) if number in chosen]
        _join(folder, paths, "run", called(paths[0], collections[min(files)][1]) if paths else "")
    return judgments[0]


def join_texts(folder: Folder, texts: Sequence[Texts]) -> list[Texts]:
    """Join texts whose names differ only in the words of their collections."""
    groups: dict[tuple[object, ...], dict[int, Texts]] = {}
    for one in texts:
        numbers = _collections_of(one.texts, folder.collections)
        name: tuple[object, ...] = (one.named,)
        if len(numbers) == 1 and numbers[0] >= 0:
            path = called(one.file.path, folder.collections[numbers[0]][1])
            name = (one.role, one.named.removeprefix(one.file.path), *words_of(path))
        groups.setdefault(name if numbers[0] not in groups.get(name, ()) else (one.named,), {})[numbers[0]] = one
    found = []
    for group in groups.values():
        first, *others = (group[number] for number in sorted(group))
        if others:
            folder.joined[first.named] = [one.named for one in (first, *others)]
            for one in others:
                folder.take(one.file.path, f"texts of another collection, together with {first.file.path}")
            first = replace(first, texts={turn: text for one in (first, *others) for turn, text in one.texts.items()})
        found.append(first)
    return found


def called(path: str, words: Collection[str]) -> str:
    """Return ``path`` without these words: ``bm25_raw_clapnq.trec`` becomes ``bm25_raw.trec``.

    If no words remain, the stem is ``system``.
    """
    folder, slash, name = path.rpartition("/")
    stem, *suffixes = name.split(".")
    left = re.sub(r"[A-Za-z]+|[0-9]+", lambda found: "" if found[0].lower() in words else found[0], folder + slash + stem)
    left = re.sub(r"[-_]+(?=[-_/]|$)|(?<=/)[-_/]+|^[-_/]+", "", left).rstrip("/")
    return ".".join((left if words_of(left) else "system", *suffixes))


def _atoms(path: str) -> set[str]:
    """Return the words of a path; numbers are separate words."""
    return set(re.findall(r"[a-z]+|[0-9]+", path.lower()))


def _collections_of(turns: Collection[str], collections: Sequence[tuple[frozenset[str], set[str]]]) -> list[int]:
    """Return the numbers of the collections that contain some of the turns; −1 if none does."""
    return [number for number, (own, _) in enumerate(collections) if not own.isdisjoint(turns)] or [-1]


def _join(folder: Folder, paths: Sequence[str], what: str, name: str = "") -> None:
    """Record that these files are read together."""
    if len(paths) < 2:
        return
    folder.joined[paths[0]] = list(paths)
    folder.called[paths[0]] = name or paths[0]
    for path in paths[1:]:
        folder.take(path, f"{what} of another collection, together with {paths[0]}")


_MODEL_ADVICE = "add it to [judges], or, if assessors made it, set it as qrels"
#: Words of the names of new judgments.
_NEW = frozenset(("new", "additional", "extra", "more", "later"))
#: Ids of clarifying questions and responses, which are not passages.
ITEM = re.compile(r"[QR]\d{2,}")


@dataclass(frozen=True)
class Judged:
    """The judgments of a folder.

    new
        Files that judge other passages of the same turns.
    judges
        Name → file of a judge, usually a model, that graded the same passages.
    """

    file: Found
    qrels: Qrels
    new: list[str] = field(default_factory=list)
    judges: dict[str, str] = field(default_factory=dict)

    @property
    def says(self) -> str:
        """Description such as ``173 turns, 29,350 judgments, grades 0 to 4``."""
        low, high = int(self.qrels.grades.min()), int(self.qrels.grades.max())
        of = f"{counted(len(self.qrels.parts), 'collection')}, " if self.qrels.parts else ""
        return f"{of}{counted(len(self.qrels.turns), 'turn')}, {counted(len(self.qrels), 'judgment')}, grades {low} to {high}"


def choose_judgments(folder: Folder, by_models: dict[str, str]) -> Judged | None:
    """Choose the qrels whose turns most runs and texts share; others are new judgments, judges, or ignored.

    Judgments that a model seems to have made are not used as qrels. Their files and the evidence are added to ``by_models``.
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
            del by_models[path]  # its folder or name indicates a judge, so it is not qrels anyway
    for path, told in by_models.items():
        folder.aside.pop(path, None)
        folder.leave(path, f"{told}, and model judgments are never used as qrels; {_MODEL_ADVICE}")
    return chosen


def made_by_model(file: Found) -> str:
    """Return the evidence that a model made a file of judgments; empty if there is none."""
    if file.what is not None and file.what.kind == "labels":
        return "it has the fields of a model judge's output"
    model = model_of(file.path)
    return f"its name contains a model name ({model})" if model else ""


def _chosen(folder: Folder, known: list[Judged], models: Sequence[Judged]) -> Judged:
    """Choose the qrels among human judgments, and assign roles to the other judgments."""
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
            folder.leave(one.file.path, f"it judges other turns, such as {one.qrels.turns[0]!r}")
        elif len(own.keys() & pairs) > len(own) / 2:
            highest = int(one.qrels.grades.max())
            if not _of_a_judge(one.file.path) or own.items() <= pairs.items():
                why = f"it judges the same passages as {chosen.file.path}: another judge, or another version"
                folder.leave(one.file.path, why)
            elif highest > chosen.qrels.grades.max():
                folder.leave(one.file.path, f"a judge with grade {highest}, above the scale of {chosen.file.path}")
            else:
                judges.append(one.file.path)
        elif not _NEW.isdisjoint(words_of(one.file.stem)) and one not in models:
            chosen.new.append(one.file.path)
            further = counted(len(own.keys() - pairs), "passage")
            folder.take(one.file.path, f"new judgments: {further} without a judgment in the qrels")
        else:
            folder.leave(one.file.path, f"judgments in addition to {chosen.file.path}; to use it, add it to new_judgments")
    for name, path in zip(short_names(judges), judges, strict=True):
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
    """Return whether its folder or its name indicates a judge."""
    return any(word in ("judge", "judges") for word in words_of(path))


@dataclass(frozen=True)
class Read:
    """Content of a run: its turns, the number of judged ones, the largest number of passages of a turn, and its tag.

    documents
        Whether it ranks passages ``DOC-N`` and the qrels judge documents.
    """

    turns: frozenset[str]
    judged: int
    depth: int
    tag: str
    documents: bool = False


def judged_by(path: Path, qrels: Qrels | None) -> Read | str:
    """Read a run; return why if it cannot be evaluated on the qrels. Raises :class:`InputError` for a broken run."""
    run = read_run(path)
    ranking = rank_run(run, EvaluationPolicy())
    depth = int(np.diff(ranking.starts).max(initial=0))
    turns = frozenset(ranking.turns)
    if qrels is None:
        return Read(turns, len(turns), depth, _tag(path))
    matrix = grade_matrix(ranking, qrels)
    if matrix.missing.all():
        return f"a run of other turns, such as {ranking.turns[0]!r}; the qrels have turns such as {qrels.turns[0]!r}"
    documents = no_judged_passage(matrix) and are_passage_ids(ranking.ids)
    by_document = grade_matrix(rank_run(run, EvaluationPolicy(documents=True)), qrels) if documents else matrix
    if no_judged_passage(by_document):
        return f"none of its passages is judged; it has passages such as {matrix.first[1]!r}"
    return Read(turns, int((~matrix.missing).sum()), depth, _tag(path), documents)


def _tag(path: Path) -> str:
    """Return the tag in the last column of the first line of a TREC run."""
    for _, line in text_lines(parts_of(path)[0]):
        if not line.startswith("#"):
            cells = line.split()
            return "_".join(cells[5:]) if len(cells) >= 6 and cells[0][0] not in "{[" else ""
    return ""
