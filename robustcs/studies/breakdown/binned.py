"""Every turn in its bin, for every rewriter, measure and threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from robustcs.evaluation.bins import CAUSE_OF_BIN, Formulations, bin_index
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds
from robustcs.lazy import pd


class Cut(NamedTuple):
    """One rewriter by one measure and threshold.

    values, correct
        Role (``original``, where there is one, ``qr``, ``human``) → scores of the turns, and which of them are correct.
    bins
        The bin of every turn.
    """

    rewriter: str
    metric: str
    threshold: str
    values: Mapping[str, np.ndarray]
    correct: Mapping[str, np.ndarray]
    bins: np.ndarray


def cuts(scores: Formulations, thresholds: Sequence[Threshold]) -> Iterator[Cut]:
    """Every rewriter by every measure and threshold (of a measure that is 0 or 1, by those that differ), in this order."""
    for rewriter, qr_scores in scores.rewriters.items():
        frames = {"original": scores.original, "qr": qr_scores, "human": scores.human}
        for metric in scores.measures:
            values = {role: frame[metric].to_numpy() for role, frame in frames.items() if frame is not None}
            for threshold in distinct_thresholds(metric, thresholds):
                correct = {role: threshold.holds(value) for role, value in values.items()}
                bins = np.array(scores.bins)[bin_index(correct.get("original"), correct["qr"], correct["human"])]
                yield Cut(rewriter, metric, str(threshold), values, correct, bins)


def binned_turns(scores: Formulations, thresholds: Sequence[Threshold]) -> pd.DataFrame:
    """:func:`turns_of` of every cut."""
    return pd.concat([turns_of(scores.turns, cut) for cut in cuts(scores, thresholds)], ignore_index=True)


def turns_of(turns: pd.Index, cut: Cut) -> pd.DataFrame:
    """The scores and the bin of every turn: rewriter, turn, metric, threshold, original (nan where unknown), qr, human, bin,
    cause.
    """
    frame = pd.DataFrame({"turn": turns, "original": math.nan} | dict(cut.values))
    for place, (name, value) in enumerate({"metric": cut.metric, "threshold": cut.threshold}.items(), start=1):
        frame.insert(place, name, value)
    frame.insert(0, "rewriter", cut.rewriter)
    return frame.assign(bin=cut.bins, cause=[CAUSE_OF_BIN[bin_] for bin_ in cut.bins])
