"""How much does a turn's score move with its wording?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robustcs.lazy import npt, pd
from robustcs.result import difference, score, text
from robustcs.statistics.means import TIE
from robustcs.statistics.units import Units
from robustcs.statistics.variance import variance_components

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]

#: Columns of the turns over the sets.
TURNS = (
    text("turn"), score("baseline"), score("mean", "over the sets, as are the next four"),
    score("sd", "of the formulations at hand (divided by their number less one); null for a single set"), score("low"),
    score("high"), score("range", "high − low"), text("low_set", "the first set with the lowest score"),
    text("high_set", "the first set with the highest score"), difference("drop", "baseline − mean"),
)  # fmt: skip


def turn_variability(turns: pd.Index, baseline: Floats, scores: Floats, sets: Sequence[str]) -> pd.DataFrame:
    """Every turn over the sets (``scores``: turns × sets), in the columns of :data:`TURNS`."""
    low, high, mean = scores.min(axis=1), scores.max(axis=1), scores.mean(axis=1)
    sd = scores.std(axis=1, ddof=1) if len(sets) > 1 else np.full(len(turns), np.nan)
    names = np.array(sets, dtype=object)
    return pd.DataFrame(
        {
            "turn": turns,
            "baseline": baseline,
            "mean": mean,
            "sd": sd,
            "low": low,
            "high": high,
            "range": high - low,
            "low_set": names[scores.argmin(axis=1)],
            "high_set": names[scores.argmax(axis=1)],
            "drop": baseline - mean,
        }
    )


def spread(scores: Floats) -> dict[str, float]:
    """Spread over the sets, averaged over turns: turns, mean_sd, mean_range, max_range, steady (turns that do not move)."""
    ranges = scores.max(axis=1) - scores.min(axis=1)
    sd = scores.std(axis=1, ddof=1).mean() if scores.shape[1] > 1 else np.nan
    return {
        "turns": len(scores),
        "mean_sd": float(sd),
        "mean_range": float(ranges.mean()),
        "max_range": float(ranges.max()),
        "steady": int((ranges < TIE).sum()),
    }


def variance_shares(scores: Floats, units: Units, seed: int) -> list[dict[str, object]]:
    """Rows component, variance, share, ci_low, ci_high, note of the decomposition; none for fewer than two sets or turns."""
    if min(scores.shape) < 2:
        return []
    return [
        {"component": part.name, "variance": part.variance, "share": part.share.value, "ci_low": part.share.low,
         "ci_high": part.share.high, "note": part.share.note}
        for part in variance_components(scores, units, seed)
    ]  # fmt: skip
