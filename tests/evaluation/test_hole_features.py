"""What the hole model knows of a pair, against its definition written out pair by pair and run by run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robustcs.evaluation.hole_features import (
    PairFeatures,
    complete_linkage,
    pair_features,
    run_groups,
)
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.run_pool import NEVER, Grades, RunPool
from tests.evaluation.test_augmentation import as_qrels
from tests.evaluation.test_hole_model import made_pool, made_runs
from tests.evaluation.test_run_pool import as_ranking, pool_of


@pytest.fixture(scope="module")
def pool() -> tuple[RunPool, Grades]:
    # as deep as the top 10 that finders are looked at in, and deeper; b stands before c whatever the order they come in
    pool, _, grades = made_pool(*made_runs(turns=8, runs=4, depth=18))
    return pool, grades


def ranks_of(pool: RunPool, pair: int) -> list[float]:
    return [float(rank) for rank in pool.best_ranks()[:, pair]]


def by_definition(pool: RunPool, grades: Grades, pair: int, groups: list[int]) -> list[float]:
    """The features with the same coefficients in all turns, in their order."""
    ranks = ranks_of(pool, pair)
    logs = [math.log(min(rank, 150)) for rank in ranks]
    hinges = [max(0.0, math.log(12) - log) for log in logs]
    sharp = [max(0.0, math.log(4) - log) for log in logs]
    found, top = [float(rank < NEVER) for rank in ranks], [float(rank <= 10) for rank in ranks]

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    def alone(having: list[float]) -> list[float]:
        """Of each group: is it the only one of which a run has the pair?"""
        have = {group for group, has in zip(groups, having, strict=True) if has}
        return [float(have == {group}) for group in dict.fromkeys(groups)]

    twins = [
        int(grades[other]) for other in range(len(pool))
        if other != pair and pool.pair_documents[other] == pool.pair_documents[pair] and grades[other] > UNJUDGED
    ]  # fmt: skip
    highest = max(1, int(grades[:-1].max()))
    lonely = alone(found)
    return [
        1.0, mean(logs) - math.log(12), float(bool(twins)), mean([max(0, twin) / highest for twin in twins]) if twins else 0.0,
        min(logs) - math.log(12), mean(hinges), max(hinges),
        *(log - mean(logs) for log in logs), *(hinge - mean(hinges) for hinge in hinges),
        mean(found), mean(top), sum(lonely),
        *(one - mean(found) for one in found), *(one - mean(top) for one in top), *sharp,
        *lonely, *(one * max(hinges) / math.log(12) for one in lonely), *alone(top),
    ]  # fmt: skip


@pytest.mark.parametrize("groups", [[0, 1, 2, 3], [0, 0, 1, 1], [0, 1, 1, 1]])
def test_features_are_their_definition(pool: tuple[RunPool, Grades], groups: list[int]) -> None:
    runs, grades = pool
    assert list(runs.names) == sorted(runs.names)
    found = pair_features(runs, np.arange(len(runs)), grades, groups)
    assert (
        sorted(found.pairs.tolist()) == list(range(len(runs))) and (np.diff(found.turns) >= 0).all()
    )
    expected = np.array(
        [by_definition(runs, grades, pair, groups) for pair in found.pairs.tolist()]
    )
    assert found.fixed == pytest.approx(expected)
    assert (
        expected[:, -len(set(groups)) :].any()
        and (expected[:, 2] == 1).any()
        and (expected[:, 2] == 0).any()
    )
    assert (
        len(found.kinds) == found.fixed.shape[1]
        and found.turns.tolist() == runs.pair_turns[found.pairs].tolist()
    )
    for row, pair in enumerate(found.pairs.tolist()):
        ranks = ranks_of(runs, pair)
        own = [(math.log(150) - math.log(min(rank, 150))) / 2 for rank in ranks]
        assert found.varying[row].tolist() == pytest.approx([1.0, *own]) and found.best[row] == min(
            ranks
        )


def test_many_runs_share_the_slopes_of_their_group() -> None:
    pool, _, grades = made_pool(*made_runs(turns=3, runs=9, depth=18))
    groups = [0, 0, 0, 1, 1, 2, 2, 2, 2]
    found = pair_features(pool, np.arange(len(pool)), grades, groups)
    for row, pair in enumerate(found.pairs.tolist()):
        logs = [math.log(min(rank, 150)) for rank in ranks_of(pool, pair)]
        means = [
            np.mean([log for log, own in zip(logs, groups, strict=True) if own == group])
            for group in range(3)
        ]
        assert found.varying[row].tolist() == pytest.approx(
            [1.0, *((math.log(150) - mean) / 2 for mean in means)]
        )
        assert found.fixed[row, 7:10].tolist() == pytest.approx(
            [mean - np.mean(logs) for mean in means]
        )


@pytest.mark.parametrize(("runs", "groups"), [(8, 8), (9, 8)])
def test_from_nine_runs_on_those_with_the_most_similar_tops_are_one_group(
    runs: int, groups: int
) -> None:
    """Runs 0 and 1 share 2 of 4 passages, and runs 2 and 5 share 4 of 16 in their tops; all but 0 and 1 share deeper ones."""
    tops = {run: [f"{run}-{place}" for place in range(10)] for run in range(runs)}
    tops[5][:4] = tops[2][:4]
    tops[0], tops[1] = (["a", "b", "c"], ["d", "c", "b"])
    ranked = {
        run: [*top, *(f"far{place}" for place in range(30))] if len(top) == 10 else top
        for run, top in tops.items()
    }
    pool = pool_of(
        [as_ranking(f"run{run}", {"1_1": names}) for run, names in ranked.items()],
        as_qrels({("1_1", "a"): 1}),
    )
    found = run_groups(pool)
    assert len(set(found)) == groups and (found[0] == found[1]) == (groups < runs)


def test_height_is_above_rank_12_and_depth_ends_at_150() -> None:
    one = np.ones((3, 1))
    found = PairFeatures(
        np.arange(3), np.arange(3), one, np.zeros(1, dtype=int), one, np.array([1, 12, 700])
    )
    assert found.log_best == pytest.approx([0, math.log(12), math.log(150)])
    assert found.height == pytest.approx([math.log(12), 0, 0]) and len(found) == 3
    more = found.take(np.array([0, 2])).with_column(np.array([5.0, 6.0]))
    assert (
        more.best.tolist() == [1, 700]
        and more.fixed.tolist() == [[1, 5], [1, 6]]
        and more.kinds.tolist() == [0, 0]
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("most", [1, 4, 8])
def test_clusters_are_those_of_scipy(seed: int, most: int) -> None:
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    distance = np.random.default_rng(seed).random((15, 15))
    distance = distance + distance.T
    distance[:, 3] = distance[3] = distance[2]  # two items in the same place
    distance[2, 3] = distance[3, 2] = 0
    np.fill_diagonal(distance, 0)
    known = fcluster(linkage(squareform(distance), "complete"), most, "maxclust")
    found = complete_linkage(distance, most)
    assert len(set(found)) == most
    np.testing.assert_array_equal(found[:, None] == found, known[:, None] == known)


def test_items_as_close_as_those_joined_last_are_joined_too() -> None:
    """Three pairs of twins: two clusters at most are one, because all pairs are equally far from each other."""
    distance = np.where(np.arange(6)[:, None] // 2 == np.arange(6) // 2, 0.0, 1.0)
    assert complete_linkage(distance, 3).tolist() == [0, 0, 2, 2, 4, 4]
    assert len(set(complete_linkage(distance, 2))) == 1
