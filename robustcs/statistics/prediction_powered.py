"""Scores from human judgments of some conversations and a model judge's grades of all, with
intervals.

Prediction-powered inference (Angelopoulos et al. 2023) for ratio estimates over units, with a tuned
weight of the model. Y and F are the sums of human scores and of the model's scores over the m turns
of a unit, J are the n judged of N units, and M their turns:

    θ = R_Y + λ (R* − R_F),   R_Y = Σ_J Y/M,   R_F = Σ_J F/M,   R* = Σ F / Σ m over all units.

λ is the regression of human scores on the model's over units, λ_unit, shrunk towards that over
turns, λ_turn, if units are few: λ = w λ_unit + (1 − w) λ_turn with w = n/(n + 10), restricted to
[0, 1]; numerators and denominators are summed over systems. The variance is a jackknife over judged
units that recomputes λ. Plugging in the variance of the best λ would be too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.lazy import special
from robustcs.statistics import Floats, Mask, quotient
from robustcs.statistics.estimate import STABLE_UNITS
from robustcs.statistics.student import t_quantile
from robustcs.statistics.units import Units

METHOD = "prediction-powered, tuned weight, jackknife over judged units"
#: Number of units with the same weight as the prior from turns.
_PRIOR = 10
#: Fewest judged units for a plan, and probability that the variance is at most the value used for
#: the plan.
LEAST_PILOT = 8
PLANNED = 0.8
#: Number of random permutations if not all can be tried.
PERMUTATIONS = 9_999


@dataclass(frozen=True, eq=False)
class Judged:
    """Sums over units of the scores of S systems, or of differences of two systems.

    people, products
        float64[S, n]: sums of human scores, and of their products with the model's, over the turns
        of every judged unit.
    model, squares
        float64[S, N]: sums of the model's scores and of their squares.
    sizes
        float64[N]: number of turns of every unit.
    judged
        bool[N]: whether the unit has human judgments.
    """

    people: Floats
    products: Floats
    model: Floats
    squares: Floats
    sizes: Floats
    judged: Mask

    @property
    def units(self) -> int:
        """N, the number of units."""
        return len(self.sizes)

    @property
    def count(self) -> int:
        """n, the number of judged units."""
        return int(self.judged.sum())


def judged_sums(people: npt.ArrayLike, model: npt.ArrayLike, units: Units, judged: Mask) -> Judged:
    """Return sums from scores of turns, [S, T] each; ``people`` is ignored for turns of units that
    are not ``judged``.
    """
    told = judged[units.codes]
    own, other = np.where(told, people, 0.0), np.asarray(model, dtype=np.float64)
    return Judged(
        units.sums(own)[:, judged],
        units.sums(own * other)[:, judged],
        units.sums(other),
        units.sums(other**2),
        units.sizes,
        judged,
    )


class Corrected(NamedTuple):
    """Estimates of S systems (or differences): float64[S] each, except the weight, which all share.

    people, model
        From the judged units only, and from the model only over all units (not an estimate of human
        scores).
    value
        The corrected estimate.
    variance, people_variance
        Variances of the corrected and of the human estimate for similar units, for infinite N.
    worth
        Number of human-judged units that would be as precise without the model; nan if human scores
        do not vary.
    """

    people: Floats
    model: Floats
    value: Floats
    variance: Floats
    people_variance: Floats
    weight: float
    worth: Floats
    judged: int
    units: int

    def half_width(self, alone: bool = False, others: bool = False) -> Floats:
        """Return float64[S]: half of the 95% CI by t with n − 1 degrees of freedom, for human
        judgments of these N units.

        ``alone``: of the human estimate. ``others``: for similar units.
        """
        variance = self.people_variance if alone else self.variance
        spread = (1 - self.judged / self.units) * variance
        if others:
            spread = spread + self.judged / self.units * self.people_variance
        return np.asarray(t_quantile(self.judged) * np.sqrt(spread))

    def columns(self, highest: float | None) -> dict[str, Any]:
        """Return the columns of a table of estimates from ``human_only`` to ``others_high``, in [0,
        ``highest``] if given.
        """
        inside = np.asarray if highest is None else lambda values: np.clip(values, 0.0, highest)
        value, half = inside(self.value), self.half_width()
        alone, others = self.half_width(alone=True), self.half_width(others=True)
        return {
            "human_only": self.people, "human_ci_low": inside(self.people - alone),
            "human_ci_high": inside(self.people + alone), "judge_only": self.model, "corrected": value,
            "ci_low": inside(value - half), "ci_high": inside(value + half), "weight": self.weight,
            "judged_units": self.judged, "worth": self.worth, "units": self.units,
            "others_low": inside(value - others), "others_high": inside(value + others),
        }  # fmt: skip

    def differences(self) -> dict[str, Any]:
        """Return the columns of a table of differences: ``corrected``, its interval, and p."""
        half = self.half_width()
        return {
            "corrected": self.value,
            "ci_low": self.value - half,
            "ci_high": self.value + half,
            "p": self.p_values(),
        }

    def p_values(self) -> Floats:
        """Return float64[S]: two-sided p of "the value is 0"; the interval for these units inverts
        this test.
        """
        error = np.sqrt((1 - self.judged / self.units) * self.variance)
        with np.errstate(invalid="ignore", divide="ignore"):
            p = 2 * special.stdtr(self.judged - 1, -np.abs(self.value) / error)
        return np.where(error > 0, p, np.where(self.value == 0, 1.0, 0.0))


def corrected(sums: Judged) -> Corrected:
    """Return the estimates of all systems with a common weight. Requires two judged units; do not
    use it below five.
    """
    n, everything = sums.count, sums.units
    model_mean = sums.model.sum(axis=1) / sums.sizes.sum()
    people, value, weight = _estimate(_totals(sums, leave_one_out=False), n, model_mean)
    _, without, _ = _estimate(_totals(sums, leave_one_out=True), n - 1, model_mean[:, None])
    variance = (n - 1) / n * ((without - value[:, None]) ** 2).sum(axis=1)
    sizes = sums.sizes[sums.judged]
    rest = (sums.people - people[:, None] * sizes) / sizes.mean()
    alone = (rest**2).sum(axis=1) / (n * (n - 1))
    if n >= STABLE_UNITS:
        variance = np.minimum(variance, alone)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = np.where(
            alone > 0, 1 / (1 / everything + (1 / n - 1 / everything) * variance / alone), np.nan
        )
    return Corrected(
        people, model_mean, value, variance, alone, float(weight), worth, n, everything
    )


def _totals(sums: Judged, leave_one_out: bool) -> list[Floats]:
    """Return the sums that :func:`_estimate` needs over judged units, or over all but one of them:
    float64[S, …].
    """
    y, f, m = sums.people, sums.model[:, sums.judged], sums.sizes[None, sums.judged]
    parts = (
        y,
        f,
        m,
        y * f,
        f * f,
        y * m,
        f * m,
        m * m,
        sums.products,
        sums.squares[:, sums.judged],
    )
    return [
        part.sum(axis=1, keepdims=True) - part if leave_one_out else part.sum(axis=1)
        for part in parts
    ]


def _estimate(
    totals: Sequence[Floats], units: int, model_mean: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the human estimate, the corrected one, and the weight of the model."""
    y, f, m, yf, ff, ym, fm, mm, turn_yf, turn_ff = totals
    people, model = y / m, f / m
    unit_top = yf - model * ym - people * fm + people * model * mm
    unit_bottom = ff - 2 * model * fm + model**2 * mm
    turn_top, turn_bottom = turn_yf - y * f / m, turn_ff - f**2 / m
    share = units / (units + _PRIOR)
    weight = share * _slope(unit_top, unit_bottom) + (1 - share) * np.maximum(
        _slope(turn_top, turn_bottom), 0
    )
    weight = np.clip(weight, 0, 1)
    return people, people + weight * (model_mean - model), weight


