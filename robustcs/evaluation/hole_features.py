"""Features of (turn, passage) pairs in the hole model: ranks in the runs, grades in other turns."""

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
#: Log of rank 12 and of rank 4: a hinge is the distance in logs above such a rank, 0 below.
_HINGE, _SHARP_HINGE = np.log(12), np.log(4)
#: Depth of the top in which runs count as finders.
_TOP = 10

# Kinds of features. One variance shrinks the coefficients of each kind; those of BASIC are not
# shrunk.
#: Level, mean rank and grades elsewhere.
BASIC = 0
#: The best rank, and hinges over all runs.
RANK = 1
#: Log ranks by run, minus their mean.
RUN_RANK = 2
#: Hinges by run, minus their mean.
RUN_TOP = 3
#: How many runs retrieve the passage.
FINDERS = 4
#: Which group is the only one to retrieve it.
ALONE = 5
#: Which runs retrieve it, minus the mean.
RUN_FOUND = 6

#: Columns of ``fixed`` that depend on grades: see :func:`_elsewhere` and its place in
#: :func:`_fixed_features`.
_ELSEWHERE = slice(2, 4)


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """Features of n pairs (turn, passage) of a pool, by turn and document id.

    They do not depend on the order of the runs.

    pairs
        int64[n]: the pairs of the pool.
    turns
        int64[n]: the rows of their turns, ascending.
    fixed
        float64[n, p]: features with the same coefficients in all turns.
    kinds
        int64[p]: the kind of each column, such as :data:`BASIC`.
    varying
        float64[n, q]: features with separate coefficients for every turn: 1, then the log rank in
        every run or group of runs, subtracted from that of :data:`DEEPEST`, and halved.
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
        """Return the features with another basic one, float64[n], as the last fixed column."""
        return replace(
            self, fixed=np.column_stack([self.fixed, column]), kinds=np.append(self.kinds, BASIC)
        )


def run_groups(pool: RunPool) -> tuple[int, ...]:
    """Return a group for every run: its own up to :data:`MOST_RUNS` runs, otherwise clusters.

    Runs with similar top passages form a cluster: complete linkage on 1 − the Jaccard index of the
    pairs in the top 10.
    """
    runs = len(pool.names)
    if runs <= MOST_RUNS:
        return tuple(range(runs))
    # in the order of names, so that the order of the runs has no effect
    order = _by_name(pool)
    top = (pool.best_ranks()[order] <= _TOP).astype(np.float64)
    in_both = top @ top.T
    sizes = np.diag(in_both)
    in_either = sizes[:, None] + sizes - in_both
    distance = 1 - quotient(in_both, in_either)
    groups = np.empty(runs, dtype=np.int64)
    groups[order] = complete_linkage(distance, MOST_RUNS)
    return tuple(groups.tolist())


def complete_linkage(distance: Floats, most: int) -> Codes:
    """Return the cluster of every item, int64[n], in at most ``most`` clusters.

    Their largest distance is as small as possible. ``distance``: float64[n, n], symmetric. Items
    that are equally close are all joined, as by ``maxclust`` in scipy.
    """
    # own code, because the import of scipy.cluster takes longer than everything else here
    clusters = np.arange(len(distance))
    # largest distances between clusters; infinite for joined ones
    between = distance.copy()
    np.fill_diagonal(between, np.inf)
    height = 0.0
    while len(np.unique(clusters)) > most or between.min() <= height:
        closest = divmod(int(between.argmin()), len(between))
        kept, joined = min(closest), max(closest)
        height = between[kept, joined]
        clusters[clusters == joined] = kept
        between[kept] = between[:, kept] = np.maximum(between[kept], between[joined])
        between[joined] = between[:, joined] = np.inf
    return clusters


def pair_features(
    pool: RunPool, pairs: Codes, grades: Grades, groups: Sequence[int]
) -> PairFeatures:
    """Return the features of ``pairs`` (in any order).

    ``grades``: int16[N + 1], the judgments. ``groups``: the group of every run.
    """
    pairs = _in_order(pool, pairs)
    # sums are in the order of names, so that the order of the runs has no effect
    order = _by_name(pool)
    ranks = pool.best_ranks()[order][:, pairs].T
    members = _members(np.asarray(groups)[order])
    # float64[R, S]: each column averages over the runs that share a slope
    averages = np.eye(len(order)) if len(order) <= MOST_RUNS else members / members.sum(axis=0)

    logs = np.log(np.minimum(ranks, DEEPEST))
    columns = _fixed_features(ranks, logs, members, averages, _elsewhere(pool, pairs, grades))
    return PairFeatures(
        pairs=pairs,
        turns=pool.pair_turns[pairs],
        fixed=np.hstack([column for _, column in columns]),
        kinds=np.concatenate([np.full(column.shape[1], kind) for kind, column in columns]),
        # the prior variance of slopes (hole_stages) is that of this halved scale
        varying=np.hstack([np.ones((len(pairs), 1)), (np.log(DEEPEST) - logs @ averages) / 2]),
        best=ranks.min(axis=1),
    )


def _fixed_features(
    ranks: Codes, logs: Floats, members: Floats, averages: Floats, elsewhere: Floats
) -> list[tuple[int, Floats]]:
    """Return the kinds and columns (float64[n, ≥ 1]) of :attr:`PairFeatures.fixed`.

    ``ranks``: int64[n, R]. ``logs``: float64[n, R], their logs. ``members``: float64[R, G].
    ``averages``: float64[R, S]. ``elsewhere``: :func:`_elsewhere`.
    """
    hinges = np.maximum(0, _HINGE - logs)
    sharp_hinges = np.maximum(0, _SHARP_HINGE - logs)
    retrieved = ranks < NEVER
    on_top = ranks <= _TOP

    mean_log = _mean_of_runs(logs)
    mean_hinge = _mean_of_runs(hinges)
    mean_retrieved = _mean_of_runs(retrieved)
    mean_on_top = _mean_of_runs(on_top)
    highest_hinge = hinges.max(axis=1, keepdims=True)
    alone = _only_group(retrieved, members)
    alone_on_top = _only_group(on_top, members)
    return [
        (BASIC, np.ones_like(mean_log)),
        (BASIC, mean_log - _HINGE),
        (BASIC, elsewhere),
        (RANK, logs.min(axis=1, keepdims=True) - _HINGE),
        (RANK, mean_hinge),
        (RANK, highest_hinge),
        (RUN_RANK, logs @ averages - mean_log),
        (RUN_TOP, hinges @ averages - mean_hinge),
        (FINDERS, mean_retrieved),
        (FINDERS, mean_on_top),
        (FINDERS, alone.sum(axis=1, keepdims=True)),
        (RUN_FOUND, retrieved @ averages - mean_retrieved),
        (RUN_FOUND, on_top @ averages - mean_on_top),
        (RUN_FOUND, sharp_hinges @ averages),
        (ALONE, alone),
        (ALONE, alone * highest_hinge / _HINGE),
        (ALONE, alone_on_top),
    ]


def _mean_of_runs(values: np.ndarray) -> Floats:
    """Return float64[n, 1]: the mean of ``values`` [n, R]."""
    return np.asarray(values.mean(axis=1, keepdims=True))


def _only_group(retrieved: Mask, members: Floats) -> Floats:
    """Return float64[n, G]: 1 where only this group retrieves the passage, else 0.

    ``retrieved``: bool[n, R]. ``members``: float64[R, G].
    """
    by_group = (retrieved @ members > 0).astype(np.float64)
    return np.asarray(by_group * (by_group.sum(axis=1, keepdims=True) == 1))


def regraded(pool: RunPool, features: PairFeatures, grades: Grades) -> PairFeatures:
    """Return the features of the same pairs, given other ``grades`` (int16[N + 1])."""
    fixed = features.fixed.copy()
    fixed[:, _ELSEWHERE] = _elsewhere(pool, features.pairs, grades)
    return replace(features, fixed=fixed)


def found_alone(pool: RunPool, groups: Sequence[int], depth: int) -> tuple[Codes, Mask]:
    """Return which passages only one group of runs retrieves.

    The groups' numbers, int64[G], in the order of the names of their first runs; and bool[G, N]:
    whether the pair is in the top ``depth`` of a run of this group, and of no other group.
    """
    order = _by_name(pool)
    numbers = np.asarray(groups)[order]
    finders = _members(numbers).T @ (pool.best_ranks()[order] <= depth) > 0
    _, first = np.unique(numbers, return_index=True)
    return numbers[np.sort(first)], finders & (finders.sum(axis=0) == 1)


def _by_name(pool: RunPool) -> Codes:
    """Return int64[R]: the runs in the order of their names."""
    return np.argsort(pool.names, kind="stable")


def _members(groups: Codes) -> Floats:
    """Return float64[R, G]: 1 if the run belongs to the group; groups by first appearance."""
    numbers, first = np.unique(groups, return_index=True)
    return np.asarray(groups[:, None] == numbers[np.argsort(first)], dtype=np.float64)


def _in_order(pool: RunPool, pairs: Codes) -> Codes:
    """Return ``pairs`` by turn and document id, independent of their order in the pool."""
    documents, codes = np.unique(pool.pair_documents[pairs], return_inverse=True)
    place_of_id = pool.documents.take(documents).places()
    return pairs[np.lexsort((place_of_id[codes], pool.pair_turns[pairs]))]


def _elsewhere(pool: RunPool, pairs: Codes, grades: Grades) -> Floats:
    """Return what judgments of other turns say about the passages of ``pairs``, float64[n, 2].

    Whether the passage is judged in another turn, and its mean grade there, divided by the highest
    grade of all; 0 without such judgments.
    """
    judged = np.flatnonzero(grades[:-1] > UNJUDGED)
    values = np.maximum(grades[judged], 0).astype(np.float64)
    highest = max(values.max(initial=0), 1.0)
    value_of_pair = np.zeros(len(pool))
    value_of_pair[judged] = values
    is_judged = grades[pairs] > UNJUDGED

    judged_documents, documents = pool.pair_documents[judged], pool.pair_documents[pairs]
    counts = np.bincount(judged_documents, minlength=len(pool.documents))
    totals = np.bincount(judged_documents, values, minlength=len(pool.documents))
    # without the judgment of the pair itself
    count = counts[documents] - is_judged
    total = totals[documents] - value_of_pair[pairs]
    return np.column_stack([count > 0, quotient(total, count * highest)])
