"""Shares of a finite population of turns, estimated from a simple random sample.

The sample is drawn without replacement. The estimates hold for the turns of this population only,
not for other conversations; so conversations need no allowance: every turn had the same chance of
being drawn. If the sample contains the whole population, the intervals have width 0.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from robustcs.lazy import special
from robustcs.statistics import Floats
from robustcs.statistics.estimate import CONFIDENCE, Estimate

FINITE_SHARE_METHOD = "exact for a finite population of turns (Blaker's interval, hypergeometric)"
FINITE_DIFFERENCE_METHOD = (
    "adjusted Wald interval of paired shares (Bonett and Price), corrected for a finite population"
    " of turns"
)
#: Acceptabilities that differ by less are equal: they are sums of rounded probabilities.
_TIE = 1e-9


def _probabilities(hits: int, drawn: int, population: int) -> Floats:
    """Return float64[drawn + 1]: the hypergeometric probability of 0 … ``drawn`` hits in a sample.

    ``hits`` of the ``population`` turns are hits.
    """
    drawn_hits: Floats = np.arange(drawn + 1, dtype=np.float64)
    # the logarithm of an impossible choice is -inf
    logarithms = (
        _log_choices(hits, drawn_hits)
        + _log_choices(population - hits, drawn - drawn_hits)
        - _log_choices(population, drawn)
    )
    return np.asarray(np.exp(logarithms))


def _log_choices(items: int, chosen: Floats | int) -> Floats:
    """Return the logarithm of the binomial coefficients."""
    chosen = np.asarray(chosen)
    log_factorial = special.gammaln
    return np.asarray(
        log_factorial(items + 1) - log_factorial(chosen + 1) - log_factorial(items - chosen + 1)
    )


def _acceptability(seen: int, hits: int, drawn: int, population: int) -> float:
    """Return the probability of a sample at most as typical as ``seen`` hits.

    This is Blaker's function of ``hits``.
    """
    probabilities = _probabilities(hits, drawn, population)
    lower_tails = probabilities.cumsum()
    upper_tails = probabilities[::-1].cumsum()[::-1]
    tails = np.minimum(lower_tails, upper_tails)
    at_most_as_typical = tails <= tails[seen] * (1 + _TIE)
    return float(probabilities[at_most_as_typical].sum())


def finite_share(seen: int, drawn: int, population: int) -> Estimate:
    """Return ``seen / drawn``, the share of hits in a random sample of turns, with the 95% CI.

    The interval is for all turns: Blaker's (2000, "Confidence curves and improved exact confidence
    intervals for discrete distributions") for the hypergeometric distribution, the numbers of hits
    among all ``population`` turns that the sample does not reject. It is inside the interval of
    Clopper and Pearson and contains the true share in at least 95% of all samples. Undefined for
    ``drawn`` = 0. Raises :class:`ValueError` unless 0 ≤ seen ≤ drawn ≤ population.
    """
    if not 0 <= seen <= drawn <= population:
        raise ValueError(f"{seen} hits, {drawn} turns drawn from {population}")
    if not drawn:
        return Estimate(
            math.nan, math.nan, math.nan, 0, FINITE_SHARE_METHOD, "no turn was reviewed"
        )
    low, high = _clopper_pearson(seen, drawn, population)
    # Blaker's interval is inside that of Clopper and Pearson
    while low < high and _acceptability(seen, low, drawn, population) <= 1 - CONFIDENCE:
        low += 1
    while high > low and _acceptability(seen, high, drawn, population) <= 1 - CONFIDENCE:
        high -= 1
    value = seen / drawn  # between two possible shares, of which the interval may contain one only
    return Estimate(
        value,
        min(value, low / population),
        max(value, high / population),
        drawn,
        FINITE_SHARE_METHOD,
    )


def _clopper_pearson(seen: int, drawn: int, population: int) -> tuple[int, int]:
    """Return the smallest and largest number of hits that neither tail of the sample rejects."""
    tail = (1 - CONFIDENCE) / 2

    def enough(hits: int) -> bool:
        """Whether ``hits`` make a sample with so many hits possible."""
        return bool(_probabilities(hits, drawn, population)[seen:].sum() > tail)

    def not_too_many(hits: int) -> bool:
        """Whether ``hits`` make a sample with so few hits possible."""
        return bool(_probabilities(hits, drawn, population)[: seen + 1].sum() > tail)

    # the numbers of hits that are possible at all, given the turns that were seen
    least, most = seen, population - (drawn - seen)
    low = least + bisect_left(range(least, most), True, key=enough)
    high = most - bisect_left(range(most, least, -1), True, key=not_too_many)
    return low, high


def finite_difference(
    only_first: int, only_second: int, drawn: int, population: int, comparisons: int = 1
) -> Estimate:
    """Return the difference of two paired shares in a random sample, with the 95% CI.

    The interval is for all ``population`` turns. ``only_first`` and ``only_second`` of the
    ``drawn`` turns are hits of one system only. The interval adds one turn to each (Bonett and
    Price 2012, "Adjusted Wald confidence interval for a difference of binomial proportions based on
    paired data"), and its variance is multiplied by (N − n) / (N − 1). ``comparisons`` widens it
    for simultaneous intervals (Bonferroni). Undefined for ``drawn`` = 0.
    """
    if not drawn:
        return Estimate(
            math.nan, math.nan, math.nan, 0, FINITE_DIFFERENCE_METHOD, "no turn was reviewed"
        )
    value = (only_first - only_second) / drawn
    if drawn == population:
        return Estimate(value, value, value, drawn, FINITE_DIFFERENCE_METHOD)
    adjusted_drawn = drawn + 2
    first, second = (only_first + 1) / adjusted_drawn, (only_second + 1) / adjusted_drawn
    centre = first - second
    variance = (first + second - centre**2) / adjusted_drawn
    variance = variance * (population - drawn) / (population - 1)
    quantile = -float(special.ndtri((1 - CONFIDENCE) / 2 / comparisons))
    half = quantile * math.sqrt(variance)
    return Estimate(
        value,
        max(-1.0, min(value, centre - half)),
        min(1.0, max(value, centre + half)),
        drawn,
        FINITE_DIFFERENCE_METHOD,
    )