def _slope(top: Floats, bottom: Floats) -> Floats:
    """Return the slope over all systems; 0 if the model scores do not vary."""
    return quotient(top.sum(axis=0), bottom.sum(axis=0), least=1e-12)


# ---------------------------------------------------------------- number of units to judge, and test of random selection


def units_to_judge(variance: float, judged: int, units: int, half_width: float) -> int:
    """Return the fewest of ``units`` that need human judgments for a 95% CI of ± ``half_width``,
    sufficient in 80% of studies.

    ``variance``: of an estimate from a pilot of ``judged`` units (:class:`Corrected`), increased so
    that it is large enough in 80% of pilots. All units always suffice.
    """
    spread = judged * variance * (judged - 1) / float(special.chdtri(judged - 1, PLANNED))
    counts = np.arange(2, units + 1)
    reached = (
        t_quantile(counts) * np.sqrt(np.maximum(1 / counts - 1 / units, 0) * spread) <= half_width
    )
    return int(counts[reached.argmax()])


def selection_test(sums: npt.ArrayLike, sizes: npt.ArrayLike, judged: Mask, seed: int) -> float:
    """Return the two-sided p of "the judged units are a random sample" by permutation of the judged
    units.

    The statistic is the difference of the means Σ sums / Σ sizes (each [N]) of judged and other
    units. All permutations are used if there are at most :data:`PERMUTATIONS`, otherwise that many
    random ones and the observed one. A large p proves nothing: a selection by human scores shows in
    the model's scores only as far as the two agree.
    """
    values, turns = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    count, units = int(judged.sum()), len(judged)
    exact = comb(units, count) <= PERMUTATIONS
    if exact:
        chosen = np.zeros((comb(units, count), units), dtype=bool)
        for row, places in enumerate(combinations(range(units), count)):
            chosen[row, list(places)] = True
    else:
        generator = np.random.default_rng(seed)
        chosen = np.argsort(generator.random((PERMUTATIONS, units)), axis=1) < count

    def apart(masks: Mask) -> Floats:
        top, bottom = masks @ values, masks @ turns
        return np.asarray(np.abs(top / bottom - (values.sum() - top) / (turns.sum() - bottom)))

    observed = float(apart(judged[None])[0])
    extreme = int((apart(chosen) >= observed - 1e-12).sum())
    return extreme / len(chosen) if exact else (extreme + 1) / (len(chosen) + 1)
