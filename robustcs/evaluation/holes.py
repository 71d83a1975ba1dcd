"""Count the unjudged passages (holes) that runs retrieve: by run, rank, position and group.

The tables follow Tables 12 and 13 of the ECAsT paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix, grade_matrix
from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels
from robustcs.lazy import pd
from robustcs.statistics import Codes, Mask
from robustcs.table import Table, count, share, table, text

#: Number of ranks in the table by rank.
RANKS = 100
#: Passages whose ids are copied together, which limits the memory for one run.
_PASSAGES = 200_000
#: Unjudged passages of all runs that are compared together, which limits the memory for all runs.
_AT_ONCE = 2_000_000

#: Columns of shares of the retrieved passages.
SHARES = (
    count("retrieved"),
    count("judged"),
    count("unjudged"),
    share("share", "unjudged out of retrieved"),
)
RATES = table(
    "rates",
    "Unjudged passages in the top k.",
    text("system", header="System"),
    count("depth", "k"),
    count("retrieved", "passages in the top k over all turns", "passages"),
    count("judged"),
    count("unjudged"),
    share("share", "unjudged out of retrieved"),
    share("judged_share"),
    count("short", "turns with 1 to k − 1 passages", "short lists", "turns"),
    count("missing", "turns without passages", "missing", "turns"),
    count(
        "judged_later",
        "unjudged passages that new judgments cover; null without new judgments",
        "judged later",
    ),
)
UNIQUE = table(
    "unique",
    "Unjudged passages that only one run of a group retrieves; each counts once per turn.",
    text("group", header="Group"),
    count("runs", "number of runs"),
    count("unjudged"),
    count("unique", "retrieved by one run only", "retrieved by one run only"),
    share("share", "unique out of unjudged"),
)
LATER_GRADES = table(
    "grades",
    "Grades of unjudged passages in the top k by new judgments. No rows without new judgments.",
    text("system", header="System"),
    count("grade"),
    count("count"),
    share("share", "out of those judged later"),
)
GRADES = table(
    "qrels",
    "Judged passages by grade.",
    count("grade"),
    count("count", header="passages"),
    share("share"),
)

#: (turn, passage) → grade.
GradesByPair = Mapping[tuple[str, str], int]


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run joined with the judgments.

    matrix
        The grades of the run's passages, by turn and rank.
    holes
        (turn, passage) of every unjudged passage in the top k of the judged turns, by rank within a
        turn.
    ranks
        Depth to which the ids of unjudged passages are known, for pairs of runs.
    unjudged
        These ids, in the order of ``np.nonzero(top.grades == UNJUDGED)``.
    """

    matrix: GradeMatrix
    holes: tuple[tuple[str, str], ...]
    ranks: int
    unjudged: Ids

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.matrix.name

    @property
    def top(self) -> GradeMatrix:
        """The matrix down to rank ``ranks``."""
        return replace(self.matrix, grades=self.matrix.grades[:, : self.ranks])


def judged_run(ranking: Ranking, qrels: Qrels, depth: int, ranks: int | None = None) -> JudgedRun:
    """Join a ranking with the judgments.

    depth
        k of :attr:`JudgedRun.holes`.
    ranks
        The depth to which ids are kept for pairs of runs, at least ``depth``; None keeps all.
    """
    matrix = grade_matrix(ranking, qrels)
    id_depth = matrix.grades.shape[1] if ranks is None else max(depth, ranks)
    turn_rows, columns = np.nonzero(matrix.grades[:, :id_depth] == UNJUDGED)
    unjudged = _ids_at(ranking, matrix.turns, turn_rows, columns)
    in_top = columns < depth
    turns = [matrix.turns[row] for row in turn_rows[in_top]]
    holes = tuple(zip(turns, unjudged.take(in_top).texts(), strict=True))
    return JudgedRun(matrix, holes, id_depth, unjudged)


