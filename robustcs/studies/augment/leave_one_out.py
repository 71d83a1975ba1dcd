"""Can the judgments be reused for a run that did not help to make them? Leave one run out and see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.policy import EvaluationPolicy
from robustcs.result import count, difference, score, table, text
from robustcs.statistics.ranks import ranks

if TYPE_CHECKING:
    import pandas as pd

LEFT_OUT = table(
    "leave_one_out", "Every run scored as if it had not contributed to the pool.",
    text("metric"), text("run"), count("unique", "judgments that it alone contributed, which are withdrawn"),
    count("unique_relevant", "of them at or above the relevance level", "relevant"),
    score("before", "by all judgments", "with"), score("after", "by those that are left", "without"),
    difference("difference", "after − before", "change"), count("rank_before", "among all runs, scored by the same judgments"),
    count("rank_after"),
)  # fmt: skip


def contributed_alone(pool: RunPool, grades: Grades, depth: int) -> npt.NDArray[np.bool_]:
    """bool[R, N]: the pair is judged, stands in the run's top ``depth``, and in no other run's."""
    within = pool.best_ranks() <= depth
    return np.asarray(within & (within.sum(axis=0) == 1) & (grades[:-1] > UNJUDGED))


def leave_one_out(
    pool: RunPool,
    grades: Grades,
    depth: int,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: npt.NDArray[np.bool_],
) -> pd.DataFrame:
    """Every run scored as if it had not contributed to the pool (Zobel 1998; Buckley et al. 2007).

    The judgments that the run alone contributed (:func:`contributed_alone`) are withdrawn and all runs are scored again.
    Who really contributed is not known from qrels: this takes the given runs, to ``depth``, as the contributors. A turn that
    loses its last judgment stays and scores 0. ``counted`` (bool[T]) are the turns that means go over.

    Returns :data:`LEFT_OUT`, one row per measure and run.
    """
    alone = contributed_alone(pool, grades, depth)
    now = pool.score(grades[None], measures, policy)[0][..., counted].mean(axis=-1)
    without = np.empty((len(pool.names), *now.shape))
    size = pool.batch(measures)
    for start in range(0, len(pool.names), size):
        withdrawn = alone[start : start + size]
        sets = np.tile(grades, (len(withdrawn), 1))
        sets[:, :-1][withdrawn] = UNJUDGED
        without[start : start + size] = pool.score(sets, measures, policy)[..., counted].mean(axis=-1)
    rows = []
    for column, measure in enumerate(measures):
        level = policy.relevance_level if measure.level is None else measure.level
        before = ranks(now[:, column])
        after = ranks(without[:, :, column])
        for run, name in enumerate(pool.names):
            rows.append({
                "metric": measure.name,
                "run": name,
                "unique": int(alone[run].sum()),
                "unique_relevant": int((alone[run] & (grades[:-1] >= level)).sum()),
                "before": now[run, column],
                "after": without[run, run, column],
                "difference": without[run, run, column] - now[run, column],
                "rank_before": int(before[run]),
                "rank_after": int(after[run, run]),
            })  # fmt: skip
    return LEFT_OUT.frame(rows)
