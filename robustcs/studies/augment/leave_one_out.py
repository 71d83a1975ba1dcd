"""Can the judgments be reused for a new run? Leave out one run, or all runs of one source, and score it again.

A run that contributed to the pool keeps most of its judgments when it alone is left out, because similar runs contributed them
too. Leaving out whole groups of runs shows what a new team would meet (Voorhees 2000; Buckley et al. 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.lazy import npt, pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import count, difference, flag, measure, score, table, text
from robustcs.statistics.ranks import ranks

_WITHOUT = (
    count("unique", "judgments that it alone contributed; these are removed"),
    count("unique_relevant", "those at or above the relevance level", "relevant"),
    score("before", "with all judgments", "with"), score("after", "with the remaining judgments", "without"),
    difference("difference", "after − before", "change"),
    count("rank_before", "rank among all runs, scored with the same judgments"),
    count("rank_after"),
)  # fmt: skip
LEFT_OUT = table(
    "leave_one_out", "Every run scored as if it had not contributed to the pool.", measure(), text("system"), *_WITHOUT
)
GROUPS_OUT = table(
    "leave_group_out", "Every run scored as if no run of its group had contributed to the pool.",
    measure(), text("group"), count("runs", "runs in the group"), text("system"), *_WITHOUT,
    flag("guessed", "true if the groups were guessed from passages that only these runs share"),
)  # fmt: skip
#: Share of their exclusive passages from which two runs or groups count as one source.
_SHARED = 0.25
#: Groups are not joined below this number: with so few, any two share many passages that the others do not retrieve.
_FEWEST = 3


def contributed_alone(pool: RunPool, grades: Grades, depth: int, groups: Sequence[int] | None = None) -> npt.NDArray[np.bool_]:
    """Return bool[G, N]: whether a judged passage is in the top ``depth`` of the group's runs and of no other run.

    ``groups``: the number of every run's group, from 0; by default every run is a group.
    """
    within = pool.best_ranks() <= depth
    if groups is not None:
        within = np.array([within[np.asarray(groups) == number].any(axis=0) for number in range(max(groups) + 1)])
    return np.asarray(within & (within.sum(axis=0) == 1) & (grades[:-1] > UNJUDGED))


def guessed_groups(pool: RunPool, grades: Grades, depth: int) -> tuple[int, ...]:
    """Guess the group of every run: runs that share many passages contributed by no other run have one source.

    Two groups share the judged passages in their top ``depth`` that both retrieve and no other group does. They are joined if
    these are at least a quarter of the passages that no third group retrieves. Starting from single runs, the two groups with
    the largest share are joined repeatedly. Returns the number of every run's group.
    """
    order = np.argsort(pool.names, kind="stable")
    judged = grades[:-1] > UNJUDGED
    within = [row & judged for row in (pool.best_ranks() <= depth)[order]]
    members = [[int(run)] for run in order]
    while len(within) > _FEWEST:
        table = np.array(within)
        number = table.sum(axis=0)
        alone = (table & (number == 1)).sum(axis=1)
        both = table[:, number == 2].astype(np.int64)
        shared = both @ both.T
        np.fill_diagonal(shared, 0)
        share = shared / np.maximum(shared + alone[:, None] + alone, 1)
        first, second = sorted(map(int, np.unravel_index(int(share.argmax()), share.shape)))
        if share[first, second] < _SHARED:
            break
        within[first] |= within.pop(second)
        members[first] += members.pop(second)
    group_of = {run: number for number, runs in enumerate(members) for run in runs}
    return tuple(group_of[run] for run in range(len(pool.names)))


def leave_one_out(
    pool: RunPool,
    grades: Grades,
    depth: int,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: npt.NDArray[np.bool_],
    groups: Sequence[int] | None = None,
    names: Mapping[int, str] | None = None,
) -> pd.DataFrame:
    """Score every run as if it, or its group, had not contributed to the pool (Zobel 1998; Buckley et al. 2007).

    The judgments that only the run or its group contributed (:func:`contributed_alone`) are removed, and all runs are scored
    again. Qrels do not record contributors, so the given runs to ``depth`` are assumed to be the contributors. A turn that
    loses its last judgment remains and scores 0. ``counted`` (bool[T]): the turns over which means are taken. ``groups``: the
    number of every run's group, from 0. ``names``: the names of the groups, None if they were guessed.

    Returns :data:`LEFT_OUT`, or :data:`GROUPS_OUT` if ``groups`` are given: one row per measure and run.
    """
    numbers = np.arange(len(pool.names)) if groups is None else np.asarray(groups)
    alone = contributed_alone(pool, grades, depth, numbers.tolist())
    now = pool.score(grades[None], measures, policy)[0][..., counted].mean(axis=-1)
    without = np.empty((len(alone), *now.shape))
    size = pool.batch(measures)
    for start in range(0, len(alone), size):
        withdrawn = alone[start : start + size]
        sets = np.tile(grades, (len(withdrawn), 1))
        sets[:, :-1][withdrawn] = UNJUDGED
        without[start : start + size] = pool.score(sets, measures, policy)[..., counted].mean(axis=-1)
    members = [[name for name, one in zip(pool.names, numbers, strict=True) if one == number] for number in range(len(alone))]
    called = dict(enumerate(f"{runs[0]} and {len(runs) - 1} more" if runs[1:] else runs[0] for runs in members))
    spec, own = LEFT_OUT if groups is None else GROUPS_OUT, (numbers, np.arange(len(numbers)))
    frames = []
    for column, one in enumerate(measures):
        level = policy.relevance_level if one.level is None else one.level
        before, after = now[:, column], without[*own, column]
        frames.append(pd.DataFrame({
            "metric": one.name, "group": [(names or called)[number] for number in numbers.tolist()],
            "runs": [len(members[number]) for number in numbers], "system": pool.names,
            "unique": alone.sum(axis=1)[numbers],
            "unique_relevant": (alone & (grades[:-1] >= level)).sum(axis=1)[numbers],
            "before": before, "after": after, "difference": after - before, "rank_before": ranks(before),
            "rank_after": ranks(without[:, :, column])[own], "guessed": names is None,
        }))  # fmt: skip
    return pd.concat(frames, ignore_index=True)[[field.name for field in spec.fields]]
