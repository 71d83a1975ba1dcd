"""Sources of the grades that count in every run's top k: qrels, new judgments, judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from robustcs.evaluation.holes import GradesByPair, JudgedRun
from robustcs.evaluation.matrix import UNJUDGED, Grades
from robustcs.evaluation.run_pool import RunPool
from robustcs.result import count, number, share, table, text

SOURCES = table(
    "sources",
    "Sources of the grades in every run's top k. Human grades count for the file whose grade is"
    " used; a judge counts only for passages without a human grade.",
    text("system", header="System"),
    text("source", "file, or name of a judge", "Source"),
    text("kind", "qrels, new judgments or judge", "kind"),
    count("depth", "k", "k"),
    count("graded", "graded passages in the top k"),
    share("share", "graded out of the passages in the top k"),
    share("relevant", "relevant out of the graded; null if none is graded", "relevant"),
    number("mean_grade", "null if none is graded", "mean grade"),
)
#: Kinds of sources.
_QRELS, _NEW, _JUDGE = "qrels", "new judgments", "judge"


class SourceRow(NamedTuple):
    """A row of :data:`SOURCES`; shares and the mean are nan if there is nothing to divide by."""

    system: str
    source: str
    kind: str
    depth: int
    graded: int
    share: float
    relevant: float
    mean_grade: float


def sources_of_runs(
    runs: Sequence[JudgedRun],
    depth: int,
    level: int,
    qrels: str,
    new: Mapping[str, GradesByPair],
    judges: Mapping[str, GradesByPair],
) -> list[SourceRow]:
    """Return the rows of runs whose unjudged passages in the top ``depth`` are known.

    ``level``: the lowest relevant grade. ``qrels``: the name of the file with which the runs were
    joined. ``new``, ``judges``: name → grades by (turn, passage).
    """
    rows: list[SourceRow] = []
    for run in runs:
        top = run.matrix.grades[:, :depth]
        used = [_Used(qrels, _QRELS, top[top > UNJUDGED])]
        holes: list[tuple[str, str]] = list(run.holes)
        for name, grades in new.items():
            used.append(_Used(name, _NEW, _grades_of(holes, grades)))
            holes = [hole for hole in holes if hole not in grades]
        for name, grades in judges.items():  # judges do not replace each other
            used.append(_Used(name, _JUDGE, _grades_of(holes, grades)))
        rows += _rows_of_run(run.name, used, depth, int((top >= UNJUDGED).sum()), level)
    return rows


def sources_of_pool(
    pool: RunPool,
    depth: int,
    level: int,
    grades: Grades,
    sources: Sequence[tuple[str, str, Grades]],
) -> list[SourceRow]:
    """Return the rows of the runs of a pool.

    ``level``: the lowest relevant grade. ``grades``: the merged grades of all files of judgments.
    ``sources``: name, kind and grades of each source, judges last.
    """
    rows: list[SourceRow] = []
    for run, places in zip(pool.names, pool.places, strict=True):
        top = places[:, :depth]
        pairs = top[top < len(pool)]
        retrieved = len(pairs)
        used = []
        for name, kind, source_grades in sources:
            source, merged = source_grades[pairs], grades[pairs]
            # a file's grade counts if the merge kept it, a judge's where no file has one
            counts = (source > UNJUDGED) & ((merged == source) | (merged == UNJUDGED))
            used.append(_Used(name, kind, source[counts]))
            if kind != _JUDGE:  # judges do not replace each other
                pairs = pairs[~counts]
        rows += _rows_of_run(run, used, depth, retrieved, level)
    return rows


class _Used(NamedTuple):
    """A source, its kind, and those of its grades that count in a run's top k."""

    source: str
    kind: str
    grades: np.ndarray


def _grades_of(holes: Sequence[tuple[str, str]], grades: GradesByPair) -> np.ndarray:
    """Return the grades of those unjudged passages that have one, in their order."""
    return np.array([grades[hole] for hole in holes if hole in grades], dtype=np.int64)


def _rows_of_run(
    run: str, used: Sequence[_Used], depth: int, retrieved: int, level: int
) -> list[SourceRow]:
    """Return a row for every source of a run that has ``retrieved`` passages in its top k."""
    rows = []
    for source, kind, grades in used:
        relevant = mean = np.nan
        if len(grades):
            relevant, mean = float((grades >= level).mean()), float(grades.mean())
        graded = len(grades) / retrieved if retrieved else np.nan
        rows.append(SourceRow(run, source, kind, depth, len(grades), graded, relevant, mean))
    return rows
