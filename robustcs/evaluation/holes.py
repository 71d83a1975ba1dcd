"""Count the unjudged passages that runs retrieve (Table 13 of the ECAsT paper): by run, rank, position and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
#: Passages whose ids are processed together.
_PASSAGES = 200_000
#: Passages of all runs that are compared together.
_AT_ONCE = 2_000_000

#: Columns of shares of the retrieved passages.
SHARES = (
    count("retrieved"),
    count("judged"),
    count("unjudged"),
    share("share", "unjudged out of retrieved"),
)
RATES = table(
    "rates", "Unjudged passages in the top k.",
    text("system", header="System"), count("depth", "k"),
    count("retrieved", "passages in the top k over all turns", "passages"),
    count("judged"), count("unjudged"), share("share", "unjudged out of retrieved"), share("judged_share"),
    count("short", "turns with 1 to k − 1 passages", "short lists", "turns"),
    count("missing", "turns without passages", "missing", "turns"),
    count("judged_later", "unjudged passages that new judgments cover; null without new judgments", "judged later"),
)  # fmt: skip
UNIQUE = table(
    "unique", "Unjudged passages that only one run of a group retrieves; each counts once per turn.",
    text("group", header="Group"), count("runs", "number of runs"), count("unjudged"),
    count("unique", "retrieved by one run only", "retrieved by one run only"), share("share", "unique out of unjudged"),
)  # fmt: skip
LATER_GRADES = table(
    "grades", "Grades of unjudged passages in the top k by new judgments. No rows without new judgments.",
    text("system", header="System"), count("grade"), count("count"), share("share", "out of those judged later"),
)  # fmt: skip
GRADES = table(
    "qrels",
    "Judged passages by grade.",
    count("grade"),
    count("count", header="passages"),
    share("share"),
)

#: (turn, passage) → grade.
Grades = Mapping[tuple[str, str], int]


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run joined with the judgments.

    holes
        (turn, passage) of every unjudged passage in the top k of the judged turns, by rank within a turn.
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
    """Join a ranking with the judgments, and keep the ids of unjudged passages in the top ``depth``.

    ``ranks``: the depth to which ids are kept for pairs of runs; None keeps all.
    """
    matrix = grade_matrix(ranking, qrels)
    known = matrix.grades.shape[1] if ranks is None else max(depth, ranks)
    rows, places = np.nonzero(matrix.grades[:, :known] == UNJUDGED)
    start_of = dict(zip(ranking.turns, ranking.starts[:-1].tolist(), strict=True))
    starts = np.array([start_of.get(turn, 0) for turn in matrix.turns], dtype=np.int64)
    codes = ranking.document_codes[starts[rows] + places]
    pieces = np.split(codes, range(_PASSAGES, len(codes), _PASSAGES))
    unjudged = Ids.joined([ranking.ids.take(piece) for piece in pieces])
    top = places < depth
    turns = [matrix.turns[row] for row in rows[top]]
    return JudgedRun(
        matrix, tuple(zip(turns, unjudged.take(top).texts(), strict=True)), known, unjudged
    )


def only_turns(run: JudgedRun, kept: Mask) -> JudgedRun:
    """Return the run on some of its turns; ``kept``: bool[T]."""
    matrix = run.matrix.take(kept)
    some = set(matrix.turns)
    unjudged = run.unjudged.take(kept[_rows(run)])
    return JudgedRun(
        matrix, tuple(hole for hole in run.holes if hole[0] in some), run.ranks, unjudged
    )


def stretches(runs: Sequence[JudgedRun]) -> Iterator[list[JudgedRun]]:
    """Yield the runs (all on the same turns) on a few turns at a time, to limit the memory for their passages."""
    rows, turns = [_rows(run) for run in runs], len(runs[0].matrix.turns)
    step = max(1, turns * _AT_ONCE // max(sum(map(len, rows)), 1))
    for begin in range(0, turns, step):
        ends = begin, begin + step
        yield [
            replace(
                run, matrix=run.matrix.take(slice(*ends)), holes=(),
                unjudged=run.unjudged.take(slice(*np.searchsorted(some, ends).tolist())),
            )
            for run, some in zip(runs, rows, strict=True)
        ]  # fmt: skip


def _rows(run: JudgedRun) -> Codes:
    """Return the row of the turn of each ``unjudged`` passage, ascending."""
    return np.nonzero(run.top.grades == UNJUDGED)[0]


def only_relevant(qrels: Qrels, level: int) -> bool:
    """Return whether all judged passages reach the relevance ``level`` or have one grade; judged shares are then precisions."""
    lowest, highest = int(qrels.grades.min()), int(qrels.grades.max())
    return lowest >= min(level, highest)


def passage_numbers(runs: Sequence[JudgedRun]) -> list[Codes]:
    """Number each run's ``unjudged`` passages, for runs on the same turns.

    The same passage of the same turn has the same number in all runs. Later turns have higher numbers.
    """
    rows, codes = (
        [_rows(run) for run in runs],
        Ids.joined([run.unjudged for run in runs]).encoded()[1],
    )
    keys = np.concatenate(rows) * (int(codes.max(initial=0)) + 1) + codes
    numbers = np.unique(keys, return_inverse=True)[1]
    return np.split(numbers, np.cumsum([len(some) for some in rows])[:-1])


def pool_holes(runs: Sequence[JudgedRun], numbers: Sequence[Codes]) -> Codes:
    """Return int64[T]: distinct unjudged passages of every turn in all ``runs``; ``numbers``: :func:`passage_numbers`."""
    rows = np.concatenate([_rows(run) for run in runs])
    _, first = np.unique(np.concatenate(numbers), return_index=True)
    return np.bincount(rows[first], minlength=len(runs[0].matrix.turns))


def rates(runs: Sequence[JudgedRun], depth: int, later: Grades | None) -> Table:
    """Return the table :data:`RATES`; ``later``: grades of unjudged passages."""
    rows = []
    for run in runs:
        lengths, shares = run.matrix.retrieved, _shares(run.matrix.grades[:, :depth])
        rows.append((
            run.name, depth, *shares, 1 - shares[-1], int(((lengths > 0) & (lengths < depth)).sum()),
            int(run.matrix.missing.sum()), None if later is None else sum(hole in later for hole in run.holes),
        ))  # fmt: skip
    return RATES.of(rows)


def rates_by_rank(runs: Sequence[JudgedRun]) -> pd.DataFrame:
    """Return run, rank (1 to 100), retrieved, judged, unjudged, share."""
    rows = [
        (run.name, rank, *_shares(column[:, None]))
        for run in runs for rank, column in enumerate(run.matrix.grades[:, :RANKS].T, 1)
    ]  # fmt: skip
    return pd.DataFrame(
        rows, columns=["system", "rank", "retrieved", "judged", "unjudged", "share"]
    )


def unique_holes(runs: Sequence[JudgedRun], groups: Mapping[str, Sequence[str]]) -> Table:
    """Return the table :data:`UNIQUE`; ``groups``: group → names of its runs."""
    holes, rows = {run.name: run.holes for run in runs}, []
    for group, names in groups.items():
        finders = Counter(hole for name in names for hole in holes[name])
        unique = sum(times == 1 for times in finders.values())
        rows.append((group, len(names), len(finders), unique, _share(unique, len(finders))))
    return UNIQUE.of(rows)


def later_grades(runs: Sequence[JudgedRun], later: Grades | None) -> pd.DataFrame:
    """Return the grades that unjudged passages got later: run, grade, count, share of those judged later."""
    rows = []
    later = later or {}
    scale = sorted({*range(max(later.values(), default=0)), *later.values()})
    for run in runs:
        grades = [later[hole] for hole in run.holes if hole in later]
        rows += [
            (run.name, grade, grades.count(grade), _share(grades.count(grade), len(grades)))
            for grade in scale
        ]
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
    """Return the numbers of retrieved and of unjudged passages of every turn."""
    return np.asarray((grades >= UNJUDGED).sum(axis=1)), np.asarray(
        (grades == UNJUDGED).sum(axis=1)
    )


def _shares(grades: npt.NDArray[np.int16]) -> tuple[int, int, int, float]:
    """Return the values of :data:`SHARES`."""
    retrieved, unjudged = (int(counts.sum()) for counts in counts_of(grades))
    return retrieved, retrieved - unjudged, unjudged, _share(unjudged, retrieved)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
