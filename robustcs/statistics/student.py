"""Quantiles and p-values of Student's t, without the import time of scipy.special."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Floats
from robustcs.statistics.estimate import CONFIDENCE

#: Degrees of freedom from which the expansion around the normal quantile is exact.
_MANY_DEGREES = 1000
#: A start of Newton's method left of every quantile.
_START = 1e-3
#: Relative precision of the iterations.
_PRECISION = 1e-15


def t_quantile(units: npt.ArrayLike, confidence: float = CONFIDENCE) -> Floats:
    """Return the two-sided quantile of Student's t with ``units`` − 1 degrees of freedom.

    In the shape of ``units``. Below two units, fractions count as one degree of freedom; nan for a
    single unit.
    """
    freedom, place = np.unique(np.asarray(units, dtype=np.float64) - 1, return_inverse=True)
    quantiles = []
    for degrees in freedom.tolist():
        quantiles.append(_quantile(max(degrees, 1.0), confidence) if degrees > 0 else math.nan)
    return np.asarray(np.array(quantiles)[place].reshape(np.shape(units)))


@lru_cache(maxsize=4096)
def _quantile(freedom: float, confidence: float) -> float:
    """Return the two-sided quantile of Student's t to 12 digits.

    Newton's method from the left, where the tail is convex. From 1,000 degrees on, an expansion
    around the quantile of the normal distribution (Abramowitz & Stegun 1964, 26.7.5) is as exact.
    """
    z = _normal_quantile(confidence)
    if freedom >= _MANY_DEGREES:
        numerators = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + sum(term / freedom**power for power, term in enumerate(numerators, 1))
    half = freedom / 2
    scale = math.exp(math.lgamma(half + 0.5) - math.lgamma(half)) / math.sqrt(freedom * math.pi)
    previous, t = 0.0, max(z, _START)
    while t - previous > _PRECISION * t:
        previous = t
        x = freedom / (freedom + t * t)
        density = scale * x ** (half + 0.5)
        two_tails = density * t / half * _beta_fraction(half, 0.5, x)
        t += (two_tails - (1 - confidence)) / (2 * density)
    return t


def _normal_quantile(confidence: float) -> float:
    """Return the two-sided quantile of the normal distribution by Newton's method from the left."""
    previous, z = 0.0, _START
    # the steps go up until rounding ends them
    while z > previous:
        previous = z
        inside = math.erf(z / math.sqrt(2))
        two_densities = math.sqrt(2 / math.pi) * math.exp(-z * z / 2)
        z -= (inside - confidence) / two_densities
    return previous


def t_p(t: float, freedom: float) -> float:
    """Return the two-sided p of Student's t to 10 digits; ``freedom``: at least 1."""
    half = freedom / 2
    y = t * t / (freedom + t * t)
    logarithm = math.lgamma(half + 0.5) - math.lgamma(half) - half * math.log1p(t * t / freedom)
    front = math.exp(logarithm) * math.sqrt(y / math.pi)
    # the fraction converges fast on its own side of the mean of the beta distribution
    if y > 1.5 / (half + 2.5):
        return front / half * _beta_fraction(half, 0.5, 1 - y)
    return 1 - 2 * front * _beta_fraction(0.5, half, y)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function I_x(a, b).

    Lentz's method (Press et al. 2007, 6.4): the value is the product of the ratios c of successive
    numerators and d of successive denominators.
    """
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value, change = d, 0.0
    m = 1
    while abs(change - 1) > _PRECISION:
        change = 1.0
        even = m * (b - m) * x / (a + 2 * m - 1)
        odd = -(a + m) * (a + b + m) * x / (a + 2 * m + 1)
        for coefficient in (even, odd):
            d = 1 / (1 + coefficient / (a + 2 * m) * d)
            c = 1 + coefficient / (a + 2 * m) / c
            change *= c * d
        value *= change
        m += 1
    return value
