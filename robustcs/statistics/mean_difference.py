"""Does a mean difference over turns differ from zero? The paired randomisation test and the paired t test.

Both take the differences of two systems, one per turn, and return a two-sided p.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

#: Random sign patterns of the randomisation test.
RANDOMISATIONS = 10_000
#: Sign patterns evaluated at a time: bounds working memory.
_BLOCK = 1000


def randomisation_test(differences: npt.ArrayLike, seed: int, randomisations: int = RANDOMISATIONS) -> float:
    """p of Fisher's paired randomisation test: if the two systems were the same, every difference could have either sign.

    p is the share of sign patterns whose mean is at least as far from 0 as the observed one. Where not more than
    ``randomisations`` patterns exist, all are tried and p is exact; else that many are drawn and the observed pattern
    counts as one more, so p is never 0. Seeded. Turns without a difference change nothing. nan without turns.

    Smucker, Allan & Carterette (2007), "A comparison of statistical significance tests for information retrieval
    evaluation"; for the observed pattern that counts, Phipson & Smyth (2010).
    """
    values = np.asarray(differences, dtype=np.float64)
    if not len(values):
        return math.nan
    moving = values[values != 0]
    exact = 2 ** len(moving) <= randomisations
    draws = 2 ** len(moving) if exact else randomisations
    # sums that are equal on paper may differ in the last bits
    observed = abs(moving.sum()) - 1e-12 * np.abs(moving).sum()
    rng = np.random.default_rng(seed)
    extreme = 0
    for start in range(0, draws, _BLOCK):
        size = min(_BLOCK, draws - start)
        if exact:
            positive = (np.arange(start, start + size)[:, None] >> np.arange(len(moving))) & 1
        else:
            positive = rng.integers(0, 2, size=(size, len(moving)), dtype=np.int8)
        sums = 2.0 * (positive.astype(np.float64) @ moving) - moving.sum()
        extreme += int((np.abs(sums) >= observed).sum())
    return extreme / draws if exact else (extreme + 1) / (draws + 1)


def t_test(differences: npt.ArrayLike) -> float:
    """p of Student's paired t test; equal to ``scipy.stats.ttest_rel``, without the import time of scipy.stats.

    1 where no turn differs, 0 where all differ by the same amount; nan for fewer than two turns.
    """
    from scipy.special import stdtr

    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        return math.nan
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))
    if mean == 0:
        return 1.0
    return float(2 * stdtr(len(values) - 1, -abs(mean) / error)) if error else 0.0
