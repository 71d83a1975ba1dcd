"""Overlap of annotators by text, as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from robustcs.documents.figures import COLUMN_WIDTH, INK, style

_BLUE = "#2f74b0"
_PALE = "#cadff0"
_ROW = 0.3


@dataclass(frozen=True)
class OverlapRow:
    """J_k of every text, and its mean with an interval."""

    label: str
    values: np.ndarray
    mean: float
    low: float
    high: float


def overlap_figure(rows: Sequence[OverlapRow]) -> Figure:
    """One row per k: quartiles of the texts as a box, from the 5th to the 95th per cent a line, the mean with its interval."""
    with style():
        figure = Figure(figsize=(COLUMN_WIDTH, 0.55 + _ROW * len(rows)), layout="constrained")
        axes = figure.subplots()
        places = np.arange(len(rows))[::-1]
        for place, row in zip(places, rows, strict=True):
            low, first, third, high = np.quantile(row.values, [0.05, 0.25, 0.75, 0.95])
            axes.plot([low, high], [place, place], color=_BLUE, linewidth=0.8)
            axes.barh(place, third - first, left=first, height=0.5, color=_PALE, edgecolor=_BLUE, linewidth=0.6)
            axes.plot([row.low, row.high], [place, place], color=INK, linewidth=1.4)
            axes.plot(row.mean, place, "o", color=INK, markersize=3.6)
        axes.set_yticks(places, [row.label for row in rows])
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(rows) - 0.4))
        axes.set_xlabel("share of the characters that any annotator chose", labelpad=2)
        axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.4)
        axes.set_axisbelow(True)
    return figure
