"""Figure of the best and worst of n samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.documents.drawing import COLUMN_WIDTH, DASHED, INK, Drawing, Key, letters, page_width, round_ticks
from robustcs.documents.forest import panel_grid
from robustcs.documents.text import shortened

_BEST, _WORST = "#2f74b0", "#cf5c0c"
# Lengths in inches.
_LEFT, _RIGHT, _BETWEEN, _HEIGHT, _LEGEND = 0.5, 0.1, 0.42, 1.5, 0.2
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


def best_of_n_figure(panels: Sequence[BestPanel]) -> Drawing:
    """Draw one panel per rewriter and measure, three in a row (one in a column), with intervals as bands and one legend."""
    full = COLUMN_WIDTH if len(panels) == 1 else page_width()
    drawing, grid = panel_grid(len(panels), _LEFT, _HEIGHT, right=_RIGHT, between=_BETWEEN, edge=_LEGEND, width=full)
    for one, (panel, leftmost) in zip(panels, grid, strict=True):
        n = list(range(1, len(one.best) + 1))
        curves = ((one.best, one.best_low, one.best_high, _BEST), (one.worst, one.worst_low, one.worst_high, _WORST))
        panel.fit(np.concatenate([[one.mean], *(values for curve in curves for values in curve[:3])]))
        panel.y, panel.y_ticks = panel.x, round_ticks(*panel.x, 5)
        panel.x = 1 - 0.05 * (n[-1] - 1 or 1), n[-1] + 0.05 * (n[-1] - 1 or 1)
        for line, low, high, colour in curves:
            panel.band(n, low, high, colour, alpha=0.15)
            panel.line(n, line, colour)
            panel.dots(n, line, colour, 4.0)
        panel.line([-math.inf, math.inf], [one.mean] * 2, INK, 0.6, dashes=DASHED, alpha=0.6)
        shown = n if len(n) <= 10 else np.unique(np.linspace(1, len(n), 6).astype(int)).tolist()
        panel.x_ticks = [(place, str(place)) for place in shown]
        panel.x_label, panel.y_label = "samples to choose from", "mean score" if leftmost else ""
        panel.title = shortened(one.title, int(panel.width * _TITLE / letters(1)))
    keys = [
        Key("best of n", _BEST, 1.2, shape="o", size=4.0), Key("worst of n", _WORST, 1.2, shape="o", size=4.0),
        Key("mean of all", INK, 0.6, DASHED),
    ]  # fmt: skip
    drawing.legend(keys, full / 2, 0.1, align="middle")
    return drawing
