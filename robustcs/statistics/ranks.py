"""How alike two rankings of the same systems are: Kendall's tau, AP correlation and rank-biased overlap, all with ties.

Rankings are given by scores, higher is better, with systems on the last axis; all leading axes are worked on at once. Scores
that agree to :data:`DECIMALS` decimals are tied: sums of floats differ in their last bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

DECIMALS = 9
#: Persistence of rank-biased overlap: the first ten ranks carry 86 % of the weight (Webber et al. 2010).
PERSISTENCE = 0.9

Array = npt.NDArray[np.float64]


def _above(scores: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """bool[..., n, n]: whether system j stands strictly above system i."""
    rounded = np.round(np.asarray(scores, dtype=np.float64), DECIMALS)
    return np.asarray(rounded[..., None, :] > rounded[..., :, None])


def ranks(scores: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Rank of every system from 1, tied systems sharing the best of their ranks (1, 2, 2, 4)."""
    return np.asarray(1 + _above(scores).sum(axis=-1))


def _quotient(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Array:
    top, below = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    return np.asarray(np.divide(top, below, out=np.full(top.shape, np.nan), where=below > 0))


def kendall(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Kendall's tau-b in [-1, 1]; nan where all systems of a ranking are tied, or there is one only.

    Equal to ``scipy.stats.kendalltau``; written out for thousands of resampled rankings at once.
    """
    one, two = _above(first), _above(second)
    concordant = (one & two).sum(axis=(-2, -1))
    discordant = (one & two.swapaxes(-2, -1)).sum(axis=(-2, -1))
    pairs = np.sqrt(one.sum(axis=(-2, -1)) * two.sum(axis=(-2, -1)).astype(np.float64))
    return _quotient(concordant - discordant, pairs)


def tau_ap(reference: npt.ArrayLike, estimate: npt.ArrayLike) -> Array:
    """AP correlation in [-1, 1] (Yilmaz, Aslam & Robertson 2008): like tau, but errors near the top cost more.

    The expectation, over systems of the estimate other than its best and then over those above it, that the reference orders
    the two in the same way; rescaled to [-1, 1]. Systems tied in the estimate are not compared with each other, and a pair
    tied in the reference alone counts as wrong (one half of tau_AP,b, Urbano & Marrero 2017). nan where the estimate ties all.
    """
    right, above = _above(reference), _above(estimate)
    better = above.sum(axis=-1)
    share = np.where(better > 0, (right & above).sum(axis=-1) / np.maximum(better, 1), 0.0)
    return 2 * _quotient(share.sum(axis=-1), (better > 0).sum(axis=-1)) - 1


def tau_ap_symmetric(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """The mean of :func:`tau_ap` both ways: tau_AP,b of Urbano & Marrero (2017), which neither ranking is the truth of."""
    return (tau_ap(first, second) + tau_ap(second, first)) / 2


def rbo(first: npt.ArrayLike, second: npt.ArrayLike, persistence: float = PERSISTENCE) -> Array:
    """Extrapolated rank-biased overlap in [0, 1] (Webber, Moffat & Zobel 2010, equation 32) of complete rankings.

    Tied systems share the best of their ranks and agreement at a depth is twice the overlap over the systems that both
    rankings have there (their section 4.5). Beyond the last rank agreement is 1, since both rank the same systems.
    """
    one, two = ranks(first), ranks(second)
    systems = one.shape[-1]
    depth = np.arange(1, systems + 1)
    common = (np.maximum(one, two)[..., None] <= depth).sum(axis=-2)
    seen = (one[..., None] <= depth).sum(axis=-2) + (two[..., None] <= depth).sum(axis=-2)
    weights = (1 - persistence) * persistence ** (depth - 1)
    return np.asarray(2 * common / seen @ weights + persistence**systems)


#: Method as it stands in results → (reference or first, estimate or second) → value.
METHODS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], Array]] = {
    "kendall": kendall,
    "tau_ap": tau_ap,
    "tau_ap_symmetric": tau_ap_symmetric,
    "rbo": rbo,
}
