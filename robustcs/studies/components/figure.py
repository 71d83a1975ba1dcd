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


def heatmap(wordings: Sequence[str], rankers: Sequence[str], values: np.ndarray, label: str) -> Figure:
    """Draw a row per wording and a column per ranker; ``values``: float[W, R], nan for missing cells, which are hatched."""
    full = page_width()
    longest = _SHORT if full <= COLUMN_WIDTH else _NAME
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    width = min(full, 1.6 + _WIDEST * len(rankers)) if full > COLUMN_WIDTH else full
    with style():
        figure = Figure(figsize=(width, letters(_AXIS) + _ROW * len(wordings)), layout="constrained")
        axes = figure.subplots()
        for (row, column), value in np.ndenumerate(values):
            shade = 0.5 if high == low else (value - low) / (high - low)
            missing = bool(np.isnan(value))
            axes.bar(column, 0.96, width=0.97, bottom=row - 0.48, color="none" if missing else _RAMP(shade),
                     edgecolor=INK, linewidth=0.3, hatch="////" if missing else None)  # fmt: skip
            if not missing:
                colour = "#ffffff" if shade > 0.6 else "#000000"
                axes.text(column, row, f"{value:.3f}", ha="center", va="center", fontsize=letters(6.5), color=colour)
        axes.set_yticks(range(len(wordings)), [shortened(one_line(name), longest) for name in wordings])
        several = len(rankers) > (3 if full <= COLUMN_WIDTH else 6)
        axes.set_xticks(range(len(rankers)), [shortened(one_line(name), longest) for name in rankers],
                        rotation=30 if several else 0, ha="right" if several else "center")  # fmt: skip
        axes.set(xlim=(-0.5, len(rankers) - 0.5), ylim=(len(wordings) - 0.5, -0.5))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(f"Mean {one_line(label)}", loc="left")
    return figure
