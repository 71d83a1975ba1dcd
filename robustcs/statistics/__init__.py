"""Confidence intervals, tests, adjusted p-values, agreement and rank correlation.

Sampling units (conversations, topics or turns) are the independent observations everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# as in numpy.typing, whose import takes longer than evaluating a run
Floats = np.ndarray[Any, np.dtype[np.float64]]
Codes = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

#: Scores that differ by less are equal: sums of floats differ in their last bits.
_EQUAL_SCORES = 5e-10


def quotient(
    numerator: ArrayLike, denominator: ArrayLike, empty: float = 0.0, least: float = 0.0
) -> Floats:
    """Return the quotient, or ``empty`` if the denominator is not above ``least``."""
    top, bottom = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    shape = np.broadcast(top, bottom).shape  # several times faster than broadcast_arrays
    divided = np.divide(top, bottom, out=np.full(shape, empty), where=bottom > least)
    return np.asarray(divided)


def places_within(sizes: Codes) -> Codes:
    """Return 0, 1, 2, … within each of successive groups of these ``sizes``."""
    starts = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) - np.repeat(starts, sizes)


def settled(differences: ArrayLike) -> Floats:
    """Return differences with 0 for those of equal scores, which may differ in their last bits.

    The others are not rounded: a test must see that two differences of 1/3 are as large as one of
    2/3.
    """
    values = np.asarray(differences, np.float64)
    return np.where(np.abs(values) < _EQUAL_SCORES, 0.0, values)


def logistic(logits: Floats) -> Floats:
    """Return 1 / (1 + exp(−``logits``)), without the import time of scipy.special."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * logits))
