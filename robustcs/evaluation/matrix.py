"""The grade matrix: a run joined with qrels, small enough for thousands of evaluations."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from robustcs.evaluation.ranking import Ranking, blocks_of_turns, notes_on_rows, rank_run
from robustcs.inputs.ids import Ids, pair_keys
from robustcs.inputs.qrels import JudgedPairs, Qrels
from robustcs.inputs.runs import ScatteredError, read_run, run_pieces
from robustcs.lazy import npt
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Mask, places_within

#: Value for a rank without a passage, and for padding after the last judged passage.
ABSENT = -32768
#: Value for a passage that is unjudged for the turn.
UNJUDGED = -32767
#: Rows of a run that are joined together.
_ROWS = 16_384
#: Largest number of judged pairs with one index for all turns.
_INDEXED = 65_536
#: Bits of a key, and the largest key.
_KEY_BITS = 64
_LAST_KEY = np.uint64(2**_KEY_BITS - 1)
#: Slots of an index for each pair, and bits of the smallest index: with so many, keys rarely share
#: a slot.
_SLOTS_PER_PAIR = 16
_LEAST_SLOT_BITS = 10

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
        int16[T, J]: all grades of the turn's judged passages, descending, padded with
        :data:`ABSENT`: the ideal ranking.
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
        return replace(
            self,
            turns=turns,
            grades=self.grades[rows],
            judged=self.judged[rows],
            retrieved=self.retrieved[rows],
            missing=self.missing[rows],
        )


def grade_matrix(ranking: Ranking, qrels: Qrels) -> GradeMatrix:
    """Join a ranking with qrels.

    Turns without judgments are excluded and counted; all judged turns are included.
    """
    builder = MatrixBuilder(qrels)
    builder.add(ranking)
    return builder.build(ranking.name, ranking.notes)


def graded_run(
    path: str | os.PathLike[str], name: str, policy: EvaluationPolicy, qrels: Qrels
) -> tuple[GradeMatrix, Rows]:
    """Return the grade matrix of a run file and its number of rows (of several files, of each).

    The result equals that of reading and ranking the whole file. If the rows of each turn are
    together in the file, it is read turn by turn, so its text is never in memory. Raises
    :class:`InputError` as :func:`robustcs.inputs.runs.read_run` does.
    """
    ranks = policy.order == "rank"
    builder = MatrixBuilder(qrels)
    rows = turns = repeated = constant = 0
    notes: tuple[str, ...] = ()
    rows_of_files: tuple[int, ...] | None = None
    try:
        for piece in run_pieces(path, name, ranks):
            piece.ids.keep_hashes()
            ranking = rank_run(piece, policy)
            builder.add(ranking)
            rows += len(piece)
            turns += len(piece.turns)
            repeated += ranking.repeated
            constant += ranking.constant
            # those of the last piece are those of the run
            notes, rows_of_files = piece.notes, piece.parts
    except ScatteredError:
        run = read_run(path, name, ranks)
        return grade_matrix(rank_run(run, policy), qrels), run.parts or len(run)
    notes += notes_on_rows(name, repeated, constant, turns, policy)
    return builder.build(name, notes), rows_of_files or rows


class _RunGrades(NamedTuple):
    """The grades of t judged turns of a run.

    rows
        Their rows in the matrix.
    lengths
        int64[t]: their numbers of passages.
    grades
        int16[t, longest]: as in :class:`GradeMatrix`.
    """

    rows: Codes
    lengths: Codes
    grades: Grades


class MatrixBuilder:
    """Joins the turns of a run with judgments in several steps."""

    def __init__(self, qrels: Qrels):
        self._known = qrels.by_turn
        self._judged = _judged_grades(qrels)
        self._index = _whole_index(qrels)
        self._row_of = {turn: row for row, turn in enumerate(self._known.turns)}
        self._parts: list[_RunGrades] = []
        self._extra_turns = 0
        self._first: tuple[str, str] = ("", "")

    def add(self, ranking: Ranking) -> None:
        """Add turns. No turn may be added twice."""
        if not self._first[0]:
            self._first = first_ids(ranking)
        rows = np.array([self._row_of.get(turn, -1) for turn in ranking.turns], dtype=np.int64)
        lengths = np.diff(ranking.starts)
        # a few turns at a time, so that their ids fit the processor's cache
        for start, end in blocks_of_turns(ranking.starts, _ROWS):
            codes = ranking.document_codes[ranking.starts[start] : ranking.starts[end]]
            self._add_block(rows[start:end], lengths[start:end], codes, ranking.ids)

    def _add_block(
        self, rows: Codes, lengths: Codes, codes: npt.NDArray[np.int32], ids: Ids
    ) -> None:
        """Add a few turns: their rows (-1 if unjudged), their lengths, and their documents."""
        judged = rows >= 0
        if not judged.all():
            self._extra_turns += int((~judged).sum())
            codes = codes[np.repeat(judged, lengths)]
            rows, lengths = rows[judged], lengths[judged]
        if not len(rows):
            return
        index = self._index or _index_of(self._known, rows)
        documents = ids.take(codes.astype(np.int64))
        grades = np.full((len(rows), int(lengths.max())), ABSENT, dtype=np.int16)
        retrieved = np.arange(grades.shape[1]) < lengths[:, None]
        grades[retrieved] = _grades_of(np.repeat(rows, lengths), documents, self._known, index)
        self._parts.append(_RunGrades(rows, lengths, grades))

    def build(self, name: str, notes: tuple[str, ...]) -> GradeMatrix:
        """Return the matrix of all turns, and free the added turns."""
        turns = self._known.turns
        depth = max((part.grades.shape[1] for part in self._parts), default=0)
        retrieved = np.zeros(len(turns), dtype=np.int64)
        grades = np.full((len(turns), depth), ABSENT, dtype=np.int16)
        while self._parts:
            part = self._parts.pop()
            retrieved[part.rows] = part.lengths
            grades[part.rows, : part.grades.shape[1]] = part.grades
        return GradeMatrix(
            name=name,
            turns=turns,
            grades=grades,
            judged=self._judged,
            retrieved=retrieved,
            missing=retrieved == 0,
            extra_turns=self._extra_turns,
            notes=notes,
            first=self._first,
        )


class _Index(NamedTuple):
    """Judged pairs by key, to find many keys at once; faster than a binary search.

    pairs, keys
        The pairs and their keys, ascending by key. A largest key after the last one ends a search.
    shift
        The shift that leaves the first bits of a key: its slot.
    first
        Slot → the place of its first key; -1 without one.
    """

    pairs: Codes
    keys: npt.NDArray[np.uint64]
    shift: np.uint64
    first: npt.NDArray[np.int32]


def _index_of(known: JudgedPairs, turns: Codes) -> _Index:
    """Return the index of the pairs of ``turns`` (their rows)."""
    counts = known.starts[turns + 1] - known.starts[turns]
    pairs = np.repeat(known.starts[turns], counts) + places_within(counts)
    pairs = pairs[np.argsort(known.keys[pairs])]
    keys = known.keys[pairs]
    slot_bits = max(_LEAST_SLOT_BITS, (_SLOTS_PER_PAIR * len(pairs)).bit_length())
    shift = np.uint64(_KEY_BITS - slot_bits)
    first = np.full(1 << slot_bits, -1, dtype=np.int32)
    # from the last to the first, so that the first key of a slot is written last
    first[(keys >> shift)[::-1]] = np.arange(len(keys))[::-1]
    return _Index(np.append(pairs, 0), np.append(keys, _LAST_KEY), shift, first)


@lru_cache(maxsize=2)
def _whole_index(qrels: Qrels) -> _Index | None:
    """Return the index of all pairs; None if it would not fit the processor's cache."""
    if len(qrels) > _INDEXED:
        return None
    return _index_of(qrels.by_turn, np.arange(len(qrels.turns)))


