"""Figure of the best and worst of n samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robustcs.documents.drawing import COLUMN_WIDTH, DASHED, INK, Drawing, Key, letters, page_width, round_ticks
from robustcs.documents.forest import panel_grid
from robustcs.documents.text import shortened
from robustcs.lazy import pd

_BEST, _WORST = "#2f74b0", "#cf5c0c"
# Lengths in inches.
_LEFT, _BETWEEN, _HEIGHT, _LEGEND = 0.5, 0.42, 1.5, 0.2
_TITLE = 14  # characters of a title per inch


def best_of_n_figure(panels: Sequence[tuple[str, float, pd.DataFrame]]) -> Drawing:
    """Draw one panel per rewriter and measure, three in a row (one in a column), with intervals as bands and one legend.

    ``panels``: the title, the mean of all samples, and the rows of the table ``best_of_n`` for 1 … n samples.
    """
    full = COLUMN_WIDTH if len(panels) == 1 else page_width()
    drawing, grid = panel_grid(len(panels), _LEFT, _HEIGHT, between=_BETWEEN, below=_LEGEND, width=full)
    for (title, mean, rows), (panel, leftmost) in zip(panels, grid, strict=True):
        n = rows["n"].tolist()
        curves = [(*(rows[name + end].to_numpy() for end in ("", "_low", "_high")), colour)
                  for name, colour in (("best", _BEST), ("worst", _WORST))]  # fmt: skip
        panel.fit(np.concatenate([[mean], *(values for curve in curves for values in curve[:3])]))
        panel.y, panel.y_ticks = panel.x, round_ticks(*panel.x, 5)
        panel.x = 1 - 0.05 * (n[-1] - 1 or 1), n[-1] + 0.05 * (n[-1] - 1 or 1)
        for line, low, high, colour in curves:
            panel.band(n, low, high, colour, alpha=0.15)
            panel.line(n, line, colour)
            panel.dots(n, line, colour, 4.0)
        panel.line([-math.inf, math.inf], [mean] * 2, INK, 0.6, dashes=DASHED, alpha=0.6)
        shown = n if len(n) <= 10 else np.unique(np.linspace(1, len(n), 6).astype(int)).tolist()
        panel.x_ticks = [(place, str(place)) for place in shown]
        panel.x_label, panel.y_label = "samples to choose from", "mean score" if leftmost else ""
        panel.title = shortened(title, int(panel.width * _TITLE / letters(1)))
    keys = [
        Key("best of n", _BEST, 1.2, shape="o", size=4.0), Key("worst of n", _WORST, 1.2, shape="o", size=4.0),
        Key("mean of all", INK, 0.6, DASHED),
    ]  # fmt: skip
    drawing.legend(keys, full / 2, 0.1, align="middle")
    return drawing
