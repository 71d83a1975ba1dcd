"""Grids of systems that cross wordings with rankers: which change of one component would have answered a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.statistics import Codes, Floats, Mask

#: A cell: the names of a wording and of a ranker.
Cell = tuple[str, str]
#: What became of a turn in a cell: it is correct; another wording with this ranker is, but no other ranker with this wording;
#: the reverse; each of the two changes alone is enough; only both together are; no cell is correct.
CAUSES = ("correct", "wording", "ranker", "either", "both", "none")
#: Up to this number of levels of the smaller factor, all subgrids are tried.
_ALL_SUBGRIDS = 12


def parse_cell(name: str) -> Cell:
    """Return wording and ranker of ``WORDING/RANKER``. Raises :class:`UsageError` for any other name."""
    wording, slash, ranker = name.partition("/")
    if not (slash and wording.strip() and ranker.strip()) or "/" in ranker:
        raise UsageError(
            "bad-cell",
            f"the cell {name!r} is not of the form WORDING/RANKER",
            "write a name such as t5/bm25",
        )
    return wording.strip(), ranker.strip()


@dataclass(frozen=True)
class Grid:
    """The wordings and rankers of a grid and its present cells; some cells may be missing."""

    cells: tuple[Cell, ...]

    @cached_property
    def wordings(self) -> tuple[str, ...]:
        """The W wordings, in order of their first cell."""
        return tuple(dict.fromkeys(wording for wording, _ in self.cells))

    @cached_property
    def rankers(self) -> tuple[str, ...]:
        """The R rankers, in order of their first cell."""
        return tuple(dict.fromkeys(ranker for _, ranker in self.cells))

    @cached_property
    def places(self) -> dict[Cell, tuple[int, int]]:
        """Present cell → its position."""
        return {
            (one, other): (self.wordings.index(one), self.rankers.index(other))
            for one, other in self.cells
        }

    @cached_property
    def missing(self) -> list[Cell]:
        """The missing cells."""
        return [
            (one, other)
            for one in self.wordings
            for other in self.rankers
            if (one, other) not in self.places
        ]

    def cube(self, scores: Mapping[Cell, npt.ArrayLike]) -> Floats:
        """Return float64[T, W, R] from the scores of each present cell, float[T]; nan in missing cells."""
        turns = len(np.asarray(scores[self.cells[0]]))
        found = np.full((turns, len(self.wordings), len(self.rankers)), np.nan)
        for cell, (row, column) in self.places.items():
            found[:, row, column] = scores[cell]
        return found

    def complete(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return wordings and rankers of the largest complete subgrid, if it has two of each; otherwise two empty tuples.

        Of equally large subgrids, the first one counts. With more than twelve levels of both factors, only subgrids with all
        levels of the smaller factor that some level of the other has are tried.
        """
        there = {*self.cells}
        few, many = sorted((self.wordings, self.rankers), key=len)
        swapped = few is self.wordings

        def full(some: Sequence[str]) -> tuple[str, ...]:
            return tuple(
                one
                for one in many
                if all(((other, one) if swapped else (one, other)) in there for other in some)
            )

        if len(few) <= _ALL_SUBGRIDS:
            subsets = [some for size in range(len(few), 1, -1) for some in combinations(few, size)]
        else:
            of = {
                one: tuple(
                    other for other in few if ((other, one) if swapped else (one, other)) in there
                )
                for one in many
            }
            subsets = [some for some in dict.fromkeys(of.values()) if len(some) > 1]
        found = [(some, full(some)) for some in subsets]
        best = max(
            (pair for pair in found if len(pair[1]) > 1),
            key=lambda pair: len(pair[0]) * len(pair[1]),
            default=((), ()),
        )
        return best if swapped else (best[1], best[0])


def causes_of(right: Mask) -> Codes:
    """Return int64[T, W, R]: the index into :data:`CAUSES` of every turn in every cell.

    ``right``: bool[T, W, R], whether the answer is correct; False in missing cells, whose own results mean nothing.
    """
    counts = right.astype(np.int64)
    wording, ranker = (counts.sum(axis=axis, keepdims=True) - counts > 0 for axis in (1, 2))
    some = np.broadcast_to(counts.sum(axis=(1, 2), keepdims=True) > 0, right.shape)
    found = np.select([right, wording & ranker, wording, ranker, some], [0, 3, 1, 2, 4], 5)
    return np.asarray(found, dtype=np.int64)
