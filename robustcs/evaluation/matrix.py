"""The grade matrix: a run joined with qrels, small enough for thousands of evaluations."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from robustcs.evaluation.ranking import Ranking, notes_on_rows, rank_run
from robustcs.inputs.ids import Ids, pair_keys
from robustcs.inputs.qrels import JudgedPairs, Qrels
from robustcs.inputs.runs import ScatteredError, read_run, run_pieces
from robustcs.lazy import npt
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Mask

#: Value for a rank without a passage, and for padding after the last judged passage.
ABSENT = -32768
#: Value for a passage that is unjudged for the turn.
UNJUDGED = -32767
#: Rows of a run that are joined together.
_ROWS = 16_384
#: Largest number of judged pairs with one index for all turns.
_INDEXED = 65_536

Grades = np.ndarray[Any, np.dtype[np.int16]]
#: Number of rows of a file, or of each of several.
Rows = int | tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GradeMatrix:
    """Grades by turn and rank, for all turns with at least one judged passage.

    turns
        The T judged turns in natural order.
    grades
        int16[T, D]: the grade of the passage at each rank, :data:`UNJUDGED` or :data:`ABSENT`.
    judged
        int16[T, J]: all grades of the turn's judged passages, descending, padded with :data:`ABSENT`: the ideal ranking.
    retrieved
        int64[T]: number of passages that the run has for the turn.
    missing
        bool[T]: whether the run misses the turn.
    extra_turns
        Number of turns of the run without judgments; they are excluded.
    first
        The first turn and passage of the run, for messages about ids.
    """

    name: str
    turns: tuple[str, ...]
    grades: Grades
    judged: Grades
    retrieved: Codes
    missing: Mask
    extra_turns: int
    notes: tuple[str, ...]
    first: tuple[str, str] = ("", "")

    def blocks(self, size: int) -> Iterator[GradeMatrix]:
        """Yield the matrix in parts of at most ``size`` turns, to limit memory."""
        for start in range(0, len(self.turns), size):
            yield self.take(slice(start, start + size))

    def take(self, rows: slice | Mask) -> GradeMatrix:
        """Return the matrix of some turns."""
        turns = self.turns[rows] if isinstance(rows, slice) else tuple(compress(self.turns, rows))
        return GradeMatrix(
            self.name, turns, self.grades[rows], self.judged[rows], self.retrieved[rows], self.missing[rows],
            self.extra_turns, self.notes, self.first,
        )  # fmt: skip


def grade_matrix(ranking: Ranking, qrels: Qrels) -> GradeMatrix:
    """Join a ranking with qrels. Turns without judgments are excluded and counted; all judged turns are included."""
    builder = MatrixBuilder(qrels)
    builder.add(ranking)
    return builder.build(ranking.name, ranking.notes)


def graded_run(
    path: str | os.PathLike[str], name: str, policy: EvaluationPolicy, qrels: Qrels
) -> tuple[GradeMatrix, Rows]:
    """Return the grade matrix of a run file and its number of rows (of several files, the number for each).

    The result equals that of reading and ranking the whole file. If the rows of each turn are together in the file, it is read
    turn by turn, so its text is never in memory. Raises :class:`InputError` as :func:`robustcs.inputs.runs.read_run` does.
    """
    ranks = policy.order == "rank"
    builder, rows = MatrixBuilder(qrels), 0
    counts = np.zeros(3, dtype=np.int64)
    notes: tuple[str, ...] = ()
    try:
        for run in run_pieces(path, name, ranks):
            run.ids.keep_hashes()
            ranking = rank_run(run, policy)
            builder.add(ranking)
            counts += ranking.repeated, ranking.constant, len(run.turns)
            rows, notes = rows + len(run), run.notes
    except ScatteredError:
        run = read_run(path, name, ranks)
        return grade_matrix(rank_run(run, policy), qrels), run.parts or len(run)
    repeated, constant, turns = counts.tolist()
    notes += notes_on_rows(name, repeated, constant, turns, policy)
    return builder.build(name, notes), run.parts or rows


class MatrixBuilder:
    """Joins the turns of a run with judgments in several steps."""

    def __init__(self, qrels: Qrels):
        self._known = qrels.by_turn
        self._judged = _judged_grades(qrels)
        self._index = _whole_index(qrels)
        self._row_of = {turn: row for row, turn in enumerate(self._known.turns)}
        self._parts: list[tuple[list[int], Codes, Grades]] = []
        self._extra = 0
        self._first: tuple[str, str] = ("", "")

    def add(self, ranking: Ranking) -> None:
        """Add turns."""
        if not self._first[0]:
            self._first = first_ids(ranking)
        every = np.array([self._row_of.get(turn, -1) for turn in ranking.turns], dtype=np.int64)
        sizes = np.diff(ranking.starts)
        # a few turns at a time, so that their ids fit the processor's cache
        bounds = np.searchsorted(
            ranking.starts, range(_ROWS, int(ranking.starts[-1]), _ROWS)
        ).tolist()
        for start, end in pairwise([*dict.fromkeys([0, *bounds]), len(every)]):
            turns, lengths = every[start:end], sizes[start:end]
            codes = ranking.document_codes[ranking.starts[start] : ranking.starts[end]]
            judged = turns >= 0
            if not judged.all():
                self._extra += int((~judged).sum())
                codes, turns, lengths = (
                    codes[np.repeat(judged, lengths)],
                    turns[judged],
                    lengths[judged],
                )
            if len(turns):
                index = self._index or _index_of(self._known, turns)
                grades = np.full((len(turns), int(lengths.max())), ABSENT, dtype=np.int16)
                found = _grades_of(
                    np.repeat(turns, lengths),
                    ranking.ids.take(codes.astype(np.int64)),
                    self._known,
                    index,
                )
                grades[np.arange(grades.shape[1]) < lengths[:, None]] = found
                self._parts.append((turns.tolist(), lengths, grades))

    def build(self, name: str, notes: tuple[str, ...]) -> GradeMatrix:
        """Return the matrix of all turns, and free the added turns."""
        turns = self._known.turns
        retrieved = np.zeros(len(turns), dtype=np.int64)
        grades = np.full(
            (len(turns), max((part.shape[1] for _, _, part in self._parts), default=0)),
            ABSENT,
            dtype=np.int16,
        )
        while self._parts:
            rows, lengths, part = self._parts.pop()
            retrieved[rows] = lengths
            grades[rows, : part.shape[1]] = part
        return GradeMatrix(
            name=name,
            turns=turns,
            grades=grades,
            judged=self._judged,
            retrieved=retrieved,
            missing=retrieved == 0,
            extra_turns=self._extra,
            notes=notes,
            first=self._first,
        )


class _Index(NamedTuple):
    """Judged pairs by key: ``pairs`` and their ``keys``, ascending by key; a largest key after the last one ends a search.

    first
        First bits of a key → the place of the first key with these bits; -1 without one. Faster than a binary search.
    """

    pairs: Codes
    keys: npt.NDArray[np.uint64]
    shift: np.uint64
    first: npt.NDArray[np.int32]


def _index_of(known: JudgedPairs, turns: Codes) -> _Index:
    """Return the index of the pairs of ``turns``."""
    counts = known.starts[turns + 1] - known.starts[turns]
    pairs = np.repeat(known.starts[turns] - (np.cumsum(counts) - counts), counts) + np.arange(
        counts.sum()
    )
    pairs = pairs[np.argsort(known.keys[pairs])]
    keys, shift = known.keys[pairs], np.uint64(64 - max(10, (16 * len(pairs)).bit_length()))
    first = np.full(1 << (64 - int(shift)), -1, dtype=np.int32)
    first[(keys >> shift)[::-1]] = np.arange(len(keys))[::-1]
    return _Index(np.append(pairs, 0), np.append(keys, np.uint64(2**64 - 1)), shift, first)


@lru_cache(maxsize=2)
def _whole_index(qrels: Qrels) -> _Index | None:
    """Return the index of all pairs; None if it would not fit the processor's cache."""
    return _index_of(qrels.by_turn, np.arange(len(qrels.turns))) if len(qrels) <= _INDEXED else None


