"""The risk of a system compared with a baseline: turns that gain, lose or tie, and U_Risk."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Scores that differ by less count as equal; measures equal trec_eval's only to 1e-9.
TIE = 1e-9


@dataclass(frozen=True)
class Risk:
    """Numbers of turns that gain, lose or tie with the baseline; U_Risk (nan without turns).

    expected
        Mean U_Risk if the two systems were swapped at random in whole turns or conversations.
    """

    wins: int
    losses: int
    ties: int
    urisk: float
    expected: float


def risk(gains: npt.ArrayLike) -> Risk:
    """Return the risk summary of ``gains`` (score − baseline, one per turn).

    A loss counts twice as much as a gain: U_Risk = (1/n) · (Σ gains − (1 + α) · Σ |losses|) over n
    turns, with α = 1 as in the TREC Web Track 2013; it is negative if losses outweigh gains (Wang,
    Bennett & Collins-Thompson 2012). Losses have more weight, so for equal systems it is
    −α/2 · mean |gain| on average: U_Risk = (1 + α/2) · mean gain − α/2 · mean |gain|, and the
    second part does not change if the two systems are swapped anywhere. So the sign-flip test of
    U_Risk equals that of the mean gain.
    """
    values = np.asarray(gains, dtype=np.float64)
    values = np.where(np.abs(values) < TIE, 0.0, values)
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    urisk, expected = math.nan, math.nan
    if len(values):
        urisk = float(np.where(values < 0, 2 * values, values).mean())
        # subtracted from 0, because −0.0 would be written with its sign
        expected = 0.0 - float(np.abs(values).mean()) / 2
    return Risk(wins, losses, len(values) - wins - losses, urisk, expected)
