"""Risk against a baseline: losses weigh more than wins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Scores that differ by less are equal; measures equal trec_eval's to 1e-9 only.
TIE = 1e-9


@dataclass(frozen=True)
class Risk:
    """Turns that gain, lose or stay against the baseline; U_Risk and T_Risk (nan without variance or turns).

    expected
        U_Risk that swapping the two systems in whole turns or conversations at random would give on average.
    """

    wins: int
    losses: int
    ties: int
    urisk: float
    trisk: float
    expected: float


def risk(gains: npt.ArrayLike, alpha: float) -> Risk:
    """Risk summary of ``gains`` (score − baseline, one per turn): a loss weighs 1 + ``alpha`` times a gain.

    U_Risk = (1/n) · (Σ gains − (1 + α) · Σ |losses|) over n turns: below 0 where the losses outweigh the gains (Wang,
    Bennett & Collins-Thompson 2012; TREC Web Track 2013). T_Risk = U_Risk / its standard error (Dinçer, Macdonald & Ounis
    2014). It is no test statistic: losses weigh more, so equal systems have U_Risk below 0, −α/2 · mean |gain| on average.

    Written out, U_Risk = (1 + α/2) · mean gain − α/2 · mean |gain|, and the second part stays when the two systems are swapped
    anywhere. So the sign-flip test of U_Risk is that of the mean gain: there is no p of its own.
    """
    values = np.asarray(gains, dtype=np.float64)
    values = np.where(np.abs(values) < TIE, 0.0, values)
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    weighted = np.where(values < 0, (1 + alpha) * values, values)
    urisk, expected = (float(weighted.mean()), -alpha / 2 * float(np.abs(values).mean())) if len(values) else (math.nan,) * 2
    error = float(weighted.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0
    return Risk(wins, losses, len(values) - wins - losses, urisk, urisk / error if error else math.nan, expected)
