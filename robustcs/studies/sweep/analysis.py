"""The bins at every threshold (Figure 1 of the error-analysis paper), and their threshold-free shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.bins import BINS, Formulations, bin_index
from robustcs.evaluation.thresholds import Threshold
from robustcs.result import Evaluated, Result, count, number, share, table, text

if TYPE_CHECKING:
    import pandas as pd


_TABLES = (
    table(
        "bins", "Turns in one of the eight bins at one threshold.",
        text("rewriter"), text("metric"),
        number("threshold", "0 means > 0, every other t means >= t"),
        count("original", "1 where its answer is correct"), count("qr"), count("human"),
        count("count", "turns in the bin"), share("share", "of all turns"),
    ),
    table(
        "areas", "The threshold-free share of a bin.",
        text("rewriter"), text("metric"), text("bin", "Original, QR, Human as 0 or 1: 001"),
        share("area", "mean share over all thresholds in (0, 1], exact and independent of the grid; the eight of a measure add"
              " up to 1"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Sweep(Result):
    """The bins at every threshold."""

    study = "sweep"
    declared = _TABLES

    bins: pd.DataFrame
    areas: pd.DataFrame


def threshold_grid(step: str = "0.02") -> tuple[float, ...]:
    """0, step, 2·step, … 1 as the decimal numbers themselves: 0.58, not an accumulated 0.5800000000000001.

    Raises :class:`UsageError` for a step that is not a number in (0, 1].
    """
    try:
        size = Decimal(step)
        fits = Decimal("0.0001") <= size <= 1
    except ArithmeticError:
        fits = False
    if not fits:
        raise UsageError("bad-step", f"step {step!r}", "write a number from 0.0001 to 1, such as 0.02")
    grid = [size * i for i in range(int(1 / size) + 1)]
    if grid[-1] != 1:
        grid.append(Decimal(1))
    return tuple(float(point) for point in grid)


def sweep(scores: Formulations, evaluated: Evaluated, grid: Sequence[float] | None = None) -> Sweep:
    """Count the eight bins at every threshold of ``grid`` (default 0, 0.02, … 1), for every rewriter and measure.

    Raises :class:`UsageError` for a measure whose scores leave [0, 1]: the thresholds would not cover it.
    """
    import pandas as pd

    grid = threshold_grid() if grid is None else grid
    bins, areas = [], []
    for rewriter, qr_scores in scores.rewriters.items():
        for metric in scores.measures:
            triple = [frame[metric].to_numpy() for frame in (scores.original, qr_scores, scores.human)]
            if min(score.min() for score in triple) < 0 or max(score.max() for score in triple) > 1 + 1e-9:
                raise UsageError("not-a-share", f"{metric} leaves the range 0 to 1", "sweep a measure such as ndcg_cut_3")
            marks = np.array([[int(mark) for mark in bin_] for bin_ in BINS])
            for point in grid:
                threshold = Threshold(">", 0.0) if point == 0 else Threshold(">=", point)
                index = bin_index(*(threshold.holds(score) for score in triple))
                part = pd.DataFrame(marks, columns=["original", "qr", "human"])
                part.insert(0, "threshold", point)
                part["count"] = np.bincount(index, minlength=len(BINS))
                part["share"] = part["count"] / len(index)
                bins.append(part.assign(rewriter=rewriter, metric=metric))
            areas.append(pd.DataFrame({"rewriter": rewriter, "metric": metric, "bin": BINS, "area": bin_areas(*triple)}))
    frame = pd.concat(bins, ignore_index=True)
    columns = ["rewriter", "metric", "threshold", "original", "qr", "human", "count", "share"]
    return Sweep(evaluated, frame[columns], pd.concat(areas, ignore_index=True))


def bin_areas(original: np.ndarray, qr: np.ndarray, human: np.ndarray) -> np.ndarray:
    """float64[8], in the order of :data:`BINS`: the mean over turns of the length of thresholds that put the turn there.

    With ``score >= t`` and t from 0 to 1 a formulation is correct on a stretch as long as its score, so each turn passes
    through at most four bins, and the stretches are differences of its sorted scores: no grid is needed.
    """
    scores = np.clip(np.stack([original, qr, human], axis=1), 0.0, 1.0)
    order = np.argsort(scores, axis=1, kind="stable")
    levels = np.take_along_axis(scores, order, axis=1)
    edges = np.concatenate([np.zeros((len(scores), 1)), levels, np.ones((len(scores), 1))], axis=1)
    lengths = np.diff(edges, axis=1)
    areas = np.zeros(len(BINS))
    state = np.full(len(scores), 7)
    for step in range(4):
        np.add.at(areas, state, lengths[:, step])
        if step < 3:
            state = state - 2 ** order[:, step]
    return np.asarray(areas / len(scores))
