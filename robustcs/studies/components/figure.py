"""Figure of a grid: the mean of every wording with every ranker as a coloured cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from robustcs.documents.figures import COLUMN_WIDTH, INK, letters, page_width, style
from robustcs.documents.text import one_line, shortened

#: From the lowest to the highest mean; distinguishable in grey.
_RAMP = LinearSegmentedColormap.from_list("means", ("#eef4fa", "#7db0da", "#0b3a66"))
_ROW, _AXIS, _WIDEST = 0.32, 0.55, 1.1  # inches
_NAME, _SHORT = 24, 14  # characters of a name on a page and in a column
_FEW = 5  # rankers whose means fit a column with three decimals


def heatmap(wordings: Sequence[str], rankers: Sequence[str], values: np.ndarray, label: str) -> Figure:
    """Draw a row per wording and a column per ranker; ``values``: float[W, R], nan for missing cells."""
    full = page_width()
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    narrow = full <= COLUMN_WIDTH
    longest = _SHORT if narrow else _NAME
    width = full if narrow else min(full, 1.6 + _WIDEST * len(rankers))
    digits = 2 if narrow and len(rankers) > _FEW else 3
    with style():
        figure = Figure(figsize=(width, letters(_AXIS) + _ROW * len(wordings)), layout="constrained")
        axes = figure.subplots()
        for (row, column), value in np.ndenumerate(values):
            missing = bool(np.isnan(value))
            shade = 0.5 if missing or high == low else (value - low) / (high - low)
            axes.bar(column, 0.96, width=0.97, bottom=row - 0.48, color="none" if missing else _RAMP(shade), edgecolor=INK,
                     linewidth=0.3)  # fmt: skip
            colour = INK if missing else "#ffffff" if shade > 0.6 else "#000000"
            shown = "–" if missing else f"{value:.{digits}f}"
            axes.text(column, row, shown, ha="center", va="center", fontsize=letters(6.5), color=colour)
        axes.set_yticks(range(len(wordings)), [shortened(one_line(name), longest) for name in wordings])
        several = len(rankers) > (3 if narrow else 6)
        axes.set_xticks(range(len(rankers)), [shortened(one_line(name), longest) for name in rankers],
                        rotation=30 if several else 0, ha="right" if several else "center")  # fmt: skip
        axes.set(xlim=(-0.5, len(rankers) - 0.5), ylim=(len(wordings) - 0.5, -0.5))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(f"Mean {one_line(label)}", loc="left")
    return figure
