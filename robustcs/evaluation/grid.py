"""Grids of systems that cross wordings with rankers: which change of a component answers a turn."""

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
#: What became of a turn in a cell.
CAUSES = (
    "correct",  # it is correct
    "wording",  # another wording with this ranker is, but no other ranker with this wording
    "ranker",  # another ranker with this wording is, but no other wording with this ranker
    "either",  # each of the two changes alone is enough
    "both",  # only both changes together are
    "none",  # no cell is correct
)
#: Up to this number of levels of the smaller factor, all subgrids are tried.
_ALL_SUBGRIDS = 12


def parse_cell(name: str) -> Cell:
    """Return wording and ranker of ``WORDING/RANKER``.

    Raises :class:`UsageError` for any other name.
    """
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
        """Present cell → its row (wording) and column (ranker)."""
        return {
            (wording, ranker): (self.wordings.index(wording), self.rankers.index(ranker))
            for wording, ranker in self.cells
        }

    @cached_property
    def missing(self) -> list[Cell]:
        """The missing cells, by wording."""
        every = [(wording, ranker) for wording in self.wordings for ranker in self.rankers]
        return [cell for cell in every if cell not in self.places]

    def cube(self, scores: Mapping[Cell, npt.ArrayLike]) -> Floats:
        """Return float64[T, W, R] from the scores of each present cell, float[T].

        Missing cells are nan.
        """
        turns = len(np.asarray(scores[self.cells[0]]))
        cube = np.full((turns, len(self.wordings), len(self.rankers)), np.nan)
        for cell, (row, column) in self.places.items():
            cube[:, row, column] = scores[cell]
        return cube

    def complete(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return wordings and rankers of the largest complete subgrid that has two of each.

        If there is none, both are empty. Of equally large subgrids, the first one counts. With more
        than twelve levels of both factors, not all subgrids are tried: only those whose levels of
        the smaller factor are all that some level of the larger one has.
        """
        if len(self.wordings) <= len(self.rankers):
            return _largest_complete(self.wordings, self.rankers, set(self.cells))
        by_ranker = {(ranker, wording) for wording, ranker in self.cells}
        rankers, wordings = _largest_complete(self.rankers, self.wordings, by_ranker)
        return wordings, rankers


def _largest_complete(
    few: Sequence[str], many: Sequence[str], present: set[tuple[str, str]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the levels of both factors in the largest complete subgrid, or two empty tuples.

    ``few``, ``many``: all levels of the two factors. ``present``: the cells, in this order.
    """
    best: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    for levels in _subsets_to_try(few, many, present):
        with_all = tuple(level for level in many if _has_all(level, levels, present))
        if len(with_all) > 1 and len(levels) * len(with_all) > len(best[0]) * len(best[1]):
            best = (levels, with_all)
    return best


def _has_all(level: str, others: Sequence[str], present: set[tuple[str, str]]) -> bool:
    """Return whether ``level`` has a cell with each of the ``others``."""
    return all((other, level) in present for other in others)


def _subsets_to_try(
    few: Sequence[str], many: Sequence[str], present: set[tuple[str, str]]
) -> list[tuple[str, ...]]:
    """Return sets of two or more levels of the factor ``few`` that may be in a complete subgrid."""
    if len(few) <= _ALL_SUBGRIDS:
        sizes = range(len(few), 1, -1)
        return [levels for size in sizes for levels in combinations(few, size)]
    subsets: dict[tuple[str, ...], None] = {}  # a set that keeps the order
    for level in many:
        subsets[tuple(other for other in few if (other, level) in present)] = None
    return [levels for levels in subsets if len(levels) > 1]


def causes_of(right: Mask) -> Codes:
    """Return int64[T, W, R]: the index into :data:`CAUSES` of every turn in every cell.

    ``right``: bool[T, W, R], whether the answer is correct; False in missing cells, whose own
    results mean nothing.
    """
    counts = right.astype(np.int64)
    # correct with another wording or ranker: more cells than this one in its column or row
    other_wording = counts.sum(axis=1, keepdims=True) - counts > 0
    other_ranker = counts.sum(axis=2, keepdims=True) - counts > 0
    any_cell = np.broadcast_to(counts.sum(axis=(1, 2), keepdims=True) > 0, right.shape)
    # the first condition that holds decides
    conditions = {
        "correct": right,
        "either": other_wording & other_ranker,
        "wording": other_wording,
        "ranker": other_ranker,
        "both": any_cell,
    }
    numbers = [CAUSES.index(cause) for cause in conditions]
    causes = np.select(list(conditions.values()), numbers, CAUSES.index("none"))
    return np.asarray(causes, dtype=np.int64)
