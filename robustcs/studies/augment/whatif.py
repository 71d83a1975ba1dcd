"""What if the unjudged passages were judged? Grades are drawn many times, and every score is computed with them.

Grades come from the hole model (:mod:`robustcs.evaluation.hole_model`), fitted to the judged passages of the same runs, or from
probabilities that the user gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.hole_check import HoleCheck, check_hole_model, draws_interval, model_warnings
from robustcs.evaluation.hole_expectation import DRAWS, Contrast, FilledHoles, Scoring
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model
from robustcs.evaluation.hole_tipping import tipping
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import NEVER, Grades, RunPool
from robustcs.evaluation.state import UNKNOWN_SOURCES, RunSources
from robustcs.inputs.qrels import MAX_GRADE
from robustcs.inputs.text import whole_number
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Field, count, difference, measure, score, share, table, text
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
    share("share", "mean probability by the hole model, or as given by --rates; adds up to 1 in each band"),
    count("judged", "judged passages with these best ranks; null with --rates"),
    count("holes", "unjudged passages that got grades", "unjudged"),
)  # fmt: skip

#: For the warning: factor by which deeper passages exceed the pool, least depth (the usual depth of pools), and number of
#: draws.
_DEEPER, _USUAL, _DEEPER_DRAWS = 2, 10, 50

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_RATE = re.compile(r"\s*(-?[0-9]+)\s*=\s*([0-9]*\.?[0-9]+(?:[eE]-?[0-9]+)?)\s*")


def parse_rates(text: str) -> dict[int, float]:
    """Return grade → probability of a text such as ``0=.8,1=.1,2=.1``.

    Raises :class:`UsageError` if the text cannot be parsed or the probabilities do not add up to 1.
    """
    rates: dict[int, float] = {}
    for part in text.split(","):
        match = _RATE.fullmatch(part)
        grade = whole_number(match[1], MAX_GRADE) if match else None
        if match is None or grade is None or grade in rates:
            raise UsageError("bad-rates", f"--rates contains {part.strip()!r}", "give each grade once, such as 0=.8,1=.1,2=.1")
        rates[grade] = float(match[2])
    total = sum(rates.values())
    if abs(total - 1) > 1e-6:
        raise UsageError("bad-rates", f"--rates {text} adds up to {total:g}", "use probabilities that add up to 1")
    return {grade: rate / total for grade, rate in sorted(rates.items())}


@dataclass(frozen=True, eq=False)
class GivenRates:
    """Grades drawn with probabilities from the user, the same for every unjudged passage.

    pairs
        int64[H]: the unjudged passages of the pool.
    levels
        int16[L]: the grades.
    shares
        float64[L]: their probabilities; they add up to 1.
    """

    pairs: Numbers
    levels: npt.NDArray[np.int16]
    shares: Floats
    seed: int

    def draws(self, grades: Grades, count: int, size: int) -> Iterator[Grades]:
        """Yield sets of grades; see :meth:`HoleModel.draws`."""
        limits = np.cumsum(self.shares)
        limits[-1] = 1.0  # not 0.9999999999999999: every random number must fall into a level
        rng = np.random.default_rng(self.seed)
        for start in range(0, count, size):
            sets = np.tile(grades, (min(size, count - start), 1))
            numbers = rng.random((len(sets), len(self.pairs)))
            sets[:, self.pairs] = self.levels[np.searchsorted(limits, numbers, side="right")]
            yield sets

    def probabilities(self) -> Floats:
        """Return float64[H, L]: the probability of every level for every passage."""
        return np.tile(self.shares, (len(self.pairs), 1))


@dataclass(frozen=True)
class WhatIf:
    """Results of the draws: the tables :data:`WHAT_IF`, :data:`FLIPS` and :data:`RATES`, and
    :data:`~robustcs.evaluation.hole_tipping.TIPPING` of the pairs that any draw reverses.

    holes
        Unjudged passages that got grades.
    groups
        Number of groups of runs in the hole model; None with rates from the user or without unjudged passages.
    check
        Test of the hole model on the judgments; None if the model was not used.
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
    counted: npt.NDArray[np.bool_],
    seed: int,
    rates: Mapping[int, float] | None = None,
    sources: RunSources = UNKNOWN_SOURCES,
) -> WhatIf:
    """Draw a grade for every unjudged passage in the top ``depth`` of any run, ``draws`` times.

    Without ``rates`` (grade → probability), grades come from the hole model, which is fitted to the judgments and tested on
    them. A passage has one grade per draw, in all runs and in the ideal ranking of its turn. Deeper passages remain unjudged; a
    warning says so if judging them is expected to move scores out of the intervals. ``counted`` (bool[T]): the turns over which
    means are taken. ``sources``: those of the runs. The result depends on ``seed`` but not on the number of draws scored
    together.

    Raises :class:`UsageError` if the judgments do not suffice to fit the model.
    """
    best = pool.best_ranks().min(axis=0, initial=NEVER)

    def source_for(last: int) -> HoleModel | GivenRates | None:
        if not rates:
            return fit_hole_model(pool, grades, last, sources.learned, seed)
        holes = np.flatnonzero((best <= last) & (grades[:-1] == UNJUDGED))
        given = np.array(list(rates), dtype=np.int16), np.array(list(rates.values()))
        return GivenRates(holes, *given, seed) if len(holes) else None

    def means_of(source: HoleModel | GivenRates, count: int) -> Floats:
        scored = (pool.score(sets, measures, policy) for sets in source.draws(grades, count, pool.batch(measures)))
        return np.concatenate([scores[..., counted].mean(axis=-1) for scores in scored])

    now = pool.score(grades[None], measures, policy)[0][..., counted].mean(axis=-1)
    source, check, warnings = source_for(depth), None, list[str]()
    if isinstance(source, HoleModel):
        check = check_hole_model(source, pool, grades, measures, policy, counted)
        warnings += model_warnings(source, check, pool, grades, measures, sources)
    if source and draws < ENOUGH_DRAWS:
        warnings.append(f"{draws} draws are too few for a range of 95%; the range shows their lowest and highest values")
    means = means_of(source, draws) if source else np.broadcast_to(now, (draws, *now.shape))
    deeper = max(_DEEPER * depth, _USUAL)
    if ((best > depth) & (best <= deeper) & (grades[:-1] == UNJUDGED)).any() and (further := source_for(deeper)):
        warnings += _left(means, means_of(further, _DEEPER_DRAWS).mean(axis=0), measures, depth, deeper)
    pairs = _flips(pool, measures, now, means)
    return WhatIf(
        scores=_scores(pool, measures, now, means),
        pairs=pairs,
        rates=_rates(source, best, grades, depth),
        tipping=_tipping(source, pool, grades, measures, policy, counted, seed, now, means, pairs),
        draws=draws,
        depth=depth,
        holes=len(source.pairs) if source else 0,
        groups=len(set(source.groups)) if isinstance(source, HoleModel) else None,
        check=check,
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


def _tipping(
    source: HoleModel | GivenRates | None,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: npt.NDArray[np.bool_],
    seed: int,
    now: Floats,
    means: Floats,
    pairs: pd.DataFrame,
) -> pd.DataFrame:
    """Return tipping points of the order, on these turns, for pairs that any draw reverses."""
    turns = int(counted.sum())
    units = Units("turn", np.zeros(turns, dtype=np.int64), ("all",))
    scoring = Scoring(pool, grades, tuple(measures), policy, counted, source) if isinstance(source, HoleModel) else None
    filled = FilledHoles(means[:DRAWS, ..., None] * turns, now[..., None] * turns, units, seed, 0, None, (), scoring)
    place = {name: number for number, name in enumerate(pool.names)}
    asked: dict[str, list[Contrast]] = {}
    for row in pairs[pairs["flips"] > 0].itertuples():
        contrast = Contrast((row.first, row.second), (place[row.first],), (place[row.second],))
        asked.setdefault(row.metric, []).append(contrast)
    family = list(dict.fromkeys(one for some in asked.values() for one in some))
    return tipping(filled, asked, family, ("order", "sure"))


def _rates(source: HoleModel | GivenRates | None, best: Numbers, grades: Grades, depth: int) -> pd.DataFrame:
    """Return one row for each grade and each band of ranks with unjudged passages. Given rates form one band."""
    if source is None:
        return RATES.frame([])
    known = isinstance(source, HoleModel)
    lasts = (*(last for last in BANDS if last < depth and known), depth)
    chances = source.probabilities()
    bands = np.searchsorted(lasts, best[source.pairs])
    judged = np.bincount(np.searchsorted(lasts, best[grades[:-1] > UNJUDGED]), minlength=len(lasts))
    rows = []
    for band, (first, last) in enumerate(zip((1, *(last + 1 for last in lasts)), lasts, strict=False)):
        inside, ranks = chances[bands == band], str(first) if first == last else f"{first}-{last}"
        seen = int(judged[band]) if known else None
        rows += [
            (ranks, int(grade), share, seen, len(inside))
            for grade, share in zip(source.levels, inside.mean(axis=0), strict=True)
        ] if len(inside) else []  # fmt: skip
    return RATES.frame(rows)
