"""Whose grades stand where: of what every run has in its top, how much each file of people and each judge graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.holes import Grades, JudgedRun
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.run_pool import Grades as PoolGrades
from robustcs.evaluation.run_pool import RunPool
from robustcs.result import count, number, share, table, text

#: What a source can be.
QRELS, NEW, JUDGE = "qrels", "new judgments", "judge"

SOURCES = table(
    "sources", "Whose grades every run's top k has: of people by the file whose grade stands; of each judge, what it says of"
    " passages that people did not grade.",
    text("run", header="Run"), text("source", "the file, or the name of a judge", "Source"),
    text("kind", "qrels, new judgments or judge", "kind"), count("depth", "k", "k"), count("graded", "passages of the top k"),
    share("share", "graded of what the run has in its top k"),
    share("relevant", "of the graded, at the relevance level; null where nothing is graded", "relevant"),
    number("mean_grade", "null where nothing is graded", "mean grade"),
)  # fmt: skip


def source_row(
    run: str, source: str, kind: str, depth: int, grades: npt.NDArray[Any], retrieved: int, level: int
) -> tuple[Any, ...]:
    """A row of :data:`SOURCES`: ``grades`` are those of the source in the run's top, ``retrieved`` its passages there."""
    number = len(grades)
    known = (float((grades >= level).mean()), float(grades.mean())) if number else (np.nan, np.nan)
    return run, source, kind, depth, number, number / retrieved if retrieved else np.nan, *known


def sources_of_runs(
    runs: Sequence[JudgedRun], depth: int, level: int, qrels: str, new: Mapping[str, Grades], judges: Mapping[str, Grades]
) -> list[tuple[Any, ...]]:
    """Rows of runs whose holes in the top ``depth`` are known: file or judge → its grades by (turn, passage)."""
    rows = []
    for run in runs:
        top = run.matrix.grades[:, :depth]
        retrieved = int((top >= UNJUDGED).sum())
        rows.append(source_row(run.name, qrels, QRELS, depth, top[top > UNJUDGED], retrieved, level))
        left = list(run.holes)
        for name, grades in new.items():
            found = np.array([grades[hole] for hole in left if hole in grades], dtype=np.int64)
            rows.append(source_row(run.name, name, NEW, depth, found, retrieved, level))
            left = [hole for hole in left if hole not in grades]
        for name, grades in judges.items():
            found = np.array([grades[hole] for hole in left if hole in grades], dtype=np.int64)
            rows.append(source_row(run.name, name, JUDGE, depth, found, retrieved, level))
    return rows


def sources_of_pool(
    pool: RunPool,
    depth: int,
    level: int,
    files: Sequence[str],
    holders: PoolGrades,
    grades: PoolGrades,
    judges: Mapping[str, PoolGrades],
) -> list[tuple[Any, ...]]:
    """Rows of a pool's runs: ``holders`` (int16[N + 1]) numbers the one of ``files`` whose grade stands, of ``grades``.

    The first of ``files`` are the qrels; ``judges`` are the grades of every judge.
    """
    rows = []
    for run, places in zip(pool.names, pool.places, strict=True):
        top = places[:, :depth]
        top = top[top < len(pool)]
        for place, file in enumerate(files):
            found = grades[top[holders[top] == place]]
            rows.append(source_row(run, file, NEW if place else QRELS, depth, found, len(top), level))
        for name, said in judges.items():
            found = said[top[(grades[top] == UNJUDGED) & (said[top] > UNJUDGED)]]
            rows.append(source_row(run, name, JUDGE, depth, found, len(top), level))
    return rows
