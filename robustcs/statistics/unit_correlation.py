"""Correlation of two values per turn where turns come in units: the jackknife over whole units, on Fisher's z.

Leaving out one unit at a time gives K values z₍₋g₎ = artanh r₍₋g₎; the standard error of z is √((K − 1)/K · Σ (z₍₋g₎ − z̄)²),
the interval tanh(z ± t·se) and p that of z/se, with t on K − 1 degrees of freedom. Efron & Tibshirani (1993), chapter 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from robustcs.statistics.correlation import METHODS
from robustcs.statistics.estimate import LEAST_UNITS, Tested, joined, units_note
from robustcs.statistics.means import t_quantile
from robustcs.statistics.units import Units

Floats = npt.NDArray[np.float64]

METHOD = "jackknife over units on Fisher's z"
#: Fisher's z of a correlation of 1 is infinite.
_ALMOST_ONE = 1 - 1e-12
#: Numbers in the matrix of weights that is worked on at a time.
_CELLS = 4_000_000


def unit_correlation(x: npt.ArrayLike, y: npt.ArrayLike, units: Units, method: str) -> Tested:
    """Correlation of x and y, float[T] each, by ``pearson``, ``spearman`` or ``kendall`` (tau-b), over all turns.

    It says how turns vary together, across and within units; it is no correlation of systems. nan where a variable does not
    vary; no interval below five units, or where a variable does not vary without one of them.
    """
    one, two = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return Tested(math.nan, math.nan, math.nan, units.count, METHOD, "a variable does not vary")
    function = METHODS[method]
    value = float(function(one, two, np.ones((1, len(one))))[0])

    def without(kept: Floats) -> Floats:
        return function(one, two, kept)

    return _jackknife(value, without, units)


def unit_partial_correlation(x: npt.ArrayLike, y: npt.ArrayLike, given: npt.ArrayLike, units: Units) -> Tested:
    """Pearson's correlation of what a linear model of ``given``, float[T, c], leaves of x and of y, float[T] each."""
    table = np.column_stack([x, y, given]).astype(np.float64)
    if len(table) < 3 or (np.ptp(table[:, :2], axis=0) == 0).any():
        return Tested(math.nan, math.nan, math.nan, units.count, METHOD, "a variable does not vary")

    def without(kept: Floats) -> Floats:
        return np.array([_partial(table[row > 0]) for row in kept])

    return _jackknife(_partial(table), without, units)


def _partial(table: Floats) -> float:
    """The partial correlation of the first two columns; nan where the others explain one of them."""
    design = np.column_stack([np.ones(len(table)), table[:, 2:]])
    rest = table[:, :2] - design @ np.linalg.lstsq(design, table[:, :2], rcond=None)[0]
    lengths = np.sqrt((rest**2).sum(axis=0))
    if len(table) <= design.shape[1] or (lengths <= 1e-9 * np.sqrt((table[:, :2] ** 2).sum(axis=0))).any():
        return math.nan
    return float(np.clip(rest[:, 0] @ rest[:, 1] / lengths.prod(), -1.0, 1.0))


def _jackknife(value: float, without: Callable[[Floats], Floats], units: Units) -> Tested:
    """The estimate, from ``without``: weights [R, T] of 0 and 1 → correlation of the turns that count, in each of R cases."""
    noun, count = units.kind, units.count
    notes = units_note(count, noun)
    if count < LEAST_UNITS or math.isnan(value):
        return Tested(value, math.nan, math.nan, count, METHOD, notes)
    step = max(1, _CELLS // len(units.codes))
    left_out = np.concatenate(
        [
            without((units.codes != np.arange(start, min(start + step, count))[:, None]).astype(np.float64))
            for start in range(0, count, step)
        ]
    )
    if np.isnan(left_out).any():
        notes = joined(f"no interval: without one {noun} a variable does not vary", notes)
        return Tested(value, math.nan, math.nan, count, METHOD, notes)
    z = math.atanh(min(max(value, -_ALMOST_ONE), _ALMOST_ONE))
    each = np.arctanh(np.clip(left_out, -_ALMOST_ONE, _ALMOST_ONE))
    error = math.sqrt((count - 1) / count * float(((each - each.mean()) ** 2).sum()))
    if error <= 1e-9:
        return Tested(value, math.nan, math.nan, count, METHOD, joined(f"no interval: all {noun}s are alike", notes))
    from scipy.special import stdtr

    half = float(t_quantile(count)) * error
    p = 2 * float(stdtr(count - 1, -abs(z) / error))
    return Tested(value, math.tanh(z - half), math.tanh(z + half), count, METHOD, notes, p, 0.0)
