"""The grade matrix: a run joined with qrels once, small enough for thousands of evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.arrays import as_arrow, as_numpy
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key

#: Nothing was retrieved at this rank, or the turn has no more judged passages.
ABSENT = -32768
#: A passage stands here that nobody judged for this turn.
UNJUDGED = -32767
#: Place of a document that nobody judged. pa.scalar would import pandas.
_NOT_JUDGED = as_arrow(np.array([-1], dtype=np.int32))[0]


@dataclass(frozen=True, eq=False)
class GradeMatrix:
    """Grades by turn and rank, for all turns that have at least one judged passage.

    turns
        The T judged turns in natural order.
    grades
        int16[T, D]: the grade of the passage at each rank; :data:`UNJUDGED` and :data:`ABSENT` are values of their own.
    judged
        int16[T, J]: all grades of the turn's judged passages, descending, padded with :data:`ABSENT`. The ideal ranking.
    retrieved
        int64[T]: passages the run has for the turn.
    missing
        bool[T]: the run lacks the turn.
    extra_turns
        Turns of the run that nobody judged; they are left out.
    first
        The turn and the passage that stand first in the run, for messages about ids.
    """

    name: str
    turns: tuple[str, ...]
    grades: npt.NDArray[np.int16]
    judged: npt.NDArray[np.int16]
    retrieved: npt.NDArray[np.int64]
    missing: npt.NDArray[np.bool_]
    extra_turns: int
    notes: tuple[str, ...]
    first: tuple[str, str] = ("", "")

    def blocks(self, size: int) -> Iterator[GradeMatrix]:
        """The matrix in pieces of at most ``size`` turns, so that working memory stays bounded."""
        for start in range(0, len(self.turns), size):
            yield self._take(slice(start, start + size))

    def _take(self, rows: slice) -> GradeMatrix:
        return GradeMatrix(
            self.name, self.turns[rows], self.grades[rows], self.judged[rows], self.retrieved[rows],
            self.missing[rows], self.extra_turns, self.notes,
        )  # fmt: skip


def grade_matrix(ranking: Ranking, qrels: Qrels) -> GradeMatrix:
    """Join a ranking with qrels. Turns without a judgment are left out and counted; judged turns all stay."""
    order = sorted(range(len(qrels.turns)), key=lambda code: turn_sort_key(qrels.turns[code]))
    turns = tuple(qrels.turns[code] for code in order)
    row_of_qrels_turn = np.empty(len(order), dtype=np.int64)
    row_of_qrels_turn[order] = np.arange(len(order))
    qrels_rows = row_of_qrels_turn[qrels.turn_codes]

    by_row = np.argsort(qrels_rows, kind="stable")
    judged_documents = qrels.documents.take(as_arrow(qrels.document_codes[by_row]))
    judged_grades = qrels.grades[by_row]
    judged_counts = np.bincount(qrels_rows, minlength=len(turns)).tolist()
    judged_starts = [0, *accumulate(judged_counts)]

    row_of = {turn: row for row, turn in enumerate(turns)}
    row_of_turn = [row_of.get(turn, -1) for turn in ranking.turns]
    lengths = np.diff(ranking.starts).tolist()
    retrieved = np.zeros(len(turns), dtype=np.int64)
    for row, length in zip(row_of_turn, lengths, strict=True):
        if row >= 0:
            retrieved[row] = length
    grades = np.full((len(turns), int(retrieved.max(initial=0))), ABSENT, dtype=np.int16)
    ranked = as_arrow(ranking.document_codes)
    for row, start, length in zip(row_of_turn, ranking.starts.tolist(), lengths, strict=False):
        if row >= 0:
            first, count = judged_starts[row], judged_counts[row]
            documents = ranking.documents.take(ranked.slice(start, length))
            place = pc.index_in(documents, value_set=judged_documents.slice(first, count)).fill_null(_NOT_JUDGED)
            # _NOT_JUDGED takes the last
            grades[row, :length] = np.append(judged_grades[first : first + count], np.int16(UNJUDGED))[as_numpy(place)]

    return GradeMatrix(
        name=ranking.name,
        turns=turns,
        grades=grades,
        judged=_judged_grades(qrels_rows, qrels.grades, len(turns)),
        retrieved=retrieved,
        missing=retrieved == 0,
        extra_turns=row_of_turn.count(-1),
        notes=ranking.notes,
        first=first_ids(ranking),
    )


def first_ids(ranking: Ranking) -> tuple[str, str]:
    """The turn and the passage that stand first in the run."""
    return (ranking.turns[0], ranking.documents[0].as_py()) if len(ranking.documents) else ("", "")


def _judged_grades(rows: npt.NDArray[np.int64], grades: npt.NDArray[np.int16], turns: int) -> npt.NDArray[np.int16]:
    order = np.lexsort((-grades.astype(np.int32), rows))
    rows, grades = rows[order], grades[order]
    counts = np.bincount(rows, minlength=turns)
    position = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    judged = np.full((turns, int(counts.max(initial=0))), ABSENT, dtype=np.int16)
    judged[rows, position] = grades
    return judged


def no_judged_passage(matrix: GradeMatrix) -> bool:
    """Whether not one retrieved passage is judged: then the ids of run and qrels hardly mean the same things."""
    return not bool((matrix.grades > UNJUDGED).any())
