"""How much of the variance comes from the turn, and how much from its wording? A two-way random-effects decomposition.

The mean score of a rewriter that is sampled: how far it is from that of other units, of other samples, and of both.

Y_gs is the sum of the scores of sample s over the turns of unit g, n_g the number of its turns, N their sum. Units and samples
are crossed and both drawn at random, so a mean over all of them has the variance (MS_units + MS_samples − MS_rest) / (K n) of a
two-way analysis, with Satterthwaite's degrees of freedom (Burdick & Graybill 1992).
Units differ in length, so every mean square is that of a ratio Σ_g Y_gs / N: the cluster-robust variance of the means over
samples, the variance of the samples' means, and the cluster-robust variance of what is left of a sample. Whether whole samples
differ is never tested first: with few samples such a test overlooks most of what there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from math import comb

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.lazy import special
from robustcs.statistics import Floats, quotient
from robustcs.statistics.agreement import RESAMPLES, Statistic, agreement_estimate
from robustcs.statistics.estimate import LEAST_UNITS, Estimate, alike_note, joined, units_note
from robustcs.statistics.means import cluster_ratio, mean_estimates, mean_interval, t_quantile
from robustcs.statistics.units import Units

#: ``turn``: turns differ; ``set``: whole sets differ; ``turn_set``: a wording helps one turn and hurts another.
#: ``wording`` is ``set`` and ``turn_set`` together, all that is not ``turn``.
COMPONENTS = ("turn", "set", "turn_set", "wording")


@dataclass(frozen=True)
class Component:
    """One of :data:`COMPONENTS`: its variance (score units squared), and its share of the total with the share's interval."""

    name: str
    variance: float
    share: Estimate


def variance_components(scores: npt.ArrayLike, units: Units, seed: int, resamples: int = RESAMPLES) -> tuple[Component, ...]:
    """Split the variance of ``scores`` (turns × sets, one paraphrase of the turn in each set) into :data:`COMPONENTS`.

    Model: score = mean + turn + set + turn·set, all three drawn at random with variances of their own. There is one score
    per cell and retrieval repeats itself exactly, so what turn and set do not explain is the wording of that turn.
    Estimator: analysis of variance. With n turns, k sets and the mean squares MS of turns, sets and the remainder,
    turn·set = MS_rest, turn = (MS_turn − MS_rest) / k, set = (MS_set − MS_rest) / n, negative estimates are 0 (Searle,
    Casella & McCulloch 1992, chapter 4; in information retrieval Bodoff & Li 2007, "Test theory for assessing IR test
    collections"). Shares are nan where nothing varies.

    The interval of a share is the nested bootstrap-t over ``units`` of the estimate before it is cut at 0: it speaks of other
    turns with these sets, as three sets are too few to resample. None below five units.

    Raises :class:`UsageError` for fewer than two turns or two sets.
    """
    table = np.asarray(scores, dtype=np.float64)
    count, sets = table.shape
    if count < 2 or sets < 2:
        raise UsageError(
            "too-few-sets", f"{count} turns × {sets} sets cannot be decomposed", "give at least two turns and two sets"
        )
    by_unit = units.sums(variance_sums(table).T).T
    variances = np.maximum(_variances(by_unit.sum(axis=0)), 0.0)
    total = float(variances.sum())
    shares = variances / total if total > 1e-24 else np.full(3, math.nan)
    found = [
        Component(name, float(variance), _bounded(float(share), by_unit, place, units, seed, resamples))
        for place, (name, variance, share) in enumerate(zip(COMPONENTS, variances, shares, strict=False))
    ]
    turn = found[0].share
    rest = Estimate(1 - turn.value, 1 - turn.high, 1 - turn.low, turn.units, turn.method, turn.note)
    return (*found, Component("wording", float(variances[1:].sum()), rest))


def variance_sums(scores: npt.ArrayLike) -> Floats:
    """float64[T, k + 3]: what each turn of ``scores`` [T, k] adds to the sums that the shares are functions of."""
    table = np.asarray(scores, dtype=np.float64)
    table = table - table.mean()  # sums of squares of centred values lose no digits
    return np.column_stack([np.ones(len(table)), table.mean(axis=1) ** 2, (table**2).sum(axis=1), table])


