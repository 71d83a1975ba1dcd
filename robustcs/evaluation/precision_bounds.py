"""Bounds of average precision over all grades of the unjudged passages.

Average precision is Σ_j j / r_j over the ranks r_1 < r_2 < … of relevant passages, divided by
(relevant + x + y), where x and y are the numbers of unjudged passages inside and outside the cutoff
that become relevant.

With x fixed, moving a relevant passage up to a better free rank lowers some r_j and raises none, so
the sum grows. Hence the first x unjudged passages give the maximum, the last x the minimum, and
x = 0, 1, … are the candidates. y = 0 for the upper bound, and all for the lower one. Sums of
successive candidates differ by the precision at the new rank and by 1/i for every relevant rank i
below it, so one cumulative sum gives all candidates.
"""

from __future__ import annotations

import numpy as np

from robustcs.evaluation.extremes import from_zero
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measures import Scores, Top
from robustcs.statistics import Codes, quotient


def highest_precision(top: Top) -> Scores:
    """Return float64[T]: the upper bound of the average precision of every turn."""
    unjudged = top.grades == UNJUDGED
    hits_so_far = np.cumsum(top.hits, axis=1, dtype=np.int64)
    # unjudged passages become relevant from the first rank down: all above count as well
    precision = (hits_so_far + np.cumsum(unjudged, axis=1)) / top.ranks
    gains = np.where(unjudged, precision + _sum_below(top.hits / top.ranks), 0.0)
    sums = _sum_of_precisions(top, hits_so_far) + from_zero(gains)
    candidates = quotient(sums, top.relevant[:, None] + from_zero(unjudged))
    return np.asarray(candidates.max(axis=1))


def lowest_precision(top: Top, below: Codes) -> Scores:
    """Return float64[T]: the lower bound of the average precision of every turn.

    ``below`` (int64[T]): the number of passages outside the cutoff that can become relevant.
    """
    unjudged = top.grades == UNJUDGED
    hits_so_far = np.cumsum(top.hits, axis=1, dtype=np.int64)
    # unjudged passages become relevant from the last rank up: all below count as well
    precision = (hits_so_far + 1) / top.ranks
    gains = precision + _sum_below((top.hits | unjudged) / top.ranks)
    gains = np.where(unjudged, gains, 0.0)[:, ::-1]
    sums = _sum_of_precisions(top, hits_so_far) + from_zero(gains)
    relevant = (top.relevant + below)[:, None] + from_zero(unjudged[:, ::-1])
    return np.asarray(quotient(sums, relevant).min(axis=1))


def _sum_of_precisions(top: Top, hits_so_far: Codes) -> Scores:
    """Return float64[T, 1]: the sum of the precision at every relevant rank."""
    precisions = np.where(top.hits, hits_so_far / top.ranks, 0.0)
    return np.asarray(precisions.sum(axis=1)[:, None])


def _sum_below(values: Scores) -> Scores:
    """Return float64[T, k]: for each rank, the sum of ``values`` over all deeper ranks."""
    return np.asarray(np.cumsum(values[:, ::-1], axis=1)[:, ::-1] - values)
