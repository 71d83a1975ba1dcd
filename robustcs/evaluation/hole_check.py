"""A test of the hole model on hidden judgments, and warnings to show with its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robustcs.evaluation.groups import UNKNOWN_SOURCES, RunSources
from robustcs.evaluation.hole_features import found_alone
from robustcs.evaluation.hole_model import HoleModel, fit_stages, hide, split
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Floats, Mask
from robustcs.statistics.estimate import CONFIDENCE
from robustcs.wording import counted as counted_text
from robustcs.wording import verb

#: Share of the judged passages that the test hides at a time.
_HIDDEN = 0.1
#: Least acceptable coverage of the 95% intervals in the test.
_COVERED = 0.85
#: Largest acceptable deviation of the recalibration's slope from 1 and of its level from 0.
_SLOPE, _LEVEL = 0.25, 0.4
#: Fewer judged passages are too few to learn from.
_FEW_JUDGED = 100
#: Least judged share of the passages that only one source retrieves. There is a warning if they are
#: at least this share of the unjudged passages.
_ALONE_JUDGED, _ALONE = 0.1, 0.05
#: Shares of unjudged passages from which there is a warning: of those below the depth that the
#: model knows among the unjudged, and of all unjudged passages, for MAP.
_DEEP, _UNJUDGED = 0.1, 0.3
#: A narrower interval is that of a value which no hidden passage affects.
_AFFECTED = 1e-12
#: A true value so far outside an interval lies inside, up to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class HoleCheck:
    """Test of the model on the user's own judgments.

    level, slope
        a and b of truth ≈ a + b · prediction (logits) on hidden judged passages; 0 and 1 if the
        model is calibrated.
    coverage
        Share of the true means and differences of means inside their 95% intervals, over
        ``hidings`` repetitions that each hide a tenth of the judged passages. NaN if no hidden
        passage affects a score.
    warning
        Warning to show with the model's numbers; None if the test succeeded.
    """

    level: float
    slope: float
    coverage: float
    hidings: int
    warning: str | None


def draws_interval(values: Floats) -> tuple[Floats, Floats]:
    """Return the 95% interval of draws (first axis): lower and upper limits.

    They are Weibull's quantiles: a further draw lies outside with exactly 5% probability.
    """
    tails = [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2]
    low, high = np.quantile(values, tails, axis=0, method="weibull")
    return low, high


def check_hole_model(
    model: HoleModel,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: Mask | None = None,
    hidings: int = 10,
    draws: int = 100,
) -> HoleCheck:
    """Hide a tenth of the judged passages ``hidings`` times and predict the scores.

    Hidden passages are distributed like the unjudged ones. The model keeps its variances and
    recalibration; its coefficients are fitted again.

    grades
        int16[N + 1]: the judgments.
    counted
        bool[T]: the turns over which means are taken, if they are among those that the model
        ``sampled``; None counts all.
    draws
        Number of draws of grades in each repetition.
    """
    in_sample = model.sampled[model.judged.turns]
    judged, values = model.judged.take(in_sample), model.values[in_sample]
    if counted is None:
        counted = np.ones(len(model.sampled), dtype=bool)
    rng = np.random.default_rng([model.seed, hidings])
    first, second = np.triu_indices(len(pool.names), 1)
    scores = pool.score(grades[None], measures, policy)[0]
    truth = scores[..., counted & model.sampled].mean(axis=-1)
    covered: list[Mask] = []
    for repetition in range(hidings):
        hidden = hide(judged, model.holes, _HIDDEN, rng)
        if not hidden.any():
            continue
        known, unknown = split(pool, judged, hidden, grades)
        stages = fit_stages(known, values[~hidden], model.levels, model.turns, model.stages)
        refitted = replace(model, holes=unknown, stages=stages, seed=model.seed + repetition + 1)
        known_grades = grades.copy()
        known_grades[judged.pairs[hidden]] = UNJUDGED
        drawn = _drawn_means(refitted, pool, known_grades, measures, policy, counted, draws)
        covered.append(_covered(drawn, truth))
        drawn_differences = drawn[:, first] - drawn[:, second]
        covered.append(_covered(drawn_differences, truth[first] - truth[second]))

    cells = np.concatenate([np.zeros(0, dtype=bool), *covered])
    coverage = float(cells.mean()) if len(cells) else float("nan")
    level, slope = (float(value) for value in model.recalibration.mean[:2])
    warning = _trial_warning(level, slope, coverage, hidings)
    return HoleCheck(level, slope, coverage, hidings, warning)


def _drawn_means(
    model: HoleModel,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: Mask,
    draws: int,
) -> Floats:
    """Return float64[draws, R, M]: mean scores with drawn grades of the pairs of ``model``.

    Means are over the turns ``counted`` (bool[T]) that the model sampled. ``grades``: int16[N + 1].
    """
    # the part of the pool whose scores vary: its first pairs are those of the model
    part, part_grades = pool.scored(grades, measures, model.pairs, model.sampled)
    pairs = slice(len(model.pairs))
    means = []
    for sets in model.draws(part_grades, draws, part.batch(measures), pairs):
        scores = part.score(sets, measures, policy)
        means.append(scores[..., counted[model.sampled]].mean(axis=-1))
    return np.concatenate(means)


def _covered(drawn: Floats, truth: Floats) -> Mask:
    """Return whether the intervals of ``drawn`` [draws, …] cover the ``truth`` […].

    Only for values which the draws affect, bool[≤ values].
    """
    low, high = draws_interval(drawn)
    inside = (low - _ROUNDING <= truth) & (truth <= high + _ROUNDING)
    return np.asarray(inside[high - low > _AFFECTED])


def _trial_warning(level: float, slope: float, coverage: float, hidings: int) -> str | None:
    """Return the sentence on a test that failed; None if it succeeded."""
    reasons = []
    if coverage < _COVERED:
        reasons.append(
            f"the 95% intervals covered only {coverage:.0%} of the scores and differences"
        )
    if abs(slope - 1) > _SLOPE:
        how = "cautious" if slope > 1 else "confident"
        reasons.append(f"the predictions were too {how} (slope {slope:.2f} instead of 1)")
    if abs(level) > _LEVEL:
        how = "low" if level > 0 else "high"
        reasons.append(f"the predicted grades were too {how} (level {level:+.2f} instead of 0)")
    if not reasons:
        return None
    return (
        "Do not rely on the predicted grades. In a test with a tenth of the judged passages hidden"
        f" ({hidings} repetitions), {' and '.join(reasons)}."
    )


def hole_warnings(
    model: HoleModel,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    sources: RunSources = UNKNOWN_SOURCES,
    check: HoleCheck | None = None,
) -> tuple[str, ...]:
    """Return the warnings to show with the model's numbers.

    They state the result of its test, and what the judgments do not show. ``sources``: the sources
    whose exclusive passages are examined; by default the groups of the model, named after their
    runs.
    """
    warnings = []
    if check and check.warning:
        warnings.append(check.warning)
    holes, judged = len(model.holes), len(model.judged)
    passages = holes + judged
    if judged < _FEW_JUDGED:
        warnings.append(
            f"The hole model learned from only {counted_text(judged, 'judged passage')}."
        )
    hardly_judged = _hardly_judged(model, pool, sources)
    if hardly_judged:
        warnings.append(_exclusive_warning(hardly_judged))
    deep = int((model.holes.log_best > model.limit).sum())
    if deep >= _DEEP * holes:
        warnings.append(
            f"{deep} of {holes} unjudged passages are deeper than nearly all judged ones; their"
            " grades are extrapolated."
        )
    has_map = any(measure.family == "map" for measure in measures)
    if has_map and holes >= _UNJUDGED * passages:
        warnings.append(
            f"{holes} of {passages} passages are unjudged. With so many, the intervals of MAP may"
            " be too narrow."
        )
    return tuple(warnings)


class _Exclusive(NamedTuple):
    """The passages that only one source of runs retrieved: how many, and how many are judged."""

    source: str
    judged: int
    passages: int


def _hardly_judged(model: HoleModel, pool: RunPool, sources: RunSources) -> list[_Exclusive]:
    """Return the sources of many unjudged passages whose exclusive passages are hardly judged."""
    groups = model.groups if sources.warned is None else sources.warned
    numbers, alone = found_alone(pool, groups, int(model.holes.best.max()))
    hardly_judged = []
    for group, of_group in zip(numbers.tolist(), alone, strict=True):
        unjudged = int(of_group[model.holes.pairs].sum())
        judged = int(of_group[model.judged.pairs].sum())
        passages = judged + unjudged
        if unjudged >= _ALONE * len(model.holes) and judged < _ALONE_JUDGED * passages:
            name = sources.names.get(group, _name_of_group(pool, groups, group))
            hardly_judged.append(_Exclusive(name, judged, passages))
    return hardly_judged


def _name_of_group(pool: RunPool, groups: Sequence[int], group: int) -> str:
    runs = [name for name, number in zip(pool.names, groups, strict=True) if number == group]
    return runs[0] if len(runs) == 1 else f"the group of {runs[0]}"


def _exclusive_warning(hardly_judged: Sequence[_Exclusive]) -> str:
    """Return the sentence on sources whose exclusive passages are hardly judged (one or more)."""
    example, *others = hardly_judged
    rest = "; ".join(f"{other.source}: {other.judged} of {other.passages}" for other in others)
    more = f" ({rest})" if rest else ""
    return (
        f"Of the {example.passages} passages at these ranks that only {example.source} retrieved,"
        f" {example.judged} {verb(example.judged, 'is', 'are')} judged{more}. The judgments do not"
        " show whether these passages are more or less relevant than those of other runs; the 95%"
        " intervals may cover less than 95%."
    )