def _grades_of(rows: Codes, ids: Ids, known: JudgedPairs, index: _Index) -> Grades:
    """Return int16[n]: the grade of every id in the turn of its row, or :data:`UNJUDGED`."""
    grades = np.full(len(rows), UNJUDGED, dtype=np.int16)
    keys = pair_keys(rows, ids)
    place = index.first.take((keys >> index.shift).view(np.int64))
    candidates = (place >= 0).nonzero()[0]
    place, wanted = place[candidates], keys[candidates]
    # go on from the first key of the slot to the first that is not below the one wanted
    below = index.keys.take(place) < wanted
    while below.any():
        place += below
        below = index.keys.take(place) < wanted
    has_key = index.keys.take(place) == wanted
    candidates, pairs = candidates[has_key], index.pairs[place[has_key]]
    same_id = ids.take(candidates).equal(known.ids.take(pairs))
    is_pair = same_id & (rows[candidates] == known.rows[pairs])
    grades[candidates[is_pair]] = known.grades[pairs[is_pair]]
    # different pairs can share a key by chance: then the id is looked up among those of the turn
    for candidate in candidates[~is_pair].tolist():
        grades[candidate] = _grade_by_id(rows[candidate], ids[candidate], known)
    return grades


def _grade_by_id(row: int, document: str, known: JudgedPairs) -> int:
    """Return the grade of a document in the turn of a row, or :data:`UNJUDGED`."""
    start, end = known.starts[row], known.starts[row + 1]
    judged = known.ids.take(slice(start, end)).texts()
    if document not in judged:
        return UNJUDGED
    return int(known.grades[start + judged.index(document)])


def first_ids(ranking: Ranking) -> tuple[str, str]:
    """Return the first turn and passage of the run; empty texts for one without passages."""
    if not len(ranking.ids):
        return "", ""
    return ranking.turns[0], ranking.ids[0]


@lru_cache(maxsize=2)  # many runs are joined with the same judgments in succession
def _judged_grades(qrels: Qrels) -> Grades:
    """Return :attr:`GradeMatrix.judged`, which must not be changed."""
    known = qrels.by_turn
    order = np.lexsort((-known.grades.astype(np.int32), known.rows))
    counts = np.diff(known.starts)
    judged = np.full((len(counts), int(counts.max(initial=0))), ABSENT, dtype=np.int16)
    judged[known.rows, places_within(counts)] = known.grades[order]
    judged.flags.writeable = False
    return judged


def no_judged_passage(matrix: GradeMatrix) -> bool:
    """Return whether no retrieved passage is judged.

    The ids of run and qrels then probably do not match.
    """
    return not bool((matrix.grades > UNJUDGED).any())
