"""Limits of the hole model: warnings from the judgments, and a test on hidden judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.hole_features import found_alone
from robustcs.evaluation.hole_model import HoleModel, fit_stages, hide, split
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.evaluation.state import UNKNOWN_SOURCES, RunSources
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Floats
from robustcs.statistics.estimate import CONFIDENCE
from robustcs.wording import counted, verb

#: Share of the judged passages that the test hides at a time, and the least acceptable coverage.
_HIDDEN, _COVERED = 0.1, 0.85
#: Largest acceptable deviation of the recalibration's slope from 1 and of its level from 0.
_SLOPE, _LEVEL = 0.25, 0.4
#: Fewer judged passages are too few to learn from.
_FEW = 100
#: Least judged share of a group's exclusive passages; shares of unjudged passages from which warnings are given.
_JUDGED, _ALONE, _DEEP, _MANY = 0.1, 0.05, 0.1, 0.3


@dataclass(frozen=True)
class HoleCheck:
    """Test of the model on the user's own judgments.

    level, slope
        a and b of truth ≈ a + b · prediction (logits) on hidden judged passages; 0 and 1 if the model is calibrated.
    coverage
        Share of the true means and differences of means inside their 95% intervals, over ``hidings`` repetitions that each hide
        a tenth of the judged passages. NaN if no hidden passage affects a score.
    warning
        Warning to show with the model's numbers; None if the test succeeded.
    """

    level: float
    slope: float
    coverage: float
    hidings: int
    warning: str | None


def draws_interval(values: Floats) -> tuple[Floats, Floats]:
    """Return the 95% interval of draws (first axis): a further draw lies outside with exactly 5% probability."""
    tails = [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2]
    low, high = np.quantile(values, tails, axis=0, method="weibull")
    return low, high


def check_hole_model(
    model: HoleModel,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: npt.NDArray[np.bool_] | None = None,
    hidings: int = 10,
    draws: int = 100,
) -> HoleCheck:
    """Hide a tenth of the judged passages ``hidings`` times, distributed like the unjudged ones, and predict the scores.

    The model keeps its variances and recalibration; its coefficients are fitted again. ``counted`` (bool[T]): the turns over
    which means are taken, if they are among those that the model ``sampled``.
    """
    chosen = model.sampled
    there = chosen[model.judged.turns]
    judged, own = model.judged.take(there), model.values[there]
    counted = np.ones(len(chosen), dtype=bool) if counted is None else counted
    rng = np.random.default_rng([model.seed, hidings])
    first, second = np.triu_indices(len(pool.names), 1)
    truth = pool.score(grades[None], measures, policy)[..., counted & chosen].mean(axis=-1)
    inside: list[npt.NDArray[np.bool_]] = []
    for number in range(hidings):
        hidden = hide(judged, model.holes, _HIDDEN, rng)
        if not hidden.any():
            continue
        left = grades.copy()
        left[judged.pairs[hidden]] = UNJUDGED
        known, unknown = split(pool, judged, hidden, grades)
        stages = fit_stages(known, own[~hidden], model.levels, model.turns, model.stages)
        trial = replace(model, holes=unknown, stages=stages, seed=model.seed + number + 1)
        small, given = pool.scored(left, measures, trial.pairs, chosen)
        batches = trial.draws(given, draws, small.batch(measures), slice(len(trial.pairs)))
        drawn = np.concatenate([small.score(sets, measures, policy)[..., counted[chosen]].mean(axis=-1) for sets in batches])
        for values, true in ((drawn, truth[0]), (drawn[:, first] - drawn[:, second], truth[0, first] - truth[0, second])):
            low, high = draws_interval(values)
            touched = high - low > 1e-12
            inside.append(((low - 1e-9 <= true) & (true <= high + 1e-9))[touched])
    cells = np.concatenate([np.zeros(0, dtype=bool), *inside])
    coverage = float(cells.mean()) if len(cells) else float("nan")
    level, slope = (float(value) for value in model.recalibration.mean[:2])
    return HoleCheck(level, slope, coverage, hidings, _trial_warning(level, slope, coverage, hidings))


def hole_warnings(
    model: HoleModel,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    sources: RunSources = UNKNOWN_SOURCES,
    check: HoleCheck | None = None,
) -> tuple[str, ...]:
    """Return the warnings to show with the model's numbers: the result of its test, and what the judgments do not show.

    ``sources``: the sources whose exclusive passages are examined; by default the groups of the model, named after their runs.
    """
    found = [check.warning] if check and check.warning else []
    holes, judged = model.holes, model.judged
    total = len(holes)
    if len(judged) < _FEW:
        found.append(f"The hole model learned from only {counted(len(judged), 'judged passage')}.")
    groups = model.groups if sources.warned is None else sources.warned
    numbers, alone = found_alone(pool, groups, int(holes.best.max()))
    lonely = []
    for group, own in zip(numbers.tolist(), alone, strict=True):
        unjudged, known = int(own[holes.pairs].sum()), int(own[judged.pairs].sum())
        if unjudged >= _ALONE * total and known < _JUDGED * (known + unjudged):
            runs = [name for name, number in zip(pool.names, groups, strict=True) if number == group]
            name = sources.names.get(group, runs[0] if len(runs) == 1 else f"the group of {runs[0]}")
            lonely.append((name, known, known + unjudged))
    if lonely:
        (name, known, all_), *others = lonely
        rest = "; ".join(f"{other}: {theirs} of {every}" for other, theirs, every in others)
        more = f" ({rest})" if rest else ""
        found.append(
            f"Of the {all_} passages at these ranks that only {name} retrieved, {known} {verb(known, 'is', 'are')}"
            f" judged{more}."
            " The judgments do not show whether these passages are more or less relevant than those of other runs; the 95%"
            " intervals may cover less than 95%."
        )
    deep = int((holes.log_best > model.limit).sum())
    if deep >= _DEEP * total:
        found.append(
            f"{deep} of {total} unjudged passages are deeper than nearly all judged ones; their grades are extrapolated."
        )
    if total >= _MANY * (total + len(judged)) and any(measure.family == "map" for measure in measures):
        found.append(
            f"{total} of {total + len(judged)} passages are unjudged. With so many, the intervals of MAP may be too narrow."
        )
    return tuple(found)


def _trial_warning(level: float, slope: float, coverage: float, hidings: int) -> str | None:
    reasons = []
    if coverage < _COVERED:
        reasons.append(f"the 95% intervals covered only {coverage:.0%} of the scores and differences")
    if abs(slope - 1) > _SLOPE:
        reasons.append(f"the predictions were too {'cautious' if slope > 1 else 'confident'} (slope {slope:.2f} instead of 1)")
    if abs(level) > _LEVEL:
        reasons.append(f"the predicted grades were too {'low' if level > 0 else 'high'} (level {level:+.2f} instead of 0)")
    if not reasons:
        return None
    return (
        f"Do not rely on the predicted grades. In a test with a tenth of the judged passages hidden ({hidings} repetitions),"
        f" {' and '.join(reasons)}."
    )
