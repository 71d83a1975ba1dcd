"""Would other units rank the systems alike? Rank correlation of two rankings on these units, with a lower limit.

No two-sided interval covers: sampling noise pulls the correlation of two noisy rankings down, in every resample once more. So
the value is given for these units as it is, and of resampled units only "at least L".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robustcs.statistics.estimate import CONFIDENCE, LEAST_UNITS, Estimate, joined, units_note
from robustcs.statistics.ranks import METHODS

Floats = npt.NDArray[np.float64]

METHOD = "percentile bootstrap over units, one-sided"
#: Of a matrix of system pairs, numbers held at a time.
_CELLS = 4_000_000

#: Resamples of the bootstrap.
RESAMPLES = 2000


def rank_stability(
    reference: npt.ArrayLike,
    estimate: npt.ArrayLike,
    sizes: npt.ArrayLike,
    seed: int,
    method: str = "kendall",
    other_sizes: npt.ArrayLike | None = None,
    noun: str = "conversation",
    resamples: int = RESAMPLES,
) -> Estimate:
    """The rank correlation ``method`` of the systems' means, from sums over units ``reference`` and ``estimate`` [S, K].

    ``sizes`` [K] are the units' turns. Both rankings take the same resampled units; with ``other_sizes`` the second stands on
    units of its own, resampled apart. ``low`` is the one-sided 95 % limit (the 5th percentile of the resamples) and ``high`` is
    nan on purpose. No limit below five units.
    """
    first, second = np.asarray(reference, dtype=np.float64), np.asarray(estimate, dtype=np.float64)
    lengths = np.asarray(sizes, dtype=np.float64)
    others = lengths if other_sizes is None else np.asarray(other_sizes, dtype=np.float64)
    compute = METHODS[method]
    value = float(compute(first.sum(axis=1) / lengths.sum(), second.sum(axis=1) / others.sum()))
    units = min(len(lengths), len(others))
    notes = units_note(units, noun)
    words = joined("at least, for rankings on as many other units; no upper limit", notes)
    if units < LEAST_UNITS or np.isnan(value):
        return Estimate(value, np.nan, np.nan, units, METHOD, notes)
    generator = np.random.default_rng(seed)
    drawn = []
    step = max(1, _CELLS // len(first) ** 2)
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        weights = _weights(generator, len(lengths), count)
        apart = weights if other_sizes is None else _weights(generator, len(others), count)
        drawn.append(compute(_means(first, lengths, weights), _means(second, others, apart)))
    values = np.concatenate(drawn)
    values = values[~np.isnan(values)]
    low = float(np.quantile(values, 1 - CONFIDENCE)) if len(values) else np.nan
    return Estimate(value, min(low, value), np.nan, units, METHOD, words)


def _weights(generator: np.random.Generator, units: int, count: int) -> Floats:
    return generator.multinomial(units, np.full(units, 1 / units), size=count).astype(np.float64)


def _means(sums: Floats, sizes: Floats, weights: Floats) -> Floats:
    """float64[R, S]: the systems' means over turns in every resample."""
    return np.asarray(weights @ sums.T / (weights @ sizes)[:, None])
