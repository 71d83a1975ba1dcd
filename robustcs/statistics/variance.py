"""Variance components of turn and wording, effect sizes of a crossed analysis, and the mean score
of a sampled rewriter.

The decomposition is a two-way random-effects model. The mean score of a sampled rewriter has an
interval for other units, for other samples, and for both.

Y_gs is the sum of the scores of sample s over the turns of unit g, n_g the number of its turns, N
their sum. Units and samples are crossed and both random, so a mean over all of them has the
variance (MS_units + MS_samples − MS_rest) / (K n) of a two-way analysis, with Satterthwaite's
degrees of freedom (Burdick & Graybill 1992). Units differ in length, so every mean square is that
of a ratio Σ_g Y_gs / N: the cluster-robust variance of the means over samples, the variance of the
samples' means, and the cluster-robust variance of the residual of a sample. There is no preliminary
test of whether samples differ: with few samples, such a test misses most differences.

Effect sizes of a crossed analysis of variance: turns × wordings × rankers, one score per cell.

Source: Ferro and Silvello (2018), "Toward an anatomy of IR system component performances". With one
score per cell, the mean square of the three-way residual is the error of every effect. ω² = (SS −
df · MSE) / (SS + (N − df) · MSE) is the share of the variance due to the effect in the sum of that
variance and the error.

The interval is that of other conversations with these wordings and rankers. It joins two intervals:
the nested bootstrap-t of :func:`~robustcs.statistics.agreement.agreement_estimate`, and the
percentile interval of the same kind of resamples. The first is too short for effects near zero, the
second for large ones (docs/components.md shows the coverage).
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
from robustcs.statistics.estimate import (
    CONFIDENCE,
    LEAST_UNITS,
    Estimate,
    alike_note,
    joined,
    units_note,
)
from robustcs.statistics.means import cluster_ratio, mean_estimates, mean_interval
from robustcs.statistics.student import t_quantile
from robustcs.statistics.units import Units, resampled

#: ``turn``: turns differ; ``set``: whole sets differ; ``turn_set``: a wording helps one turn and
#: hurts another. ``wording`` is ``set`` and ``turn_set`` together, that is, everything except
#: ``turn``.
COMPONENTS = ("turn", "set", "turn_set", "wording")


@dataclass(frozen=True)
class Component:
    """One of :data:`COMPONENTS`: its variance (score units squared), and its share of the total
    with an interval.
    """

    name: str
    variance: float
    share: Estimate


def variance_components(
    scores: npt.ArrayLike, units: Units, seed: int, resamples: int = RESAMPLES
) -> tuple[Component, ...]:
    """Split the variance of ``scores`` (turns × sets, one paraphrase of the turn in each set) into
    :data:`COMPONENTS`.

    Model: score = mean + turn + set + turn·set, all three random with their own variances. There is
    one score per cell, and retrieval is deterministic, so whatever turn and set do not explain is
    the wording of that turn. Estimator: analysis of variance. With n turns, k sets and the mean
    squares MS of turns, sets and the remainder, turn·set = MS_rest, turn = (MS_turn − MS_rest) / k,
    set = (MS_set − MS_rest) / n; negative estimates are 0 (Searle, Casella & McCulloch 1992,
    chapter 4; in information retrieval Bodoff & Li 2007, "Test theory for assessing IR test
    collections"). Shares are nan if nothing varies.

    The interval of a share is the nested bootstrap-t over ``units`` of the estimate before negative
    values are set to 0. It is for other turns with these sets, because three sets are too few to
    resample. None below five units.

    Raises :class:`UsageError` below two turns or two sets.
    """
    table = np.asarray(scores, dtype=np.float64)
    count, sets = table.shape
    if count < 2 or sets < 2:
        raise UsageError(
            "too-few-sets",
            f"cannot decompose the variance of {count} turns × {sets} sets",
            "use at least two turns and two sets",
        )
    by_unit = units.sums(variance_sums(table).T).T
    variances = np.maximum(_variances(by_unit.sum(axis=0)), 0.0)
    total = float(variances.sum())
    shares = variances / total if total > 1e-24 else np.full(3, math.nan)
    found = [
        Component(
            name, float(variance), _bounded(float(share), by_unit, place, units, seed, resamples)
        )
        for place, (name, variance, share) in enumerate(
            zip(COMPONENTS, variances, shares, strict=False)
        )
    ]
    turn = found[0].share
    rest = Estimate(1 - turn.value, 1 - turn.high, 1 - turn.low, turn.units, turn.method, turn.note)
    return (*found, Component("wording", float(variances[1:].sum()), rest))


def variance_sums(scores: npt.ArrayLike) -> Floats:
    """Return float64[T, k + 3]: the contributions of each turn of ``scores`` [T, k] to the sums
    that determine the shares.
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table - table.mean()  # sums of squares of centered values lose no digits
    return np.column_stack(
        [np.ones(len(table)), table.mean(axis=1) ** 2, (table**2).sum(axis=1), table]
    )


def share_of(place: int) -> Statistic:
    """Return the share of a component (not the last of :data:`COMPONENTS`) as a function of sums;
    it may be negative.
    """

    def statistic(sums: Floats) -> Floats:
        variances = _variances(sums)
        total = variances.sum(axis=-1)
        return quotient(variances[..., place], total, np.nan, 1e-24)

    return statistic


def _bounded(
    share: float, by_unit: Floats, place: int, units: Units, seed: int, resamples: int
) -> Estimate:
    """Return the share with its interval, restricted to 0 to 1."""
    found = agreement_estimate(by_unit, share_of(place), seed, units.kind, resamples)
    low, high = (float(np.clip(limit, 0.0, 1.0)) for limit in (found.low, found.high))
    # setting a negative component to 0 changes the other shares
    return Estimate(share, min(low, share), max(high, share), found.units, found.method, found.note)


def _variances(sums: Floats) -> Floats:
    """Return float64[..., 3]: turn, set and turn·set from sums [..., k + 3] of
    :func:`variance_sums`, possibly negative.
    """
    sets = sums.shape[-1] - 3
    count = sums[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        set_means = sums[..., 3:] / count[..., None]
        mean = set_means.mean(axis=-1)
        of_turns = sets * (sums[..., 1] - count * mean**2)
        of_sets = count * (set_means**2).sum(axis=-1) - count * sets * mean**2
        whole = sums[..., 2] - count * sets * mean**2
        # exact zeros may be computed as -1e-17
        rest = np.maximum(whole - of_turns - of_sets, 0.0) / ((count - 1) * (sets - 1))
        turn = (of_turns / (count - 1) - rest) / sets
        set_ = (of_sets / (sets - 1) - rest) / count
    return np.stack([turn, set_, rest], axis=-1)


#: Two-sided 95% quantile of the normal distribution.
NORMAL = 1.959963984540054

MEAN_METHOD = "two-way random effects of units and samples, Satterthwaite's t"
ERROR_METHOD = "variance between samples, chi-squared; at least that within units, cluster-robust t (CR2) on the logarithm"


def sampled_mean(
    scores: npt.ArrayLike, units: Units, bounds: tuple[float, float] | None = None
) -> Estimate:
    """Return the mean of ``scores``, float[turns, n] of n ≥ 2 samples, with its interval for other
    units and other samples.

    ``bounds``: the ends of the scale, as for :func:`~robustcs.statistics.means.mean_estimates`. No
    interval below five units or if all units are alike.
    """
    sums = units.sums(np.asarray(scores, dtype=np.float64).T)
    n, count = sums.shape
    ((value,), (of_units,), _) = cluster_ratio(sums.mean(axis=0), units.sizes)
    between, within = _of_one_sample(sums, units.sizes)
    variance = of_units + max(between - within, 0.0) / n
    if count < LEAST_UNITS or not variance > 0:
        notes = joined(
            units_note(count, units.kind),
            alike_note(count, units.kind) if count >= LEAST_UNITS else "",
        )
        return Estimate(float(value), math.nan, math.nan, count, MEAN_METHOD, notes)
    spent = (
        of_units**2 / (count - 1)
        + (between / n) ** 2 / (n - 1)
        + (within / n) ** 2 / ((count - 1) * (n - 1))
    )
    half = float(t_quantile(1 + variance**2 / spent)) * math.sqrt(variance)
    low, high = mean_interval(float(value), half, bounds)
    return Estimate(float(value), low, high, count, MEAN_METHOD, units_note(count, units.kind))


def sampling_error(scores: npt.ArrayLike, units: Units) -> tuple[float, Estimate]:
    """Return the error of one sample's mean over these turns relative to all possible samples: ±,
    and its standard deviation.

    scores
        float[turns, n], n ≥ 2 samples of every turn.

    The turns are fixed; the interval for other turns is separate. The standard deviation is that of
    the samples' means, with the χ² interval on n − 1 degrees of freedom, but at least the standard
    deviation from drawing within units, with a cluster-robust t interval on the logarithm. ± is
    half the 95% CI by Student's t with the same degrees of freedom. nan if all samples have equal
    scores, or below two turns, which cannot separate turns from samples.
    """
    table = np.asarray(scores, dtype=np.float64)
    turns, n = table.shape
    nothing = Estimate(math.nan, math.nan, math.nan, n, ERROR_METHOD)
    if turns < 2:
        return math.nan, replace(nothing, note="at least two turns are required")
    sums = units.sums(table.T)
    between, within = _of_one_sample(sums, units.sizes)
    if not max(between, within) > 0:
        return math.nan, replace(
            nothing, note=f"no interval: all {n} samples have equal scores in every {units.kind}"
        )
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
    """Return, for one sample's mean and from ``sums`` [n, K], its variance over samples and that
    from drawing within units.
    """
    sums = sums - sums[0]  # equal samples then differ by exactly 0
    means = sums.sum(axis=1) / sizes.sum()
    left = cluster_ratio(sums - sums.mean(axis=0), sizes).variance
    return float(means.var(ddof=1)), float(left.sum()) / (len(sums) - 1)


def draws_needed(spread: float, within: float) -> float:
    """Return the fewest samples whose average varies by at most ``within`` (95%); ``spread``: that
    of one sample's mean.

    nan if ``spread`` is unknown.
    """
    return (
        math.nan
        if math.isnan(spread)
        else float(max(1, math.ceil((NORMAL * spread / within) ** 2 - 1e-9)))
    )


#: Number of random exchanges for the expected gain by chance.
EXCHANGES = 500


@dataclass(frozen=True)
class Choice:
    """The highest score of every turn, compared with the best of M systems.

    best, best_mean
        Index of the system with the highest mean, and that mean.
    chosen
        Mean of the highest score of every turn.
    gain
        chosen − best_mean, with its cluster-robust interval.
    by_chance
        Expected gain if the systems were exchanged at random in every turn. Every turn keeps its
        highest score, while the highest mean falls towards the overall mean. So if one system
        leads, this exceeds the gain.
    """

    best: int
    best_mean: float
    chosen: float
    gain: Estimate
    by_chance: float


def best_choice(table: Floats, units: Units, seed: int) -> Choice:
    """Return what an oracle gains over the best of M systems; ``table``: scores, float[M, turns]."""
    highest = table.max(axis=0)
    best = int(table.mean(axis=1).argmax())
    gain = highest - table[best]
    (found,) = mean_estimates(
        units.sums(gain), units.sizes, units.kind, (0.0, 1.0) if bool((gain <= 1).all()) else None
    )
    generator = np.random.default_rng(seed)
    exchanged = [generator.permuted(table, axis=0).mean(axis=1).max() for _ in range(EXCHANGES)]
    by_chance = float(highest.mean() - np.mean(exchanged))
    return Choice(best, float(table[best].mean()), float(highest.mean()), found, by_chance)


def expected_best(scores: npt.ArrayLike) -> Floats:
    """Return float64[turns, n]: the expected highest score of 1 … n samples drawn without
    replacement from those of a turn.

    ``scores``: [turns, n]. Exact: of m drawn samples, the i-th smallest of n is the highest with
    probability C(i − 1, m − 1) / C(n, m). The expected lowest is ``-expected_best(-scores)``.
    """
    table = np.sort(np.asarray(scores, dtype=np.float64), axis=1)
    n = table.shape[1]
    weights = np.array([[comb(i, m - 1) / comb(n, m) for i in range(n)] for m in range(1, n + 1)])
    return np.asarray(table @ weights.T)


# ---------------------------------------------------------------- crossed analysis of variance

#: The effects of the model, in the order of :func:`effect_sizes`.
EFFECTS = ("turn", "wording", "ranker", "wording*ranker", "turn*wording", "turn*ranker")
CROSSED_METHOD = "nested bootstrap-t over units, joined with the percentile bootstrap"


def effect_sizes(
    scores: npt.ArrayLike, units: Units, seed: int, resamples: int = RESAMPLES
) -> tuple[Estimate, ...]:
    """Return ω² of each of :data:`EFFECTS` from ``scores``, float[T, W, R]: turns × wordings ×
    rankers, each at least two.

    An estimate is slightly negative if an effect explains less than chance would. nan if nothing
    varies within turns. No interval below five units.
    """
    table = np.asarray(scores, dtype=np.float64)
    levels = table.shape[1:]
    by_unit = units.sums(crossed_sums(table).T).T
    drawn = omega_squared(
        resampled(np.random.default_rng(seed), units.count, resamples) @ by_unit, levels
    )
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    found = []
    for place in range(len(EFFECTS)):
        one = agreement_estimate(by_unit, _effect(place, levels), seed, units.kind, resamples)
        one = replace(
            one,
            method=CROSSED_METHOD,
            note=one.note.replace("all ratings are equal", "no effect varies"),
        )
        if not math.isnan(one.low) and len(drawn):
            low, high = np.quantile(
                drawn[:, place], [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2]
            ).tolist()
            # ω² of a population is not negative, but an estimate may be
            one = replace(
                one, low=min(one.value, max(0.0, min(one.low, low))), high=max(one.high, high)
            )
        found.append(one)
    return tuple(found)


def crossed_sums(scores: npt.ArrayLike) -> Floats:
    """Return float64[T, W·R + 5]: the contributions of each turn of ``scores`` [T, W, R] to the
    sums of squares.
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table - table.mean()  # sums of squares of centered values lose no digits
    turns, wordings, rankers = table.shape
    squares = [
        np.ones(turns), wordings * rankers * table.mean(axis=(1, 2)) ** 2,
        rankers * (table.mean(axis=2) ** 2).sum(axis=1), wordings * (table.mean(axis=1) ** 2).sum(axis=1),
        (table**2).sum(axis=(1, 2)),
    ]  # fmt: skip
    return np.column_stack([*squares, table.reshape(turns, -1)])


def omega_squared(sums: Floats, levels: tuple[int, ...]) -> Floats:
    """Return float64[..., 6]: ω² of :data:`EFFECTS` from sums [..., W·R + 5] of
    :func:`crossed_sums`.
    """
    wordings, rankers = levels
    count = sums[..., 0]
    means = (sums[..., 5:] / count[..., None]).reshape(*sums.shape[:-1], wordings, rankers)
    middle = count * wordings * rankers * means.mean(axis=(-2, -1)) ** 2
    turn = sums[..., 1] - middle
    wording = count * rankers * (means.mean(axis=-1) ** 2).sum(axis=-1) - middle
    ranker = count * wordings * (means.mean(axis=-2) ** 2).sum(axis=-1) - middle
    both = count * (means**2).sum(axis=(-2, -1)) - middle - wording - ranker
    turn_wording, turn_ranker = (
        sums[..., 2] - middle - turn - wording,
        sums[..., 3] - middle - turn - ranker,
    )
    squares = np.stack([turn, wording, ranker, both, turn_wording, turn_ranker], axis=-1)
    # exact zeros may be computed as -1e-17
    rest = np.maximum(sums[..., 4] - middle - squares.sum(axis=-1), 0.0)
    one = np.ones_like(count)
    freedom = np.stack([
        count - 1, (wordings - 1) * one, (rankers - 1) * one, (wordings - 1) * (rankers - 1) * one,
        (count - 1) * (wordings - 1), (count - 1) * (rankers - 1),
    ], axis=-1)  # fmt: skip
    with np.errstate(invalid="ignore", divide="ignore"):
        error = (rest / ((count - 1) * (wordings - 1) * (rankers - 1)))[..., None]
        below = squares + ((count * wordings * rankers)[..., None] - freedom) * error
        return np.asarray(np.where(below > 1e-12, (squares - freedom * error) / below, np.nan))


def _effect(place: int, levels: tuple[int, ...]) -> Statistic:
    return lambda sums: omega_squared(sums, levels)[..., place]
