"""What if the unjudged passages were judged? Grades are drawn many times, and every score is computed with them.

Grades come from the hole model (:mod:`robustcs.evaluation.hole_model`), fitted to the judged passages of the same runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robustcs.evaluation.groups import UNKNOWN_SOURCES, RunSources
from robustcs.evaluation.hole_check import HoleCheck, draws_interval
from robustcs.evaluation.hole_expectation import DRAWS, Contrast, FilledHoles, fill_holes
from robustcs.evaluation.hole_tipping import tipping
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Field, difference, measure, score, share, table, text
from robustcs.statistics import Floats, Mask
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.units import Units

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


@dataclass(frozen=True)
class WhatIf:
    """Results of the draws: the tables :data:`WHAT_IF` and :data:`FLIPS`, and
    :data:`~robustcs.evaluation.hole_tipping.TIPPING` of the pairs that any draw reverses.

    holes
        Unjudged passages that got grades.
    check
        Test of the hole model on the judgments; None without unjudged passages.
    warnings
        Limits of the numbers, shown with them.
    """

    scores: pd.DataFrame
    pairs: pd.DataFrame
    tipping: pd.DataFrame
    draws: int
    depth: int
    holes: int
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
    ranking of its turn. Deeper passages remain unjudged. ``counted`` (bool[T]): the turns over which means are taken.
    ``sources``: those of the runs.

    Raises :class:`UsageError` if the judgments do not suffice to fit the model.
    """
    turns = int(counted.sum())
    whole = Units("turn", np.zeros(turns, dtype=np.int64), ("all",))  # means over these turns only
    filled = fill_holes(
        pool, grades, measures, policy, counted, whole, seed, sources, depth=depth, draws=draws
    )
    now, means, warnings = (
        filled.now[..., 0] / turns,
        filled.sums[..., 0] / turns,
        list(filled.warnings),
    )
    if filled.holes and draws < ENOUGH_DRAWS:
        warnings.append(
            f"{draws} draws are too few for a range of 95%; the range shows their lowest and highest values"
        )
    pairs = _flips(pool, measures, now, means)
    return WhatIf(
        scores=_scores(pool, measures, now, means),
        pairs=pairs,
        tipping=_tipping(replace(filled, sums=filled.sums[:DRAWS]), pool, pairs),
        draws=draws,
        depth=depth,
        holes=filled.holes,
        check=filled.check,
        warnings=tuple(warnings),
    )


def _scores(pool: RunPool, measures: Sequence[Measure], now: Floats, means: Floats) -> pd.DataFrame:
    low, high = draws_interval(means)
    keys = {
        "system": pool.names * len(measures),
        "metric": np.repeat([one.name for one in measures], len(pool.names)),
    }
    columns = {"score": now, "mean": means.mean(axis=0), "low": low, "high": high}
    return pd.DataFrame(keys | {name: values.T.ravel() for name, values in columns.items()})


def _flips(pool: RunPool, measures: Sequence[Measure], now: Floats, means: Floats) -> pd.DataFrame:
    first, second = np.triu_indices(len(pool.names), 1)
    names = np.array(pool.names, dtype=object)
    frames = []
    for column, one in enumerate(measures if len(first) else ()):
        observed = np.round(now[first, column] - now[second, column], DECIMALS)
        drawn = np.round(means[:, first, column] - means[:, second, column], DECIMALS)
        low, high = draws_interval(drawn)
        flips = np.where(observed, (np.sign(drawn) == -np.sign(observed)).mean(axis=0), np.nan)
        frames.append(pd.DataFrame({
            "metric": one.name, "first": names[first], "second": names[second], "difference": observed,
            "mean": drawn.mean(axis=0), "low": low, "high": high, "flips": flips,
        }))  # fmt: skip
    return FLIPS.frame(frames)


def _tipping(filled: FilledHoles, pool: RunPool, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return tipping points of the order, on these turns, for pairs that any draw reverses."""
    place = {name: number for number, name in enumerate(pool.names)}
    tested: dict[str, list[Contrast]] = {}
    for row in pairs[pairs["flips"] > 0].itertuples():
        contrast = Contrast((row.first, row.second), (place[row.first],), (place[row.second],))
        tested.setdefault(row.metric, []).append(contrast)
    family = list(dict.fromkeys(one for some in tested.values() for one in some))
    return tipping(filled, tested, family, ("order", "sure"))
