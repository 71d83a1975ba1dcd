"""Pairs of runs side by side: which of the passages that nobody judged both runs of a pair retrieve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix

#: Rank of a passage that the run does not retrieve.
NOT_RETRIEVED = np.iinfo(np.int32).max
#: Turns of pairs, and passages of a first run, that are looked up at a time.
_ROWS = 16_384
_CELLS = 4_000_000

Numbers = npt.NDArray[np.int64]
Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class RunPairs:
    """P pairs of runs on the same T turns and judgments, with the n passages that nobody judged and either run retrieves.

    runs
        The runs; ``first`` and ``second`` (int64[P]) index them.
    rows
        int64[n], ascending: ``p · T + t``, the pair and the turn of the passage.
    first_ranks, second_ranks
        int32[n]: its rank in each run, from 0; :data:`NOT_RETRIEVED` in a run that lacks it.
    elsewhere
        int64[P · T]: how many further unjudged passages of every turn the other runs under analysis retrieve.
    """

    runs: Sequence[GradeMatrix]
    first: Numbers
    second: Numbers
    rows: Numbers
    first_ranks: Ranks
    second_ranks: Ranks
    elsewhere: Numbers


def run_pair(
    first: GradeMatrix,
    second: GradeMatrix,
    first_passages: Numbers,
    second_passages: Numbers,
    pool: Numbers | None = None,
) -> RunPairs:
    """Find the unjudged passages that two runs share; the arguments as for :func:`run_pairs`."""
    (pair,) = run_pairs([first, second], [first_passages, second_passages], pool)
    return pair


def run_pairs(runs: Sequence[GradeMatrix], passages: Sequence[Numbers], pool: Numbers | None = None) -> Iterator[RunPairs]:
    """All pairs of runs, those of the first run first, some at a time, so that memory stays bounded.

    ``passages`` number the unjudged passages of each matrix, in the order of ``np.nonzero(grades == UNJUDGED)``: equal
    numbers, from 0 on, are the same passage of the same turn. ``pool`` (int64[T]) counts the unjudged passages that any run
    under analysis retrieves; without it those of a pair are all that count.
    """
    turns = len(runs[0].turns) if runs else 0
    starts = np.concatenate(([0], np.cumsum([len(numbers) for numbers in passages], dtype=np.int64)))
    places = [np.nonzero(run.grades == UNJUDGED) for run in runs]
    rows = [place[0] for place in places]
    ranks = [place[1].astype(np.int32) for place in places]
    # where a passage stands among those of the first run
    place_of = np.full(1 + max((int(numbers.max(initial=-1)) for numbers in passages), default=-1), -1, dtype=np.int32)
    for first in range(len(runs) - 1):
        own = len(passages[first])
        place_of[passages[first]] = np.arange(own, dtype=np.int32)
        step = max(1, min(_ROWS // max(turns, 1), _CELLS // max(own, 1)))
        for begin in range(first + 1, len(runs), step):
            end = min(begin + step, len(runs))
            pair = np.repeat(np.arange(end - begin), np.diff(starts[begin : end + 1]))
            place = place_of[np.concatenate(passages[begin:end])]
            shared = place >= 0
            alone = np.ones((end - begin, own), dtype=bool)
            alone[pair[shared], place[shared]] = False
            its_pair, its_place = np.nonzero(alone)
            first_ranks = np.full(len(place), NOT_RETRIEVED, dtype=np.int32)
            first_ranks[shared] = ranks[first][place[shared]]
            found = np.concatenate([pair * turns + np.concatenate(rows[begin:end]), its_pair * turns + rows[first][its_place]])
            order = np.argsort(found, kind="stable")
            count = np.bincount(found, minlength=(end - begin) * turns)
            yield RunPairs(
                runs=runs,
                first=np.full(end - begin, first),
                second=np.arange(begin, end),
                rows=found[order],
                first_ranks=np.concatenate([first_ranks, ranks[first][its_place]])[order],
                second_ranks=np.concatenate([*ranks[begin:end], np.full(len(its_place), NOT_RETRIEVED, np.int32)])[order],
                elsewhere=np.zeros_like(count) if pool is None else np.tile(pool, end - begin) - count,
            )
        place_of[passages[first]] = -1
