"""Scores from human judgments of some conversations and a model judge's grades of all.

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

#: Number of units with the same weight as the prior from turns.
_PRIOR = 10
#: Fewest judged units for a plan.
LEAST_PILOT = 8
#: Probability that the variance is at most the value used for the plan.
PLANNED = 0.8
#: Number of random permutations if not all can be tried.
PERMUTATIONS = 9_999
#: Statistics of permutations that are lower by less are equal to the observed one.
_TIE = 1e-12
#: Largest spread of model scores that is only rounding.
_ROUNDING = 1e-12


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
    """Return sums from scores of turns, [S, T] each.

    ``judged``: bool[N], whether each unit has human judgments; ``people`` is ignored for the turns
    of other units.
    """
    judged_turns = judged[units.codes]
    human_scores = np.where(judged_turns, people, 0.0)
    model_scores = np.asarray(model, dtype=np.float64)
    return Judged(
        people=units.sums(human_scores)[:, judged],
        products=units.sums(human_scores * model_scores)[:, judged],
        model=units.sums(model_scores),
        squares=units.sums(model_scores**2),
        sizes=units.sizes,
        judged=judged,
    )


class Corrected(NamedTuple):
    """Estimates of S systems (or differences): float64[S] each, except the weight and the counts.

    people, model
        From the judged units only, and from the model only over all units (not an estimate of human
        scores).
    value
        The corrected estimate.
    variance, people_variance
        Variances of the corrected and of the human estimate for similar units, for infinite N.
    weight
        The weight of the model, which all share.
    worth
        Number of human-judged units that would be as precise without the model; nan if human scores
        do not vary.
    judged, units
        Numbers of judged units and of all units: n and N.
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
        """Return float64[S]: half of the 95% CI for human judgments of these N units.

        By t with n − 1 degrees of freedom. ``alone``: of the human estimate. ``others``: for
        similar units.
        """
        sampled = self.judged / self.units
        variance = (1 - sampled) * (self.people_variance if alone else self.variance)
        if others:
            variance = variance + sampled * self.people_variance
        return np.asarray(t_quantile(self.judged) * np.sqrt(variance))

    def columns(self, highest: float | None) -> dict[str, Any]:
        """Return the columns of a table of estimates, from ``human_only`` to ``others_high``.

        ``highest``: if given, intervals and corrected estimates are kept in [0, ``highest``].
        """

        def inside(values: Floats) -> Floats:
            return values if highest is None else np.clip(values, 0.0, highest)

        value, half = inside(self.value), self.half_width()
        alone, others = self.half_width(alone=True), self.half_width(others=True)
        return {
            "human_only": self.people,
            "human_ci_low": inside(self.people - alone),
            "human_ci_high": inside(self.people + alone),
            "judge_only": self.model,
            "corrected": value,
            "ci_low": inside(value - half),
            "ci_high": inside(value + half),
            "weight": self.weight,
            "judged_units": self.judged,
            "worth": self.worth,
            "units": self.units,
            "others_low": inside(value - others),
            "others_high": inside(value + others),
        }

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
        """Return float64[S]: two-sided p of "the value is 0".

        The interval for these units inverts this test. Without a standard error, p is 1 for a value
        of 0, else 0.
        """
        error = np.sqrt((1 - self.judged / self.units) * self.variance)
        with np.errstate(invalid="ignore", divide="ignore"):
            p = 2 * special.stdtr(self.judged - 1, -np.abs(self.value) / error)
        without_error = np.where(self.value == 0, 1.0, 0.0)
        return np.where(error > 0, p, without_error)


class _Totals(NamedTuple):
    """Sums over judged units, or over all but one of them: float64[S] or float64[S, n] each.

    Y are the sums of human scores of a unit, F of the model's, M the number of its turns.

    y, f, m, yf, ff, ym, fm, mm
        Σ Y, Σ F, Σ M, Σ YF, Σ F², Σ YM, Σ FM and Σ M².
    turn_yf, turn_ff
        Sums over turns of the products of the two scores, and of the squares of the model's.
    """

    y: Floats
    f: Floats
    m: Floats
    yf: Floats
    ff: Floats
    ym: Floats
    fm: Floats
    mm: Floats
    turn_yf: Floats
    turn_ff: Floats


class _Weighted(NamedTuple):
    """The human estimate, the corrected one, and the weight of the model."""

    people: Floats
    value: Floats
    weight: Floats


