"""Can the judgments be reused for a run that did not help to make them? Leave one run out, or all runs of one source, and see.

A run of a team that took part keeps most of its judgments when it alone is left out, for its sister runs contributed them too;
so what a new team would meet is seen by leaving out whole groups (Voorhees 2000; Buckley et al. 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import count, difference, flag, score, table, text
from robustcs.statistics.ranks import ranks

Mask = npt.NDArray[np.bool_]

LEFT_OUT = table(
    "leave_one_out", "Every run scored as if it had not contributed to the pool.",
    text("metric"), text("run"), count("unique", "judgments that it alone contributed, which are withdrawn"),
    count("unique_relevant", "of them at or above the relevance level", "relevant"),
    score("before", "by all judgments", "with"), score("after", "by those that are left", "without"),
    difference("difference", "after − before", "change"), count("rank_before", "among all runs, scored by the same judgments"),
    count("rank_after"),
)  # fmt: skip
GROUPS_OUT = table(
    "leave_group_out", "Every run scored as if no run of its group had contributed to the pool.",
    text("metric"), text("group"), count("runs", "of the group"), text("run"),
    count("unique", "judgments that the group alone contributed, which are withdrawn"),
    count("unique_relevant", "of them at or above the relevance level", "relevant"),
    score("before", "by all judgments", "with"), score("after", "by those that are left", "without"),
    difference("difference", "after − before", "change"), count("rank_before", "among all runs, scored by the same judgments"),
    count("rank_after"), flag("guessed", "were the groups guessed from the passages that runs alone share?"),
)  # fmt: skip
#: Two runs or groups are taken for one source where they share so much of what no other has.
_SHARED = 0.25
#: Fewer groups are not joined: of so few, any two share much that the others lack.
_FEWEST = 3


def contributed_alone(pool: RunPool, grades: Grades, depth: int, groups: Sequence[int] | None = None) -> Mask:
    """bool[G, N]: the pair is judged, stands in the top ``depth`` of the group's runs, and in no other run's.

    ``groups``: the number of every run's group, from 0 on; without, every run is its own.
    """
    within = pool.best_ranks() <= depth
    if groups is not None:
        within = np.array([within[np.asarray(groups) == number].any(axis=0) for number in range(max(groups) + 1)])
    return np.asarray(within & (within.sum(axis=0) == 1) & (grades[:-1] > UNJUDGED))


def guessed_groups(pool: RunPool, grades: Grades, depth: int) -> tuple[int, ...]:
    """The number of every run's group, guessed: runs that share much of what no other run contributed are of one source.

    Of the judged passages in the top ``depth``, two groups share those that both have and no other; of what neither any other
    group has they must be a quarter. The two groups that share most are joined, again and again, beginning with single runs.
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
    counted: Mask,
) -> pd.DataFrame:
    """Every run scored as if it had not contributed to the pool (Zobel 1998; Buckley et al. 2007).

    The judgments that the run alone contributed (:func:`contributed_alone`) are withdrawn and all runs are scored again.
    Who really contributed is not known from qrels: this takes the given runs, to ``depth``, as the contributors. A turn that
    loses its last judgment stays and scores 0. ``counted`` (bool[T]) are the turns that means go over.

    Returns :data:`LEFT_OUT`, one row per measure and run.
    """
    rows = _left_out(pool, grades, depth, measures, policy, counted, range(len(pool.names)))
    return LEFT_OUT.frame([{field.name: row[field.name] for field in LEFT_OUT.fields} for row in rows])


def leave_group_out(
    pool: RunPool,
    grades: Grades,
    depth: int,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: Mask,
    groups: Sequence[int],
    names: Mapping[int, str] | None = None,
) -> pd.DataFrame:
    """As :func:`leave_one_out`, with the judgments withdrawn that a run's whole group alone contributed.

    ``groups``: the number of every run's group, from 0 on; ``names`` what they are called, None where they were guessed.

    Returns :data:`GROUPS_OUT`, one row per measure and run.
    """
    guessed = names is None
    if names is None:
        names = {number: _called([n for n, g in zip(pool.names, groups, strict=True) if g == number]) for number in groups}
    sizes = np.bincount(groups)
    columns = [field.name for field in GROUPS_OUT.fields]
    rows = []
    for row in _left_out(pool, grades, depth, measures, policy, counted, groups):
        row |= {"group": names[row["number"]], "runs": int(sizes[row["number"]]), "guessed": guessed}
        rows.append({name: row[name] for name in columns})
    return GROUPS_OUT.frame(rows)


def _called(runs: Sequence[str]) -> str:
    return runs[0] if len(runs) == 1 else f"{runs[0]} and {len(runs) - 1} more"


def _left_out(
    pool: RunPool,
    grades: Grades,
    depth: int,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: Mask,
    groups: Sequence[int],
) -> list[dict[str, Any]]:
    """One row per measure and run, ``number`` being that of its group, whose own judgments are withdrawn."""
    alone = contributed_alone(pool, grades, depth, groups)
    now = pool.score(grades[None], measures, policy)[0][..., counted].mean(axis=-1)
    without = np.empty((len(alone), *now.shape))
    size = pool.batch(measures)
    for start in range(0, len(alone), size):
        withdrawn = alone[start : start + size]
        sets = np.tile(grades, (len(withdrawn), 1))
        sets[:, :-1][withdrawn] = UNJUDGED
        without[start : start + size] = pool.score(sets, measures, policy)[..., counted].mean(axis=-1)
    rows = []
    for column, measure in enumerate(measures):
        level = policy.relevance_level if measure.level is None else measure.level
        before = ranks(now[:, column])
        after = ranks(without[:, :, column])
        for run, (name, number) in enumerate(zip(pool.names, groups, strict=True)):
            rows.append({
                "metric": measure.name,
                "number": number,
                "run": name,
                "unique": int(alone[number].sum()),
                "unique_relevant": int((alone[number] & (grades[:-1] >= level)).sum()),
                "before": now[run, column],
                "after": without[number, run, column],
                "difference": without[number, run, column] - now[run, column],
                "rank_before": int(before[run]),
                "rank_after": int(after[number, run]),
            })  # fmt: skip
    return rows
