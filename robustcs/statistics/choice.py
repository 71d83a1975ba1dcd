"""What choosing the best score of every turn gains: over systems by an oracle, or over samples."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from robustcs.statistics import Floats
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units

#: Number of random exchanges for the expected gain by chance.
EXCHANGES = 500


@dataclass(frozen=True)
class Choice:
    """The highest score of every turn, compared with the best of M systems.

    best, best_mean
        Index of the system with the highest mean, and that mean.
    chosen
        Mean of the highest score of every turn.
    gain
        chosen − best_mean, with its cluster-robust interval.
    by_chance
        Expected gain if the systems were exchanged at random in every turn. Every turn keeps its
        highest score, while the highest mean falls towards the overall mean. So if one system
        leads, this exceeds the gain.
    """

    best: int
    best_mean: float
    chosen: float
    gain: Estimate
    by_chance: float


def best_choice(table: Floats, units: Units, seed: int) -> Choice:
    """Return what an oracle gains over the best of M systems; ``table``: scores, float[M, turns].

    The interval of the gain stays in [0, 1] if no gain exceeds 1.
    """
    highest = table.max(axis=0)
    best = int(table.mean(axis=1).argmax())
    gains = highest - table[best]
    bounds = (0.0, 1.0) if bool((gains <= 1).all()) else None
    (gain,) = mean_estimates(units.sums(gains), units.sizes, units.kind, bounds)
    generator = np.random.default_rng(seed)
    best_means = []
    for _ in range(EXCHANGES):
        exchanged = generator.permuted(table, axis=0)
        best_means.append(exchanged.mean(axis=1).max())
    return Choice(
        best=best,
        best_mean=float(table[best].mean()),
        chosen=float(highest.mean()),
        gain=gain,
        by_chance=float(highest.mean() - np.mean(best_means)),
    )


def expected_best(scores: npt.ArrayLike) -> Floats:
    """Return float64[turns, n]: the expected highest score of 1 … n samples of a turn.

    ``scores``: [turns, n]; the samples are drawn from them without replacement. Exact: of m drawn
    samples, the i-th smallest of n is the highest with probability C(i − 1, m − 1) / C(n, m). The
    expected lowest is ``-expected_best(-scores)``.
    """
    ascending = np.sort(np.asarray(scores, dtype=np.float64), axis=1)
    n = ascending.shape[1]
    probabilities = np.zeros((n, n))
    for drawn in range(1, n + 1):
        for place in range(1, n + 1):
            probabilities[drawn - 1, place - 1] = comb(place - 1, drawn - 1) / comb(n, drawn)
    return np.asarray(ascending @ probabilities.T)