def corrected(sums: Judged) -> Corrected:
    """Return the estimates of all systems with a common weight.

    Requires two judged units; do not use it below five.
    """
    judged, units = sums.count, sums.units
    by_unit = _by_unit(sums)
    totals = _Totals(*(part.sum(axis=1) for part in by_unit))
    without_each = _Totals(*(part.sum(axis=1, keepdims=True) - part for part in by_unit))
    model_mean = sums.model.sum(axis=1) / sums.sizes.sum()
    people, value, weight = _estimate(totals, judged, model_mean)
    left_out = _estimate(without_each, judged - 1, model_mean[:, None]).value
    variance = (judged - 1) / judged * ((left_out - value[:, None]) ** 2).sum(axis=1)

    sizes = sums.sizes[sums.judged]
    residuals = (sums.people - people[:, None] * sizes) / sizes.mean()
    people_variance = (residuals**2).sum(axis=1) / (judged * (judged - 1))
    if judged >= STABLE_UNITS:
        variance = np.minimum(variance, people_variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (1 / judged - 1 / units) * variance / people_variance
        worth = np.where(people_variance > 0, 1 / (1 / units + ratio), np.nan)
    return Corrected(
        people=people,
        model=model_mean,
        value=value,
        variance=variance,
        people_variance=people_variance,
        weight=float(weight),
        worth=worth,
        judged=judged,
        units=units,
    )


def _by_unit(sums: Judged) -> _Totals:
    """Return the summands of :class:`_Totals` by judged unit: float64[S, n], or [1, n] of turns."""
    y, f, m = sums.people, sums.model[:, sums.judged], sums.sizes[None, sums.judged]
    return _Totals(
        y=y,
        f=f,
        m=m,
        yf=y * f,
        ff=f * f,
        ym=y * m,
        fm=f * m,
        mm=m * m,
        turn_yf=sums.products,
        turn_ff=sums.squares[:, sums.judged],
    )


def _estimate(totals: _Totals, units: int, model_mean: Floats) -> _Weighted:
    """Return the estimates from ``units`` judged units; ``model_mean``: R* of all units."""
    y, f, m, yf, ff, ym, fm, mm, turn_yf, turn_ff = totals
    people, model = y / m, f / m
    # sums over units of the products and squares of the residuals Y − R_Y M and F − R_F M
    unit_products = yf - model * ym - people * fm + people * model * mm
    unit_squares = ff - 2 * model * fm + model**2 * mm
    turn_products, turn_squares = turn_yf - y * f / m, turn_ff - f**2 / m
    of_units = _slope(unit_products, unit_squares)
    of_turns = np.maximum(_slope(turn_products, turn_squares), 0)
    trust_in_units = units / (units + _PRIOR)
    weight = np.clip(trust_in_units * of_units + (1 - trust_in_units) * of_turns, 0, 1)
    return _Weighted(people, people + weight * (model_mean - model), weight)


def _slope(products: Floats, squares: Floats) -> Floats:
    """Return the slope over all systems; 0 if the model scores do not vary."""
    return quotient(products.sum(axis=0), squares.sum(axis=0), least=_ROUNDING)


# ---------------------------------------------------------------- planning and selection


def units_to_judge(variance: float, judged: int, units: int, half_width: float) -> int:
    """Return the fewest of ``units`` that need human judgments for a 95% CI of ± ``half_width``.

    Sufficient in 80% of studies. ``variance``: of an estimate from a pilot of ``judged`` units
    (:class:`Corrected`), increased so that it is large enough in 80% of pilots. All units always
    suffice.
    """
    chi_squared = float(special.chdtri(judged - 1, PLANNED))
    unit_variance = judged * variance * (judged - 1) / chi_squared
    counts = np.arange(2, units + 1)
    of_estimate = np.maximum(1 / counts - 1 / units, 0) * unit_variance
    narrow_enough = t_quantile(counts) * np.sqrt(of_estimate) <= half_width
    return int(counts[narrow_enough.argmax()])


def selection_test(sums: npt.ArrayLike, sizes: npt.ArrayLike, judged: Mask, seed: int) -> float:
    """Return the two-sided p of "the judged units are a random sample".

    By permutation of the judged units: the statistic is the difference of the means Σ sums / Σ
    sizes (each [N]) of judged and other units. All permutations are used if there are at most
    :data:`PERMUTATIONS`, otherwise that many random ones and the observed one. A large p proves
    nothing: a selection by human scores shows in the model's scores only as far as the two agree.
    """
    values, turns = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    count, units = int(judged.sum()), len(judged)
    exact = comb(units, count) <= PERMUTATIONS
    selections = _all_selections(units, count) if exact else _random_selections(units, count, seed)

    def differences(masks: Mask) -> Floats:
        """Return the absolute difference of the two means for each selection, bool[B, N]."""
        top, bottom = masks @ values, masks @ turns
        other_top, other_bottom = values.sum() - top, turns.sum() - bottom
        return np.asarray(np.abs(top / bottom - other_top / other_bottom))

    observed = float(differences(judged[None])[0])
    extreme = int((differences(selections) >= observed - _TIE).sum())
    if exact:
        return extreme / len(selections)
    return (extreme + 1) / (len(selections) + 1)


def _all_selections(units: int, count: int) -> Mask:
    """Return bool[C(N, n), N]: every selection of ``count`` units."""
    selections = np.zeros((comb(units, count), units), dtype=bool)
    for row, chosen in enumerate(combinations(range(units), count)):
        selections[row, list(chosen)] = True
    return selections


def _random_selections(units: int, count: int, seed: int) -> Mask:
    """Return bool[:data:`PERMUTATIONS`, N]: random selections of ``count`` units."""
    generator = np.random.default_rng(seed)
    places = np.argsort(generator.random((PERMUTATIONS, units)), axis=1)
    return np.asarray(places < count)
