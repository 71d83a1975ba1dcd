"""A pool of runs over one list of (turn, document) pairs, to score with many sets of grades.

A set of grades has one number per pair, so a passage has the same grade in every run that retrieves
it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix, first_ids
from robustcs.evaluation.matrix import Grades as Grades
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
#: Cells of the grade matrices of one run that are processed together.
_CELLS = 250_000
#: Grades of pairs that are processed together.
_GRADES = 4_000_000
#: Documents that are numbered together; each numbering reads all documents numbered before.
_WAITING = 1 << 20
#: Families whose ideal rankings contain all judged passages, not only those with a grade above 0.
_WITH_ALL_JUDGED = ("bpref", "trec_eval")
#: Families that read the ideal rankings to the end, whatever the cutoff.
_WITH_WHOLE_IDEAL = ("recall", "map", "bpref", "trec_eval")

#: By turn and rank, the number of the retrieved pair: int32[T, D].
_Places = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class RunPool:
    """R runs over the same T turns and the same N pairs.

    turns
        The evaluated turns, in natural order.
    pair_turns
        int64[N]: the row of each pair's turn. Pairs are in order of first appearance: qrels, then
        run after run.
    documents
        The ids of their documents; ``pair_documents`` (int64[N]) has indices into them.
    places
        By run, int32[T, D]: the pair at each rank, or N if nothing was retrieved.
    first
        By run, its first turn and passage, for messages about ids.
    extra_turns
        Number of turns of runs that are not evaluated.
    notes
        Notes on skipped rows of runs.
    """

    names: tuple[str, ...]
    turns: tuple[str, ...]
    pair_turns: Codes
    pair_documents: Codes
    documents: Ids
    places: tuple[_Places, ...]
    extra_turns: int
    first: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.pair_turns)

    @property
    def missing(self) -> Mask:
        """bool[R, T]: whether the run has no passage for the turn."""
        missing = [(places == len(self)).all(axis=1) for places in self.places]
        return np.array(missing, dtype=bool).reshape(len(missing), len(self.turns))

    def judged(self, grades: Grades) -> Mask:
        """Return bool[T]: whether the turn has a judgment among ``grades`` (int16[N + 1])."""
        return np.isin(np.arange(len(self.turns)), self.pair_turns[grades[:-1] > UNJUDGED])

    def grades(self, qrels: Qrels) -> Grades:
        """Return int16[N + 1]: the grade of every pair or :data:`UNJUDGED`.

        The last entry is for ranks without a passage.
        """
        rows, codes = _pairs_of(qrels, self.turns, self.documents)
        known = (rows >= 0) & (codes >= 0)
        wanted = rows[known] * len(self.documents) + codes[known]
        keys = self.pair_turns * len(self.documents) + self.pair_documents
        order = np.argsort(keys)
        places = np.searchsorted(keys, wanted, sorter=order)
        pairs = order[np.minimum(places, len(keys) - 1)]  # any pair, if all keys are lower
        in_pool = keys[pairs] == wanted
        grades = np.full(len(self) + 1, UNJUDGED, dtype=np.int16)
        grades[pairs[in_pool]] = qrels.grades[known][in_pool]
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
        depth = max(_top_places(places, measures).shape[1] for places in self.places)
        cells = max(len(self.turns) * depth, 1)
        return int(max(1, min(_CELLS // cells, _GRADES // len(self))))

    def scored(
        self, grades: Grades, measures: Sequence[Measure], changed: Codes, turns: Mask | None = None
    ) -> tuple[RunPool, Grades]:
        """Return a part of the pool that suffices to score it, and the part's ``grades``.

        Its scores are the same if only the grades of the pairs ``changed`` vary; these are the
        first pairs of the part. It lacks passages below all cutoffs whose grades have no effect,
        and all turns but ``turns`` (bool[T]), which include those of ``changed``.
        """
        if turns is None:
            turns = np.ones(len(self.turns), dtype=bool)
        tops = [_top_places(places, measures)[turns] for places in self.places]
        needed = np.zeros(len(grades), dtype=bool)
        needed[self._pairs_of_ideal(grades, measures, turns, changed)] = True
        for top in tops:
            needed[top] = True
        needed[changed] = False
        needed[-1] = True  # of ranks without a passage
        pairs = np.concatenate([changed, np.flatnonzero(needed)])
        number_of = np.empty(len(grades), dtype=np.int32)
        number_of[pairs] = np.arange(len(pairs))
        row_of = np.cumsum(turns) - 1
        part = replace(
            self,
            turns=tuple(itertools.compress(self.turns, turns)),
            pair_turns=row_of[self.pair_turns[pairs[:-1]]],
            pair_documents=self.pair_documents[pairs[:-1]],
            places=tuple(number_of[top] for top in tops),
        )
        return part, grades[pairs]

    def _pairs_of_ideal(
        self, grades: Grades, measures: Sequence[Measure], turns: Mask, changed: Codes
    ) -> Codes:
        """Return the pairs in the ideal rankings of ``turns`` (bool[T]), without ``changed``."""
        judged = grades >= _lowest_ideal_grade(grades, measures)
        judged[:-1] &= turns[self.pair_turns]
        judged[changed] = False
        return self._best_pairs(np.flatnonzero(judged[:-1]), grades, _ideal_depth(measures))

    def score(
        self, grades: Grades, measures: Sequence[Measure], policy: EvaluationPolicy
    ) -> Floats:
        """Return float64[B, R, M, T]: the scores of every run with B sets of grades.

        ``grades``: int16[B, N + 1], at most :meth:`batch` sets.
        """
        sets = len(grades)
        depth = _ideal_depth(measures)
        judged = self._ideal(grades, _lowest_ideal_grade(grades, measures), depth)
        scores = np.empty((sets, len(self.places), len(measures), len(self.turns)))
        for run, (name, places) in enumerate(zip(self.names, self.places, strict=True)):
            # one matrix with the turns of all sets, set after set
            top = _top_places(places, measures)
            rows = np.take(grades, top, axis=1).reshape(sets * len(self.turns), top.shape[1])
            retrieved = np.tile((places < len(self)).sum(axis=1), sets)
            matrix = self._grade_matrix(name, self.turns * sets, rows, judged, retrieved)
            columns = score_columns(matrix, measures, policy)
            for number, measure in enumerate(measures):
                scores[:, run, number] = columns[measure.name].reshape(sets, len(self.turns))
        return scores

    def matrix(self, run: int, grades: Grades) -> GradeMatrix:
        """Return the grade matrix of one run with ``grades`` (int16[N + 1]).

        Its ideal ranking has the grades from 1 up.
        """
        places = self.places[run]
        retrieved = (places < len(self)).sum(axis=1)
        judged = self._ideal(grades[None], 1)
        return self._grade_matrix(self.names[run], self.turns, grades[places], judged, retrieved)

    def _grade_matrix(
        self, name: str, turns: tuple[str, ...], grades: Grades, judged: Grades, retrieved: Codes
    ) -> GradeMatrix:
        """Return a grade matrix with the notes and the number of extra turns of the pool."""
        return GradeMatrix(
            name=name,
            turns=turns,
            grades=grades,
            judged=judged,
            retrieved=retrieved,
            missing=retrieved == 0,
            extra_turns=self.extra_turns,
            notes=self.notes,
        )

    def _ideal(self, grades: Grades, lowest: int, depth: int | None = None) -> Grades:
        """Return int16[B · T, J]: the ideal rankings of every set and turn, as in a grade matrix.

        They have the grades from ``lowest`` up, descending. ``grades``: int16[B, N + 1]. ``depth``:
        the number of grades that are needed; None for all.
        """
        sets, turns = len(grades), len(self.turns)
        if depth == 0:
            return np.empty((sets * turns, 0), dtype=np.int16)
        # sets differ in few pairs: the others are counted once
        differs = (grades[:, :-1] != grades[0, :-1]).any(axis=0)
        shared = np.flatnonzero(~differs & (grades[0, :-1] >= lowest))
        shared = self._best_pairs(shared, grades[0], depth)
        shared_grades = grades[0, shared]
        other_grades = np.take(grades, self._by_turn(np.flatnonzero(differs)), axis=1)
        highest = max(other_grades.max(initial=lowest), shared_grades.max(initial=lowest))
        levels = []
        # for each level, int64[B, T]: the number of grades from it up; for the start, none
        reaching = [np.zeros((sets, turns), dtype=np.int64)]
        for level in range(highest, lowest - 1, -1):
            of_shared, of_others = shared_grades == level, other_grades == level
            if of_shared.any() or of_others.any():
                levels.append(level)
                added = np.bincount(self.pair_turns[shared[of_shared]], minlength=turns)
                added = added + of_others.sum(axis=1, dtype=np.int32)
                reaching.append(reaching[-1] + added)
        width = int(reaching[-1].max(initial=0))
        if depth is not None:
            width = min(width, depth)
        # the grade at a rank (from 0) is the first level that more than ``rank`` grades reach
        place = np.zeros((width, sets * turns), np.int16)
        for count in reaching[1:]:
            place += count.ravel() <= np.arange(width)[:, None]
        return np.array([*levels, ABSENT], dtype=np.int16)[place].T

    def _by_turn(self, pairs: Codes) -> Codes:
        """Return int64[m, T]: the ``pairs`` of every turn, then N, which has no grade."""
        pairs = pairs[np.argsort(self.pair_turns[pairs], kind="stable")]
        counts = np.bincount(self.pair_turns[pairs], minlength=len(self.turns))
        table = np.full((counts.max(initial=0), len(counts)), len(self))
        table[places_within(counts), self.pair_turns[pairs]] = pairs
        return table

    def _best_pairs(self, pairs: Codes, grades: Grades, most: int | None) -> Codes:
        """Return the ``most`` pairs of every turn with the highest ``grades``; all for None.

        They are sorted by turn and descending grade, unless all are returned.
        """
        if most is None:
            return pairs
        pairs = pairs[np.lexsort((-grades[pairs], self.pair_turns[pairs]))]
        counts = np.bincount(self.pair_turns[pairs], minlength=len(self.turns))
        return pairs[places_within(counts) < most]


def _top_places(places: _Places, measures: Sequence[Measure]) -> _Places:
    """Return ``places`` down to the largest cutoff of the measures."""
    cutoffs = [measure.cutoff for measure in measures]
    return places if None in cutoffs else places[:, : max(filter(None, cutoffs))]


def _lowest_ideal_grade(grades: Grades, measures: Sequence[Measure]) -> int:
    """Return the lowest grade in the ideal rankings that the measures need.

    It is 1 unless a measure also counts other judged passages.
    """
    if any(measure.family in _WITH_ALL_JUDGED for measure in measures):
        return int(grades[grades > UNJUDGED].min(initial=0))
    return 1


def _ideal_depth(measures: Sequence[Measure]) -> int | None:
    """Return the number of grades of a turn that the ideal rankings need; None for all."""
    depth = 0
    for measure in measures:
        if measure.family in _WITH_WHOLE_IDEAL:
            return None
        if measure.family == "ndcg":
            if measure.cutoff is None:
                return None
            depth = max(depth, measure.cutoff)
    return depth


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
            self._number_documents()

    def _number_documents(self) -> None:
        """Number the documents of the waiting runs, after those numbered before."""
        start = len(self._documents)
        texts = [self._documents, *(run.documents for run in self._waiting)]
        self._documents, numbers = Ids.joined(texts).encoded()
        for run in self._waiting:
            end = start + len(run.documents)
            codes = numbers[start:end][run.codes]
            self._runs.append(replace(run, documents=Ids.of([]), codes=codes))
            start = end
        self._waiting = []

    def build(self) -> RunPool:
        """Return the pool of all runs and of the judgments."""
        self._number_documents()
        runs = self._runs
        rows, codes = _pairs_of(self._qrels, self.turns, self._documents)
        width = len(self._documents)
        keys_of_files = [(rows * width + codes)[rows >= 0]]
        keys_of_files += [run.rows * width + run.codes for run in runs]
        keys, first, key_of = np.unique(
            np.concatenate(keys_of_files), return_index=True, return_inverse=True
        )
        by_appearance = np.argsort(first)
        number_of = np.empty(len(keys), dtype=np.int64)
        number_of[by_appearance] = np.arange(len(keys))
        pair_turns, pair_documents = np.divmod(keys[by_appearance], width)
        places = []
        start = len(keys_of_files[0])
        for run in runs:
            end = start + len(run.rows)
            depth = int(run.ranks.max(initial=-1)) + 1
            pairs = np.full((len(self.turns), depth), len(keys), dtype=np.int32)
            pairs[run.rows, run.ranks] = number_of[key_of[start:end]]
            places.append(pairs)
            start = end
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
        Distinct ids, indexed by ``codes``; empty after they are numbered together with those of
        all runs.
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
        name=ranking.name,
        rows=rows[inside],
        ranks=ranks[inside],
        codes=codes,
        documents=documents,
        extra_turns=int((row_of_turn < 0).sum()),
        first=first_ids(ranking),
        notes=ranking.notes,
    )


def _pairs_of(qrels: Qrels, turns: Sequence[str], documents: Ids) -> tuple[Codes, Codes]:
    """Return turn row and document code of every judgment.

    -1 if the turn is not among ``turns``, or the document not among ``documents``.
    """
    row_of = {turn: row for row, turn in enumerate(turns)}
    rows = np.array([row_of.get(turn, -1) for turn in qrels.turns], dtype=np.int64)
    codes = qrels.documents.codes_in(documents)
    return rows[qrels.turn_codes], codes[qrels.document_codes]
