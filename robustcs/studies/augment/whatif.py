"""What if somebody judged the holes? Grades drawn for unjudged passages, many times, and what they do to every score."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.inputs.numbers import whole_number
from robustcs.inputs.qrels import MAX_GRADE
from robustcs.policy import EvaluationPolicy
from robustcs.result import count, difference, score, share, table, text
from robustcs.statistics.intervals import CONFIDENCE
from robustcs.statistics.ranks import DECIMALS

if TYPE_CHECKING:
    import pandas as pd

#: Last ranks of the bands within which judged passages are counted together.
BANDS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
#: Each band's rates are mixed with those of the band above it as if this many more passages had been judged there.
PRIOR = 10

WHAT_IF = table(
    "what_if", "Mean scores over grades drawn for the unjudged passages of the pool.",
    text("run"), text("metric"), score("score", "unjudged passages not relevant", "now"), score("mean", "over the draws"),
    score("low", "95 % of the draws"), score("high"),
)  # fmt: skip
FLIPS = table(
    "flips", "How two runs differ over the draws.",
    text("metric"), text("first"), text("second"),
    difference("difference", "first − second, unjudged passages not relevant", "now"), difference("mean", "over the draws"),
    difference("low", "95 % of the draws"), difference("high"),
    share("flips", "draws that order the two the other way round; null where they are tied now"),
)  # fmt: skip
RATES = table(
    "rates", "What was drawn from: how probable each grade is for an unjudged passage, by its best rank in any run.",
    text("ranks"), count("grade"), share("share", "the shares of a band of ranks add up to 1"),
    count("judged", "judged passages that a band's shares rest on; null where --rates gave them"),
)  # fmt: skip

Floats = npt.NDArray[np.float64]

_RATE = re.compile(r"\s*(-?[0-9]+)\s*=\s*([0-9]*\.?[0-9]+(?:[eE]-?[0-9]+)?)\s*")


@dataclass(frozen=True)
class Rates:
    """How probable each grade is for an unjudged passage, by the best rank at which any run has it.

    lasts
        Last rank of every band.
    levels
        int16[L], the grades, ascending.
    shares
        float64[bands, L]; every row adds up to 1.
    judged
        int64[bands], judged passages that a band's rates rest on; None where the user gave the rates.
    """

    lasts: tuple[int, ...]
    levels: npt.NDArray[np.int16]
    shares: Floats
    judged: npt.NDArray[np.int64] | None

    def band(self, ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The band of every rank."""
        return np.searchsorted(self.lasts, ranks)


def parse_rates(text: str) -> dict[int, float]:
    """``0=.8,1=.1,2=.1``: grade → probability. Raises :class:`UsageError` where they cannot be read or do not add up to 1."""
    rates: dict[int, float] = {}
    for part in text.split(","):
        match = _RATE.fullmatch(part)
        grade = whole_number(match[1], MAX_GRADE) if match else None
        if match is None or grade is None or grade in rates:
            raise UsageError("bad-rates", f"--rates has {part.strip()!r}", "write each grade once, such as 0=.8,1=.1,2=.1")
        rates[grade] = float(match[2])
    total = sum(rates.values())
    if abs(total - 1) > 1e-6:
        raise UsageError("bad-rates", f"--rates {text} adds up to {total:g}", "the probabilities add up to 1")
    return {grade: rate / total for grade, rate in sorted(rates.items())}


def given_rates(rates: Mapping[int, float], depth: int) -> Rates:
    """The user's rates, the same at every rank down to ``depth``."""
    return Rates((depth,), np.array(list(rates), dtype=np.int16), np.array([list(rates.values())]), None)


def observed_rates(pool: RunPool, grades: Grades, depth: int) -> Rates:
    """How often judged passages have each grade, by rank, over all runs.

    A passage counts once, at the best rank where any run has it. Ranks are banded (1, 2, 3, 4–5, 6–10, 11–20, …). A band's
    rates are ``(count + PRIOR · above) / (judged + PRIOR)``, above being the rates of the band before it (for the first, of
    all bands together): a band with few judgments stays close to its neighbour, one without has its neighbour's rates.

    Raises :class:`UsageError` where nothing is judged down to ``depth``.
    """
    lasts = (*(last for last in BANDS if last < depth), depth)
    best = pool.best_ranks().min(axis=0)
    values = grades[:-1]
    counted = (best <= depth) & (values > UNJUDGED)
    if not counted.any():
        raise UsageError("no-rates", f"no passage of the runs' top {depth} is judged", "give the rates with --rates")
    levels, codes = np.unique(values[counted], return_inverse=True)
    counts = np.zeros((len(lasts), len(levels)))
    np.add.at(counts, (np.searchsorted(lasts, best[counted]), codes), 1)
    judged = counts.sum(axis=1)
    above = counts.sum(axis=0) / counts.sum()
    shares = np.empty_like(counts)
    for band, (of_grades, number) in enumerate(zip(counts, judged, strict=True)):
        above = shares[band] = (of_grades + PRIOR * above) / (number + PRIOR)
    return Rates(lasts, levels, shares, judged.astype(np.int64))


