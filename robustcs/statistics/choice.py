"""What choosing would give: the best of several systems or samples in every turn, and what that is worth by chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units

Floats = npt.NDArray[np.float64]

#: Random exchanges behind the chance level of a choice.
EXCHANGES = 500


@dataclass(frozen=True)
class Choice:
    """The highest score of every turn, beside the best of the M systems.

    best, best_mean
        The place of the system with the highest mean, and that mean.
    chosen
        Mean of the highest score of every turn.
    gain
        chosen − best_mean, with its cluster-robust interval.
    by_chance
        The gain expected if the systems were exchanged at random in every turn. Every turn keeps its highest score, while the
        highest mean falls towards the mean of all: where one system leads, this exceeds the gain.
    """

    best: int
    best_mean: float
    chosen: float
    gain: Estimate
    by_chance: float


def best_choice(table: Floats, units: Units, seed: int) -> Choice:
    """What an oracle gains over the best of M systems; ``table``: scores, float[M, turns]."""
    highest = table.max(axis=0)
    best = int(table.mean(axis=1).argmax())
    gain = highest - table[best]
    (found,) = mean_estimates(units.sums(gain), units.sizes, units.kind, (0.0, 1.0) if bool((gain <= 1).all()) else None)
    generator = np.random.default_rng(seed)
    exchanged = [generator.permuted(table, axis=0).mean(axis=1).max() for _ in range(EXCHANGES)]
    by_chance = float(highest.mean() - np.mean(exchanged))
    return Choice(best, float(table[best].mean()), float(highest.mean()), found, by_chance)


def expected_best(scores: npt.ArrayLike) -> Floats:
    """float64[turns, n]: the highest score expected of 1 … n samples drawn without return from the n of a turn [turns, n].

    Exact: of m drawn, the i-th smallest of n is the highest with probability C(i − 1, m − 1) / C(n, m). The lowest of m is
    ``-expected_best(-scores)``.
    """
    table = np.sort(np.asarray(scores, dtype=np.float64), axis=1)
    n = table.shape[1]
    weights = np.array([[comb(i, m - 1) / comb(n, m) for i in range(n)] for m in range(1, n + 1)])
    return np.asarray(table @ weights.T)