def share_of(place: int) -> Statistic:
    """The share of a component of :data:`COMPONENTS` but the last, as a function of sums; it may be below 0."""

    def statistic(sums: Floats) -> Floats:
        variances = _variances(sums)
        total = variances.sum(axis=-1)
        return quotient(variances[..., place], total, np.nan, 1e-24)

    return statistic


def _bounded(share: float, by_unit: Floats, place: int, units: Units, seed: int, resamples: int) -> Estimate:
    """The share with its interval, cut to what a share can be."""
    found = agreement_estimate(by_unit, share_of(place), seed, units.kind, resamples)
    low, high = (float(np.clip(limit, 0.0, 1.0)) for limit in (found.low, found.high))
    # cutting a negative part at 0 takes from the others
    return Estimate(share, min(low, share), max(high, share), found.units, found.method, found.note)


def _variances(sums: Floats) -> Floats:
    """float64[..., 3]: turn, set and turn·set from sums [..., k + 3] of :func:`variance_sums`, not cut at 0."""
    sets = sums.shape[-1] - 3
    count = sums[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        set_means = sums[..., 3:] / count[..., None]
        mean = set_means.mean(axis=-1)
        of_turns = sets * (sums[..., 1] - count * mean**2)
        of_sets = count * (set_means**2).sum(axis=-1) - count * sets * mean**2
        whole = sums[..., 2] - count * sets * mean**2
        # what is 0 on paper may come out as -1e-17
        rest = np.maximum(whole - of_turns - of_sets, 0.0) / ((count - 1) * (sets - 1))
        turn = (of_turns / (count - 1) - rest) / sets
        set_ = (of_sets / (sets - 1) - rest) / count
    return np.stack([turn, set_, rest], axis=-1)


#: The two-sided quantile of the normal distribution at 95 %.
NORMAL = 1.959963984540054

MEAN_METHOD = "two-way random effects of units and samples, Satterthwaite's t"
ERROR_METHOD = "variance between samples, chi-squared; at least that within units, cluster-robust t (CR2) on the logarithm"


def sampled_mean(scores: npt.ArrayLike, units: Units, bounds: tuple[float, float] | None = None) -> Estimate:
    """The mean of ``scores``, float[turns, n] of n samples, with its interval for other units and other samples.

    ``bounds`` are the ends of the scale, as of :func:`~robustcs.statistics.means.mean_estimates`. No interval below five units
    or two samples, or where all are alike.
    """
    sums = units.sums(np.asarray(scores, dtype=np.float64).T)
    n, count = sums.shape
    ((value,), (of_units,), _) = cluster_ratio(sums.mean(axis=0), units.sizes)
    between, within = _of_one_sample(sums, units.sizes)
    variance = of_units + max(between - within, 0.0) / n
    if count < LEAST_UNITS or n < 2 or not variance > 0:
        notes = joined(units_note(count, units.kind), alike_note(count, units.kind) if count >= LEAST_UNITS else "")
        return Estimate(float(value), math.nan, math.nan, count, MEAN_METHOD, notes)
    spent = of_units**2 / (count - 1) + (between / n) ** 2 / (n - 1) + (within / n) ** 2 / ((count - 1) * (n - 1))
    half = float(t_quantile(1 + variance**2 / spent)) * math.sqrt(variance)
    low, high = mean_interval(float(value), half, bounds)
    return Estimate(float(value), low, high, count, MEAN_METHOD, units_note(count, units.kind))


def sampling_error(scores: npt.ArrayLike, units: Units) -> tuple[float, Estimate]:
    """How far the mean of one sample over these turns is from that of all that could be drawn: ±, and its standard deviation.

    scores
        float[turns, n], n samples of every turn.

    The turns are taken as they are: the interval for other turns stands beside it. The standard deviation is that of the
    samples' means, with the interval of chi-squared on n − 1 degrees of freedom, but no less than what drawing anew in every
    unit leaves, with a cluster-robust t interval on the logarithm. ± is half the 95 % interval, by Student's t on the same
    degrees of freedom. nan where all samples score alike, or for fewer than two turns, which do not tell one from the other.
    """
    table = np.asarray(scores, dtype=np.float64)
    turns, n = table.shape
    nothing = Estimate(math.nan, math.nan, math.nan, n, ERROR_METHOD)
    if turns < 2:
        return math.nan, replace(nothing, note="it takes two turns to tell a draw from a whole sample")
    sums = units.sums(table.T)
    between, within = _of_one_sample(sums, units.sizes)
    if not max(between, within) > 0:
        return math.nan, replace(nothing, note=f"no interval: all {n} samples score the same in every {units.kind}")
    chances = (0.025, 0.975)
    low, high = (between * (n - 1) / float(special.chdtri(n - 1, chance)) for chance in chances)
    rest = sums - sums.mean(axis=0)
    rest -= rest.sum(axis=1, keepdims=True) / turns * units.sizes
    (found,) = mean_estimates((rest**2).sum(axis=0), np.ones(units.count), units.kind)
    if (width := (found.high - found.low) / 2) > 0:
        reach = math.exp(width / found.value)
        low, high = max(low, within / reach), max(high, within * reach)
    half = max(
        float(t_quantile(freedom + 1)) * math.sqrt(part)
        for part, freedom in ((between, n - 1), (within, (n - 1) * (units.count - 1)))
    )
    value, low, high = (math.sqrt(part) for part in (max(between, within), low, high))
    return half, Estimate(value, low, high, n, ERROR_METHOD)


def _of_one_sample(sums: Floats, sizes: Floats) -> tuple[float, float]:
    """Of one sample's mean, from ``sums`` [n, K]: its variance over samples, and that of drawing anew in every unit alone."""
    sums = sums - sums[0]  # samples that are alike then differ by exactly 0
    means = sums.sum(axis=1) / sizes.sum()
    left = cluster_ratio(sums - sums.mean(axis=0), sizes).variance
    return float(means.var(ddof=1)), float(left.sum()) / (len(sums) - 1)


def draws_needed(spread: float, within: float) -> float:
    """The least number of samples whose average moves by no more than ``within`` (95 %); ``spread``: that of one sample's mean.

    nan where that is not known.
    """
    return math.nan if math.isnan(spread) else float(max(1, math.ceil((NORMAL * spread / within) ** 2 - 1e-9)))


#: Random exchanges behind the chance level of a choice.
EXCHANGES = 500


@dataclass(frozen=True)
class Choice:
    """The highest score of every turn, beside the best of the M systems.

    best, best_mean
        The place of the system with the highest mean, and that mean.
    chosen
        Mean of the highest score of every turn.
    gain
        chosen − best_mean, with its cluster-robust interval.
    by_chance
        The gain expected if the systems were exchanged at random in every turn. Every turn keeps its highest score, while the
        highest mean falls towards the mean of all: where one system leads, this exceeds the gain.
    """

    best: int
    best_mean: float
    chosen: float
    gain: Estimate
    by_chance: float


def best_choice(table: Floats, units: Units, seed: int) -> Choice:
    """What an oracle gains over the best of M systems; ``table``: scores, float[M, turns]."""
    highest = table.max(axis=0)
    best = int(table.mean(axis=1).argmax())
    gain = highest - table[best]
    (found,) = mean_estimates(units.sums(gain), units.sizes, units.kind, (0.0, 1.0) if bool((gain <= 1).all()) else None)
    generator = np.random.default_rng(seed)
    exchanged = [generator.permuted(table, axis=0).mean(axis=1).max() for _ in range(EXCHANGES)]
    by_chance = float(highest.mean() - np.mean(exchanged))
    return Choice(best, float(table[best].mean()), float(highest.mean()), found, by_chance)


def expected_best(scores: npt.ArrayLike) -> Floats:
    """float64[turns, n]: the highest score expected of 1 … n samples drawn without return from the n of a turn [turns, n].

    Exact: of m drawn, the i-th smallest of n is the highest with probability C(i − 1, m − 1) / C(n, m). The lowest of m is
    ``-expected_best(-scores)``.
    """
    table = np.sort(np.asarray(scores, dtype=np.float64), axis=1)
    n = table.shape[1]
    weights = np.array([[comb(i, m - 1) / comb(n, m) for i in range(n)] for m in range(1, n + 1)])
    return np.asarray(table @ weights.T)
