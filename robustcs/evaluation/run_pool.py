"""A pool of runs over one list of (turn, document) pairs, which can be scored together with many sets of grades.

A set of grades has one number per pair, so a passage has the same grade in every run that retrieves it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix, first_ids
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import score_columns
from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Floats, Mask, places_within

#: Best rank of a judged passage that no run retrieves.
NEVER = 2**31 - 1
#: Cells of grade matrices, and grades of pairs, that are processed together.
_CELLS = 250_000
_GRADES = 4_000_000
#: Documents that are numbered together; each numbering reads all documents numbered before.
_WAITING = 1 << 20

Grades = npt.NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class RunPool:
    """R runs over the same T turns and the same N pairs.

    turns
        The evaluated turns, in natural order.
    pair_turns
        int64[N]: the row of each pair's turn. Pairs are in order of first appearance: qrels, then run after run.
    documents
        The ids of their documents; ``pair_documents`` (int64[N]) has indices into them.
    places
        By run, int32[T, D]: the pair at each rank, or N if nothing was retrieved.
    first
        By run, its first turn and passage, for messages about ids.
    notes
        Notes on skipped rows of runs. ``extra_turns``: number of turns of runs that are not evaluated.
    """

    names: tuple[str, ...]
    turns: tuple[str, ...]
    pair_turns: Codes
    pair_documents: Codes
    documents: Ids
    places: tuple[npt.NDArray[np.int32], ...]
    extra_turns: int
    first: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.pair_turns)

    @property
    def missing(self) -> Mask:
        """bool[R, T]: whether the run has no passage for the turn."""
        rows = [(places == len(self)).all(axis=1) for places in self.places]
        return np.array(rows, dtype=bool).reshape(len(rows), len(self.turns))

    def judged(self, grades: Grades) -> Mask:
        """Return bool[T]: whether the turn has a judgment among ``grades`` (int16[N + 1])."""
        return np.isin(np.arange(len(self.turns)), self.pair_turns[grades[:-1] > UNJUDGED])

    def grades(self, qrels: Qrels) -> Grades:
        """Return int16[N + 1]: the grade of every pair or :data:`UNJUDGED`; the last entry is for ranks without a passage."""
        rows, codes = _pairs_of(qrels, self.turns, self.documents)
        keys = self.pair_turns * len(self.documents) + self.pair_documents
        order = np.argsort(keys)
        wanted = rows * len(self.documents) + codes
        inside = (rows >= 0) & (codes >= 0)
        found = order[
            np.minimum(np.searchsorted(keys, wanted[inside], sorter=order), len(keys) - 1)
        ]
        hit = keys[found] == wanted[inside]
        grades = np.full(len(self) + 1, UNJUDGED, dtype=np.int16)
        grades[found[hit]] = qrels.grades[inside][hit]
        grades[-1] = ABSENT
        return grades

    def best_ranks(self) -> Codes:
        """Return int64[R, N]: the rank (from 1) of every pair in every run, or :data:`NEVER`."""
        ranks = np.full((len(self.places), len(self) + 1), NEVER, dtype=np.int64)
        for row, places in zip(ranks, self.places, strict=True):
            row[places] = np.arange(1, places.shape[1] + 1)
        return ranks[:, :-1]

    def batch(self, measures: Sequence[Measure]) -> int:
        """Return the number of sets of grades to score together, for speed with limited memory."""
        if any(measure.family == "trec_eval" for measure in measures):
            return 1
        cells = len(self.turns) * max(
            self._matrix(places, measures).shape[1] for places in self.places
        )
        return int(max(1, min(_CELLS // max(cells, 1), _GRADES // len(self))))

    def scored(
        self, grades: Grades, measures: Sequence[Measure], changed: Codes, turns: Mask | None = None
    ) -> tuple[RunPool, Grades]:
        """Return a part of the pool with the same scores if only the grades of the pairs ``changed`` vary, and its ``grades``.

        ``changed`` are the first pairs of the part. It lacks passages below all cutoffs whose grades have no effect, and all
        turns but ``turns`` (bool[T]), which include those of ``changed``.
        """
        turns = np.ones(len(self.turns), dtype=bool) if turns is None else turns
        tops, most = (
            [self._matrix(places, measures)[turns] for places in self.places],
            _most(measures),
        )
        kept = grades >= _lowest(grades, measures)
        kept[:-1] &= turns[self.pair_turns]
        kept[changed] = False
        highest = self._highest(np.flatnonzero(kept[:-1]), grades, most)
        kept[:] = False
        kept[np.concatenate([highest, [len(self)], *map(np.ravel, tops)])] = True
        kept[changed] = False
        pairs = np.concatenate([changed, np.flatnonzero(kept)])
        number = np.empty(len(grades), dtype=np.int32)
        number[pairs] = np.arange(len(pairs))
        part = replace(
            self,
            turns=tuple(itertools.compress(self.turns, turns)),
            pair_turns=(np.cumsum(turns) - 1)[self.pair_turns[pairs[:-1]]],
            pair_documents=self.pair_documents[pairs[:-1]],
            places=tuple(number[top] for top in tops),
        )
        return part, grades[pairs]

    def score(
        self, grades: Grades, measures: Sequence[Measure], policy: EvaluationPolicy
    ) -> Floats:
        """Return float64[B, R, M, T]: scores of every run with ``grades`` (int16[B, N + 1], at most :meth:`batch` sets)."""
        sets = len(grades)
        judged = self._ideal(grades, _lowest(grades, measures), _most(measures))
        scores = np.empty((sets, len(self.places), len(measures), len(self.turns)))
        for run, (name, places) in enumerate(zip(self.names, self.places, strict=True)):
            used = self._matrix(places, measures)
            rows = np.take(grades, used, axis=1).reshape(sets * len(self.turns), used.shape[1])
            retrieved = np.tile((places < len(self)).sum(axis=1), sets)
            matrix = GradeMatrix(
                name,
                self.turns * sets,
                rows,
                judged,
                retrieved,
                retrieved == 0,
                self.extra_turns,
                self.notes,
            )
            columns = score_columns(matrix, measures, policy)
            for number, measure in enumerate(measures):
                scores[:, run, number] = columns[measure.name].reshape(sets, len(self.turns))
        return scores

    def matrix(self, run: int, grades: Grades) -> GradeMatrix:
        """Return the grade matrix of one run with ``grades`` (int16[N + 1]); its ideal ranking has the grades from 1 up."""
        places = self.places[run]
        retrieved = (places < len(self)).sum(axis=1)
        ideal = self._ideal(grades[None], 1)
        return GradeMatrix(
            self.names[run], self.turns, grades[places], ideal, retrieved, retrieved == 0, self.extra_turns, self.notes
        )  # fmt: skip

    def _matrix(
        self, places: npt.NDArray[np.int32], measures: Sequence[Measure]
    ) -> npt.NDArray[np.int32]:
        """Return ``places`` down to the largest cutoff of the measures."""
        cutoffs = [measure.cutoff for measure in measures]
        return places if None in cutoffs else places[:, : max(filter(None, cutoffs))]

    def _ideal(self, grades: Grades, lowest: int, most: int | None = None) -> Grades:
        """Return int16[B · T, J]: grades from ``lowest`` up of every turn and set, descending, as in a grade matrix.

        ``most``: the number of grades that are needed.
        """
        turns, size = len(self.turns), len(grades) * len(self.turns)
        if most == 0:
            return np.empty((size, 0), dtype=np.int16)
        # sets differ in few pairs: the others are counted once
        differ = (grades[:, :-1] != grades[0, :-1]).any(axis=0)
        same = self._highest(np.flatnonzero(~differ & (grades[0, :-1] >= lowest)), grades[0], most)
        values, shared = (
            np.take(grades, self._by_turn(np.flatnonzero(differ)), axis=1),
            grades[0, same],
        )
        levels, counts = (
            [],
            [np.zeros((len(grades), turns), dtype=np.int64)],
        )  # the numbers of grades from each level up
        for level in range(
            max(values.max(initial=lowest), shared.max(initial=lowest)), lowest - 1, -1
        ):
            own = values == level
            if own.any() or (shared == level).any():
                levels.append(level)
                found = np.bincount(self.pair_turns[same[shared == level]], minlength=turns)
                counts.append(counts[-1] + found + own.sum(axis=1, dtype=np.int32))
        width = int(counts[-1].max(initial=0))
        index = np.zeros((width if most is None else min(width, most), size), np.int16)
        for above in counts[1:]:
            index += above.ravel() <= np.arange(len(index))[:, None]
        return np.array([*levels, ABSENT], dtype=np.int16)[index].T

    def _by_turn(self, pairs: Codes) -> Codes:
        """Return int64[m, T]: the ``pairs`` of every turn, then N, which has no grade."""
        pairs = pairs[np.argsort(self.pair_turns[pairs], kind="stable")]
        number = np.bincount(self.pair_turns[pairs], minlength=len(self.turns))
        found = np.full((number.max(initial=0), len(number)), len(self))
        found[places_within(number), self.pair_turns[pairs]] = pairs
        return found

    def _highest(self, pairs: Codes, grades: Grades, most: int | None) -> Codes:
        """Return the ``most`` pairs of every turn with the highest ``grades``, by turn and descending grade; all for None."""
        if most is None:
            return pairs
        pairs = pairs[np.lexsort((-grades[pairs], self.pair_turns[pairs]))]
        return pairs[
            places_within(np.bincount(self.pair_turns[pairs], minlength=len(self.turns))) < most
        ]


def _lowest(grades: Grades, measures: Sequence[Measure]) -> int:
    """Return the lowest grade in the ideal rankings: 1 unless a measure also counts other judged passages."""
    whole = any(measure.family in ("bpref", "trec_eval") for measure in measures)
    return int(grades[grades > UNJUDGED].min(initial=0)) if whole else 1


def _most(measures: Sequence[Measure]) -> int | None:
    """Return the number of grades of a turn that the ideal rankings need; None for all."""
    reading = [
        one for one in measures if one.family in ("ndcg", "recall", "map", "bpref", "trec_eval")
    ]
    cutoffs = [one.cutoff if one.family == "ndcg" else None for one in reading]
    return None if None in cutoffs else max(filter(None, cutoffs), default=0)


class PoolBuilder:
    """Collects runs one at a time, in order, and keeps numbers instead of their texts."""

    def __init__(self, turns: Sequence[str], qrels: Qrels):
        self.turns = tuple(sorted(turns, key=turn_sort_key))
        self._qrels = qrels
        self._documents = qrels.documents
        self._runs: list[CollectedRun] = []
        self._waiting: list[CollectedRun] = []

    def add(self, run: CollectedRun) -> None:
        """Add a run over :attr:`turns`."""
        self._waiting.append(run)
        if sum(len(waiting.documents) for waiting in self._waiting) > _WAITING:
            self._number()

    def _number(self) -> None:
        """Number the documents of the waiting runs, after those numbered before."""
        start = len(self._documents)
        self._documents, codes = Ids.joined(
            [self._documents, *(run.documents for run in self._waiting)]
        ).encoded()
        for run in self._waiting:
            own = codes[start : start + len(run.documents)]
            start += len(run.documents)
            self._runs.append(replace(run, documents=Ids.of([]), codes=own[run.codes]))
        self._waiting = []

    def build(self) -> RunPool:
        """Return the pool of all runs and of the judgments."""
        self._number()
        runs = self._runs
        rows, codes = _pairs_of(self._qrels, self.turns, self._documents)
        width = len(self._documents)
        keys = [(rows * width + codes)[rows >= 0], *(run.rows * width + run.codes for run in runs)]
        pairs, first, inverse = np.unique(
            np.concatenate(keys), return_index=True, return_inverse=True
        )
        order = np.argsort(first)  # numbered by first appearance
        number = np.empty(len(pairs), dtype=np.int64)
        number[order] = np.arange(len(pairs))
        pair_turns, pair_documents = np.divmod(pairs[order], width)
        places = []
        start = len(keys[0])
        for run in runs:
            matrix = np.full(
                (len(self.turns), int(run.ranks.max(initial=-1)) + 1), len(pairs), dtype=np.int32
            )
            matrix[run.rows, run.ranks] = number[inverse[start : start + len(run.rows)]]
            start += len(run.rows)
            places.append(matrix)
        return RunPool(
            names=tuple(run.name for run in runs),
            turns=self.turns,
            pair_turns=pair_turns,
            pair_documents=pair_documents,
            documents=self._documents,
            places=tuple(places),
            extra_turns=max((run.extra_turns for run in runs), default=0),
            first=tuple(run.first for run in runs),
            notes=tuple(note for run in runs for note in run.notes),
        )


@dataclass(frozen=True, eq=False)
class CollectedRun:
    """Rows of a run for the evaluated turns: turn row, rank from 0 and document code.

    documents
        Distinct ids, indexed by ``codes``; empty after they are numbered together with those of all runs.
    """

    name: str
    rows: Codes
    ranks: Codes
    codes: Codes
    documents: Ids
    extra_turns: int
    first: tuple[str, str]
    notes: tuple[str, ...]


def collect_run(turns: Sequence[str], ranking: Ranking) -> CollectedRun:
    """Return the rows of a ranking for a pool over ``turns``."""
    row_of = {turn: row for row, turn in enumerate(turns)}
    row_of_turn = np.array([row_of.get(turn, -1) for turn in ranking.turns], dtype=np.int64)
    lengths = np.diff(ranking.starts)
    rows = np.repeat(row_of_turn, lengths)
    ranks = places_within(lengths)
    inside = rows >= 0
    documents, codes = ranking.ids.take(ranking.document_codes[inside]).encoded()
    return CollectedRun(
        ranking.name, rows[inside], ranks[inside], codes, documents,
        int((row_of_turn < 0).sum()), first_ids(ranking), ranking.notes,
    )  # fmt: skip


def _pairs_of(qrels: Qrels, turns: Sequence[str], documents: Ids) -> tuple[Codes, Codes]:
    """Return turn row and document code of every judgment; -1 if the turn or document is not among those given."""
    row_of = {turn: row for row, turn in enumerate(turns)}
    rows = np.array([row_of.get(turn, -1) for turn in qrels.turns], dtype=np.int64)
    codes = qrels.documents.codes_in(documents)
    return rows[qrels.turn_codes], codes[qrels.document_codes]
