"""Two runs side by side: which of the passages that nobody judged both of them retrieve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix

#: Rank of a passage that the run does not retrieve.
NOT_RETRIEVED = np.iinfo(np.int32).max

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RunPair:
    """Two runs on the same turns and judgments, with the n passages that nobody judged and either retrieves.

    rows
        int64[n], ascending: the row of the passage's turn.
    first_ranks, second_ranks
        int32[n]: its rank in each run, from 0; :data:`NOT_RETRIEVED` in a run that lacks it.
    elsewhere
        int64[T]: how many further unjudged passages of every turn the other runs under analysis retrieve.
    """

    first: GradeMatrix
    second: GradeMatrix
    rows: Numbers
    first_ranks: npt.NDArray[np.int32]
    second_ranks: npt.NDArray[np.int32]
    elsewhere: Numbers

    def blocks(self, size: int) -> Iterator[RunPair]:
        """The pair in pieces of at most ``size`` turns, so that working memory stays bounded."""
        pieces = zip(self.first.blocks(size), self.second.blocks(size), strict=True)
        for number, (first, second) in enumerate(pieces):
            part = slice(*np.searchsorted(self.rows, (number * size, (number + 1) * size)))
            rows = self.rows[part] - number * size
            elsewhere = self.elsewhere[number * size :][:size]
            yield RunPair(first, second, rows, self.first_ranks[part], self.second_ranks[part], elsewhere)


def run_pair(
    first: GradeMatrix,
    second: GradeMatrix,
    first_passages: Numbers,
    second_passages: Numbers,
    pool: Numbers | None = None,
) -> RunPair:
    """Find the unjudged passages that two runs share.

    ``first_passages`` and ``second_passages`` number the unjudged passages of each matrix, in the order of ``np.nonzero(grades
    == UNJUDGED)``: equal numbers, from 0 on, are the same passage of the same turn, and a later turn has higher ones.
    ``pool`` (int64[T]) counts the unjudged passages that any run under analysis retrieves; without it these two are all.
    """
    size = max(int(numbers.max(initial=-1)) for numbers in (first_passages, second_passages)) + 1
    rows = np.full(size, -1)
    ranks = np.full((2, size), NOT_RETRIEVED, dtype=np.int32)
    for run, (matrix, numbers) in enumerate(((first, first_passages), (second, second_passages))):
        rows[numbers], ranks[run, numbers] = np.nonzero(matrix.grades == UNJUDGED)
    found = rows >= 0
    own = np.bincount(rows[found], minlength=len(first.turns))
    elsewhere = np.zeros_like(own) if pool is None else pool - own
    return RunPair(first, second, rows[found], ranks[0, found], ranks[1, found], elsewhere)
