"""Figure of a grid: the mean of every wording with every ranker as a coloured cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robustcs.documents.drawing import COLUMN_WIDTH, INK, Drawing, letters, mixed, page_width, room
from robustcs.documents.text import shortened

#: From the lowest to the highest mean; distinguishable in grey.
_RAMP = ("#eef4fa", "#7db0da", "#0b3a66")
_ROW, _TITLE, _EDGE, _WIDEST = 0.32, 0.26, 0.1, 1.1  # inches
_NAME, _SHORT = 24, 14  # characters of a name on a page and in a column
_FEW = 5  # rankers whose means fit a column with three decimals


def heatmap(wordings: Sequence[str], rankers: Sequence[str], values: np.ndarray, label: str) -> Drawing:
    """Draw a row per wording and a column per ranker; ``values``: float[W, R], nan for missing cells."""
    full = page_width()
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    narrow = full <= COLUMN_WIDTH
    rows, columns = ([shortened(name, _SHORT if narrow else _NAME) for name in names] for names in (wordings, rankers))
    width = full if narrow else min(full, 1.6 + _WIDEST * len(rankers))
    digits = 2 if narrow and len(rankers) > _FEW else 3
    slanted = len(rankers) > (3 if narrow else 6)
    left, top, below = 0.1 + room(rows), letters(_TITLE), letters(0.2) + (room(columns) / 2 if slanted else 0)
    drawing = Drawing(width, top + _ROW * len(wordings) + below)
    panel = drawing.panel(
        left, below, width - left - _EDGE, _ROW * len(wordings), (-0.5, len(rankers) - 0.5), (len(wordings) - 0.5, -0.5),
        title=f"Mean {label}", frame="", marked="", slanted=slanted,
        x_ticks=list(enumerate(columns)), y_ticks=list(enumerate(rows)),
    )  # fmt: skip
    for (row, column), value in np.ndenumerate(values):
        missing = bool(np.isnan(value))
        shade = 0.5 if missing or high == low else float((value - low) / (high - low))
        colour = "none" if missing else mixed(_RAMP, shade)
        panel.box(column - 0.485, row + 0.48, column + 0.485, row - 0.48, colour, edge=INK, edge_width=0.3)
        letter = INK if missing else "#ffffff" if shade > 0.6 else "#000000"
        panel.write(column, row, "–" if missing else f"{value:.{digits}f}", colour=letter)
    return drawing
