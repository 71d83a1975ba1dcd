"""How much of the variance comes from the turn, and how much from its wording? A two-way random-effects decomposition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.statistics.intervals import CONFIDENCE, RESAMPLES

Floats = npt.NDArray[np.float64]

#: ``turn``: turns differ; ``set``: whole sets differ; ``turn_set``: a wording helps one turn and hurts another.
#: ``wording`` is ``set`` and ``turn_set`` together, all that is not ``turn``.
COMPONENTS = ("turn", "set", "turn_set", "wording")


@dataclass(frozen=True)
class Component:
    """One of :data:`COMPONENTS`: its variance (score units squared), its share of the total, and the share's interval."""

    name: str
    variance: float
    share: float
    ci_low: float
    ci_high: float


def variance_components(
    scores: npt.ArrayLike, seed: int, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> tuple[Component, ...]:
    """Split the variance of ``scores`` (turns × sets, one paraphrase of the turn in each set) into :data:`COMPONENTS`.

    Model: score = mean + turn + set + turn·set, all three drawn at random with variances of their own. There is one score
    per cell and retrieval repeats itself exactly, so what turn and set do not explain is the wording of that turn.
    Estimator: analysis of variance. With n turns, k sets and the mean squares MS of turns, sets and the remainder,
    turn·set = MS_rest, turn = (MS_turn − MS_rest) / k, set = (MS_set − MS_rest) / n, negative estimates are 0 (Searle,
    Casella & McCulloch 1992, chapter 4; in information retrieval Bodoff & Li 2007, "Test theory for assessing IR test
    collections"). The interval of a share is the percentile bootstrap over turns, seeded: it speaks of other turns with
    these sets, as three sets are too few to resample. Shares are nan where nothing varies.

    Raises :class:`UsageError` for fewer than two turns or two sets.
    """
    table = np.asarray(scores, dtype=np.float64)
    count, sets = table.shape
    if count < 2 or sets < 2:
        raise UsageError(
            "too-few-sets", f"{count} turns × {sets} sets cannot be decomposed", "give at least two turns and two sets"
        )
    table = table - table.mean()  # sums of squares of centred values lose no digits
    variances = _estimate(table, np.ones((1, count)))[0]
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples)
    shares = _shares(_estimate(table, draws.astype(np.float64)))
    shares = shares[~np.isnan(shares).any(axis=1)]
    tails = [0.5 - confidence / 2, 0.5 + confidence / 2]
    low, high = np.quantile(shares, tails, axis=0) if len(shares) else np.full((2, len(COMPONENTS)), np.nan)
    share = _shares(variances[None, :])[0]
    return tuple(Component(name, *map(float, (variances[i], share[i], low[i], high[i]))) for i, name in enumerate(COMPONENTS))


def _estimate(table: Floats, weights: Floats) -> Floats:
    """Variances, float64[R, 4] in the order of :data:`COMPONENTS`; ``weights`` [R, n]: how often each turn counts."""
    count, sets = table.shape
    turn_means = table.mean(axis=1)
    set_means = weights @ table / count
    mean = set_means.mean(axis=1)
    of_turns = sets * (weights @ turn_means**2 - count * mean**2)
    of_sets = count * (set_means**2).sum(axis=1) - count * sets * mean**2
    whole = weights @ (table**2).sum(axis=1) - count * sets * mean**2
    # what is 0 on paper may come out as -1e-17
    rest = np.maximum(whole - of_turns - of_sets, 0.0) / ((count - 1) * (sets - 1))
    turn = np.maximum(of_turns / (count - 1) - rest, 0.0) / sets
    set_ = np.maximum(of_sets / (sets - 1) - rest, 0.0) / count
    return np.stack([turn, set_, rest, set_ + rest], axis=1)


def _shares(variances: Floats) -> Floats:
    total = variances[:, :3].sum(axis=1, keepdims=True)
    out = np.full(variances.shape, np.nan)
    np.divide(variances, total, out=out, where=total > 1e-24)
    return out
