"""What if the unjudged passages were judged? Grades are drawn many times, and every score is computed with them.

Grades come from the hole model (:mod:`robustcs.evaluation.hole_model`), fitted to the judged passages of the same runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robustcs.evaluation.hole_check import HoleCheck, draws_interval
from robustcs.evaluation.hole_expectation import DRAWS, Contrast, FilledHoles, fill_holes
from robustcs.evaluation.hole_model import HoleModel
from robustcs.evaluation.hole_tipping import tipping
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import NEVER, Grades, RunPool
from robustcs.evaluation.state import UNKNOWN_SOURCES, RunSources
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Field, count, difference, measure, score, share, table, text
from robustcs.statistics import Codes, Floats, Mask
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.units import Units

#: Last ranks of the bands in which predictions are shown together.
BANDS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
#: With fewer draws, the range from the lowest to the highest covers less than 95%.
ENOUGH_DRAWS = 39


def _drawn(field: Field) -> tuple[Field, ...]:
    """Return a mean over the draws and the range of 95% of them, which is not a confidence interval."""
    mean, *ends = field.between("low", "high", "range of 95% of the draws")
    return mean.called("mean (95% of draws)"), *ends


WHAT_IF = table(
    "what_if", "Mean scores with grades drawn for the unjudged passages of the pool.",
    text("system"), measure(), score("score", "score with unjudged passages as not relevant", "now"),
    *_drawn(score("mean", "over the draws")),
)  # fmt: skip
FLIPS = table(
    "flips", "Difference of two runs over the draws.",
    measure(), text("first", header="First"), text("second", header="Second"),
    difference("difference", "first − second with unjudged passages as not relevant", "now"),
    *_drawn(difference("mean", "over the draws")),
    share("flips", "share of draws with the opposite order; null if the runs are tied now"),
)  # fmt: skip
RATES = table(
    "rates", "Probability of each grade for the unjudged passages, by their best rank in any run.",
    text("ranks", "band of best ranks"), count("grade"),
    share("share", "mean probability by the hole model; adds up to 1 in each band"),
    count("judged", "judged passages with these best ranks"),
    count("holes", "unjudged passages that got grades", "unjudged"),
)  # fmt: skip

#: For the warning: factor by which deeper passages exceed the pool, least depth (the usual depth of pools), and number of
#: draws.
_DEEPER, _USUAL, _DEEPER_DRAWS = 2, 10, 50


@dataclass(frozen=True)
class WhatIf:
    """Results of the draws: the tables :data:`WHAT_IF`, :data:`FLIPS` and :data:`RATES`, and
    :data:`~robustcs.evaluation.hole_tipping.TIPPING` of the pairs that any draw reverses.

    holes
        Unjudged passages that got grades.
    groups
        Number of groups of runs in the hole model; None without unjudged passages.
    check
        Test of the hole model on the judgments; None without unjudged passages.
    warnings
        Limits of the numbers, shown with them.
    """

    scores: pd.DataFrame
    pairs: pd.DataFrame
    rates: pd.DataFrame
    tipping: pd.DataFrame
    draws: int
    depth: int
    holes: int
    groups: int | None
    check: HoleCheck | None
    warnings: tuple[str, ...]


def what_if(
    pool: RunPool,
    grades: Grades,
    depth: int,
    draws: int,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: Mask,
    seed: int,
    sources: RunSources = UNKNOWN_SOURCES,
) -> WhatIf:
    """Draw a grade for every unjudged passage in the top ``depth`` of any run, ``draws`` times.

    The hole model is fitted to the judgments and tested on them. A passage has one grade per draw, in all runs and in the ideal
    ranking of its turn. Deeper passages remain unjudged; a warning says so if judging them is expected to move scores out of
    the intervals. ``counted`` (bool[T]): the turns over which means are taken. ``sources``: those of the runs.

    Raises :class:`UsageError` if the judgments do not suffice to fit the model.
    """
    turns = int(counted.sum())
    whole = Units("turn", np.zeros(turns, dtype=np.int64), ("all",))  # means over these turns only
    common = pool, grades, measures, policy, counted, whole, seed, sources
    filled = fill_holes(*common, depth=depth, draws=draws)
    now, means, warnings = filled.now[..., 0] / turns, filled.sums[..., 0] / turns, list(filled.warnings)
    if filled.holes and draws < ENOUGH_DRAWS:
        warnings.append(f"{draws} draws are too few for a range of 95%; the range shows their lowest and highest values")
    best, deeper = pool.best_ranks().min(axis=0, initial=NEVER), max(_DEEPER * depth, _USUAL)
    if ((best > depth) & (best <= deeper) & (grades[:-1] == UNJUDGED)).any():
        further = fill_holes(*common, check=False, depth=deeper, draws=_DEEPER_DRAWS)
        warnings += _left(means, further.sums[..., 0].mean(axis=0) / turns, measures, depth, deeper)
    pairs = _flips(pool, measures, now, means)
    model = filled.scoring.model if filled.scoring else None
    return WhatIf(
        scores=_scores(pool, measures, now, means),
        pairs=pairs,
        rates=_rates(model, best, grades, depth),
        tipping=_tipping(replace(filled, sums=filled.sums[:DRAWS]), pool, pairs),
        draws=draws,
        depth=depth,
        holes=filled.holes,
        groups=len(set(model.groups)) if model else None,
        check=filled.check,
        warnings=tuple(warnings),
    )


def _left(means: Floats, expected: Floats, measures: Sequence[Measure], depth: int, deeper: int) -> list[str]:
    """Return a warning if the ``expected`` scores (float64[R, M]) under deeper judgments are outside the intervals."""
    low, high = draws_interval(means)
    leave = ((expected < low - 1e-9) | (expected > high + 1e-9)).sum(axis=0)
    parts = [f"{one.label} of {count} of {len(expected)} runs" for one, count in zip(measures, leave, strict=True) if count]
    return [
        f"These numbers assume judging to rank {depth}. Judging to rank {deeper} is expected to move scores out of the ranges"
        f" of 95% of the draws: {', '.join(parts)}. Deeper passages affect the ideal ranking and the number of relevant"
        f" passages. If they will be judged, use --pool-depth {deeper}."
    ] if parts else []  # fmt: skip


def _scores(pool: RunPool, measures: Sequence[Measure], now: Floats, means: Floats) -> pd.DataFrame:
    low, high = draws_interval(means)
    keys = {"system": pool.names * len(measures), "metric": np.repeat([one.name for one in measures], len(pool.names))}
    columns = {"score": now, "mean": means.mean(axis=0), "low": low, "high": high}
    return pd.DataFrame(keys | {name: values.T.ravel() for name, values in columns.items()})


def _flips(pool: RunPool, measures: Sequence[Measure], now: Floats, means: Floats) -> pd.DataFrame:
    first, second = np.triu_indices(len(pool.names), 1)
    names = np.array(pool.names, dtype=object)
    frames = [FLIPS.frame([])]
    for column, one in enumerate(measures if len(first) else ()):
        observed = np.round(now[first, column] - now[second, column], DECIMALS)
        drawn = np.round(means[:, first, column] - means[:, second, column], DECIMALS)
        low, high = draws_interval(drawn)
        flips = np.where(observed, (np.sign(drawn) == -np.sign(observed)).mean(axis=0), np.nan)
        frames.append(pd.DataFrame({
            "metric": one.name, "first": names[first], "second": names[second], "difference": observed,
            "mean": drawn.mean(axis=0), "low": low, "high": high, "flips": flips,
        }))  # fmt: skip
    return pd.concat(frames[1:] or frames, ignore_index=True)


def _tipping(filled: FilledHoles, pool: RunPool, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return tipping points of the order, on these turns, for pairs that any draw reverses."""
    place = {name: number for number, name in enumerate(pool.names)}
    asked: dict[str, list[Contrast]] = {}
    for row in pairs[pairs["flips"] > 0].itertuples():
        contrast = Contrast((row.first, row.second), (place[row.first],), (place[row.second],))
        asked.setdefault(row.metric, []).append(contrast)
    family = list(dict.fromkeys(one for some in asked.values() for one in some))
    return tipping(filled, asked, family, ("order", "sure"))


def _rates(model: HoleModel | None, best: Codes, grades: Grades, depth: int) -> pd.DataFrame:
    """Return one row for each grade and each band of ranks with unjudged passages."""
    if model is None:
        return RATES.frame([])
    lasts = (*(last for last in BANDS if last < depth), depth)
    chances = model.probabilities()
    bands = np.searchsorted(lasts, best[model.pairs])
    judged = np.bincount(np.searchsorted(lasts, best[grades[:-1] > UNJUDGED]), minlength=len(lasts))
    rows = []
    for band, (first, last) in enumerate(zip((1, *(last + 1 for last in lasts)), lasts, strict=False)):
        inside, ranks = chances[bands == band], str(first) if first == last else f"{first}-{last}"
        rows += [
            (ranks, int(grade), share, int(judged[band]), len(inside))
            for grade, share in zip(model.levels, inside.mean(axis=0), strict=True)
        ] if len(inside) else []  # fmt: skip
    return RATES.frame(rows)
