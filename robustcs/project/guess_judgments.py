"""Choose the judgments of a folder, join its collections, and find the runs that the judgments cover."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from robustcs.errors import InputError
from robustcs.evaluation.holes import grades_by_pair, only_relevant
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
from robustcs.project.scaffold import Proposal
from robustcs.project.scan import Folder, Found, short_names, words_of
from robustcs.project.trust import customary_level, model_of
from robustcs.wording import counted

T = TypeVar("T")

_MODEL_ADVICE = "add it to [judges], or, if assessors made it, set it as qrels"
#: Words of the names of new judgments, and of judges.
_NEW = frozenset(("new", "additional", "extra", "more", "later"))
_JUDGE = frozenset(("judge", "judges"))
#: Ids of clarifying questions and responses, which are not passages.
ITEM = re.compile(r"[QR]\d{2,}")


# ---------------------------------------------------------------- several collections


def join_collections(folder: Folder, known: Sequence[tuple[Found, Qrels]]) -> Found:
    """Join the judgments of several collections, and the runs of each system; return the first file of judgments.

    Judgments of other turns than the first ones are another collection if a run answers turns of both, if the names of two runs
    differ only in the words of their collections, or if the folder has no runs.
    """
    apart: list[tuple[Found, Qrels]] = []
    for file, qrels in known:
        if all(set(qrels.turns).isdisjoint(other.turns) for _, other in apart):
            apart.append((file, qrels))
    if len(apart) == 1:
        return apart[0][0]
    common = set.intersection(*(_atoms(file.path) for file, _ in apart))
    folder.collections = [(frozenset(qrels.turns), _atoms(file.path) - common) for file, qrels in apart]
    runs: list[tuple[str, str, Collection[str], str]] = []
    for file in folder.of("run"):
        with suppress(InputError):
            runs.append((file.path, file.path, read_run(folder.place(file)).turns, ""))
    groups = _grouped(folder, runs)
    links = [*map(set, groups), *(set(_collections_of(folder, turns)) for *_, turns, _ in runs)]
    chosen = set().union(*(link for link in links if 0 in link)) if runs else set(range(len(apart)))
    judgments = sorted((apart[number][0] for number in chosen | {0}), key=lambda file: file.path)
    folder.joined[judgments[0].path] = [file.path for file in judgments]
    for group in groups:
        files = [(path, number) for number, path in group.items() if number in chosen]
        if len(files) > 1:
            first = min(files)
            folder.joined[first[0]] = sorted(path for path, _ in files)
            folder.called[first[0]] = called(first[0], folder.collections[first[1]][1])
    folder.collections = [folder.collections[number] for number in chosen] if len(judgments) > 1 else []
    return judgments[0]


def join_texts(folder: Folder, texts: Sequence[Texts]) -> list[Texts]:
    """Join texts whose names differ only in the words of their collections."""
    groups = _grouped(folder, [(one, one.files[0], one.texts, f"{one.role} {one.column}") for one in texts])
    found = []
    for group in groups:
        some = sorted(group.values(), key=lambda one: one.files)
        joined = {turn: text for one in some for turn, text in one.texts.items()}
        found.append(replace(some[0], files=[path for one in some for path in one.files], texts=joined))
    return found


def _grouped(folder: Folder, ones: Iterable[tuple[T, str, Collection[str], str]]) -> list[dict[int, T]]:
    """Group what differs only in the words of its collection; each group maps numbers of collections to one of them.

    ``ones``: each with its path, its turns, and what must be equal.
    """
    groups: dict[tuple[str, ...], dict[int, T]] = {}
    for one, path, turns, equal in ones:
        numbers = _collections_of(folder, turns)
        number = numbers[0] if len(numbers) == 1 else -1
        name = (equal, *words_of(called(path, folder.collections[number][1]))) if number >= 0 else (path, equal)
        groups.setdefault(name if number not in groups.get(name, {}) else (path, equal), {})[number] = one
    return list(groups.values())


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


def _collections_of(folder: Folder, turns: Collection[str]) -> list[int]:
    """Return the numbers of the collections that contain some of the turns."""
    return [number for number, (own, _) in enumerate(folder.collections) if not own.isdisjoint(turns)]


# ---------------------------------------------------------------- qrels, new judgments, judges


def choose_judgments(made: Proposal) -> Qrels | None:
    """Choose the qrels whose turns most runs and texts share; others are new judgments, judges, or ignored.

    Judgments that a model seems to have made are never used as qrels or new judgments.
    """
    folder = made.folder
    known: list[tuple[Found, Qrels]] = []
    models: list[tuple[Found, Qrels]] = []
    for file in folder.of("qrels", "labels"):
        evidence = _made_by_model(file)
        try:
            qrels = read_qrels(folder.place(file)) if file.is_a("qrels") else None
        except InputError as error:
            folder.refuse(file.path, error)
            continue
        if evidence and (qrels is None or not _named(file, _JUDGE)):
            made.by_models[file.path] = evidence
            folder.leave(file.path, f"{evidence}, and model judgments are never used as qrels; {_MODEL_ADVICE}")
        elif qrels is not None:
            (models if evidence else known).append((file, qrels))
    if not known:
        made.by_models |= {file.path: "its folder or name indicates a judge" for file, _ in models}
        return None
    others = [first_cells(folder.place(file)) for file in folder.of("run", "texts")]
    known.sort(key=lambda one: _order(one[0], one[1], others))
    first = join_collections(folder, known)
    qrels = read_qrels(folder.place(first))
    _use_qrels(made, first.path, qrels)
    judges, new = [], []
    pairs = grades_by_pair(qrels)
    for file, own in (*known, *models):
        shared = len(grades_by_pair(own).keys() & pairs)
        if file.path in folder.taken:
            continue
        if set(own.turns).isdisjoint(qrels.turns):
            folder.leave(file.path, f"it judges other turns, such as {own.turns[0]!r}")
        elif _named(file, _JUDGE) and shared > len(own) / 2:
            if own.grades.max() > qrels.grades.max():
                folder.leave(file.path, f"a judge with grade {own.grades.max()}, above the scale of {first.path}")
            else:
                judges.append(file.path)
        elif _named(file, _NEW) and shared <= len(own) / 2 and (file, own) in known:
            new.append(file.path)
        else:
            folder.leave(file.path, f"other judgments of the turns in {first.path}; add it to new_judgments or [judges]")
    if new:
        made.put(("new_judgments",), new if len(new) > 1 else new[0])
        made.take(("new_judgments",), new, "by its name and its further passages")
    for name, path in zip(short_names(judges), judges, strict=True):
        made.use(("judges", name), path, "by its folder or name")
    return qrels


def _use_qrels(made: Proposal, path: str, qrels: Qrels) -> None:
    """Put the qrels, their description, and the relevance level of the collection."""
    low, high = int(qrels.grades.min()), int(qrels.grades.max())
    of = f"{counted(len(qrels.parts), 'collection')}, " if qrels.parts else ""
    says = f"{of}{counted(len(qrels.turns), 'turn')}, {counted(len(qrels), 'judgment')}, grades {low} to {high}"
    level, collection = customary_level(qrels.turns, qrels.documents.take(slice(100)).texts(), high)
    if only_relevant(qrels, level):
        made.comments["qrels",] = "The qrels list relevant passages only. Other selections: pool, filtered, clicks."
        made.use(("qrels", "file"), path, "by its turns", says)
        made.put(("qrels", "selection"), "positives")
    else:
        advice = "If passages were not selected for judging by pooling runs, write [qrels] with file and selection instead."
        made.use(("qrels",), path, "by its turns", f"{says}\n{advice}")
    usual = f"as in {collection} (recognised by passage ids)" if collection else ""
    comment = f"for binary measures{f', {usual}' if usual else '; CAsT and iKAT use 2'}"
    made.put(("policy", "relevance_level"), level, comment)


def _made_by_model(file: Found) -> str:
    """Return the evidence that a model made a file of judgments; empty if there is none."""
    if file.what is not None and file.what.kind == "labels":
        return "it has the fields of a model judge's output"
    model = model_of(file.path)
    return f"its name contains a model name ({model})" if model else ""


def _order(file: Found, qrels: Qrels, others: Sequence[set[str]]) -> tuple[object, ...]:
    """Return a sort key: those of most other files, by turns, and called qrels come first; judges and new judgments last."""
    own = set(qrels.turns)
    called_qrels = any(word.startswith("qrel") for word in words_of(file.stem))
    return (
        -sum(bool(own & cells) for cells in others), _named(file, _JUDGE | _NEW), not called_qrels, -len(own), -len(qrels),
        file.path,
    )  # fmt: skip


def _named(file: Found, words: Collection[str]) -> bool:
    """Return whether the folders or the name of a file contain one of these words."""
    return not set(words).isdisjoint(words_of(file.path))


# ---------------------------------------------------------------- runs


@dataclass(frozen=True)
class Read:
    """Content of a run: its turns, the number of judged ones, the largest number of passages of a turn, and its tag.

    documents
        Whether it ranks passages ``DOC-N`` and the qrels judge documents.
    """

    turns: frozenset[str]
    judged: int
    depth: int = 0
    tag: str = ""
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
