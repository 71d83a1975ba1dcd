"""How far a mean over turns moves because a sample was drawn, and how many samples an average needs."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units

#: The two-sided quantile of the normal distribution at 95 %.
NORMAL = 1.959963984540054
#: p of "samples differ turn by turn alone" from which they count as differing as wholes.
LEVEL = 0.05

METHOD = "variance within turns, cluster-robust t (CR2) on the logarithm over units"
WHOLE = "spread of the samples' means, chi-squared"


def sampling_error(scores: npt.ArrayLike, units: Units) -> Estimate:
    """Half the 95 % interval that drawing alone leaves of the mean of one sample over these turns, with its own interval.

    scores
        float[turns, n], n samples of every turn, drawn independently of each other.

    The turns are taken as they are: the interval for other turns stands beside it and does not shrink with more samples. Where
    samples are drawn anew in every turn, the variance of a sample's mean over T turns is σ²/T, with σ² the mean over turns of
    the variance within a turn; its interval takes the unit as independent. Where whole samples differ more than that (F test of
    samples against the remainder, p ≤ .05, as of seeds of training), it is the variance of the n means, with the interval of
    chi-squared on n − 1 degrees of freedom, and the note says so. Fewer than two turns do not tell one from the other: nan.
    """
    from scipy.stats import chi2, f

    table = np.asarray(scores, dtype=np.float64)
    turns, n = table.shape
    if turns < 2:
        return Estimate(math.nan, math.nan, math.nan, turns, METHOD, "it takes two turns to tell a draw from a whole sample")
    means = table.mean(axis=0)
    rest = table - table.mean(axis=1, keepdims=True) - means + means.mean()
    left = float((rest**2).sum()) / max((turns - 1) * (n - 1), 1)
    between = turns * float(means.var(ddof=1))
    p = float(f.sf(between / left, n - 1, (turns - 1) * (n - 1))) if left > 1e-24 else float(between < 1e-24)
    if p <= LEVEL:
        spread = float(means.std(ddof=1))
        low, high = (spread * math.sqrt((n - 1) / float(chi2.ppf(level, n - 1))) for level in (0.975, 0.025))
        note = "whole samples differ, so the spread of their means counts"
        return Estimate(NORMAL * spread, NORMAL * low, NORMAL * high, n, WHOLE, note)
    # from the first sample, so that those that are alike give 0
    within = (table - table[:, :1]).var(axis=1, ddof=1)
    (found,) = mean_estimates(units.sums(within), units.sizes, units.kind)
    reach = math.exp(half_width / found.value) if (half_width := (found.high - found.low) / 2) > 0 else math.nan
    value, low, high = (NORMAL * math.sqrt(part / turns) for part in (found.value, found.value / reach, found.value * reach))
    return Estimate(value, low, high, found.units, METHOD, found.note)


def draws_needed(half: float, within: float) -> float:
    """The least number of samples whose average moves by no more than ``within`` (95 %); ``half`` is that of one sample.

    nan where that is not known.
    """
    return math.nan if math.isnan(half) else float(max(1, math.ceil((half / within) ** 2 - 1e-9)))
