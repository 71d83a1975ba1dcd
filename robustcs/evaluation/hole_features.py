"""Features of (turn, passage) pairs in the hole model: ranks in the runs, and grades in other turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.run_pool import NEVER, Grades, RunPool
from robustcs.statistics import Codes, Floats, Mask, quotient

#: Deeper ranks count as this one, and so do passages that a run does not retrieve.
DEEPEST = 150
#: Up to this number, every run has its own slope; otherwise groups of runs have one.
MOST_RUNS = 8
#: Ranks up to which hinges rise, and depth of the top in which runs count as finders.
_HINGE, _SHARP_HINGE, _TOP = np.log(12), np.log(4), 10

#: Kinds of features. One variance shrinks the coefficients of each kind; those of the first are not shrunk.
BASIC, RANK, RUN_RANK, RUN_TOP, FINDERS, ALONE, RUN_FOUND = range(7)
#: Columns of the features that depend on grades.
_ELSEWHERE = slice(2, 4)


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """Features of n pairs of a pool, by turn and document id, independent of the order of the runs.

    pairs
        int64[n]: the pairs of the pool.
    turns
        int64[n]: the rows of their turns, ascending.
    fixed
        float64[n, p]: features with the same coefficients in all turns.
    kinds
        int64[p]: the kind of each column, such as :data:`BASIC`.
    varying
        float64[n, q]: features with separate coefficients for every turn: 1, then the log rank in every run.
    best
        int64[n]: the best rank in any run, from 1.
    """

    pairs: Codes
    turns: Codes
    fixed: Floats
    kinds: Codes
    varying: Floats
    best: Codes

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def log_best(self) -> Floats:
        """float64[n]: log of the best rank, at most that of :data:`DEEPEST`."""
        return np.asarray(np.log(np.minimum(self.best, DEEPEST)))

    @property
    def height(self) -> Floats:
        """float64[n]: distance of the best rank above rank 12, in logs; 0 below."""
        return np.asarray(np.maximum(0, _HINGE - self.log_best))

    def take(self, rows: np.ndarray) -> PairFeatures:
        """Return some of the pairs, by mask or ascending index."""
        return PairFeatures(
            self.pairs[rows],
            self.turns[rows],
            self.fixed[rows],
            self.kinds,
            self.varying[rows],
            self.best[rows],
        )

    def with_column(self, column: Floats) -> PairFeatures:
        """Return the features with another basic one."""
        return replace(
            self, fixed=np.column_stack([self.fixed, column]), kinds=np.append(self.kinds, BASIC)
        )


def run_groups(pool: RunPool) -> tuple[int, ...]:
    """Return a group for every run: its own up to :data:`MOST_RUNS` runs, otherwise clusters of runs with similar top passages.

    Clusters are by complete linkage on 1 − the Jaccard index of the pairs in the top 10.
    """
    runs = len(pool.names)
    if runs <= MOST_RUNS:
        return tuple(range(runs))
    order = np.argsort(pool.names, kind="stable")
    top = (pool.best_ranks()[order] <= _TOP).astype(np.float64)
    both = top @ top.T
    either = np.diag(both)[:, None] + np.diag(both) - both
    distance = 1 - quotient(both, either)
    groups = np.empty(runs, dtype=np.int64)
    groups[order] = complete_linkage(distance, MOST_RUNS)
    return tuple(groups.tolist())


def complete_linkage(distance: Floats, most: int) -> Codes:
    """Return the cluster of every item, int64[n], in at most ``most`` clusters, whose largest distance is as small as possible.

    ``distance``: float64[n, n]. Items that are equally close are all joined, as by ``maxclust`` in scipy.
    """
    # own code, because the import of scipy.cluster takes longer than everything else here
    left, clusters, height = distance.copy(), np.arange(len(distance)), 0.0
    np.fill_diagonal(left, np.inf)
    while len(np.unique(clusters)) > most or left.min() <= height:
        kept, joined = sorted(divmod(int(left.argmin()), len(left)))
        height = left[kept, joined]
        clusters[clusters == joined] = kept
        left[kept] = left[:, kept] = np.maximum(left[kept], left[joined])
        left[joined] = left[:, joined] = np.inf
    return clusters


def pair_features(
    pool: RunPool, pairs: Codes, grades: Grades, groups: Sequence[int]
) -> PairFeatures:
    """Return the features of ``pairs`` (in any order), given ``grades`` (int16[N + 1]) and the group of every run."""
    pairs = _in_order(pool, pairs)
    # sums are in the order of names, so that the order of the runs has no effect
    order = np.argsort(pool.names, kind="stable")
    ranks = pool.best_ranks()[order][:, pairs].T
    member = _members(np.asarray(groups)[order])
    share = np.eye(len(order)) if len(order) <= MOST_RUNS else member / member.sum(axis=0)

    logs = np.log(np.minimum(ranks, DEEPEST))
    hinges, found, top = np.maximum(0, _HINGE - logs), ranks < NEVER, ranks <= _TOP
    mean, mean_hinge, mean_found, mean_top = (
        x.mean(axis=1, keepdims=True) for x in (logs, hinges, found, top)
    )
    highest = hinges.max(axis=1, keepdims=True)
    finders = (found @ member > 0).astype(np.float64)
    alone = finders * (finders.sum(axis=1, keepdims=True) == 1)
    on_top = (top @ member > 0).astype(np.float64)
    alone_on_top = on_top * (on_top.sum(axis=1, keepdims=True) == 1)
    by_run = logs @ share
    columns = [
        (BASIC, np.ones_like(mean)), (BASIC, mean - _HINGE), (BASIC, _elsewhere(pool, pairs, grades)),
        (RANK, logs.min(axis=1, keepdims=True) - _HINGE), (RANK, mean_hinge), (RANK, highest),
        (RUN_RANK, by_run - mean), (RUN_TOP, hinges @ share - mean_hinge),
        (FINDERS, mean_found), (FINDERS, mean_top), (FINDERS, alone.sum(axis=1, keepdims=True)),
        (RUN_FOUND, found @ share - mean_found), (RUN_FOUND, top @ share - mean_top),
        (RUN_FOUND, np.maximum(0, _SHARP_HINGE - logs) @ share),
        (ALONE, alone), (ALONE, alone * highest / _HINGE), (ALONE, alone_on_top),
    ]  # fmt: skip
    return PairFeatures(
        pairs=pairs,
        turns=pool.pair_turns[pairs],
        fixed=np.hstack([column for _, column in columns]),
        kinds=np.concatenate([np.full(column.shape[1], kind) for kind, column in columns]),
        varying=np.hstack([np.ones_like(mean), (np.log(DEEPEST) - by_run) / 2]),
        best=ranks.min(axis=1),
    )


def regraded(pool: RunPool, features: PairFeatures, grades: Grades) -> PairFeatures:
    """Return the features of the same pairs, given other ``grades``."""
    fixed = features.fixed.copy()
    fixed[:, _ELSEWHERE] = _elsewhere(pool, features.pairs, grades)
    return replace(features, fixed=fixed)


def found_alone(pool: RunPool, groups: Sequence[int], depth: int) -> tuple[Codes, Mask]:
    """Return the groups' numbers, int64[G] by run name, and bool[G, N]: in the top ``depth`` of only this group's runs."""
    order = np.argsort(pool.names, kind="stable")
    numbers = np.asarray(groups)[order]
    finders = _members(numbers).T @ (pool.best_ranks()[order] <= depth) > 0
    _, first = np.unique(numbers, return_index=True)
    return numbers[np.sort(first)], finders & (finders.sum(axis=0) == 1)


def _members(groups: Codes) -> Floats:
    """Return float64[R, G]: membership of runs in groups, with groups by first appearance."""
    numbers, first = np.unique(groups, return_index=True)
    return np.asarray(groups[:, None] == numbers[np.argsort(first)], dtype=np.float64)


def _in_order(pool: RunPool, pairs: Codes) -> Codes:
    """Return ``pairs`` by turn and document id, independent of their order in the pool."""
    documents, codes = np.unique(pool.pair_documents[pairs], return_inverse=True)
    place = pool.documents.take(documents).places()
    return pairs[np.lexsort((place[codes], pool.pair_turns[pairs]))]


def _elsewhere(pool: RunPool, pairs: Codes, grades: Grades) -> Floats:
    """Return float64[n, 2]: whether the passage is judged in another turn, and its mean grade there, divided by the highest."""
    judged = np.flatnonzero(grades[:-1] > UNJUDGED)
    values = np.maximum(grades[judged], 0).astype(np.float64)
    highest = max(values.max(initial=0), 1.0)
    documents, wanted = pool.pair_documents[judged], pool.pair_documents[pairs]
    own = np.zeros(len(pool))
    own[judged] = values
    count = np.bincount(documents, minlength=len(pool.documents))[wanted] - (
        grades[pairs] > UNJUDGED
    )
    total = np.bincount(documents, values, minlength=len(pool.documents))[wanted] - own[pairs]
    return np.column_stack([count > 0, quotient(total, count * highest)])
