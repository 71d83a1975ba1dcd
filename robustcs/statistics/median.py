"""A median over items that come in units, with Woodruff's interval."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import share_estimates
from robustcs.statistics.units import Units

METHOD = "Woodruff: the interval of the share below the median, read off the values"


def median_estimate(values: npt.ArrayLike, units: Units) -> Estimate:
    """The median of ``values``, float[T], one for each item of ``units``, with its 95 % interval for other units.

    The share of items up to the median has an interval by units (:func:`~robustcs.statistics.means.share_estimates`); the
    values at these shares are the limits (Woodruff 1952). No interval below five units; nan without values.
    """
    known = np.asarray(values, dtype=np.float64)
    if not len(known):
        return Estimate(math.nan, math.nan, math.nan, 0, METHOD)
    middle = float(np.median(known))
    (share,) = share_estimates(units.sums(known <= middle), units.sizes, units.kind)
    if math.isnan(share.low):
        return Estimate(middle, math.nan, math.nan, share.units, METHOD, share.note)
    # an interval around the share that ties leave at the median, moved to the half
    low, high = (float(np.quantile(known, min(1.0, max(0.0, 0.5 + end - share.value)))) for end in (share.low, share.high))
    return Estimate(middle, min(low, middle), max(high, middle), share.units, METHOD, share.note)
