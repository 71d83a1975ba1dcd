"""Judgments of several files and judges: merge them with a list of all conflicts, and map judges to the human scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from robustcs.errors import MAX_PROBLEMS, InputError, Problem, input_error
from robustcs.evaluation.holes import Grades, JudgedRun
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.run_pool import Grades as PoolGrades
from robustcs.evaluation.run_pool import RunPool
from robustcs.evaluation.turns import Turns
from robustcs.inputs.ids import Ids
from robustcs.inputs.labels import Labels
from robustcs.inputs.paths import StrPath
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Message, OptionName
from robustcs.result import count, number, share, table, text
from robustcs.statistics import Codes, Mask
from robustcs.wording import Note, counted

#: Grade of a pair with two different grades: the earlier file's, the later file's, or the higher one.
Rule = Literal["keep", "replace", "max"]


@dataclass(frozen=True)
class Conflict:
    """A pair that was judged again with a different grade.

    old, new
        The grade before ``new_file`` was merged (from ``old_file``), and the grade in ``new_file``.
    kept
        The grade in the merged judgments.
    """

    turn: str
    document: str
    old: int
    new: int
    kept: int
    old_file: str
    new_file: str


@dataclass(frozen=True)
class Joined:
    """The contribution of one file of new judgments.

    added
        Pairs that were unjudged before; ``added_turns`` of their turns had no judgments.
    repeated
        Pairs judged before with the same grade.
    conflicts
        Pairs judged before with a different grade.
    """

    file: str
    judgments: int
    added: int
    added_turns: int
    repeated: int
    conflicts: int


@dataclass(frozen=True)
class Merge:
    """Merged judgments, each pair once, and their sources."""

    qrels: Qrels
    conflicts: tuple[Conflict, ...]
    joined: tuple[Joined, ...]


def merge_qrels(old: Qrels, new: Sequence[Qrels], rule: Rule) -> Merge:
    """Merge the ``new`` files into the judgments ``old``, one after the other.

    ``rule`` decides the grade of a pair with two grades; a grade that a later file contradicts again is a further conflict.
    Turns that only new files judge are included.
    """
    files = [old, *new]
    turns = list(dict.fromkeys(turn for file in files for turn in file.turns))
    documents = Ids.joined([file.documents for file in files]).encoded()[0]
    keys, grades = _keys(files, turns, documents), np.concatenate([file.grades for file in files])
    sources = np.repeat(np.arange(len(files)), [len(file) for file in files])

    order = np.argsort(keys, kind="stable")  # equal pairs keep the order of their files
    keys, grades, sources = keys[order], grades[order], sources[order]
    first = np.append(True, keys[1:] != keys[:-1])
    group = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    contradicted = np.flatnonzero(np.bincount(group[grades != grades[starts[group]]]))
    standing = grades[starts].copy()
    conflicts: list[tuple[int, Conflict]] = []
    ends = np.append(starts[1:], len(keys))
    for pair in contradicted:
        turn, document = (int(part) for part in divmod(keys[starts[pair]], len(documents)))
        kept, holder = int(grades[starts[pair]]), int(sources[starts[pair]])
        for row in range(starts[pair] + 1, ends[pair]):
            old_grade, old_holder, grade, source = kept, holder, int(grades[row]), int(sources[row])
            if grade == old_grade:
                continue
            if rule == "replace" or (rule == "max" and grade > old_grade):
                kept, holder = grade, source
            found = Conflict(
                turns[turn],
                documents[document],
                old_grade,
                grade,
                kept,
                files[old_holder].name,
                files[source].name,
            )
            conflicts.append((source, found))
        standing[pair] = kept
    conflicts.sort(key=lambda item: (turn_sort_key(item[1].turn), item[1].document, item[0]))

    turn_codes, document_codes = np.divmod(keys[starts], len(documents))
    merged = Qrels(
        name="merged judgments",
        turns=tuple(turns),
        turn_codes=turn_codes.astype(np.int32),
        ids=documents.take(document_codes),
        grades=standing,
        notes=tuple(note for file in files for note in file.notes),
    )
    added = np.bincount(sources[starts], minlength=len(files))
    against = np.bincount([source for source, _ in conflicts], minlength=len(files))
    known = set(old.turns)
    joined = []
    for source, file in enumerate(new, 1):
        fresh = set(file.turns) - known
        known |= fresh
        repeated = len(file) - int(added[source]) - int(against[source])
        joined.append(
            Joined(
                file.name, len(file), int(added[source]), len(fresh), repeated, int(against[source])
            )
        )
    return Merge(merged, tuple(conflict for _, conflict in conflicts), tuple(joined))


def _keys(files: Sequence[Qrels], turns: Sequence[str], documents: Ids) -> Codes:
    """Return one number per judgment, file after file, the same for the same (turn, document) pair."""
    place = {turn: number for number, turn in enumerate(turns)}
    parts = []
    for file in files:
        turn_of = np.array([place[turn] for turn in file.turns], dtype=np.int64)
        document_of = file.documents.codes_in(documents)
        parts.append(turn_of[file.turn_codes] * len(documents) + document_of[file.document_codes])
    return np.concatenate(parts)


def qrels_text(qrels: Qrels) -> str:
    """Return the judgments in TREC format (``turn 0 document grade``), by turn in natural order, then by document id."""
    in_order = sorted(range(len(qrels.turns)), key=lambda code: turn_sort_key(qrels.turns[code]))
    rank = np.empty(len(in_order), dtype=np.int64)
    rank[in_order] = np.arange(len(in_order))
    rows = np.lexsort((qrels.ids.places(), rank[qrels.turn_codes]))
    lines = zip(
        qrels.turn_codes[rows], qrels.ids.take(rows).texts(), qrels.grades[rows], strict=True
    )
    return "".join(f"{qrels.turns[turn]} 0 {document} {grade}\n" for turn, document, grade in lines)


#: Treatment of grades outside the scale: reject the file, drop the grade, or use the nearest grade.
OffScale = Literal["refuse", "drop", "clip"]


@dataclass(frozen=True, eq=False)
class Judge:
    """A judge on the scale of the human judgments.

    off_scale
        Grade outside the scale → number of labels with it.
    """

    labels: Labels
    off_scale: Mapping[int, int]

    @property
    def qrels(self) -> Qrels:
        """The labels on the scale."""
        return self.labels.qrels


@dataclass(frozen=True, eq=False)
class JudgedPool:
    """All N pairs of human judgments, judges and runs, in the T turns that annotators or a judge judged.

    human
        int16[N + 1]: human grades; :data:`~robustcs.evaluation.matrix.UNJUDGED` if there is none.
    judges
        Name → judge. ``grades``: name → its labels in the form of ``human``.
    scale
        The lowest and the highest grade.
    turns
        The turns that count, given the turns that the runs answer.
    """

    pool: RunPool
    human: PoolGrades
    judges: Mapping[str, Judge]
    grades: Mapping[str, PoolGrades]
    scale: tuple[int, int]
    turns: Turns

    @property
    def counted(self) -> Mask:
        """bool[T]: whether the turn counts."""
        return self.turns.counted

    def notes(self, off_scale: OffScale) -> list[str]:
        """Return notes on the files of the judges: skipped labels, and grades outside the scale."""
        notes: list[str] = []
        for name, judge in self.judges.items():
            labels, off = judge.labels, sum(judge.off_scale.values())
            told = [
                (labels.unlabelled, "row", "without a grade"),
                (labels.fallback, "answer", "that its parser could not read (result_status 0)"),
                (labels.unknown, "label", "for texts that match no turn or passage"),
            ]
            notes += labels.qrels.notes
            notes += [
                Note.of(name, counted(number, what), f"{why} skipped")
                for number, what, why in told
                if number
            ]
            if off:
                done = "clipped" if off_scale == "clip" else "dropped"
                notes.append(Note.of(name, counted(off, "grade"), f"outside the scale {done}"))
        return notes


def scale_of(qrels: Qrels) -> tuple[int, int]:
    """Return the lowest and the highest human grade; the scale always includes 0."""
    return min(0, int(qrels.grades.min(initial=0))), max(0, int(qrels.grades.max(initial=0)))


def on_scale(labels: Labels, scale: tuple[int, int], rule: OffScale, path: StrPath) -> Judge:
    """Return the judge with every grade on ``scale`` (lowest, highest).

    Raises :class:`InputError` with the lines of grades outside the scale if ``rule`` is ``refuse``, or if no grade is on it.
    """
    qrels = labels.qrels
    lowest, highest = scale
    outside = (qrels.grades < lowest) | (qrels.grades > highest)
    counts = dict(sorted(Counter(qrels.grades[outside].tolist()).items()))
    if counts and rule == "refuse":
        advice = Message("use ", OptionName("off-scale"), " drop or clip, or correct the file")
        found = [
            Problem(
                path, labels.line(path, place),
                f"grade {qrels.grades[place]} is outside the scale {lowest} to {highest} of the judgments", advice, "off-scale",
            )
            for place in np.flatnonzero(outside)[:MAX_PROBLEMS].tolist()
        ]  # fmt: skip
        raise InputError(found, int(outside.sum()))
    if counts and rule == "clip":
        labels = replace(
            labels, qrels=replace(qrels, grades=np.clip(qrels.grades, lowest, highest))
        )
    elif counts:
        if outside.all():
            raise input_error(
                path,
                None,
                f"no grade is on the scale {lowest} to {highest}",
                "check the file",
                "off-scale",
            )
        labels = replace(labels, qrels=taken(qrels, ~outside), lines=None)
    return Judge(labels, counts)


def taken(qrels: Qrels, kept: np.ndarray) -> Qrels:
    """Return the judgments selected by ``kept`` (bool[n]), and the turns that still have any."""
    codes, turn_codes = np.unique(qrels.turn_codes[kept], return_inverse=True)
    return replace(
        qrels,
        turns=tuple(qrels.turns[code] for code in codes),
        turn_codes=turn_codes.astype(np.int32),
        ids=qrels.ids.take(kept),
        grades=qrels.grades[kept],
    )


SOURCES = table(
    "sources", "Sources of the grades in every run's top k. Human grades count for the file whose grade is used; a judge counts"
    " only for passages without a human grade.",
    text("system", header="System"), text("source", "file, or name of a judge", "Source"),
    text("kind", "qrels, new judgments or judge", "kind"), count("depth", "k", "k"),
    count("graded", "graded passages in the top k"),
    share("share", "graded out of the passages in the top k"),
    share("relevant", "relevant out of the graded; null if none is graded", "relevant"),
    number("mean_grade", "null if none is graded", "mean grade"),
)  # fmt: skip


def sources_of_runs(
    runs: Sequence[JudgedRun],
    depth: int,
    level: int,
    qrels: str,
    new: Mapping[str, Grades],
    judges: Mapping[str, Grades],
) -> list[tuple[Any, ...]]:
    """Return rows for runs with known unjudged passages in the top ``depth``. ``new``, ``judges``: name → grades by pair."""
    rows: list[tuple[Any, ...]] = []
    further = [(name, "new judgments", grades) for name, grades in new.items()]
    further += [(name, "judge", grades) for name, grades in judges.items()]
    for run in runs:
        top, left = run.matrix.grades[:, :depth], list(run.holes)
        retrieved = int((top >= UNJUDGED).sum())
        found = [(qrels, "qrels", top[top > UNJUDGED])]
        for name, kind, grades in further:
            found.append(
                (
                    name,
                    kind,
                    np.array([grades[hole] for hole in left if hole in grades], dtype=np.int64),
                )
            )
            if kind != "judge":  # judges do not replace each other
                left = [hole for hole in left if hole not in grades]
        rows += _source_rows(run.name, found, depth, retrieved, level)
    return rows


def sources_of_pool(
    pool: RunPool,
    depth: int,
    level: int,
    grades: PoolGrades,
    sources: Sequence[tuple[str, str, PoolGrades]],
) -> list[tuple[Any, ...]]:
    """Return rows for the runs of a pool with the merged ``grades``. ``sources``: name, kind and grades, judges last."""
    rows: list[tuple[Any, ...]] = []
    for run, places in zip(pool.names, pool.places, strict=True):
        left, found = places[:, :depth], []
        left = left[left < len(pool)]
        retrieved = len(left)
        for name, kind, own in sources:
            used = (own[left] > UNJUDGED) & (
                (grades[left] == own[left]) | (grades[left] == UNJUDGED)
            )
            found.append((name, kind, own[left[used]]))
            if kind != "judge":
                left = left[~used]
        rows += _source_rows(run, found, depth, retrieved, level)
    return rows


def _source_rows(
    run: str, found: Sequence[tuple[str, str, np.ndarray]], depth: int, retrieved: int, level: int
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a run; ``found``: name and kind of every source, and its grades in the run's top ``depth``."""
    for name, kind, own in found:
        known = (float((own >= level).mean()), float(own.mean())) if len(own) else (np.nan, np.nan)
        yield (
            run,
            name,
            kind,
            depth,
            len(own),
            len(own) / retrieved if retrieved else np.nan,
            *known,
        )