def _grades_of(rows: Codes, ids: Ids, known: JudgedPairs, index: _Index) -> Grades:
    """Return int16[n]: the grade of every id in the turn of its row, or :data:`UNJUDGED`."""
    grades = np.full(len(rows), UNJUDGED, dtype=np.int16)
    keys = pair_keys(rows, ids)
    place = index.first.take((keys >> index.shift).view(np.int64))
    maybe = (place >= 0).nonzero()[0]
    place, wanted = place[maybe], keys[maybe]
    while (below := index.keys.take(place) < wanted).any():
        place += below
    alike = index.keys.take(place) == wanted
    maybe, pair = maybe[alike], index.pairs[place[alike]]
    same = ids.take(maybe).equal(known.ids.take(pair)) & (rows[maybe] == known.rows[pair])
    grades[maybe[same]] = known.grades[pair[same]]
    for row in maybe[~same].tolist():
        # two pairs with the same key
        start, end = known.starts[rows[row]], known.starts[rows[row] + 1]
        own = known.ids.take(slice(start, end)).texts()
        if ids[row] in own:
            grades[row] = known.grades[start + own.index(ids[row])]
    return grades


def first_ids(ranking: Ranking) -> tuple[str, str]:
    """Return the first turn and passage of the run."""
    return (ranking.turns[0], ranking.ids[0]) if len(ranking.ids) else ("", "")


@lru_cache(maxsize=2)  # many runs are joined with the same judgments in succession
def _judged_grades(qrels: Qrels) -> Grades:
    known = qrels.by_turn
    order = np.lexsort((-known.grades.astype(np.int32), known.rows))
    counts = np.diff(known.starts)
    places = np.arange(len(order)) - np.repeat(known.starts[:-1], counts)
    judged = np.full((len(counts), int(counts.max(initial=0))), ABSENT, dtype=np.int16)
    judged[known.rows, places] = known.grades[order]
    judged.flags.writeable = False
    return judged


def no_judged_passage(matrix: GradeMatrix) -> bool:
    """Return whether no retrieved passage is judged: the ids of run and qrels then probably do not match."""
    return not bool((matrix.grades > UNJUDGED).any())
