"""The grade matrix: a run joined with qrels once, small enough for thousands of evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key

#: Nothing was retrieved at this rank, or the turn has no more judged passages.
ABSENT = -32768
#: A passage stands here that nobody judged for this turn.
UNJUDGED = -32767


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
    """

    name: str
    turns: tuple[str, ...]
    grades: npt.NDArray[np.int16]
    judged: npt.NDArray[np.int16]
    retrieved: npt.NDArray[np.int64]
    missing: npt.NDArray[np.bool_]
    extra_turns: int
    notes: tuple[str, ...]

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

    row_of = {turn: row for row, turn in enumerate(turns)}
    row_of_turn = np.array([row_of.get(turn, -1) for turn in ranking.turns], dtype=np.int64)
    lengths = np.diff(ranking.starts)
    evaluated = np.flatnonzero(row_of_turn >= 0)
    retrieved = np.zeros(len(turns), dtype=np.int64)
    retrieved[row_of_turn[evaluated]] = lengths[evaluated]

    depth = int(retrieved.max(initial=0))
    grades = np.full((len(turns), depth), ABSENT, dtype=np.int16)
    document_of = pc.index_in(ranking.documents, value_set=qrels.documents).fill_null(-1).to_numpy()
    width = len(qrels.documents)
    keys = qrels_rows * width + qrels.document_codes
    key_order = np.argsort(keys, kind="stable")
    keys, key_grades = keys[key_order], qrels.grades[key_order]
    # a slice of turns at a time: the temporaries stay small beside the run itself
    for some in np.array_split(evaluated, max(1, len(ranking.document_codes) // 100_000)):
        for_turn = [np.arange(ranking.starts[turn], ranking.starts[turn + 1]) for turn in some]
        if not for_turn:
            continue
        rows_in_run = np.concatenate(for_turn)
        target = np.repeat(row_of_turn[some], lengths[some])
        position = rows_in_run - np.repeat(ranking.starts[some], lengths[some])
        document = document_of[ranking.document_codes[rows_in_run]]
        wanted = target * width + document
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        hit = (keys[place] == wanted) & (document >= 0)
        grades[target, position] = np.where(hit, key_grades[place], UNJUDGED)

    return GradeMatrix(
        name=ranking.name,
        turns=turns,
        grades=grades,
        judged=_judged_grades(qrels_rows, qrels.grades, len(turns)),
        retrieved=retrieved,
        missing=retrieved == 0,
        extra_turns=int((row_of_turn < 0).sum()),
        notes=ranking.notes,
    )


def _judged_grades(
    rows: npt.NDArray[np.int64], grades: npt.NDArray[np.int16], turns: int
) -> npt.NDArray[np.int16]:
    order = np.lexsort((-grades.astype(np.int32), rows))
    rows, grades = rows[order], grades[order]
    counts = np.bincount(rows, minlength=turns)
    position = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    judged = np.full((turns, int(counts.max(initial=0))), ABSENT, dtype=np.int16)
    judged[rows, position] = grades
    return judged
