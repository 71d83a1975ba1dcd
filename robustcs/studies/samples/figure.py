"""Figure of the best and worst of n samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from robustcs.documents.figures import COLUMN_WIDTH, FULL_WIDTH, INK, style
from robustcs.documents.text import one_line, shortened

_BEST, _WORST = "#2f74b0", "#cf5c0c"
# Lengths in inches.
_LEFT, _RIGHT, _TOP, _AXIS, _BETWEEN, _HEIGHT, _LEGEND = 0.5, 0.1, 0.26, 0.4, 0.42, 1.5, 0.2
_PER_ROW = 3
_TITLE = 14  # characters of a title per inch


@dataclass(frozen=True)
class BestPanel:
    """One rewriter and measure: the mean, and the best and worst of 1 … n samples with intervals, each float64[n]."""

    title: str
    mean: float
    best: np.ndarray
    best_low: np.ndarray
    best_high: np.ndarray
    worst: np.ndarray
    worst_low: np.ndarray
    worst_high: np.ndarray


def best_of_n_figure(panels: Sequence[BestPanel]) -> Figure:
    """Draw one panel per rewriter and measure, three in a row, with intervals as bands and one legend."""
    columns, rows = min(len(panels), _PER_ROW), -(-len(panels) // _PER_ROW)
    full = COLUMN_WIDTH if columns == 1 else FULL_WIDTH
    width = (full - _LEFT - _RIGHT - _BETWEEN * (columns - 1)) / columns
    height = rows * (_TOP + _HEIGHT + _AXIS) + _LEGEND
    with style():
        figure = Figure(figsize=(full, height))
        for number, panel in enumerate(panels):
            row, column = divmod(number, _PER_ROW)
            left, bottom = _LEFT + column * (width + _BETWEEN), height - (row + 1) * (_TOP + _HEIGHT) - row * _AXIS
            axes = figure.add_axes((left / full, bottom / height, width / full, _HEIGHT / height))
            n = np.arange(1, len(panel.best) + 1)
            for line, low, high, colour in (
                (panel.best, panel.best_low, panel.best_high, _BEST),
                (panel.worst, panel.worst_low, panel.worst_high, _WORST),
            ):
                axes.fill_between(n, low, high, color=colour, alpha=0.15, linewidth=0)
                axes.plot(n, line, "o-", color=colour, markersize=3, linewidth=1.2)
            axes.axhline(panel.mean, color=INK, linewidth=0.6, linestyle=(0, (4, 3)), alpha=0.6)
            axes.set_xticks(n if len(n) <= 10 else np.unique(np.linspace(1, len(n), 6).astype(int)))
            axes.set_xlabel("samples to choose from", labelpad=2)
            if column == 0:
                axes.set_ylabel("mean score", labelpad=2)
            axes.set_title(shortened(one_line(panel.title), int(width * _TITLE)), loc="left")
        handles = [
            Line2D([], [], color=_BEST, marker="o", markersize=3, label="best of n"),
            Line2D([], [], color=_WORST, marker="o", markersize=3, label="worst of n"),
            Line2D([], [], color=INK, linestyle=(0, (4, 3)), linewidth=0.6, label="mean of all"),
        ]
        figure.legend(handles=handles, loc="lower center", ncols=3, frameon=False, fontsize=6.5, borderpad=0)
    return figure
