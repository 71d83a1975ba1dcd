"""Correcting p values for the number of comparisons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def holm(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Holm's step-down correction: float64, in the order given; rejecting where it is ≤ α keeps the family-wise error ≤ α.

    The i-th smallest of m values is multiplied by m − i + 1 and is at least as large as those before it, at most 1. nan is
    no comparison and stays nan. Holm (1979).
    """
    values = np.asarray(p, dtype=np.float64)
    corrected = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return corrected
