"""Confidence intervals: Wilson's for shares, the bootstrap over turns for means."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

#: Two-sided level of all intervals.
CONFIDENCE = 0.95
#: Resamples of the bootstrap.
RESAMPLES = 2000
#: Values drawn at a time.
_DRAWS = 1_000_000


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a share ``successes / trials``; (nan, nan) without trials.

    Equal to ``scipy.stats.binomtest(k, n).proportion_ci(method="wilson")``; written out because importing scipy.stats
    takes longer than a whole breakdown. Wilson (1927), without continuity correction.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if trials == 0:
        return math.nan, math.nan
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # the interval touches 0 and 1 exactly where nothing or everything succeeded
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == trials else (centre + spread) / scale
    return low, high


def bootstrap_mean(
    values: npt.ArrayLike, seed: int, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Percentile interval of the mean of ``values`` (one per turn) over resampled turns; (nan, nan) without values.

    Seeded: the same values and seed give the same interval. Efron & Tibshirani (1993), chapter 13.
    """
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        return math.nan, math.nan
    random = np.random.default_rng(seed)
    block = max(1, _DRAWS // len(sample))  # memory does not grow with the turns
    means = [
        sample[random.integers(0, len(sample), size=(min(block, resamples - done), len(sample)), dtype=np.int32)].mean(axis=1)
        for done in range(0, resamples, block)
    ]
    low, high = np.quantile(np.concatenate(means), [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(low), float(high)
