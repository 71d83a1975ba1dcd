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


def hole_effects(
    model: HoleModel,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: npt.NDArray[np.bool_],
) -> Floats:
    """float64[H, L, R, M]: by how much each level of a hole of ``model.pairs`` alone would move the mean score of every run.

    Means go over the turns ``counted`` (bool[T]). All other holes stay as they are.
    """
    holes, turns = model.pairs, model.holes.turns
    number = np.bincount(turns, minlength=model.turns)
    place = np.arange(len(holes)) - np.repeat(np.cumsum(number) - number, number)
    base = pool.score(grades[None], measures, policy)[0]
    effects = np.zeros((len(holes), len(model.levels), *base.shape[:2]))
    # a hole changes its own turn only, so one set of grades tries one hole of every turn
    jobs = [(step, column) for step in range(int(number.max(initial=0))) for column in range(len(model.levels))]
    size = pool.batch(measures)
    for start in range(0, len(jobs), size):
        some = jobs[start : start + size]
        sets = np.tile(grades, (len(some), 1))
        for row, (step, column) in zip(sets, some, strict=True):
            row[holes[place == step]] = model.levels[column]
        change = pool.score(sets, measures, policy) - base
        for moved, (step, column) in zip(change, some, strict=True):
            tried = np.flatnonzero(place == step)
            effects[tried, column] = np.moveaxis(moved[..., turns[tried]], -1, 0)
    return np.asarray(effects * counted[turns][:, None, None, None] / max(int(counted.sum()), 1))


def expected_influence(model: HoleModel, effects: Floats, compared: Sequence[tuple[int, int]] = ()) -> Floats:
    """float64[H], in the order of ``model.pairs``: Σ_g P(g) · Σ |change of a compared difference were the passage judged g|.

    ``effects``: :func:`hole_effects`. Differences are added up over ``compared`` (pairs of run numbers; without any, the scores
    themselves) and measures.
    """
    first, second = (np.array([pair[side] for pair in compared], dtype=np.int64) for side in (0, 1))
    probabilities = model.probabilities()
    influence = np.zeros(len(effects))
    for column in range(effects.shape[1]):
        change = effects[:, column]
        moved = change[:, first] - change[:, second] if len(compared) else change
        influence += probabilities[:, column] * np.abs(moved).sum(axis=(1, 2))
    return influence