def _ids_at(ranking: Ranking, turns: Sequence[str], turn_rows: Codes, columns: Codes) -> Ids:
    """Return the ids of the passages of ``turns[turn_rows]`` at the ranks ``columns`` (from 0)."""
    start_of = dict(zip(ranking.turns, ranking.starts[:-1].tolist(), strict=True))
    # a turn that the ranking lacks has no unjudged passage, so its start is never used
    starts = np.array([start_of.get(turn, 0) for turn in turns], dtype=np.int64)
    codes = ranking.document_codes[starts[turn_rows] + columns]
    pieces = np.split(codes, range(_PASSAGES, len(codes), _PASSAGES))
    return Ids.joined([ranking.ids.take(piece) for piece in pieces])


def only_turns(run: JudgedRun, kept: Mask) -> JudgedRun:
    """Return the run on some of its turns; ``kept``: bool[T]."""
    matrix = run.matrix.take(kept)
    turns = set(matrix.turns)
    holes = tuple((turn, passage) for turn, passage in run.holes if turn in turns)
    unjudged = run.unjudged.take(kept[_turns_of_unjudged(run)])
    return JudgedRun(matrix, holes, run.ranks, unjudged)


def stretches(runs: Sequence[JudgedRun]) -> Iterator[list[JudgedRun]]:
    """Yield the runs (all on the same turns) on a few successive turns at a time.

    This limits the memory for their passages. The parts have no ``holes``.
    """
    turn_rows = [_turns_of_unjudged(run) for run in runs]
    turns = len(runs[0].matrix.turns)
    passages = sum(len(rows) for rows in turn_rows)
    step = max(1, turns * _AT_ONCE // max(passages, 1))
    for start in range(0, turns, step):
        yield [
            _stretch(run, rows, start, start + step)
            for run, rows in zip(runs, turn_rows, strict=True)
        ]


def _stretch(run: JudgedRun, turn_rows: Codes, start: int, end: int) -> JudgedRun:
    """Return the run on the turns ``start`` to ``end`` − 1; ``turn_rows``: of ``unjudged``."""
    first, last = np.searchsorted(turn_rows, (start, end)).tolist()
    return replace(
        run,
        matrix=run.matrix.take(slice(start, end)),
        holes=(),
        unjudged=run.unjudged.take(slice(first, last)),
    )


def _turns_of_unjudged(run: JudgedRun) -> Codes:
    """Return the row of the turn of each ``unjudged`` passage, ascending."""
    return np.nonzero(run.top.grades == UNJUDGED)[0]


def only_relevant(qrels: Qrels, level: int) -> bool:
    """Return whether all judged passages reach the relevance ``level`` or have one grade.

    Judged shares are then precisions.
    """
    lowest, highest = int(qrels.grades.min()), int(qrels.grades.max())
    return lowest >= min(level, highest)


def passage_numbers(runs: Sequence[JudgedRun]) -> list[Codes]:
    """Number each run's ``unjudged`` passages, for runs on the same turns.

    The same passage of the same turn has the same number in all runs. Later turns have higher
    numbers.
    """
    turn_rows = [_turns_of_unjudged(run) for run in runs]
    _, id_codes = Ids.joined([run.unjudged for run in runs]).encoded()
    # one number for each pair of a turn and an id, which then becomes its place among them
    pairs = np.concatenate(turn_rows) * (int(id_codes.max(initial=0)) + 1) + id_codes
    _, numbers = np.unique(pairs, return_inverse=True)
    ends = np.cumsum([len(rows) for rows in turn_rows])
    return np.split(numbers, ends[:-1])


def pool_holes(runs: Sequence[JudgedRun], numbers: Sequence[Codes]) -> Codes:
    """Return int64[T]: distinct unjudged passages of every turn in all ``runs``.

    ``numbers``: :func:`passage_numbers`.
    """
    turn_rows = np.concatenate([_turns_of_unjudged(run) for run in runs])
    _, first = np.unique(np.concatenate(numbers), return_index=True)
    return np.bincount(turn_rows[first], minlength=len(runs[0].matrix.turns))


def rates(runs: Sequence[JudgedRun], depth: int, later: GradesByPair | None) -> Table:
    """Return the table :data:`RATES`; ``later``: grades of unjudged passages."""
    rows = []
    for run in runs:
        shares = _shares(run.matrix.grades[:, :depth])
        lengths = run.matrix.retrieved
        short = int(((lengths > 0) & (lengths < depth)).sum())
        missing = int(run.matrix.missing.sum())
        judged_later = None if later is None else sum(hole in later for hole in run.holes)
        rows.append(
            (run.name, depth, *shares, 1 - shares.share, short, missing, judged_later),
        )
    return RATES.of(rows)


def rates_by_rank(runs: Sequence[JudgedRun]) -> pd.DataFrame:
    """Return system, rank (1 to :data:`RANKS`), retrieved, judged, unjudged, share."""
    rows = []
    for run in runs:
        for rank, grades in enumerate(run.matrix.grades[:, :RANKS].T, 1):
            rows.append((run.name, rank, *_shares(grades[:, None])))
    return pd.DataFrame(
        rows, columns=["system", "rank", "retrieved", "judged", "unjudged", "share"]
    )


def unique_holes(runs: Sequence[JudgedRun], groups: Mapping[str, Sequence[str]]) -> Table:
    """Return the table :data:`UNIQUE`; ``groups``: group → names of its runs."""
    holes = {run.name: run.holes for run in runs}
    rows = []
    for group, names in groups.items():
        finders = Counter(hole for name in names for hole in holes[name])
        unique = sum(times == 1 for times in finders.values())
        rows.append((group, len(names), len(finders), unique, _share(unique, len(finders))))
    return UNIQUE.of(rows)


def later_grades(runs: Sequence[JudgedRun], later: GradesByPair | None) -> pd.DataFrame:
    """Return the grades that unjudged passages got later: system, grade, count, share.

    Shares are out of the run's passages that were judged later. All runs have a row for each grade
    from 0 to the highest in ``later``, and for negative ones that occur.
    """
    by_hole: GradesByPair = later or {}
    below_highest = range(max(by_hole.values(), default=0))
    scale = sorted({*below_highest, *by_hole.values()})
    rows = []
    for run in runs:
        counts = Counter(by_hole[hole] for hole in run.holes if hole in by_hole)
        for grade in scale:
            rows.append((run.name, grade, counts[grade], _share(counts[grade], counts.total())))
    return pd.DataFrame(rows, columns=["system", "grade", "count", "share"])


def grades_of(qrels: Qrels) -> pd.DataFrame:
    """Return judged passages by grade (Table 12 of the ECAsT paper): grade, count, share."""
    grades, counts = np.unique(qrels.grades, return_counts=True)
    return pd.DataFrame(
        {"grade": grades.astype(int), "count": counts, "share": counts / counts.sum()}
    )


def grades_by_pair(*files: Qrels) -> dict[tuple[str, str], int]:
    """Return (turn, passage) → grade; if several files grade a passage, the earlier counts."""
    grades: dict[tuple[str, str], int] = {}
    for qrels in reversed(files):
        grades |= {(turn, document): grade for turn, document, grade in qrels.rows()}
    return grades


def counts_of(grades: npt.NDArray[np.int16]) -> tuple[Codes, Codes]:
    """Return the numbers of retrieved and of unjudged passages of every turn, int64[T] each.

    ``grades``: int16[T, D], those of a :class:`GradeMatrix`; lower ones than :data:`UNJUDGED` stand
    for ranks without a passage.
    """
    retrieved = np.asarray((grades >= UNJUDGED).sum(axis=1))
    unjudged = np.asarray((grades == UNJUDGED).sum(axis=1))
    return retrieved, unjudged


class _Shares(NamedTuple):
    """The values of :data:`SHARES`."""

    retrieved: int
    judged: int
    unjudged: int
    share: float


def _shares(grades: npt.NDArray[np.int16]) -> _Shares:
    """Return the counts over all turns; ``grades``: int16[T, D]."""
    retrieved, unjudged = (int(by_turn.sum()) for by_turn in counts_of(grades))
    return _Shares(retrieved, retrieved - unjudged, unjudged, _share(unjudged, retrieved))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
