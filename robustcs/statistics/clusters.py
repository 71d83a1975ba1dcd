"""Means over units that come in groups, such as the facets of a topic: groups are resampled whole."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from robustcs.statistics.intervals import CONFIDENCE, RESAMPLES


def bootstrap_grouped_mean(
    sums: npt.ArrayLike, counts: npt.ArrayLike, seed: int, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Percentile interval of the mean over units, ``sums.sum() / counts.sum()``, over resampled groups.

    ``sums`` and ``counts`` have one entry per group: the sum of its units' values and their number. Equal to
    :func:`~robustcs.statistics.intervals.bootstrap_mean` where every group is one unit. (nan, nan) without units. A resample
    of groups without any unit is left out. Davison & Hinkley (1997), section 3.8.
    """
    totals, sizes = np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if not sizes.sum():
        return math.nan, math.nan
    draws = np.random.default_rng(seed).integers(0, len(totals), size=(resamples, len(totals)), dtype=np.int32)
    drawn = sizes[draws].sum(axis=1)
    means = totals[draws].sum(axis=1)[drawn > 0] / drawn[drawn > 0]
    low, high = np.quantile(means, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(low), float(high)