@dataclass(frozen=True)
class WhatIf:
    """What the draws give: the tables :data:`WHAT_IF`, :data:`FLIPS` and :data:`RATES`.

    holes
        Unjudged passages that got grades.
    """

    scores: pd.DataFrame
    pairs: pd.DataFrame
    rates: pd.DataFrame
    draws: int
    depth: int
    holes: int


def what_if(
    pool: RunPool,
    grades: Grades,
    rates: Rates,
    draws: int,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: npt.NDArray[np.bool_],
    seed: int,
) -> WhatIf:
    """Draw a grade for every unjudged passage down to the last rank of ``rates`` in any run, ``draws`` times.

    A passage has one grade per draw, in all runs and in the ideal ranking of its turn. Passages further down stay unjudged.
    ``counted`` (bool[T]) are the turns that means go over. Seeded: independent of how many draws are scored at a time.
    """
    depth = rates.lasts[-1]
    best = pool.best_ranks().min(axis=0)
    holes = np.flatnonzero((best <= depth) & (grades[:-1] == UNJUDGED))
    bands = rates.band(best[holes])
    limits = np.cumsum(rates.shares, axis=1)
    limits[:, -1] = 1.0  # not 0.9999999999999999: every number drawn must fall into a level
    rng = np.random.default_rng(seed)
    now = pool.score(grades[None], measures, policy)[0][..., counted].mean(axis=-1)
    means = np.empty((draws, *now.shape))
    size = pool.batch(measures)
    for start in range(0, draws, size):
        sets = np.tile(grades, (min(size, draws - start), 1))
        numbers = rng.random((len(sets), len(holes)))
        for band in np.unique(bands):
            chosen = np.flatnonzero(bands == band)
            level = np.searchsorted(limits[band], numbers[:, chosen], side="right")
            sets[:, holes[chosen]] = rates.levels[level]
        means[start : start + len(sets)] = pool.score(sets, measures, policy)[..., counted].mean(axis=-1)

    tails = [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2]
    low, high = np.quantile(means, tails, axis=0)
    average = means.mean(axis=0)
    scores = [
        {"run": name, "metric": measure.name, "score": now[run, column], "mean": average[run, column],
         "low": low[run, column], "high": high[run, column]}
        for column, measure in enumerate(measures)
        for run, name in enumerate(pool.names)
    ]  # fmt: skip
    pairs = []
    for column, measure in enumerate(measures):
        for first, second in combinations(range(len(pool.names)), 2):
            observed = round(float(now[first, column] - now[second, column]), DECIMALS)
            drawn = np.round(means[:, first, column] - means[:, second, column], DECIMALS)
            edges = np.quantile(drawn, tails)
            flips = float((np.sign(drawn) == -np.sign(observed)).mean()) if observed else np.nan
            pairs.append({"metric": measure.name, "first": pool.names[first], "second": pool.names[second],
                          "difference": observed, "mean": drawn.mean(), "low": edges[0], "high": edges[1],
                          "flips": flips})  # fmt: skip
    return WhatIf(WHAT_IF.frame(scores), FLIPS.frame(pairs), _rates_table(rates), draws, depth, len(holes))


def _rates_table(rates: Rates) -> pd.DataFrame:
    firsts = (1, *(last + 1 for last in rates.lasts[:-1]))
    rows = [
        {"ranks": str(first) if first == last else f"{first}-{last}", "grade": int(grade), "share": share,
         "judged": None if rates.judged is None else int(rates.judged[band])}
        for band, (first, last) in enumerate(zip(firsts, rates.lasts, strict=True))
        for grade, share in zip(rates.levels, rates.shares[band], strict=True)
    ]  # fmt: skip
    return RATES.frame(rows)
