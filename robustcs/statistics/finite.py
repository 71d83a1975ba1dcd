"""Shares of a finite population of turns, estimated from a simple random sample without
replacement.

The estimates hold for the turns of this population only, not for other conversations; so
conversations need no allowance: every turn had the same chance of being drawn. If the sample
contains the whole population, the intervals have width 0.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from robustcs.lazy import special
from robustcs.statistics import Floats
from robustcs.statistics.estimate import CONFIDENCE, Estimate

SHARE_METHOD = "exact for a finite population of turns (Blaker's interval, hypergeometric)"
DIFFERENCE_METHOD = "adjusted Wald interval of paired shares (Bonett and Price), corrected for a finite population of turns"
#: Acceptabilities that differ by less are equal: they are sums of rounded probabilities.
_TIE = 1e-9


def _probabilities(hits: int, drawn: int, population: int) -> Floats:
    """Return float64[drawn + 1]: the hypergeometric probability of 0 … ``drawn`` hits, if ``hits``
    of all turns are hits.
    """
    x: Floats = np.arange(drawn + 1, dtype=np.float64)
    # the logarithm of an impossible choice is -inf
    return np.asarray(
        np.exp(
            _choose(hits, x) + _choose(population - hits, drawn - x) - _choose(population, drawn)
        )
    )


def _choose(n: int, k: Floats | int) -> Floats:
    return np.asarray(
        special.gammaln(n + 1)
        - special.gammaln(np.asarray(k) + 1)
        - special.gammaln(n - np.asarray(k) + 1)
    )


def _acceptability(seen: int, hits: int, drawn: int, population: int) -> float:
    """Return the probability of a sample at most as typical as ``seen`` hits; Blaker's function of
    ``hits``.
    """
    p = _probabilities(hits, drawn, population)
    tails = np.minimum(p.cumsum(), p[::-1].cumsum()[::-1])
    return float(p[tails <= tails[seen] * (1 + _TIE)].sum())


def finite_share(seen: int, drawn: int, population: int) -> Estimate:
    """Return ``seen / drawn``, the share of hits in a random sample of ``drawn`` turns, with the
    95% CI for all turns.

    The interval is Blaker's (2000, "Confidence curves and improved exact confidence intervals for
    discrete distributions") for the hypergeometric distribution: the numbers of hits among all
    ``population`` turns that the sample does not reject. It is inside the interval of Clopper and
    Pearson and contains the true share in at least 95% of all samples. Undefined for ``drawn`` = 0.
    Raises :class:`ValueError` unless 0 ≤ seen ≤ drawn ≤ population.
    """
    if not 0 <= seen <= drawn <= population:
        raise ValueError(f"{seen} hits, {drawn} turns drawn from {population}")
    if not drawn:
        return Estimate(math.nan, math.nan, math.nan, 0, SHARE_METHOD, "no turn was reviewed")
    alpha, least, most = 1 - CONFIDENCE, seen, population - (drawn - seen)

    def rejected(hits: int, upper: bool) -> bool:
        p = _probabilities(hits, drawn, population)
        return (
            bool(p[seen:].sum() <= alpha / 2) if upper else bool(p[: seen + 1].sum() <= alpha / 2)
        )

    low = least + bisect_left(
        range(least, most), True, key=lambda hits: not rejected(hits, upper=True)
    )
    high = most - bisect_left(
        range(most, least, -1), True, key=lambda hits: not rejected(hits, upper=False)
    )
    # Blaker's interval is inside that of Clopper and Pearson
    while low < high and _acceptability(seen, low, drawn, population) <= alpha:
        low += 1
    while high > low and _acceptability(seen, high, drawn, population) <= alpha:
        high -= 1
    value = seen / drawn  # between two possible shares, of which the interval may contain one only
    return Estimate(
        value, min(value, low / population), max(value, high / population), drawn, SHARE_METHOD
    )


def finite_difference(
    only_first: int, only_second: int, drawn: int, population: int, comparisons: int = 1
) -> Estimate:
    """Return the difference of two paired shares in a random sample, with the 95% CI for all turns.

    ``only_first`` and ``only_second`` of the ``drawn`` turns are hits of one system only. The
    interval adds one turn to each (Bonett and Price 2012, "Adjusted Wald confidence interval for a
    difference of binomial proportions based on paired data"), and its variance is multiplied by (N
    − n) / (N − 1). ``comparisons`` widens it for simultaneous intervals (Bonferroni). Undefined for
    ``drawn`` = 0.
    """
    if not drawn:
        return Estimate(math.nan, math.nan, math.nan, 0, DIFFERENCE_METHOD, "no turn was reviewed")
    value = (only_first - only_second) / drawn
    if drawn == population:
        return Estimate(value, value, value, drawn, DIFFERENCE_METHOD)
    first, second, number = (
        (only_first + 1) / (drawn + 2),
        (only_second + 1) / (drawn + 2),
        drawn + 2,
    )
    variance = (
        (first + second - (first - second) ** 2) / number * (population - drawn) / (population - 1)
    )
    half = -float(special.ndtri((1 - CONFIDENCE) / 2 / comparisons)) * math.sqrt(variance)
    centre = first - second
    return Estimate(
        value,
        max(-1.0, min(value, centre - half)),
        min(1.0, max(value, centre + half)),
        drawn,
        DIFFERENCE_METHOD,
    )
