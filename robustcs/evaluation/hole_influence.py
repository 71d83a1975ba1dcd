"""How much the grade of an unjudged passage is expected to move the differences between runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.hole_features import Floats
from robustcs.evaluation.hole_model import HoleModel
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.policy import EvaluationPolicy


def expected_influence(
    model: HoleModel,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    compared: Sequence[tuple[int, int]] = (),
    counted: npt.NDArray[np.bool_] | None = None,
) -> Floats:
    """float64[H], in the order of ``model.pairs``: Σ_g P(g) · Σ |change of a compared difference were the passage judged g|.

    Differences are of means over the turns ``counted`` (bool[T]), added up over ``compared`` (pairs of run numbers; without
    any, the scores themselves) and measures. All other holes stay as they are.
    """
    probabilities = model.probabilities()
    holes, turns = model.pairs, model.holes.turns
    number = np.bincount(turns, minlength=model.turns)
    place = np.arange(len(holes)) - np.repeat(np.cumsum(number) - number, number)
    base = pool.score(grades[None], measures, policy)[0]
    first, second = (np.array([pair[side] for pair in compared], dtype=np.int64) for side in (0, 1))
    influence = np.zeros(len(holes))
    # a hole changes its own turn only, so one set of grades tries one hole of every turn
    jobs = [(step, column) for step in range(int(number.max(initial=0))) for column in range(len(model.levels))]
    size = pool.batch(measures)
    for start in range(0, len(jobs), size):
        some = jobs[start : start + size]
        sets = np.tile(grades, (len(some), 1))
        for row, (step, column) in zip(sets, some, strict=True):
            row[holes[place == step]] = model.levels[column]
        change = pool.score(sets, measures, policy) - base
        moved = change[:, first] - change[:, second] if len(compared) else change
        total = np.abs(moved).sum(axis=(1, 2))  # (sets, turns)
        for row, (step, column) in zip(total, some, strict=True):
            tried = np.flatnonzero(place == step)
            influence[tried] += probabilities[tried, column] * row[turns[tried]]
    used = np.ones(model.turns, dtype=bool) if counted is None else counted
    return np.asarray(influence * used[turns] / max(int(used.sum()), 1))
